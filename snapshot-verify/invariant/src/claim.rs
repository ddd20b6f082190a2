//! Claims about a program, split into obligations.

/// Intervals of an execution that count as the ghost scans.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Ghosts {
    Scans,
    /// Calls, by scans and updates, of procedures that return a view.
    Calls,
    /// Intervals shared by several processes: from a write to a shared variable that is not an
    /// array, to a write of a view to another such variable, which scans return.
    Rounds,
}

/// Property to be shown.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Property {
    Faults,
    /// A view that a ghost scan takes from elsewhere belongs to a ghost scan within it.
    Nesting,
    /// The vectors that ghost scans assemble are right, by the observer of simple histories.
    Observer,
    /// The vectors of this member's ghost scans were in memory during the ghost scan.
    Memory(u8),
}

/// One property of one kind of ghost scans.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Obligation {
    pub ghosts: Ghosts,
    pub property: Property,
}

impl Obligation {
    /// Returns true if views are tokens and values are not modelled.
    pub const fn has_tokens(self) -> bool {
        matches!(self.property, Property::Faults | Property::Nesting)
    }

    /// Returns true if the ghost scans of a member are judged, or, for nesting, the views of t.
    /// Rounds are judged where they end, by any process.
    pub fn judges(self, member: u8) -> bool {
        match self.property {
            Property::Faults => false,
            Property::Nesting => member == crate::byte::T,
            Property::Observer => self.ghosts != Ghosts::Rounds,
            Property::Memory(judged) => member == judged,
        }
    }

    /// Returns true if a fault of a member fails the proof.
    pub fn fears(self, member: u8) -> bool {
        match self.property {
            Property::Faults => member == crate::byte::T,
            _ => false,
        }
    }

    /// Returns the obligation's name in certificates.
    pub fn name(self) -> String {
        let ghosts = match self.ghosts {
            Ghosts::Scans => "scans",
            Ghosts::Calls => "calls",
            Ghosts::Rounds => "rounds",
        };
        let property = match self.property {
            Property::Faults => "faults",
            Property::Nesting => "nesting",
            Property::Observer => "observer",
            Property::Memory(crate::byte::I) => "memory-i",
            Property::Memory(crate::byte::J) => "memory-j",
            Property::Memory(_) => "memory-t",
        };
        format!("{ghosts}.{property}")
    }
}

/// Claim of a certificate: its first lines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim {
    /// Name of the algorithm in its text.
    pub algorithm: String,
    /// Bug variant, if any.
    pub bug: Option<String>,
    /// Digest of the text.
    pub digest: String,
    /// The variables that are rewritten, and how; none: the program is as it is written.
    pub rewritten: Vec<String>,
}

/// The first line.
pub const TITLE: &str = "snapshot-certificate 9 every";

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
    pub fn all() -> Vec<Self> {
        let properties = [
            Property::Faults,
            Property::Nesting,
            Property::Observer,
            Property::Memory(crate::byte::T),
            Property::Memory(crate::byte::I),
            Property::Memory(crate::byte::J),
        ];
        let of = |ghosts| properties.map(|property| Self { ghosts, property });
        let mut all = [of(Ghosts::Scans), of(Ghosts::Calls), of(Ghosts::Rounds)].concat();
        // Memory during a round is not kept.
        all.retain(|one| {
            one.ghosts != Ghosts::Rounds || !matches!(one.property, Property::Memory(_))
        });
        all
    }

    /// Returns the obligation of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|one| one.name() == name)
    }
}

/// Returns an obligation that is missing for a proof; `may_fail`: true if the program has
/// operations that may go wrong.
pub fn missing(obligations: &[Obligation], may_fail: bool) -> Option<Obligation> {
    let missing = |ghosts: Ghosts| -> Option<Obligation> {
        let of = |property| Obligation { ghosts, property };
        let has = |property| obligations.contains(&of(property));
        let judged = [crate::byte::T, crate::byte::I, crate::byte::J];
        if may_fail && !has(Property::Faults) {
            return Some(of(Property::Faults));
        }
        // Scans as ghost scans are nested trivially.
        if ghosts != Ghosts::Scans && !has(Property::Nesting) {
            return Some(of(Property::Nesting));
        }
        match has(Property::Observer) {
            true => None,
            false if ghosts == Ghosts::Rounds => Some(of(Property::Observer)),
            false => {
                judged.into_iter().map(Property::Memory).find(|property| !has(*property)).map(of)
            }
        }
    };
    let guess = obligations.first().map_or(Ghosts::Scans, |one| one.ghosts);
    missing(guess)
}
