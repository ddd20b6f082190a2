//! Inputs on which two judges contradict each other: they are kept, since they are the only
//! evidence of the fault.

use std::path::PathBuf;

use snapshot_core::verdict::Dispute;

use super::{Finding, Judgement, immediate};
use crate::Value;
use crate::input::Replay;
use crate::synchronisation;

/// An input on which two judges contradict each other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Disputed {
    pub dispute: Dispute,
    /// The key of the object, of several.
    pub key: Option<Value>,
    /// The file with the input; `None` if it was not kept.
    pub kept: Option<PathBuf>,
}

impl From<Dispute> for Disputed {
    fn from(dispute: Dispute) -> Self {
        Self { dispute, key: None, kept: None }
    }
}

impl Disputed {
    /// Returns a line with the place of the recording, and advice.
    pub fn evidence(&self) -> String {
        match &self.kept {
            Some(kept) => format!("the recording is kept, for the report: {}", kept.display()),
            None => "help: keep the recording, for the report".into(),
        }
    }
}

impl Finding {
    /// Returns the contradiction, if any, also in one object of several.
    pub(crate) fn disputed(&self) -> Option<Disputed> {
        match self {
            Self::Disputed(disputed) => Some(disputed.clone()),
            Self::Immediate(immediate::Finding::Disputed(dispute)) => Some((*dispute).into()),
            Self::Recorded(judgement) => match judgement.finding {
                synchronisation::Finding::Disputed(dispute) => Some(dispute.into()),
                _ => None,
            },
            Self::Objects(objects) => objects.parts.iter().find_map(|part| {
                let found = part.judgement.finding.disputed()?;
                Some(Disputed { key: Some(part.key.clone()), ..found })
            }),
            _ => None,
        }
    }
}

/// Returns the judgement; if two judges contradict each other, keeps the input.
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
