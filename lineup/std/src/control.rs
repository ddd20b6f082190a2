//! Tests if an operation is within a controlled execution, counts its steps, and tells the scheduler
//! the objects that each step touches.
//!
//! Threads of an execution are tasks of the scheduler on one thread of the operating system, to
//! which all records belong.

use real::cell::{Cell, RefCell};
use real::panic::Location;
use real::time::Duration;
use real::vec::Vec;

use crate::statics;

real::thread_local! {
    static TIMED: Cell<u32> = const { Cell::new(0) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
    static CHANGES: Cell<u64> = const { Cell::new(0) };
    static RECORD: RefCell<Record> = const { RefCell::new(Record::new()) };
}

/// An object that threads share, or the token that a thread parks for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Object(usize);

impl Object {
    /// Returns the object at the address of a value.
    pub fn at<T: ?Sized>(value: &T) -> Self {
        Self(real::ptr::from_ref(value).cast::<()>().addr())
    }

    /// Returns the token of a task.
    pub(crate) const fn token(task: usize) -> Self {
        Self(usize::MAX - task)
    }
}

/// Kind of an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Memory that orders nothing: a cell.
    Plain,
    /// An atomic: what a step reads happened before it.
    Atomic,
    /// A lock, a condition, a token: all accesses that conflict are ordered.
    Lock,
}

/// An access of a step to an object. Two accesses that do not change an object can be exchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Access {
    /// The object.
    pub object: Object,
    /// Its kind.
    pub kind: Kind,
    /// True if it may change the object. A compare-and-swap that fails does not.
    pub changes: bool,
}

/// The next step of a task, as far as it is known before.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// Line of the program.
    pub place: &'static Location<'static>,
    /// Accesses that the step makes, beside those it records itself.
    accesses: [Option<Access>; 2],
    /// Lock that the step takes, and whether for itself alone.
    pub lock: Option<(Object, bool)>,
    /// Lock that the step releases, to wait and to take it again.
    releases: Option<Object>,
}

impl Next {
    /// A step that records its accesses itself.
    #[track_caller]
    pub(crate) fn plain() -> Self {
        Self { place: Location::caller(), accesses: [None; 2], lock: None, releases: None }
    }

    /// A step with one access.
    #[track_caller]
    pub(crate) fn access(object: Object, changes: bool) -> Self {
        Self::new(Access { object, kind: Kind::Lock, changes })
    }

    /// A step with an access of plain memory.
    #[track_caller]
    fn plainly(object: Object, changes: bool) -> Self {
        Self::new(Access { object, kind: Kind::Plain, changes })
    }

    #[track_caller]
    fn new(access: Access) -> Self {
        Self { accesses: [Some(access), None], ..Self::plain() }
    }

    /// Returns true if the step is an access of plain memory.
    pub fn is_plain(&self) -> bool {
        matches!(self.accesses, [Some(Access { kind: Kind::Plain, .. }), _])
    }

    /// A step that takes a lock, alone or beside others that share it.
    #[track_caller]
    pub(crate) fn taking(lock: Object, alone: bool) -> Self {
        Self { lock: Some((lock, alone)), ..Self::access(lock, alone) }
    }

    /// The steps of waiting at a condition: the first one releases the lock, the last one takes it.
    #[track_caller]
    pub(crate) fn waiting(lock: Object, condition: Object) -> Self {
        let mut next = Self::taking(lock, true);
        next.accesses[1] = Some(Access { object: condition, kind: Kind::Lock, changes: true });
        next.releases = Some(lock);
        next
    }
}

/// A task that holds a lock.
#[derive(Clone, Copy, Debug)]
pub struct Holder {
    /// Its number.
    pub task: usize,
    /// Line of the program that took the lock.
    pub place: &'static Location<'static>,
    alone: bool,
}

