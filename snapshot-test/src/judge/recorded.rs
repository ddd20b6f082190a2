//! Judging recordings of objects with named operations.

use super::objects::{Part, objects};
use super::{Class, Counts, Finding, Judgement, Options};
use crate::Value;
use crate::format::Format;
use crate::input::{Gauge, Input, OpenError};
use crate::synchronisation::{self, Object};

/// Judges a recording of an object with named operations, or of several with keys: each by itself,
/// or only the one with the key. A file is read event by event; it is held in memory only if that
/// leaves an answer open, or finds a violation, whose argument is about all operations. The gauge
/// shows the progress of each reading.
pub fn judge_recorded(
    object: &Object,
    input: &Input,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
    gauge: &Gauge,
) -> Judgement {
    match judged(object, input, format, key, options, gauge) {
        Ok(judged) => collected(object, judged, options.linearization),
        Err(error) => Judgement::new(format, Counts::default(), Finding::Malformed(error)),
    }
}

fn judged(
    object: &Object,
    input: &Input,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
    gauge: &Gauge,
) -> Result<Vec<synchronisation::Judgement>, OpenError> {
    if !input.is_stream() {
        let settled =
            synchronisation::judge_by_event(object, input.bytes(gauge)?, format, key, options)?;
        if let Some(judged) = settled {
            return Ok(judged);
        }
    }
    Ok(synchronisation::judge(object, input.bytes(gauge)?, format, key, options)?)
}

/// Returns the judgement of the only object, or that of several; those without a violation are
/// counted, or parts if all are wanted.
fn collected(
    object: &Object,
    mut judged: Vec<synchronisation::Judgement>,
    wants_all: bool,
) -> Judgement {
    let format = judged.first().and_then(|one| one.format);
    let backwards = judged.first().and_then(|one| one.backwards);
    let mut counts = Counts::default();
    for one in &judged {
        counts.add(one.counts);
    }
    let alone = |one: synchronisation::Judgement| {
        Judgement::new(one.format, one.counts, Finding::Recorded(Box::new(one)))
    };
    let finding = if judged.len() == 1 {
        alone(judged.remove(0)).finding
    } else {
        let all = judged.len();
        let part = |one: synchronisation::Judgement| {
            let key = one.key.clone()?;
            let judgement = alone(one);
            let is_part = wants_all || judgement.finding.class() != Class::Right;
            is_part.then_some(Part { key, judgement, certificate: None })
        };
        let parts: Vec<Part> = judged.into_iter().filter_map(part).collect();
        let quiet = (all - parts.len()) as u64;
        Finding::Objects(Box::new(objects(object.criterion(), parts, quiet, None)))
    };
    Judgement { backwards, ..Judgement::new(format, counts, finding) }
}
