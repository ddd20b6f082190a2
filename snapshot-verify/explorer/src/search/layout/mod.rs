//! The packed form of product states.
//!
//! A state of the product of an instance with the observer is a row of small integers, one per
//! **register**: the scalars of the slots, the location of each process, the values required of its
//! open scan, the observer's six bits, and, if operations are counted, the number left. The search
//! stores millions to billions of states, so states are packed. Each register gets as many bits as
//! its domain needs, or none if it is used only while a step runs (`transient.rs`). No field
//! crosses the border of a word. One bit is always set so that no state is all zeros, the store's
//! mark for an empty place.
//!
//! The observer is monotone in the bits `must`, `needed` and `bad`: with more of these bits set it
//! accepts more. These bits, and the numbers of operations and barriers left, lie together at the
//! low end of word 0: the antichain excludes them from identity by one mask, and compares them
//! separately (`monotone.rs`).
//!
//! Invariants, see [`Layout::validate`]: fields overlap neither each other nor the bit that is
//! always set; a packed state unpacks to the same scalars.

mod error;
mod field;
mod monotone;
mod registers;
mod transient;

use std::fmt;

use snapshot_core::observer::ObserverState;

pub use error::LayoutError;
pub use field::Field;
pub use monotone::Monotone;
pub use registers::{Register, Registers, Variable};

use crate::instance::{Domain, Instance, NONE, Owner, Scalar, SlotId};

/// The numbers of words that a packed state may have.
pub const WORDS: [usize; 8] = [1, 2, 3, 4, 6, 8, 16, 32];

/// The widths that the search is compiled for: each takes seconds to compile, and the next larger
/// one serves every other width.
const COMPILED: [usize; 4] = [2, 4, 8, 32];

/// The greatest number of words of a packed state.
pub const MAX_WORDS: usize = WORDS[WORDS.len() - 1];

/// The greatest number of processes: their `must` bits and the observer's four monotone bits lie in
/// one word, of which one bit is always set.
pub const MAX_PROCESSES: usize = 29;

/// The number of observer bits that are not monotone: `invoked_i` and `invoked_j`, the lowest.
pub const INVOKED_BITS: u32 = 2;

/// The number of monotone observer bits, without the bits of open scans.
const MONOTONE_BITS: u32 = ObserverState::BITS - INVOKED_BITS;

/// The positions of all registers of a product state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layout {
    registers: Registers,
    /// By register.
    fields: Vec<Field>,
    /// By register, a name for people.
    names: Vec<String>,
    words: usize,
    monotone: Monotone,
    /// Whether numbers may not fit: see [`Needs::most_numbers`].
    narrow: bool,
}

/// Parameters of a layout, beyond the instance.
#[derive(Clone, Copy)]
pub struct Needs<'a> {
    /// By process, the number of operations that it may begin, if that is bounded.
    pub operations: Option<&'a [u32]>,
    /// The number of barriers, if they are counted.
    pub barriers: Option<u32>,
    /// Returns the number of distinct values of a version or counter slot in a canonical state,
    /// counted from 0; `None` without a canonical form.
    pub numbers: &'a dyn Fn(SlotId) -> Option<u32>,
    /// Returns true if a canonical form may replace the slot's value.
    pub is_renamed: &'a dyn Fn(SlotId) -> bool,
    /// The layout has room for at most this many numbers, even if there may be more.
    pub most_numbers: Option<u32>,
}

