//! Explanations of an immediate snapshot: blocks instead of an order.

use snapshot_core::immediate::{History, SetLinearization};
use snapshot_core::{Names, OperationId};
use snapshot_picture::columns::{Columns, encode_exchanges};
use snapshot_picture::diagram::Diagram;
use snapshot_picture::page::Form;

use super::{Subject, events_through, name};
use crate::Value;
use crate::format::Location;
use crate::input::{InputReader, OpenError};
use crate::judge::immediate::{Finding, Violation, judge_recording};
use crate::judge::{self, Judgement};
use crate::read::read_exchanges;
use crate::report;

/// The recording of an immediate snapshot in memory, with its judgement.
pub(super) struct Exchanges {
    history: History<Value>,
    locations: Vec<Location>,
    judgement: Judgement,
}

impl Exchanges {
    pub(super) fn new(reader: InputReader) -> Result<Self, OpenError> {
        let (format, noticed, names) = (reader.format(), reader.noticed(), reader.names());
        let (history, locations) = read_exchanges(reader)?;
        let judgement = judge_recording(format, history.clone(), locations.clone());
        let judgement = judgement.named(names.get());
        let judgement = Judgement { backwards: noticed.backwards(), ..judgement };
        Ok(Self { history, locations, judgement })
    }

    fn violation(&self) -> Option<&Violation> {
        match &self.judgement.finding {
            judge::Finding::Immediate(Finding::Violation(violation)) => Some(violation),
            _ => None,
        }
    }

    fn blocks(&self) -> Option<&SetLinearization> {
        match &self.judgement.finding {
            judge::Finding::Immediate(Finding::SetLinearizable(blocks)) => blocks.as_ref(),
            _ => None,
        }
    }
}

impl Subject for Exchanges {
    fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    fn operations(&self) -> usize {
        self.history.operations().len()
    }

    fn is_refuted(&self) -> bool {
        self.violation().is_some()
    }

    fn diagram(&self, names: &Names) -> Diagram {
        match self.violation() {
            Some(found) => {
                Diagram::of_exchange_violation(&self.history, &found.alarm.violation, names)
            }
            None => Diagram::of_exchanges(&self.history, self.blocks(), names),
        }
    }

    fn words(&self, diagram: &Diagram) -> Option<Vec<String>> {
        if let Some(found) = self.violation() {
            let violation = &found.alarm.violation;
            let name = |id| name(diagram, id);
            return Some(vec![violation.argument(&self.history, &diagram.names, name)]);
        }
        let blocks = self.blocks()?;
        let effects: usize = blocks.blocks().map(<[_]>::len).sum();
        Some(vec![format!(
            "There are {} blocks of {effects} operations, each block with an instant between \
             the invocation and the end of each of its operations, such that every operation \
             returns what the segments hold when all operations of its block have written. \
             Green points are these instants; the keys n and p follow the blocks.",
            blocks.len()
        )])
    }

    fn columns(&self, is_empty: bool) -> Columns {
        if is_empty {
            let empty = History::builder(self.history.declaration().clone());
            return empty
                .map_or_else(|_| Columns::default(), |one| encode_exchanges(&one.finish(), None));
        }
        encode_exchanges(&self.history, self.blocks())
    }

    fn form(&self) -> Form {
        Form::Exchanges
    }

    fn place(&self, _: OperationId, event: usize) -> Option<String> {
        self.locations.get(event).map(ToString::to_string)
    }

    fn decided_at(&self) -> Option<usize> {
        self.violation().map(|found| found.alarm.event)
    }

    fn event_behind(&self, line: u64) -> usize {
        events_through(&self.locations, line)
    }

    fn summary(&self) -> String {
        format!("{}; immediate snapshot, by four conditions", report::summary(&self.judgement))
    }
}
