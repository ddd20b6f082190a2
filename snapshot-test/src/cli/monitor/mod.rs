//! `snapshot-test monitor`: judges a recording while it is being made.

mod all;
mod clocks;
mod gathered;
mod inputs;
mod printer;
mod reading;
mod recorded;

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use snapshot_io::{escape, quantity};
use snapshot_test::format::{Object, Reader};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{Checkpoint, CheckpointError, Exchanges, Judge, Live, Snapshots};
use snapshot_test::synchronisation::Object as RecordedObject;
use snapshot_test::{InputError, Next, Origins, SnapshotKind, Value};

use self::all::Resumed;
use self::clocks::{Clocks, Keeper};
use self::inputs::Input;
use super::check::ReportFormat;
use super::cluster::Processes;
use super::{TROUBLE, print, times, trouble};

/// Set by Ctrl-C: the events so far are reported. A second one ends the program immediately.
static STOP: AtomicBool = AtomicBool::new(false);

/// Judges recordings while they are being made, however long: standard input, files that
/// grow, or connections.
///
/// Ends at the first event that no order explains, with the argument (with --all, of each object);
/// else at the end of the input, or at Ctrl-C. Exit code: 1 if there is a violation, 2 if the
/// input is bad, 3 if it could not be decided, else 0.
#[derive(Debug, Args)]
pub struct Monitor {
    /// Wait for more where the file ends.
    #[arg(long)]
    follow: bool,
    /// Listen for connections instead, which are read one after the other: 127.0.0.1:PORT.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "follow")]
    listen: Option<SocketAddr>,
    /// In recordings of several objects, or several recordings, judge each object to its own first
    /// violation: alarms are printed immediately, the other objects continue, and a summary ends
    /// it.
    #[arg(long)]
    all: bool,
    /// The recording is of this object with named operations, as with `check --object`: one input,
    /// whose events are kept up to an alarm.
    #[arg(long, value_name = "OBJECT", conflicts_with_all = ["checkpoint", "workers", "status", "cluster"])]
    object: Option<RecordedObject>,
    /// With --object: the value before the first operation, as with `check --initial`.
    #[arg(long, requires = "object", value_name = "VALUE", value_parser = super::format::key,
          allow_negative_numbers = true)]
    initial: Option<Value>,
    /// With --all: number of judging threads, each for some of the objects, besides one that reads.
    /// Alarms and summary do not depend on it.
    #[arg(long, value_name = "W", default_value = "1", requires = "all")]
    workers: NonZeroUsize,
    /// With --all: alarms and the summary for people, or as one JSON object per line.
    #[arg(long, value_enum, default_value = "human", requires = "all")]
    report: ReportFormat,
    /// Keep a checkpoint in this file; if it exists, resume from it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints, while events come: 0.1, 60.
    #[arg(long, value_name = "S", default_value = "1", requires = "checkpoint", value_parser = quantity::seconds)]
    every: Duration,
    /// Seconds between two progress lines on standard error; 0: none (default: 10 if that is a
    /// terminal, else 0).
    #[arg(long, value_name = "S", value_parser = quantity::seconds)]
    status: Option<Duration>,
    /// Bytes that an exact search may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, visible_alias = "memory", value_name = "BYTES", default_value = "1G", value_parser = quantity::bytes::<usize>)]
    budget_memory: usize,
    /// Seconds that an exact search may take.
    #[arg(long, visible_alias = "time", value_name = "S", default_value = "60", value_parser = quantity::seconds)]
    budget_seconds: Duration,
    #[command(flatten)]
    processes: Processes,
    /// Recordings, text or JSON Lines: files, folders (all files below them), `-` for standard
    /// input, and tcp://127.0.0.1:PORT for connections. Several are read concurrently; each object
    /// belongs to one of them. By default standard input, and with --cluster no input.
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
}

impl Monitor {
    pub fn run(mut self) -> ExitCode {
        if self.inputs.is_empty() && !self.processes.is_cluster() {
            self.inputs.push(PathBuf::from("-"));
        }
        match self.monitor() {
            Ok(code) | Err(code) => code,
        }
    }

