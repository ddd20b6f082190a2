//! Rounds of loops over the crowd that count as rounds of any other process.

use snapshot_language::deadline::Deadline;

use super::flow::{Flow, Rounds, Slots};
use super::liveness::{target, terms};
use super::model::{Act, For, Model, Step};
use super::shape::{I, J, Mode, Scalar, T};
use super::term::{Over, Term};

/// Records the members that count as any other in a loop.
pub fn merge(model: &mut Model, deadline: Deadline<'_>) {
    for at in 0..model.code.len() {
        let (Act::Begin(this) | Act::Next(this)) = &model.code[at].act else { continue };
        let mut this = this.clone();
        if this.over != Over::Members {
            continue;
        }
        for me in [I, J, T] {
            for member in [I, J, T] {
                // A process that leaves out itself never has a round with itself.
                let never = member == me && matches!(this.except, Some(Term::Me));
                this.merged[usize::from(me)][usize::from(member)] =
                    never || is_as_any_other(model, &this, (me, member), deadline);
            }
        }
        model.code[at].act = match &model.code[at].act {
            Act::Begin(_) => Act::Begin(this),
            _ => Act::Next(this),
        };
    }
}

/// Returns true if the index in a round with a member touches no kept byte.
fn is_as_any_other(
    model: &Model,
    this: &For,
    (me, member): (u8, u8),
    deadline: Deadline<'_>,
) -> bool {
    let rounds = Rounds::none(deadline);
    let flow = Flow { model, me, bound: vec![(this.variable, member)], rounds: &rounds };
    // The round with the process as a member justifies views from its place: so views are checked
    // there, even if they are not kept.
    let exempts = model.goal.mode() == Mode::Nested && !model.goal.is_of_faults();
    let is_shown = |at: usize| {
        let slot = &model.slots[at];
        slot.kept || exempts && slot.leaf.scalar == Scalar::View
    };
    let is_kept = |slots: &[Slots]| slots.iter().flatten().any(|at| is_shown(*at));
    let is_index = |term: &Term| matches!(term, Term::Variable(base, 1) if *base == this.variable);
    (this.body..this.end).take_while(|_| !deadline.is_over()).all(|at| {
        let act = &model.code[at].act;
        // All uses of the index, and the uses that lead to no kept byte.
        let (mut uses, mut harmless) = (0, 0);
        for term in terms(act) {
            term.visit(&mut |term| {
                uses += usize::from(is_index(term));
                if let Term::Index { array, element, index, over, .. } = term
                    && *over == Over::Members
                    && is_index(index)
                    && let Term::Variable(base, _) = &**array
                {
                    let begin = model.blocks[usize::from(me)] + base;
                    let size = element.size();
                    let begin = begin + usize::from(member) * size;
                    let kept = (begin..begin + size).any(is_shown);
                    harmless += usize::from(!kept);
                }
            });
        }
        if let Some(target) = target(act) {
            let direct = target.path.iter().filter(
                |step| matches!(step, Step::Element(index, Over::Members, ..) if is_index(index)),
            );
            if !is_kept(&flow.stored_to(target)) {
                harmless += direct.count();
            }
        }
        if let Some(cell) = act.cell()
            && !is_kept(&flow.cells(cell))
            && !is_kept(&[I, J, T].map(|owner| flow.links(cell, owner)))
        {
            harmless += cell.indices.iter().filter(|(_, index)| is_index(index)).count();
        }
        uses == harmless
    })
}
