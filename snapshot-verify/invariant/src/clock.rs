//! Counters relative to one cell, the *clock*.
//!
//! A counter grows without bound, so no byte holds it. Its relation to the present content of one
//! cell G has a byte: [`PAST`] (less than G), [`NOW`] (equal), [`NEXT`] (G + 1), [`FAR`] (more),
//! and for less knowledge [`UNTIL`] (at most G) and [`SOME`]. All counters may be compared so,
//! however they came about: the byte is a function of the execution. A write to G of the value
//! NEXT is a *tick*, whoever makes it: it turns NEXT into NOW, and NOW and UNTIL into PAST, in
//! every byte of every view. So the effect of a tick on a byte depends on that byte alone. After
//! any other write nothing is known of counters, except after one of NOW, which changes nothing.
//!
//! Optional with these: the remainder of G by a constant, which a tick increases; and the *signer*,
//! the process that made the latest write to G: that one process alone can be it is what makes "the
//! process that made the number odd" unique.

use snapshot_language::program::{ExpressionKind, Program, SharedId, Type};

use crate::byte::{ANY, BASE, NONE, integer, number};
use crate::cursor;
use crate::layout::{Layout, SIGNER, Scalar};

/// A counter, or another scalar whose values have no bytes: nothing is known, except that it is
/// not none.
pub const SOME: u8 = BASE;
/// Less than the clock.
pub const PAST: u8 = BASE + 1;
/// Equal to the clock.
pub const NOW: u8 = BASE + 2;
/// The clock's successor.
pub const NEXT: u8 = BASE + 3;
/// More than [`NEXT`].
pub const FAR: u8 = BASE + 4;
/// At most the clock.
pub const UNTIL: u8 = BASE + 5;

/// Largest divisor of a remainder.
const MOST: i64 = 16;

/// The cell that counters are compared with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clock {
    pub variable: SharedId,
    /// Divisor of the kept remainder; 1 if none is kept.
    pub divisor: i64,
    /// True if the signer is kept.
    pub is_signed: bool,
}

/// Returns the range of a counter, relative to the clock.
pub fn range(byte: u8) -> (i64, i64) {
    let (first, last) = (i64::from(i32::MIN), i64::from(i32::MAX));
    match byte {
        PAST => (first, -1),
        NOW => (0, 0),
        NEXT => (1, 1),
        FAR => (2, last),
        UNTIL => (first, 0),
        _ => (first, last),
    }
}

/// Returns true if two counters are equal; `None` if that is unknown.
pub fn equal(one: u8, two: u8) -> Option<bool> {
    let differ = cursor::differ(one, two);
    let (one, two) = (range(one), range(two));
    match () {
        () if differ => Some(false),
        () if one.1 < two.0 || two.1 < one.0 => Some(false),
        () if one == two && one.0 == one.1 => Some(true),
        () => None,
    }
}

/// Returns the byte of a counter plus 1.
pub fn successor(byte: u8) -> u8 {
    match byte {
        NOW => NEXT,
        NEXT | FAR => FAR,
        PAST => UNTIL,
        ANY => ANY,
        byte => cursor::successor(byte),
    }
}

/// Returns the byte of a counter after a write of this byte to the clock.
const fn after(written: u8, byte: u8) -> u8 {
    match (written, byte) {
        (NOW, byte) | (_, byte @ (ANY | NONE)) => byte,
        (_, byte) if cursor::is_window(byte) => byte,
        (NEXT, NEXT) => NOW,
        (NEXT, NOW | PAST | UNTIL) => PAST,
        _ => SOME,
    }
}

/// Parses a line: `seq 2 1`, the variable, the divisor, and 1 if the signer is kept.
pub fn of_line(program: &Program, line: &str) -> Option<Clock> {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, divisor, signed] = words.as_slice() else { return None };
    let number = program.shared.iter().position(|one| one.name == *name)?;
    let variable = SharedId(number as u32);
    let is_signed = match *signed {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    let clock = Clock { variable, divisor: divisor.parse().ok()?, is_signed };
    (may_be(program, variable) && is_supported(&clock)).then_some(clock)
}

