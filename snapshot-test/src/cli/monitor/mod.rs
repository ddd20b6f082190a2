//! `snapshot-test monitor`: a recording that is judged while it is being made.

mod all;
mod clocks;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use snapshot_io::{escape, output, quantity};
use snapshot_test::InputError;
use snapshot_test::format::{Format, Object, Reader};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{
    Checkpoint, CheckpointError, Exchanges, Follow, Interruptible, Judge, Listen, Live, Next,
    Outbox, Snapshots,
};

use self::clocks::{Clocks, Keeper};
use super::check::ReportFormat;
use super::{print, trouble};

/// Set by Ctrl-C: what has been read is reported.
static STOP: AtomicBool = AtomicBool::new(false);

/// Judges a recording while it is being made, however long: standard input, a file that
/// grows, or connections.
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
    /// Of a recording of several objects, judge each to its own first violation: alarms are
    /// printed as they come, the other objects go on, and a summary ends it.
    #[arg(long)]
    all: bool,
    /// With --all: threads that judge, each some of the objects; one more reads. Alarms and
    /// summary are the same for any number of them.
    #[arg(long, value_name = "W", default_value = "1", requires = "all")]
    workers: NonZeroUsize,
    /// With --all: alarms and the summary for people, or as one JSON object per line.
    #[arg(long, value_enum, default_value = "human", requires = "all")]
    report: ReportFormat,
    /// Keep where to go on in this file; if it is there, go on from it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints, while events come: 0.1, 60.
    #[arg(long, value_name = "S", default_value = "1", requires = "checkpoint", value_parser = quantity::seconds)]
    every: Duration,
    /// Seconds between two lines on standard error that say how far it is; 0: none
    /// (default: 10 if that is a terminal, else 0).
    #[arg(long, value_name = "S", value_parser = quantity::seconds)]
    status: Option<Duration>,
    /// Bytes that an exact search may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, visible_alias = "memory", value_name = "BYTES", default_value = "1G", value_parser = quantity::bytes::<usize>)]
    budget_memory: usize,
    /// Seconds that an exact search may take.
    #[arg(long, visible_alias = "time", value_name = "S", default_value = "60", value_parser = quantity::seconds)]
    budget_seconds: Duration,
    /// The recording, text or JSON Lines; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

impl Monitor {
    pub fn run(self) -> ExitCode {
        match self.monitor() {
            Ok(code) | Err(code) => code,
        }
    }

