//! The hard corpus, in one go.

use corpus::Expected;
use corpus::family::hard;
use snapshot_core::History;
use snapshot_core::check::decide;
use snapshot_core::search::Budget;

use super::{SEARCH_MEMORY, of_history};
use crate::{Digest, Row, Size};

/// Decides all of them, without certificates. At the smoke size, those of 17 segments.
#[derive(Clone, Copy, Debug)]
pub struct HardCorpus;

/// A history, and what is known of it.
type Known = (String, Expected, History<i64>);

impl Row for HardCorpus {
    type Input = Vec<Known>;
    type Answer<'i> = Vec<Option<bool>>;

    fn name(&self) -> String {
        "hard".to_owned()
    }

    fn seed(&self) -> String {
        "by family".to_owned()
    }

    fn input(&self, size: Size) -> Vec<Known> {
        let most = if size == Size::Smoke { 17 } else { usize::MAX };
        let members = hard().filter(|member| member.recipe().segments <= most);
        members.map(|member| (member.name.clone(), member.expected(), member.history())).collect()
    }

    fn events(&self, input: &Vec<Known>) -> u64 {
        input.iter().map(|(_, _, history)| history.len() as u64).sum()
    }

    fn run(&self, input: &Vec<Known>) -> Vec<Option<bool>> {
        let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
        input.iter().map(|(_, _, history)| decide(history, &mut budget)).collect()
    }

    fn digest(&self, input: &Vec<Known>, answer: &Vec<Option<bool>>) -> Digest {
        assert_eq!(input.len(), answer.len(), "each history has an answer");
        input.iter().zip(answer).fold(
            Digest::EMPTY,
            |digest, ((name, expected, history), answer)| {
                assert_eq!(*answer, Some(expected.is_linearizable()), "{name}");
                of_history(digest, history).bytes(&[u8::from(expected.is_linearizable())])
            },
        )
    }
}
