//! Explanations of an immediate snapshot: blocks instead of an order.

use snapshot_core::immediate::{History, SetLinearization};
use snapshot_picture::columns::{Columns, MOST_ENTRIES, encode_exchanges};
use snapshot_picture::diagram::Diagram;
use snapshot_picture::page::{Answer, Guilty, Page, Recording as Drawn};

use super::{
    Comment, FEW_OPERATIONS, MOST_OPERATIONS, annotations, guilty, name, noted, origin, too_long,
    unproved,
};
use crate::Value;
use crate::format::Location;
use crate::input::{InputReader, OpenError, Replay};
use crate::judge::immediate::{Finding, Violation, judge_recording};
use crate::judge::{self, Judgement};
use crate::read::read_exchanges;
use crate::report;

/// The recording of an immediate snapshot in memory, with its judgement.
#[derive(Debug)]
pub struct Exchanges {
    name: String,
    history: History<Value>,
    locations: Vec<Location>,
    comments: Vec<Comment>,
    judgement: Judgement,
}

impl Exchanges {
    pub(super) fn new(
        reader: InputReader,
        replay: &Replay,
        name: String,
    ) -> Result<Self, OpenError> {
        let (format, noticed) = (reader.format(), reader.noticed());
        let (history, locations) = read_exchanges(reader, usize::MAX)?;
        let judgement = judge_recording(format, history.clone(), locations.clone());
        let judgement = Judgement { backwards: noticed.backwards(), ..judgement };
        let comments = noted(replay, format);
        Ok(Self { name, history, locations, comments, judgement })
    }

    pub(super) const fn judgement(&self) -> &Judgement {
        &self.judgement
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

    pub(super) fn diagram(&self) -> Diagram {
        match self.violation() {
            Some(found) => Diagram::of_exchange_violation(&self.history, &found.alarm.violation),
            None => Diagram::of_exchanges(&self.history, self.blocks()),
        }
    }

    pub(super) fn page(&self) -> Page {
        let few = self.history.operations().len() <= FEW_OPERATIONS;
        let violation = self.violation();
        let diagram = if violation.is_some() || few { self.diagram() } else { Diagram::default() };
        let answer = match (violation, self.blocks()) {
            (Some(_), _) => Answer::Violation,
            (None, Some(_)) => Answer::Linearizable,
            (None, None) => Answer::Unknown,
        };
        Page {
            title: self.name.clone(),
            answer,
            verdict: report::verdict(&self.judgement.finding).to_owned(),
            summary: format!(
                "{}; immediate snapshot, by four conditions",
                report::summary(&self.judgement)
            ),
            words: self.words(&diagram),
            guilty: if violation.is_some() { self.guilty(&diagram) } else { Vec::new() },
            diagram,
            renamed: None,
            run: None,
            recording: Some(self.drawn()),
            steps: None,
            sections: Vec::new(),
            origin: origin(),
        }
    }

    fn words(&self, diagram: &Diagram) -> Vec<String> {
        if let Some(found) = self.violation() {
            let violation = &found.alarm.violation;
            return vec![violation.argument(&self.history, |id| name(diagram, id))];
        }
        if let Some(blocks) = self.blocks() {
            let effects: usize = blocks.blocks().map(<[_]>::len).sum();
            return vec![format!(
                "There are {} blocks of {effects} operations, each block with an instant between \
                 the invocation and the end of each of its operations, such that every operation \
                 returns what the segments hold when all operations of its block have written. \
                 Green points are these instants; the keys n and p follow the blocks.",
                blocks.len()
            )];
        }
        unproved(&self.judgement)
    }

    fn guilty(&self, diagram: &Diagram) -> Vec<Guilty> {
        guilty(diagram, |event| self.locations.get(event))
    }

    fn drawn(&self) -> Drawn {
        let mut notes = Vec::new();
        let operations = self.history.operations().len();
        let columns = if operations <= MOST_OPERATIONS {
            encode_exchanges(&self.history, self.blocks())
        } else {
            notes.push(too_long(operations));
            let empty = History::builder(self.history.declaration().clone());
            empty.map_or_else(|_| Columns::default(), |one| encode_exchanges(&one.finish(), None))
        };
        if operations <= MOST_OPERATIONS && !columns.has_entries {
            notes.push(format!(
                "What the operations returned is more than {MOST_ENTRIES} values, and is shown \
                 for those of the argument only."
            ));
        }
        let annotations = annotations(&self.comments, &self.locations, &mut notes);
        Drawn {
            columns,
            tick: "event",
            annotations,
            notes,
            decided_at: self.violation().map(|found| found.alarm.event),
            is_of_exchanges: true,
        }
    }
}
