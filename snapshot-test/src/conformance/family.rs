//! The families of cases.

use corpus::family::{
    Crowded, Exchanged, Member, cases_in_turn, hard, immediate, many_writers, published,
};
use corpus::{Expected, exchange_twins, twins};

use super::{Case, by_search};
use crate::generate::{about, about_exchanges, about_many};

/// A family of cases; see [`corpus`] for their contents.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Family {
    /// Written by hand, in pairs that are one event apart.
    Twins,
    /// 900 simple histories by the recipe of the DISC 2022 paper.
    Published,
    /// 450 simple histories, with every case of a violation in turn.
    Cases,
    /// Long histories of many processes, wrong near their end, and their twins.
    Hard,
    /// Any process updates any segment, scans may be partial; each needs a rule of the
    /// saturated relation, or consecutive ones; and their twins.
    ManyWriters,
    /// Immediate snapshots: written by hand, the 19 profiles of three processes, and random
    /// ones with a violation of each condition; and their twins.
    Immediate,
}

impl Family {
    pub const ALL: [Self; 6] =
        [Self::Twins, Self::Published, Self::Cases, Self::Hard, Self::ManyWriters, Self::Immediate];

    /// Returns the name in reports and options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Twins => "twins",
            Self::Published => "published",
            Self::Cases => "cases",
            Self::Hard => "hard",
            Self::ManyWriters => "many-writers",
            Self::Immediate => "immediate",
        }
    }

    /// Returns true if exact search without any theory can decide all members. The hard ones are
    /// chosen so that it cannot.
    pub const fn is_searchable(self) -> bool {
        !matches!(self, Self::Hard)
    }

    /// Returns the cases, generated one by one on demand.
    pub fn cases(self) -> Box<dyn Iterator<Item = Case>> {
        match self {
            Self::Twins => Box::new(twins().into_iter().map(|case| Case::by_hand(&case))),
            Self::Published => {
                // A history that the search gives up on is not tried further: only a history known
                // to be wrong becomes a wrong case.
                let members = published(|history| by_search(history) != Some(false));
                Box::new(members.map(|member| {
                    let about = match member.expected {
                        Expected::Linearizable => "A run of an atomic snapshot object.",
                        Expected::Violation { .. } => {
                            "A run of an atomic snapshot object; values of its last scans replaced."
                        }
                    };
                    let about = about.to_owned();
                    Case::generated(member.name, member.expected, about, &member.history)
                }))
            }
            Self::Cases => Box::new(cases_in_turn().map(generated)),
            Self::Hard => Box::new(hard().map(generated)),
            Self::ManyWriters => Box::new(many_writers().map(|member: Crowded| {
                let (expected, about) = (member.expected(), about_many(&member.recipe));
                Case::generated(member.name.clone(), expected, about, &member.history())
            })),
            Self::Immediate => {
                let by_hand = exchange_twins().into_iter().map(|case| Case::by_hand(&case));
                Box::new(by_hand.chain(immediate().map(exchanged)))
            }
        }
    }
}

fn generated(member: Member) -> Case {
    let (expected, about, history) = (member.expected(), about(member.recipe()), member.history());
    Case::generated(member.name, expected, about, &history)
}

fn exchanged(member: Exchanged) -> Case {
    let about = match &member.recipe {
        Some(recipe) => about_exchanges(recipe),
        None => "Three processes, one operation each, all concurrent.".to_owned(),
    };
    Case::exchanged(member.name, member.expected, about, &member.history)
}
