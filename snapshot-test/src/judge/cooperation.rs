//! Reading on all cores, and judging in order.
//!
//! Each thread reads pieces from the input, parses them, and judges its own pieces when their turn
//! comes: pieces are judged one at a time, in the order of the recording, so the findings do not
//! depend on the number of threads. A parsed piece stays with one thread, in the cache of its
//! processor; only the judge, which is small, moves between threads. While another thread has the
//! turn, a thread parses more pieces, up to [`PIECES`], which bounds the memory.
//!
//! As in [`super::ahead`], a thread may have to wait for its input: this is for files.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::format::{Batch, Irregular, Piece, Pieces};

/// Pieces per thread: the thread parses these while others are judged.
const PIECES: usize = 3;

/// More threads would be idle: judging takes longer than parsing.
pub(super) const MOST_THREADS: usize = 4;

/// Has `judge` take all of `pieces`, in order, until it breaks off. Returns the reason if reading
/// ended before the input did; the events before that are judged.
pub(super) fn for_each_piece(
    pieces: Pieces<'_>,
    threads: usize,
    judge: impl FnMut(&mut Batch) -> ControlFlow<()> + Send,
) -> Option<Irregular> {
    let work = Work {
        input: Mutex::new(Input { pieces, next: 0 }),
        state: Mutex::new(State::default()),
        changed: Condvar::new(),
        judge: Mutex::new(judge),
    };
    thread::scope(|scope| {
        for number in 1..threads {
            let reader = thread::Builder::new().name(format!("reader {number}"));
            // A system without a spare thread still gets its answer.
            if reader.spawn_scoped(scope, || work.run()).is_err() {
                break;
            }
        }
        work.run();
    });
    work.state.into_inner().unwrap_or_else(PoisonError::into_inner).irregular
}

/// The input, read by one thread at a time.
struct Input<'i> {
    pieces: Pieces<'i>,
    /// Number of the next piece to read.
    next: usize,
}

#[derive(Default)]
struct State {
    /// Number of the next piece to judge.
    turn: usize,
    /// True if the input has ended, or an irregular line follows.
    is_read: bool,
    /// True if no other piece will be judged.
    is_over: bool,
    irregular: Option<Irregular>,
    /// Number of threads that wait for the turn to change.
    waiting: usize,
}

/// A parsed piece: its number, and its end.
struct Parsed {
    number: usize,
    room: (Piece, Batch),
    ending: Result<(), Irregular>,
}

struct Work<'i, J> {
    input: Mutex<Input<'i>>,
    state: Mutex<State>,
    changed: Condvar,
    judge: Mutex<J>,
}

/// Ends the work of all threads if one panics: the others would wait for it.
struct Ending<'w>(&'w Mutex<State>, &'w Condvar);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(self.0).is_over = true;
            self.1.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<J: FnMut(&mut Batch) -> ControlFlow<()>> Work<'_, J> {
    /// The work of each thread.
    fn run(&self) {
        let _ending = Ending(&self.state, &self.changed);
        let mut spare: Vec<(Piece, Batch)> = Vec::new();
        spare.resize_with(PIECES, || (Piece::default(), Batch::new()));
        let mut parsed: VecDeque<Parsed> = VecDeque::with_capacity(PIECES);
        let mut state = lock(&self.state);
        while !state.is_over {
            let is_next = |next: &Parsed| next.number == state.turn;
            if parsed.front().is_some_and(is_next)
                && let Some(mut next) = parsed.pop_front()
            {
                drop(state);
                let proceeds = lock(&self.judge)(&mut next.room.1);
                state = lock(&self.state);
                self.pass_on(&mut state, proceeds, next.ending);
                spare.push(next.room);
            } else if !state.is_read
                && let Some(room) = spare.pop()
            {
                drop(state);
                let piece = self.parse(room);
                state = lock(&self.state);
                state.is_read |= !matches!(piece, Some(Parsed { ending: Ok(()), .. }));
                parsed.extend(piece);
            } else if parsed.is_empty() {
                return;
            } else {
                state.waiting += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
            }
        }
    }

    /// Passes the turn to the next piece after one was judged, unless no other piece matters.
    fn pass_on(&self, state: &mut State, proceeds: ControlFlow<()>, ending: Result<(), Irregular>) {
        state.turn += 1;
        if proceeds.is_break() {
            state.is_over = true;
        } else if let Err(irregular) = ending {
            state.irregular = Some(irregular);
            state.is_over = true;
        }
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Parses the next piece of the input; `None` at the end.
    fn parse(&self, (mut piece, mut batch): (Piece, Batch)) -> Option<Parsed> {
        let mut input = lock(&self.input);
        let number = input.next;
        let read = input.pieces.next(&mut piece);
        input.next += 1;
        drop(input);
        let ending = match read {
            Ok(true) => batch.parse(&piece),
            Ok(false) => return None,
            Err(irregular) => {
                batch.clear();
                Err(irregular)
            }
        };
        Some(Parsed { number, room: (piece, batch), ending })
    }
}