/// Records of the present execution.
struct Record {
    /// True for a thread of the operating system on which Line-Up executes tests.
    is_kept: bool,
    /// Announced steps, by task.
    next: Vec<Option<Next>>,
    /// Accesses of the present step that were not announced.
    accesses: Vec<Access>,
    held: Vec<(Object, Holder)>,
    /// True if waits of conditions may wake up spuriously.
    is_spurious: bool,
    /// Tasks whose operation has not waited at a condition yet.
    fresh: Vec<usize>,
}

impl Record {
    const fn new() -> Self {
        Self {
            is_kept: false,
            next: Vec::new(),
            accesses: Vec::new(),
            held: Vec::new(),
            is_spurious: false,
            fresh: Vec::new(),
        }
    }
}

fn record<T>(work: impl FnOnce(&mut Record) -> T) -> Option<T> {
    // The record is gone while the thread of the operating system ends.
    RECORD
        .try_with(|record| {
            let mut record = record.borrow_mut();
            record.is_kept.then(|| work(&mut record))
        })
        .ok()
        .flatten()
}

fn current() -> Option<usize> {
    shuttle::current::try_get_current_task().map(usize::from)
}

/// Returns true for a thread of a controlled execution.
pub fn inside() -> bool {
    current().is_some()
}

/// The announcement of a step, until it is dropped. Points at which the scheduler chooses a thread,
/// while it lasts, are points before this step.
#[derive(Debug)]
pub(crate) struct Announced {
    task: usize,
    before: Option<Next>,
}

/// Announces the next step of the running task. No effect outside an execution.
pub(crate) fn announce(next: Next) -> Option<Announced> {
    let task = current()?;
    let before = record(|record| {
        if record.next.len() <= task {
            record.next.resize(task + 1, None);
        }
        record.next[task].replace(next)
    });
    Some(Announced { task, before: before.flatten() })
}

impl Drop for Announced {
    fn drop(&mut self) {
        record(|record| {
            if let Some(next) = record.next.get_mut(self.task) {
                *next = self.before;
            }
        });
    }
}

/// Notes a static item of this crate before a thread of an execution accesses it.
pub(crate) fn touch<T: ?Sized>(item: &T) {
    if statics::has(item) && inside() {
        statics::touch(item);
    }
}

/// Makes a step on an item: the scheduler chooses the thread that runs next. No effect outside an execution;
/// returns true within one.
#[track_caller]
pub(crate) fn step<T: ?Sized>(item: &T) -> bool {
    touch(item);
    stepping(Next::plain())
}

/// Makes a step before an access of memory that other threads may share, in a cell or behind a raw
/// pointer; `changes`: whether it may be a write. No effect outside an execution.
#[track_caller]
pub fn plain_access<T: ?Sized>(value: &T, changes: bool) {
    touch(value);
    stepping(Next::plainly(Object::at(value), changes));
}

fn stepping(next: Next) -> bool {
    let announced = announce(next);
    if announced.is_some() {
        STEPS.set(STEPS.get() + 1);
        // In shuttle a sleep is a plain step: no time, no yield.
        shuttle::thread::sleep(Duration::ZERO);
    }
    announced.is_some()
}

/// Records an access of the running step.
pub(crate) fn access(object: Object, changes: bool) {
    record_access(Access { object, kind: Kind::Lock, changes });
}

fn record_access(access: Access) {
    record(|record| record.accesses.push(access));
}

/// Records an operation on an atomic, within an execution.
pub(crate) fn operated(atomic: Object, changes: bool) {
    CHANGES.set(CHANGES.get() + u64::from(changes));
    record_access(Access { object: atomic, kind: Kind::Atomic, changes });
}

/// Records that the running task took a lock.
pub(crate) fn took(lock: Object, alone: bool, place: &'static Location<'static>) {
    if let Some(task) = current() {
        record(|record| record.held.push((lock, Holder { task, place, alone })));
    }
}

/// Records that the running task released a lock.
pub(crate) fn released(lock: Object) {
    if let Some(task) = current() {
        release(lock, task);
    }
}

