//! Reading on all cores, and judging in order.
//!
//! Each thread does what is there to be done: it judges the next piece, if that is parsed and no
//! other thread is judging; else it reads a piece from the input and parses it. So one thread
//! judges at a time, piece after piece as they stand in the recording, and what it comes to does
//! not depend on the number of threads. Pieces that are being parsed, or wait to be judged, are
//! at most [`PIECES`] per thread, which bounds the memory.
//!
//! As in [`super::pipeline`], a thread may have to wait for its input: this is for files.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::format::{Batch, Irregular, Piece, Pieces};

/// Pieces per thread: one being parsed, one being judged or waiting to be, and one because
/// neither takes equally long each time.
const PIECES: usize = 3;

/// More threads would find nothing to do: to judge takes longer than to parse.
pub(super) const MOST_THREADS: usize = 4;

/// Has `judge` take all that `pieces` has, in order, until it breaks off. Returns why reading
/// ended before the input did, if it came to that; the events in front of that are judged.
pub(super) fn for_each_piece<R: Read + Send>(
    pieces: Pieces<R>,
    threads: usize,
    judge: impl FnMut(&Batch) -> ControlFlow<()> + Send,
) -> Option<Irregular> {
    let work = Work {
        input: Mutex::new(Input { pieces, next: 0 }),
        state: Mutex::new(State::new(PIECES * threads)),
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

/// A piece that was parsed, and how it ended.
type Parsed = (Piece, Batch, Result<(), Irregular>);

struct State {
    /// Number of the piece that is judged next.
    judged: usize,
    /// Those parsed, by number, from `judged` on; `None` while another thread is at it.
    parsed: VecDeque<Option<Parsed>>,
    /// Room for pieces that no thread uses.
    spare: Vec<(Piece, Batch)>,
    /// Whether the input has ended, or what follows is irregular.
    is_read: bool,
    is_judging: bool,
    /// Number of threads that are reading or parsing.
    parsing: usize,
    /// Whether nothing is left to be done.
    is_over: bool,
    irregular: Option<Irregular>,
}

impl State {
    fn new(pieces: usize) -> Self {
        Self {
            judged: 0,
            parsed: VecDeque::new(),
            spare: (0..pieces).map(|_| (Piece::default(), Batch::new())).collect(),
            is_read: false,
            is_judging: false,
            parsing: 0,
            is_over: false,
            irregular: None,
        }
    }

    /// The piece that is judged next, if it is there.
    fn next_parsed(&mut self) -> Option<Parsed> {
        let parsed = self.parsed.front_mut()?.take()?;
        self.parsed.pop_front();
        self.judged += 1;
        Some(parsed)
    }

    fn put(&mut self, number: usize, parsed: Parsed) {
        let place = number - self.judged;
        if self.parsed.len() <= place {
            self.parsed.resize_with(place + 1, || None);
        }
        self.parsed[place] = Some(parsed);
    }
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

impl<R: Read, J: FnMut(&Batch) -> ControlFlow<()>> Work<R, J> {
    /// What each thread does.
    fn run(&self) {
        let _ending = Ending(&self.state, &self.changed);
        let mut state = lock(&self.state);
        while !state.is_over {
            if !state.is_judging
                && let Some(parsed) = state.next_parsed()
            {
                state = self.judge(state, parsed);
            } else if !state.is_read
                && let Some(room) = state.spare.pop()
            {
                state = self.parse(state, room);
            } else if state.is_read && state.parsing == 0 && !state.is_judging {
                state.is_over = true;
                self.changed.notify_all();
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn judge<'w>(
        &'w self,
        mut state: MutexGuard<'w, State>,
        (piece, batch, ending): Parsed,
    ) -> MutexGuard<'w, State> {
        state.is_judging = true;
        drop(state);
        let proceeds = lock(&self.judge)(&batch);
        let mut state = lock(&self.state);
        state.is_judging = false;
        state.spare.push((piece, batch));
        match (proceeds, ending) {
            (ControlFlow::Break(()), _) => state.is_over = true,
            (ControlFlow::Continue(()), Err(irregular)) => {
                state.irregular = Some(irregular);
                state.is_over = true;
            }
            (ControlFlow::Continue(()), Ok(())) => {}
        }
        self.changed.notify_all();
        state
    }

    fn parse<'w>(
        &'w self,
        mut state: MutexGuard<'w, State>,
        (mut piece, mut batch): (Piece, Batch),
    ) -> MutexGuard<'w, State> {
        state.parsing += 1;
        drop(state);
        let mut input = lock(&self.input);
        let number = input.next;
        let read = input.pieces.next(&mut piece);
        input.next += usize::from(!matches!(read, Ok(false)));
        drop(input);
        let ending = match read {
            Ok(true) => Some(batch.parse(&piece)),
            Ok(false) => None,
            Err(irregular) => {
                batch.clear();
                Some(Err(irregular))
            }
        };
        let mut state = lock(&self.state);
        state.parsing -= 1;
        state.is_read |= !matches!(ending, Some(Ok(())));
        match ending {
            Some(ending) => state.put(number, (piece, batch, ending)),
            None => state.spare.push((piece, batch)),
        }
        self.changed.notify_all();
        state
    }
}
