//! The tree of an argument against strong linearizability, with the operations of its orders.

use crate::interpret::{Call, Execution, Machine, Move, MoveError, MoveKind};
use crate::strong::Case;

/// A case, repeated by the interpreter.
pub(crate) struct Told {
    /// Number of moves of the cases before.
    pub before: usize,
    /// Moves of the execution, from the first.
    pub moves: Vec<Move>,
    pub execution: Execution,
    /// The order that all ways of ordering continue.
    pub order: Order,
    pub branches: Vec<ToldBranch>,
}

/// Operations in blocks, by their numbers in the order of invocations.
pub(crate) type Order = Vec<Vec<usize>>;

/// Orders with the same effect, and the case that refutes them.
pub(crate) struct ToldBranch {
    /// Operations that each order appends.
    pub appended: Vec<Order>,
    pub told: Told,
}

impl Told {
    /// Repeats a tree.
    ///
    /// # Errors
    /// If a move cannot be made.
    pub fn new(machine: &Machine<'_>, case: &Case) -> Result<Self, MoveError> {
        Self::after(machine, case, &[], Order::new())
    }

    fn after(
        machine: &Machine<'_>,
        case: &Case,
        before: &[Move],
        order: Order,
    ) -> Result<Self, MoveError> {
        let moves = [before, &case.moves].concat();
        let execution = machine.run(&moves)?;
        let begun = begun(&moves);
        let latest = |process| begun.iter().rposition(|(made, _)| made.process == process);
        let branches = case.branches.iter().map(|branch| {
            let appended: Vec<Order> = branch
                .orders
                .iter()
                .map(|order| {
                    let block = |block: &Vec<_>| block.iter().copied().filter_map(latest).collect();
                    order.iter().map(block).collect()
                })
                .collect();
            let first = appended.first().cloned().unwrap_or_default();
            let order = [order.clone(), first].concat();
            let told = Self::after(machine, &branch.case, &moves, order)?;
            Ok(ToldBranch { appended, told })
        });
        let branches = branches.collect::<Result<_, MoveError>>()?;
        Ok(Self { before: before.len(), moves, execution, order, branches })
    }

    /// Returns the operations as text, such as `update(1) by p0`, in the order of invocations.
    pub fn calls(&self, machine: &Machine<'_>) -> Vec<String> {
        let text = |(made, call): (Move, Call)| {
            format!("{} by p{}", machine.call_text(call), made.process)
        };
        begun(&self.moves).into_iter().map(text).collect()
    }
}

/// Returns the moves that begin operations, with the calls.
fn begun(moves: &[Move]) -> Vec<(Move, Call)> {
    let call = |made: &Move| match made.kind {
        MoveKind::Begin(call) => Some((*made, call)),
        MoveKind::Step | MoveKind::Take(_) => None,
    };
    moves.iter().filter_map(call).collect()
}

/// Returns text such as `update(1) by p0, then scan by p1`; `names`: operations in the order of
/// invocations.
pub(crate) fn order_text(order: &Order, names: &[String]) -> String {
    let block = |block: &Vec<usize>| {
        let members: Vec<&str> = block.iter().map(|number| names[*number].as_str()).collect();
        members.join(" together with ")
    };
    let blocks: Vec<String> = order.iter().map(block).collect();
    if blocks.is_empty() { "as before".to_owned() } else { blocks.join(", then ") }
}
