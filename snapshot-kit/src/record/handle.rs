//! A process that acts on the recorded object.

use std::iter;
use std::sync::{Arc, Mutex};

use snapshot_core::{Process, Segment};

use super::lane::Lane;
use super::log::Mark;
use super::watch::Watch;
use super::{BeforeEach, Reply, lock};
use crate::noise;
use crate::value::{Recorded, Value};

/// Destination of events.
#[derive(Debug)]
pub(super) enum Sink<V> {
    Lane(Lane<V>),
    Watch { process: Process, watch: Arc<Watch<V>>, watching: Arc<Mutex<Vec<Process>>> },
}

/// Releases the process.
impl<V> Drop for Sink<V> {
    fn drop(&mut self) {
        if let Self::Watch { process, watching, .. } = self {
            lock(watching).retain(|other| other != process);
        }
    }
}

/// A process that acts on the recorded object.
///
/// If a call panics, its operation has an unknown outcome.
#[derive(Debug)]
pub struct Handle<V> {
    sink: Sink<V>,
    noise: noise::Source,
    before_each: BeforeEach,
}

impl<V: Clone> Handle<V> {
    pub(super) const fn new(sink: Sink<V>, noise: noise::Source, before_each: BeforeEach) -> Self {
        Self { sink, noise, before_each }
    }

    /// Records `call`, with noise inside it, between an operation's begin and its end.
    #[inline]
    fn call<T>(
        &mut self,
        (mark, value): (Mark, Option<V>),
        call: impl FnOnce() -> T,
        close: impl FnOnce(Open<'_, V>, &T),
    ) -> T {
        self.invoke(mark, value);
        let open = Open { handle: self };
        let result = open.handle.noise.around(call);
        close(open, &result);
        result
    }

    /// Records `call` as an update of `segment` to `value`; returns its result.
    ///
    /// # Panics
    /// If `segment` exceeds [`Segment::LIMIT`].
    #[inline]
    pub fn update<T>(&mut self, segment: usize, value: V, call: impl FnOnce() -> T) -> T {
        let mark = Mark::InvokeUpdate(Segment::from_index(segment));
        self.call((mark, Some(value)), call, |open, _| OpenUpdate(open).ok())
    }

    /// Records `call` as a scan; returns what the scan returned.
    #[inline]
    pub fn scan<T: AsRef<[V]>>(&mut self, call: impl FnOnce() -> T) -> T {
        self.call((Mark::InvokeScan, None), call, |open, values| OpenScan(open).ok(values.as_ref()))
    }

    /// Records `call` as a scan that returns some segments only: pairs of a segment and its value,
    /// in any order. Omitted segments are not constrained.
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
        self.call((Mark::InvokeScan, None), call, |open, entries| {
            OpenScan(open).ok_some(entries.as_ref());
        })
    }

    /// As [`Self::scan_some`], for a call that can fail.
    ///
    /// # Panics
    /// If a segment exceeds [`Segment::LIMIT`].
    pub fn try_scan_some<T: AsRef<[(usize, V)]>>(
        &mut self,
        call: impl FnOnce() -> Reply<T>,
    ) -> Reply<T> {
        self.call((Mark::InvokeScan, None), call, |open, reply| match reply {
            Reply::Done(entries) => OpenScan(open).ok_some(entries.as_ref()),
            Reply::Failed => OpenScan(open).fail(),
            Reply::Unknown => OpenScan(open).unknown(),
        })
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
        let mark = Mark::InvokeUpdate(Segment::from_index(segment));
        self.call((mark, Some(value)), call, |open, reply| match reply {
            Reply::Done(_) => OpenUpdate(open).ok(),
            Reply::Failed => OpenUpdate(open).fail(),
            Reply::Unknown => OpenUpdate(open).unknown(),
        })
    }

    /// As [`Self::scan`], for a call that can fail.
    pub fn try_scan<T: AsRef<[V]>>(&mut self, call: impl FnOnce() -> Reply<T>) -> Reply<T> {
        self.call((Mark::InvokeScan, None), call, |open, reply| match reply {
            Reply::Done(values) => OpenScan(open).ok(values.as_ref()),
            Reply::Failed => OpenScan(open).fail(),
            Reply::Unknown => OpenScan(open).unknown(),
        })
    }

