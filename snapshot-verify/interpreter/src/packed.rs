//! Compact encoding of shared memory and of private state, for searches that hold many states of
//! many cells.
//!
//! Each cell takes a byte or two. A run of equal cells takes one or two bytes more, for any length:
//! most nodes are absent most of the time. To access the cells, decode the bytes.
//!
//! A datum begins with a byte. Its lower half is the kind of datum, its upper half a number below
//! 15. An upper half of 15 means that the rest of the number follows, seven bits per byte, least
//! significant first.

use super::data::Data;
use super::state::{Activity, Cell, Frame, Local};
use crate::program::{NodeId, ProcedureId};

const NONE: u8 = 0;
const BOOL: u8 = 1;
const NUMBER: u8 = 2;
const VALUE: u8 = 3;
const VERSION: u8 = 4;
const COUNTER: u8 = 5;
/// A node: its number, then its kind.
const NODE: u8 = 6;
/// Parts: their count, then the parts.
const PARTS: u8 = 7;
/// Repeats the cell before it this many times.
const REPEAT: u8 = 8;
/// Number of processes that may be linked to the next cell, then one bit per process.
const LINKS: u8 = 9;

/// Activities of a process, in place of the kind of a datum.
const IDLE: u8 = 0;
const RUNNING: u8 = 1;
const RESPONDING: u8 = 2;
const RETURNING: u8 = 3;

/// Marker in the upper half of a byte: the rest of the number follows.
const LARGE: u64 = 15;

/// Packed cells of a state, or private state of a process. Equal iff the contents are.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Packed(Box<[u8]>);

impl Packed {
    pub(super) fn new(cells: &[Cell]) -> Self {
        let mut out = Writer(Vec::with_capacity(cells.len()));
        // Range of the last cell, and the number of equal cells after it.
        let (mut last, mut repeated) = (0..0, 0);
        for cell in cells {
            let start = out.0.len();
            out.cell(cell);
            // The cell mostly has one byte, for which a call of `memcmp` is slow.
            let (before, after) = (&out.0[last.clone()], &out.0[start..]);
            if before.len() == after.len() && before.iter().eq(after) {
                out.0.truncate(start);
                repeated += 1;
                continue;
            }
            if repeated > 0 {
                let cell = out.0.split_off(start);
                out.head(REPEAT, repeated);
                repeated = 0;
                last.start = out.0.len();
                out.0.extend(cell);
            } else {
                last.start = start;
            }
            last.end = out.0.len();
        }
        if repeated > 0 {
            out.head(REPEAT, repeated);
        }
        Self(out.0.into())
    }

    pub(super) fn cells(&self) -> Vec<Cell> {
        let mut bytes = Reader(&self.0);
        let mut cells: Vec<Cell> = Vec::new();
        while !bytes.0.is_empty() {
            let mut links = Vec::new();
            let (mut what, mut number) = bytes.head();
            if what == REPEAT {
                let cell = cells.last().expect("a cell is before its repetition").clone();
                cells.resize(cells.len() + number as usize, cell);
                continue;
            }
            if what == LINKS {
                links = bytes.bits(number as usize);
                (what, number) = bytes.head();
            }
            cells.push(Cell { content: bytes.data(what, number), links });
        }
        cells
    }

    /// Packs the private state of a process.
    pub(super) fn of_process(local: &Local) -> Self {
        let mut out = Writer(Vec::with_capacity(64));
        out.all(&local.private);
        match &local.activity {
            Activity::Idle => out.head(IDLE, 0),
            Activity::Running(frames) => {
                out.head(RUNNING, frames.len() as u64);
                for frame in frames {
                    out.head(NUMBER, u64::from(frame.procedure.0));
                    out.head(NUMBER, frame.at as u64);
                    out.all(&frame.locals);
                    out.head(NUMBER, frame.excepts.len() as u64);
                    let except = |except: &Option<i64>| except.map_or(Data::None, Data::Number);
                    frame.excepts.iter().map(except).for_each(|data| out.data(&data));
                }
            }
            Activity::Responding(result) => {
                out.head(RESPONDING, result.as_ref().map_or(0, |values| 1 + values.len() as u64));
                result.iter().flatten().for_each(|value| out.head(VALUE, u64::from(*value)));
            }
            Activity::Returning(procedure, result) => {
                out.head(RETURNING, u64::from(procedure.0));
                out.head(NUMBER, u64::from(result.is_some()));
                result.iter().for_each(|data| out.data(data));
            }
        }
        Self(out.0.into())
    }

