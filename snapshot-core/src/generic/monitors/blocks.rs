//! Cells whose values replace each other, in O(n log n): registers with writes, reads and
//! successful compare-and-set, and locks.
//!
//! Let each value be written once, or be there at first and never written. Its write and its reads stand together in
//! every linearization: they are its *block*. An operation that replaces a by b puts the block of b right
//! behind that of a, so blocks form *chains* of which each has a fixed order but for reads of one value. R
//! is the least response in a chain, I its greatest invocation. The chain with the initial value has R
//! before all; one whose value is never replaced (a lock that is not released) has I behind all.
//!
//! *Claim* (Gibbons and Korach, "Testing Shared Memories", 1997, for registers). A history is linearizable
//! iff in each chain no operation ends before one begins that the order puts before it, and there are
//! no two chains v and w with R(v) < I(w) and R(w) < I(v).
//!
//! 1. *Necessary*: R(v) < I(w) says that some operation of v is before some of w, so all of v is.
//! 2. *Sufficient*: let w -> v iff R(w) < I(v). Of w1 -> v1 and w2 -> v2 follows w1 -> v2 or w2 -> v1, so
//!    a cycle of four or more has a shorter one. A cycle of three without one of two has
//!    I1 < R2 < I2 < R3 < I3 < R1 < I1. So there is none, and any order that extends the relation puts
//!    no operation behind one that it precedes.
//!
//! *Operations without response* take effect if their value is read, or is replaced by one
//! that does; else they are left out, which makes nothing impossible.
//!
//! *Values written more than once* are left out of a history that is to be refuted: what
//! remains of a linearization is one of what remains, where an operation that replaces such a
//! value is a write, and one that writes such a value is the last to find the old one.
//!
//! Operations that found another value are put in afterwards ([`super::misses`]).

use std::hash::Hash;

use super::part::{NEVER, Part};
use super::{Beyond, Found, NAMED};
use crate::generic::effect::Effect;
use crate::generic::proof::Proof;
use crate::seeded::SeededMap;

/// Decides a cell with this initial value.
pub(super) fn judge<V: Eq + Hash>(part: &Part<V>, initial: Option<&V>) -> Found {
    let mut cell = match Cell::new(part, initial) {
        Ok(cell) => cell,
        Err(found) => return found,
    };
    cell.drop_unneeded();
    let chains = match cell.chains() {
        Ok(chains) => chains,
        Err(proof) => return Found::Violation(proof),
    };
    let order = match arrange(&chains) {
        Ok(order) => order,
        Err((first, second)) => {
            let [first, second] = [first, second].map(|chain| cell.evidence(&chains[chain]));
            return Found::Violation(Proof::Interleaved { first, second });
        }
    };
    if let Some(proof) = cell.missed() {
        return Found::Violation(proof);
    }
    let repeated = cell.repeated();
    if !repeated.is_empty() {
        return Found::Beyond(Beyond::Repeated(repeated));
    }
    let order: Vec<u32> =
        order.into_iter().flat_map(|chain| chains[chain].operations.iter().copied()).collect();
    match cell.put_in_misses(order) {
        Ok(order) => Found::Order(order),
        Err(operation) => Found::Beyond(Beyond::Operation(part.ids[operation as usize])),
    }
}

/// What happened to one value.
#[derive(Default)]
pub(super) struct Block {
    /// Times that it is written, or there at first.
    written: u32,
    /// The operation that wrote it.
    pub writer: Option<u32>,
    /// The value that this operation replaced.
    before: Option<u32>,
    pub readers: Vec<u32>,
    /// Operations that replaced it, with the new value.
    pub replacers: Vec<(u32, u32)>,
    is_kept: bool,
}

pub(super) struct Cell<'p, V> {
    pub part: &'p Part<V>,
    pub blocks: Vec<Block>,
    pub initial: Option<u32>,
    /// Operations that found another value than this.
    pub misses: Vec<(u32, u32)>,
}

/// Blocks in a row.
struct Chain {
    /// All operations, in order.
    operations: Vec<u32>,
    /// The operations that replace one of its values by the next.
    links: Vec<u32>,
    /// One more than the number of the first response, or 0 if it has the initial value; with the operation.
    least_response: (u32, u32),
    /// One more than the number of the last invocation, or [`NEVER`] if its value is kept; with the operation.
    last_invocation: (u32, u32),
}

