//! Checks that each move of an execution leads from a view of the state before to one of the state
//! after, by the steps of certificates: of the process itself, or by interference.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_invariant::byte::{I, J, T};
use snapshot_invariant::centre::{canonical, centre};
use snapshot_invariant::flips::{load, normal};
use snapshot_invariant::interference::Effect;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::step::lost::found;
use snapshot_invariant::step::{InjectedFault, Kind, Run};
use snapshot_invariant::views::steps;

use snapshot_invariant::projection::tuple::Tuple;

/// Maximum number of steps of views in a move: its access, the end of a ghost scan, the computation
/// behind it, and the begin of the next.
const STEPS: usize = 4;

type View = Vec<u8>;

/// Successors of a view by the steps of one process, and the interference of these steps.
#[derive(Default)]
struct Made {
    views: Vec<View>,
    effects: Vec<Effect>,
    /// True if one of the steps goes wrong: its successors are not listed.
    fails: bool,
}

/// A kind, a process, and the view.
type Key = (u8, Vec<u8>, u8, View);

/// The steps of views, each computed once.
pub struct Steps<'a> {
    layout: &'a Layout<'a>,
    planted: InjectedFault,
    made: RefCell<FxHashMap<Key, Rc<Made>>>,
}

impl<'a> Steps<'a> {
    pub fn new(layout: &'a Layout<'a>, planted: InjectedFault) -> Self {
        Self { layout, planted, made: RefCell::default() }
    }

    fn of(&self, kind: &Kind, me: u8, view: &View) -> Rc<Made> {
        let key = (kind.followed, kind.members.clone(), me, view.clone());
        if let Some(made) = self.made.borrow().get(&key) {
            return Rc::clone(made);
        }
        let (layout, planted) = (self.layout, self.planted);
        let mut made = Made::default();
        let outcomes = Run { layout, kind, me, planted }.steps(&load(layout, view));
        for outcome in outcomes {
            if outcome.failure.is_some() {
                made.fails = true;
                continue;
            }
            let Ok(states) = found(layout, kind, planted, outcome.state) else {
                made.fails = true;
                continue;
            };
            for mut state in states {
                canonical(layout, &mut state);
                made.views.extend(normal(layout, state));
            }
        }
        if me == kind.followed {
            let silent = InjectedFault { no_failures: true, ..planted };
            made.effects = steps(layout, kind, view, silent).expect("effects").effects;
        }
        let made = Rc::new(made);
        self.made.borrow_mut().insert(key, Rc::clone(&made));
        made
    }
}

/// Views of an execution that its moves have led to.
pub struct Followed<'a, 's> {
    steps: &'s Steps<'a>,
    tuples: Vec<Tuple>,
    /// Per tuple.
    reached: Vec<FxHashSet<View>>,
    /// Number of moves that change a view.
    pub changes: usize,
    /// Number of those moves that a process outside the view, or one it does not show, made.
    pub joins: usize,
    /// True if a failed step was ignored: from there on nothing is followed.
    pub is_lost: bool,
}

impl<'a, 's> Followed<'a, 's> {
    pub fn new(steps: &'s Steps<'a>, tuples: &[Tuple], covers: &[Vec<&[u8]>]) -> Self {
        let reached = covers.iter().map(|all| all.iter().map(|view| view.to_vec()).collect());
        let (tuples, reached) = (tuples.to_vec(), reached.collect());
        Self { steps, tuples, reached, changes: 0, joins: 0, is_lost: false }
    }

    /// Follows a move of a process to a state that the views `covers` cover. Where processes may be
    /// lost, `more` has further views of the state, with these processes elsewhere on their paths.
    ///
    /// # Errors
    /// The number of a tuple none of whose views is a successor.
    pub fn step(
        &mut self,
        process: usize,
        covers: &[Vec<&[u8]>],
        more: Option<&[Vec<&[u8]>]>,
    ) -> Result<(), usize> {
        if self.is_lost {
            return Ok(());
        }
        let before = self.reached.clone();
        let mut now = self.reached.clone();
        let mut ends = false;
        for round in 0..=STEPS {
            ends |= round == STEPS;
            let missing = (0..self.tuples.len())
                .find(|number| !covers[*number].iter().any(|view| now[*number].contains(*view)));
            match missing {
                // A process that may have moved on may also stand at its old location: then it
                // makes its step.
                None if more.is_none() || ends => break,
                None => {}
                Some(_) if ends && self.may_have_failed(process, &before) => {
                    self.is_lost = true;
                    return Ok(());
                }
                Some(missing) if ends => return Err(missing),
                Some(_) => {}
            }
            let mut after = now.clone();
            for (number, after) in after.iter_mut().enumerate() {
                self.lead(number, process, &now, after);
            }
            ends = now.iter().zip(&after).all(|(now, after)| now.len() == after.len());
            now = after;
        }
        for (number, covers) in covers.iter().enumerate() {
            let more = more.map_or([].as_slice(), |more| &more[number]);
            let covers: FxHashSet<&[u8]> = covers.iter().chain(more).copied().collect();
            now[number].retain(|view| covers.contains(view.as_slice()));
            if now[number].is_disjoint(&before[number]) {
                self.changes += 1;
                let is_shown = self.tuples[number].members.contains(&Some(process));
                self.joins += usize::from(!is_shown);
            }
        }
        self.reached = now;
        Ok(())
    }

    /// Returns true if failures are ignored, and a step of the process fails.
    fn may_have_failed(&self, process: usize, before: &[FxHashSet<View>]) -> bool {
        let fails = |tuple: &Tuple, views: &FxHashSet<View>| {
            let (kind, place) = (tuple.kind(), tuple.place(process));
            let is_there = kind.members.contains(&place);
            is_there && views.iter().any(|view| self.steps.of(&kind, place, view).fails)
        };
        self.steps.planted.no_failures
            && self.tuples.iter().zip(before).any(|(tuple, views)| fails(tuple, views))
    }

    /// Returns the successors of the views of a tuple by one step of a process.
    fn lead(
        &self,
        number: usize,
        process: usize,
        now: &[FxHashSet<View>],
        after: &mut FxHashSet<View>,
    ) {
        let (layout, planted) = (self.steps.layout, self.steps.planted);
        let tuple = &self.tuples[number];
        let (kind, place) = (tuple.kind(), tuple.place(process));
        if kind.members.contains(&place) {
            for view in &now[number] {
                after.extend(self.steps.of(&kind, place, view).views.iter().cloned());
            }
        }
        let own = self.tuples.iter().position(|one| {
            let is_followed = one.process(one.followed) == Some(process);
            is_followed && (one.followed == T || one.process(T).is_none())
        });
        let Some(own) = own.filter(|own| *own != number) else { return };
        let of = self.tuples[own].kind();
        debug_assert!(of.followed == T || of.followed == I || of.followed == J);
        for actor in &now[own] {
            let made = self.steps.of(&of, of.followed, actor);
            if made.effects.is_empty() {
                continue;
            }
            let shared = centre(layout, &of, actor);
            for view in now[number].iter().filter(|view| centre(layout, &kind, view) == shared) {
                for effect in &made.effects {
                    let joined = effect.apply(layout, &kind, view, planted);
                    after.extend(joined.expect("the interference of a step"));
                }
            }
        }
    }
}
