//! The rules that a planted violation can break.

use std::fmt;

/// A condition of linearizability, named like the [`Reason`](snapshot_core::verdict::Reason) that
/// reports its violation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
    /// A scan returns a value that is never written.
    NeverWritten,
    /// A scan returns the value of an update that certainly had no effect.
    FailedUpdateSeen,
    /// A scan returns a value that is written only after it.
    Future,
    /// A scan returns a value overwritten before it began.
    Stale,
    /// A scan returns less than a preceding scan.
    Decrease,
    /// Two scans contradict each other about which update came first.
    Inversion,
    /// A scan sees an update but misses a preceding one.
    Missing,
}

impl Rule {
    pub const ALL: [Self; 7] = [
        Self::NeverWritten,
        Self::FailedUpdateSeen,
        Self::Future,
        Self::Stale,
        Self::Decrease,
        Self::Inversion,
        Self::Missing,
    ];

    /// Returns its [`Reason::name`](snapshot_core::verdict::Reason::name).
    pub const fn name(self) -> &'static str {
        match self {
            Self::NeverWritten => "never-written",
            Self::FailedUpdateSeen => "failed-update-seen",
            Self::Future => "future",
            Self::Stale => "stale",
            Self::Decrease => "decrease",
            Self::Inversion => "inversion",
            Self::Missing => "missing",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Returns the smallest number of processes with which this rule alone can be broken.
    pub const fn processes(self) -> usize {
        match self {
            Self::NeverWritten | Self::FailedUpdateSeen | Self::Future | Self::Stale => 1,
            Self::Decrease => 2,
            Self::Inversion | Self::Missing => 3,
        }
    }

    /// Returns the number of segments, each with a writer, that the violation involves.
    pub const fn segments(self) -> usize {
        match self {
            Self::Inversion | Self::Missing => 2,
            _ => 1,
        }
    }

    /// Returns the number of operations in the violation.
    pub const fn operations(self) -> usize {
        match self {
            Self::NeverWritten => 1,
            Self::FailedUpdateSeen | Self::Future | Self::Stale => 2,
            Self::Decrease | Self::Missing => 3,
            Self::Inversion => 4,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A violation to plant: its rule, segments, and position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Violation {
    /// The rule to break; no other rule is broken.
    pub rule: Rule,
    /// Segments (i, j) at which to break it; random if `None`. A scan decreases, is stale, ... at
    /// i; it sees an update of j and misses one of i. Rules of one segment ignore j.
    pub segments: Option<(usize, usize)>,
    /// Smallest share, from 0 to 1, of the other operations that are invoked before the violation
    /// begins.
    pub after: f64,
}

impl Violation {
    /// Creates a violation at random segments, in the last quarter of the history.
    pub const fn new(rule: Rule) -> Self {
        Self { rule, segments: None, after: 0.75 }
    }

    /// Sets the segments (i, j).
    #[must_use]
    pub const fn at(mut self, i: usize, j: usize) -> Self {
        self.segments = Some((i, j));
        self
    }

    /// Sets the smallest share of the other operations before it.
    #[must_use]
    pub const fn after(mut self, share: f64) -> Self {
        self.after = share;
        self
    }

    /// Returns every case in which an (i, j)-simple history can fail, with its name: the paper's
    /// inversion, decrease and inappropriate scans (a) to (d).
    pub const fn simple_cases(i: usize, j: usize) -> [(&'static str, Self); 11] {
        [
            ("inversion", Self::new(Rule::Inversion).at(i, j)),
            ("decrease-i", Self::new(Rule::Decrease).at(i, j)),
            ("decrease-j", Self::new(Rule::Decrease).at(j, i)),
            ("3a-i", Self::new(Rule::Stale).at(i, j)),
            ("3a-j", Self::new(Rule::Stale).at(j, i)),
            ("3b-never-i", Self::new(Rule::NeverWritten).at(i, j)),
            ("3b-never-j", Self::new(Rule::NeverWritten).at(j, i)),
            ("3b-future-i", Self::new(Rule::Future).at(i, j)),
            ("3b-future-j", Self::new(Rule::Future).at(j, i)),
            ("3c", Self::new(Rule::Missing).at(i, j)),
            ("3d", Self::new(Rule::Missing).at(j, i)),
        ]
    }
}