impl Layout {
    /// Lays out the product states of an instance.
    ///
    /// # Errors
    /// If a state needs more than [`MAX_WORDS`] words, there are more than
    /// [`MAX_PROCESSES`] processes, or a slot has no finite domain.
    pub fn new(instance: &Instance, needs: &Needs<'_>) -> Result<Self, LayoutError> {
        let registers = Registers::new(instance);
        if registers.processes() > MAX_PROCESSES {
            return Err(LayoutError::TooManyProcesses {
                given: registers.processes(),
                limit: MAX_PROCESSES,
            });
        }
        let variables: Vec<Variable> = registers.variables().collect();
        let transient = transient::transient(instance);
        let always = |variable| match variable {
            // A value that may be renamed, here or in other processes, does not stay the same.
            Variable::Slot(slot) => transient[slot.index()].filter(|&scalar| {
                let is_name = instance.slot(slot).domain.names_processes();
                scalar == NONE || !is_name && !(needs.is_renamed)(slot)
            }),
            _ => None,
        };
        let unplaced = variables.iter().map(|&variable| match always(variable) {
            Some(scalar) => Ok(Field::always(scalar)),
            None => unplaced(variable, instance, needs),
        });
        let unplaced: Vec<Field> = unplaced.collect::<Result<_, _>>()?;
        // All compared fields lie in one word, with the bit that is always set. Numbers are among
        // them only if they fit there.
        let compared = variables.iter().zip(&unplaced);
        let compared = compared.filter(|(of, _)| of.is_monotone() || of.is_compared_with_room());
        let bits: u32 = compared.map(|(_, field)| field.bits()).sum();
        let is_first = |variable: Variable| {
            variable.is_monotone() || variable.is_compared_with_room() && bits < u64::BITS
        };
        let (words, fields) = placed(&variables, &unplaced, is_first)?;
        let first = variables.iter().zip(&fields).filter(|(of, _)| is_first(**of));
        let (numbers, bits): (Vec<_>, Vec<_>) = first.partition(|(of, _)| of.is_left());
        let bits = bits.into_iter().fold(0, |mask, (_, field)| mask | field.mask());
        let monotone = Monotone::new(bits, numbers.into_iter().map(|(_, &field)| field));
        let names = variables.iter().map(|variable| variable.name(instance)).collect();
        let narrow = needs.most_numbers.is_some();
        Ok(Self { registers, fields, names, words, monotone, narrow })
    }

    /// Widens the layout to a width that the search is compiled for.
    #[must_use]
    pub(super) fn compiled(mut self) -> Self {
        let wide_enough = COMPILED.into_iter().find(|&words| words >= self.words);
        self.words = wide_enough.unwrap_or(MAX_WORDS);
        self
    }

    /// Which register holds what.
    pub const fn registers(&self) -> Registers {
        self.registers
    }

    /// Returns the fields by register.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the name of a register, for people.
    pub fn name(&self, register: Register) -> &str {
        &self.names[register]
    }

    /// Returns the number of words of a state.
    pub const fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of bits that carry information.
    pub fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.bits()).sum()
    }

    /// Returns the monotone part of word 0: fields with [`Variable::is_monotone`], and, if all of
    /// them fit, fields with [`Variable::is_compared_with_room`].
    pub const fn monotone(&self) -> &Monotone {
        &self.monotone
    }

    /// Returns true if numbers may not fit: see [`Needs::most_numbers`].
    pub const fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Packs scalars, one per register.
    ///
    /// # Panics
    /// If `W` is not [`Self::words`], or a scalar is outside its register's domain.
    pub fn pack<const W: usize>(&self, scalars: &[Scalar]) -> [u64; W] {
        self.try_pack(scalars).expect("a slot holds scalars of its domain only")
    }

    /// Packs scalars, one per register. Returns `None` if a scalar is outside its register's
    /// domain, as large numbers may be in a narrow layout.
    ///
    /// # Panics
    /// If `W` is not [`Self::words`].
    pub fn try_pack<const W: usize>(&self, scalars: &[Scalar]) -> Option<[u64; W]> {
        assert_eq!(W, self.words, "a layout packs states of its own size");
        let mut state = [0; W];
        state[W - 1] = ALWAYS_SET;
        let mut pairs = self.fields.iter().zip(scalars);
        pairs.all(|(field, &scalar)| field.try_put(&mut state, scalar)).then_some(state)
    }

    /// Unpacks a state, one scalar per register.
    ///
    /// # Panics
    /// If `W` is not [`Self::words`].
    pub fn unpack<const W: usize>(&self, state: &[u64; W], scalars: &mut [Scalar]) {
        assert_eq!(W, self.words, "a layout unpacks states of its own size");
        for (field, scalar) in self.fields.iter().zip(scalars) {
            *scalar = field.get(state);
        }
    }

    /// Checks the invariants.
    ///
    /// # Panics
    /// If one is broken, naming it.
    pub fn validate(&self) {
        let mut used = vec![0; self.words];
        used[self.words - 1] = ALWAYS_SET;
        for (register, field) in self.fields.iter().enumerate() {
            let mask = field.mask();
            assert_eq!(used[field.word()] & mask, 0, "fields overlap: {}", self.name(register));
            used[field.word()] |= mask;
        }
        let monotone = self.monotone.mask();
        let width = monotone.count_ones();
        assert_eq!(monotone, (1 << width) - 1, "the monotone bits are the lowest");
    }
}

