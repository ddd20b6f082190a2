//! Exact search over the 900 histories in the shape of the published corpus.

use corpus::family::Published;
use snapshot_core::search::{Budget, Outcome, search_plainly};

use super::{PublishedCorpus, SEARCH_MEMORY, of_history};
use crate::{Digest, Row, Size};

/// Searches each for an order, knowing nothing but what updates and scans mean. The
/// same at every size. Which order it finds, and after how many states, is its own
/// affair and not in the digest.
#[derive(Clone, Copy, Debug)]
pub struct Searched;

impl Row for Searched {
    type Input = Vec<Published>;
    type Answer<'i> = Vec<Outcome>;

    fn name(&self) -> String {
        "search".to_owned()
    }

    fn seed(&self) -> String {
        PublishedCorpus.seed()
    }

    fn input(&self, size: Size) -> Vec<Published> {
        PublishedCorpus.input(size)
    }

    fn events(&self, input: &Vec<Published>) -> u64 {
        PublishedCorpus.events(input)
    }

    fn run(&self, input: &Vec<Published>) -> Vec<Outcome> {
        let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
        input.iter().map(|published| search_plainly(&published.history, &mut budget)).collect()
    }

    fn digest(&self, input: &Vec<Published>, answer: &Vec<Outcome>) -> Digest {
        assert_eq!(input.len(), answer.len(), "each history has an answer");
        input.iter().zip(answer).fold(Digest::EMPTY, |digest, (published, outcome)| {
            let Published { name, expected, history } = published;
            let digest = of_history(digest, history);
            match outcome {
                Outcome::Linearizable(order) if expected.is_linearizable() => {
                    snapshot_core::certificate::linearization::check(history, order)
                        .expect("the order is a proof");
                    digest.bytes(b"linearizable")
                }
                Outcome::NotLinearizable { .. } if !expected.is_linearizable() => {
                    digest.bytes(b"violation")
                }
                _ => panic!("{name}: {outcome:?}"),
            }
        })
    }
}
