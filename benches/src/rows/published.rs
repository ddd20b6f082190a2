//! The 900 histories in the shape of the published corpus, in one go.

use corpus::family::{Published, published};
use snapshot_core::check::decide;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;

use super::{SEARCH_MEMORY, confirm, of_history, verdict};
use crate::{Digest, Row, Size};

/// Checks all of them, with certificates. The same at every size.
#[derive(Clone, Copy, Debug)]
pub struct PublishedCorpus;

impl Row for PublishedCorpus {
    type Input = Vec<Published>;
    type Answer<'i> = Vec<Verdict>;

    fn name(&self) -> String {
        "published".to_owned()
    }

    fn seed(&self) -> String {
        "by family".to_owned()
    }

    fn input(&self, _: Size) -> Vec<Published> {
        let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
        published(|history| decide(history, &mut budget) == Some(true)).collect()
    }

    fn events(&self, input: &Vec<Published>) -> u64 {
        input.iter().map(|published| published.history.len() as u64).sum()
    }

    fn run(&self, input: &Vec<Published>) -> Vec<Verdict> {
        input.iter().map(|published| verdict(&published.history)).collect()
    }

    fn digest(&self, input: &Vec<Published>, answer: &Vec<Verdict>) -> Digest {
        assert_eq!((input.len(), answer.len()), (900, 900), "each history has a verdict");
        input.iter().zip(answer).fold(Digest::EMPTY, |digest, (published, verdict)| {
            let Published { name, expected, history } = published;
            let is_linearizable = matches!(verdict, Verdict::Linearizable(_));
            assert_eq!(is_linearizable, expected.is_linearizable(), "{name}: {verdict:?}");
            confirm(history, verdict);
            of_history(digest, history).verdict(verdict)
        })
    }
}
