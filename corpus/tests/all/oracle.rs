//! Two independent judges of small histories: brute force over all orders, and the list of the
//! conditions A to E that a history breaks, by definition, in quadratic time. Neither shares code
//! with the generator.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use snapshot_core::history::{Operation, OperationKind};
use snapshot_core::{History, Segment};

/// Tries all orders (Wing and Gong), and remembers states that lead nowhere.
///
/// # Panics
/// If there are more than 64 operations.
pub fn is_linearizable<V: Clone + Eq + Hash>(history: &History<V>) -> bool {
    let operations = history.operations();
    assert!(operations.len() <= 64, "brute force is for small histories");
    let object = (0..history.segments())
        .map(|segment| history.initial_value(Segment::from_index(segment)).clone())
        .collect();
    let required = operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| operation.is_complete())
        .fold(0u64, |set, (id, _)| set | 1 << id);
    search(history, required, 0, object, &mut HashSet::new())
}

fn search<V: Clone + Eq + Hash>(
    history: &History<V>,
    required: u64,
    done: u64,
    object: Vec<V>,
    dead: &mut HashSet<(u64, Vec<V>)>,
) -> bool {
    if done & required == required {
        return true;
    }
    if dead.contains(&(done, object.clone())) {
        return false;
    }
    let operations = history.operations();
    let is_open = |id: usize| done & 1 << id == 0;
    for (id, operation) in operations.iter().enumerate() {
        let may_act = is_open(id)
            && !operation.is_failed()
            && (operation.is_complete() || !operation.is_scan());
        let is_minimal = |other: (usize, &Operation)| {
            !is_open(other.0) || other.1.is_failed() || !other.1.precedes(operation)
        };
        if !may_act || !operations.iter().enumerate().all(is_minimal) {
            continue;
        }
        let mut next = object.clone();
        match operation.kind() {
            OperationKind::Scan if history.scan_values(operation) != object => continue,
            OperationKind::Scan => {}
            OperationKind::Update { segment } => {
                next[segment.index()] = history.update_value(operation).clone();
            }
        }
        if search(history, required, done | 1 << id, next, dead) {
            return true;
        }
    }
    dead.insert((done, object));
    false
}

/// Returns the names of all conditions that a history breaks; `None` if its updates cannot be
/// numbered without search.
///
/// Updates that write the current content of the segment are not counted. Pending updates count
/// only if a scan returned their value.
pub fn broken_rules<V: Clone + Eq + Hash>(history: &History<V>) -> Option<BTreeSet<&'static str>> {
    let segments = history.segments();
    let operations = history.operations();
    let scans: Vec<&Operation> =
        operations.iter().filter(|o| o.is_scan() && o.is_complete()).collect();
    let mut updates: Vec<Vec<&Operation>> = vec![Vec::new(); segments];
    for (segment, updates) in updates.iter_mut().enumerate() {
        let at = Segment::from_index(segment);
        let is_seen = |value: &V| scans.iter().any(|s| history.scan_values(s)[segment] == *value);
        let mut previous: Option<&Operation> = None;
        let mut value = history.initial_value(at);
        let mut values = HashSet::from([value]);
        for update in operations.iter().filter(|o| o.segment() == Some(at) && !o.is_failed()) {
            let written = history.update_value(update);
            if !update.is_complete() && !is_seen(written) {
                continue;
            }
            if previous.is_some_and(|previous| !previous.precedes(update)) {
                return None;
            }
            previous = Some(update);
            if written == value {
                continue;
            }
            if !values.insert(written) {
                return None;
            }
            value = written;
            updates.push(update);
        }
    }
    let number: Vec<HashMap<&V, usize>> = (0..segments)
        .map(|segment| {
            let at = updates[segment].iter().enumerate();
            let mut number: HashMap<&V, usize> =
                at.map(|(index, update)| (history.update_value(update), index + 1)).collect();
            number.insert(history.initial_value(Segment::from_index(segment)), 0);
            number
        })
        .collect();
    let complete = |time: usize| -> Vec<usize> {
        let done = |u: &&&Operation| u.response().is_some_and(|response| response < time);
        updates.iter().map(|of_one| of_one.iter().filter(done).count()).collect()
    };
    let mut broken = BTreeSet::new();
    let mut numbered: Vec<(&Operation, Vec<usize>)> = Vec::new();
    for scan in &scans {
        let response = scan.response().unwrap_or(usize::MAX);
        let mut vector = Vec::new();
        for (segment, value) in history.scan_values(scan).iter().enumerate() {
            let Some(&b) = number[segment].get(value) else {
                let failed = operations.iter().any(|o| {
                    o.is_failed()
                        && o.segment() == Some(Segment::from_index(segment))
                        && history.update_value(o) == value
                });
                broken.insert(if failed { "failed-update-seen" } else { "never-written" });
                continue;
            };
            if b > 0 && updates[segment][b - 1].invocation() > response {
                broken.insert("future");
            }
            vector.push(b);
        }
        if vector.len() == segments {
            numbered.push((scan, vector));
        }
    }
    let covers = |big: &[usize], small: &[usize]| big.iter().zip(small).all(|(b, s)| b >= s);
    for (scan, vector) in &numbered {
        if !covers(vector, &complete(scan.invocation())) {
            broken.insert("stale");
        }
        for (segment, &b) in vector.iter().enumerate().filter(|(_, b)| **b > 0) {
            if !covers(vector, &complete(updates[segment][b - 1].invocation())) {
                broken.insert("missing");
            }
        }
        for (other, more) in &numbered {
            if scan.precedes(other) && !covers(more, vector) {
                broken.insert("decrease");
            }
            // If the later of two comparable scans saw less, this is a decrease only.
            if !covers(more, vector) && !covers(vector, more) {
                broken.insert("inversion");
            }
        }
    }
    Some(broken)
}
