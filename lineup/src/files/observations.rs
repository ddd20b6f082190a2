//! Observation files: the serial histories of a test, as JSON Lines.
//!
//! A header, then a line per group, with the responses that each thread saw and the orders in which
//! the threads' operations were executed:
//!
//! ```json
//! {"format":"lineup-observations","version":1,"subject":"Queue","test":[["add(200)","add(400)"],["take()","try_take()"]],"complete":true}
//! {"threads":[["()","()"],["200","Some(400)"]],"orders":["AABB","ABAB"]}
//! {"threads":[[],["#"]],"orders":["B#"]}
//! ```
//!
//! Letters name columns; the next two are the initial and the final sequence, where there
//! are any. `#` is an operation that is stuck.

use serde::{Deserialize, Serialize};
use snapshot_core::observation::{Observations, SerialHistory, Shape, Thread};

use super::{FileError, parse};
use crate::matrix::Test;
use crate::subject::{Answer, Invocation};

const FORMAT: &str = "lineup-observations";

#[derive(Deserialize, Serialize)]
struct Header {
    format: String,
    version: u32,
    subject: String,
    test: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    init: Vec<String>,
    #[serde(default, rename = "final", skip_serializing_if = "Vec::is_empty")]
    finally: Vec<String>,
    complete: bool,
}

#[derive(Deserialize, Serialize)]
struct Group {
    threads: Vec<Vec<String>>,
    orders: Vec<String>,
}

/// The contents of an observation file.
#[derive(Clone, Debug)]
pub struct ObservationFile {
    /// The name of the subject.
    pub subject: String,
    /// The texts of the test: columns, initial and final sequence.
    pub test: Vec<Vec<String>>,
    /// True if these are all serial histories.
    pub complete: bool,
    /// The histories, with responses as texts.
    pub observations: Observations<String>,
}

/// Returns the lines of the file.
pub fn observation_lines(
    test: &Test,
    observations: &Observations<Answer>,
    complete: bool,
) -> String {
    let names = |sequence: &[Invocation]| {
        sequence.iter().map(|invocation| invocation.text().to_owned()).collect::<Vec<_>>()
    };
    let header = Header {
        format: FORMAT.to_owned(),
        version: 1,
        subject: test.subject().name().to_owned(),
        test: test.columns().iter().map(|column| names(column)).collect(),
        init: names(test.initial()),
        finally: names(test.finally()),
        complete,
    };
    let shown = if header.init.is_empty() && header.finally.is_empty() {
        test.columns().len()
    } else {
        test.columns().len() + 2
    };
    let mut text = json(&header);
    for group in observations.groups() {
        let mut threads: Vec<Vec<String>> = group.responses()[..shown]
            .iter()
            .map(|responses| responses.iter().map(|r| format!("{r:?}")).collect())
            .collect();
        if let Some(thread) = group.stuck() {
            threads[thread.index()].push("#".to_owned());
        }
        let orders = group.histories().map(|history| history.letters()).collect();
        text.push_str(&json(&Group { threads, orders }));
    }
    text
}

fn json<T: Serialize>(value: &T) -> String {
    // Structures of texts and numbers always have a JSON form.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

impl ObservationFile {
    /// Reads a file.
    ///
    /// # Errors
    /// At the first invalid line.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (_, first) = lines.next().unwrap_or((1, ""));
        let header: Header = parse(1, first)?;
        if header.format != FORMAT || header.version != 1 {
            let (given, version) = (header.format, header.version);
            return Err(FileError::Format { given, version, expected: FORMAT });
        }
        let mut test = header.test;
        test.extend([header.init, header.finally]);
        let shape = Shape::new(&test.iter().map(Vec::len).collect::<Vec<_>>())
            .map_err(|error| FileError::Json { line: 1, message: error.to_string() })?;
        let mut observations = Observations::new(shape);
        for (line, text) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let group: Group = parse(line, text)?;
            for order in &group.orders {
                let wrong = || FileError::Order { line, order: order.clone() };
                let history = history(order, &group.threads).ok_or_else(wrong)?;
                observations.insert(history).map_err(|_| wrong())?;
            }
        }
        let (subject, complete) = (header.subject, header.complete);
        Ok(Self { subject, test, complete, observations })
    }
}

/// Returns the history of an order, from the responses that the threads saw.
fn history(order: &str, threads: &[Vec<String>]) -> Option<SerialHistory<String>> {
    let mut next = [0; Thread::LIMIT + 1];
    let mut operations = Vec::new();
    let letters = order.trim_end_matches('#');
    for letter in letters.chars() {
        let thread = Thread::from_letter(letter)?;
        let response = threads.get(thread.index())?.get(next[thread.index()])?;
        next[thread.index()] += 1;
        operations.push((thread, response.clone()));
    }
    let mut stuck = None;
    if letters.len() < order.len() {
        let (thread, sign) = operations.pop()?;
        if sign != "#" {
            return None;
        }
        stuck = Some(thread);
    }
    Some(SerialHistory { operations, stuck })
}
