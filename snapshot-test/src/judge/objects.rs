//! Judging recordings of several objects, distinguished by keys.
//!
//! Linearizability is local (Herlihy and Wing 1990, Theorem 1): the whole is linearizable iff each
//! object's part is. So each object has its own judges, in memory bounded by its overlapping
//! operations. One thread reads; each of the others judges some of the objects, by their numbers.
//! Objects that remain undecided, or whose proof is wanted, are read again, in groups that fit in
//! memory, and checked in parallel as separate recordings.

mod second;
pub(super) mod survey;

use super::reading::{FirstReading, Standing};
use super::{Class, Counts, Finding, Judgement, Options};
use crate::Value;
use crate::input::{InputReader, OpenError, Replay};

/// Number of failing objects that are explained; for others, only the verdict and its position are
/// reported.
pub const MOST_PROOFS: usize = 1000;

/// The answer for a recording of several objects.
#[derive(Debug)]
pub struct Objects {
    /// The criterion of each object: `linearizable` or `set-linearizable`.
    pub criterion: &'static str,
    pub linearizable: u64,
    /// Number of objects that are not linearizable.
    pub violations: u64,
    /// Number of undecided objects.
    pub unknown: u64,
    /// The objects that are not linearizable, then the undecided ones, each in the order in which
    /// objects first occur; last, if linearizations are wanted, all others.
    pub parts: Vec<Part>,
    /// The error of the input behind the violations, if any.
    pub malformed: Option<OpenError>,
}

impl Objects {
    pub const fn total(&self) -> u64 {
        self.linearizable + self.violations + self.unknown
    }

    /// Returns the parts that are not linearizable, or undecided.
    pub fn failing(&self) -> &[Part] {
        let failing = (self.violations + self.unknown) as usize;
        &self.parts[..failing.min(self.parts.len())]
    }
}

#[derive(Debug)]
pub struct Part {
    pub key: Value,
    /// The judgement of its events, which are numbered as if there were no others.
    pub judgement: Judgement,
    /// The path of its certificate, if written.
    pub certificate: Option<String>,
}

/// Judges a recording of several objects.
pub(super) fn judge<R: FirstReading>(
    reader: InputReader,
    replay: Option<&Replay>,
    options: &Options,
) -> Judgement {
    let format = Some(reader.format());
    let surveyed = match survey::survey::<R>(reader, replay, options) {
        Ok(surveyed) => surveyed,
        Err(error) => {
            return Judgement::new(format, Counts::default(), Finding::Malformed(error));
        }
    };
    let mut counts = Counts::default();
    for object in &surveyed.objects {
        counts.add(object.reading.counts());
    }
    let has_violation =
        surveyed.objects.iter().any(|object| object.reading.standing() == Standing::Violation);
    if let (false, Some(_)) = (has_violation, &surveyed.error) {
        let error = surveyed.error.expect("it is there");
        return Judgement::new(format, counts, Finding::Malformed(error.into()));
    }
    let finding = match second::decide(surveyed, replay, options) {
        Ok(objects) => Finding::Objects(Box::new(objects)),
        Err(error) => Finding::Malformed(error),
    };
    Judgement::new(format, counts, finding)
}

/// Collects the parts with their verdicts, in order; `quiet` is the number of further linearizable
/// objects.
pub(super) fn objects(
    criterion: &'static str,
    parts: Vec<Part>,
    quiet: u64,
    malformed: Option<OpenError>,
) -> Objects {
    let severity = |part: &Part| match part.judgement.finding.class() {
        Class::Violation => 0,
        Class::Right => 2,
        _ => 1,
    };
    let mut parts = parts;
    parts.sort_by_key(severity);
    let count = |wanted| parts.iter().filter(|part| severity(part) == wanted).count() as u64;
    Objects {
        criterion,
        linearizable: quiet + count(2),
        violations: count(0),
        unknown: count(1),
        parts,
        malformed,
    }
}