    fn monitor(&self) -> Result<ExitCode, ExitCode> {
        let is_standard = self.input == Path::new("-");
        if is_standard && self.follow {
            return Err(trouble("--follow is for a file; standard input is waited for anyway"));
        }
        if !is_standard && self.listen.is_some() {
            return Err(trouble("--listen reads connections: leave out the file"));
        }
        if self.input.is_dir() {
            return Err(trouble(format_args!(
                "{} is a folder, and one recording is judged at a time: name a file of it (`check` \
                 takes folders)",
                self.input.display()
            )));
        }
        let resumed = self.resumed()?;
        let (name, input) = self.open(resumed.as_ref())?;
        if let Some(Checkpoint { lines, .. }) = &resumed {
            output::report(format_args!("{name}: going on at line {}", lines + 1));
        }
        let outbox = Outbox::default();
        let mut input = BufReader::new(outbox.before(input));
        let format = match &resumed {
            Some(checkpoint) => checkpoint.input_format(),
            None => detected(&mut input)
                .map_err(|error| trouble(format_args!("{name}: cannot read: {error}")))?,
        };
        let opened = match format {
            Some(Format::Jsonl) => Reader::jsonl(input),
            _ => Reader::text(input),
        };
        let reader = match opened {
            Ok(reader) => reader,
            // Nothing has come since: what the checkpoint holds stands.
            Err(_) if resumed.is_some() || STOP.load(Ordering::Relaxed) => {
                return match resumed.as_ref().filter(|_| self.all) {
                    None => Ok(print(&format!("{name}: nothing new\n"))),
                    Some(checkpoint) => match checkpoint.input_object() {
                        Some(Object::Immediate) => self.unchanged::<Exchanges>(&name, checkpoint),
                        _ => self.unchanged::<Snapshots>(&name, checkpoint),
                    },
                };
            }
            Err(error) => return Err(trouble(InputError::from(error).report(&name))),
        };
        if self.all && !reader.is_keyed() {
            return Err(trouble(format_args!(
                "{name}: --all is for recordings of several objects, each event with a key (`@1 p0 \
                 update 5`), and this one has no keys\nhelp: leave out --all"
            )));
        }
        let reader = match resumed.as_ref().and_then(Checkpoint::input_object) {
            Some(object) => reader.within(object),
            None => reader,
        };
        let resumed = resumed.as_ref();
        match (reader.object(), self.all) {
            (Object::Snapshot, false) => self.watch::<Snapshots, _>(&name, reader, resumed),
            (Object::Immediate, false) => self.watch::<Exchanges, _>(&name, reader, resumed),
            (Object::Snapshot, true) => {
                self.watch_all::<Snapshots, _>(&name, reader, outbox, resumed)
            }
            (Object::Immediate, true) => {
                self.watch_all::<Exchanges, _>(&name, reader, outbox, resumed)
            }
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
        let refused = |error: InputError| match resumed {
            Some(checkpoint) => {
                trouble(error.behind(checkpoint.bytes, checkpoint.lines).report(name))
            }
            None => trouble(error.report(name)),
        };
        let mut clocks = Clocks::new(self.status, self.every);
        let mut keeper = Keeper::new(self.checkpoint.as_deref(), self.every);
        loop {
            let Next { key, location, event } = match J::next(&mut reader) {
                None => break,
                Some(Ok(next)) => next,
                // The line that is being written.
                Some(Err(_)) if STOP.load(Ordering::Relaxed) => break,
                Some(Err(error)) => return Err(refused(error.into())),
            };
            if clocks.is_time(false) {
                clocks.tell(name, |_| clocks::progress(&live));
                if keeper.is_due() {
                    let began = Instant::now();
                    let checkpoint = live.checkpoint(location);
                    let checkpoint = checkpoint
                        .map_err(|error| trouble(Into::<CheckpointError>::into(error)))?;
                    keeper.keep(&checkpoint, began);
                }
            }
            let observed = live.observe(key, location, &event);
            drop(event);
            match observed {
                Ok(false) => {}
                Ok(true) => break,
                Err(error) => {
                    return Err(refused(J::refused(location, error, reader.excerpt())));
                }
            }
        }
        let (text, code) = live.report(&escape::name(name));
        let printed = print(&text);
        Ok(if printed == ExitCode::SUCCESS { ExitCode::from(code) } else { printed })
    }

    /// What an exact search may take.
    fn options(&self) -> Options {
        Options {
            time: Some(self.budget_seconds),
            memory: self.budget_memory,
            ..Options::default()
        }
    }

    /// Where to go on, if there is a checkpoint.
    fn resumed(&self) -> Result<Option<Checkpoint>, ExitCode> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(trouble(format_args!("cannot read {}: {error}", path.display())));
            }
        };
        let checkpoint = Checkpoint::parse(&text);
        checkpoint.map(Some).map_err(|error| trouble(format_args!("{}: {error}", path.display())))
    }

    /// The input with its name, from where it is to be gone on with.
    fn open(&self, resumed: Option<&Checkpoint>) -> Result<(String, Box<dyn Read>), ExitCode> {
        ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed))
            .map_err(|error| trouble(format_args!("cannot listen to Ctrl-C: {error}")))?;
        if let Some(address) = self.listen {
            let cannot = |error| trouble(format_args!("cannot listen at {address}: {error}"));
            let listen = Listen::new(address, &STOP).map_err(cannot)?;
            let name = format!("connections to {}", listen.address().map_err(cannot)?);
            output::report(format_args!("{name}: waiting"));
            return Ok((name, Box::new(listen)));
        }
        if self.input == Path::new("-") {
            let name = "standard input".to_owned();
            let input = standard_input()
                .map_err(|error| trouble(format_args!("cannot read {name}: {error}")))?;
            return Ok((name, Box::new(Interruptible::new(input, &STOP))));
        }
        let name = escape::name(&self.input.display().to_string()).into_owned();
        let cannot = |error: io::Error| trouble(format_args!("cannot read {name}: {error}"));
        let mut file = File::open(&self.input).map_err(cannot)?;
        if let Some(checkpoint) = resumed {
            let length = file.metadata().map_err(cannot)?.len();
            if length < checkpoint.bytes {
                return Err(trouble(format_args!(
                    "{name} has {length} bytes, but the checkpoint is behind byte {}: is it of \
                     another recording? (without the file of the checkpoint, it is read from its beginning)",
                    checkpoint.bytes
                )));
            }
            file.seek(SeekFrom::Start(checkpoint.bytes)).map_err(cannot)?;
        }
        let input: Box<dyn Read> = match self.follow {
            true => Box::new(Follow::new(file, &STOP)),
            false => Box::new(Interruptible::new(file, &STOP)),
        };
        Ok((name, input))
    }
}

/// Standard input without a buffer, of which none but the monitor reads.
#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;

    io::stdin().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<io::Stdin> {
    Ok(io::stdin())
}

/// The format, by the first byte that is not blank; `None` if there is nothing.
fn detected(input: &mut impl BufRead) -> io::Result<Option<Format>> {
    let first = input.fill_buf()?.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(first.map(|first| if *first == b'{' { Format::Jsonl } else { Format::Text }))
}
