//! Permutations of the processes.

use snapshot_core::Process;

/// Returns the (n - 2)! permutations of n processes that fix a pair, the identity first. Each maps
/// a process to its image.
pub fn fixing(n: usize, pair: [Process; 2]) -> Vec<Vec<usize>> {
    let others = (0..n).filter(|process| pair.iter().all(|fixed| fixed.index() != *process));
    let others: Vec<usize> = others.collect();
    let mut all = vec![(0..n).collect::<Vec<usize>>()];
    // Transpositions with later processes: each permutation arises once.
    for (position, process) in others.iter().enumerate() {
        let before = all.clone();
        for later in &others[position + 1..] {
            all.extend(before.iter().map(|to| {
                let mut swapped = to.clone();
                swapped.swap(*process, *later);
                swapped
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn permutations_are_distinct_and_fix_the_pair() {
        for (n, count) in [(2, 1), (3, 1), (4, 2), (5, 6), (6, 24)] {
            let all = fixing(n, [Process::from_index(0), Process::from_index(n - 1)]);
            assert_eq!(all.len(), count);
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), count);
            assert_eq!(all[0], (0..n).collect::<Vec<_>>());
            for to in all {
                assert_eq!([to[0], to[n - 1]], [0, n - 1]);
                assert_eq!(to.iter().collect::<BTreeSet<_>>().len(), n);
            }
        }
    }
}
