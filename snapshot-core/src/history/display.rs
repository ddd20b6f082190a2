//! Histories as text: a line per event, close to the text format of recordings.

use std::fmt::{self, Display};

use super::{Action, Event, History};

/// `p0 update 5`, `p0 update s2 5`, `p1 scan`, `p1 ok 5 0`, `p1 ok s0 5`, `p0 fail`, `p0 unknown`;
/// the segment is left out where it is the process's own. Values are not escaped: use a writer of
/// recordings for text that can be read again.
impl<V: Display> Display for Event<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = self.process;
        match self.action {
            Action::InvokeUpdate { segment, value } if segment.index() == process.index() => {
                write!(f, "p{process} update {value}")
            }
            Action::InvokeUpdate { segment, value } => {
                write!(f, "p{process} update s{segment} {value}")
            }
            Action::InvokeScan => write!(f, "p{process} scan"),
            Action::RespondUpdate => write!(f, "p{process} ok"),
            Action::RespondScan { values } => {
                write!(f, "p{process} ok")?;
                values.iter().try_for_each(|value| write!(f, " {value}"))
            }
            Action::RespondPartialScan { entries: [], .. } => write!(f, "p{process} ok _"),
            Action::RespondPartialScan { entries, .. } => {
                write!(f, "p{process} ok")?;
                entries.iter().try_for_each(|(segment, value)| write!(f, " s{segment} {value}"))
            }
            Action::Fail => write!(f, "p{process} fail"),
            Action::Unknown => write!(f, "p{process} unknown"),
        }
    }
}

/// Writes a line per event, each with a line break.
impl<V: Display> Display for History<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events().try_for_each(|event| writeln!(f, "{event}"))
    }
}