    pub(super) fn process(&self) -> Local {
        let mut bytes = Reader(&self.0);
        let private = bytes.all();
        let (activity, number) = bytes.head();
        let activity = match activity {
            IDLE => Activity::Idle,
            RUNNING => Activity::Running((0..number).map(|_| bytes.frame()).collect()),
            RESPONDING => Activity::Responding(
                number
                    .checked_sub(1)
                    .map(|count| (0..count).map(|_| bytes.head().1 as u32).collect()),
            ),
            RETURNING => {
                let has_result = bytes.head().1 == 1;
                Activity::Returning(ProcedureId(number as u32), has_result.then(|| bytes.next()))
            }
            _ => unreachable!("activities are none of these"),
        };
        Local { private, activity }
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn head(&mut self, what: u8, number: u64) {
        self.0.push(what | (number.min(LARGE) as u8) << 4);
        if let Some(mut rest) = number.checked_sub(LARGE) {
            while rest >= 128 {
                self.0.push(rest as u8 | 128);
                rest >>= 7;
            }
            self.0.push(rest as u8);
        }
    }

    fn cell(&mut self, Cell { content, links }: &Cell) {
        if !links.is_empty() {
            self.head(LINKS, links.len() as u64);
            for links in links.chunks(8) {
                let bits = links.iter().enumerate().map(|(bit, link)| u8::from(*link) << bit);
                self.0.push(bits.sum());
            }
        }
        self.data(content);
    }

    fn all(&mut self, all: &[Data]) {
        self.head(NUMBER, all.len() as u64);
        all.iter().for_each(|data| self.data(data));
    }

    fn data(&mut self, data: &Data) {
        match data {
            Data::None => self.head(NONE, 0),
            Data::Bool(data) => self.head(BOOL, u64::from(*data)),
            // The sign is the lowest bit.
            Data::Number(data) => self.head(NUMBER, ((data << 1) ^ (data >> 63)) as u64),
            Data::Value(data) => self.head(VALUE, u64::from(*data)),
            Data::Version(data) => self.head(VERSION, u64::from(*data)),
            Data::Counter(data) => self.head(COUNTER, *data),
            Data::Node { id, number } => {
                self.head(NODE, u64::from(*number));
                self.head(NUMBER, u64::from(id.0));
            }
            Data::Parts(parts) => {
                self.head(PARTS, parts.len() as u64);
                parts.iter().for_each(|part| self.data(part));
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let [byte, rest @ ..] = self.0 else { unreachable!("it ends behind a cell") };
        self.0 = rest;
        *byte
    }

    fn head(&mut self) -> (u8, u64) {
        let head = self.byte();
        let mut number = u64::from(head >> 4);
        if number == LARGE {
            let mut shift = 0;
            loop {
                let byte = self.byte();
                number += u64::from(byte & 127) << shift;
                if byte < 128 {
                    break;
                }
                shift += 7;
            }
        }
        (head & 15, number)
    }

    fn bits(&mut self, count: usize) -> Vec<bool> {
        let mut bits = Vec::with_capacity(count);
        for first in (0..count).step_by(8) {
            let byte = self.byte();
            bits.extend((0..8.min(count - first)).map(|bit| byte >> bit & 1 == 1));
        }
        bits
    }

    fn all(&mut self) -> Vec<Data> {
        let (_, count) = self.head();
        (0..count).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> Data {
        let (what, number) = self.head();
        self.data(what, number)
    }

    fn frame(&mut self) -> Frame {
        let (procedure, at) = (self.head().1, self.head().1);
        let (procedure, at) = (ProcedureId(procedure as u32), at as usize);
        let locals = self.all();
        let excepts = self.all().into_iter().map(|data| match data {
            Data::Number(number) => Some(number),
            _ => None,
        });
        Frame { procedure, at, locals, excepts: excepts.collect() }
    }

    fn data(&mut self, what: u8, number: u64) -> Data {
        match what {
            NONE => Data::None,
            BOOL => Data::Bool(number == 1),
            NUMBER => Data::Number((number >> 1) as i64 ^ -((number & 1) as i64)),
            VALUE => Data::Value(number as u32),
            VERSION => Data::Version(number as u32),
            COUNTER => Data::Counter(number),
            NODE => {
                let (_, id) = self.head();
                Data::Node { id: NodeId(id as u16), number: number as u32 }
            }
            PARTS => Data::Parts((0..number).map(|_| self.next()).collect()),
            _ => unreachable!("data is none of these"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data() -> impl Strategy<Value = Data> {
        let numbers = || prop_oneof![0..40_u64, Just(u64::from(u32::MAX)), 0..u64::MAX];
        let small = || numbers().prop_map(|number| number as u32);
        let leaf = prop_oneof![
            Just(Data::None),
            any::<bool>().prop_map(Data::Bool),
            prop_oneof![-20..20_i64, any::<i64>()].prop_map(Data::Number),
            small().prop_map(Data::Value),
            small().prop_map(Data::Version),
            numbers().prop_map(Data::Counter),
            (0..20_u16, small()).prop_map(|(id, number)| Data::Node { id: NodeId(id), number }),
        ];
        leaf.prop_recursive(3, 20, 20, |part| {
            prop::collection::vec(part, 0..20).prop_map(Data::Parts)
        })
    }

    fn cells() -> impl Strategy<Value = Vec<Cell>> {
        let cell = (data(), prop::collection::vec(any::<bool>(), 0..20), 1..30_usize)
            .prop_map(|(content, links, times)| vec![Cell { content, links }; times]);
        prop::collection::vec(cell, 0..8).prop_map(|cells| cells.concat())
    }

    proptest! {
        #[test]
        fn packed_cells_round_trip(cells in cells()) {
            prop_assert_eq!(Packed::new(&cells).cells(), cells);
        }
    }

    fn activity() -> impl Strategy<Value = Activity> {
        let all = || prop::collection::vec(data(), 0..4);
        let procedure = || (0..3_u32).prop_map(ProcedureId);
        let excepts = prop::collection::vec(prop::option::of(any::<i64>()), 0..3);
        let frame = (procedure(), 0..999_usize, all(), excepts)
            .prop_map(|(procedure, at, locals, excepts)| Frame { procedure, at, locals, excepts });
        prop_oneof![
            Just(Activity::Idle),
            prop::collection::vec(frame, 1..4).prop_map(Activity::Running),
            prop::option::of(prop::collection::vec(any::<u32>(), 0..4))
                .prop_map(Activity::Responding),
            (procedure(), prop::option::of(data()))
                .prop_map(|(procedure, result)| Activity::Returning(procedure, result)),
        ]
    }

    proptest! {
        #[test]
        fn packed_private_states_round_trip(
            private in prop::collection::vec(data(), 0..4),
            activity in activity(),
        ) {
            let local = Local { private, activity };
            prop_assert_eq!(Packed::of_process(&local).process(), local);
        }
    }

    #[test]
    fn equal_cells_take_a_few_bytes() {
        let absent = Cell { content: Data::Number(0), links: Vec::new() };
        assert_eq!(Packed::new(&vec![absent; 1000]).len(), 4);
    }
}
