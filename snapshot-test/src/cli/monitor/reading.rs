//! A thread of a monitor of many objects that reads inputs, one after the other.

use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use snapshot_core::history::Declaration;
use snapshot_test::format::{Format, Location, NamesSoFar, Object, ReadErrorKind, Reader};
use snapshot_test::monitor::{
    Checkpoint, Exchanges, Intake, Judge, Outbox, Partition, Router, Saved, Snapshots, owner,
};
use snapshot_test::{InputError, Origins, SnapshotKind, Value};

use super::inputs::{self, Input};
use super::printer::Printer;
use super::{Monitor, STOP};
use crate::cli::times;

/// Number of events between two checks for requests.
const STRIDE: u64 = 1 << 8;

/// State shared by all reading threads.
pub(super) struct Whole<'a> {
    pub monitor: &'a Monitor,
    pub printer: &'a Printer<'a>,
    pub stop: &'a AtomicBool,
    /// True if inputs may lack keys.
    pub is_several: bool,
    /// Number of bytes of an input that are read at a time.
    pub most: usize,
    /// The number of the requested checkpoint.
    pub wanted: AtomicU64,
    pub events: AtomicU64,
    pub objects: AtomicU64,
}

impl Whole<'_> {
    /// Counts events read, and objects that had not occurred before.
    fn count(&self, events: u64, objects: u64) {
        self.events.fetch_add(events, Ordering::Relaxed);
        self.objects.fetch_add(objects, Ordering::Relaxed);
    }
}

/// A message of a reading thread.
pub(super) enum Notice {
    /// The thread begins to read an input.
    Begun,
    /// A checkpoint of an input, as text, and the time to make it.
    Kept(usize, String, Duration),
    /// An input has ended, a recording of this object.
    Ended(usize, Object),
    /// An input had a malformed event.
    Bad,
}

/// An input to be read.
pub(super) struct Task<'a> {
    pub number: usize,
    pub input: Input,
    pub intake: Intake,
    pub resumed: Option<&'a Checkpoint>,
}

pub(super) struct Reading<'a> {
    pub whole: &'a Whole<'a>,
    pub notices: Sender<Notice>,
}

/// The error after which everything ends; it has been reported.
struct Ended;

impl Reading<'_> {
    pub fn read(&self, task: Task<'_>) {
        let number = task.number;
        let _ = self.notices.send(Notice::Begun);
        let object = self.opened(task).unwrap_or(Object::Snapshot);
        let _ = self.notices.send(Notice::Ended(number, object));
    }

    /// Ends everything, with this message.
    fn fatal(&self, message: impl std::fmt::Display) -> Ended {
        self.whole.printer.post().fail(message);
        Ended
    }

    /// Reports that the input is malformed.
    fn lose(&self, input: usize, error: &InputError) {
        let _ = self.notices.send(Notice::Bad);
        self.whole.printer.lose(input, error);
    }

    fn opened(&self, task: Task<'_>) -> Result<Object, Ended> {
        let Task { number, input, intake, resumed } = task;
        let (name, most) = (input.name.clone(), self.whole.most);
        let input = input.open(resumed).map_err(|message| self.fatal(message))?;
        let outbox = Outbox::default();
        let count = |events, objects| self.whole.count(events, objects);
        let opened = inputs::reader(outbox.before(input, most, count), resumed)
            .map_err(|error| self.fatal(format_args!("{name}: cannot read: {error}")))?;
        let one = One { reading: self, number, name: &name, resumed, outbox };
        let reader = match opened {
            Ok(reader) => reader,
            Err(error) => {
                let is_over = STOP.load(Ordering::Relaxed)
                    || resumed.is_some() && matches!(error.kind(), ReadErrorKind::Empty);
                if !is_over {
                    let error = InputError::from(error);
                    self.lose(number, &one.placed(error));
                }
                // The checkpoint stands.
                let Some(checkpoint) = resumed else { return Ok(Object::Snapshot) };
                return match checkpoint.input_object() {
                    Some(Object::Immediate) => one.unchanged::<Exchanges>(intake, checkpoint),
                    _ => one.unchanged::<Snapshots>(intake, checkpoint),
                };
            }
        };
        if !reader.is_keyed() && !self.whole.is_several {
            return Err(self.fatal(format_args!(
                "{name}: --all is for recordings of several objects, each event with a key (`@1 p0 \
                 update 5`), and this one has no keys\nhelp: leave out --all"
            )));
        }
        match reader.object() {
            Object::Snapshot => one.judge::<Snapshots, _>(intake, reader),
            Object::Immediate => one.judge::<Exchanges, _>(intake, reader),
        }
    }
}

struct One<'a> {
    reading: &'a Reading<'a>,
    number: usize,
    name: &'a str,
    resumed: Option<&'a Checkpoint>,
    outbox: Outbox,
}

