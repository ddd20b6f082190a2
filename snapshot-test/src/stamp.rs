//! Stamps of foreign clocks: exact decimal numbers, in the unit of the log. Dates with times are
//! in seconds.

use std::fmt;
use std::str::FromStr;

use chrono::DateTime;

/// Digits behind the point.
const DIGITS: u32 = 12;

const ONE: i128 = 10_i128.pow(DIGITS);

/// A point in time: a decimal number with up to 12 digits behind the point, kept exactly, or a date
/// and time of RFC 3339, in seconds since 1970.
///
/// ```
/// use snapshot_test::import::Stamp;
///
/// let [early, late] = ["0.1", "0.30"].map(|stamp| stamp.parse::<Stamp>().unwrap());
/// assert!(early < late);
/// assert_eq!(late.to_string(), "0.3");
/// assert!("1e9".parse::<Stamp>().is_err());
/// let dated: Stamp = "1970-01-02T01:00:00.5+01:00".parse().unwrap();
/// assert_eq!(dated.to_string(), "86400.5");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Stamp(i128);

/// A text is not a stamp.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "expected a decimal number with at most 12 digits behind the point, or a date and time as \
     2026-01-31T23:59:59.5Z"
)]
pub struct StampError;

impl Stamp {
    /// Later than all stamps that can be parsed.
    pub(crate) const NEVER: Self = Self(i128::MAX);

    /// Creates the stamp of an integer.
    pub(crate) fn whole(number: impl Into<i128>) -> Self {
        Self(number.into().saturating_mul(ONE))
    }

    /// Returns the stamp without its sign.
    #[must_use]
    pub(crate) const fn magnitude(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// Returns the stamp `skew` earlier. Saturates far beyond all stamps that can be parsed.
    #[must_use]
    pub(crate) const fn before(self, skew: Self) -> Self {
        Self(self.0.saturating_sub(skew.0))
    }

    /// Returns the stamp `skew` later.
    #[must_use]
    pub(crate) const fn after(self, skew: Self) -> Self {
        Self(self.0.saturating_add(skew.0))
    }
}

impl FromStr for Stamp {
    type Err = StampError;

    fn from_str(text: &str) -> Result<Self, StampError> {
        if let Ok(dated) = DateTime::parse_from_rfc3339(text) {
            let part = i128::from(dated.timestamp_subsec_nanos()) * (ONE / 1_000_000_000);
            return Ok(Self(i128::from(dated.timestamp()) * ONE + part));
        }
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) || digits.ends_with('.')
        {
            return Err(StampError);
        }
        let missing = DIGITS.checked_sub(fraction.len() as u32).ok_or(StampError)?;
        // At most 20 digits: nanoseconds since 1970 have 19.
        if whole.len() > 20 {
            return Err(StampError);
        }
        let whole: i128 = whole.parse().map_err(|_| StampError)?;
        let part: i128 = if fraction.is_empty() {
            0
        } else {
            fraction.parse::<i128>().map_err(|_| StampError)? * 10_i128.pow(missing)
        };
        let stamp = whole * ONE + part;
        Ok(Self(if is_negative { -stamp } else { stamp }))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, size) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (whole, part) = (size / ONE.unsigned_abs(), size % ONE.unsigned_abs());
        if part == 0 {
            return write!(f, "{sign}{whole}");
        }
        let part = format!("{part:012}");
        write!(f, "{sign}{whole}.{}", part.trim_end_matches('0'))
    }
}
