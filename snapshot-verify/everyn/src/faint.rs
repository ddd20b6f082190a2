//! Dead bytes in judged ghost scans: no judged result depends on them any more. Faint variables
//! (Giegerich, Möncke and Wilhelm, 1981), byte by byte.
//!
//! Finer than liveness in three ways. An element of an array that a loop has passed is dead, while
//! others are live: the analysis distinguishes positions. A condition that decides only on dead
//! bytes is dead, as are its reads. And if a *flag*, a local to which only constants are assigned,
//! is known, conditions on it are decided: a scan that must collect again needs nothing of its
//! earlier collect.
//!
//! Forgetting is always sound, so this can only cost precision.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::ProcedureId;

use super::flow::{Bound, Flow, Rounds, Slots};
use super::liveness::{target, terms};
use super::model::{Act, For, Ghosts, Instruction, Model, Part};
use super::run::{Crowd, GAP, MEMBER};
use super::shape::{BASE, DEAD, Leaf, Mode, OTHER, Scalar};
use super::term::{Over, Term};

/// Maximum number of flags of a procedure.
const FLAGS: usize = 3;

/// Location of a process within a procedure: the instruction, the positions of the loops over the
/// crowd around it, and the flags.
type Node = (usize, SmallVec<[u8; 4]>);

/// Dead bytes per location of a procedure, in the judged ghost scans of one process.
#[derive(Clone, Debug)]
pub struct Faint {
    /// Order of the loops, and the process of the ghost scans.
    crowd: Crowd,
    procedure: ProcedureId,
    /// Offsets of the flags in the block.
    flags: Vec<usize>,
    /// Per instruction of the procedure from the first on, the offsets of the positions of the
    /// loops around it.
    positions: Vec<Vec<usize>>,
    /// Per node, the dead bytes of the block.
    bytes: FxHashMap<Node, Box<[usize]>>,
}

impl Faint {
    /// Returns the dead bytes of a state, within the block of the process, which stands before an
    /// instruction of the procedure.
    pub fn bytes(&self, model: &Model, block: &[u8], here: usize) -> &[usize] {
        let first = model.entries[self.procedure.0 as usize];
        let Some(positions) = here.checked_sub(first).and_then(|at| self.positions.get(at)) else {
            return &[];
        };
        // A dead flag is set before it is read.
        let flag = |at: &usize| if block[*at] == DEAD { BASE } else { block[*at] };
        let all = positions.iter().map(|at| block[*at]).chain(self.flags.iter().map(flag));
        let all = all.collect();
        self.bytes.get(&(here, all)).map_or(&[], |bytes| bytes)
    }

    /// Returns true if the facts concern this procedure, with this order of loops.
    pub fn is_of(&self, crowd: &Crowd, procedure: ProcedureId) -> bool {
        self.procedure == procedure && self.crowd == *crowd
    }
}

/// Returns the dead bytes of all judged ghost scans, for each order of loops.
pub fn faint(model: &Model, crowds: &[Crowd], deadline: Deadline<'_>) -> Vec<Faint> {
    let mut all = Vec::new();
    for crowd in crowds {
        let is_judged = match model.obligation.part {
            Part::By(member) => member == crowd.tracked,
            _ => true,
        };
        let by_rounds = matches!(model.obligation.ghosts, Ghosts::Rounds { .. });
        if model.obligation.mode != Mode::Direct || by_rounds || !is_judged {
            continue;
        }
        for procedure in (0..model.frames.len()).filter(|procedure| model.ghostly[*procedure]) {
            if deadline.is_over() {
                return all;
            }
            let search = Search::new(model, crowd, ProcedureId(procedure as u32), deadline);
            all.push(search.solve());
        }
    }
    all
}

/// Effect of an instruction at a node.
struct Fact {
    /// Bytes that are stored: destination and source.
    stores: Vec<(Slots, Slots)>,
    /// Indices of the location that is stored to, or read.
    indices: Slots,
    /// Bytes that it always needs.
    needs: Slots,
    /// Bytes that its condition reads.
    condition: Slots,
    /// Successors.
    next: Vec<usize>,
}

struct Search<'m> {
    model: &'m Model,
    crowd: &'m Crowd,
    procedure: ProcedureId,
    rounds: Rounds<'m>,
    code: &'m [Instruction],
    first: usize,
    flags: Vec<usize>,
    /// Per instruction, the loops over the crowd around it.
    around: Vec<Vec<&'m For>>,
    numbers: FxHashMap<Node, usize>,
    nodes: Vec<Node>,
}

