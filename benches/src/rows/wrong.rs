//! A non-linearizable history of 64 processes: where memoised search drowns.

use corpus::family::{Member, hard};
use corpus::generate::Rule;
use snapshot_core::History;
use snapshot_core::verdict::Verdict;

use super::{confirm, of_history, verdict};
use crate::{Digest, Row, Size};

/// Finds and proves a violation of one rule among 5,000 operations, of which
/// a few are pending. The same at every size.
#[derive(Clone, Debug)]
pub struct Wrong {
    rule: Rule,
    member: Member,
}

impl Wrong {
    /// One row per rule.
    pub fn all() -> impl Iterator<Item = Self> {
        Rule::ALL.into_iter().map(|rule| {
            let name = format!("{rule}-64-5000-pending-4");
            let member = hard().find(|member| member.name == name);
            Self { rule, member: member.expect("the family has one of every rule") }
        })
    }
}

impl Row for Wrong {
    type Input = History<i64>;
    type Answer<'i> = Verdict;

    fn name(&self) -> String {
        format!("wrong-{}", self.rule)
    }

    fn seed(&self) -> String {
        self.member.recipe().seed.to_string()
    }

    fn input(&self, _: Size) -> History<i64> {
        self.member.history()
    }

    fn events(&self, input: &History<i64>) -> u64 {
        input.len() as u64
    }

    fn run(&self, input: &History<i64>) -> Verdict {
        verdict(input)
    }

    fn digest(&self, input: &History<i64>, answer: &Verdict) -> Digest {
        match answer {
            Verdict::Violation(witness) => {
                assert_eq!(witness.reason.name(), self.rule.name(), "it breaks no other rule");
            }
            other => panic!("{} is planted, but: {}", self.rule, other.name()),
        }
        confirm(input, answer);
        of_history(Digest::EMPTY, input).verdict(answer)
    }
}
