//! As `std::thread`: threads of the execution, or real ones outside of one.

use real::any::Any;
use real::boxed::Box;
use real::io;
use real::string::String;
use real::thread as std;
use real::time::Duration;

use crate::control::{Next, Object, Timed, access, announce, inside};

/// As `std::thread::ThreadId`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Id {
    Controlled(shuttle::thread::ThreadId),
    Real(std::ThreadId),
}

/// As `std::thread::Thread`.
#[derive(Clone, Debug)]
pub struct Thread(Handle);

#[derive(Clone, Debug)]
enum Handle {
    Controlled(shuttle::thread::Thread),
    Real(std::Thread),
}

impl Thread {
    /// As of the real one.
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Handle::Controlled(thread) => Id::Controlled(thread.id()),
            Handle::Real(thread) => Id::Real(thread.id()),
        })
    }

    /// As of the real one.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Handle::Controlled(thread) => thread.name(),
            Handle::Real(thread) => thread.name(),
        }
    }

    /// As of the real one.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Handle::Controlled(thread) if inside() => {
                let token = Object::token(usize::from(thread.id()));
                let _step = announce(Next::access(token, true));
                thread.unpark();
            }
            Handle::Controlled(_) => {}
            Handle::Real(thread) => thread.unpark(),
        }
    }
}

/// As `std::thread::current`.
pub fn current() -> Thread {
    Thread(if inside() {
        Handle::Controlled(shuttle::thread::current())
    } else {
        Handle::Real(std::current())
    })
}

/// As `std::thread::park`; within an execution without spurious wake-ups, if others can run.
#[track_caller]
pub fn park() {
    if inside() { wait_for_token() } else { std::park() }
}

/// Takes the token of the running task, as part of the running step if it is there.
#[track_caller]
fn wait_for_token() {
    let token = Object::token(usize::from(shuttle::thread::current().id()));
    access(token, true);
    let _step = announce(Next::access(token, true));
    shuttle::thread::park();
}

/// As `std::thread::park_timeout`; within an execution the time limit never passes.
#[track_caller]
pub fn park_timeout(time: Duration) {
    if inside() {
        let _open = Timed::open();
        wait_for_token();
    } else {
        std::park_timeout(time);
    }
}

/// As `std::thread::yield_now`: other threads run first.
#[track_caller]
pub fn yield_now() {
    if inside() { give_way() } else { std::yield_now() }
}

#[track_caller]
fn give_way() {
    let _step = announce(Next::plain());
    shuttle::thread::yield_now();
}

/// As `std::thread::sleep`; within an execution it lets other threads run first.
#[track_caller]
pub fn sleep(time: Duration) {
    if inside() { give_way() } else { std::sleep(time) }
}

/// As `std::thread::JoinHandle`.
#[derive(Debug)]
pub struct JoinHandle<T>(Joining<T>, Thread);

#[derive(Debug)]
enum Joining<T> {
    Controlled(shuttle::thread::JoinHandle<T>),
    Real(std::JoinHandle<T>),
}

impl<T> JoinHandle<T> {
    /// As of the real one.
    ///
    /// # Errors
    /// If the thread panicked.
    pub fn join(self) -> Result<T, Box<dyn Any + Send + 'static>> {
        match self.0 {
            Joining::Controlled(handle) => handle.join(),
            Joining::Real(handle) => handle.join(),
        }
    }

    /// As of the real one.
    pub const fn thread(&self) -> &Thread {
        &self.1
    }
}

/// As `std::thread::spawn`. A thread within an execution makes the check *unknown*.
pub fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    if inside() {
        let handle = shuttle::thread::spawn(work);
        let thread = Thread(Handle::Controlled(handle.thread().clone()));
        JoinHandle(Joining::Controlled(handle), thread)
    } else {
        let handle = std::spawn(work);
        let thread = Thread(Handle::Real(handle.thread().clone()));
        JoinHandle(Joining::Real(handle), thread)
    }
}

/// As `std::thread::Builder`; within an execution name and stack have no effect.
#[derive(Debug)]
pub struct Builder(std::Builder);

impl Builder {
    /// Makes a builder.
    #[allow(clippy::new_without_default, reason = "that of `std` has none")]
    pub fn new() -> Self {
        Self(std::Builder::new())
    }

    /// Names the thread.
    #[must_use]
    pub fn name(self, name: String) -> Self {
        Self(self.0.name(name))
    }

    /// Sets the size of its stack.
    #[must_use]
    pub fn stack_size(self, bytes: usize) -> Self {
        Self(self.0.stack_size(bytes))
    }

    /// As [`spawn`].
    ///
    /// # Errors
    /// If the operating system gives none.
    pub fn spawn<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        if inside() {
            return Ok(spawn(work));
        }
        let handle = self.0.spawn(work)?;
        let thread = Thread(Handle::Real(handle.thread().clone()));
        Ok(JoinHandle(Joining::Real(handle), thread))
    }
}

/// Handle of the operating system; 0 for a thread of an execution, which has none.
#[cfg(unix)]
impl<T> real::os::unix::thread::JoinHandleExt for JoinHandle<T> {
    fn as_pthread_t(&self) -> real::os::unix::thread::RawPthread {
        match &self.0 {
            Joining::Controlled(_) => 0,
            Joining::Real(handle) => handle.as_pthread_t(),
        }
    }

    fn into_pthread_t(self) -> real::os::unix::thread::RawPthread {
        match self.0 {
            Joining::Controlled(_) => 0,
            Joining::Real(handle) => handle.into_pthread_t(),
        }
    }
}
