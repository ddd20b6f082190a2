//! Small inputs for every run of the tests, large ones for the numbers.

/// The environment variable that selects a [`Size`].
const VARIABLE: &str = "SNAPSHOT_BENCH_SIZE";

/// How large the inputs of the rows are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Size {
    /// 10^5 events: seconds for all rows, under any load. Its digests are compared with
    /// `digests.json`.
    Smoke,
    /// 10^7 events, 1 GB of memory.
    Full,
}

impl Size {
    /// The size that `SNAPSHOT_BENCH_SIZE` selects; smoke if it is not set.
    ///
    /// # Panics
    /// If it is neither `smoke` nor `full`.
    pub fn from_environment() -> Self {
        let given = std::env::var(VARIABLE);
        match given.as_deref().unwrap_or("smoke") {
            "smoke" => Self::Smoke,
            "full" => Self::Full,
            given => panic!("{VARIABLE} is `{given}`; set it to `smoke` or `full`, or unset it"),
        }
    }

    /// Number of events of a long history.
    pub const fn events(self) -> u64 {
        match self {
            Self::Smoke => 100_000,
            Self::Full => 10_000_000,
        }
    }
}