impl<'p, V: Eq + Hash> Cell<'p, V> {
    fn new(part: &'p Part<V>, initial: Option<&'p V>) -> Result<Self, Found> {
        let mut numbers: SeededMap<&V, u32> = SeededMap::default();
        let mut blocks: Vec<Block> = Vec::new();
        let mut misses = Vec::new();
        let mut number = |blocks: &mut Vec<Block>, value: &'p V| {
            *numbers.entry(value).or_insert_with(|| {
                blocks.push(Block::default());
                blocks.len() as u32 - 1
            })
        };
        let initial = initial.map(|value| number(&mut blocks, value));
        if let Some(initial) = initial {
            blocks[initial as usize].written = 1;
        }
        for (index, effect) in part.effects.iter().enumerate() {
            let operation = index as u32;
            match effect {
                Effect::Write(value) | Effect::Keep(value) => {
                    let block = number(&mut blocks, value) as usize;
                    blocks[block].written += 1;
                    blocks[block].writer = Some(operation);
                    blocks[block].is_kept |= matches!(effect, Effect::Keep(_));
                }
                Effect::Read(value) => {
                    let block = number(&mut blocks, value) as usize;
                    blocks[block].readers.push(operation);
                }
                Effect::Swap(old, new) => {
                    let (old, new) = (number(&mut blocks, old), number(&mut blocks, new));
                    blocks[old as usize].replacers.push((operation, new));
                    let block = &mut blocks[new as usize];
                    block.written += 1;
                    block.writer = Some(operation);
                    block.before = Some(old);
                }
                Effect::Miss(value) => misses.push((operation, number(&mut blocks, value))),
                Effect::Nothing => {}
                Effect::Impossible => {
                    let operation = part.ids[index];
                    return Err(Found::Violation(Proof::Impossible { operation }));
                }
                _ => return Err(Found::Beyond(Beyond::Operation(part.ids[index]))),
            }
        }
        Ok(Self { part, blocks, initial, misses })
    }

    pub fn is_ambiguous(&self, value: u32) -> bool {
        self.blocks[value as usize].written > 1
    }

    /// An operation that wrote each of a few values that are written more than once.
    fn repeated(&self) -> Vec<crate::OperationId> {
        let repeated = self.blocks.iter().filter(|block| block.written > 1);
        self.part.named(repeated.filter_map(|block| block.writer).take(NAMED))
    }

    /// Leaves out operations without response whose values nothing needs.
    fn drop_unneeded(&mut self) {
        let part = self.part;
        let ended = |operation: u32| part.responded[operation as usize] != NEVER;
        let mut is_needed = vec![false; self.blocks.len()];
        let mut left: Vec<u32> = Vec::new();
        for (value, block) in self.blocks.iter().enumerate() {
            if !block.readers.is_empty() || block.replacers.iter().any(|(one, _)| ended(*one)) {
                left.push(value as u32);
            }
        }
        while let Some(value) = left.pop() {
            let block = &self.blocks[value as usize];
            // Of values that are written more than once no write is needed for certain.
            if !std::mem::replace(&mut is_needed[value as usize], true) && block.written == 1 {
                left.extend(block.before);
            }
        }
        for value in 0..self.blocks.len() {
            let mut replacers = std::mem::take(&mut self.blocks[value].replacers);
            replacers.retain(|(operation, new)| {
                ended(*operation) || is_needed[*new as usize] && !self.is_ambiguous(*new)
            });
            self.blocks[value].replacers = replacers;
        }
        for (value, block) in self.blocks.iter_mut().enumerate() {
            let is_pending = block.writer.is_some_and(|writer| !ended(writer));
            if is_pending && block.written == 1 && !is_needed[value] {
                *block = Block::default();
            }
        }
    }

    /// Operations that found what those of these wrote that did not respond, and so on.
    fn because(&self, operations: &[u32]) -> Vec<u32> {
        let part = self.part;
        let mut of_writer: SeededMap<u32, usize> = SeededMap::default();
        for (value, block) in self.blocks.iter().enumerate() {
            of_writer.extend(block.writer.map(|writer| (writer, value)));
        }
        let mut all = operations.to_vec();
        let mut next = 0;
        while let Some(&operation) = all.get(next) {
            next += 1;
            if part.responded[operation as usize] != NEVER {
                continue;
            }
            let Some(block) = of_writer.get(&operation).map(|value| &self.blocks[*value]) else {
                continue;
            };
            let replacers = block.replacers.iter().map(|(operation, _)| operation);
            let mut finders = block.readers.iter().chain(replacers);
            let is_complete = |one: &&u32| part.responded[**one as usize] != NEVER;
            let mut complete = finders.clone().filter(is_complete).peekable();
            let is_named = |finder: &u32| all.contains(finder);
            if complete.peek().is_some() {
                if !complete.clone().any(is_named) {
                    all.extend(complete.next());
                }
            } else if !finders.clone().any(is_named) {
                all.extend(finders.next());
            }
        }
        all.split_off(operations.len())
    }

    /// The chains of values that are written once, each in order.
    fn chains(&self) -> Result<Vec<Chain>, Proof> {
        let part = self.part;
        let named = |operation: u32| part.ids[operation as usize];
        let mut heads = Vec::new();
        for (value, block) in self.blocks.iter().enumerate() {
            let value = value as u32;
            let found = block.readers.first().or(block.replacers.first().map(|(one, _)| one));
            if block.written == 0 {
                if let Some(operation) = found {
                    let because = part.named(self.because(&[*operation]));
                    return Err(Proof::Unwritten { operation: named(*operation), because });
                }
                continue;
            }
            if self.is_ambiguous(value) {
                continue;
            }
            if let [(first, _), (second, _), ..] = block.replacers.as_slice() {
                let because = part.named(self.because(&[*first, *second]));
                let [first, second] = [first, second].map(|one| named(*one));
                return Err(Proof::ReplacedTwice { first, second, because });
            }
            if block.before.is_none_or(|before| self.is_ambiguous(before)) {
                heads.push(value);
            }
        }
        let mut is_reached = vec![false; self.blocks.len()];
        let mut chains = Vec::with_capacity(heads.len());
        for head in heads {
            chains.push(self.chain(head, &mut is_reached)?);
        }
        for value in 0..self.blocks.len() as u32 {
            let block = &self.blocks[value as usize];
            if is_reached[value as usize] || block.written != 1 {
                continue;
            }
            // Each value that no head leads to was written in place of another such one.
            let mut operations = Vec::new();
            let mut at = value;
            let mut seen = vec![value];
            while let Some(block) = Some(&self.blocks[at as usize])
                && let (Some(writer), Some(before)) = (block.writer, block.before)
            {
                operations.push(writer);
                at = before;
                if let Some(start) = seen.iter().position(|one| *one == at) {
                    operations.drain(..start);
                    break;
                }
                seen.push(at);
            }
            operations.reverse();
            let is_complete = |one: &u32| part.responded[*one as usize] != NEVER;
            let because = if operations.iter().any(is_complete) {
                Vec::new()
            } else {
                part.named(self.because(&operations))
            };
            return Err(Proof::Circle { operations: part.named(operations), because });
        }
        Ok(chains)
    }

    fn chain(&self, head: u32, is_reached: &mut [bool]) -> Result<Chain, Proof> {
        let part = self.part;
        let mut chain = Chain {
            operations: Vec::new(),
            links: Vec::new(),
            least_response: (NEVER, NEVER),
            last_invocation: (0, NEVER),
        };
        // The last to begin of the operations that come before those that are looked at.
        let mut latest: Option<(u32, u32)> = None;
        let mut value = Some(head);
        if self.initial == Some(head) {
            chain.least_response = (0, NEVER);
        }
        chain.operations.extend(self.blocks[head as usize].writer);
        let mut checked = 0;
        while let Some(at) = value {
            is_reached[at as usize] = true;
            let block = &self.blocks[at as usize];
            self.pass(&mut chain, &mut checked, &mut latest)?;
            chain.operations.extend(&block.readers);
            self.pass(&mut chain, &mut checked, &mut latest)?;
            value = None;
            if let Some(&(operation, new)) = block.replacers.first() {
                chain.operations.push(operation);
                if !self.is_ambiguous(new) {
                    chain.links.push(operation);
                    value = Some(new);
                }
            }
            if block.is_kept {
                chain.last_invocation = (NEVER, block.writer.unwrap_or(NEVER));
            }
        }
        self.pass(&mut chain, &mut checked, &mut latest)?;
        for &operation in &chain.operations {
            let (began, ended) =
                (part.invoked[operation as usize] + 1, part.responded[operation as usize]);
            let ended = ended.saturating_add(1);
            chain.least_response = chain.least_response.min((ended, operation));
            if chain.last_invocation.0 < began {
                chain.last_invocation = (began, operation);
            }
        }
        Ok(chain)
    }

    /// Checks that none of the operations from `checked` on, which stand in any order, ended before one of those
    /// before them began.
    fn pass(
        &self,
        chain: &mut Chain,
        checked: &mut usize,
        latest: &mut Option<(u32, u32)>,
    ) -> Result<(), Proof> {
        let part = self.part;
        for &operation in &chain.operations[*checked..] {
            if let Some((began, first)) = *latest
                && part.responded[operation as usize] < began
            {
                let mut sequence = vec![first];
                sequence.extend(between(&chain.operations, &chain.links, first, operation));
                sequence.push(operation);
                return Err(Proof::Reversed { sequence: part.named(sequence) });
            }
        }
        for &operation in &chain.operations[*checked..] {
            let began = part.invoked[operation as usize];
            *latest = (*latest).max(Some((began, operation)));
        }
        *checked = chain.operations.len();
        Ok(())
    }

    /// Operations that show the first response of a chain, the last invocation, and that both
    /// belong to it.
    fn evidence(&self, chain: &Chain) -> Vec<crate::OperationId> {
        let (first, last) = (chain.least_response, chain.last_invocation);
        let place =
            |operation: u32| chain.operations.iter().position(|one| *one == operation).unwrap_or(0);
        let mut ends: Vec<u32> =
            [first.1, last.1].into_iter().filter(|operation| *operation != NEVER).collect();
        ends.sort_by_key(|operation| place(*operation));
        let links: Vec<u32> = match ends.as_slice() {
            [from, to] => between(&chain.operations, &chain.links, *from, *to).collect(),
            // From the initial value on.
            [to] if first.0 == 0 => {
                let end = place(*to);
                chain.links.iter().copied().filter(|link| place(*link) < end).collect()
            }
            _ => Vec::new(),
        };
        let mut evidence: Vec<u32> = ends.first().copied().into_iter().collect();
        if let ([_], true) = (ends.as_slice(), first.0 == 0) {
            evidence.splice(..0, links);
        } else {
            evidence.extend(links);
        }
        evidence.extend(ends.get(1).filter(|end| **end != ends[0]));
        evidence.extend(self.because(&evidence));
        self.part.named(evidence)
    }
}

