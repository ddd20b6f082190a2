//! Texts that grow, as values of a cell.
//!
//! A read that returns the whole text shows the order of what was appended to it: let its text be, in one way
//! only, a value that was put and the texts of appends, each appended once. Then each of these appends replaced the text
//! before it by that with its own behind it, as a compare-and-set does, so the rules of cells apply
//! ([`blocks`](crate::generic::monitors)). An append that no read shows takes effect where no read comes before the
//! next put: as a write of a value that nothing finds.
//!
//! An append that two reads show behind different texts is a violation. Texts that can be read in two ways
//! are left to the search.

use crate::OperationId;
use crate::generic::effect::{Effect, compare_and_swap};
use crate::generic::{History, Proof};
use crate::seeded::{SeededMap, SeededSet};

use super::map::{MapInput, MapOutput, Text};

/// A text by its number: those made of the same pieces are equal.
pub(super) type Node = u32;

/// What reads show.
pub(super) struct Grown {
    pub effects: Vec<Effect<Node>>,
    pub initial: Node,
    /// Per append the read that shows what it was appended to.
    pub shown: SeededMap<OperationId, OperationId>,
}

/// Why reads do not show it.
pub(super) enum Unclear {
    /// An append that two reads show behind different texts, which may be the same read.
    Misplaced { append: OperationId, first: OperationId, second: OperationId },
    /// An operation whose text can be read in two ways, or in none that is known.
    Operation(OperationId),
}

/// The beginning of a text: nothing, or a value that was put.
type Head<'h> = Option<&'h [u8]>;

/// An append that a read shows.
#[derive(Clone, Copy)]
struct Edge {
    before: Node,
    behind: Node,
    read: OperationId,
}

/// Texts as trees of pieces.
struct Texts<'h> {
    heads: SeededMap<Head<'h>, Node>,
    /// By a text and the place of the append behind it.
    children: SeededMap<(Node, u32), Node>,
    count: u32,
    /// Places of the appends by their texts; `None` if it is the text of several.
    pieces: SeededMap<&'h [u8], Option<u32>>,
    /// Lengths of heads and pieces.
    head_lengths: SeededSet<usize>,
    piece_lengths: SeededSet<usize>,
    /// Texts that were read.
    known: SeededMap<&'h [u8], Node>,
    edges: SeededMap<u32, Edge>,
}

impl<'h> Texts<'h> {
    fn fresh(&mut self) -> Node {
        self.count += 1;
        self.count - 1
    }

    fn head(&mut self, head: Head<'h>) -> Node {
        if let Some(node) = self.heads.get(&head) {
            return *node;
        }
        self.head_lengths.extend(head.map(<[u8]>::len));
        let node = self.fresh();
        self.heads.insert(head, node);
        node
    }

    fn piece(&mut self, place: u32, text: &'h [u8]) {
        self.piece_lengths.insert(text.len());
        self.pieces.entry(text).and_modify(|one| *one = None).or_insert(Some(place));
    }

    /// Returns the head of a text, and the places of the appends behind it; `None` inside if it can be made in
    /// no way, and `None` if in several. O(length), times the number of lengths of pieces.
    fn parsed(&self, text: &'h [u8]) -> Option<Option<(Head<'h>, Vec<u32>)>> {
        // Per place the number of ways to read the rest, up to 2, and the length of the first piece of one.
        let mut ways = vec![(0_u8, 0_usize); text.len() + 1];
        ways[text.len()] = (1, 0);
        for at in (0..text.len()).rev() {
            for &length in self.piece_lengths.iter().filter(|length| at + **length <= text.len()) {
                let Some(piece) = self.pieces.get(&text[at..at + length]) else { continue };
                let rest = ways[at + length].0;
                let count = ways[at].0 + if piece.is_none() { 2 * rest } else { rest };
                if rest > 0 {
                    ways[at] = (count.min(2), length);
                }
            }
        }
        let lengths = self.head_lengths.iter().filter(|length| **length <= text.len());
        let heads = lengths.map(|length| (Some(&text[..*length]), *length));
        let nothing = (!text.is_empty()).then_some((None, 0));
        let is_way = |(head, length): &(Head<'h>, usize)| {
            self.heads.contains_key(head) && ways[*length].0 > 0
        };
        let mut found = heads.chain(nothing).filter(is_way);
        let Some((head, mut at)) = found.next() else { return Some(None) };
        if found.next().is_some() || ways[at].0 > 1 {
            return None;
        }
        let mut places = Vec::new();
        while at < text.len() {
            let length = ways[at].1;
            places.extend(self.pieces.get(&text[at..at + length]).copied().flatten());
            at += length;
        }
        Some(Some((head, places)))
    }

