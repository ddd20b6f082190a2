//! Random instances: not algorithms, but with all features of instances.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Invocations, Location, NONE,
    Operator, Owner, Reaction, Response, Scalar, Slot, SlotId, Standing, Target, Term,
};
use snapshot_language::Span;

/// The number of locations of each process, without idle.
const LOCATIONS: u32 = 4;

/// Returns a random instance of 2 or 3 processes.
pub fn instance(random: &mut ChaCha8Rng) -> Instance {
    let processes = random.random_range(2..=3);
    let mut slots = Vec::new();
    let mut slot = |name: &str, owner, domain, initial| {
        slots.push(Slot { name: name.to_owned(), owner, domain, initial });
    };
    let range = |low, high, optional| Domain::Range { low, high, optional, names_processes: false };
    slot("bits[0]", Owner::Shared, Domain::BIT, 0);
    slot("bits[1]", Owner::Shared, Domain::BIT, 1);
    slot("wide", Owner::Shared, range(-2, 3, true), NONE);
    for p in 0..processes {
        let process = Process::from_index(p);
        slot("argument", Owner::Operation(process), Domain::BIT, 0);
        slot("local", Owner::Operation(process), range(0, 2, false), 1);
        slot("kept", Owner::Process(process), range(5, 6, true), 5);
    }
    let graphs = (0..processes as u32).map(|p| Maker { random, mine: 3 + 3 * p }.graph()).collect();
    let pair = if random.random_bool(0.5) { [0, 1] } else { [0, processes - 1] };
    Instance { processes, pair: pair.map(Process::from_index), slots, graphs }
}

/// Returns a large slot that no process accesses.
pub fn filler(initial: Scalar) -> Slot {
    let domain =
        Domain::Range { low: 0, high: (1 << 30) - 1, optional: false, names_processes: false };
    Slot { name: "filler".to_owned(), owner: Owner::Shared, domain, initial }
}

struct Maker<'a> {
    random: &'a mut ChaCha8Rng,
    /// The first slot of the process: its argument. A local and a kept slot follow.
    mine: u32,
}

const BITS: [SlotId; 2] = [SlotId(0), SlotId(1)];
const WIDE: SlotId = SlotId(2);

