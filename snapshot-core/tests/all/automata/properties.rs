//! Theorem 10, with appropriateness as in Lemma 14, read literally: quadratic.

use snapshot_core::simple::Letter;

use crate::automata::definition::{Kind, Operation, operations};

/// The properties that a well-formed word violates.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Violated {
    pub inversion: bool,
    pub decrease: bool,
    pub inappropriate: bool,
}

impl Violated {
    pub fn any(self) -> bool {
        self.inversion || self.decrease || self.inappropriate
    }
}

/// Reads the properties off the operations. Assumes that a segment's updates are ordered: else
/// Lemma 14 does not apply.
pub fn violated(word: &[Letter]) -> Violated {
    let operations = operations(word);
    let foreign = operations
        .iter()
        .any(|operation| matches!(operation.kind, Kind::Scan { foreign: true, .. }));
    let scans: Vec<(&Operation, [bool; 2])> = operations
        .iter()
        .filter_map(|operation| match operation.kind {
            Kind::Scan { returned: Some(returned), .. } => Some((operation, returned)),
            _ => None,
        })
        .collect();
    let first = [0, 1].map(|l| {
        operations
            .iter()
            .find(|o| matches!(o.kind, Kind::Update { segment, value: true } if segment == l))
    });
    let precedes = |a: Option<&Operation>, b: Option<&Operation>| match (a, b) {
        (Some(a), Some(b)) => a.precedes(b),
        _ => false,
    };
    let mut violated = Violated { inappropriate: foreign, ..Violated::default() };
    for &(one, one_returned) in &scans {
        for &(two, two_returned) in &scans {
            violated.inversion |= one_returned == [false, true] && two_returned == [true, false];
            violated.decrease |=
                one.precedes(two) && (0..2).any(|l| one_returned[l] && !two_returned[l]);
        }
        for l in 0..2 {
            let returned = one_returned[l];
            violated.inappropriate |= !returned && precedes(first[l], Some(one));
            violated.inappropriate |= returned && first[l].is_none_or(|f| one.precedes(f));
        }
        violated.inappropriate |= one_returned == [false, true] && precedes(first[0], first[1]);
        violated.inappropriate |= one_returned == [true, false] && precedes(first[1], first[0]);
    }
    violated
}

/// Returns true if updates of one segment are not ordered: open at the same time, or lost.
pub fn has_overlapping_updates(word: &[Letter]) -> bool {
    let operations = operations(word);
    (0..2).any(|l| {
        let updates: Vec<&Operation> = operations
            .iter()
            .filter(|o| matches!(o.kind, Kind::Update { segment, .. } if segment == l))
            .collect();
        updates.windows(2).any(|pair| !pair[0].precedes(pair[1]))
    })
}