/// Returns the line of a clock.
pub fn line(program: &Program, clock: Clock) -> String {
    let name = &program.shared(clock.variable).name;
    format!("{name} {} {}", clock.divisor, u8::from(clock.is_signed))
}

/// Returns true if the remainder has a byte.
pub fn is_supported(clock: &Clock) -> bool {
    (1..=MOST).contains(&clock.divisor)
}

/// Returns true if a variable may be the clock: it is one cell, a counter.
pub fn may_be(program: &Program, variable: SharedId) -> bool {
    let declared = program.shared(variable);
    let has_first = matches!(declared.initial.kind, ExpressionKind::Counter(_));
    declared.dimensions.is_empty() && declared.content == Type::Counter && has_first
}

impl Layout<'_> {
    /// Returns true if a variable is the clock.
    pub fn is_clock(&self, variable: SharedId) -> bool {
        self.clock.is_some_and(|clock| clock.variable == variable)
    }

    /// Returns the byte of the clock's remainder, if it is kept.
    pub fn remainder_at(&self) -> Option<usize> {
        let clock = self.clock.filter(|clock| clock.divisor > 1)?;
        Some(self.shared[clock.variable.0 as usize].base).filter(|at| self.slots[*at].kept)
    }

    /// Returns the clock's first number.
    pub fn first_number(&self) -> Option<u32> {
        match self.program.shared(self.clock?.variable).initial.kind {
            ExpressionKind::Counter(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the byte of a number at first, when the clock has its first number.
    pub fn at_first(&self, number: u32) -> u8 {
        match self.first_number().map(|first| i64::from(number) - i64::from(first)) {
            None => ANY,
            Some(..0) => PAST,
            Some(0) => NOW,
            Some(1) => NEXT,
            Some(_) => FAR,
        }
    }

    /// Returns the remainder of a counter by a number; `ANY` if it is unknown.
    pub fn remainder(&self, state: &[u8], byte: u8, divisor: i64) -> u8 {
        let is_it = self.clock.is_some_and(|clock| clock.divisor == divisor);
        let Some(known) = self.remainder_at().filter(|_| is_it).map(|at| state[at]) else {
            return ANY;
        };
        match (byte, known) {
            (_, ANY) => ANY,
            (NOW, known) => known,
            (NEXT, known) => integer((number(known) + 1) % divisor),
            _ => ANY,
        }
    }

    /// Applies a write to the clock, by a process, to all bytes of a view.
    pub fn pass_clock(&self, state: &mut [u8], written: u8, by: u8) {
        for &at in &self.counters {
            state[at] = after(written, state[at]);
        }
        if let Some(at) = self.remainder_at() {
            let divisor = self.clock.map_or(1, |clock| clock.divisor);
            state[at] = match written {
                NOW => state[at],
                NEXT if state[at] != ANY => integer((number(state[at]) + 1) % divisor),
                _ => ANY,
            };
        }
        if self.slots[SIGNER].kept {
            state[SIGNER] = BASE + by;
        }
    }

    /// Returns true if a byte of the centre does not say all that it must.
    pub fn is_vague(&self, at: usize, byte: u8) -> bool {
        let slot = &self.slots[at];
        let is_counter = || slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Counter);
        let is_clocked = || self.clock.is_some() && matches!(byte, SOME | UNTIL) && is_counter();
        byte == ANY
            || match slot.window {
                0 => is_clocked(),
                width => byte != NONE && cursor::is_open(byte, width),
            }
    }

    /// Returns the definite bytes of a vague counter; `None` for other scalars.
    pub fn numbers(&self, at: usize, byte: u8, members: &[u8]) -> Option<Vec<u8>> {
        let leaf = self.slots[at].leaf.filter(|leaf| leaf.scalar == Scalar::Counter)?;
        if self.slots[at].window > 0 {
            return Some(self.spelled(at, byte, members));
        }
        self.clock?;
        Some(match byte {
            UNTIL => vec![PAST, NOW],
            ANY if leaf.optional => vec![PAST, NOW, NEXT, FAR, NONE],
            _ => vec![PAST, NOW, NEXT, FAR],
        })
    }
}
