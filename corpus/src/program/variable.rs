//! Variables that garnish uses.

use std::fmt::Write;

use crate::generate::Draw;

/// A type of the language other than values, which belong to the skeleton.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Name,
    MaybeName,
    Version,
    Counter,
    Bool,
    /// The range 0..2.
    Small,
    /// The range 0..n-1: a plain number with the range of names.
    Index,
}

pub(super) const KINDS: [Kind; 7] = [
    Kind::Name,
    Kind::MaybeName,
    Kind::Version,
    Kind::Counter,
    Kind::Bool,
    Kind::Small,
    Kind::Index,
];

impl Kind {
    pub const fn text(self) -> &'static str {
        match self {
            Self::Name => "process",
            Self::MaybeName => "process or none",
            Self::Version => "version",
            Self::Counter => "counter",
            Self::Bool => "bool",
            Self::Small => "0..2",
            Self::Index => "0..n-1",
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Name => 'p',
            Self::MaybeName => 'q',
            Self::Version => 'f',
            Self::Counter => 'c',
            Self::Bool => 'b',
            Self::Small => 'm',
            Self::Index => 'k',
        }
    }
}

/// Kind of storage of a variable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    Shared,
    /// One cell per process.
    Array,
    Linked,
    Swappable,
    Private,
    Local,
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub kind: Kind,
    pub place: Place,
}

/// All variables of a program.
#[derive(Clone, Debug)]
pub(super) struct Variables(pub Vec<Variable>);

impl Variables {
    /// Draws one to three shared variables, up to two private ones, and two locals for each type
    /// among them.
    pub fn random(draw: &mut Draw) -> Self {
        let mut all = Vec::new();
        let places = [
            Place::Shared,
            Place::Shared,
            Place::Shared,
            Place::Array,
            Place::Array,
            Place::Linked,
            Place::Swappable,
        ];
        for number in 0..1 + draw.below(3) {
            // Names, versions and counters are the hard types, so they are the most likely.
            let kind = KINDS[draw.below(KINDS.len()).min(draw.below(KINDS.len()))];
            let place = places[draw.below(places.len())];
            all.push(Variable { name: format!("s{number}{}", kind.letter()), kind, place });
        }
        let mut kinds: Vec<Kind> = all.iter().map(|variable| variable.kind).collect();
        if draw.coin() {
            kinds.push(KINDS[draw.below(KINDS.len())]);
        }
        for number in 0..draw.below(3) {
            let kind = kinds[draw.below(kinds.len())];
            let name = format!("r{number}{}", kind.letter());
            all.push(Variable { name, kind, place: Place::Private });
        }
        for kind in KINDS.into_iter().filter(|kind| kinds.contains(kind) || *kind == Kind::Bool) {
            for number in 0..2 {
                let name = format!("l{number}{}", kind.letter());
                all.push(Variable { name, kind, place: Place::Local });
            }
        }
        Self(all)
    }

    pub fn declarations(&self) -> String {
        let mut text = String::new();
        for Variable { name, kind, place } in &self.0 {
            let kind = kind.text();
            let line = match place {
                Place::Shared => format!("shared {name}: {kind}"),
                Place::Array => format!("shared {name}[process]: {kind}"),
                Place::Linked => format!("shared {name}: llsc {kind}"),
                Place::Swappable => format!("shared {name}: cas {kind}"),
                Place::Private => format!("private {name}: {kind}"),
                Place::Local => continue,
            };
            writeln!(text, "{line}").expect("writing to a string cannot fail");
        }
        text
    }

    /// Returns the variables that satisfy a condition.
    pub fn which(&self, holds: impl Fn(&Variable) -> bool) -> Vec<&Variable> {
        self.0.iter().filter(|variable| holds(variable)).collect()
    }
}
