//! The operations of a thread in a round, drawn before the round begins.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::workload::{Operation, Workload};

/// Draws the operations of one thread in one round.
pub(super) fn plan<V>(
    workload: &Workload<V>,
    seed: u64,
    (round, thread): (usize, usize),
) -> Vec<Operation> {
    let mut random =
        ChaCha8Rng::seed_from_u64(seed ^ (thread as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.set_stream(round as u64);
    (0..workload.operations).map(|_| workload.draw(thread, &mut random)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use snapshot_core::history::Writers;

    use super::*;

    #[test]
    fn plans_are_determined_by_seed_round_and_thread() {
        let mut workload = Workload::new(5, 64);
        let of = |seed, round, thread| plan(&workload, seed, (round, thread));
        assert_eq!(of(1, 2, 3), of(1, 2, 3));
        for other in [of(2, 2, 3), of(1, 3, 3), of(1, 2, 4)] {
            assert_ne!(other, of(1, 2, 3));
        }
        let of_own = HashSet::from([Operation::Scan, Operation::Update { segment: 3 }]);
        assert_eq!(of(1, 2, 3).into_iter().collect::<HashSet<_>>(), of_own);
        workload.segments = Some(2);
        assert!(plan(&workload, 1, (2, 3)).iter().all(|operation| *operation == Operation::Scan));
    }

    #[test]
    fn plans_cover_all_segments_and_partial_scans() {
        let mut workload = Workload::new(1, 1000);
        (workload.segments, workload.writers) = (Some(3), Writers::Many);
        workload.has_partial_scans = true;
        let drawn: HashSet<Operation> = plan(&workload, 1, (0, 0)).into_iter().collect();
        // Three updates, the scan, and seven sets of segments.
        assert_eq!(drawn.len(), 3 + 1 + 7, "{drawn:?}");
        for operation in drawn {
            if let Operation::PartialScan { segments } = operation {
                assert!(segments.is_sorted() && segments.iter().all(|segment| *segment < 3));
            }
        }
    }
}
