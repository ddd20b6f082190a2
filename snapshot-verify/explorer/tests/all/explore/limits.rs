//! Limits of the search itself are noted exactly where the search reaches them.

use std::collections::BTreeSet;

use snapshot_core::Process;
use snapshot_explorer::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Invocations, Location, Owner,
    Reaction, Response, Slot, SlotId, Standing, Target, Term,
};
use snapshot_explorer::limits::Limit;
use snapshot_explorer::search::{Exploration, SearchVerdict};
use snapshot_language::Span;

/// The cell that process 0 updates and scans.
const CELL: SlotId = SlotId(0);

/// Creates a register of one process, whose updates pass this many locations by reactions before
/// they respond.
fn passing(locations: u32) -> Instance {
    let slot =
        |name: &str, owner| Slot { name: name.to_owned(), owner, domain: Domain::BIT, initial: 0 };
    let processes = [0, 1].map(Process::from_index);
    let arguments = processes.map(|process| slot("argument", Owner::Operation(process)));
    let slots = [slot("cell", Owner::Shared)].into_iter().chain(arguments).collect();
    let graph = |argument: SlotId| {
        let block = |assignments, end| Block { accesses: 0, assignments, end };
        let argument_of = Term::Slot(argument);
        let write = Assignment { target: Target::Slot(CELL), value: argument_of.clone() };
        let at = [Term::Slot(CELL), Term::Constant(0)];
        let foreign = Term::Constant(0);
        let mut blocks = vec![
            block(vec![write], End::Pause(Location(1))),
            block(vec![], End::Respond(Response::Scan { at, foreign })),
            block(vec![], End::Respond(Response::Update { value: argument_of })),
        ];
        let standing = |step, reactions| Standing {
            step,
            span: Span::default(),
            label: String::new(),
            updating: true,
            reactions,
        };
        let mut graph_locations = vec![standing(None, vec![])];
        for location in 1..=locations {
            let then = BlockId(blocks.len() as u32);
            blocks.push(block(vec![], End::Pause(Location(location + 1))));
            let reaction = Reaction { when: Term::TRUE, then };
            graph_locations.push(standing(Some(BlockId(2)), vec![reaction]));
        }
        graph_locations.push(standing(Some(BlockId(2)), vec![]));
        let invocations = Invocations { update: BlockId(0), scan: BlockId(1) };
        Graph { blocks, locations: graph_locations, invocations, argument: Some(argument) }
    };
    let graphs = [1, 2].map(|argument| graph(SlotId(argument))).into();
    Instance { processes: 2, pair: processes, slots, graphs }
}

#[test]
fn reactions_beyond_the_limit_are_noted() {
    let active = Some(BTreeSet::from([Process::from_index(0)]));
    for (locations, is_reached) in [(1_000, false), (1_100, true)] {
        let exploration = Exploration { active: active.clone(), ..Exploration::default() };
        let outcome = exploration.run(&passing(locations), &mut |_| ()).unwrap();
        assert_eq!(outcome.verdict, SearchVerdict::Verified);
        let reached: Vec<Limit> = outcome.limits.iter().collect();
        let expected = if is_reached { vec![Limit::Reactions] } else { vec![] };
        assert_eq!(reached, expected, "{locations}");
    }
}
