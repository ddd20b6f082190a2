//! The views that cover a state: for every tuple of processes one that belongs to it.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::execution::Execution;
use super::histories::History;
use super::likeness::{Expected, Likeness};
use super::tuple::{Standing, Tuple, standing};
use crate::byte::ANY;
use crate::layout::{Layout, at, op};
use crate::search::ViewSets;
use crate::step::Kind;

/// Numbers of comparisons.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// States beside views.
    pub projections: usize,
    /// Known bytes.
    pub bytes: usize,
    /// States covered by a view that has a class flipped, and by none as it stands.
    pub flipped: usize,
    /// States covered by a view with bits whose class belongs to a round.
    pub rounds: usize,
    /// States covered by a view that shows an operation as not begun, or its ghost scan alone.
    pub late: usize,
    /// States covered by a view in which a loose loop is in the round of some process but t.
    pub loose: usize,
    /// States covered by a view with known links.
    pub links: usize,
    /// States covered by a view that relates a counter to the clock.
    pub counted: usize,
    /// States covered only by a view in which a lost process has moved on.
    pub lost: usize,
    /// Executions that ended with a violation.
    pub violations: usize,
    /// Executions that ended with a fault of the program.
    pub faults: usize,
    /// Moves that change the view of a tuple.
    pub changes: usize,
    /// Moves among `changes` by a process outside the tuple.
    pub joins: usize,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.projections += other.projections;
        self.bytes += other.bytes;
        self.flipped += other.flipped;
        self.rounds += other.rounds;
        self.late += other.late;
        self.loose += other.loose;
        self.links += other.links;
        self.counted += other.counted;
        self.lost += other.lost;
        self.violations += other.violations;
        self.faults += other.faults;
        self.changes += other.changes;
        self.joins += other.joins;
    }
}

/// Views with the same shown members at the same locations.
struct Place {
    all: Vec<u32>,
    /// Bytes that the first state there determines, and the views by these.
    index: Option<Indexed>,
}

/// Bytes, and the views by these.
type Indexed = (Vec<usize>, FxHashMap<Vec<u8>, Vec<u32>>);

/// Views of a list, by the shown members.
type Places = FxHashMap<Vec<u8>, FxHashMap<Vec<u8>, Place>>;

/// A list of views, and the kinds that it stands for.
pub struct List<'a> {
    pub kinds: Vec<Kind>,
    pub views: Vec<&'a [u8]>,
}

/// Views of a layout, by the locations of processes.
pub struct Views<'a> {
    pub layout: &'a Layout<'a>,
    lists: Vec<List<'a>>,
    /// Per list.
    places: RefCell<Vec<Places>>,
    /// Per list, the views that belong to a state.
    seen: RefCell<Vec<Vec<bool>>>,
}

/// Views of a state in one of its histories, per tuple.
pub struct Covers<'a> {
    pub history: History,
    pub views: Vec<Vec<&'a [u8]>>,
}

impl<'a> Views<'a> {
    pub fn new(layout: &'a Layout<'a>, lists: Vec<List<'a>>) -> Self {
        let places = lists.iter().map(|_| Places::default()).collect();
        let seen = lists.iter().map(|list| vec![false; list.views.len()]).collect();
        Self { layout, lists, places: RefCell::new(places), seen: RefCell::new(seen) }
    }

    pub fn of_family(layout: &'a Layout<'a>, family: &'a ViewSets) -> Self {
        let mut lists: Vec<List<'a>> = Vec::new();
        for (number, (kind, views)) in family.kinds.iter().zip(&family.views).enumerate() {
            let before = number.checked_sub(1).map(|before| &family.views[before]);
            match lists.last_mut() {
                Some(list) if before.is_some_and(|before| std::rc::Rc::ptr_eq(before, views)) => {
                    list.kinds.push(kind.clone());
                }
                _ => {
                    let views = views.iter().map(|view| &**view).collect();
                    lists.push(List { kinds: vec![kind.clone()], views });
                }
            }
        }
        Self::new(layout, lists)
    }

    /// Returns, per list, the kinds, the number of views, and the number of those that belong to a state
    /// that was projected.
    pub fn seen(&self) -> Vec<(&[Kind], usize, usize)> {
        let seen = self.seen.borrow();
        let lists = self.lists.iter().zip(&*seen);
        let count = |seen: &[bool]| seen.iter().filter(|seen| **seen).count();
        lists.map(|(list, seen)| (list.kinds.as_slice(), seen.len(), count(seen))).collect()
    }

