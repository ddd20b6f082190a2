//! Least set of views that is closed under all rules. The check does not use it.

use std::collections::VecDeque;
use std::ops::Deref;
use std::rc::Rc;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;

use crate::byte::T;
use crate::interference::{Effect, Targets};
use crate::layout::Layout;
use crate::recall::Recall;
use crate::step::{Failure, InjectedFault, Kind};
use crate::views::{centres, initial, lists};
use crate::{Budget, Unfinished};

#[derive(Debug)]
pub struct ViewSets {
    pub kinds: Vec<Kind>,
    /// Per kind, its views.
    pub views: Vec<Rc<FxHashSet<Box<[u8]>>>>,
}

impl ViewSets {
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
#[derive(Clone, Copy, Debug)]
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

/// Origin of a view: the view that makes the step, or that it applies to, and the view that shows
/// the step, if that is another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Origin {
    pub from: u32,
    pub by: u32,
}

/// In place of the number of a view: there is none.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Default)]
struct SharedPartEntry {
    views: Vec<u32>,
    /// Interference, each with the first view that shows it.
    effects: Vec<(Rc<Joint>, u32)>,
    known: FxHashSet<Rc<Effect>>,
}

/// Interference, with its targets in the views of each list.
struct Joint {
    effect: Rc<Effect>,
    targets: Vec<Targets>,
}

/// A set of views that is closed step by step, and may be continued.
pub struct Closing<L> {
    pub layout: L,
    pub(crate) sets: Sets,
}

pub(crate) struct Sets {
    pub planted: InjectedFault,
    pub lists: Vec<Vec<Kind>>,
    recalls: Vec<Recall>,
    /// Number of bytes of a view.
    size: usize,
    /// The views, one behind the other.
    rows: Vec<u8>,
    /// Per view, its list.
    list_of: Vec<u8>,
    pub origins: Vec<Origin>,
    /// Per list, the numbers of its views.
    known: Vec<HashTable<u32>>,
    homes: Vec<SharedPartEntry>,
    centres: FxHashMap<Vec<u8>, u32>,
    /// Of the views that are to be expanded, the centres.
    waiting: VecDeque<SmallVec<[u32; 2]>>,
    /// Number of effects, of all centres.
    effects: usize,
    /// Step that is made now.
    pub present: Origin,
}

/// Closes the views of the initial state under all rules.
///
/// # Errors
/// If a view goes wrong, or the budget runs out.
pub fn close(
    layout: &Layout<'_>,
    planted: InjectedFault,
    budget: &mut Budget<'_>,
) -> Result<ViewSets, Obstacle> {
    close_within(layout, planted, usize::MAX, budget)
}

/// As [`close`], with no more than so many views.
///
/// # Errors
/// As [`close`].
pub fn close_within(
    layout: &Layout<'_>,
    planted: InjectedFault,
    most: usize,
    budget: &mut Budget<'_>,
) -> Result<ViewSets, Obstacle> {
    let mut closing = Closing::new(layout, planted)?;
    closing.go_on(most, budget)?;
    Ok(closing.into_family().1)
}

impl<'p, L: Deref<Target = Layout<'p>>> Closing<L> {
    /// Begins with the views of the initial state.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(layout: L, planted: InjectedFault) -> Result<Self, Obstacle> {
        let lists = lists(&layout);
        let mut sets = Sets {
            planted,
            recalls: lists.iter().map(|kinds| Recall::new(&layout, kinds, planted)).collect(),
            size: layout.slots.len(),
            rows: Vec::new(),
            list_of: Vec::new(),
            origins: Vec::new(),
            known: vec![HashTable::new(); lists.len()],
            homes: Vec::new(),
            centres: FxHashMap::default(),
            waiting: VecDeque::new(),
            effects: 0,
            present: Origin { from: NOWHERE, by: NOWHERE },
            lists,
        };
        for list in 0..sets.lists.len() {
            for kind in sets.lists[list].clone() {
                for state in initial(&layout, &kind)? {
                    sets.add(&layout, list, &state);
                }
            }
        }
        Ok(Self { layout, sets })
    }

    /// Continues until the set is closed, or has more than this number of views; then it may be
    /// continued with more.
    ///
    /// # Errors
    /// If a view goes wrong, or the budget runs out.
    pub fn go_on(&mut self, most: usize, budget: &mut Budget<'_>) -> Result<(), Obstacle> {
        let mut made: usize = 0;
        while !self.sets.waiting.is_empty() {
            if self.sets.len() > most {
                return Err(Obstacle::Views);
            }
            self.sets.expand(&self.layout)?;
            made += 1;
            if made.is_multiple_of(64) {
                budget.spend(self.sets.bytes()).map_err(Obstacle::Unfinished)?;
            }
        }
        match self.sets.len() > most {
            true => Err(Obstacle::Views),
            false => Ok(()),
        }
    }

    /// Returns the number of views.
    pub const fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns true if there is no view.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of different centres.
    pub const fn centres(&self) -> usize {
        self.sets.homes.len()
    }

    /// Returns the lists, each with the kinds that it stands for and its number of views.
    pub fn lists(&self) -> impl Iterator<Item = (&[Kind], usize)> {
        let known = self.sets.known.iter().map(HashTable::len);
        self.sets.lists.iter().map(Vec::as_slice).zip(known)
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.sets.bytes()
    }

    /// Returns the layout and the views.
    pub fn into_family(self) -> (L, ViewSets) {
        let sets = self.sets;
        let mut views: Vec<FxHashSet<Box<[u8]>>> = vec![FxHashSet::default(); sets.lists.len()];
        for (list, known) in views.iter_mut().zip(&sets.known) {
            list.reserve(known.len());
        }
        for number in 0..sets.len() as u32 {
            let (list, row) = (sets.list_of[number as usize], sets.row(number));
            views[usize::from(list)].insert(row.into());
        }
        let views: Vec<_> = views.into_iter().map(Rc::new).collect();
        let all = sets.lists.iter().zip(&views);
        let of = all.flat_map(|(kinds, views)| vec![Rc::clone(views); kinds.len()]).collect();
        (self.layout, ViewSets { kinds: sets.lists.into_iter().flatten().collect(), views: of })
    }
}

