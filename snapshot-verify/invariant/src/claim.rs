//! What is claimed of a program, in obligations.

/// Which intervals of an execution are the ghost scans.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Ghosts {
    /// The scans.
    Scans,
    /// Calls of procedures that return a view, by scans and updates.
    Calls,
    /// What several processes do together: from a write to a shared variable that is no array to a
    /// write of a view to one, which scans return.
    Rounds,
}

/// What is shown.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Aim {
    /// No execution goes wrong.
    Faults,
    /// A view that a ghost scan takes from elsewhere is that of a ghost scan within it.
    Nesting,
    /// The vectors that ghost scans put together are right, by the observer of simple
    /// histories.
    Observer,
    /// Those of the ghost scans of this member were in memory meanwhile.
    Memory(u8),
}

/// Something to be shown of a program.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Obligation {
    /// Of which ghost scans.
    pub ghosts: Ghosts,
    /// What.
    pub aim: Aim,
}

impl Obligation {
    /// Whether views are tokens, and values are nothing.
    pub const fn has_tokens(self) -> bool {
        matches!(self.aim, Aim::Faults | Aim::Nesting)
    }

    /// Whether the ghost scans of a member are judged, or of nesting, the views of t. Those that are
    /// rounds are judged where they end, whichever process makes that.
    pub fn judges(self, member: u8) -> bool {
        match self.aim {
            Aim::Faults => false,
            Aim::Nesting => member == crate::byte::T,
            Aim::Observer => self.ghosts != Ghosts::Rounds,
            Aim::Memory(judged) => member == judged,
        }
    }

    /// Whether a fault of a member is one of the proof.
    pub fn fears(self, member: u8) -> bool {
        match self.aim {
            Aim::Faults => member == crate::byte::T,
            _ => false,
        }
    }

    /// Its name in certificates.
    pub fn name(self) -> String {
        let ghosts = match self.ghosts {
            Ghosts::Scans => "scans",
            Ghosts::Calls => "calls",
            Ghosts::Rounds => "rounds",
        };
        let aim = match self.aim {
            Aim::Faults => "faults",
            Aim::Nesting => "nesting",
            Aim::Observer => "observer",
            Aim::Memory(crate::byte::I) => "memory-i",
            Aim::Memory(crate::byte::J) => "memory-j",
            Aim::Memory(_) => "memory-t",
        };
        format!("{ghosts}.{aim}")
    }
}

/// What a certificate claims: its first lines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// The name of the algorithm in its text.
    pub algorithm: String,
    /// The bug variant, if it is one.
    pub bug: Option<String>,
    /// The digest of the text.
    pub digest: String,
    /// The variables that are rewritten, and how; none: the program is as it is written.
    pub rewritten: Vec<String>,
}

/// The first line.
pub const TITLE: &str = "snapshot-certificate 6 every";

impl std::fmt::Display for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{TITLE}")?;
        writeln!(f, "algorithm {}", self.algorithm)?;
        writeln!(f, "bug {}", self.bug.as_deref().unwrap_or("-"))?;
        writeln!(f, "text {}", self.digest)?;
        writeln!(f, "rewritten {}", self.rewritten.len())?;
        self.rewritten.iter().try_for_each(|change| writeln!(f, "{change}"))
    }
}

impl Obligation {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let aims = [
            Aim::Faults,
            Aim::Nesting,
            Aim::Observer,
            Aim::Memory(crate::byte::T),
            Aim::Memory(crate::byte::I),
            Aim::Memory(crate::byte::J),
        ];
        let of = |ghosts| aims.map(|aim| Self { ghosts, aim });
        let mut all = [of(Ghosts::Scans), of(Ghosts::Calls), of(Ghosts::Rounds)].concat();
        // What was in memory during a round is not kept.
        all.retain(|one| one.ghosts != Ghosts::Rounds || !matches!(one.aim, Aim::Memory(_)));
        all
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.name() == name)
    }
}

/// What is missing for obligations to make a proof; `may_fail`: whether the program has
/// operations that may go wrong.
pub fn missing(obligations: &[Obligation], may_fail: bool) -> Option<Obligation> {
    let missing = |ghosts: Ghosts| -> Option<Obligation> {
        let of = |aim| Obligation { ghosts, aim };
        let has = |aim| obligations.contains(&of(aim));
        let judged = [crate::byte::T, crate::byte::I, crate::byte::J];
        if may_fail && !has(Aim::Faults) {
            return Some(of(Aim::Faults));
        }
        // A scan is within itself.
        if ghosts != Ghosts::Scans && !has(Aim::Nesting) {
            return Some(of(Aim::Nesting));
        }
        match has(Aim::Observer) {
            true => None,
            false if ghosts == Ghosts::Rounds => Some(of(Aim::Observer)),
            false => judged.into_iter().map(Aim::Memory).find(|aim| !has(*aim)).map(of),
        }
    };
    let guess = obligations.first().map_or(Ghosts::Scans, |one| one.ghosts);
    missing(guess)
}
