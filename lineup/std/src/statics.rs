//! Statics of crates under control are given back their first value before each execution.
//!
//! An item of the stand-in that lies in the static memory of the program is noted with its bytes at
//! its first access within an execution. The first such access of each later execution gives all
//! noted items these bytes back. What they owned then is not dropped, as no static ever is. From
//! that access to the end of the execution no other thread of the operating system executes a test
//! that accesses statics.
//!
//! The bytes are read and written by the system (`/proc/self/mem`), as by a debugger: between two
//! executions no thread uses the items, since threads that got stuck never continue. A `static mut`
//! is plain memory and not noted. On systems without these files nothing is noted, and state that
//! outlives an execution makes the answer *unknown* if it changes one that is repeated.

use real::cell::RefCell;
use real::fs::{self, File, OpenOptions};
use real::ops::Range;
use real::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use real::vec::Vec;

/// A noted item.
struct Noted {
    at: usize,
    bytes: Vec<u8>,
}

impl Noted {
    fn range(&self) -> Range<usize> {
        self.at..self.at + self.bytes.len()
    }
}

/// The noted items, in the order of their first access.
struct Statics(Vec<Noted>);

static STATICS: Mutex<Statics> = Mutex::new(Statics(Vec::new()));

real::thread_local! {
    /// Held from the first access of an execution to its end.
    static HELD: RefCell<Option<MutexGuard<'static, Statics>>> = const { RefCell::new(None) };
}

/// The program's memory, and its parts that hold statics.
struct Memory {
    file: File,
    writable: Vec<Range<usize>>,
}

fn memory() -> Option<&'static Memory> {
    static MEMORY: OnceLock<Option<Memory>> = OnceLock::new();
    let open = || {
        let file = OpenOptions::new().read(true).write(true).open("/proc/self/mem").ok()?;
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let program = fs::read_link("/proc/self/exe").ok()?;
        Some(Memory { file, writable: writable(&maps, program.to_str()?) })
    };
    MEMORY.get_or_init(open).as_ref()
}

/// Returns the writable parts of a program among the lines of `/proc/self/maps`: those of its file,
/// and those without a file that follow directly (statics that are zero).
fn writable(maps: &str, program: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else { continue };
        let path = words.skip(3).collect::<Vec<_>>().join(" ");
        let Some((from, to)) = range.split_once('-') else { continue };
        let parse = |text| usize::from_str_radix(text, 16);
        let (Ok(from), Ok(to)) = (parse(from), parse(to)) else { continue };
        let continues = path.is_empty() && from == end;
        if path == program || continues {
            end = to;
            if rights.starts_with("rw") {
                found.push(from..to);
            }
        }
    }
    found
}

impl Memory {
    fn has(&self, address: usize) -> bool {
        self.writable.iter().any(|part| part.contains(&address))
    }

    #[cfg(unix)]
    fn read(&self, bytes: &mut [u8], at: usize) -> bool {
        use real::os::unix::fs::FileExt;
        self.file.read_exact_at(bytes, at as u64).is_ok()
    }

    #[cfg(unix)]
    fn write(&self, bytes: &[u8], at: usize) -> bool {
        use real::os::unix::fs::FileExt;
        self.file.write_all_at(bytes, at as u64).is_ok()
    }

    #[cfg(not(unix))]
    fn read(&self, _: &mut [u8], _: usize) -> bool {
        false
    }

    #[cfg(not(unix))]
    fn write(&self, _: &[u8], _: usize) -> bool {
        false
    }
}

impl Statics {
    /// Notes an item, unless it is a part of a noted one.
    fn note(&mut self, memory: &Memory, at: usize, length: usize) {
        let whole = at..at + length;
        let covers = |noted: &Noted| noted.at <= at && noted.range().end >= whole.end;
        if self.0.iter().any(covers) {
            return;
        }
        let mut bytes = real::vec![0; length];
        if !memory.read(&mut bytes, at) {
            return;
        }
        // Parts that were noted before may have changed since.
        for part in self.0.iter().filter(|part| whole.contains(&part.at)) {
            let from = part.at - at;
            let until = length.min(from + part.bytes.len());
            bytes[from..until].copy_from_slice(&part.bytes[..until - from]);
        }
        self.0.push(Noted { at, bytes });
    }
}

fn address<T: ?Sized>(item: &T) -> usize {
    real::ptr::from_ref(item).cast::<()>().addr()
}

/// Returns true for an item in static memory.
pub(crate) fn has<T: ?Sized>(item: &T) -> bool {
    memory().is_some_and(|memory| memory.has(address(item)))
}

/// Notes a static item before its access within an execution.
pub(crate) fn touch<T: ?Sized>(item: &T) {
    let Some(memory) = memory() else { return };
    let at = address(item);
    let _ = HELD.try_with(|held| {
        let mut held = held.borrow_mut();
        let statics = held.get_or_insert_with(|| {
            let statics = STATICS.lock().unwrap_or_else(PoisonError::into_inner);
            for noted in &statics.0 {
                memory.write(&noted.bytes, noted.at);
            }
            statics
        });
        statics.note(memory, at, size_of_val(item));
    });
}

/// Ends the accesses of an execution.
pub(crate) fn release() {
    let _ = HELD.try_with(RefCell::take);
}

/// Returns true if an item is noted, or lies within a noted one.
pub fn is_noted<T: ?Sized>(item: &T) -> bool {
    let at = address(item);
    let is_in = |statics: &Statics| statics.0.iter().any(|noted| noted.range().contains(&at));
    let held = HELD.try_with(|held| held.borrow().as_deref().map(is_in));
    held.ok()
        .flatten()
        .unwrap_or_else(|| is_in(&STATICS.lock().unwrap_or_else(PoisonError::into_inner)))
}