    /// Returns the numbers of the views of a list that may belong to a state.
    fn candidates(
        &self,
        list: usize,
        shown: &[u8],
        key: &[u8],
        likeness: &Likeness<'_>,
    ) -> Vec<u32> {
        let mut places = self.places.borrow_mut();
        let of = &mut places[list];
        if !of.contains_key(shown) {
            let mut all: FxHashMap<Vec<u8>, Place> = FxHashMap::default();
            for (number, view) in (0..).zip(&self.lists[list].views) {
                let place = all.entry(self.key_of(view, shown));
                place.or_insert_with(|| Place { all: Vec::new(), index: None }).all.push(number);
            }
            of.insert(shown.to_vec(), all);
        }
        let Some(place) = of.get_mut(shown).and_then(|of| of.get_mut(key)) else {
            return Vec::new();
        };
        let all = &place.all;
        let index = || self.index(list, all, likeness);
        let (definite, views) = place.index.get_or_insert_with(index);
        let mut bytes: Vec<Option<u8>> = vec![None; definite.len()];
        for (at, expected) in &likeness.expected {
            if let Ok(number) = definite.binary_search(at) {
                bytes[number] = expected.definite();
            }
        }
        match bytes.into_iter().collect::<Option<Vec<u8>>>() {
            Some(bytes) => views.get(&bytes).cloned().unwrap_or_default(),
            // The state does not determine each of them.
            None => place.all.clone(),
        }
    }

    /// Groups views by bytes that all of them know, and that a state determines.
    fn index(&self, list: usize, all: &[u32], likeness: &Likeness<'_>) -> Indexed {
        let views = &self.lists[list].views;
        let is_known = |at: usize| all.iter().all(|number| views[*number as usize][at] != ANY);
        let expected = likeness.expected.iter().filter(|(at, expected)| {
            let is_definite = expected.definite().is_some();
            is_definite && (matches!(expected, Expected::Is(_)) || is_known(*at))
        });
        let mut definite: Vec<usize> = expected.map(|(at, _)| *at).collect();
        definite.sort_unstable();
        definite.dedup();
        let mut grouped: FxHashMap<Vec<u8>, Vec<u32>> = FxHashMap::default();
        for number in all {
            let view = views[*number as usize];
            let bytes = definite.iter().map(|at| view[*at]).collect();
            grouped.entry(bytes).or_default().push(*number);
        }
        (definite, grouped)
    }

    fn key_of(&self, view: &[u8], shown: &[u8]) -> Vec<u8> {
        let mut key = Vec::new();
        for member in shown {
            let block = self.layout.blocks[usize::from(*member)];
            key.extend([view[block + at::OP], view[block + at::GHOST]]);
            key.extend(self.layout.frames.iter().map(|frame| view[block + frame.at]));
        }
        key
    }

    /// Finds the views of a state for all tuples, in each of its histories that has views.
    ///
    /// # Errors
    /// The state, described for a human reader, if it has no views.
    pub fn cover(
        &self,
        execution: &Execution<'_>,
        tuples: &[Tuple],
    ) -> Result<(Counts, Vec<Covers<'a>>), String> {
        // A lost process stands where it tests its link again.
        let gone_on = |tuple: &Tuple| match self.layout.lost.is_empty() {
            true => Vec::new(),
            false => execution.gone_on(&tuple.all()),
        };
        let all: Vec<Vec<Execution<'_>>> = tuples.iter().map(gone_on).collect();
        let (mut total, mut found, mut missing) = (None, Vec::new(), None);
        for history in &execution.histories {
            let (mut counts, mut covers) = (Counts::default(), Vec::new());
            for (tuple, all) in tuples.iter().zip(&all) {
                let covered = match all.as_slice() {
                    [] => self.cover_as_is(execution, history, tuple),
                    all => self.cover_by(all, history, tuple),
                };
                match covered {
                    Ok((now, views)) => {
                        counts.add(now);
                        covers.push(views);
                    }
                    Err(text) => {
                        missing = missing.or(Some(text));
                        break;
                    }
                }
            }
            if covers.len() == tuples.len() {
                total.get_or_insert(counts);
                found.push(Covers { history: history.clone(), views: covers });
            }
        }
        total
            .map(|total| (total, found))
            .ok_or_else(|| missing.unwrap_or_else(|| "no history".to_owned()))
    }