    fn monitor(&self) -> Result<ExitCode, ExitCode> {
        let is_standard = self.inputs == [Path::new("-")];
        if is_standard && self.follow {
            return Err(trouble("--follow is for a file; standard input is waited for anyway"));
        }
        if !is_standard && !self.inputs.is_empty() && self.listen.is_some() {
            return Err(trouble(
                "--listen reads connections and nothing else: leave out the files, or write \
                 tcp://127.0.0.1:PORT beside them",
            ));
        }
        let stop = || {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(TROUBLE));
            }
        };
        ctrlc::set_handler(stop)
            .map_err(|error| trouble(format_args!("cannot listen to Ctrl-C: {error}")))?;
        let (inputs, resumed) = match self.prepared() {
            Err(_) if self.processes.is_cluster() => {
                return Ok(self.processes.give_up(|| self.task(), self.outlet()));
            }
            prepared => prepared?,
        };
        let object = RecordedObject::chosen(self.object.clone(), self.initial.clone());
        if let Some(object) = object.map_err(trouble)? {
            return match <[Input; 1]>::try_from(inputs) {
                Ok([input]) => self.watch_recorded(&object, input),
                Err(_) => Err(trouble("--object is for one input: start a monitor for each")),
            };
        }
        if self.all || self.is_several() {
            return self.watch_all(inputs, &resumed);
        }
        let Ok([input]) = <[Input; 1]>::try_from(inputs) else {
            unreachable!("a folder or several arguments are several inputs")
        };
        let name = input.name.clone();
        let resumed = resumed.of(&name);
        let input = input.open(resumed).map_err(trouble)?;
        let opened = inputs::reader(input, resumed)
            .map_err(|error| trouble(format_args!("{name}: cannot read: {error}")))?;
        let reader = match opened {
            Ok(reader) => reader,
            // No new events: the checkpoint stands.
            Err(_) if resumed.is_some() || STOP.load(Ordering::Relaxed) => {
                return Ok(print(&format!("{name}: nothing new\n")));
            }
            Err(error) => return Err(trouble(InputError::from(error).report(&name))),
        };
        match reader.object() {
            Object::Snapshot => self.watch::<Snapshots, _>(&name, reader, resumed),
            Object::Immediate => self.watch::<Exchanges, _>(&name, reader, resumed),
        }
    }

    /// Returns all inputs, and their checkpoints.
    fn prepared(&self) -> Result<(Vec<Input>, Resumed), ExitCode> {
        let resumed = Resumed::parse(self.kept()?.as_deref(), self.is_several());
        let resumed = resumed.map_err(|error| self.no_checkpoint(&error))?;
        if !self.all && resumed.has_ended() {
            return Err(self.no_checkpoint(&CheckpointError::All));
        }
        let inputs = self.named()?;
        let mut names = HashSet::new();
        if self.checkpoint.is_some()
            && let Some(alike) = inputs.iter().find(|input| !names.insert(&input.name))
        {
            return Err(trouble(format_args!(
                "two inputs are shown as {}, and a checkpoint could not tell one from the other: give \
                 one of them another name",
                alike.name
            )));
        }
        if let Some(missing) = resumed.missing(&inputs) {
            return Err(trouble(format_args!(
                "the checkpoint also covers {missing}, which is not named: name all its inputs, or use \
                 another file"
            )));
        }
        Ok((inputs, resumed))
    }

    /// Returns true if several inputs may be read: a folder may have several files.
    fn is_several(&self) -> bool {
        self.processes.is_cluster()
            || self.inputs.len() > 1
            || self.inputs.iter().any(|input| input.is_dir())
    }

    fn named(&self) -> Result<Vec<Input>, ExitCode> {
        match self.listen {
            Some(address) => Ok(vec![inputs::listening(address, &self.processes)?]),
            None => inputs::named(&self.inputs, self.follow, &self.processes),
        }
    }

    fn watch<J: Judge, R: Read>(
        &self,
        name: &str,
        mut reader: Reader<R>,
        resumed: Option<&Checkpoint>,
    ) -> Result<ExitCode, ExitCode> {
        let options = self.options();
        let mut live: Live<J> = match resumed {
            Some(checkpoint) => Live::resume(checkpoint, options)
                .map_err(|error| trouble(format_args!("{name}: {error}")))?,
            None => Live::new(reader.format(), reader.declaration().clone(), options),
        };
        live = live.with_names_of(&reader);
        let refused = |error: InputError| match resumed {
            Some(checkpoint) => {
                trouble(error.with_offset(checkpoint.bytes, checkpoint.lines).report(name))
            }
            None => trouble(error.report(name)),
        };
        reader.take_all();
        let mut clocks = Clocks::new(self.status, self.every);
        let mut keeper = Keeper::new(self.checkpoint.as_deref(), self.every);
        let begin = resumed.map_or((0, 0), |checkpoint| (checkpoint.bytes, checkpoint.lines));
        let mut times = times::Watch::new(name, reader.noticed(), begin);
        loop {
            let Next { key, location, event } = match J::Kind::next(&mut reader) {
                None => break,
                Some(Ok(next)) => next,
                // An unfinished line.
                Some(Err(_)) if STOP.load(Ordering::Relaxed) => break,
                Some(Err(error)) => return Err(refused(error.into())),
            };
            if clocks.is_time() {
                times.save_if_due(false);
                clocks.print(name, || clocks::progress(&live));
                if keeper.is_due() {
                    let began = Instant::now();
                    let checkpoint = live.checkpoint(location);
                    let checkpoint = checkpoint
                        .map_err(|error| trouble(Into::<CheckpointError>::into(error)))?;
                    keeper.keep(&checkpoint.text(), began);
                }
            }
            let observed = live.observe(key, location, &event);
            drop(event);
            match observed {
                Ok(false) => {}
                Ok(true) => break,
                Err(error) => {
                    let error =
                        J::Kind::refused(&Origins::default(), location, error, reader.excerpt());
                    return Err(refused(error.named(&reader.names().get())));
                }
            }
        }
        times.save_if_due(true);
        let (text, code) = live.report(&escape::name(name));
        let printed = print(&text);
        Ok(if printed == ExitCode::SUCCESS { ExitCode::from(code) } else { printed })
    }

    /// The budget of an exact search.
    fn options(&self) -> Options {
        Options {
            time: Some(self.budget_seconds),
            memory: self.budget_memory,
            ..Options::default()
        }
    }

    /// The budget of one of several workers for an exact search.
    fn shared_options(&self) -> Options {
        Options { memory: self.budget_memory / self.workers, ..self.options() }
    }

    /// Returns the text of the checkpoint, if any.
    fn kept(&self) -> Result<Option<String>, ExitCode> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(trouble(format_args!("cannot read {}: {error}", path.display()))),
        }
    }

    fn no_checkpoint(&self, error: &CheckpointError) -> ExitCode {
        let path = self.checkpoint.as_deref().unwrap_or(Path::new("")).display();
        trouble(format_args!("{path}: {error}"))
    }
}
