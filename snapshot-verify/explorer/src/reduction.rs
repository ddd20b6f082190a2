//! The reductions by name, to be switched on and off.
//!
//! Each is in its own module with its proof of soundness; this is the only table of them, in the
//! order of application. Every subset must give the same verdict, though not in the same time.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A reduction of the state space.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reduction {
    /// Removes slots that hold one scalar only or have no influence.
    Constant,
    /// Resolves tests with known outcomes, so that slots read for the other outcome are dead.
    Decided,
    /// Resets variables that are not read again.
    Dead,
    /// Fuses invocations, responses and local steps with accesses.
    Shrink,
    /// Renames versions and counters to canonical ones.
    Counters,
    /// Merges states that differ by an exchange of interchangeable processes.
    Symmetry,
    /// Drops states dominated by another.
    Antichain,
    /// Resets cells that will be overwritten before they are read.
    Stale,
    /// Takes steps immediately that no process can interfere with any more.
    Ample,
}

/// The description of a reduction for users.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Entry {
    pub reduction: Reduction,
    pub name: &'static str,
    /// The name in the literature; accepted as an alternative name.
    pub standard: &'static str,
    /// Whether the reduction is on by default.
    pub default: bool,
    /// The effect, in one line.
    pub help: &'static str,
}

/// All reductions, in the order in which they apply.
pub const TABLE: [Entry; 9] = [
    entry(
        Reduction::Constant,
        "constant",
        "constant-propagation",
        "remove cells and variables that can hold one value only",
    ),
    entry(
        Reduction::Decided,
        "decided",
        "predicate-specialisation",
        "drop what was read for an outcome that cannot come any more",
    ),
    entry(
        Reduction::Dead,
        "dead",
        "dead-variable-reset",
        "reset variables that are not read again",
    ),
    entry(
        Reduction::Shrink,
        "shrink",
        "lipton-reduction",
        "fuse invocations, responses and local steps with accesses",
    ),
    entry(
        Reduction::Counters,
        "counters",
        "canonical-renaming",
        "keep of versions and counters what comparisons can distinguish",
    ),
    entry(
        Reduction::Symmetry,
        "symmetry",
        "scalarset-symmetry",
        "treat processes as interchangeable where the program does",
    ),
    entry(
        Reduction::Antichain,
        "antichain",
        "simulation-subsumption",
        "drop states that can do no more harm than another",
    ),
    entry(
        Reduction::Stale,
        "stale",
        "dead-cells",
        "forget cells that will be written over before they are read",
    ),
    entry(
        Reduction::Ample,
        "ample",
        "persistent-sets",
        "take steps at once that no process can interfere with any more",
    ),
];

const fn entry(
    reduction: Reduction,
    name: &'static str,
    standard: &'static str,
    help: &'static str,
) -> Entry {
    Entry { reduction, name, standard, default: true, help }
}

impl Reduction {
    /// Returns the reduction's row of the table.
    pub fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the reduction with this name or standard name.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|entry| [entry.name, entry.standard].contains(&name))
            .map(|entry| entry.reduction)
    }
}

/// A set of reductions.
///
/// As text: `all`, `none`, or a comma-separated list of names; a list of `no-NAME` means all
/// reductions except these.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Reductions(u16);

/// An invalid list of reductions.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ReductionsError {
    /// A name is unknown.
    #[error("there is no reduction `{name}`")]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The list has names both with and without `no-`.
    #[error("name the reductions to use, or those to leave out (`no-NAME`), but not both")]
    Mixed,
}

impl Reductions {
    pub const NONE: Self = Self(0);

    /// Returns the reductions that are on by default.
    pub fn standard() -> Self {
        TABLE.iter().filter(|entry| entry.default).map(|entry| entry.reduction).collect()
    }

    pub const fn contains(self, reduction: Reduction) -> bool {
        self.0 & (1 << reduction as u16) != 0
    }

    /// Returns the set with this reduction added.
    #[must_use]
    pub const fn with(self, reduction: Reduction) -> Self {
        Self(self.0 | 1 << reduction as u16)
    }

    /// Returns the set with this reduction removed.
    #[must_use]
    pub const fn without(self, reduction: Reduction) -> Self {
        Self(self.0 & !(1 << reduction as u16))
    }

    /// Returns the reductions in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Reduction> {
        TABLE.iter().map(|entry| entry.reduction).filter(move |&one| self.contains(one))
    }
}

impl Default for Reductions {
    fn default() -> Self {
        Self::standard()
    }
}

impl FromIterator<Reduction> for Reductions {
    fn from_iter<I: IntoIterator<Item = Reduction>>(reductions: I) -> Self {
        reductions.into_iter().fold(Self::NONE, Self::with)
    }
}

impl FromStr for Reductions {
    type Err = ReductionsError;

    fn from_str(text: &str) -> Result<Self, ReductionsError> {
        match text {
            "all" => return Ok(Self::standard()),
            "none" => return Ok(Self::NONE),
            _ => {}
        }
        let named = |name: &str| {
            Reduction::from_name(name)
                .ok_or_else(|| ReductionsError::Unknown { name: name.to_owned() })
        };
        let (mut used, mut left_out) = (Self::NONE, Self::NONE);
        for item in text.split(',').map(str::trim) {
            match item.strip_prefix("no-") {
                Some(name) => left_out = left_out.with(named(name)?),
                None => used = used.with(named(item)?),
            }
        }
        match (used, left_out) {
            (used, Self::NONE) => Ok(used),
            (Self::NONE, left_out) => Ok(Self(Self::standard().0 & !left_out.0)),
            _ => Err(ReductionsError::Mixed),
        }
    }
}

/// Writes comma-separated names, or `none`.
impl fmt::Display for Reductions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NONE {
            return f.write_str("none");
        }
        for (position, reduction) in self.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{}", reduction.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_reductions() {
        for (position, entry) in TABLE.iter().enumerate() {
            assert_eq!(entry.reduction as usize, position);
            assert_eq!(Reduction::from_name(entry.name), Some(entry.reduction));
            assert_eq!(Reduction::from_name(entry.standard), Some(entry.reduction));
        }
    }

    #[test]
    fn lists_name_included_or_omitted_reductions() {
        let read = |text: &str| text.parse::<Reductions>();
        assert_eq!(read("all"), Ok(Reductions::standard()));
        assert_eq!(read("none"), Ok(Reductions::NONE));
        let two = Reductions::NONE.with(Reduction::Dead).with(Reduction::Constant);
        assert_eq!(read("dead, constant"), Ok(two));
        assert_eq!(two.to_string(), "constant,dead");
        assert_eq!(read("dead-variable-reset,constant-propagation"), Ok(two));
        assert_eq!(read("no-symmetry"), read("no-scalarset-symmetry"));
        assert_eq!(read("no-symmetry"), Ok(Reductions::standard().without(Reduction::Symmetry)));
        assert_eq!(read("dead,no-symmetry"), Err(ReductionsError::Mixed));
        for unknown in ["deed", "", "no-", "Dead"] {
            assert!(matches!(read(unknown), Err(ReductionsError::Unknown { .. })), "{unknown}");
        }
    }

    #[test]
    fn printed_lists_round_trip() {
        for bits in 0..1 << TABLE.len() {
            let reductions = Reductions(bits);
            assert_eq!(reductions.to_string().parse(), Ok(reductions));
        }
    }
}