impl<'m> Search<'m> {
    fn new(
        model: &'m Model,
        crowd: &'m Crowd,
        procedure: ProcedureId,
        deadline: Deadline<'m>,
    ) -> Self {
        let first = model.entries[procedure.0 as usize];
        let code = &model.code[first..];
        let count = code.iter().take_while(|one| one.procedure == procedure).count();
        let code = &code[..count];
        let loops: Vec<&For> = code.iter().filter_map(|one| one.act.begins()).collect();
        let around = (first..first + count).map(|at| {
            let of = loops.iter().filter(|this| this.over == Over::Members);
            of.filter(|this| (this.body..this.end).contains(&at)).copied().collect()
        });
        let around = around.collect();
        let flags = flags(model, crowd.tracked, procedure, code);
        let (numbers, nodes) = (FxHashMap::default(), Vec::new());
        let rounds = Rounds::none(deadline);
        Self { model, crowd, procedure, rounds, code, first, flags, around, numbers, nodes }
    }

    fn me(&self) -> u8 {
        self.crowd.tracked
    }

    fn solve(mut self) -> Faint {
        for values in 0..1_u32 << self.flags.len() {
            let flags = (0..self.flags.len()).map(|flag| BASE + (values >> flag & 1) as u8);
            self.number((self.first, flags.collect()));
        }
        let mut facts: Vec<Fact> = Vec::new();
        while let Some(node) = self.nodes.get(facts.len()).cloned()
            && !self.rounds.is_over()
        {
            facts.push(self.fact(&node));
        }
        let mut needed = vec![Slots::default(); facts.len()];
        loop {
            let mut changes = false;
            for at in (0..facts.len()).rev().take_while(|_| !self.rounds.is_over()) {
                let now = self.needed(at, &facts, &needed);
                changes |= now.len() > needed[at].len();
                needed[at] = now;
            }
            if !changes {
                break;
            }
        }
        let block = self.model.blocks[usize::from(self.me())];
        let frame = &self.model.frames[self.procedure.0 as usize];
        let loops: Vec<usize> =
            self.code.iter().filter_map(|one| one.act.begins()).map(|this| this.variable).collect();
        let locals = frame.locals.iter().flat_map(|room| room.base..room.base + room.size);
        let locals = locals.filter(|at| !loops.contains(at) && !self.flags.contains(at));
        let locals: Vec<usize> = locals
            .filter(|at| self.model.slots[block + at].kept && !self.model.slots[block + at].other)
            .collect();
        let all = self.nodes.iter().zip(&needed).take_while(|_| !self.rounds.is_over());
        let bytes = all.map(|(node, needed)| {
            let faint = locals.iter().filter(|at| !needed.contains(&(block + **at)));
            (node.clone(), faint.copied().collect())
        });
        let bytes = bytes.collect();
        let positions = self.around.iter().map(|loops| loops.iter().map(|this| this.position));
        let positions = positions.map(Iterator::collect).collect();
        let (crowd, procedure) = (self.crowd.clone(), self.procedure);
        Faint { crowd, procedure, flags: self.flags, positions, bytes }
    }

    fn number(&mut self, node: Node) -> usize {
        let next = self.nodes.len();
        let number = *self.numbers.entry(node.clone()).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    fn instruction(&self, node: &Node) -> &'m Instruction {
        &self.code[node.0 - self.first]
    }

