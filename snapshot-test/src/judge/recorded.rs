//! Judging recordings of objects with named operations.

use super::objects::{Part, objects};
use super::{Counts, Finding, Judgement, Options};
use crate::Value;
use crate::format::Format;
use crate::input::{Gauge, Input, OpenError};
use crate::synchronisation::{self, Object};

/// Judges a recording of an object with named operations, or of several with keys: each by itself,
/// or only the one with the key. The gauge shows the progress of reading.
pub fn judge_recorded(
    object: &Object,
    input: &Input,
    format: Option<Format>,
    key: Option<&Value>,
    options: &Options,
    gauge: &Gauge,
) -> Judgement {
    let judged = input.bytes(gauge).and_then(|bytes| {
        synchronisation::judge(object, bytes, format, key, options).map_err(OpenError::from)
    });
    match judged {
        Ok(judged) => collected(object, judged),
        Err(error) => Judgement::new(format, Counts::default(), Finding::Malformed(error)),
    }
}

/// Returns the judgement of the only object, or that of several.
fn collected(object: &Object, mut judged: Vec<synchronisation::Judgement>) -> Judgement {
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
        let part = |one: synchronisation::Judgement| {
            let key = one.key.clone()?;
            Some(Part { key, judgement: alone(one), certificate: None })
        };
        let parts = judged.into_iter().filter_map(part).collect();
        Finding::Objects(Box::new(objects(object.criterion(), parts, 0, None)))
    };
    Judgement { backwards, ..Judgement::new(format, counts, finding) }
}
