//! The projection gate: executions of the interpreter, each state of which must have its views in
//! the lists of a proof.
//!
//! A list has a view of each state of all n, for every tuple of processes: this is what a proof shows by its
//! rules. Here it is compared with executions, without these rules: the interpreter runs the
//! program that was proved, [`execution`] records the past as the specification sees it, and
//! [`likeness`] reads both. So a rule that is wrong, or missing, shows as a state without a view,
//! and a mistake in an analysis of bytes, too.
//!
//! With two processes there is no third, so all states of n = 2 are projected where these end within
//! a bound, and of n = 3 as many as a bound allows, breadth-first; random executions of n = 3 and 4
//! reach states far from the initial one.
//!
//! | module | content |
//! | --- | --- |
//! | [`execution`], `ghosts`, [`histories`], `gone`, `pauses` | executions with their past |
//! | `identity` | executions that no view tells apart |
//! | [`mod@tuple`], [`likeness`] | which processes a view shows, and each of its bytes |
//! | [`cover`] | the views of a state |
//! | [`search`], [`mod@walk`] | breadth-first, and random executions |
//! | `fitness` | programs whose executions cannot be projected |

pub mod cover;
pub mod execution;
mod fitness;
mod ghosts;
mod gone;
pub mod histories;
mod identity;
pub mod likeness;
mod pauses;
pub mod search;
pub mod tuple;
pub mod walk;

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use snapshot_semantics::interpret::Machine;

use self::cover::{Counts, Views};
pub use self::fitness::unfit;
use self::search::{Search, is_join, site_of};
use self::tuple::pairs;
use self::walk::walk;
use crate::claim::Obligation;
use crate::layout::Layout;
use crate::step::Kind;

/// Site of a join: the actor, and the procedure and the instruction of its step; `None`: it begins
/// its operation.
pub type Site = (u8, Option<(usize, usize)>);

/// Returns the site of the next step of the process that a view follows.
pub fn site(layout: &Layout<'_>, kind: &Kind, view: &[u8]) -> Site {
    (kind.followed, layout.place(view, kind.followed, true))
}

/// Number of states that are projected, for each obligation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Extent {
    /// All states of n = 2, if they are no more than so many.
    pub two: usize,
    /// States of n = 3, breadth-first.
    pub three: usize,
    /// Random executions of n = 3 and 4, and the moves of each.
    pub walks: u64,
    pub moves: usize,
}

impl Extent {
    /// All states of n = 2 of most programs; takes minutes.
    pub const THOROUGH: Self = Self { two: 2_000_000, three: 200_000, walks: 1_000, moves: 400 };

    /// Grows with the number of views, so that the projection takes about as long as the check.
    #[must_use]
    pub fn of(self, views: usize) -> Self {
        Self { two: self.two.max(views / 10), three: self.three.max(views / 40), ..self }
    }
}

/// About a second.
impl Default for Extent {
    fn default() -> Self {
        Self { two: 10_000, three: 2_000, walks: 24, moves: 150 }
    }
}

/// States that were projected into the lists of an obligation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Coverage {
    pub obligation: Obligation,
    /// States of two processes, and whether these are all.
    pub two: usize,
    pub is_whole: bool,
    /// States of three processes, breadth-first.
    pub three: usize,
    /// Projections of random executions: states, each for one tuple.
    pub random: usize,
    /// Per list, its kinds, the number of its views, and the number of those that belong to a projected
    /// state.
    pub kinds: Vec<(Vec<Kind>, usize, usize)>,
    /// Number of the sites of joins, and of those that an execution has shown.
    pub joins: [usize; 2],
    /// Reason why nothing was projected.
    pub unfit: Option<&'static str>,
    pub elapsed: Duration,
}

impl Coverage {
    /// Returns the number of states of breadth-first searches.
    pub const fn states(&self) -> usize {
        self.two + self.three
    }

    /// Returns the number of views, and of those that belong to a projected state.
    pub fn views(&self) -> [usize; 2] {
        self.kinds.iter().fold([0, 0], |[all, seen], (_, views, of)| [all + views, seen + of])
    }
}

/// Projects executions into the lists of an obligation, which is proved with joins at these sites.
///
/// # Errors
/// A state without a view, or an execution that the proof excludes, described for a human reader.
pub fn project(
    views: &Views<'_>,
    sites: &FxHashSet<Site>,
    extent: &Extent,
) -> Result<Coverage, String> {
    let (layout, began) = (views.layout, Instant::now());
    let mut coverage = Coverage {
        obligation: layout.obligation,
        two: 0,
        is_whole: false,
        three: 0,
        random: 0,
        kinds: Vec::new(),
        joins: [sites.len(), 0],
        unfit: unfit(layout),
        elapsed: Duration::ZERO,
    };
    if coverage.unfit.is_some() {
        return Ok(coverage);
    }
    let mut wanted = sites.clone();
    let mut counts = Counts::default();
    for (n, most) in [(2, extent.two), (3, extent.three)] {
        let machine = Machine::new(layout.program, n).map_err(|error| error.to_string())?;
        let pairs = pairs(n, layout.tokens());
        let mut search = Search { views, wanted: &mut wanted, counts, states: 0, is_cut: false };
        let mut is_whole = true;
        for pair in &pairs {
            is_whole &= search.breadth_first(&machine, *pair, most / pairs.len())?;
        }
        let states = search.states;
        counts = search.counts;
        match n {
            2 => (coverage.two, coverage.is_whole) = (states, is_whole),
            _ => coverage.three = states,
        }
    }
    let machines = [3, 4].map(|n| Machine::new(layout.program, n));
    for seed in 0..extent.walks {
        let machine = machines[seed as usize % 2].as_ref().map_err(ToString::to_string)?;
        let walked = random(views, machine, seed, extent.moves, &mut wanted)?;
        coverage.random += walked.projections;
        counts.add(walked);
    }
    if counts.violations + counts.faults > 0 {
        return Err(format!("executions that the proof excludes: {counts:?}"));
    }
    let of = |(kinds, all, seen): (&[Kind], usize, usize)| (kinds.to_vec(), all, seen);
    coverage.kinds = views.seen().into_iter().map(of).collect();
    coverage.joins[1] = sites.len() - wanted.len();
    coverage.elapsed = began.elapsed();
    Ok(coverage)
}

/// One random execution, which notes the sites of joins.
fn random(
    views: &Views<'_>,
    machine: &Machine<'_>,
    seed: u64,
    moves: usize,
    wanted: &mut FxHashSet<Site>,
) -> Result<Counts, String> {
    if !views.layout.asks.go_on(moves) {
        return Ok(Counts::default());
    }
    let mut before: Option<Vec<Vec<&[u8]>>> = None;
    walk(views, machine, seed, moves, &mut |_, tuples, process, all| {
        let now = all.into_iter().next().map(|covers| covers.views).unwrap_or_default();
        if let Some(before) = &before
            && let Some(site) = site_of(views, tuples, process, before)
            && wanted.contains(&site)
            && is_join(tuples, process, before, &now)
        {
            wanted.remove(&site);
        }
        before = Some(now);
        Ok(())
    })
}