impl Maker<'_> {
    fn argument(&self) -> SlotId {
        SlotId(self.mine)
    }

    fn local(&self) -> SlotId {
        SlotId(self.mine + 1)
    }

    fn kept(&self) -> SlotId {
        SlotId(self.mine + 2)
    }

    fn pick(&mut self, below: u32) -> u32 {
        self.random.random_range(0..below)
    }

    /// Returns a term that is 0 or 1.
    fn bit(&mut self, depth: u32) -> Term {
        let choices = if depth == 0 { 3 } else { 11 };
        match self.pick(choices) {
            0 => Term::Constant(self.pick(2) as Scalar),
            1 => Term::Slot(BITS[self.pick(2) as usize]),
            2 => Term::Slot(self.argument()),
            3 => Term::Element {
                index: Box::new(self.bit(depth - 1)),
                of: vec![self.bit(depth - 1), self.bit(depth - 1)],
            },
            4 => Term::Apply(Operator::Not, vec![self.bit(depth - 1)]),
            5 => {
                let operator = if self.pick(2) == 0 { Operator::And } else { Operator::Or };
                let count = self.pick(4);
                Term::Apply(operator, (0..count).map(|_| self.bit(depth - 1)).collect())
            }
            6 => Term::Apply(Operator::Equal, vec![Term::Slot(WIDE), self.constant_or_none(-2, 3)]),
            7 => Term::Apply(
                Operator::Equal,
                vec![Term::Slot(self.kept()), self.constant_or_none(5, 6)],
            ),
            8 => {
                let operator = [Operator::Less, Operator::LessOrEqual][self.pick(2) as usize];
                Term::Apply(operator, vec![self.small(depth - 1), self.small(depth - 1)])
            }
            9 => {
                let operator = [Operator::Remainder, Operator::Quotient][self.pick(2) as usize];
                Term::Apply(operator, vec![self.small(depth - 1), Term::Constant(2)])
            }
            _ => {
                let of = vec![self.bit(depth - 1), self.bit(depth - 1), self.bit(depth - 1)];
                Term::Apply(Operator::If, of)
            }
        }
    }

    /// Returns a term from 0 to 2, or slightly outside.
    fn small(&mut self, depth: u32) -> Term {
        match self.pick(if depth == 0 { 2 } else { 4 }) {
            0 => Term::Constant(self.pick(3) as Scalar),
            1 => Term::Slot(self.local()),
            2 => Term::Apply(Operator::Add, vec![self.bit(depth - 1), self.bit(depth - 1)]),
            _ => {
                let two = Term::Constant(2);
                Term::Apply(Operator::Subtract, vec![two, self.bit(depth - 1)])
            }
        }
    }

    fn constant_or_none(&mut self, low: Scalar, high: Scalar) -> Term {
        if self.pick(3) == 0 {
            Term::NONE
        } else {
            Term::Constant(self.random.random_range(low..=high))
        }
    }

    fn assignment(&mut self, own_only: bool) -> Assignment {
        let (target, value) = match self.pick(if own_only { 2 } else { 5 }) {
            0 => {
                let sum = vec![self.bit(1), self.bit(1)];
                (Target::Slot(self.local()), Term::Apply(Operator::Add, sum))
            }
            1 => (Target::Slot(self.kept()), self.constant_or_none(5, 6)),
            2 => (Target::Slot(BITS[self.pick(2) as usize]), self.bit(2)),
            3 => (Target::Element { index: self.bit(2), of: BITS.to_vec() }, self.bit(1)),
            _ => (Target::Slot(WIDE), self.constant_or_none(-2, 3)),
        };
        Assignment { target, value }
    }

    fn graph(mut self) -> Graph {
        let mut blocks = Vec::new();
        let mut locations = vec![standing(None, Vec::new())];
        for at in 1..=LOCATIONS {
            let step = self.tree(&mut blocks, at, 2);
            let mut reactions = Vec::new();
            if at < LOCATIONS && self.pick(2) == 0 {
                let later = Location(self.random.random_range(at + 1..=LOCATIONS));
                let assignments = (0..self.pick(2)).map(|_| self.assignment(true)).collect();
                let accesses = self.pick(3);
                blocks.push(Block { accesses, assignments, end: End::Pause(later) });
                let then = BlockId(blocks.len() as u32 - 1);
                let when = Term::Apply(Operator::And, vec![self.bit(2), self.bit(2)]);
                reactions.push(Reaction { when, then });
            }
            locations.push(standing(Some(step), reactions));
        }
        let update = self.entry(&mut blocks);
        let scan = self.entry(&mut blocks);
        Graph {
            blocks,
            locations,
            invocations: Invocations { update, scan },
            argument: Some(SlotId(self.mine)),
        }
    }

    fn entry(&mut self, blocks: &mut Vec<Block>) -> BlockId {
        let at = Location(1 + self.pick(LOCATIONS));
        let assignments = vec![self.assignment(true)];
        blocks.push(Block { accesses: 0, assignments, end: End::Pause(at) });
        BlockId(blocks.len() as u32 - 1)
    }

    /// Creates blocks that branch at most `depth` times, from one location to another.
    fn tree(&mut self, blocks: &mut Vec<Block>, from: u32, depth: u32) -> BlockId {
        let end = match self.pick(if depth == 0 { 4 } else { 8 }) {
            0 if from == LOCATIONS => {
                let value = Term::Slot(self.argument());
                End::Respond(Response::Update { value })
            }
            0 | 1 if from + 1 >= LOCATIONS => {
                let at = BITS.map(Term::Slot);
                let rare = vec![self.bit(1), self.bit(1), self.bit(1), self.bit(1)];
                let foreign = Term::Apply(Operator::And, rare);
                End::Respond(Response::Scan { at, foreign })
            }
            7 if depth == 1 && self.pick(6) == 0 => {
                End::Fault { span: Span { begin: from, end: from + 1 }, what: "it is random" }
            }
            5.. => {
                let then = self.tree(blocks, from, depth - 1);
                let otherwise = match self.pick(2) {
                    0 => then,
                    _ => self.tree(blocks, from, depth - 1),
                };
                End::Branch { condition: self.bit(3), then, otherwise }
            }
            4 => End::Jump(self.tree(blocks, from, depth - 1)),
            _ => End::Pause(Location(1 + from % LOCATIONS)),
        };
        let accesses = self.pick(2);
        let assignments = (0..self.pick(3)).map(|_| self.assignment(false)).collect();
        blocks.push(Block { accesses, assignments, end });
        BlockId(blocks.len() as u32 - 1)
    }
}

fn standing(step: Option<BlockId>, reactions: Vec<Reaction>) -> Standing {
    let span = Span::default();
    Standing { step, span, label: String::new(), updating: false, reactions }
}
