//! The observer's state: six bits, and two per open scan.

use std::fmt;

use thiserror::Error;

use crate::simple::Switching;

const INVOKED: u8 = 0;
const NEEDED: u8 = 2;
const BAD_01: u8 = 1 << 4;
const BAD_10: u8 = 1 << 5;

/// The observer's state of a simple history, without its open scans.
///
/// | bit | set if |
/// | --- | --- |
/// | `invoked_l` | F_l, the first update of l to 1, was invoked |
/// | `needed_l` | F_l is complete, or some complete scan returned 1 at l: every scan invoked from now on must see 1 there |
/// | `bad01` | no scan may return (0, 1) any more |
/// | `bad10` | no scan may return (1, 0) any more |
///
/// As long as there was no violation, `needed_l` implies `invoked_l`, `bad01`
/// implies `needed_i` and `bad10` implies `needed_j`.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ObserverState(u8);

/// The obligation of an open scan: for each of i and j, whether it must return 1. It is the value
/// of `needed` at the invocation of the scan.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Must(u8);

impl Must {
    /// Number of different values.
    pub const COUNT: usize = 4;

    /// No obligation.
    pub const NOTHING: Self = Self(0);

    /// The bits. Bit 0: i, bit 1: j.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The value with these bits, if valid.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < Self::COUNT as u8 { Some(Self(bits)) } else { None }
    }

    /// Returns true if the scan must return 1 at `segment`.
    #[inline]
    pub const fn contains(self, segment: Switching) -> bool {
        self.0 >> segment as u8 & 1 == 1
    }
}

impl fmt::Debug for Must {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["must -", "must i", "must j", "must ij"][usize::from(self.0)])
    }
}

/// The reason why the observer accepts: the response that cannot be linearized.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Alarm {
    /// 0 at a segment where 1 was needed before the scan was invoked:
    /// a decrease, or Lemma 14 (1).
    #[error("the scan returned 0 at {segment}, though 1 was there before the scan began")]
    Stale {
        /// The segment.
        segment: Switching,
    },
    /// 1 at a segment before any update to 1 was invoked: Lemma 14 (2).
    #[error("the scan returned 1 at {segment}, which no update had been invoked to write")]
    Unwritten {
        /// The segment.
        segment: Switching,
    },
    /// (1, 0) or (0, 1) against the order in which the segments switched: an
    /// inversion, or Lemma 14 (3) or (4).
    #[error("the scan saw {ahead} switched and {behind} not, though {behind} switched first",
        behind = .ahead.other())]
    Inverted {
        /// The segment that returned 1.
        ahead: Switching,
    },
    /// A value that no update wrote: Lemma 14 (2).
    #[error("the scan returned a value that was never written")]
    Foreign,
}

impl ObserverState {
    /// The state before the first event.
    pub const INITIAL: Self = Self(0);

    /// Number of bits.
    pub const BITS: u32 = 6;

    /// The bits, from the lowest: `invoked_i`, `invoked_j`, `needed_i`,
    /// `needed_j`, `bad01`, `bad10`.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The state with these bits, if valid; it may be unreachable.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < 1 << Self::BITS { Some(Self(bits)) } else { None }
    }

    /// Returns true if an update of `segment` to 1 was invoked.
    #[inline]
    pub const fn invoked(self, segment: Switching) -> bool {
        self.0 >> (INVOKED + segment as u8) & 1 == 1
    }

    /// Returns true if a scan invoked now must return 1 at `segment`.
    #[inline]
    pub const fn needed(self, segment: Switching) -> bool {
        self.0 >> (NEEDED + segment as u8) & 1 == 1
    }

    /// Returns true if no scan may return 1 at `ahead` and 0 at the other segment any more: `bad10`
    /// for i, `bad01` for j.
    #[inline]
    pub const fn bad(self, ahead: Switching) -> bool {
        let bit = match ahead {
            Switching::I => BAD_10,
            Switching::J => BAD_01,
        };
        self.0 & bit != 0
    }

    /// Returns the obligation of a scan invoked now; the invocation does not change the state.
    #[inline]
    pub const fn invoke_scan(self) -> Must {
        Must(Self::needed_bits(self.0))
    }

    /// Returns the two `needed` bits of the bits of a state.
    #[inline]
    const fn needed_bits(bits: u8) -> u8 {
        bits >> NEEDED & 3
    }

    /// Returns the state after a scan with this `Must` returns `at_i` and `at_j`.
    ///
    /// # Errors
    /// If that makes the history non-linearizable.
    #[inline]
    pub const fn respond_scan(self, must: Must, at_i: bool, at_j: bool) -> Result<Self, Alarm> {
        let returned = [at_i, at_j];
        let mut index = 0;
        while index < 2 {
            let segment = Switching::BOTH[index];
            if must.contains(segment) && !returned[index] {
                return Err(Alarm::Stale { segment });
            }
            if returned[index] && !self.invoked(segment) {
                return Err(Alarm::Unwritten { segment });
            }
            index += 1;
        }
        let mut bits = self.0 | (at_i as u8) << NEEDED | (at_j as u8) << (NEEDED + 1);
        if at_i != at_j {
            let ahead = if at_i { Switching::I } else { Switching::J };
            if self.bad(ahead) {
                return Err(Alarm::Inverted { ahead });
            }
            bits |= if at_i { BAD_01 } else { BAD_10 };
        }
        Ok(Self(bits))
    }

    /// Returns the state after the invocation of an update of `segment` to 1. Only the first one
    /// matters: if the other segment is needed by then, it switched first.
    #[inline]
    pub const fn invoke_update(self, segment: Switching) -> Self {
        if self.invoked(segment) {
            return self;
        }
        let mut bits = self.0 | 1 << (INVOKED + segment as u8);
        if self.needed(segment.other()) {
            bits |= match segment {
                Switching::I => BAD_10,
                Switching::J => BAD_01,
            };
        }
        Self(bits)
    }

    /// Returns the state after the response of an update of `segment` to 1.
    #[inline]
    pub const fn respond_update(self, segment: Switching) -> Self {
        Self(self.0 | 1 << (NEEDED + segment as u8))
    }

    /// Checks the invariants of every state that is reached without a violation.
    ///
    /// # Panics
    /// If an invariant is broken, naming it.
    pub fn validate(self) {
        for l in Switching::BOTH {
            assert!(!self.needed(l) || self.invoked(l), "needed_{l} implies invoked_{l}: {self:?}");
            assert!(!self.bad(l) || self.needed(l.other()), "what is behind is needed: {self:?}");
        }
    }
}

impl fmt::Debug for ObserverState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["invoked_i", "invoked_j", "needed_i", "needed_j", "bad01", "bad10"];
        let set = names.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1);
        let set: Vec<&str> = set.map(|(_, name)| *name).collect();
        write!(f, "{{{}}}", set.join(", "))
    }
}
