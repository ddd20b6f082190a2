//! Least set of views that is closed under all rules. The check does not use it.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::byte::T;
use crate::join::Effect;
use crate::layout::Layout;
use crate::recall::Recall;
use crate::step::{Failure, Kind, Planted};
use crate::views::{centres, initial, lists};
use crate::{Budget, Unfinished};

#[derive(Debug)]
pub struct Family {
    pub kinds: Vec<Kind>,
    /// Per kind, its views.
    pub views: Vec<Rc<FxHashSet<Box<[u8]>>>>,
}

impl Family {
    /// Returns the distinct lists of views: several kinds may share one.
    pub fn lists(&self) -> impl Iterator<Item = &Rc<FxHashSet<Box<[u8]>>>> {
        let is_new = |number: &usize| {
            let before = number.checked_sub(1).map(|before| &self.views[before]);
            before.is_none_or(|before| !Rc::ptr_eq(before, &self.views[*number]))
        };
        (0..self.views.len()).filter(is_new).map(|number| &self.views[number])
    }

    /// Returns the number of views.
    pub fn len(&self) -> usize {
        self.lists().map(|views| views.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reason for the lack of a closed set.
#[derive(Debug)]
pub enum Obstacle {
    Failure(Failure),
    /// There are more views than it may have.
    Views,
    /// The budget.
    Unfinished(Unfinished),
}

impl From<Failure> for Obstacle {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Ended => Self::Unfinished(Unfinished::Ended),
            failure => Self::Failure(failure),
        }
    }
}

#[derive(Default)]
struct Home {
    views: Vec<(usize, u32)>,
    effects: Vec<Effect>,
    known: FxHashSet<Effect>,
}

/// A view that is to be expanded: its list, its number, and its centres.
type Waiting = (usize, u32, SmallVec<[usize; 1]>);

struct Search<'a, 'p> {
    layout: &'a Layout<'p>,
    planted: Planted,
    lists: &'a [Vec<Kind>],
    recalls: Vec<Recall<'a, 'p>>,
    views: Vec<FxHashSet<Box<[u8]>>>,
    rows: Vec<Box<[u8]>>,
    homes: Vec<Home>,
    numbers: FxHashMap<Vec<u8>, usize>,
    waiting: VecDeque<Waiting>,
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
    close_within(layout, planted, usize::MAX, budget)
}

/// As [`close`], with no more than so many views.
///
/// # Errors
/// As [`close`].
pub fn close_within(
    layout: &Layout<'_>,
    planted: Planted,
    most: usize,
    budget: &mut Budget<'_>,
) -> Result<Family, Obstacle> {
    let lists = lists(layout);
    let mut search = Search {
        layout,
        planted,
        lists: &lists,
        recalls: lists.iter().map(|kinds| Recall::new(layout, kinds, planted)).collect(),
        views: vec![FxHashSet::default(); lists.len()],
        rows: Vec::new(),
        homes: Vec::new(),
        numbers: FxHashMap::default(),
        waiting: VecDeque::new(),
    };
    for (list, kinds) in lists.iter().enumerate() {
        for kind in kinds {
            for state in initial(layout, kind)? {
                search.add(list, state);
            }
        }
    }
    let mut made: usize = 0;
    while let Some((list, number, homes)) = search.waiting.pop_front() {
        search.expand(list, number, &homes)?;
        if search.rows.len() > most {
            return Err(Obstacle::Views);
        }
        made += 1;
        if made.is_multiple_of(64) {
            let recalled: usize = search.recalls.iter().map(|recall| recall.bytes).sum();
            let bytes = search.rows.len() * (2 * layout.slots.len() + 96) + recalled;
            budget.spend(bytes).map_err(Obstacle::Unfinished)?;
        }
    }
    let views: Vec<_> = search.views.into_iter().map(Rc::new).collect();
    let of =
        lists.iter().zip(&views).flat_map(|(kinds, views)| vec![Rc::clone(views); kinds.len()]);
    Ok(Family { kinds: lists.iter().flatten().cloned().collect(), views: of.collect() })
}

impl Search<'_, '_> {
    fn add(&mut self, list: usize, state: Vec<u8>) {
        if self.views[list].contains(state.as_slice()) {
            return;
        }
        let mut homes = SmallVec::new();
        for centre in centres(self.layout, &self.lists[list], &state) {
            let next = self.homes.len();
            let home = *self.numbers.entry(centre).or_insert(next);
            if home == next {
                self.homes.push(Home::default());
            }
            homes.push(home);
        }
        let number = self.rows.len() as u32;
        let row: Box<[u8]> = state.into();
        self.rows.push(row.clone());
        self.views[list].insert(row);
        homes.iter().for_each(|home: &usize| self.homes[*home].views.push((list, number)));
        self.waiting.push_back((list, number, homes));
    }

    fn expand(&mut self, list: usize, number: u32, homes: &[usize]) -> Result<(), Failure> {
        let row = self.rows[number as usize].clone();
        let steps = self.recalls[list].steps(&row)?;
        for state in steps.views {
            self.add(list, state);
        }
        for &home in homes {
            // Known interference applies to this view, and this view's interference to known views.
            for position in 0..self.homes[home].effects.len() {
                let effect = self.homes[home].effects[position].clone();
                self.apply(&effect, list, &row)?;
            }
            for effect in &steps.effects {
                let is_left_out = match effect.actor {
                    T => self.planted.no_others,
                    _ => self.planted.no_scans,
                };
                if is_left_out || !self.homes[home].known.insert(effect.clone()) {
                    continue;
                }
                self.homes[home].effects.push(effect.clone());
                for position in 0..self.homes[home].views.len() {
                    let (list, number) = self.homes[home].views[position];
                    let row = self.rows[number as usize].clone();
                    self.apply(effect, list, &row)?;
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, effect: &Effect, list: usize, row: &[u8]) -> Result<(), Failure> {
        if !self.layout.asks.go_on(row.len()) {
            return Err(Failure::Ended);
        }
        let Some(kind) = self.lists[list].first() else { return Ok(()) };
        let made = effect.apply(self.layout, kind, row, self.planted)?;
        made.into_iter().for_each(|state| self.add(list, state));
        Ok(())
    }
}
