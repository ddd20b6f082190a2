//! A window over other values.

use std::hash::Hash;

use super::{Run, Window};
use crate::seeded::SeededMap;

impl<V: Clone + Eq + Hash> Window<V> {
    /// Returns the same window with `other(value)` for each value; `None` if a value
    /// has no counterpart.
    pub fn translated<W: Clone + Eq + Hash>(
        &self,
        other: &impl Fn(&V) -> Option<W>,
    ) -> Option<Window<W>> {
        let Self { front, base, runs, head, tail, floating, seen_open, index } = self;
        let run = |run: &Run<V>| {
            let Run { update, invocation, response, .. } = *run;
            Some(Run { value: other(&run.value)?, update, invocation, response })
        };
        let floats = floating.iter().map(|(value, updates)| Some((other(value)?, updates.clone())));
        let mut window = Window {
            front: front.translated(other)?,
            base: *base,
            runs: runs.iter().map(run).collect::<Option<_>>()?,
            head: *head,
            tail: *tail,
            floating: floats.collect::<Option<SeededMap<_, _>>>()?,
            seen_open: seen_open.clone(),
            index: None,
        };
        if index.is_some() {
            window.build_index();
        }
        window.validate();
        Some(window)
    }
}
