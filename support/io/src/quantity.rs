//! Budgets in options of a command line: `500M`, `1.5GiB`, `0.5` seconds.

use std::time::Duration;

use parse_size::Config;
use thiserror::Error;

/// Error in a quantity, with the expected form.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum QuantityError {
    #[error("expected a number of bytes such as 500000000, 500M or 2G")]
    Bytes,
    /// The size exceeds any memory.
    #[error("this many bytes do not exist")]
    TooManyBytes,
    #[error("expected a number of seconds that is not negative")]
    Seconds,
}

/// Parses a number of bytes; units go by 1024.
///
/// # Errors
/// Other texts, and numbers beyond the range of `T`.
///
/// ```
/// use snapshot_io::quantity::{QuantityError, bytes};
///
/// assert_eq!(bytes("1.5GiB"), Ok(3_u64 << 29));
/// assert_eq!(bytes("2M"), Ok(2_usize << 20));
/// assert_eq!(bytes::<u64>("many"), Err(QuantityError::Bytes));
/// assert_eq!(bytes::<u16>("1M"), Err(QuantityError::TooManyBytes));
/// ```
pub fn bytes<T: TryFrom<u64>>(text: &str) -> Result<T, QuantityError> {
    let bytes = Config::new().with_binary().parse_size(text).map_err(|_| QuantityError::Bytes)?;
    T::try_from(bytes).map_err(|_| QuantityError::TooManyBytes)
}

/// Parses a number of seconds.
///
/// # Errors
/// Other texts, and numbers that are negative, too large or NaN.
///
/// ```
/// use snapshot_io::quantity::{QuantityError, seconds};
///
/// assert_eq!(seconds("0.5").map(|time| time.as_millis()), Ok(500));
/// for text in ["-1", "NaN", "inf", "1e300", "soon"] {
///     assert_eq!(seconds(text), Err(QuantityError::Seconds), "{text}");
/// }
/// ```
pub fn seconds(text: &str) -> Result<Duration, QuantityError> {
    let seconds = text.parse().map_err(|_| QuantityError::Seconds)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| QuantityError::Seconds)
}
