//! Declarations: facts about a recording before its first event.

/// The processes that may update a segment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Writers {
    /// One process per segment, the first that updates it: the snapshot object's own rule. A second
    /// writer is an error in the recording.
    #[default]
    Single,
    /// Any process may update any segment. The linear-time check still applies
    /// as long as the updates of one segment do not overlap; where they do,
    /// [`crate::saturation`] decides.
    Many,
}

/// The facts about a recording before its first event: sizes, initial values, writers. Missing
/// facts are inferred from the events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Declaration<V> {
    /// Number of segments; inferred from the first complete scan, or from the
    /// largest segment updated, when absent.
    pub segments: Option<usize>,
    /// Number of processes; inferred from the largest that occurs when absent.
    pub processes: Option<usize>,
    /// Initial values of segments 0, 1, ...; may be shorter than the number of
    /// segments.
    pub initial: Vec<V>,
    /// The initial value of every segment that `initial` does not cover.
    pub default_initial: V,
    /// The processes that may update a segment.
    pub writers: Writers,
}

impl<V> Declaration<V> {
    /// Declares only the initial value of all segments.
    pub const fn new(default_initial: V) -> Self {
        Self {
            segments: None,
            processes: None,
            initial: Vec::new(),
            default_initial,
            writers: Writers::Single,
        }
    }

    /// Declares the number of segments.
    #[must_use]
    pub const fn with_segments(mut self, segments: usize) -> Self {
        self.segments = Some(segments);
        self
    }

    /// Declares the number of processes.
    #[must_use]
    pub const fn with_processes(mut self, processes: usize) -> Self {
        self.processes = Some(processes);
        self
    }

    /// Declares the initial values of the first segments.
    #[must_use]
    pub fn with_initial(mut self, initial: Vec<V>) -> Self {
        self.initial = initial;
        self
    }

    /// Declares the processes that may update a segment.
    #[must_use]
    pub const fn with_writers(mut self, writers: Writers) -> Self {
        self.writers = writers;
        self
    }

    /// Returns the initial value of segment number `segment`.
    #[inline]
    pub fn initial_value(&self, segment: usize) -> &V {
        self.initial.get(segment).unwrap_or(&self.default_initial)
    }
}
