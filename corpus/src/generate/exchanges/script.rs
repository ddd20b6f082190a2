//! The scripts of violations of an immediate snapshot.

use super::Flaw;
use crate::generate::scheduler::{Deed, Script, Step};

/// A move of a script. Actors are numbered in the order of the cast.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// An actor invokes an operation.
    Invoke(usize),
    /// The operations of these actors take effect together.
    Block(&'static [usize]),
    /// The operation of an actor responds.
    Respond(usize),
    /// The operation of an actor responds with a lie about the segment of another actor.
    Lie(usize, usize),
    /// The operation of an actor fails.
    Fail(usize),
}

const fn moves(flaw: Flaw) -> &'static [Move] {
    use Move::{Block, Fail, Invoke, Lie, Respond};
    match flaw {
        Flaw::OwnValue => &[Invoke(0), Block(&[0]), Lie(0, 0)],
        Flaw::Containment => {
            &[Invoke(0), Invoke(1), Block(&[0]), Block(&[1]), Lie(1, 0), Respond(0)]
        }
        Flaw::Immediacy => {
            &[Invoke(0), Invoke(1), Invoke(2), Block(&[0, 1, 2]), Respond(1), Lie(0, 2), Respond(2)]
        }
        Flaw::Future => &[Invoke(0), Block(&[0]), Lie(0, 1), Invoke(1), Block(&[1]), Respond(1)],
        Flaw::NeverWritten => &[Invoke(0), Block(&[0]), Lie(0, 1)],
        Flaw::Failed => &[
            Invoke(1),
            Invoke(0),
            Block(&[0]),
            Lie(0, 1),
            Fail(1),
            Invoke(1),
            Block(&[1]),
            Respond(1),
        ],
    }
}

/// Returns the script for this cast. The actors write values from `first` on, so that a lie can be
/// about a later value.
pub(super) fn script(flaw: Flaw, cast: Vec<usize>, first: i64, after: f64, honest: bool) -> Script {
    let mut steps = vec![Step::Freeze];
    let mut next = first;
    // The value of the failed operation, and of the one that is invoked behind the lie.
    let lie = match flaw {
        Flaw::Failed => Some(first),
        Flaw::Future | Flaw::NeverWritten => Some(first + 1),
        Flaw::OwnValue | Flaw::Containment | Flaw::Immediacy => None,
    };
    for one in moves(flaw) {
        steps.push(match *one {
            Move::Invoke(actor) => {
                next += 1;
                Step::Invoke(cast[actor], Deed::exchange(cast[actor], next - 1))
            }
            Move::Block(actors) => Step::Effect(actors.iter().map(|actor| cast[*actor]).collect()),
            Move::Lie(actor, about) if !honest => {
                Step::Respond(cast[actor], vec![(cast[about], lie)])
            }
            Move::Lie(actor, _) | Move::Respond(actor) => Step::Respond(cast[actor], Vec::new()),
            Move::Fail(actor) => Step::Fail(cast[actor]),
        });
    }
    steps.push(Step::Thaw);
    Script { cast, steps, needed: Vec::new(), after }
}