fn release(lock: Object, task: usize) {
    record(|record| {
        let mut held = record.held.iter();
        if let Some(index) = held.rposition(|(of, by)| *of == lock && by.task == task) {
            record.held.swap_remove(index);
        }
    });
}

/// Records that a lock is destroyed: another one may get its address.
pub(crate) fn destroyed(lock: Object) {
    record(|record| record.held.retain(|(of, _)| *of != lock));
}

/// Returns the number of steps of atomics on this thread of the operating system. [`changes`]
/// counts all changes of such steps; changes of other steps, such as steps of locks, are unknown.
pub fn steps() -> u64 {
    STEPS.get()
}

/// Returns the number of operations on atomics that changed a value, on this thread of the
/// operating system.
pub fn changes() -> u64 {
    CHANGES.get()
}

/// Returns the next step of a task, if it was announced: if it is a step of this crate's items.
pub fn next(task: usize) -> Option<Next> {
    record(|record| record.next.get(task).copied().flatten()).flatten()
}

/// Begins the next step of a task; returns its accesses, as far as they are announced, or `None` if
/// it is not a step of this crate's items.
pub fn begin_step(task: usize) -> Option<[Option<Access>; 2]> {
    let next = record(|record| {
        let next = record.next.get_mut(task)?.as_mut()?;
        let releases = next.releases.take();
        Some((next.accesses, releases))
    })
    .flatten();
    let (accesses, releases) = next?;
    if let Some(lock) = releases {
        release(lock, task);
    }
    Some(accesses)
}

/// Removes the accesses recorded since the last call.
pub fn take_accesses(mut each: impl FnMut(Access)) {
    record(|record| record.accesses.drain(..).for_each(&mut each));
}

/// Returns the task that keeps this one from its next step, because it holds the lock that the step
/// takes.
pub fn holder(task: usize) -> Option<Holder> {
    record(|record| {
        if record.held.is_empty() {
            return None;
        }
        let (lock, alone) = (*record.next.get(task)?)?.lock?;
        let mut held = record.held.iter();
        let found =
            held.find(|(of, holder)| *of == lock && holder.task != task && (alone || holder.alone));
        found.map(|(_, holder)| *holder)
    })
    .flatten()
}

/// Returns the number of waits with a time limit that are open in this execution. Under control
/// they never time out, so an execution that blocks with one open does not count as stuck.
pub fn timed_waits() -> u32 {
    TIMED.get()
}

/// Begins an operation of the running task.
pub fn begin_operation() {
    if let Some(task) = current() {
        record(|record| {
            if record.is_spurious && !record.fresh.contains(&task) {
                record.fresh.push(task);
            }
        });
    }
}

/// Returns true if the running task, which is to wait at a condition, wakes up spuriously: in the
/// first wait of its operation.
pub(crate) fn wakes_spuriously() -> bool {
    let Some(task) = current() else { return false };
    let is_first = record(|record| {
        let fresh = record.fresh.iter().position(|of| *of == task);
        fresh.map(|index| record.fresh.swap_remove(index)).is_some()
    });
    is_first.unwrap_or(false)
}

/// Forgets the records of an earlier execution; `is_spurious`: whether the first wait at a condition
/// of each operation wakes up spuriously in the next one.
pub fn begin(is_spurious: bool) {
    statics::release();
    TIMED.set(0);
    let _ = RECORD.try_with(|record| {
        let mut record = record.borrow_mut();
        record.is_kept = true;
        record.next.clear();
        record.accesses.clear();
        record.held.clear();
        record.is_spurious = is_spurious;
        record.fresh.clear();
    });
}

/// A wait with a time limit, until it is dropped.
#[derive(Debug)]
pub(crate) struct Timed;

impl Timed {
    pub(crate) fn open() -> Self {
        TIMED.set(TIMED.get() + 1);
        Self
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        TIMED.set(TIMED.get().saturating_sub(1));
    }
}
