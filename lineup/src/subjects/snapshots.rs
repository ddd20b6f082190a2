//! Atomic snapshots of three segments, with real atomics, and their bugs.
//!
//! Process k alone updates segment k. The algorithms are from the corpus of `snapshot-verify`; a
//! register that holds a record is one word of 64 bits, so that each access is one step.

use std::fmt;

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::queues::locked;
use crate::matrix::{Test, TestError};
use crate::subject::{Subject, Text};

/// Number of processes and of segments.
pub const N: usize = 3;

/// Result of a scan. Values are below 256; 0 is the initial one.
pub type View = [u8; N];

/// An algorithm.
pub trait Algorithm: Send + Sync + 'static {
    /// Name of the algorithm, and of its bug.
    const NAME: &'static str;
    /// Makes the initial shared memory.
    fn new() -> Self;
    /// Process `me` updates its segment.
    fn update(&self, me: usize, value: u8);
    /// Process `me` reads all segments.
    fn scan(&self, me: usize) -> View;
}

/// A snapshot object as a subject.
pub struct Snapshot<A>(A);

/// An operation, with the process that executes it.
#[derive(Clone, Copy)]
pub enum Operation {
    /// An update of the process's segment.
    Update {
        /// The process.
        process: usize,
        /// The value.
        value: u8,
    },
    /// A scan.
    Scan {
        /// The process.
        process: usize,
    },
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Update { process, value } => write!(f, "update{process}({value})"),
            Self::Scan { process } => write!(f, "scan{process}()"),
        }
    }
}

impl<A: Algorithm> Subject for Snapshot<A> {
    type Invocation = Operation;

    const NAME: &'static str = A::NAME;

    fn new() -> Self {
        Self(A::new())
    }

    /// Returns `()` for an update, and the view of a scan.
    fn call(&self, invocation: &Operation) -> Text {
        match *invocation {
            Operation::Update { process, value } => Text::new(&self.0.update(process, value)),
            Operation::Scan { process } => Text::new(&self.0.scan(process)),
        }
    }

    fn representatives() -> Vec<Operation> {
        let updates = (0..N).map(|process| Operation::Update { process, value: 1 });
        updates.chain((0..N).map(|process| Operation::Scan { process })).collect()
    }
}

/// Returns a test in which process k executes column k: `true` is an update, with a value unique in
/// its segment, and `false` a scan.
///
/// # Errors
/// If the test is too large.
///
/// # Panics
/// If there are more columns than processes.
pub fn test<A: Algorithm>(columns: &[Vec<bool>]) -> Result<Test, TestError> {
    assert!(columns.len() <= N, "{} columns, but {N} processes", columns.len());
    let column = |(process, column): (usize, &Vec<bool>)| {
        let mut value = 0;
        let operation = |update: &bool| match update {
            true => {
                value += 1;
                Operation::Update { process, value }
            }
            false => Operation::Scan { process },
        };
        column.iter().map(operation).collect()
    };
    Test::new::<Snapshot<A>>(columns.iter().enumerate().map(column).collect())
}

fn registers() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

fn collect(registers: &[AtomicU64; N]) -> [u64; N] {
    std::array::from_fn(|k| registers[k].load(SeqCst))
}

fn values(words: [u64; N]) -> View {
    words.map(|word| word as u8)
}

/// A lock around an array.
pub struct Locked(Mutex<View>);

impl Algorithm for Locked {
    const NAME: &'static str = "snapshot-mutex";

    fn new() -> Self {
        Self(Mutex::new([0; N]))
    }

    fn update(&self, me: usize, value: u8) {
        locked(&self.0)[me] = value;
    }

    fn scan(&self, _: usize) -> View {
        *locked(&self.0)
    }
}

/// One segment is read after the other: no snapshot.
pub struct NaiveCollect([AtomicU64; N]);

impl Algorithm for NaiveCollect {
    const NAME: &'static str = "snapshot-naive-collect";

    fn new() -> Self {
        Self(registers())
    }

    fn update(&self, me: usize, value: u8) {
        self.0[me].store(value.into(), SeqCst);
    }

    fn scan(&self, _: usize) -> View {
        values(collect(&self.0))
    }
}

/// Collect until two collects are the same; each value has a version. `LAX`: the collects
/// are compared in their first segment only.
pub struct DoubleCollect<const LAX: bool>([AtomicU64; N]);

impl<const LAX: bool> Algorithm for DoubleCollect<LAX> {
    const NAME: &'static str =
        if LAX { "snapshot-double-collect-lax" } else { "snapshot-double-collect" };

