//! Explanations of a snapshot.

use snapshot_core::explanation::{Explanation, accepting_run, picture};
use snapshot_core::verdict::Linearization;
use snapshot_core::{History, Names, OperationId};
use snapshot_picture::columns::{self, Columns, Ticks};
use snapshot_picture::diagram::{Bar, Diagram};
use snapshot_picture::page::Form;
use snapshot_picture::run::Run;

use super::{Subject, events_through, name, read};
use crate::Value;
use crate::format::{Format, Location};
use crate::import::Imported;
use crate::input::{InputReader, OpenError};
use crate::judge::{self, Finding, Judgement, Options, Proof};
use crate::kind::Atomic;
use crate::read::{Most, Recording, read_recording};
use crate::report::{Shown, shown};

/// The recording of a snapshot in memory, with its judgement.
pub(super) struct Snapshots {
    history: History<Value>,
    locations: Vec<Location>,
    judgement: Judgement,
}

impl Snapshots {
    pub(super) fn new(reader: InputReader, options: &Options) -> Result<Self, OpenError> {
        let (format, noticed, names) = (reader.format(), reader.noticed(), reader.names());
        let Recording { history, locations, defect, .. } =
            read_recording::<Atomic, _>(reader, Most::ALL)?;
        let judgement = judge::judge_recording(Some(format), &history, &locations, defect, options);
        let judgement = judgement.named(names.get());
        let judgement = read(Judgement { backwards: noticed.backwards(), ..judgement })?;
        Ok(Self { history, locations, judgement })
    }

    /// Judges a log of another tool.
    pub(super) fn of_log(format: Format, log: Imported, options: &Options) -> Self {
        let (judgement, history, locations) = judge::judge_imported(format, log, options);
        Self { history, locations, judgement }
    }

    fn proof(&self) -> Option<&Proof> {
        match &self.judgement.finding {
            Finding::Violation(violation) => violation.proof.as_ref(),
            _ => None,
        }
    }

    fn explanation(&self) -> Option<&Explanation<Value>> {
        self.proof().map(|proof| &proof.explanation)
    }

    /// Returns the explanation with these names, and values as the input has them.
    fn explained(&self, names: &Names) -> Option<Explanation<Shown>> {
        let mut explanation = shown(self.explanation()?, self.judgement.format);
        explanation.names = names.clone();
        Some(explanation)
    }

    fn order(&self) -> Option<&Linearization> {
        match &self.judgement.finding {
            Finding::Linearizable { linearization, .. } => linearization.as_ref(),
            _ => None,
        }
    }
}

impl Subject for Snapshots {
    fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    fn operations(&self) -> usize {
        self.history.operations().len()
    }

    fn is_refuted(&self) -> bool {
        self.proof().is_some()
    }

    fn diagram(&self, names: &Names) -> Diagram {
        match (self.explained(names), self.order()) {
            (Some(explanation), _) => Diagram::of_explanation(&explanation),
            (None, Some(order)) => Diagram::of_linearization(&self.history, order, names),
            (None, None) => Diagram::of_history(&self.history, names),
        }
    }

    fn text(&self, width: usize) -> Option<String> {
        let names = &self.judgement.names;
        if let Some(explanation) = self.explained(names) {
            return explanation.picture(width);
        }
        let labels = |label: fn(&Bar) -> String| -> Vec<String> {
            self.diagram(names).bars.iter().map(label).collect()
        };
        picture(&self.history, names, &labels(Bar::label), width)
            .or_else(|| picture(&self.history, names, &labels(|bar| bar.name.clone()), width))
    }

    fn words(&self, diagram: &Diagram) -> Option<Vec<String>> {
        if let Some(explanation) = self.explained(&diagram.names) {
            let argument = explanation.argument(|operation| name(diagram, operation.id));
            return Some(argument.lines().map(str::to_owned).collect());
        }
        let effects = self.order()?.order.len();
        Some(vec![format!(
            "There is an order of {effects} operations in which each takes effect at one \
             instant between its invocation and its end, and every scan returns, for each \
             segment, the value that was written last. Green points are these instants; \
             the keys n and p follow the order."
        )])
    }

    fn columns(&self, is_empty: bool) -> Columns {
        let ticks = |count| Ticks { of_event: None, count };
        if is_empty {
            return columns::encode(&self.history.prefix(0), None, ticks(0));
        }
        columns::encode(&self.history, self.order(), ticks(self.history.len()))
    }

    fn form(&self) -> Form {
        Form::Snapshot
    }

    fn place(&self, _: OperationId, event: usize) -> Option<String> {
        Some(self.proof()?.location(event)?.to_string())
    }

    fn decided_at(&self) -> Option<usize> {
        match &self.judgement.finding {
            Finding::Violation(violation) => Some(violation.decided_at.0),
            _ => None,
        }
    }

    fn event_behind(&self, line: u64) -> usize {
        events_through(&self.locations, line)
    }

    fn renamed(&self, names: &Names) -> Option<(String, Diagram)> {
        let explanation = self.explained(names)?;
        let renaming = explanation.witness.renaming?;
        Some((renaming.to_string(), Diagram::of_renamed(&explanation)?))
    }

    fn run(&self) -> Option<Run> {
        let run = accepting_run(self.explanation()?)?;
        Some(Run {
            automaton: run.automaton,
            processes: run.processes.map(|processes| {
                let names = &self.judgement.names;
                processes.iter().map(|process| names.process(*process).to_string()).collect()
            }),
            from: run.from,
            steps: run.steps.into_iter().map(|(l, state)| (l.to_string(), state)).collect(),
        })
    }
}
