//! The observer as one table look-up per event.
//!
//! Two observations make an event a load, a store, a look-up and no branch:
//!
//! * `must` of an open scan is `needed` as it was when the scan was invoked,
//!   and in a simple history the invocation is its process's previous event.
//!   So it is enough to store the whole state before each event as "the state
//!   before this process's last event": there is nothing to decide.
//! * A violation is one more state, absorbing; the events before it are
//!   counted, not looked for. The count is the index of the violation.
//!
//! The table has 16 symbols x 4 musts x 128 states = 8 KiB, a quarter of a
//! first-level cache. It is computed by the compiler from [`ObserverState`]'s
//! functions, so the two cannot drift apart.

use super::state::{Must, ObserverState};
use crate::simple::{Letter, SimpleHistory, Symbol};

/// The absorbing state, one bit above those of [`ObserverState`].
const VIOLATION: u8 = 1 << ObserverState::BITS;

const STATE_BITS: u32 = ObserverState::BITS + 1;
const MUST_BITS: u32 = Must::COUNT.trailing_zeros();
const TABLE: usize = Symbol::COUNT << (MUST_BITS + STATE_BITS);

/// Events between two looks at whether the run is over.
const BLOCK: usize = 4096;

static SUCCESSOR: [u8; TABLE] = {
    let mut table = [VIOLATION; TABLE];
    let mut index = 0;
    while index < TABLE {
        let state = ObserverState::from_bits((index & ((1 << STATE_BITS) - 1)) as u8);
        let must = Must::from_bits((index >> STATE_BITS & (Must::COUNT - 1)) as u8);
        let symbol = Symbol::from_code((index >> (STATE_BITS + MUST_BITS)) as u8);
        if let (Some(state), Some(must)) = (state, must) {
            table[index] = successor(symbol, must, state);
        }
        index += 1;
    }
    table
};

const fn successor(symbol: Symbol, must: Must, state: ObserverState) -> u8 {
    match symbol {
        Symbol::RespondScan { at_i, at_j } => match state.respond_scan(must, at_i, at_j) {
            Ok(state) => state.bits(),
            Err(_) => VIOLATION,
        },
        Symbol::RespondForeign => VIOLATION,
        Symbol::InvokeUpdate { segment, value: true } => state.invoke_update(segment).bits(),
        Symbol::RespondUpdate { segment, value: true } => state.respond_update(segment).bits(),
        Symbol::InvokeScan
        | Symbol::InvokeUpdate { value: false, .. }
        | Symbol::RespondUpdate { value: false, .. }
        | Symbol::InvokeOther
        | Symbol::RespondOther => state.bits(),
    }
}

/// The observer for long histories: equal to [`super::Observer`], without
/// the reason.
#[derive(Clone, Debug)]
pub struct TableObserver {
    /// The bits of an [`ObserverState`], or [`VIOLATION`].
    state: u8,
    /// Per process, the state before its last event.
    before: Vec<u8>,
}

impl TableObserver {
    /// Before the first event of a history of this many processes.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        Self { state: ObserverState::INITIAL.bits(), before: vec![0; processes] }
    }

    /// Takes the next letters of one well-formed word; the index among them of
    /// the first that makes the history a violation, or 0 if it was one before.
    /// O(length), without branches on the data.
    ///
    /// # Panics
    /// If a letter's process is not below the number of processes.
    pub fn run(&mut self, letters: &[Letter]) -> Option<usize> {
        let mut harmless = 0;
        for block in letters.chunks(BLOCK) {
            harmless += self.run_block(block);
            if self.is_violation() {
                return Some(harmless);
            }
        }
        None
    }

    /// Runs all of the letters; how many of them leave the history harmless.
    fn run_block(&mut self, letters: &[Letter]) -> usize {
        let before = self.before.as_mut_slice();
        let mut state = self.state;
        let mut harmful = 0;
        for letter in letters {
            let symbol = letter.index() & (Symbol::COUNT - 1);
            let before = &mut before[letter.index() / Symbol::COUNT];
            let must = ObserverState::needed_bits(*before);
            *before = state;
            let index = symbol << (STATE_BITS + MUST_BITS)
                | usize::from(must) << STATE_BITS
                | usize::from(state);
            state = SUCCESSOR[index % TABLE];
            harmful += usize::from(state >> ObserverState::BITS);
        }
        self.state = state;
        letters.len() - harmful
    }

    /// Whether the history so far is a violation.
    pub const fn is_violation(&self) -> bool {
        self.state == VIOLATION
    }

    /// The state, unless the history so far is a violation.
    pub const fn state(&self) -> Option<ObserverState> {
        ObserverState::from_bits(self.state)
    }

    /// The first letter of a history that makes it a violation.
    pub fn first_violation(history: &SimpleHistory) -> Option<usize> {
        Self::new(history.processes()).run(history.letters())
    }
}
