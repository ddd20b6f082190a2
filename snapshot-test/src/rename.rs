//! The simple histories of a recording, as recordings.

use snapshot_core::History;
use snapshot_core::history::{Action, Declaration, Event};
use snapshot_core::renaming::{NotDifferentiated, Renaming};
use snapshot_core::simple::{Switching, Symbol};

use crate::Value;

/// Returns the (i, j)-simple history of a renaming, with the values 0 and 1.
///
/// Segments, processes and the order of events are kept; operations without constraints (failed
/// updates, and scans that did not respond) are left out. O(size of the history).
///
/// # Errors
/// If the history is not differentiated.
///
/// # Panics
/// If i and j are one segment, or one of them is not in the history.
pub fn renamed(
    history: &History<Value>,
    renaming: Renaming,
) -> Result<History<Value>, NotDifferentiated> {
    let simple = renaming.apply(history)?;
    let declaration = Declaration::new(Value::from(0))
        .with_segments(history.segments())
        .with_processes(history.processes())
        .with_writers(history.writers());
    let mut builder = History::builder(declaration).expect("the sizes are a history's");
    let mut letters = simple.letters().iter().enumerate().peekable();
    let zeros = vec![Value::from(0); history.segments()];
    for (place, event) in history.events().enumerate() {
        let letter = letters.next_if(|(letter, _)| simple.event(*letter) == place);
        let (process, symbol) = (event.process, letter.map(|(_, letter)| letter.symbol()));
        let pushed = match (&event.action, symbol) {
            (Action::InvokeUpdate { segment, .. }, Some(symbol)) => {
                let is_one = matches!(symbol, Symbol::InvokeUpdate { value: true, .. });
                let value = Value::from(i64::from(is_one));
                builder.push(&Event::invoke_update(process, *segment, &value))
            }
            (_, Some(Symbol::RespondScan { at_i, at_j })) => {
                let mut values = zeros.clone();
                for (switching, is_one) in [(Switching::I, at_i), (Switching::J, at_j)] {
                    if let (Some(segment), true) = (simple.segment(switching), is_one) {
                        values[segment.index()] = Value::from(1);
                    }
                }
                builder.push(&Event::respond_scan(process, &values))
            }
            (_, Some(_)) => builder.push(&event),
            // A lost update has one letter, and its process continues.
            (Action::Unknown, None)
                if !history.operation(history.step(place).operation).is_scan() =>
            {
                builder.push(&event)
            }
            (_, None) => continue,
        };
        pushed.expect("the events of a history without some operations are a history's");
    }
    Ok(builder.finish())
}
