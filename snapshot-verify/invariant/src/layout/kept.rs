//! Names of scalars, and which of them are kept.

use rustc_hash::FxHashSet;

use super::rows::is_shown_of_row;
use super::{Layout, Scalar};
use crate::byte::J;

impl Layout<'_> {
    /// Returns the names of all scalars that may be kept.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Keeps the scalars with these names; `Err`: an unknown name.
    pub fn keep(&mut self, names: &FxHashSet<String>) -> Result<(), String> {
        let mut found = 0;
        let borrowed = self.borrows();
        for slot in &mut self.slots {
            let Some(leaf) = slot.leaf else { continue };
            if slot.name.is_empty() || !names.contains(&slot.name) {
                continue;
            }
            found += 1;
            // Obligations of nesting have no j.
            let is_there = !self.obligation.has_tokens() || !slot.members().any(|one| one == J);
            // Of rows, only the cells that the rules of names support.
            let is_row = slot.row.is_none() || is_shown_of_row(slot);
            // Views in shared memory are only ever borrowed.
            let is_view = leaf.scalar == Scalar::View && slot.owner.is_none() && borrowed;
            let is_known = leaf.optional
                || !leaf.is_unbounded()
                || leaf.scalar == Scalar::Counter && (self.clock.is_some() || slot.window > 0);
            slot.kept = is_known && !is_view && is_there && is_row;
        }
        if found != names.len() {
            let known: FxHashSet<&String> = self.slots.iter().map(|slot| &slot.name).collect();
            let missing = names.iter().find(|name| !known.contains(name));
            return Err(missing
                .cloned()
                .unwrap_or_else(|| "a name that stands for two".to_owned()));
        }
        Ok(())
    }
}
