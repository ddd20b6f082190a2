//! Faults to plant in a history, as options.

use std::str::FromStr;

use corpus::generate::{Contradiction, Flaw, Rule, Violation};
use thiserror::Error;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Pair {
    pub(super) i: usize,
    pub(super) j: usize,
}

impl Pair {
    pub(super) const FIRST: Self = Self { i: 0, j: 1 };
}

#[derive(Debug, Error)]
#[error("expected two segments such as `0,1`")]
pub(super) struct NotAPair;

impl FromStr for Pair {
    type Err = NotAPair;

    fn from_str(text: &str) -> Result<Self, NotAPair> {
        let (i, j) = text.split_once(',').ok_or(NotAPair)?;
        let segment = |text: &str| text.trim().parse().map_err(|_| NotAPair);
        Ok(Self { i: segment(i)?, j: segment(j)? })
    }
}

/// A fault to plant in a history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// A violation of a rule, at random segments.
    Rule(Rule),
    /// A case of [`Violation::simple_cases`], by name, and the rule that it breaks.
    Case(&'static str, Rule),
    /// A contradiction with many writers.
    Crowd(Contradiction),
    /// A flaw of an immediate snapshot.
    Flaw(Flaw),
}

impl Fault {
    fn names() -> impl Iterator<Item = &'static str> {
        let cases = Violation::simple_cases(0, 1).into_iter().map(|(name, _)| name);
        let cases = cases.filter(|name| Rule::from_name(name).is_none());
        let crowd = Contradiction::ALL.into_iter().map(Contradiction::name);
        let flaws = Flaw::ALL.into_iter().map(Flaw::name);
        Rule::ALL.into_iter().map(Rule::name).chain(cases).chain(crowd).chain(flaws)
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.name(),
            Self::Case(name, _) => name,
            Self::Crowd(contradiction) => contradiction.name(),
            Self::Flaw(flaw) => flaw.name(),
        }
    }

    /// Returns the options needed to plant this fault.
    pub(super) const fn needs(&self) -> &'static str {
        match self {
            Self::Rule(_) | Self::Case(..) => "--writers single",
            Self::Crowd(_) => "--writers many",
            Self::Flaw(_) => "--object immediate",
        }
    }
}

#[derive(Debug, Error)]
#[error("expected one of {}", .names.join(", "))]
pub(super) struct NotAFault {
    names: Vec<&'static str>,
}

impl FromStr for Fault {
    type Err = NotAFault;

    fn from_str(text: &str) -> Result<Self, NotAFault> {
        let case = |(name, violation): (&'static str, Violation)| {
            (name == text).then_some(Self::Case(name, violation.rule))
        };
        Rule::from_name(text)
            .map(Self::Rule)
            .or_else(|| Violation::simple_cases(0, 1).into_iter().find_map(case))
            .or_else(|| Contradiction::from_name(text).map(Self::Crowd))
            .or_else(|| Flaw::from_name(text).map(Self::Flaw))
            .ok_or_else(|| NotAFault { names: Self::names().collect() })
    }
}
