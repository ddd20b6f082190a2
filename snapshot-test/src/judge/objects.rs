//! Judging recordings of several objects, told apart by keys.
//!
//! Linearizability is local (Herlihy and Wing 1990, Theorem 1): the whole is linearizable
//! iff each object's part is. So each object has judges of its own, in memory bounded by
//! what overlaps on it. One thread reads; the others each judge some of the objects, by
//! their numbers. Objects that this leaves undecided, and those whose proof is wanted, are
//! read again, in groups that fit in memory, and checked in parallel as recordings of
//! their own.

mod second;
mod survey;

use super::stream::Standing;
use super::{Counts, Finding, Judgement, Options, immediate};
use crate::Value;
use crate::format::Object;
use crate::input::{InputReader, OpenError, Replay};

/// A saturated relation forgets as soon as this many operations are held, so that many
/// objects take little memory.
pub(super) const KEPT: usize = 64;

/// Objects that fail and are explained; of more, only the verdict and its place are reported.
pub const MOST_PROOFS: usize = 1000;

/// The answer for a recording of several objects.
#[derive(Debug)]
pub struct Objects {
    /// What the objects are.
    pub object: Object,
    /// Number of objects that are linearizable.
    pub linearizable: u64,
    /// Number of objects that are not.
    pub violations: u64,
    /// Number of objects that could not be decided.
    pub unknown: u64,
    /// Those that are not linearizable, then those that could not be decided, each in the
    /// order in which objects first occur; last, if linearizations are wanted, all others.
    pub parts: Vec<Part>,
    /// What is wrong with the input behind the violations, if anything.
    pub malformed: Option<OpenError>,
}

impl Objects {
    /// Number of objects.
    pub const fn total(&self) -> u64 {
        self.linearizable + self.violations + self.unknown
    }

    /// The parts that are not linearizable, or could not be decided.
    pub fn failing(&self) -> &[Part] {
        let failing = (self.violations + self.unknown) as usize;
        &self.parts[..failing.min(self.parts.len())]
    }
}

/// One object of several.
#[derive(Debug)]
pub struct Part {
    /// Its key.
    pub key: Value,
    /// The judgement of its events; they are numbered as if there were no others.
    pub judgement: Judgement,
    /// Where its certificate was written, if it was.
    pub certificate: Option<String>,
}

/// Judges a recording of several objects.
pub(super) fn judge(reader: InputReader, replay: Option<&Replay>, options: &Options) -> Judgement {
    let format = Some(reader.format());
    let surveyed = match survey::survey(reader, replay, options) {
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

/// The parts with their verdicts, in their order; `quiet`: the number of linearizable objects
/// besides.
pub(super) fn objects(
    object: Object,
    parts: Vec<Part>,
    quiet: u64,
    malformed: Option<OpenError>,
) -> Objects {
    let severity = |part: &Part| match &part.judgement.finding {
        Finding::Violation(_) | Finding::Immediate(immediate::Finding::Violation(_)) => 0,
        Finding::Linearizable { .. }
        | Finding::Immediate(immediate::Finding::SetLinearizable(_)) => 2,
        _ => 1,
    };
    let mut parts = parts;
    parts.sort_by_key(severity);
    let count = |wanted| parts.iter().filter(|part| severity(part) == wanted).count() as u64;
    Objects {
        object,
        linearizable: quiet + count(2),
        violations: count(0),
        unknown: count(1),
        parts,
        malformed,
    }
}