    /// Returns the views of a tuple in which processes that may be lost are at any location where
    /// they may test their link.
    pub fn may_be(&self, execution: &Execution<'_>, tuple: &Tuple) -> Vec<&'a [u8]> {
        let mut all = Vec::new();
        for one in execution.put_forward(&tuple.all()).iter().skip(1) {
            for history in &one.histories {
                let found = self.cover_as_is(one, history, tuple);
                all.extend(found.into_iter().flat_map(|(_, views)| views));
            }
        }
        all
    }

    /// As [`Self::cover`], for a tuple and a history, of an execution and its copies in which
    /// processes have moved on.
    fn cover_by(
        &self,
        all: &[Execution<'_>],
        history: &History,
        tuple: &Tuple,
    ) -> Result<(Counts, Vec<&'a [u8]>), String> {
        let (mut counts, mut covers) = (None, Vec::new());
        let mut missing = format!("nowhere to go on to by {history:?}");
        for (number, one) in all.iter().enumerate().rev() {
            if !one.histories.contains(history) {
                continue;
            }
            match self.cover_as_is(one, history, tuple) {
                Ok((found, all)) => {
                    let lost = usize::from(number > 0);
                    counts = Some(Counts { lost, ..found });
                    covers.extend(all);
                }
                Err(text) => missing = text,
            }
        }
        counts.map(|counts| (counts, covers)).ok_or(missing)
    }

    fn cover_as_is(
        &self,
        execution: &Execution<'_>,
        history: &History,
        tuple: &Tuple,
    ) -> Result<(Counts, Vec<&'a [u8]>), String> {
        let kind = tuple.kind();
        let has_kind = |list: &List<'_>| list.kinds.contains(&kind);
        let Some(number) = self.lists.iter().position(has_kind) else {
            return Err(format!("no list of {kind:?}"));
        };
        let shown = shown(execution, tuple, &kind);
        let mut key = Vec::new();
        for (_, standing) in &shown {
            key.extend([standing.operation, u8::from(standing.ghost)]);
            key.extend(standing.stands(self.layout));
        }
        let members: Vec<u8> = shown.iter().map(|(member, _)| *member).collect();
        let likeness = Likeness::new(execution, history, tuple, &shown);
        let is_late = shown.iter().any(|(member, standing)| {
            let process = tuple.process(*member);
            let operation = process.map_or(op::IDLE, |process| execution.doing[process].operation);
            let is_update = operation == op::UPDATES || operation == op::SWITCHES;
            standing.operation >= op::GHOSTS || (is_update && standing.operation == op::IDLE)
        });
        let (mut counts, mut covers): (Option<Counts>, _) = (None, Vec::new());
        let candidates = self.candidates(number, &members, &key, &likeness);
        for candidate in &candidates {
            let view = self.lists[number].views[*candidate as usize];
            let Some(alike) = likeness.alike(view) else { continue };
            self.seen.borrow_mut()[number][*candidate as usize] = true;
            let now = Counts {
                projections: 1,
                bytes: alike.bytes,
                flipped: usize::from(alike.flipped),
                rounds: usize::from(alike.rounds > 0),
                late: usize::from(is_late),
                loose: usize::from(likeness.loose > 0),
                links: usize::from(alike.links > 0),
                counted: usize::from(alike.counted > 0),
                ..Counts::default()
            };
            covers.push(view);
            if counts.is_none_or(|before| now.flipped < before.flipped) {
                counts = Some(now);
            }
        }
        match counts {
            Some(counts) => Ok((counts, covers)),
            None => {
                let views = candidates.iter();
                let views: Vec<&[u8]> =
                    views.map(|one| self.lists[number].views[*one as usize]).collect();
                Err(self.missing(execution, tuple, &members, &views))
            }
        }
    }

    /// Describes a state without a view for a human reader.
    pub fn missing(
        &self,
        execution: &Execution<'_>,
        tuple: &Tuple,
        shown: &[u8],
        views: &[&[u8]],
    ) -> String {
        let mut text = format!(
            "{} {}, n = {}, pair {:?}: no view of {tuple:?}, shown {shown:?}.\nNow {:?}:\n",
            self.layout.program.name,
            self.layout.obligation.name(),
            execution.machine.processes(),
            execution.pair,
            execution.histories,
        );
        for holding in execution.machine.holdings(&execution.state) {
            text += &format!("  {}: {} = {}\n", holding.owner, holding.name, holding.held);
        }
        for (process, doing) in execution.doing.iter().enumerate() {
            let calls = execution.open_calls(process);
            let at: Vec<_> = calls.iter().map(|call| (call.procedure, call.at)).collect();
            text += &format!("  p{process} at {at:?}: {doing:?}\n");
        }
        text += &format!("{} views where they stand, some of them:\n", views.len());
        for view in views.iter().take(4) {
            for (slot, byte) in self.layout.slots.iter().zip(*view) {
                if *byte != 0 {
                    text += &format!(" {:?}:{}={byte}", slot.owner, slot.name);
                }
            }
            text += "\n";
        }
        text
    }
}

/// Returns the members whose operations a view of the state shows, each with its location.
fn shown<'s>(execution: &'s Execution<'s>, tuple: &Tuple, kind: &Kind) -> Vec<(u8, Standing<'s>)> {
    let mut shown = Vec::new();
    for &member in &kind.members {
        let Some(process) = tuple.process(member) else { continue };
        let standing = standing(execution, tuple, (member, process));
        // An operation that is not shown yet counts as not begun at any location.
        let is_hidden = standing.is_hidden && standing.operation == op::IDLE;
        if !execution.is_in_transit(process) || is_hidden {
            shown.push((member, standing));
        }
    }
    shown
}
