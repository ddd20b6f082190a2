//! The letters of simple histories, and their packing.
//!
//! A letter is a process and one of sixteen symbols, so the alphabet of P processes has 16 P
//! letters; a letter's packed form is also its index among them. The theory does not depend on the
//! process that updates a segment (only on the order of the updates of one segment), so every
//! process has all sixteen symbols.

use std::fmt;

use crate::Process;

/// One of the two segments, i and j, that may switch from 0 to 1.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Switching {
    /// Segment i.
    I,
    /// Segment j.
    J,
}

impl Switching {
    /// Both, i first.
    pub const BOTH: [Self; 2] = [Self::I, Self::J];

    /// 0 for i, 1 for j.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the other segment.
    #[inline]
    pub const fn other(self) -> Self {
        match self {
            Self::I => Self::J,
            Self::J => Self::I,
        }
    }

    /// Returns this segment's entry of a scan that returned `at_i` and `at_j`.
    #[inline]
    pub const fn entry(self, at_i: bool, at_j: bool) -> bool {
        match self {
            Self::I => at_i,
            Self::J => at_j,
        }
    }
}

impl fmt::Display for Switching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::I => "i",
            Self::J => "j",
        })
    }
}

/// A letter without its process. `false` and `true` stand for the values 0 and 1.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Symbol {
    /// `inv scan`.
    InvokeScan,
    /// `res scan(at_i, at_j)`; all other entries hold their initial value.
    RespondScan {
        /// The entry of segment i.
        at_i: bool,
        /// The entry of segment j.
        at_j: bool,
    },
    /// The response of a scan with an entry that no update ever wrote: neither 0 nor 1 at i or j,
    /// or not the initial value elsewhere. It breaks Lemma 14 (2) by itself.
    RespondForeign,
    /// `inv update_segment(value)`.
    InvokeUpdate {
        /// The segment.
        segment: Switching,
        /// The value.
        value: bool,
    },
    /// `res update_segment(value)`.
    RespondUpdate {
        /// The segment.
        segment: Switching,
        /// The value.
        value: bool,
    },
    /// The invocation of an update of a segment that never changes.
    InvokeOther,
    /// The response of an update of a segment that never changes.
    RespondOther,
}

impl Symbol {
    /// Number of symbols.
    pub const COUNT: usize = 16;

    /// The symbol's number, below [`Self::COUNT`].
    #[inline]
    pub const fn code(self) -> u8 {
        match self {
            Self::InvokeScan => 0,
            Self::RespondScan { at_i, at_j } => 1 + 2 * at_i as u8 + at_j as u8,
            Self::RespondForeign => 5,
            Self::InvokeUpdate { segment, value } => 6 + 2 * segment as u8 + value as u8,
            Self::RespondUpdate { segment, value } => 10 + 2 * segment as u8 + value as u8,
            Self::InvokeOther => 14,
            Self::RespondOther => 15,
        }
    }

    /// The symbol with this number.
    ///
    /// # Panics
    /// If `code` is not below [`Self::COUNT`].
    #[inline]
    pub const fn from_code(code: u8) -> Self {
        let segment = if code & 2 == 2 { Switching::I } else { Switching::J };
        let value = code & 1 == 1;
        match code {
            0 => Self::InvokeScan,
            1..=4 => Self::RespondScan { at_i: code > 2, at_j: code & 1 == 0 },
            5 => Self::RespondForeign,
            6..=9 => Self::InvokeUpdate { segment, value },
            10..=13 => Self::RespondUpdate { segment, value },
            14 => Self::InvokeOther,
            15 => Self::RespondOther,
            _ => panic!("there are 16 symbols"),
        }
    }

    /// All symbols, in the order of their numbers.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..Self::COUNT as u8).map(Self::from_code)
    }

    /// Returns true for an invocation, false for a response.
    #[inline]
    pub const fn is_invocation(self) -> bool {
        matches!(self, Self::InvokeScan | Self::InvokeUpdate { .. } | Self::InvokeOther)
    }

    /// Returns true if the symbol is the response of a scan with `value` at `segment`.
    #[inline]
    pub fn returns(self, segment: Switching, value: bool) -> bool {
        match self {
            Self::RespondScan { at_i, at_j } => segment.entry(at_i, at_j) == value,
            _ => false,
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InvokeScan => f.write_str("inv scan"),
            Self::RespondScan { at_i, at_j } => {
                write!(f, "res scan({}, {})", u8::from(at_i), u8::from(at_j))
            }
            Self::RespondForeign => f.write_str("res scan(foreign)"),
            Self::InvokeUpdate { segment, value } => {
                write!(f, "inv update_{segment}({})", u8::from(value))
            }
            Self::RespondUpdate { segment, value } => {
                write!(f, "res update_{segment}({})", u8::from(value))
            }
            Self::InvokeOther => f.write_str("inv update_other"),
            Self::RespondOther => f.write_str("res update_other"),
        }
    }
}

/// One letter of a simple history, packed into 32 bits: the process number
/// times 16, plus the symbol's number.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Letter(u32);

impl Letter {
    /// Creates the letter of `symbol` by `process`.
    #[inline]
    pub const fn new(process: Process, symbol: Symbol) -> Self {
        Self((process.index() as u32) << 4 | symbol.code() as u32)
    }

    /// The letter with this index in the alphabet: the inverse of [`Self::index`].
    ///
    /// # Panics
    /// If the index belongs to a process beyond [`Process::LIMIT`].
    #[inline]
    pub const fn from_index(index: usize) -> Self {
        assert!(index >> 4 <= Process::LIMIT, "a letter's process is within its limit");
        Self(index as u32)
    }

    /// The letter's index in the alphabet of any number of processes.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The process of the letter.
    #[inline]
    pub const fn process(self) -> Process {
        Process::from_index((self.0 >> 4) as usize)
    }

    /// The symbol of the letter.
    #[inline]
    pub const fn symbol(self) -> Symbol {
        Symbol::from_code((self.0 & 15) as u8)
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}: {}", self.process(), self.symbol())
    }
}

impl fmt::Debug for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_letter_keeps_its_process_and_symbol() {
        for process in [0, 1, 19, Process::LIMIT].map(Process::from_index) {
            for (code, symbol) in Symbol::all().enumerate() {
                assert_eq!(usize::from(symbol.code()), code);
                let letter = Letter::new(process, symbol);
                assert_eq!((letter.process(), letter.symbol()), (process, symbol));
                assert_eq!(Letter::from_index(letter.index()), letter);
            }
        }
    }

    #[test]
    fn symbols_have_distinct_names() {
        let names: std::collections::BTreeSet<_> = Symbol::all().map(|s| s.to_string()).collect();
        assert_eq!(names.len(), Symbol::COUNT);
        assert!(Symbol::RespondScan { at_i: false, at_j: true }.returns(Switching::J, true));
        assert_eq!(Symbol::from_code(2).to_string(), "res scan(0, 1)");
        assert_eq!(Symbol::from_code(9).to_string(), "inv update_j(1)");
    }
}
