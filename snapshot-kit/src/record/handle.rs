//! One process, acting on the object that is recorded.

use std::sync::{Arc, Mutex};

use snapshot_core::{Process, Segment};

use super::lane::Lane;
use super::log::Mark;
use super::watch::Watch;
use super::{Reply, lock};

/// Where events go.
#[derive(Debug)]
pub(super) enum Sink<V> {
    Lane(Lane<V>),
    Watch { process: Process, watch: Arc<Watch<V>>, watching: Arc<Mutex<Vec<Process>>> },
}

/// The process can be taken again.
impl<V> Drop for Sink<V> {
    fn drop(&mut self) {
        if let Self::Watch { process, watching, .. } = self {
            lock(watching).retain(|other| other != process);
        }
    }
}

/// One process, acting on the object that is recorded.
///
/// If a call panics, its operation has an unknown outcome.
#[derive(Debug)]
pub struct Handle<V> {
    sink: Sink<V>,
}

impl<V: Clone> Handle<V> {
    pub(super) const fn new(sink: Sink<V>) -> Self {
        Self { sink }
    }

    /// Records `call` as an update of `segment` to `value`; returns its result.
    ///
    /// # Panics
    /// If `segment` exceeds [`Segment::LIMIT`].
    #[inline]
    pub fn update<T>(&mut self, segment: usize, value: V, call: impl FnOnce() -> T) -> T {
        let open = self.begin_update(segment, value);
        let result = call();
        open.ok();
        result
    }

    /// Records `call` as a scan; returns what the scan returned.
    #[inline]
    pub fn scan<T: AsRef<[V]>>(&mut self, call: impl FnOnce() -> T) -> T {
        let open = self.begin_scan();
        let values = call();
        open.ok(values.as_ref());
        values
    }

    /// Records `call` as a scan that returns some segments only: pairs of a segment and its
    /// value, in any order. What it does not return restricts nothing.
    ///
    /// ```
    /// use snapshot_core::history::Declaration;
    /// use snapshot_kit::Recorder;
    ///
    /// let recorder = Recorder::new(Declaration::new(0).with_segments(3));
    /// let mut handle = recorder.process(0)?;
    /// // client.mget(&["k0", "k2"])
    /// handle.scan_some(|| [(0, 5), (2, 7)]);
    /// assert!(recorder.history()?.to_string().contains("p0 ok s0 5 s2 7"));
    /// # Ok::<(), snapshot_kit::RecordError>(())
    /// ```
    ///
    /// # Panics
    /// If a segment exceeds [`Segment::LIMIT`].
    pub fn scan_some<T: AsRef<[(usize, V)]>>(&mut self, call: impl FnOnce() -> T) -> T {
        let open = self.begin_scan();
        let entries = call();
        open.ok_some(entries.as_ref());
        entries
    }

    /// As [`Self::scan_some`], for a call that can fail.
    ///
    /// # Panics
    /// If a segment exceeds [`Segment::LIMIT`].
    pub fn try_scan_some<T: AsRef<[(usize, V)]>>(
        &mut self,
        call: impl FnOnce() -> Reply<T>,
    ) -> Reply<T> {
        let open = self.begin_scan();
        let reply = call();
        match &reply {
            Reply::Done(entries) => open.ok_some(entries.as_ref()),
            Reply::Failed => open.fail(),
            Reply::Unknown => open.unknown(),
        }
        reply
    }

    /// As [`Self::update`], for a call that can fail.
    ///
    /// # Panics
    /// If `segment` exceeds [`Segment::LIMIT`].
    pub fn try_update<T>(
        &mut self,
        segment: usize,
        value: V,
        call: impl FnOnce() -> Reply<T>,
    ) -> Reply<T> {
        let open = self.begin_update(segment, value);
        let reply = call();
        match &reply {
            Reply::Done(_) => open.ok(),
            Reply::Failed => open.fail(),
            Reply::Unknown => open.unknown(),
        }
        reply
    }

    /// As [`Self::scan`], for a call that can fail.
    pub fn try_scan<T: AsRef<[V]>>(&mut self, call: impl FnOnce() -> Reply<T>) -> Reply<T> {
        let open = self.begin_scan();
        let reply = call();
        match &reply {
            Reply::Done(values) => open.ok(values.as_ref()),
            Reply::Failed => open.fail(),
            Reply::Unknown => open.unknown(),
        }
        reply
    }

