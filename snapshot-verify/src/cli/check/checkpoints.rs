//! A folder of saved searches.
//!
//! It holds `question.json`, which records the question and the build of this program, and one file
//! per search, named by its key. A file is written completely, flushed to the disk, and then
//! renamed to its place; a killed process leaves files that end in `.new`, which are removed. The
//! end of a file is the SHA-256 of everything before it, which is checked before any of it is used.
//! The meaning of a saved state depends on the build, so another build refuses the folder.

use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use snapshot_io::limited::{LINE_LIMIT, read_text};
use snapshot_io::output::report;
use snapshot_io::replacement::{UNFINISHED, write_durably};
use snapshot_verify::certificate::{digest, hexadecimal};
use snapshot_verify::search::checkpoint::{CheckpointError, CheckpointStore, Contents, Kept, Key};
use snapshot_verify::verify::Pairs;

use super::Check;
use crate::cli::input::{Input, Variant};
use crate::cli::progress::Ticker;
use crate::cli::trouble;

/// Default time between two checkpoints.
const EVERY: Duration = Duration::from_secs(300);

/// A search that ended sooner is repeated rather than saved, unless it was saved before.
const WORTH_KEEPING: Duration = Duration::from_secs(1);

const MAGIC: [u8; 16] = *b"snapshot-search1";

/// Next byte: the search was under way, or had ended.
const UNDER_WAY: u8 = 0;
const ENDED: u8 = 1;

const HEAD: u64 = MAGIC.len() as u64 + 1 + size_of::<Key>() as u64;

const SUM: u64 = 32;

const BUFFER: usize = 1 << 20;

/// Name of the file with the question.
const QUESTION: &str = "question.json";

pub(super) struct Checkpoints<'a> {
    folder: PathBuf,
    every: Duration,
    ticker: &'a Ticker,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Time of the last checkpoint, or of the start of the search.
    last: Instant,
    /// True if the search was saved.
    is_kept: bool,
    began: Instant,
}

impl Check {
    /// Opens the folder of checkpoints, if one is requested.
    pub(super) fn checkpoints<'a>(
        &self,
        cases: &[(&Input, Variant)],
        ticker: &'a Ticker,
    ) -> Result<Option<Checkpoints<'a>>, ExitCode> {
        let (folder, resumes) = match (&self.checkpoint, &self.resume) {
            (Some(folder), _) => (folder, false),
            (None, Some(folder)) => (folder, true),
            (None, None) => return Ok(None),
        };
        let shown = folder.display();
        let cannot = |error: io::Error| trouble(format_args!("cannot use {shown}: {error}"));
        let question = self.question(cases).map_err(cannot)?;
        let place = folder.join(QUESTION);
        match (place.exists(), resumes) {
            (true, false) => {
                return Err(trouble(format_args!(
                    "{shown} holds checkpoints: go on with --resume {shown}, or remove it"
                )));
            }
            (false, true) => {
                return Err(trouble(format_args!(
                    "{shown} holds no checkpoint: there is no {QUESTION}. Begin with --checkpoint \
                     {shown}"
                )));
            }
            (true, true) => {
                let text = read_text(&place, BUFFER, LINE_LIMIT);
                let text = text.map_err(|error| trouble(format_args!("{shown}: {error}")))?;
                if let Some(difference) = difference(&text, &question) {
                    return Err(trouble(format_args!(
                        "{}: {difference}: ask what was asked, or begin another folder with \
                         --checkpoint",
                        place.display()
                    )));
                }
                remove_unfinished(folder).map_err(cannot)?;
            }
            (false, false) => {
                fs::create_dir_all(folder).map_err(cannot)?;
                let text = format!("{}\n", Value::Object(question));
                write_durably(&place, |file| file.write_all(text.as_bytes())).map_err(cannot)?;
            }
        }
        let now = Instant::now();
        let state = Mutex::new(State { last: now, is_kept: false, began: now });
        let every = self.every.unwrap_or(EVERY);
        Ok(Some(Checkpoints { folder: folder.clone(), every, ticker, state }))
    }

    /// Returns the question: all options and inputs that the searches depend on.
    fn question(&self, cases: &[(&Input, Variant)]) -> io::Result<Map<String, Value>> {
        let algorithm = |(input, variant): &(&Input, Variant)| {
            let text = digest(input.algorithm.source().text());
            json!({ "name": input.name, "bug": variant.bug, "text": text })
        };
        let algorithms: Vec<Value> = cases.iter().map(algorithm).collect();
        let pairs = match self.pairs {
            Pairs::All => "all".to_owned(),
            Pairs::One(i, j) => format!("{},{}", i.index(), j.index()),
        };
        let request = self.request(2, snapshot_verify::verify::Method::Exploration);
        let mut build = Sha256::new();
        io::copy(&mut File::open(std::env::current_exe()?)?, &mut build)?;
        let question = json!({
            "program": concat!("snapshot-verify ", env!("CARGO_PKG_VERSION")),
            "build": hexadecimal(build),
            "algorithms": algorithms,
            "processes": self.sizes.0,
            "pairs": pairs,
            "operations": self.operations.all.to_string(),
            "barriers": self.barriers.to_string(),
            "reductions": request.reductions.to_string(),
        });
        Ok(question.as_object().cloned().unwrap_or_default())
    }
}