    fn flow(&self, (at, places): &Node) -> Flow<'_> {
        let around = self.around[at - self.first].iter().zip(places);
        let bound: Vec<Bound> =
            around.map(|(this, position)| (this.variable, place(*position))).collect();
        Flow { model: self.model, me: self.me(), bound, rounds: &self.rounds }
    }

    /// Returns the value of a flag.
    fn flag(&self, (at, all): &Node, offset: usize) -> Option<bool> {
        let loops = self.around[at - self.first].len();
        let flag = self.flags.iter().position(|flag| *flag == offset)?;
        Some(all[loops + flag] != BASE)
    }

    /// Returns the value of a condition on a flag.
    fn decided(&self, node: &Node, condition: &Term) -> Option<bool> {
        match condition {
            Term::Variable(base, 1) => self.flag(node, *base),
            Term::Not(inner) => self.decided(node, inner).map(|holds| !holds),
            _ => None,
        }
    }

    fn fact(&mut self, node: &Node) -> Fact {
        let flow = self.flow(node);
        let act = &self.instruction(node).act;
        let all = |term: &Term| -> Slots { flow.sources(term).into_iter().flatten().collect() };
        let mut fact = Fact {
            stores: Vec::new(),
            indices: Slots::default(),
            needs: Slots::default(),
            condition: Slots::default(),
            next: Vec::new(),
        };
        for term in terms(act).into_iter().filter(|term| super::flow::is_index(act, term)) {
            fact.indices.extend(all(term));
        }
        let to = |fact: &mut Fact, to: Vec<Slots>, from: Vec<Slots>| {
            let from = from.into_iter().chain(std::iter::repeat(Slots::default()));
            fact.stores.extend(to.into_iter().zip(from));
        };
        match act {
            Act::Assign(into, value) => to(&mut fact, flow.stored_to(into), flow.sources(value)),
            Act::Read(_, Some(into)) => to(&mut fact, flow.stored_to(into), Vec::new()),
            Act::Write(cell, value) => {
                let cells = flow.cells(cell).into_iter().zip(flow.sources(value));
                for (cells, from) in cells {
                    if cells.iter().any(|cell| self.model.slots[*cell].kept) {
                        fact.needs.extend(from);
                        fact.needs.extend(&fact.indices);
                    }
                }
            }
            Act::Unless(condition, _) => fact.condition = all(condition),
            Act::Return(Some(term)) => match self.model.is_ghost[self.procedure.0 as usize] {
                // The entries at i and j.
                true => fact.needs.extend(flow.sources(term).into_iter().take(2).flatten()),
                false => fact.needs = all(term),
            },
            act => terms(act).into_iter().for_each(|term| fact.needs.extend(all(term))),
        }
        let next = self.next(node);
        fact.next = next.into_iter().map(|node| self.number(node)).collect();
        fact
    }

    /// Returns the successors of a node.
    fn next(&self, node: &Node) -> Vec<Node> {
        let (at, all) = node;
        let loops = self.around[at - self.first].len();
        let flags = || all[loops..].iter().copied();
        // At an instruction, the loops around it keep their positions.
        let to = |target: usize| -> Node {
            let around = &self.around[target - self.first];
            let before = &self.around[at - self.first];
            let stands = around.iter().map(|this| {
                let same = before.iter().position(|one| one.position == this.position);
                same.map_or(0, |same| all[same])
            });
            (target, stands.chain(flags()).collect())
        };
        match &self.instruction(node).act {
            Act::Return(_) | Act::Idle => Vec::new(),
            Act::Jump(target) => vec![to(*target)],
            Act::Unless(condition, target) => match self.decided(node, condition) {
                Some(true) => vec![to(at + 1)],
                Some(false) => vec![to(*target)],
                None => vec![to(at + 1), to(*target)],
            },
            Act::Begin(this) | Act::Next(this) if this.over == Over::Members => {
                let around = &self.around[this.body - self.first];
                let place = around.iter().position(|one| one.position == this.position);
                let Some(place) = place else { return vec![to(this.body), to(this.end)] };
                let is_begin = matches!(self.instruction(node).act, Act::Begin(_));
                let now = if is_begin { None } else { Some(all[place]) };
                let (positions, ends) = self.rounds(this, now);
                let round = |position: u8| {
                    let mut node = to(this.body);
                    node.1[place] = position;
                    node
                };
                positions.into_iter().map(round).chain(ends.then(|| to(this.end))).collect()
            }
            Act::Begin(this) | Act::Next(this) => vec![to(this.body), to(this.end)],
            act => {
                let mut next = to(at + 1);
                if let Act::Assign(into, Term::Constant(bytes)) = act
                    && into.path.is_empty()
                    && let Some(flag) = self.flags.iter().position(|flag| *flag == into.room.base)
                {
                    let loops = self.around[next.0 - self.first].len();
                    next.1[loops + flag] = bytes[0];
                }
                vec![next]
            }
        }
    }

    /// Returns the next positions of a loop, and whether it may end: as in steps (`run::rounds`).
    fn rounds(&self, this: &For, now: Option<u8>) -> (Vec<u8>, bool) {
        let order = self.crowd.order(this, self.me());
        let all =
            std::iter::once(GAP).chain(order.iter().flat_map(|one| [MEMBER + one, GAP + 1 + one]));
        let all: Vec<u8> = all.collect();
        let stands = now.and_then(|now| all.iter().position(|position| *position == now));
        let from = stands.map_or(0, |stands| stands + stands % 2);
        let mut positions = Vec::new();
        for (number, position) in all.iter().enumerate().skip(from) {
            positions.push(*position);
            if number % 2 == 1 && this.except.is_none() {
                return (positions, false);
            }
        }
        (positions, true)
    }

    /// Returns the live bytes at a node, from the live bytes of all nodes.
    fn needed(&self, at: usize, facts: &[Fact], needed: &[Slots]) -> Slots {
        let fact = &facts[at];
        let mut after = Slots::default();
        fact.next.iter().for_each(|next| after.extend(&needed[*next]));
        let mut now = after.clone();
        for (to, _) in fact.stores.iter().filter(|(to, _)| to.len() == 1) {
            to.iter().for_each(|slot| _ = now.remove(slot));
        }
        for (to, from) in &fact.stores {
            if to.iter().any(|slot| after.contains(slot)) {
                now.extend(from);
                now.extend(&fact.indices);
            }
        }
        now.extend(&fact.needs);
        if fact.next.len() > 1 && self.decides(at, facts, needed) {
            now.extend(&fact.condition);
        }
        now.extend(&needed[at]);
        now
    }

    /// Returns true if a condition is live: if one of its branches, before they meet, has an
    /// instruction that matters.
    fn decides(&self, at: usize, facts: &[Fact], needed: &[Slots]) -> bool {
        let here = self.nodes[at].0;
        let Act::Unless(_, target) = &self.instruction(&self.nodes[at]).act else { return false };
        let mut end = *target;
        if let Some(Act::Jump(behind)) = self.code.get(target - 1 - self.first).map(|one| &one.act)
            && *behind > end
        {
            end = *behind;
        }
        let mut seen: Vec<usize> = Vec::new();
        let mut waiting: Vec<usize> = facts[at].next.clone();
        while let Some(node) = waiting.pop() {
            if self.nodes[node].0 == end || seen.contains(&node) {
                continue;
            }
            if self.nodes[node].0 <= here || self.nodes[node].0 > end || self.rounds.is_over() {
                return true;
            }
            seen.push(node);
            if self.matters(node, facts, needed) {
                return true;
            }
            waiting.extend(&facts[node].next);
        }
        false
    }

    /// Returns true if an instruction matters.
    fn matters(&self, node: usize, facts: &[Fact], needed: &[Slots]) -> bool {
        let fact = &facts[node];
        let is_needed = |slots: &Slots| {
            fact.next.iter().any(|next| slots.iter().any(|slot| needed[*next].contains(slot)))
        };
        match &self.instruction(&self.nodes[node]).act {
            Act::Assign(into, value) => {
                if let Term::Constant(bytes) = value
                    && into.path.is_empty()
                    && let Some(flag) = self.flag(&self.nodes[node], into.room.base)
                {
                    return flag != (bytes[0] != BASE);
                }
                fact.stores.iter().any(|(to, _)| is_needed(to))
            }
            // Any view that is read as a whole counts as borrowed.
            Act::Read(cell, Some(_)) => {
                let base = self.model.shared[cell.variable.0 as usize].base;
                let is_view = |position: usize| {
                    let leaf = self.model.slots[base + position].leaf;
                    leaf.is_some_and(|leaf| leaf.scalar == Scalar::View)
                };
                let stores = fact.stores.iter().enumerate();
                stores.filter(|(position, _)| !is_view(*position)).any(|(_, (to, _))| is_needed(to))
            }
            Act::Read(_, None) | Act::Unless(..) | Act::Jump(_) | Act::Begin(_) | Act::Next(_) => {
                false
            }
            Act::Write(..) => !fact.needs.is_empty() || self.writes(&self.nodes[node]),
            // A part of another value was borrowed.
            Act::Return(Some(Term::Part(..))) => !self.model.is_ghost[self.procedure.0 as usize],
            _ => true,
        }
    }

    /// Returns true if an instruction writes a kept variable.
    fn writes(&self, node: &Node) -> bool {
        let Some(cell) = self.instruction(node).act.cell() else { return false };
        self.flow(node).cells(cell).iter().flatten().any(|slot| self.model.slots[*slot].kept)
    }
}

