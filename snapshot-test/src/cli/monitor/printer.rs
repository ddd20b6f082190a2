//! The output of a monitor of many objects: alarms as they occur, and malformed events.

use std::collections::HashMap;

use snapshot_io::escape;
use snapshot_test::monitor::{AlarmSink, Answer, DuplicateKey};
use snapshot_test::{InputError, Value};

use crate::cli::check::ReportFormat;
use crate::cli::cluster::{Post, clashed};
use crate::cli::result::Report;

/// Prints alarms as they occur.
pub(super) struct Printer<'a> {
    names: &'a [String],
    /// For each input, its number among the inputs with the same name, which occur if names are not
    /// UTF-8.
    ordinals: Vec<usize>,
    report: ReportFormat,
    post: &'a Post,
}

impl<'a> Printer<'a> {
    pub fn new(names: &'a [String], report: ReportFormat, post: &'a Post) -> Self {
        let mut counts = HashMap::new();
        let ordinal = |name| {
            let count = counts.entry(name).or_insert(0);
            *count += 1;
            *count - 1
        };
        Self { names, ordinals: names.iter().map(ordinal).collect(), report, post }
    }

    pub const fn post(&self) -> &'a Post {
        self.post
    }

    /// Reports that an input is malformed from some position on.
    pub fn lose(&self, input: usize, error: &InputError) {
        let report = error.report(&self.names[input]).to_string();
        self.post.show(&Report {
            id: format!("{} {report}", self.ordinals[input]),
            diagnostic: Some(report),
            ..Report::default()
        });
    }
}

impl AlarmSink for Printer<'_> {
    fn answer(&self, input: usize, answer: &Answer) -> bool {
        let name = &self.names[input];
        let result = match self.report {
            ReportFormat::Human => answer.human(&escape::name(name)),
            ReportFormat::Json => answer.json(name),
        };
        let code = answer.code();
        let ordinal = self.ordinals[input];
        let id = match answer.key() {
            Some(key) => format!("{code} {ordinal} {key} {name}"),
            None => format!("{code} {ordinal} {name}"),
        };
        self.post.show(&Report { id, result: Some(result), diagnostic: None, code })
    }

    fn refuse(&self, input: usize, key: Option<&Value>, error: &InputError) -> bool {
        let mut report = error.report(&self.names[input]).to_string();
        let id = format!("{} {report}", self.ordinals[input]);
        if self.post.outlet().is_all() {
            let object = key.map_or("this recording".to_owned(), |key| format!("object @{key}"));
            report += &format!("\nnote: {object} is judged no further; the others go on");
        }
        self.post.show(&Report { id, diagnostic: Some(report), ..Report::default() })
    }

    fn claim(&self, input: usize, keys: &[Value]) {
        self.post.claim(&self.names[input], keys);
    }

    fn clash(&self, clash: &DuplicateKey<'_>) {
        let (first, second) = (&self.names[clash.first], &self.names[clash.second]);
        self.post.fail(clashed(first, second, clash.at, clash.key));
    }
}