impl One<'_> {
    /// Returns the bytes and lines before the part that is read.
    fn begin(&self) -> (u64, u64) {
        self.resumed.map_or((0, 0), |checkpoint| (checkpoint.bytes, checkpoint.lines))
    }

    fn placed(&self, error: InputError) -> InputError {
        let (bytes, lines) = self.begin();
        error.with_offset(bytes, lines)
    }

    /// Returns the state of the checkpoint, if the input has no new events.
    fn unchanged<J: Judge + 'static>(
        &self,
        intake: Intake,
        checkpoint: &Checkpoint,
    ) -> Result<Object, Ended> {
        let format = checkpoint.input_format().unwrap_or(Format::Text);
        let names = NamesSoFar::from(checkpoint.names());
        let dealer = self.dealer::<J>(intake, format, &checkpoint.declaration(), &names)?;
        self.reading.whole.objects.fetch_add(checkpoint.objects.len() as u64, Ordering::Relaxed);
        dealer.end(None);
        Ok(J::Kind::OBJECT)
    }

    /// Creates the dealer that hands events over, with the objects of a checkpoint.
    fn dealer<J: Judge + 'static>(
        &self,
        intake: Intake,
        format: Format,
        declaration: &Declaration<Value>,
        names: &NamesSoFar,
    ) -> Result<Router, Ended> {
        let (name, monitor) = (self.name, self.reading.whole.monitor);
        let workers = monitor.workers.get();
        let share = |_| {
            Partition::<J>::of_many(format, declaration.clone(), monitor.shared_options())
                .with_names(names.clone())
        };
        let mut shares: Vec<_> = (0..workers).map(share).collect();
        let home = owner(&Value::from(name), workers);
        if let Some(checkpoint) = self.resumed {
            let (bytes, lines) = self.begin();
            shares.iter_mut().for_each(|share| share.begin_behind(bytes, lines));
            for saved in &checkpoint.objects {
                let worker = saved.key.as_ref().map_or(home, |key| owner(&key.into(), workers));
                let resumed = shares[worker].resume(saved);
                resumed.map_err(|error| self.reading.fatal(format_args!("{name}: {error}")))?;
            }
        }
        Ok(intake.begin(shares, home, self.outbox.clone()))
    }

    /// Judges a recording, or its continuation after a checkpoint.
    fn judge<J: Judge + 'static, R: Read>(
        &self,
        intake: Intake,
        mut reader: Reader<R>,
    ) -> Result<Object, Ended> {
        let Self { reading, .. } = self;
        let whole = reading.whole;
        let declaration = match self.resumed {
            Some(checkpoint) => checkpoint.declaration(),
            None => reader.declaration().clone(),
        };
        if let Err(error) = J::new(declaration.clone()) {
            reading.lose(
                self.number,
                &J::Kind::refused(&Origins::default(), Location::START, error, None),
            );
            return Ok(J::Kind::OBJECT);
        }
        self.require_keys(&reader)?;
        let format = reader.format();
        let (names, are_declared) = (reader.names(), reader.are_declared());
        let mut dealer = self.dealer::<J>(intake, format, &declaration, &names)?;
        let keep = |at: Location, objects: Vec<Saved>, began: Instant| {
            // An alarm that could not be printed must not enter a checkpoint.
            if whole.stop.load(Ordering::Relaxed) {
                return;
            }
            let (bytes, lines) = self.begin();
            let at = Location { line: at.line + lines, offset: at.offset + bytes, ..at };
            let checkpoint = Checkpoint::at(at, (format, J::Kind::OBJECT), &declaration, objects);
            let text = checkpoint.with_names(&names.get(), are_declared).text();
            let _ = reading.notices.send(Notice::Kept(self.number, text, began.elapsed()));
        };
        // Earlier requests for checkpoints are still open.
        let (mut since, mut kept) = (0_u64, 0);
        let mut times = times::Watch::new(self.name, reader.noticed(), self.begin());
        let end = loop {
            if whole.stop.load(Ordering::Relaxed) {
                break None;
            }
            let next = match dealer.next(&mut reader) {
                None => break Some(reader.place()),
                Some(Ok(next)) => next,
                // An unfinished line.
                Some(Err(_)) if STOP.load(Ordering::Relaxed) => break None,
                Some(Err(error)) => {
                    reading.lose(self.number, &self.placed(error.into()));
                    break None;
                }
            };
            since += 1;
            if self.outbox.was_read() || since.is_multiple_of(STRIDE) {
                times.save_if_due(false);
                let wanted = whole.wanted.load(Ordering::Relaxed);
                if wanted != kept {
                    kept = wanted;
                    let began = Instant::now();
                    keep(next.location(), dealer.save(next.location()), began);
                }
            }
            dealer.deal(&next, &mut reader);
        };
        times.save_if_due(true);
        let (events, objects) = self.outbox.count();
        whole.count(events, objects);
        let began = Instant::now();
        let end = end.filter(|_| whole.monitor.checkpoint.is_some());
        let objects = dealer.end(end);
        if let Some(at) = end {
            keep(at, objects, began);
        }
        Ok(J::Kind::OBJECT)
    }

    /// Checks that objects have keys in the checkpoint if they have keys here.
    fn require_keys<R: Read>(&self, reader: &Reader<R>) -> Result<(), Ended> {
        let objects = self.resumed.map_or(&[][..], |checkpoint| &checkpoint.objects);
        if objects.iter().all(|saved| saved.key.is_some() == reader.is_keyed()) {
            return Ok(());
        }
        let (held, found) =
            if reader.is_keyed() { ("without", "with") } else { ("with", "without") };
        Err(self.reading.fatal(format_args!(
            "{}: the checkpoint is of a recording {held} keys, and this one is {found} keys: is it \
             another one?",
            self.name
        )))
    }
}