/// The bit that is set in the last word of every packed state.
const ALWAYS_SET: u64 = 1 << 63;

/// Returns the field of a variable, not placed yet.
fn unplaced(
    variable: Variable,
    instance: &Instance,
    needs: &Needs<'_>,
) -> Result<Field, LayoutError> {
    let from_0_to = |most: u32| Ok(Field::range(0, u64::from(most) + 1, false));
    match variable {
        Variable::Slot(slot) => match instance.slot(slot).domain {
            Domain::Range { low, high, optional, .. } => {
                let scalars = i64::from(high) - i64::from(low) + 1;
                match u64::try_from(scalars) {
                    Ok(scalars) if (1..=Field::MOST_SCALARS).contains(&scalars) => {
                        Ok(Field::range(low, scalars, optional))
                    }
                    _ => {
                        let slot = instance.slot(slot).name.clone();
                        Err(LayoutError::Domain { slot, low, high })
                    }
                }
            }
            Domain::Version { optional } | Domain::Counter { optional } => {
                // Meaningless content is `NONE`: a number would be renamed.
                let owner = instance.slot(slot).owner;
                let optional = optional || matches!(owner, Owner::Operation(_));
                match (needs.numbers)(slot) {
                    Some(numbers) => {
                        let room = needs.most_numbers.map_or(numbers, |most| numbers.min(most));
                        Ok(Field::range(0, u64::from(room), optional))
                    }
                    None => Err(LayoutError::Unbounded { slot: instance.slot(slot).name.clone() }),
                }
            }
        },
        Variable::Location(process) => {
            let locations = instance.graphs[process.index()].locations.len();
            Ok(Field::range(0, locations as u64, false))
        }
        Variable::Must(_) => from_0_to(3),
        Variable::Invoked => from_0_to((1 << INVOKED_BITS) - 1),
        Variable::NeededAndBad => from_0_to((1 << MONOTONE_BITS) - 1),
        Variable::Left(process) => from_0_to(needs.operations.map_or(0, |of| of[process.index()])),
        Variable::Due => from_0_to(needs.barriers.map_or(0, |_| (1 << MONOTONE_BITS) - 1)),
        Variable::Barriers => from_0_to(needs.barriers.unwrap_or(0)),
    }
}

/// Places fields in as few words as possible, fields with `is_first` first. Returns the number of
/// words, and the fields.
fn placed(
    variables: &[Variable],
    unplaced: &[Field],
    is_first: impl Fn(Variable) -> bool,
) -> Result<(usize, Vec<Field>), LayoutError> {
    let mut order: Vec<usize> = (0..variables.len()).collect();
    order.sort_by_key(|&register| {
        let first = is_first(variables[register]);
        (!first, std::cmp::Reverse(if first { 0 } else { unplaced[register].bits() }))
    });
    let bits: u32 = unplaced.iter().map(|field| field.bits()).sum();
    let least = (bits as usize + 1).div_ceil(64);
    WORDS
        .into_iter()
        .filter(|&words| words >= least)
        .find_map(|words| Some((words, place(unplaced, &order, words)?)))
        .ok_or(LayoutError::TooLarge { bits, limit: MAX_WORDS as u32 * 64 - 1 })
}

