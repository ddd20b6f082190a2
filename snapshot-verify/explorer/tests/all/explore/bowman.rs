//! Bowman's algorithm (Algorithm 1 of the DISC 2022 paper) as a handmade graph of steps. Every
//! event is a separate step, and dead locals are reset. Cells that are constant for the pair are
//! removed, but their reads remain.

use snapshot_core::Process;
use snapshot_explorer::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Invocations, Location, NONE,
    Operator, Owner, Response, Scalar, Slot, SlotId, Standing, Target, Term,
};
use snapshot_language::Span;

/// The exit condition of a scan's loop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// `active = me`.
    Correct,
    /// `active != none`: the bug `early_exit`.
    Early,
}

/// The graph of one process, under construction.
struct Builder {
    blocks: Vec<Block>,
    locations: Vec<Standing>,
}

impl Builder {
    fn block(&mut self, assignments: Vec<(SlotId, Term)>, end: End) -> BlockId {
        let assign = |(slot, value)| Assignment { target: Target::Slot(slot), value };
        let assignments = assignments.into_iter().map(assign).collect();
        self.blocks.push(Block { accesses: 1, assignments, end });
        BlockId(self.blocks.len() as u32 - 1)
    }

    fn location(&mut self, label: &str, updating: bool) -> Location {
        let span = Span::default();
        let label = label.to_owned();
        self.locations.push(Standing { step: None, span, label, updating, reactions: Vec::new() });
        Location(self.locations.len() as u32 - 1)
    }

    fn step(&mut self, at: Location, assignments: Vec<(SlotId, Term)>, end: End) {
        self.locations[at.index()].step = Some(self.block(assignments, end));
    }

    fn entry(&mut self, at: Location) -> BlockId {
        let block = self.block(Vec::new(), End::Pause(at));
        self.blocks[block.index()].accesses = 0;
        block
    }
}

/// Creates Bowman's algorithm for n processes and this pair.
pub fn bowman(processes: usize, pair: [usize; 2], exit: Exit) -> Instance {
    let mut slots = Vec::new();
    let mut slot = |name: String, owner, domain, initial| {
        slots.push(Slot { name, owner, domain, initial });
        SlotId(slots.len() as u32 - 1)
    };
    let last = processes as Scalar - 1;
    let process_or_none =
        Domain::Range { low: 0, high: last, optional: true, names_processes: true };
    let active = slot("active".to_owned(), Owner::Shared, process_or_none, NONE);
    let a = pair.map(|k| slot(format!("a[{k}]"), Owner::Shared, Domain::BIT, 0));
    let locals: Vec<(SlotId, [SlotId; 2])> = (0..processes)
        .map(|p| {
            let owner = Owner::Operation(Process::from_index(p));
            let argument = slot(format!("p{p}.v"), owner, Domain::BIT, 0);
            let copy = pair.map(|k| slot(format!("p{p}.copy[{k}]"), owner, Domain::BIT, 0));
            (argument, copy)
        })
        .collect();

    let graphs = (0..processes).map(|p| {
        let (argument, copy) = locals[p];
        let switching = pair.iter().position(|&k| k == p);
        let mut builder = Builder { blocks: Vec::new(), locations: Vec::new() };
        builder.location("idle", false);

        let deactivate = builder.location("active := none", true);
        let respond = builder.location("update responds", true);
        let written = match switching {
            Some(l) => {
                let write = builder.location("a[me] := v", true);
                builder.step(write, vec![(a[l], Term::Slot(argument))], End::Pause(respond));
                write
            }
            None => respond,
        };
        builder.step(deactivate, vec![(active, Term::NONE)], End::Pause(written));
        let value = switching.map_or(Term::Constant(0), |_| Term::Slot(argument));
        builder.step(respond, vec![], End::Respond(Response::Update { value }));
        let update = builder.entry(deactivate);

        let activate = builder.location("active := me", false);
        let reads = pair.map(|k| builder.location(&format!("copy[{k}] := a[{k}]"), false));
        let test = builder.location("until", false);
        let respond = builder.location("scan responds", false);
        let me = Term::Process(p as Scalar);
        builder.step(activate, vec![(active, me.clone())], End::Pause(reads[0]));
        for (l, &read) in reads.iter().enumerate() {
            let next = reads.get(l + 1).copied().unwrap_or(test);
            builder.step(read, vec![(copy[l], Term::Slot(a[l]))], End::Pause(next));
        }
        let again = builder
            .block(copy.map(|copy| (copy, Term::Constant(0))).to_vec(), End::Pause(activate));
        let done = builder.block(vec![], End::Pause(respond));
        for block in [again, done] {
            builder.blocks[block.index()].accesses = 0;
        }
        let is = |term| Term::Apply(Operator::Equal, vec![Term::Slot(active), term]);
        let condition = match exit {
            Exit::Correct => is(me),
            Exit::Early => Term::Apply(Operator::Not, vec![is(Term::NONE)]),
        };
        builder.step(test, vec![], End::Branch { condition, then: done, otherwise: again });
        let at = copy.map(Term::Slot);
        let response = Response::Scan { at, foreign: Term::FALSE };
        builder.step(respond, vec![], End::Respond(response));
        let scan = builder.entry(activate);
        Graph {
            blocks: builder.blocks,
            locations: builder.locations,
            invocations: Invocations { update, scan },
            argument: switching.map(|_| argument),
        }
    });
    let graphs = graphs.collect();
    Instance { processes, pair: pair.map(Process::from_index), slots, graphs }
}
