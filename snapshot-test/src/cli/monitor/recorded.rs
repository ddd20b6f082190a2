//! Monitoring objects with named operations.

use std::io::Read;
use std::process::ExitCode;

use snapshot_core::check::counted;
use snapshot_io::escape;
use snapshot_io::output::{self, Printed};
use snapshot_test::judge;
use snapshot_test::judge::Options;
use snapshot_test::report::Tally;
use snapshot_test::synchronisation::{Finding, Judgement, Object, human, json, watch};

use super::inputs::Input;
use super::{Monitor, ReportFormat, TROUBLE};
use crate::cli::trouble;

impl Monitor {
    /// Judges the objects of an input while it is being made: with --all each to its first
    /// violation, else up to the first one of any.
    pub(super) fn watch_recorded(
        &self,
        object: &Object,
        input: Input,
    ) -> Result<ExitCode, ExitCode> {
        let name = input.name.clone();
        let input: Box<dyn Read> = Box::new(input.open(None).map_err(trouble)?);
        let options = Options { live: true, ..self.options() };
        let mut watch_of = Watch { monitor: self, name: &name, tally: Tally::default(), events: 0 };
        let mut is_printed = true;
        let mut alarm = |judgement: Judgement| {
            is_printed = watch_of.take(judgement, true);
            is_printed && self.all
        };
        let rest = watch(object, input, None, &options, &mut alarm);
        let rest = rest.map_err(|error| trouble(error.report(&name)))?;
        if !is_printed {
            return Err(ExitCode::from(TROUBLE));
        }
        let has_alarm = watch_of.tally.violations > 0;
        // After an alarm that ends it, the others are not judged to their end.
        if self.all || !has_alarm {
            for judgement in rest {
                watch_of.take(judgement, false);
            }
            watch_of.end(object);
        }
        Ok(ExitCode::from(watch_of.tally.code()))
    }
}

/// The answers so far.
struct Watch<'a> {
    monitor: &'a Monitor,
    name: &'a str,
    tally: Tally,
    events: u64,
}

impl Watch<'_> {
    /// Counts a judgement, and prints it unless it is that of a correct recording. Returns false if
    /// the output is closed.
    fn take(&mut self, judgement: Judgement, is_alarm: bool) -> bool {
        self.events += judgement.counts.events as u64;
        let is_right = matches!(judgement.finding, Finding::SetLinearizable(_));
        let name = match &judgement.key {
            Some(key) => format!("{} @{key}", escape::name(self.name)),
            None => escape::name(self.name).into_owned(),
        };
        let text = match self.monitor.report {
            ReportFormat::Human => human(&name, &judgement),
            ReportFormat::Json => json(self.name, &judgement, None) + "\n",
        };
        self.tally.count(&judge::Finding::Recorded(Box::new(judgement)));
        if is_right && !is_alarm {
            return true;
        }
        matches!(output::print_data(&text), Ok(Printed::Whole))
    }

    /// Prints the summary.
    fn end(&self, object: &Object) {
        if self.monitor.report == ReportFormat::Json {
            return;
        }
        let Tally { right, violations, unknown, .. } = self.tally;
        let objects = counted((right + violations + unknown) as u64, "object", "objects");
        let events = counted(self.events, "event", "events");
        let text = format!(
            "{}: {objects}: {right} {}, {}, {unknown} unknown ({events})\n",
            escape::name(self.name),
            object.criterion(),
            counted(violations as u64, "violation", "violations"),
        );
        // A closed output is noticed by nobody.
        let _ = output::print_text(&text);
    }
}