/// The links of a chain that stand between two of its operations, which are none of them.
fn between<'l>(
    operations: &[u32],
    links: &'l [u32],
    from: u32,
    to: u32,
) -> impl Iterator<Item = u32> + use<'l> {
    let place = |operation: u32| operations.iter().position(|one| *one == operation);
    let (from, to) = (place(from), place(to));
    let mut at = 0;
    let places: Vec<Option<usize>> = links
        .iter()
        .map(|link| {
            at += operations[at..].iter().position(|one| one == link)?;
            Some(at)
        })
        .collect();
    links
        .iter()
        .copied()
        .zip(places)
        .filter(move |(_, place)| *place > from && *place < to)
        .map(|(link, _)| link)
}

/// An order of chains that extends the relation.
///
/// # Errors
/// Two chains, each before the other.
fn arrange(chains: &[Chain]) -> Result<Vec<usize>, (usize, usize)> {
    let mut by_response: Vec<usize> = (0..chains.len()).collect();
    let mut by_invocation = by_response.clone();
    let response = |chain: usize| chains[chain].least_response.0;
    let invocation = |chain: usize| chains[chain].last_invocation.0;
    by_response.sort_unstable_by_key(|chain| response(*chain));
    by_invocation.sort_unstable_by_key(|chain| invocation(*chain));
    let mut is_out = vec![false; chains.len()];
    let mut order = Vec::with_capacity(chains.len());
    let (mut first, mut second, mut earliest, mut other) = (0, 1, 0, 1);
    let skip = |list: &[usize], is_out: &[bool], from: usize| {
        (from..list.len()).find(|place| !is_out[list[*place]]).unwrap_or(list.len())
    };
    while order.len() < chains.len() {
        first = skip(&by_response, &is_out, first);
        second = skip(&by_response, &is_out, second.max(first + 1));
        earliest = skip(&by_invocation, &is_out, earliest);
        other = skip(&by_invocation, &is_out, other.max(earliest + 1));
        let due = by_response[first];
        // A chain is free if no other has responded before its last invocation.
        let is_due_free =
            by_response.get(second).is_none_or(|second| invocation(due) <= response(*second));
        let candidate = match by_invocation[earliest] {
            chain if chain == due => by_invocation.get(other).copied(),
            chain => Some(chain),
        };
        let free = match candidate {
            Some(chain) if invocation(chain) <= response(due) => chain,
            _ if is_due_free => due,
            _ => return Err((due, by_response[second])),
        };
        is_out[free] = true;
        order.push(free);
    }
    Ok(order)
}
