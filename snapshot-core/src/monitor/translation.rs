//! A running monitor over other values.
//!
//! Conditions A to E depend only on the equality of values. So from any event on, a stream may be
//! judged with other values, as long as equal ones stay equal and different ones different. For
//! example, a stream that had only integers so far is compared as integers, and switches when
//! another value comes.

use std::hash::Hash;

use super::Monitor;
use crate::history::Declaration;

impl<V: Clone + Eq + Hash> Monitor<V> {
    /// Returns the same monitor with `other(value)` for each value, as if the stream
    /// had had those from its beginning on. Different values must become different ones. `None` if
    /// a kept value has no counterpart, or if the stream was declared to have many writers and [its
    /// relation](crate::saturation) is kept. O([`Self::retained`] + declared initial values).
    pub fn translated<W: Clone + Eq + Hash>(
        &self,
        other: impl Fn(&V) -> Option<W>,
    ) -> Option<Monitor<W>> {
        let Self {
            declaration,
            admission,
            judgement,
            windows,
            chain,
            open,
            scanning,
            operations,
            without_outcome,
            failed,
            vector,
            overlap: None,
            sights: None,
        } = self
        else {
            return None;
        };
        let initial = declaration.initial.iter().map(&other).collect::<Option<_>>()?;
        let declaration = Declaration {
            segments: declaration.segments,
            processes: declaration.processes,
            initial,
            default_initial: other(&declaration.default_initial)?,
            writers: declaration.writers,
        };
        let windows = windows.iter().map(|window| window.translated(&other));
        Some(Monitor {
            declaration,
            admission: admission.clone(),
            judgement: *judgement,
            windows: windows.collect::<Option<_>>()?,
            chain: chain.clone(),
            open: open.clone(),
            scanning: scanning.clone(),
            operations: *operations,
            without_outcome: *without_outcome,
            failed: *failed,
            vector: vector.clone(),
            overlap: None,
            sights: None,
        })
    }
}
