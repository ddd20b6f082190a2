//! Reading on all cores, and judging in order.
//!
//! Each thread reads pieces from the input, parses them, and judges those that it has parsed, when
//! their turn has come: pieces are judged one at a time, as they stand in the recording, so what is
//! found does not depend on the number of threads. What a piece was parsed into stays with one thread,
//! in the cache of its processor; only the judge, which holds little, goes from one to the other. While
//! the turn is another thread's, a thread parses more, up to [`PIECES`], which bounds the memory.
//!
//! As in [`super::pipeline`], a thread may have to wait for its input: this is for files.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::format::{Batch, Irregular, Piece, Pieces};

/// Pieces per thread: those that are parsed while others are judged.
const PIECES: usize = 3;

/// More threads would find nothing to do: to judge takes longer than to parse.
pub(super) const MOST_THREADS: usize = 4;

/// Has `judge` take all that `pieces` has, in order, until it breaks off. Returns why reading
/// ended before the input did, if it came to that; the events in front of that are judged.
pub(super) fn for_each_piece<R: Read + Send>(
    pieces: Pieces<R>,
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
            // A system that has no thread to spare still gets its answer.
            if reader.spawn_scoped(scope, || work.run()).is_err() {
                break;
            }
        }
        work.run();
    });
    work.state.into_inner().unwrap_or_else(PoisonError::into_inner).irregular
}

/// The input, of which one thread reads at a time.
struct Input<R> {
    pieces: Pieces<R>,
    /// Number of the piece that is read next.
    next: usize,
}

#[derive(Default)]
struct State {
    /// Number of the piece whose turn it is to be judged.
    turn: usize,
    /// Whether the input has ended, or what follows is irregular.
    is_read: bool,
    /// Whether no other piece is judged.
    is_over: bool,
    irregular: Option<Irregular>,
    /// Number of threads that wait for the turn to go on.
    waiting: usize,
}

/// A piece that was parsed: its number, and how it ended.
struct Parsed {
    number: usize,
    room: (Piece, Batch),
    ending: Result<(), Irregular>,
}

struct Work<R, J> {
    input: Mutex<Input<R>>,
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

impl<R: Read, J: FnMut(&mut Batch) -> ControlFlow<()>> Work<R, J> {
    /// What each thread does.
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

    /// A piece is judged: it is the turn of the next one, unless no other matters.
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

    /// The next piece of the input, parsed; nothing at the end.
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
