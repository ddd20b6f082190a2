//! What becomes of an input on which two judges contradict each other: it is kept, since nothing
//! else shows the fault.

use std::path::PathBuf;

use snapshot_core::verdict::Dispute;

use super::{Finding, Judgement, immediate};
use crate::Value;
use crate::input::Replay;

/// An input on which two judges contradict each other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Disputed {
    /// The contradiction.
    pub dispute: Dispute,
    /// The object, of several.
    pub key: Option<Value>,
    /// The file that has the input; `None` if nothing of it was kept.
    pub kept: Option<PathBuf>,
}

impl From<Dispute> for Disputed {
    fn from(dispute: Dispute) -> Self {
        Self { dispute, key: None, kept: None }
    }
}

impl Disputed {
    /// Where the recording is, and what to do with it: a line.
    pub fn evidence(&self) -> String {
        match &self.kept {
            Some(kept) => format!("the recording is kept, for the report: {}", kept.display()),
            None => "help: keep the recording, for the report".into(),
        }
    }
}

impl Finding {
    /// The contradiction, if there is one, also in one object of several.
    pub(crate) fn disputed(&self) -> Option<Disputed> {
        match self {
            Self::Disputed(disputed) => Some(disputed.clone()),
            Self::Immediate(immediate::Finding::Disputed(dispute)) => Some((*dispute).into()),
            Self::Objects(objects) => objects.parts.iter().find_map(|part| {
                let found = part.judgement.finding.disputed()?;
                Some(Disputed { key: Some(part.key.clone()), ..found })
            }),
            _ => None,
        }
    }
}

/// The judgement; if it is none, since two judges contradict each other, with the input kept.
pub(super) fn settled(judgement: Judgement, input: Option<&Replay>) -> Judgement {
    match judgement.finding.disputed() {
        Some(disputed) => {
            let kept = input.and_then(|input| input.keep().ok());
            let finding = Finding::Disputed(Disputed { kept, ..disputed });
            Judgement { finding, ..judgement }
        }
        None => judgement,
    }
}