    /// Records that an update begins: call it before the call into the object, and close it after
    /// that. For code that no closure fits, such as an `async` function.
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
        self.before_each.call();
        match &mut self.sink {
            Sink::Lane(lane) => lane.invoke(mark, value),
            Sink::Watch { process, watch, .. } => {
                watch.observe(*process, mark, value.as_slice(), &[])
            }
        }
    }

    #[inline]
    fn respond(&mut self, mark: Mark, values: impl ExactSizeIterator<Item = V>) {
        match &mut self.sink {
            Sink::Lane(lane) => {
                // Taken before the values are copied: the interval stays short.
                let stamp = lane.returned();
                lane.push(stamp, mark, values);
            }
            Sink::Watch { process, watch, .. } => {
                watch.observe(*process, mark, &values.collect::<Vec<V>>(), &[]);
            }
        }
    }

    fn respond_some(&mut self, entries: impl ExactSizeIterator<Item = (usize, V)>) {
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

/// For objects with values of another type than the recording.
impl Handle<Value> {
    /// Records `call` as a scan.
    pub(crate) fn scan_recorded<W: Recorded, T: AsRef<[W]>>(&mut self, call: impl FnOnce() -> T) {
        self.call((Mark::InvokeScan, None), call, |open, values| {
            open.close_scan(values.as_ref().iter().map(Recorded::recorded));
        });
    }

    /// Records `call` as a scan that returns the values of these segments.
    ///
    /// # Panics
    /// If it returns more or fewer values.
    pub(crate) fn scan_some_recorded<W: Recorded>(
        &mut self,
        segments: &[usize],
        call: impl FnOnce() -> Vec<W>,
    ) {
        self.call((Mark::InvokeScan, None), call, |open, values| {
            let (asked, returned) = (segments.len(), values.len());
            assert_eq!(asked, returned, "a partial scan returns a value per segment");
            let entries = segments.iter().zip(values);
            open.close_some(entries.map(|(segment, value)| (*segment, value.recorded())));
        });
    }
}

fn by_segment<V>(entries: impl Iterator<Item = (usize, V)>) -> Vec<(Segment, V)> {
    let mut entries: Vec<(Segment, V)> =
        entries.map(|(k, value)| (Segment::from_index(k), value)).collect();
    entries.sort_by_key(|entry| entry.0);
    entries
}

/// An invoked operation. Dropped without being closed, its outcome is unknown.
#[derive(Debug)]
struct Open<'h, V: Clone> {
    handle: &'h mut Handle<V>,
}

impl<V: Clone> Open<'_, V> {
    #[inline]
    fn close(self, mark: Mark, values: impl ExactSizeIterator<Item = V>) {
        self.handle.respond(mark, values);
        self.handle.noise.after();
        std::mem::forget(self);
    }

    #[inline]
    fn close_scan(self, values: impl ExactSizeIterator<Item = V>) {
        // Within bounds, since a history admits no more segments; otherwise the history refuses it.
        let length = u32::try_from(values.len()).unwrap_or(u32::MAX);
        self.close(Mark::RespondScan(length), values);
    }

    fn close_some(self, entries: impl ExactSizeIterator<Item = (usize, V)>) {
        self.handle.respond_some(entries);
        self.handle.noise.after();
        std::mem::forget(self);
    }
}

impl<V: Clone> Drop for Open<'_, V> {
    fn drop(&mut self) {
        self.handle.respond(Mark::Unknown, iter::empty());
    }
}

/// An update that was invoked and has not ended. Dropped, its outcome is unknown: it may take
/// effect at any later time, or never.
#[derive(Debug)]
#[must_use = "dropped, its outcome is unknown"]
pub struct OpenUpdate<'h, V: Clone>(Open<'h, V>);

impl<V: Clone> OpenUpdate<'_, V> {
    /// Records its response.
    #[inline]
    pub fn ok(self) {
        self.0.close(Mark::RespondUpdate, iter::empty());
    }

    /// Records that it certainly had no effect, and will have none.
    pub fn fail(self) {
        self.0.close(Mark::Fail, iter::empty());
    }

    /// Records that its outcome will never be known (a time-out, a lost connection).
    pub fn unknown(self) {
        self.0.close(Mark::Unknown, iter::empty());
    }
}

/// A scan that was invoked and has not ended. Dropped, its outcome is unknown.
#[derive(Debug)]
#[must_use = "dropped, its outcome is unknown"]
pub struct OpenScan<'h, V: Clone>(Open<'h, V>);

impl<V: Clone> OpenScan<'_, V> {
    /// Records its values, one per segment.
    #[inline]
    pub fn ok(self, values: &[V]) {
        self.0.close_scan(values.iter().cloned());
    }

    /// Records the values of some segments: pairs of a segment and its value, in any order.
    ///
    /// # Panics
    /// If a segment exceeds [`Segment::LIMIT`].
    pub fn ok_some(self, entries: &[(usize, V)]) {
        self.0.close_some(entries.iter().cloned());
    }

    /// Records that it certainly returned nothing.
    pub fn fail(self) {
        self.0.close(Mark::Fail, iter::empty());
    }

    /// Records that its outcome will never be known.
    pub fn unknown(self) {
        self.0.close(Mark::Unknown, iter::empty());
    }
}
