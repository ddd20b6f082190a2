//! Overlap of the operations of a history: the evidence that a recording could have found a
//! violation.

use std::ops::AddAssign;

use snapshot_core::History;

/// Overlap of the operations of one or several histories.
///
/// Under a model checker each execution is a separate recording, and need not show anything by
/// itself: add up all of them, and fail if [`note`](Self::note) is not `None` in the end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Overlap {
    /// Number of operations.
    pub operations: u64,
    /// Number of operations that began while another one was open.
    pub overlapping: u64,
    /// Number of scans that overlapped an update: only these can be torn.
    pub scans: u64,
}

impl Overlap {
    /// Counts the overlap of a history. O(events * open operations).
    pub fn new<V>(history: &History<V>) -> Self {
        let mut overlap = Self { operations: history.operations().len() as u64, ..Self::default() };
        // Open scans that have overlapped no update yet, and the numbers of all open operations.
        let mut alone = Vec::new();
        let (mut open, mut updates) = (0_u64, 0_u64);
        for step in history.steps() {
            let is_scan = history.operation(step.operation).is_scan();
            match (step.is_end, is_scan) {
                (false, true) if updates > 0 => overlap.scans += 1,
                (false, true) => alone.push(step.operation),
                (false, false) => {
                    overlap.scans += alone.len() as u64;
                    alone.clear();
                    updates += 1;
                }
                (true, true) => alone.retain(|scan| *scan != step.operation),
                (true, false) => updates -= 1,
            }
            if step.is_end {
                open -= 1;
            } else {
                overlap.overlapping += u64::from(open > 0);
                open += 1;
            }
        }
        overlap
    }

    /// Returns the reason why these recordings cannot find anything; `None` if they can.
    pub fn note(&self) -> Option<&'static str> {
        (self.scans == 0).then_some(
            "no scan overlapped an update, so this can find nothing that one thread alone would \
             not: let threads start together, do more, or use more of them",
        )
    }
}

impl AddAssign for Overlap {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.overlapping += other.overlapping;
        self.scans += other.scans;
    }
}

#[cfg(test)]
mod tests {
    use snapshot_core::history::Declaration;

    use super::*;

    /// Counts the overlap of a text of invocations and responses: `u` and `U` of an update, `s` and
    /// `S` of a scan, each followed by the process.
    fn overlap(events: &str) -> Overlap {
        let declaration = Declaration::new(0).with_segments(4);
        let mut history = History::builder(declaration).unwrap();
        for event in events.split_whitespace() {
            let process: usize = event[1..].parse().unwrap();
            match &event[..1] {
                "u" => history.invoke_update(process, process, 1),
                "U" => history.respond_update(process),
                "s" => history.invoke_scan(process),
                "S" => history.respond_scan(process, &[0; 4]),
                _ => history.unknown(process),
            }
            .unwrap();
        }
        Overlap::new(&history.finish())
    }

    #[test]
    fn scans_that_overlap_an_update_are_counted_once() {
        for (events, operations, overlapping, scans) in [
            ("", 0, 0, 0),
            ("u0 U0 s1 S1 u0 U0", 3, 0, 0),
            ("s1 s2 S1 S2 u0 u3 U0 U3", 4, 2, 0),
            ("u0 s1 S1 U0", 2, 1, 1),
            ("s1 u0 U0 S1", 2, 1, 1),
            ("s1 u0 U0 u2 U2 u0 S1 U0 s1 S1", 5, 3, 1),
            ("u0 s1 s2 S1 s1 U0 S1 S2 s3 S3", 5, 3, 3),
            ("s1 S1 s2 u0 S2", 3, 1, 1),
            ("u0 ?0 s1 S1 s2", 3, 0, 0),
        ] {
            assert_eq!(overlap(events), Overlap { operations, overlapping, scans }, "{events}");
            assert_eq!(overlap(events).note().is_some(), scans == 0, "{events}");
        }
    }
}
