//! Reports of parts at the end of a round, as words.

use super::super::budget::Unfinished;
use super::super::checkpoint::{move_words, read_move};
use super::super::product::Move;
use super::super::self_check::Examined;
use crate::limits::LimitSet;

/// A part's report on a round. Each part sends all fields; a field without content is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report<const W: usize> {
    /// A hash of the search's parameters.
    pub(super) key: u64,
    /// Whether the part has too little memory to begin.
    pub(super) is_exhausted: bool,
    pub(super) cause: Option<Unfinished>,
    /// The number of states of the next level.
    pub(super) states: u64,
    /// The bytes of these states.
    pub(super) bytes: u64,
    pub(super) transitions: u64,
    pub(super) limits: LimitSet,
    pub(super) examined: Examined,
    /// Whether the self-check has found a defect.
    pub(super) has_defect: bool,
    /// The peak of memory in the process; sent by the first worker of each process.
    pub(super) peak: u64,
    /// The first move that stops, or that leads to the target of the trace.
    pub(super) by: Option<([u64; W], Move)>,
}

impl<const W: usize> Report<W> {
    pub(super) fn words(&self) -> Vec<u64> {
        let Examined { states, symmetry, numbering, forgetting, ample, antichain } = self.examined;
        let mut words = vec![
            self.key,
            self.is_exhausted.into(),
            self.cause.map_or(0, Unfinished::number).into(),
            self.states,
            self.bytes,
            self.transitions,
            self.limits.bits().into(),
            self.has_defect.into(),
            self.peak,
            states,
            symmetry,
            numbering,
            forgetting,
            ample,
            antichain,
        ];
        if let Some((state, by)) = self.by {
            words.extend(state);
            words.extend(move_words(by));
        }
        words
    }

    /// Decodes a report; `None` if the words are invalid.
    pub(super) fn read(words: &[u64]) -> Option<Self> {
        let (counts, by) = words.split_at_checked(15)?;
        let &[
            key,
            is_exhausted,
            cause,
            states,
            bytes,
            transitions,
            limits,
            has_defect,
            peak,
            examined,
            symmetry,
            numbering,
            forgetting,
            ample,
            antichain,
        ] = counts
        else {
            return None;
        };
        let by = match by.split_first_chunk::<W>() {
            None => None,
            Some((state, by)) => {
                let bytes: Vec<u8> = by.iter().flat_map(|word| word.to_le_bytes()).collect();
                Some((*state, read_move(&mut bytes.as_slice()).ok()?))
            }
        };
        Some(Self {
            key,
            is_exhausted: is_exhausted != 0,
            cause: u8::try_from(cause).ok().and_then(Unfinished::from_number),
            states,
            bytes,
            transitions,
            limits: LimitSet::from_bits(limits as u32),
            has_defect: has_defect != 0,
            peak,
            examined: Examined {
                states: examined,
                symmetry,
                numbering,
                forgetting,
                ample,
                antichain,
            },
            by,
        })
    }
}
