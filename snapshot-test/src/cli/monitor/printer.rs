//! What a monitor of many objects prints: alarms as they come, and what no history can have.

use snapshot_io::escape;
use snapshot_test::monitor::{Answer, Clash, Desk};
use snapshot_test::{InputError, Value};

use crate::cli::check::ReportFormat;
use crate::cli::cluster::{Post, clashed};
use crate::cli::outlet::Report;

/// Has alarms printed as they come.
pub(super) struct Printer<'a> {
    /// The names of the inputs.
    names: &'a [String],
    report: ReportFormat,
    post: &'a Post,
}

impl<'a> Printer<'a> {
    pub const fn new(names: &'a [String], report: ReportFormat, post: &'a Post) -> Self {
        Self { names, report, post }
    }

    pub const fn post(&self) -> &'a Post {
        self.post
    }

    /// The number of this input among those that are named alike, as inputs whose names are no UTF-8 may be.
    fn ordinal(&self, input: usize) -> usize {
        let (before, name) = (&self.names[..input], &self.names[input]);
        before.iter().filter(|before| *before == name).count()
    }

    /// An input is no recording, from some place on.
    pub fn lose(&self, input: usize, error: &InputError) {
        let report = error.report(&self.names[input]).to_string();
        self.post.show(&Report {
            id: format!("{} {report}", self.ordinal(input)),
            diagnostic: Some(report),
            ..Report::default()
        });
    }
}

impl Desk for Printer<'_> {
    fn answer(&self, input: usize, answer: &Answer) -> bool {
        let name = &self.names[input];
        let result = match self.report {
            ReportFormat::Human => answer.human(&escape::name(name)),
            ReportFormat::Json => answer.json(name),
        };
        let code = answer.code();
        let ordinal = self.ordinal(input);
        let id = match answer.key() {
            Some(key) => format!("{code} {ordinal} {key} {name}"),
            None => format!("{code} {ordinal} {name}"),
        };
        self.post.show(&Report { id, result: Some(result), diagnostic: None, code })
    }

    fn refuse(&self, input: usize, key: Option<&Value>, error: &InputError) -> bool {
        let mut report = error.report(&self.names[input]).to_string();
        let id = format!("{} {report}", self.ordinal(input));
        if self.post.outlet().is_all() {
            let object = key.map_or("this recording".to_owned(), |key| format!("object @{key}"));
            report += &format!("\nnote: {object} is judged no further; the others go on");
        }
        self.post.show(&Report { id, diagnostic: Some(report), ..Report::default() })
    }

    fn claim(&self, input: usize, keys: &[Value]) {
        self.post.claim(&self.names[input], keys);
    }

    fn clash(&self, clash: &Clash<'_>) {
        let (first, second) = (&self.names[clash.first], &self.names[clash.second]);
        self.post.fail(clashed(first, second, clash.at, clash.key));
    }
}
