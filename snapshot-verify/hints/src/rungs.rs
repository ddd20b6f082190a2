//! Rungs of the ladder: their names, and a choice among them.

use snapshot_invariant::claim::{Ghosts, Obligation, Property};

/// The rungs to be tried.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rungs {
    /// Omitted rungs.
    without: Vec<Obligation>,
}

/// Unknown name of a rung.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownRung {
    pub name: String,
}

impl Rungs {
    /// Returns all rungs, by their guesses at ghost scans. Absence of faults does not depend on these: that of
    /// rounds is no rung of its own.
    pub fn all() -> Vec<Obligation> {
        let mut all = Obligation::all();
        all.retain(|one| one.ghosts != Ghosts::Rounds || one.property != Property::Faults);
        all
    }

    /// Returns true if a rung is tried.
    pub fn contains(&self, rung: Obligation) -> bool {
        !self.without.contains(&rung)
    }
}

/// `all`, names separated by commas, or `no-NAME` for all but some.
impl std::str::FromStr for Rungs {
    type Err = UnknownRung;

    fn from_str(text: &str) -> Result<Self, UnknownRung> {
        if text == "all" {
            return Ok(Self::default());
        }
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for name in text.split(',').map(str::trim) {
            let (list, name) = match name.strip_prefix("no-") {
                Some(name) => (&mut without, name),
                None => (&mut with, name),
            };
            let rung = Self::all().into_iter().find(|rung| rung.name() == name);
            list.push(rung.ok_or_else(|| UnknownRung { name: name.to_owned() })?);
        }
        if !with.is_empty() {
            without.extend(Self::all().into_iter().filter(|rung| !with.contains(rung)));
        }
        Ok(Self { without })
    }
}