impl Sets {
    pub const fn len(&self) -> usize {
        self.list_of.len()
    }

    fn bytes(&self) -> usize {
        let recalled: usize = self.recalls.iter().map(|recall| recall.bytes).sum();
        self.len() * (self.size + 48) + recalled + 256 * (self.effects + self.homes.len())
    }

    pub fn row(&self, number: u32) -> &[u8] {
        let begin = number as usize * self.size;
        &self.rows[begin..begin + self.size]
    }

    /// Returns the kinds of a view.
    pub fn kinds(&self, number: u32) -> &[Kind] {
        &self.lists[usize::from(self.list_of[number as usize])]
    }

    fn add(&mut self, layout: &Layout<'_>, list: usize, state: &[u8]) {
        let (rows, size) = (&self.rows, self.size);
        let row = |number: u32| &rows[number as usize * size..][..size];
        let hash = hash(state);
        if self.known[list].find(hash, |number| row(*number) == state).is_some() {
            return;
        }
        let number = self.list_of.len() as u32;
        self.known[list].insert_unique(hash, number, |number| self::hash(row(*number)));
        let mut homes = SmallVec::new();
        for centre in centres(layout, &self.lists[list], state) {
            let next = self.homes.len() as u32;
            let home = *self.centres.entry(centre).or_insert(next);
            if home == next {
                self.homes.push(SharedPartEntry::default());
            }
            homes.push(home);
        }
        self.rows.extend_from_slice(state);
        self.list_of.push(list as u8);
        self.origins.push(self.present);
        homes.iter().for_each(|home: &u32| self.homes[*home as usize].views.push(number));
        self.waiting.push_back(homes);
    }

    /// Makes the steps of the next view.
    fn expand(&mut self, layout: &Layout<'_>) -> Result<(), Failure> {
        let number = (self.len() - self.waiting.len()) as u32;
        let Some(homes) = self.waiting.pop_front() else { return Ok(()) };
        let list = usize::from(self.list_of[number as usize]);
        let row = self.row(number).to_vec();
        self.present = Origin { from: number, by: NOWHERE };
        let steps = self.recalls[list].steps(layout, &row)?;
        for state in &steps.views {
            self.add(layout, list, state);
        }
        for home in homes.into_iter().map(|home| home as usize) {
            // Known interference applies to this view, and this view's interference to known views.
            for position in 0..self.homes[home].effects.len() {
                let (joint, by) = self.homes[home].effects[position].clone();
                self.present = Origin { from: number, by };
                self.apply(layout, &joint, list, &row)?;
            }
            for effect in &steps.effects {
                let is_left_out = match effect.actor {
                    T => self.planted.no_others,
                    _ => self.planted.no_scans,
                };
                if is_left_out || self.homes[home].known.contains(effect) {
                    continue;
                }
                let effect = Rc::new(effect.clone());
                self.homes[home].known.insert(Rc::clone(&effect));
                let kinds = self.lists.iter().filter_map(|kinds| kinds.first());
                let targets = kinds.map(|kind| effect.targets(layout, kind)).collect();
                let joint = Rc::new(Joint { effect, targets });
                self.homes[home].effects.push((Rc::clone(&joint), number));
                self.effects += 1;
                for position in 0..self.homes[home].views.len() {
                    let from = self.homes[home].views[position];
                    let row = self.row(from).to_vec();
                    self.present = Origin { from, by: number };
                    let list = usize::from(self.list_of[from as usize]);
                    self.apply(layout, &joint, list, &row)?;
                }
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        layout: &Layout<'_>,
        joint: &Joint,
        list: usize,
        row: &[u8],
    ) -> Result<(), Failure> {
        if !layout.asks.go_on(row.len()) {
            return Err(Failure::Ended);
        }
        let Some(kind) = self.lists[list].first() else { return Ok(()) };
        let Joint { effect, targets } = joint;
        let made = effect.apply_to(layout, kind, &targets[list], row, self.planted)?;
        made.into_iter().for_each(|state| self.add(layout, list, &state));
        Ok(())
    }
}

fn hash(row: &[u8]) -> u64 {
    use std::hash::Hasher;

    let mut hasher = FxHasher::default();
    hasher.write(row);
    hasher.finish()
}
