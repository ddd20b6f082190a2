//! Explanations of an object with named operations.

use std::io::Read;

use snapshot_core::immediate::SetLinearization;
use snapshot_core::{Names, OperationId};
use snapshot_picture::Named;
use snapshot_picture::columns::{Columns, encode_operations};
use snapshot_picture::diagram::Diagram;
use snapshot_picture::page::Form;

use super::{Comment, Subject, comments};
use crate::Value;
use crate::format::{Format, Location};
use crate::input::{Gauge, Input, OpenError};
use crate::judge::{self, Judgement, Options};
use crate::synchronisation::{self, Finding, Object, ReadError, ReadErrorKind, Violation};

/// The recording of an object with named operations, with its judgement.
pub(super) struct Operations {
    judgement: Judgement,
    operations: Vec<Named>,
    /// The lines of all events.
    lines: Vec<u64>,
}

impl Operations {
    /// Reads and judges an input. Returns its comments, too.
    pub(super) fn new(
        object: &Object,
        input: &Input,
        format: Option<Format>,
        key: Option<&Value>,
        options: &Options,
    ) -> Result<(Self, Vec<Comment>), OpenError> {
        let mut bytes = Vec::new();
        let refused =
            |kind: ReadErrorKind| ReadError { location: Location::START, kind, line: None };
        let read = input.bytes(&Gauge::default())?.read_to_end(&mut bytes);
        read.map_err(|error| refused(error.into()))?;
        let judged = synchronisation::judge(object, bytes.as_slice(), format, key, options)?;
        let [judged] =
            <[_; 1]>::try_from(judged).map_err(|_| refused(ReadErrorKind::SeveralObjects))?;
        let format = judged.format.unwrap_or(Format::Text);
        let comments = comments(bytes.as_slice(), format).unwrap_or_default();
        let mut lines: Vec<u64> = judged
            .texts
            .iter()
            .flat_map(|text| [Some(text.invoked), text.ended])
            .flatten()
            .collect();
        lines.sort_unstable();
        let operations = judged.texts.iter().map(|text| Named {
            deed: text.deed(Some(format)),
            process: text.process,
            invocation: text.begin,
            outcome: text.outcome,
            is_answer: text.results.as_ref().is_some_and(|results| !results.is_empty()),
        });
        let operations = operations.collect();
        let (backwards, names) = (judged.backwards, judged.names.clone());
        let judgement =
            Judgement::new(Some(format), judged.counts, judge::Finding::Recorded(Box::new(judged)));
        let judgement = Judgement { backwards, names, ..judgement };
        Ok((Self { judgement, operations, lines }, comments))
    }

    fn judged(&self) -> Option<&synchronisation::Judgement> {
        match &self.judgement.finding {
            judge::Finding::Recorded(judged) => Some(judged),
            _ => None,
        }
    }

    fn violation(&self) -> Option<&Violation> {
        match &self.judged()?.finding {
            Finding::Violation(violation) => Some(violation),
            _ => None,
        }
    }

    fn order(&self) -> Option<&SetLinearization> {
        match &self.judged()?.finding {
            Finding::SetLinearizable(order) => Some(order),
            _ => None,
        }
    }

    fn is_grouped(&self) -> bool {
        self.judged().is_some_and(|judged| !judged.object.is_single())
    }
}

impl Subject for Operations {
    fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    fn operations(&self) -> usize {
        self.operations.len()
    }

    fn is_refuted(&self) -> bool {
        self.violation().is_some_and(|violation| !violation.operations().is_empty())
    }

    fn diagram(&self, names: &Names) -> Diagram {
        let diagram = match self.violation() {
            Some(violation) => Diagram::of_argument(&self.operations, &violation.operations(), 'X'),
            None => Diagram::of_operations(&self.operations, self.order(), 'X'),
        };
        Diagram { names: names.clone(), ..diagram }
    }

    fn words(&self, _: &Diagram) -> Option<Vec<String>> {
        if let (Some(judged), Some(violation)) = (self.judged(), self.violation()) {
            return Some(vec![synchronisation::argument(judged, violation)]);
        }
        let order = self.order()?;
        let effects: usize = order.blocks().map(<[_]>::len).sum();
        Some(vec![if self.is_grouped() {
            format!(
                "There are {} groups of {effects} operations, each group with an instant between \
                 the invocation and the end of each of its operations, such that the operations \
                 of each group can take effect together and return what they returned. Green \
                 points are these instants; the keys n and p follow the groups.",
                order.len()
            )
        } else {
            format!(
                "There is an order of {effects} operations in which each takes effect at one \
                 instant between its invocation and its end, and returns what it returned. Green \
                 points are these instants; the keys n and p follow the order."
            )
        }])
    }

    fn columns(&self, is_empty: bool) -> Columns {
        if is_empty {
            return encode_operations(&[], 0, None, false);
        }
        encode_operations(&self.operations, self.lines.len(), self.order(), self.is_grouped())
    }

    fn form(&self) -> Form {
        Form::Operations
    }

    fn place(&self, operation: OperationId, event: usize) -> Option<String> {
        let text = self.judged()?.texts.get(operation.index())?;
        let line = if text.begin == event { Some(text.invoked) } else { text.ended };
        line.map(|line| format!("line {line}"))
    }

    fn decided_at(&self) -> Option<usize> {
        self.judged()?.completion.map(|completion| completion.event)
    }

    fn event_behind(&self, line: u64) -> usize {
        self.lines.partition_point(|one| *one < line)
    }

    fn summary(&self) -> String {
        self.judged().map_or_else(String::new, synchronisation::summary)
    }
}