    /// Returns the text that a read found.
    fn found(
        &mut self,
        read: OperationId,
        text: Head<'h>,
        part: &[OperationId],
    ) -> Result<Node, Unclear> {
        let Some(text) = text else {
            return Ok(self.heads.get(&None).copied().unwrap_or_else(|| self.fresh()));
        };
        if let Some(node) = self.known.get(text) {
            return Ok(*node);
        }
        let node = match self.parsed(text).ok_or(Unclear::Operation(read))? {
            None => self.fresh(),
            Some((head, places)) => {
                let mut before = self.head(head);
                for place in places {
                    let next = self.count;
                    let behind = *self.children.entry((before, place)).or_insert(next);
                    self.count += u32::from(behind == next);
                    let edge = *self.edges.entry(place).or_insert(Edge { before, behind, read });
                    if edge.before != before {
                        let append = part[place as usize];
                        return Err(Unclear::Misplaced { append, first: edge.read, second: read });
                    }
                    before = behind;
                }
                before
            }
        };
        self.known.insert(text, node);
        Ok(node)
    }
}

/// Returns the effects on the texts of a part, as the reads show them for which `is_shown`; those
/// of the others are nothing.
///
/// # Errors
/// If they do not show them.
pub(super) fn grown<K, V>(
    text: &Text<V>,
    initial: Option<&V>,
    history: &History<MapInput<K, V>, MapOutput<V>>,
    part: &[OperationId],
    is_shown: impl Fn(OperationId) -> bool,
) -> Result<Grown, Unclear> {
    let operation = |id: OperationId| &history.operations()[id.index()];
    let bytes = |id: OperationId, value| (text.bytes)(value).ok_or(Unclear::Operation(id));
    let mut texts = Texts {
        heads: SeededMap::default(),
        children: SeededMap::default(),
        count: 0,
        pieces: SeededMap::default(),
        head_lengths: SeededSet::default(),
        piece_lengths: SeededSet::default(),
        known: SeededMap::default(),
        edges: SeededMap::default(),
    };
    let first = match (initial, part.first()) {
        (Some(value), Some(id)) => Some(bytes(*id, value)?),
        _ => None,
    };
    let initial = texts.head(first);
    for (place, &id) in part.iter().enumerate() {
        match (&operation(id).input, operation(id).output()) {
            (MapInput::Put(_, value), _) => _ = texts.head(Some(bytes(id, value)?)),
            (MapInput::Delete(_), _) => _ = texts.head(None),
            (MapInput::Append(_, value), _) => match bytes(id, value)? {
                [] => return Err(Unclear::Operation(id)),
                value => texts.piece(place as u32, value),
            },
            (MapInput::CompareAndSwap { new, .. }, Some(MapOutput::Swapped(true))) => {
                texts.head(Some(bytes(id, new)?));
            }
            // Of these no text is shown.
            (MapInput::CompareAndSwap { .. }, _) => return Err(Unclear::Operation(id)),
            (MapInput::Get(_), _) => {}
        }
    }
    let mut effects = vec![Effect::Nothing; part.len()];
    for (effect, &id) in effects.iter_mut().zip(part) {
        *effect = match (&operation(id).input, operation(id).output()) {
            (MapInput::Get(_), Some(MapOutput::Found(value))) if is_shown(id) => {
                let found = value.as_ref().map(|value| bytes(id, value)).transpose()?;
                Effect::Read(texts.found(id, found, part)?)
            }
            (MapInput::CompareAndSwap { expected, new, .. }, _) if is_shown(id) => {
                let expected = texts.found(id, Some(bytes(id, expected)?), part)?;
                let new = texts.head(Some(bytes(id, new)?));
                compare_and_swap(expected, new, Some(true))
            }
            (MapInput::Put(_, value), _) => Effect::Write(texts.head(Some(bytes(id, value)?))),
            (MapInput::Delete(_), _) => Effect::Write(texts.head(None)),
            (MapInput::Get(_), Some(MapOutput::Done | MapOutput::Swapped(_))) => Effect::Impossible,
            _ => Effect::Nothing,
        };
    }
    let mut shown = SeededMap::default();
    for (place, &id) in part.iter().enumerate() {
        if let MapInput::Append(..) = operation(id).input {
            effects[place] = match texts.edges.get(&(place as u32)) {
                Some(edge) => Effect::Swap(edge.before, edge.behind),
                None => Effect::Write(texts.fresh()),
            };
            shown.extend(texts.edges.get(&(place as u32)).map(|edge| (id, edge.read)));
        }
    }
    Ok(Grown { effects, initial, shown })
}

/// Returns true if an operation of a part appends.
pub(super) fn is_grown<K, V>(
    history: &History<MapInput<K, V>, MapOutput<V>>,
    part: &[OperationId],
) -> bool {
    let is_append =
        |id: &OperationId| matches!(history.operations()[id.index()].input, MapInput::Append(..));
    part.iter().any(is_append)
}

/// Returns a proof with the reads that show its appends.
pub(super) fn with_reads(proof: Proof, grown: &Grown) -> Proof {
    let named = proof.operations();
    let mut reads: Vec<OperationId> =
        named.iter().filter_map(|id| grown.shown.get(id)).copied().collect();
    reads.sort_unstable();
    reads.dedup();
    reads.retain(|read| !named.contains(read));
    if reads.is_empty() { proof } else { Proof::Shown { proof: Box::new(proof), reads } }
}
