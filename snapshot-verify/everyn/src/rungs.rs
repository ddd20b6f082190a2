//! Rungs of the ladder: their names, and a choice among them.

use super::model::{Ghosts, Obligation, Part, Specification};
use super::shape::{I, J, Mode, T};

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
    /// Returns all rungs, by their guesses at ghost scans.
    pub fn all() -> Vec<Obligation> {
        let of = |ghosts| [nested(ghosts).to_vec(), direct(ghosts)].concat().concat();
        // Rungs of rounds stand for any rounds.
        let mut rounds = of(Ghosts::Rounds { begin: 0, end: 0 });
        rounds.retain(|rung| rung.mode == Mode::Direct || rung.part == Part::Tokens);
        [of(Ghosts::Scans), of(Ghosts::Calls), rounds].concat()
    }

    /// Returns true if a rung is tried.
    pub fn contains(&self, rung: Obligation) -> bool {
        !self.without.iter().any(|without| without.name() == rung.name())
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

impl Obligation {
    /// Returns the name of the rung: its ghost scans, and the property shown of them.
    pub fn name(self) -> String {
        let what = match (self.mode, self.part, self.specification) {
            (Mode::Nested, Part::Faults, _) => "faults",
            (Mode::Nested, Part::Tokens, _) => "nesting",
            (Mode::Nested, ..) => "faults+nesting",
            (Mode::Direct, _, Specification::Observer) => "observer",
            (Mode::Direct, Part::By(I), _) => "memory-i",
            (Mode::Direct, Part::By(J), _) => "memory-j",
            (Mode::Direct, ..) => "memory-t",
        };
        format!("{}.{what}", self.ghosts.name())
    }
}

impl Ghosts {
    /// Returns the name of the guess.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scans => "scans",
            Self::Calls => "calls",
            Self::Rounds { .. } => "rounds",
        }
    }
}

/// Returns the ways to show nesting: by parts, which are small; or as a whole, with all scalars
/// that may matter.
pub(crate) fn nested(ghosts: Ghosts) -> [Vec<Obligation>; 2] {
    let of = |part| {
        let specification = Specification::Observer;
        Obligation { mode: Mode::Nested, ghosts, specification, part }
    };
    [vec![of(Part::Faults), of(Part::Tokens)], vec![of(Part::Whole)]]
}

/// Returns the ways to show that vectors are right.
pub(crate) fn direct(ghosts: Ghosts) -> Vec<Vec<Obligation>> {
    let of = |specification, part| Obligation { mode: Mode::Direct, ghosts, specification, part };
    let observer = vec![of(Specification::Observer, Part::Whole)];
    let local = [T, I, J].map(|member| of(Specification::Local, Part::By(member))).to_vec();
    match ghosts {
        Ghosts::Scans => vec![observer, local],
        Ghosts::Calls => vec![local, observer],
        Ghosts::Rounds { .. } => vec![observer],
    }
}