    fn new() -> Self {
        Self(registers())
    }

    fn update(&self, me: usize, value: u8) {
        let version = self.0[me].load(SeqCst) >> 8;
        self.0[me].store((version + 1) << 8 | u64::from(value), SeqCst);
    }

    fn scan(&self, _: usize) -> View {
        let mut before = collect(&self.0);
        loop {
            let after = collect(&self.0);
            if before == after || LAX && before[0] == after[0] {
                return values(after);
            }
            before = after;
        }
    }
}

/// A number that is odd while a segment is written. `LAX`: a scan does not read it again.
pub struct SeqLock<const LAX: bool> {
    sequence: AtomicU64,
    segments: [AtomicU64; N],
}

impl<const LAX: bool> Algorithm for SeqLock<LAX> {
    const NAME: &'static str = if LAX { "snapshot-seqlock-lax" } else { "snapshot-seqlock" };

    fn new() -> Self {
        Self { sequence: AtomicU64::new(0), segments: registers() }
    }

    fn update(&self, me: usize, value: u8) {
        loop {
            let even = self.sequence.load(SeqCst) & !1;
            if self.sequence.compare_exchange(even, even + 1, SeqCst, SeqCst).is_ok() {
                self.segments[me].store(value.into(), SeqCst);
                self.sequence.store(even + 2, SeqCst);
                return;
            }
            crate::hint::spin_loop();
        }
    }

    fn scan(&self, _: usize) -> View {
        loop {
            let before = self.sequence.load(SeqCst);
            if before & 1 == 0 {
                let view = values(collect(&self.segments));
                if LAX || self.sequence.load(SeqCst) == before {
                    return view;
                }
            }
            crate::hint::spin_loop();
        }
    }
}

/// Bowman's snapshot. `EARLY`: a scan is done as soon as any scan is announced.
pub struct Bowman<const EARLY: bool> {
    /// 0: none; k + 1: process k.
    active: AtomicU64,
    segments: [AtomicU64; N],
}

impl<const EARLY: bool> Algorithm for Bowman<EARLY> {
    const NAME: &'static str = if EARLY { "snapshot-bowman-early-exit" } else { "snapshot-bowman" };

    fn new() -> Self {
        Self { active: AtomicU64::new(0), segments: registers() }
    }

    fn update(&self, me: usize, value: u8) {
        self.active.store(0, SeqCst);
        self.segments[me].store(value.into(), SeqCst);
    }

    fn scan(&self, me: usize) -> View {
        let name = me as u64 + 1;
        loop {
            self.active.store(name, SeqCst);
            let view = values(collect(&self.segments));
            let active = self.active.load(SeqCst);
            if active == name || EARLY && active != 0 {
                return view;
            }
        }
    }
}

/// The unbounded snapshot of Afek et al. A register holds a value, a sequence number and a
/// view. `STALE`: an update leaves the sequence number as it is.
pub struct Afek<const STALE: bool>([AtomicU64; N]);

/// Value, sequence number and view, from the lowest byte up.
const fn record(value: u8, sequence: u8, view: View) -> u64 {
    u64::from_le_bytes([value, sequence, view[0], view[1], view[2], 0, 0, 0])
}

const fn sequence(record: u64) -> u8 {
    record.to_le_bytes()[1]
}

impl<const STALE: bool> Afek<STALE> {
    fn embedded_scan(&self) -> View {
        let mut moved = [false; N];
        loop {
            let before = collect(&self.0);
            let after = collect(&self.0);
            let moving = |k: &usize| sequence(before[*k]) != sequence(after[*k]);
            if !(0..N).any(|k| moving(&k)) {
                return values(after);
            }
            for k in (0..N).filter(moving) {
                if moved[k] {
                    let [_, _, x, y, z, ..] = after[k].to_le_bytes();
                    return [x, y, z];
                }
                moved[k] = true;
            }
        }
    }
}

impl<const STALE: bool> Algorithm for Afek<STALE> {
    const NAME: &'static str = if STALE { "snapshot-afek-no-increment" } else { "snapshot-afek" };

    fn new() -> Self {
        Self(registers())
    }

    fn update(&self, me: usize, value: u8) {
        let view = self.embedded_scan();
        // Only this process writes the register: reading it is not a step of the algorithm.
        let number = sequence(self.0[me].load(SeqCst));
        let number = if STALE { number } else { number.wrapping_add(1) };
        self.0[me].store(record(value, number, view), SeqCst);
    }

    fn scan(&self, _: usize) -> View {
        self.embedded_scan()
    }
}
