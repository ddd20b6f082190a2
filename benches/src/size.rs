//! Small inputs for every run of the tests, large ones for the numbers.

use std::fmt;

use thiserror::Error;

/// The environment variable that selects a [`Size`].
const VARIABLE: &str = "SNAPSHOT_BENCH_SIZE";

/// How large the inputs of the rows are.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Size {
    /// 10^5 events: seconds for all rows, under any load. Its digests are
    /// compared with `digests.json`. Targets are shown, but not judged.
    Smoke,
    /// 10^7 events, 1 GB of memory: the size that the targets speak of.
    Full,
}

impl Size {
    /// The size that `SNAPSHOT_BENCH_SIZE` selects; smoke if it is not set.
    ///
    /// # Errors
    /// If it is neither `smoke` nor `full`.
    pub fn from_environment() -> Result<Self, SizeError> {
        match std::env::var_os(VARIABLE) {
            None => Ok(Self::Smoke),
            Some(given) => Self::parse(&given.to_string_lossy()),
        }
    }

    fn parse(given: &str) -> Result<Self, SizeError> {
        match given {
            "smoke" => Ok(Self::Smoke),
            "full" => Ok(Self::Full),
            _ => Err(SizeError { given: given.to_owned() }),
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

/// `smoke` or `full`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Smoke => "smoke",
            Self::Full => "full",
        })
    }
}

/// A size that does not exist.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{VARIABLE} is `{given}`; set it to `smoke` or `full`, or unset it for `smoke`")]
pub struct SizeError {
    given: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_names() {
        for size in [Size::Smoke, Size::Full] {
            assert_eq!(Size::parse(&size.to_string()), Ok(size));
        }
        assert!(Size::parse("Full").unwrap_err().to_string().contains("`Full`"));
    }
}
