//! The progress of reading.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The progress of reading an input, for a line of progress.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<Marks>);

#[derive(Debug, Default)]
struct Marks {
    passes: AtomicU64,
    read: AtomicU64,
    /// 0: unknown.
    size: AtomicU64,
}

/// The values of a [`Gauge`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reading {
    /// Number of times that reading began: an input may have to be read several times.
    pub passes: u64,
    /// Bytes read since it last began.
    pub read: u64,
    /// Total number of bytes, if known.
    pub size: Option<u64>,
}

impl Gauge {
    /// Returns the present values. They are loaded one after the other: between two passes they may
    /// belong to both.
    pub fn reading(&self) -> Reading {
        let load = |mark: &AtomicU64| mark.load(Ordering::Relaxed);
        let size = Some(load(&self.0.size)).filter(|size| *size > 0);
        Reading { passes: load(&self.0.passes), read: load(&self.0.read), size }
    }

    /// Measures the reading of an input from now on.
    pub(super) fn of<R>(&self, input: R, size: Option<u64>) -> Gauged<R> {
        self.0.read.store(0, Ordering::Relaxed);
        self.0.size.store(size.unwrap_or(0), Ordering::Relaxed);
        self.0.passes.fetch_add(1, Ordering::Relaxed);
        Gauged { input, gauge: self.clone() }
    }
}

/// An input that is measured while it is read.
pub(super) struct Gauged<R> {
    input: R,
    gauge: Gauge,
}

impl<R: Read> Read for Gauged<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.gauge.0.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
