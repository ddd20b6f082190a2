//! The least set of views that is closed under all rules. The check does without it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::byte::T;
use crate::centre::centre;
use crate::join::Effect;
use crate::layout::Layout;
use crate::step::{Failure, Kind, Planted};
use crate::views::{initial, kinds, steps};
use crate::{Budget, Unfinished};

/// A set of views, by kind.
#[derive(Debug)]
pub struct Family {
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// Per kind, its views.
    pub views: Vec<FxHashSet<Box<[u8]>>>,
}

impl Family {
    /// How many views there are.
    pub fn len(&self) -> usize {
        self.views.iter().map(FxHashSet::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why there is no closed set.
#[derive(Debug)]
pub enum Obstacle {
    /// A view goes wrong.
    Failure(Failure),
    /// The budget.
    Unfinished(Unfinished),
}

#[derive(Default)]
struct Home {
    views: Vec<(usize, u32)>,
    effects: Vec<Effect>,
    known: FxHashSet<Effect>,
}

struct Search<'a, 'p> {
    layout: &'a Layout<'p>,
    planted: Planted,
    family: Family,
    rows: Vec<Box<[u8]>>,
    homes: Vec<Home>,
    numbers: FxHashMap<Vec<u8>, usize>,
    waiting: VecDeque<(usize, u32, usize)>,
}

/// Closes the views of the initial state under all rules.
///
/// # Errors
/// If a view goes wrong, or the budget runs out.
pub fn close(
    layout: &Layout<'_>,
    planted: Planted,
    budget: &mut Budget<'_>,
) -> Result<Family, Obstacle> {
    let kinds = kinds(layout);
    let views = vec![FxHashSet::default(); kinds.len()];
    let mut search = Search {
        layout,
        planted,
        family: Family { kinds, views },
        rows: Vec::new(),
        homes: Vec::new(),
        numbers: FxHashMap::default(),
        waiting: VecDeque::new(),
    };
    for kind in 0..search.family.kinds.len() {
        let first = initial(layout, &search.family.kinds[kind]).map_err(Obstacle::Failure)?;
        for state in first {
            search.add(kind, state).map_err(Obstacle::Failure)?;
        }
    }
    let mut made: usize = 0;
    while let Some((kind, number, home)) = search.waiting.pop_front() {
        search.expand(kind, number, home).map_err(Obstacle::Failure)?;
        made += 1;
        if made.is_multiple_of(64) {
            let bytes = search.rows.len() * (2 * layout.slots.len() + 96);
            budget.spend(bytes).map_err(Obstacle::Unfinished)?;
        }
    }
    Ok(search.family)
}

impl Search<'_, '_> {
    fn add(&mut self, kind: usize, state: Vec<u8>) -> Result<(), Failure> {
        if self.family.views[kind].contains(state.as_slice()) {
            return Ok(());
        }
        let centre = centre(self.layout, &self.family.kinds[kind], &state);
        let next = self.homes.len();
        let home = *self.numbers.entry(centre).or_insert(next);
        if home == next {
            self.homes.push(Home::default());
        }
        let number = self.rows.len() as u32;
        let row: Box<[u8]> = state.into();
        self.rows.push(row.clone());
        self.family.views[kind].insert(row);
        self.homes[home].views.push((kind, number));
        self.waiting.push_back((kind, number, home));
        Ok(())
    }

    fn expand(&mut self, kind: usize, number: u32, home: usize) -> Result<(), Failure> {
        let row = self.rows[number as usize].clone();
        let steps = steps(self.layout, &self.family.kinds[kind], &row, self.planted)?;
        for state in steps.views {
            self.add(kind, state)?;
        }
        // What has been seen of others, and what others are to see.
        for position in 0..self.homes[home].effects.len() {
            let effect = self.homes[home].effects[position].clone();
            self.apply(&effect, kind, &row)?;
        }
        for effect in steps.effects {
            let is_left_out = match effect.actor {
                T => self.planted.no_others,
                _ => self.planted.no_scans,
            };
            if is_left_out || !self.homes[home].known.insert(effect.clone()) {
                continue;
            }
            self.homes[home].effects.push(effect.clone());
            for position in 0..self.homes[home].views.len() {
                let (kind, number) = self.homes[home].views[position];
                let row = self.rows[number as usize].clone();
                self.apply(&effect, kind, &row)?;
            }
        }
        Ok(())
    }

    fn apply(&mut self, effect: &Effect, kind: usize, row: &[u8]) -> Result<(), Failure> {
        let made = effect.apply(self.layout, &self.family.kinds[kind], row, self.planted)?;
        made.into_iter().try_for_each(|state| self.add(kind, state))
    }
}