    /// Records that an update begins: to be called before the call into the object, and
    /// closed after it. For code that no closure fits, such as an `async` function.
    ///
    /// ```
    /// use snapshot_core::history::Declaration;
    /// use snapshot_kit::Recorder;
    ///
    /// let recorder = Recorder::new(Declaration::new(0).with_segments(1));
    /// let mut handle = recorder.process(0)?;
    /// let update = handle.begin_update(0, 5);
    /// // client.put("k", 5).await, and then one of ok, fail, unknown:
    /// update.ok();
    /// // Dropped, for example since its task was cancelled: it may have taken effect.
    /// drop(handle.begin_update(0, 6));
    /// assert_eq!(recorder.history()?.pending(), 1);
    /// # Ok::<(), snapshot_kit::RecordError>(())
    /// ```
    ///
    /// # Panics
    /// If `segment` exceeds [`Segment::LIMIT`].
    #[inline]
    pub fn begin_update(&mut self, segment: usize, value: V) -> OpenUpdate<'_, V> {
        self.invoke(Mark::InvokeUpdate(Segment::from_index(segment)), Some(value));
        OpenUpdate(Open { handle: self })
    }

    /// As [`Self::begin_update`], for a scan.
    #[inline]
    pub fn begin_scan(&mut self) -> OpenScan<'_, V> {
        self.invoke(Mark::InvokeScan, None);
        OpenScan(Open { handle: self })
    }

    #[inline]
    fn invoke(&mut self, mark: Mark, value: Option<V>) {
        match &mut self.sink {
            Sink::Lane(lane) => lane.invoke(mark, value),
            Sink::Watch { process, watch, .. } => {
                watch.observe(*process, mark, value.as_slice(), &[])
            }
        }
    }

    #[inline]
    fn respond(&mut self, mark: Mark, values: &[V]) {
        match &mut self.sink {
            Sink::Lane(lane) => {
                // Taken before the values are copied: the interval stays short.
                let stamp = lane.returned();
                lane.push(stamp, mark, values.iter().cloned());
            }
            Sink::Watch { process, watch, .. } => watch.observe(*process, mark, values, &[]),
        }
    }
}

impl<V: Clone> Handle<V> {
    fn respond_some(&mut self, entries: &[(usize, V)]) {
        let mark = Mark::RespondPartialScan(u32::try_from(entries.len()).unwrap_or(u32::MAX));
        match &mut self.sink {
            Sink::Lane(lane) => {
                let stamp = lane.returned();
                lane.push_entries(stamp, mark, by_segment(entries).into_iter());
            }
            Sink::Watch { process, watch, .. } => {
                watch.observe(*process, mark, &[], &by_segment(entries));
            }
        }
    }
}

fn by_segment<V: Clone>(entries: &[(usize, V)]) -> Vec<(Segment, V)> {
    let mut entries: Vec<(Segment, V)> =
        entries.iter().map(|(k, value)| (Segment::from_index(*k), value.clone())).collect();
    entries.sort_by_key(|entry| entry.0);
    entries
}

/// An operation that was invoked. Dropped without being closed, its outcome is unknown.
#[derive(Debug)]
struct Open<'h, V: Clone> {
    handle: &'h mut Handle<V>,
}

impl<V: Clone> Open<'_, V> {
    #[inline]
    fn close(self, mark: Mark, values: &[V]) {
        self.handle.respond(mark, values);
        std::mem::forget(self);
    }
}

impl<V: Clone> Drop for Open<'_, V> {
    fn drop(&mut self) {
        self.handle.respond(Mark::Unknown, &[]);
    }
}

/// An update that was invoked and has not ended. Dropped, its outcome is unknown: it may
/// take effect at any later time, or never.
#[derive(Debug)]
#[must_use = "dropped, its outcome is unknown"]
pub struct OpenUpdate<'h, V: Clone>(Open<'h, V>);

impl<V: Clone> OpenUpdate<'_, V> {
    /// It responded.
    #[inline]
    pub fn ok(self) {
        self.0.close(Mark::RespondUpdate, &[]);
    }

    /// It certainly had no effect, now or later.
    pub fn fail(self) {
        self.0.close(Mark::Fail, &[]);
    }

    /// Its outcome will never be known (a time-out, a lost connection).
    pub fn unknown(self) {
        self.0.close(Mark::Unknown, &[]);
    }
}

/// A scan that was invoked and has not ended. Dropped, its outcome is unknown.
#[derive(Debug)]
#[must_use = "dropped, its outcome is unknown"]
pub struct OpenScan<'h, V: Clone>(Open<'h, V>);

impl<V: Clone> OpenScan<'_, V> {
    /// It returned these values, one per segment.
    #[inline]
    pub fn ok(self, values: &[V]) {
        // Within bounds, since a history admits no more segments; else it is refused there.
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        self.0.close(Mark::RespondScan(length), values);
    }

    /// It returned some segments only: pairs of a segment and its value, in any order.
    ///
    /// # Panics
    /// If a segment exceeds [`Segment::LIMIT`].
    pub fn ok_some(self, entries: &[(usize, V)]) {
        self.0.handle.respond_some(entries);
        std::mem::forget(self.0);
    }

    /// It certainly returned nothing.
    pub fn fail(self) {
        self.0.close(Mark::Fail, &[]);
    }

    /// Its outcome will never be known.
    pub fn unknown(self) {
        self.0.close(Mark::Unknown, &[]);
    }
}
