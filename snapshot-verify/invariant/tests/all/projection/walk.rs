//! Random executions, each state of which must be covered by views, and each move of which by steps.

use snapshot_invariant::layout::Layout;
use snapshot_invariant::projection::cover;
pub use snapshot_invariant::projection::cover::Counts;
use snapshot_invariant::projection::walk;
use snapshot_invariant::search::ViewSets;
use snapshot_invariant::step::InjectedFault;
use snapshot_semantics::interpret::Machine;

use super::follow::{Followed, Steps};

/// Views of a layout, and the faults with which they were closed.
pub struct Views<'a> {
    pub layout: &'a Layout<'a>,
    planted: InjectedFault,
    views: cover::Views<'a>,
}

impl<'a> Views<'a> {
    pub fn new(layout: &'a Layout<'a>, family: &'a ViewSets, planted: InjectedFault) -> Self {
        Self { layout, planted, views: cover::Views::of_family(layout, family) }
    }
}

/// Runs one execution of n processes of very different speed.
///
/// # Errors
/// If a state has no view.
pub fn walk(views: &Views<'_>, n: usize, seed: u64, moves: usize) -> Result<Counts, String> {
    let machine = Machine::new(views.layout.program, n).map_err(|error| error.to_string())?;
    let steps = Steps::new(views.layout, views.planted);
    let mut followed: Option<Followed<'_, '_>> = None;
    let counts =
        walk::walk(&views.views, &machine, seed, moves, &mut |execution, tuples, process, all| {
            let mut of = all.into_iter().map(|covers| covers.views);
            let mut covers = of.next().expect("one history has views");
            for more in of {
                covers.iter_mut().zip(more).for_each(|(covers, more)| covers.extend(more));
            }
            let may_be = |tuple| views.views.may_be(execution, tuple);
            let more: Option<Vec<Vec<&[u8]>>> =
                execution.may_any_be_lost().then(|| tuples.iter().map(may_be).collect());
            // Nothing is shown between two pauses.
            match &mut followed {
                _ if execution.fine => {}
                None => followed = Some(Followed::new(&steps, tuples, &covers)),
                Some(followed) => {
                    followed.step(process, &covers, more.as_deref()).map_err(|number| {
                        let text =
                            views.views.missing(execution, &tuples[number], &[], &covers[number]);
                        format!("no step of p{process} leads there: {text}")
                    })?
                }
            }
            Ok(())
        });
    let mut counts = counts?;
    let followed = followed.map_or((0, 0), |one| (one.changes, one.joins));
    counts.add(Counts { changes: followed.0, joins: followed.1, ..Counts::default() });
    Ok(counts)
}