/// Describes how a saved question differs from the present one.
fn difference(text: &str, question: &Map<String, Value>) -> Option<String> {
    let Ok(Value::Object(kept)) = serde_json::from_str(text) else {
        return Some("it is damaged: it holds no JSON object".to_owned());
    };
    let (key, now) = question.iter().find(|(key, now)| kept.get(*key) != Some(*now))?;
    let was = kept.get(key).map_or_else(|| "missing".to_owned(), Value::to_string);
    Some(format!("what was kept is of another question, its {key} were {was} and are {now}"))
}

fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_str().is_some_and(|path| path.ends_with(UNFINISHED)) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

impl Checkpoints<'_> {
    pub(super) fn folder(&self) -> impl fmt::Display {
        self.folder.display()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &Key, kind: u8, contents: &mut Contents<'_>) {
        let written = write_durably(&self.folder.join(name(key)), |file| {
            let mut file = BufWriter::with_capacity(BUFFER, file);
            let mut out = Summing { out: &mut file, sum: Sha256::new() };
            out.write_all(&MAGIC)?;
            out.write_all(&[kind])?;
            out.write_all(key)?;
            contents(&mut out)?;
            let sum = out.sum.finalize();
            file.write_all(&sum)?;
            file.flush()
        });
        let mut state = self.state();
        state.last = Instant::now();
        match written {
            Ok(()) => state.is_kept = true,
            Err(error) => {
                self.ticker.clear();
                let (folder, before) = (self.folder(), if state.is_kept { "last" } else { "no" });
                report(format_args!(
                    "warning: cannot keep the search in {folder}: {error}; the {before} checkpoint \
                     stays, the search goes on, and the next try is in {} s",
                    self.every.as_secs_f64()
                ));
            }
        }
    }
}

impl fmt::Debug for Checkpoints<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl CheckpointStore for Checkpoints<'_> {
    fn key(&self, search: &dyn fmt::Debug) -> Key {
        struct Text(Sha256);
        impl fmt::Write for Text {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.update(text);
                Ok(())
            }
        }
        let mut text = Text(Sha256::new());
        let written = write!(text, "{search:?}");
        debug_assert!(written.is_ok(), "a hash takes any text");
        text.0.finalize().into()
    }

    fn open(&self, search: &Key) -> Result<Kept<'_>, CheckpointError> {
        let damaged = |what| CheckpointError::Damaged { what };
        let now = Instant::now();
        *self.state() = State { last: now, is_kept: false, began: now };
        let mut file = match File::open(self.folder.join(name(search))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::Nothing),
            file => file?,
        };
        let contents = file.metadata()?.len().checked_sub(HEAD + SUM);
        let contents = contents.ok_or(damaged("it ends early"))?;
        let mut input = BufReader::with_capacity(BUFFER, (&mut file).take(HEAD + contents));
        let mut sum = Sha256::new();
        io::copy(&mut input, &mut sum)?;
        let mut expected = Key::default();
        file.read_exact(&mut expected)?;
        if sum.finalize()[..] != expected {
            return Err(damaged("its SHA-256 is another one"));
        }
        file.seek(SeekFrom::Start(0))?;
        let mut head = [0; HEAD as usize];
        file.read_exact(&mut head)?;
        let (magic, rest) = head.split_at(MAGIC.len());
        if magic != MAGIC || rest[1..] != search[..] {
            return Err(damaged("it is of another search"));
        }
        self.state().is_kept = true;
        let mut rest_of_file = file.take(contents);
        match rest[0] {
            ENDED => {
                let mut record = Vec::new();
                rest_of_file.read_to_end(&mut record)?;
                Ok(Kept::Ended(record))
            }
            UNDER_WAY => {
                let input = BufReader::with_capacity(BUFFER, rest_of_file);
                Ok(Kept::UnderWay(Box::new(input)))
            }
            _ => Err(damaged("its kind is unknown")),
        }
    }

    fn place(&self, search: &Key) -> String {
        self.folder.join(name(search)).display().to_string()
    }

    fn is_due(&self) -> bool {
        self.state().last.elapsed() >= self.every
    }

    fn keep(&self, search: &Key, contents: &mut Contents<'_>) {
        self.write(search, UNDER_WAY, contents);
    }

    fn end(&self, search: &Key, record: &[u8]) {
        let is_worth_it = {
            let state = self.state();
            state.is_kept || state.began.elapsed() >= WORTH_KEEPING
        };
        if is_worth_it {
            self.write(search, ENDED, &mut |out| out.write_all(record));
        }
    }
}

/// Returns the name of a search's file.
fn name(key: &Key) -> String {
    let [a, b, c, d, e, f, g, h, ..] = *key;
    format!("{:016x}.search", u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// Writer that forwards its bytes and hashes them.
struct Summing<'a> {
    out: &'a mut dyn Write,
    sum: Sha256,
}

impl Write for Summing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
