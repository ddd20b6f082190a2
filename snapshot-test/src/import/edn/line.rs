//! Lines of Jepsen's console log and of its `history.txt` as events.
//!
//! ```text
//! INFO  jepsen.util - 4   :invoke :write  1
//! 4   :ok :write  1
//! ```

use std::sync::Arc;

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};
use super::event::{Event, FIELDS, Kind, of_fields};
use super::scan::Forms;

/// The words before the process.
const LOGGER: [&str; 3] = ["INFO", "jepsen.util", "-"];

/// Returns true if a text begins like such a line.
pub(super) fn is_event(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let word = words.next().unwrap_or_default();
    let is_process = word == ":nemesis" || word.parse::<u32>().is_ok();
    word == LOGGER[0] || is_process && words.next().is_some_and(|kind| kind.starts_with(':'))
}

/// Parses the line that begins at a position, and passes it; `None` for a nemesis.
pub(super) fn event(
    forms: &mut Forms<'_>,
    begin: usize,
    names: &mut Vec<Arc<str>>,
) -> Step<Option<Event>> {
    let line = forms.line_at(begin);
    let mut words = forms.within(line);
    let mut found: Vec<Spot> = Vec::new();
    while let Some(word) = words.next()? {
        found.push(word);
    }
    let has_logger = forms.text(found[0]) == LOGGER[0];
    let is_logged = found.iter().zip(LOGGER).all(|(word, known)| forms.text(*word) == known);
    let fields = match found.as_slice() {
        [_, _, _, fields @ ..] if has_logger && is_logged => fields,
        fields if !has_logger => fields,
        _ => &[],
    };
    // Behind the value is the reason of a failure.
    let [process, kind, function, value @ ..] = fields else {
        let kind = ImportErrorKind::Field {
            field: "event",
            expected: "a line such as `INFO jepsen.util - 0 :invoke :write 5`",
            found: format!("`{}`", forms.text(line).chars().take(40).collect::<String>()),
            cure: "leave out the lines of a console log that are not by jepsen.util",
        };
        return Err(kind.at(line));
    };
    let mut named = [None; FIELDS.len()];
    named[..3].copy_from_slice(&[Some(*process), Some(*kind), Some(*function)]);
    // In place of the value is the reason why the outcome is unknown.
    let has_value = !matches!(forms.text(*kind), ":info" | ":fail");
    named[3] = value.first().copied().filter(|_| has_value);
    let event = of_fields(forms, line, named, names)?;
    Ok(event.map(|event| Event { is_line: true, ..event }))
}

impl Event {
    /// Returns true for a compare-and-set that certainly saw another value.
    pub(crate) fn is_mismatch(&self) -> bool {
        self.is_line && self.kind == Kind::Fail && matches!(&*self.function, "cas")
    }
}