/// Places fields in this order, each in the first word with room. Returns `None` if the words do
/// not suffice.
fn place(unplaced: &[Field], order: &[usize], words: usize) -> Option<Vec<Field>> {
    let mut used = vec![0; words];
    let mut fields = unplaced.to_vec();
    for &register in order {
        let bits = unplaced[register].bits();
        let room = |word: usize| if word + 1 == words { 63 } else { 64 };
        let word = (0..words).find(|&word| used[word] + bits <= room(word))?;
        fields[register] = unplaced[register].at(word, used[word]);
        used[word] += bits;
    }
    Some(fields)
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} bits, in {} x 64", self.bits(), self.words)?;
        let mut order: Vec<Register> = (0..self.fields.len()).collect();
        order.sort_by_key(|&register| {
            let field = self.fields[register];
            (field.bits() == 0, field.word(), field.shift())
        });
        for register in order {
            let (field, name) = (self.fields[register], self.name(register));
            if field.bits() == 0 {
                writeln!(f, "constant          {name}")?;
            } else {
                let last = field.shift() + field.bits() - 1;
                writeln!(f, "word {}, {:>2}..={last:<2}   {name}", field.word(), field.shift())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{
        Block, BlockId, End, Graph, Invocations, Location, Owner, Slot, Standing,
    };
    use crate::language::Span;
    use snapshot_core::Process;

    /// Creates an instance whose slots have these domains.
    fn instance(processes: usize, domains: &[Domain]) -> Instance {
        let slot = |(index, &domain)| Slot {
            name: format!("s{index}"),
            owner: Owner::Shared,
            domain,
            initial: 0,
        };
        let standing = Standing {
            step: None,
            span: Span::default(),
            label: String::new(),
            updating: false,
            reactions: vec![],
        };
        let graph = Graph {
            blocks: vec![Block { accesses: 0, assignments: vec![], end: End::Pause(Location(1)) }],
            locations: vec![standing; 5],
            invocations: Invocations { update: BlockId(0), scan: BlockId(0) },
            argument: None,
        };
        Instance {
            processes,
            pair: [Process::from_index(0), Process::from_index(1)],
            slots: domains.iter().enumerate().map(slot).collect(),
            graphs: vec![graph; processes],
        }
    }

    fn layout(instance: &Instance) -> Result<Layout, LayoutError> {
        bounded_layout(instance, None)
    }

    fn bounded_layout(
        instance: &Instance,
        operations: Option<&[u32]>,
    ) -> Result<Layout, LayoutError> {
        let numbers = |slot: SlotId| (slot == SlotId(1)).then_some(3_u32);
        let is_renamed = |_| false;
        let (numbers, is_renamed) = (&numbers as _, &is_renamed as _);
        let needs = Needs { operations, barriers: None, numbers, is_renamed, most_numbers: None };
        Layout::new(instance, &needs)
    }

    fn range(low: Scalar, high: Scalar) -> Domain {
        Domain::Range { low, high, optional: false, names_processes: false }
    }

    #[test]
    fn packed_states_round_trip() {
        let version = Domain::Version { optional: true };
        let wide = range(-(1 << 29), (1 << 29) - 1);
        let layout = layout(&instance(3, &[wide, version, Domain::BIT, wide, wide])).unwrap();
        layout.validate();
        // Slots 90 + 2 + 1 bits, three locations of 3, three musts of 2, the observer's 6.
        assert_eq!((layout.bits(), layout.words()), (90 + 2 + 1 + 9 + 6 + 6, 2));
        assert_eq!(layout.monotone().mask(), (1 << 10) - 1);
        let low = [-(1 << 29), 0, 0, -(1 << 29), -(1 << 29), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let high = [(1 << 29) - 1, 2, 1, 5, -7, 4, 3, 4, 3, 2, 3, 3, 15, 0, 0, 0, 0, 0];
        let mixed = [1, NONE, 1, 5, -7, 4, 0, 4, 0, 2, 0, 3, 1, 0, 0, 0, 0, 0];
        for scalars in [low, high, mixed] {
            let packed: [u64; 2] = layout.pack(&scalars);
            assert_ne!(packed, [0; 2]);
            let mut unpacked = [77; 18];
            layout.unpack(&packed, &mut unpacked);
            assert_eq!(unpacked, scalars);
        }
    }

    #[test]
    fn operations_left_are_compared_if_they_fit() {
        let instance = instance(5, &[]);
        let bits = 2 * 5 + 4;
        // 5 fields of 9 bits each fit, of 10 bits they do not.
        for (operations, compared) in [(511, bits + 5 * 9), (512, bits)] {
            let layout = bounded_layout(&instance, Some(&[operations; 5])).unwrap();
            layout.validate();
            assert_eq!(layout.monotone().mask(), (1 << compared) - 1, "{operations}");
        }
        // The last of the 59 compared bits is the highest bit of a number.
        let layout = bounded_layout(&instance, Some(&[511; 5])).unwrap();
        let (few, many) = (1 << (bits + 5 * 9 - 2), 1 << (bits + 5 * 9 - 1));
        assert!(layout.monotone().is_at_least(many, few));
        assert!(!layout.monotone().is_at_least(few, many));
        assert!(!layout.monotone().is_at_least(many, 1), "bits are compared by inclusion");
    }

    #[test]
    fn always_set_bit_belongs_to_no_field() {
        // 127 bits would fit into two words, but the last field would overlap the bit that is
        // always set.
        let wide = range(0, (1 << 30) + 1);
        let layout = layout(&instance(2, &[wide, wide, wide, range(0, 1 << 17)]));
        let layout = layout.unwrap();
        layout.validate();
        assert_eq!((layout.bits(), layout.words()), (127, 3));
    }

    #[test]
    fn layout_is_displayed() {
        let layout = layout(&instance(2, &[range(0, 20), range(3, 3)])).unwrap();
        let expected = "\
            21 bits, in 1 x 64\n\
            word 0,  0..=1    must of p0's scan\n\
            word 0,  2..=3    must of p1's scan\n\
            word 0,  4..=7    observer: needed, bad\n\
            word 0,  8..=12   s0\n\
            word 0, 13..=15   location of p0\n\
            word 0, 16..=18   location of p1\n\
            word 0, 19..=20   observer: invoked\n\
            constant          s1\n\
            constant          operations left to p0\n\
            constant          operations left to p1\n\
            constant          observer: needed, bad from the next barrier on\n\
            constant          barriers left\n";
        assert_eq!(layout.to_string(), expected);
    }

    #[test]
    fn instances_without_a_layout_are_refused() {
        let error = layout(&instance(2, &[range(0, Scalar::MAX); 67])).unwrap_err();
        assert_eq!(error, LayoutError::TooLarge { bits: 67 * 31 + 16, limit: 2047 });
        let error = layout(&instance(30, &[])).unwrap_err();
        assert_eq!(error, LayoutError::TooManyProcesses { given: 30, limit: 29 });
        assert!(layout(&instance(29, &[])).is_ok());
        let error = layout(&instance(2, &[Domain::Counter { optional: false }])).unwrap_err();
        assert_eq!(error, LayoutError::Unbounded { slot: "s0".to_owned() });
        for (low, high) in [(3, 2), (Scalar::MIN, Scalar::MAX)] {
            let error = layout(&instance(2, &[range(low, high)])).unwrap_err();
            assert_eq!(error, LayoutError::Domain { slot: "s0".to_owned(), low, high });
        }
    }
}