/// Returns the index of a round.
fn place(position: u8) -> u8 {
    match position {
        position if (MEMBER..GAP).contains(&position) => position - MEMBER,
        _ => OTHER,
    }
}

/// Returns the locals to which only constants are assigned, and on which some condition decides.
fn flags(model: &Model, me: u8, procedure: ProcedureId, code: &[Instruction]) -> Vec<usize> {
    let frame = &model.frames[procedure.0 as usize];
    let is_flag = |base: usize| {
        let slot = &model.slots[model.blocks[usize::from(me)] + base];
        let is_bit = slot.leaf == Some(Leaf { scalar: Scalar::Bool, optional: false });
        let is_set = |one: &Instruction| {
            target(&one.act).is_none_or(|into| {
                into.local.is_none()
                    || into.room.base != base
                    || (into.path.is_empty()
                        && matches!(one.act, Act::Assign(_, Term::Constant(_))))
            })
        };
        let is_asked = code.iter().any(|one| match &one.act {
            Act::Unless(Term::Variable(at, 1), _) => *at == base,
            Act::Unless(Term::Not(inner), _) => {
                matches!(&**inner, Term::Variable(at, 1) if *at == base)
            }
            _ => false,
        });
        slot.kept && is_bit && is_asked && code.iter().all(is_set)
    };
    let singles = frame.locals.iter().filter(|room| room.size == 1).map(|room| room.base);
    singles.filter(|base| is_flag(*base)).take(FLAGS).collect()
}
