//! Classes of versions, counters and anonymous bits that may be moved or compared with each other.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;

use crate::dataflow;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Domain, End, Instance, NONE, Operator, Scalar, SlotId, Target, Term,
};

/// The content of the slots of a class.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Content {
    #[default]
    Version,
    Counter,
    /// Bits of which the program only tests whether two are equal.
    Bit,
}

/// Slots among which numbers are moved or compared, with these moves and comparisons.
#[derive(Clone, Debug, Default)]
pub struct Class {
    pub content: Content,
    /// The slots, ascending.
    pub slots: Vec<SlotId>,
    /// The numbers that the program names.
    pub constants: BTreeSet<Scalar>,
    /// Pairs of slots such that one assignment may move a number, or its negation, from the first
    /// to the second.
    pub moves: BTreeSet<(SlotId, SlotId)>,
    /// Pairs of slots that are compared.
    pub tests: BTreeSet<(SlotId, SlotId)>,
    /// The least common multiple of the moduli by which remainders are taken.
    pub modulus: Scalar,
    /// Slots of which a remainder is taken.
    pub divided: BTreeSet<SlotId>,
    /// Slots of which a successor is taken.
    pub succeeded: BTreeSet<SlotId>,
}

/// All classes of an instance.
#[derive(Debug)]
pub struct Classes {
    classes: Vec<Class>,
}

impl Class {
    /// Returns per slot, by position, the positions of related slots. Two slots are related if a
    /// descendant of the one, after any number of moves, may be compared with a descendant of the
    /// other.
    pub fn related(&self, deadline: Deadline<'_>) -> Result<Vec<Vec<usize>>, Stopped> {
        let count = self.slots.len();
        let ancestors = self.ancestors(deadline)?;
        let mut related: Vec<FixedBitSet> = vec![FixedBitSet::with_capacity(count); count];
        for &(left, right) in &self.tests {
            deadline.check()?;
            let [left, right] = [left, right].map(|slot| &ancestors[self.position(slot)]);
            left.ones().for_each(|at| related[at].union_with(right));
            right.ones().for_each(|at| related[at].union_with(left));
        }
        let positions = related.iter().enumerate();
        let related = positions.map(|(at, set)| set.ones().filter(|&other| other != at).collect());
        Ok(related.collect())
    }

    /// Returns the positions of the slots whose descendants may be moved to one of the slots `of`.
    pub fn origins(
        &self,
        of: &BTreeSet<SlotId>,
        deadline: Deadline<'_>,
    ) -> Result<FixedBitSet, Stopped> {
        let ancestors = self.ancestors(deadline)?;
        let mut origins = FixedBitSet::with_capacity(self.slots.len());
        of.iter().for_each(|slot| origins.union_with(&ancestors[self.position(*slot)]));
        Ok(origins)
    }

    fn position(&self, slot: SlotId) -> usize {
        self.slots.binary_search(&slot).unwrap_or(0)
    }

    /// Returns per slot, by position, the positions of the slots that it may descend from,
    /// including itself.
    fn ancestors(&self, deadline: Deadline<'_>) -> Result<Vec<FixedBitSet>, Stopped> {
        let count = self.slots.len();
        let mut ancestors: Vec<FixedBitSet> = vec![FixedBitSet::with_capacity(count); count];
        (0..count).for_each(|at| ancestors[at].insert(at));
        let mut moves: Vec<Vec<usize>> = vec![Vec::new(); count];
        for &(from, to) in &self.moves {
            moves[self.position(from)].push(self.position(to));
        }
        let edges = |from: usize, visit: &mut dyn FnMut(usize)| {
            moves[from].iter().for_each(|to| visit(*to));
        };
        dataflow::spread(&mut ancestors, edges, deadline)?;
        Ok(ancestors)
    }
}

impl Classes {
    /// Computes the classes of an instance. O(size * depth of the union-find).
    pub fn new(instance: &Instance) -> Self {
        let mut builder = Builder::new(instance);
        for graph in &instance.graphs {
            for block in &graph.blocks {
                for assignment in &block.assignments {
                    builder.assignment(assignment);
                }
                match &block.end {
                    End::Branch { condition, .. } => builder.look_at(condition),
                    End::Respond(response) => response.terms(&mut |term| builder.look_at(term)),
                    End::Jump(_) | End::Pause(_) | End::Fault { .. } => {}
                }
            }
            let reactions = graph.locations.iter().flat_map(|standing| &standing.reactions);
            reactions.for_each(|reaction| builder.look_at(&reaction.when));
            if let Some(argument) = graph.argument {
                builder.looked_at.insert(argument.index());
            }
        }
        builder.finish()
    }

    /// Returns the classes, in the order of their first slots.
    pub fn iter(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter()
    }
}

/// A union-find of slots that collects moves and comparisons.
struct Builder<'a> {
    instance: &'a Instance,
    parents: Vec<u32>,
    moves: BTreeSet<(SlotId, SlotId)>,
    tests: BTreeSet<(SlotId, SlotId)>,
    /// Slots that are assigned or compared with a number.
    constants: BTreeSet<(SlotId, Scalar)>,
    moduli: BTreeSet<(SlotId, Scalar)>,
    /// Slots of which a successor is taken.
    succeeded: BTreeSet<SlotId>,
    /// Slots whose scalar itself matters, or that hold a computed scalar.
    looked_at: FixedBitSet,
}

/// A possible source of a scalar.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// A slot, or its negation.
    Slot(SlotId),
    Constant(Scalar),
    Computed,
}

impl<'a> Builder<'a> {
    fn new(instance: &'a Instance) -> Self {
        Self {
            instance,
            parents: (0..instance.slots.len() as u32).collect(),
            moves: BTreeSet::new(),
            tests: BTreeSet::new(),
            constants: BTreeSet::new(),
            moduli: BTreeSet::new(),
            succeeded: BTreeSet::new(),
            looked_at: FixedBitSet::with_capacity(instance.slots.len()),
        }
    }

    fn content(&self, slot: SlotId) -> Option<Content> {
        match self.instance.slot(slot).domain {
            Domain::Version { .. } => Some(Content::Version),
            Domain::Counter { .. } => Some(Content::Counter),
            Domain::Range { low: 0, high: 1, names_processes: false, .. } => Some(Content::Bit),
            Domain::Range { .. } => None,
        }
    }

    fn root(&mut self, slot: SlotId) -> u32 {
        let mut at = slot.0;
        while self.parents[at as usize] != at {
            self.parents[at as usize] = self.parents[self.parents[at as usize] as usize];
            at = self.parents[at as usize];
        }
        at
    }

    fn union(&mut self, first: SlotId, second: SlotId) {
        let (first, second) = (self.root(first), self.root(second));
        let (low, high) = (first.min(second), first.max(second));
        self.parents[high as usize] = low;
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let Target::Element { index, .. } = &assignment.target {
            self.look_at(index);
        }
        let sources = self.sources(&assignment.value);
        assignment.target.slots(&mut |target| {
            for source in &sources {
                self.movement(*source, target);
            }
        });
    }

    fn movement(&mut self, source: Source, target: SlotId) {
        match source {
            Source::Slot(slot)
                if self.content(slot).is_some() && self.content(target).is_some() =>
            {
                self.moves.insert((slot, target));
                self.union(slot, target);
            }
            Source::Slot(slot) => {
                self.looked_at.insert(slot.index());
                self.looked_at.insert(target.index());
            }
            Source::Constant(NONE) => {}
            Source::Constant(number) => {
                self.constants.insert((target, number));
            }
            Source::Computed => self.looked_at.insert(target.index()),
        }
    }

    /// Marks the slots of a term whose scalar matters beyond equality.
    fn look_at(&mut self, term: &Term) {
        for source in self.sources(term) {
            if let Source::Slot(slot) = source {
                self.looked_at.insert(slot.index());
            }
        }
    }

    /// Returns the possible sources of a term's scalar, and records the comparisons within it.
    fn sources(&mut self, term: &Term) -> Vec<Source> {
        match term {
            Term::Constant(number) => vec![Source::Constant(*number)],
            Term::Process(_) => vec![Source::Computed],
            Term::Fresh => Vec::new(),
            Term::Slot(slot) => vec![Source::Slot(*slot)],
            Term::Successor(slot) => {
                self.succeeded.insert(*slot);
                vec![Source::Slot(*slot)]
            }
            Term::Element { index, of } => {
                self.look_at(index);
                of.iter().flat_map(|term| self.sources(term)).collect()
            }
            Term::Apply(Operator::If, of) => {
                self.look_at(&of[0]);
                of[1..].iter().flat_map(|term| self.sources(term)).collect()
            }
            Term::Apply(Operator::Not, of) => {
                let negated = |source| match source {
                    Source::Constant(bit) if bit != NONE => Source::Constant(1 - bit),
                    other => other,
                };
                self.sources(&of[0]).into_iter().map(negated).collect()
            }
            Term::Apply(Operator::Equal | Operator::Less | Operator::LessOrEqual, of) => {
                let (left, right) = (self.sources(&of[0]), self.sources(&of[1]));
                self.comparison(&left, &right);
                vec![Source::Computed]
            }
            Term::Apply(Operator::Remainder, of) => {
                for source in self.sources(&of[0]) {
                    if let (Source::Slot(slot), Some(by)) = (source, of[1].constant()) {
                        self.moduli.insert((slot, by));
                    }
                }
                vec![Source::Computed]
            }
            Term::Apply(_, of) => {
                of.iter().for_each(|term| self.look_at(term));
                vec![Source::Computed]
            }
        }
    }

    fn comparison(&mut self, left: &[Source], right: &[Source]) {
        for left in left {
            for right in right {
                match (*left, *right) {
                    (Source::Slot(left), Source::Slot(right)) => {
                        self.tests.insert((left, right));
                        self.union(left, right);
                    }
                    // A comparison with `none` is allowed for every slot.
                    (Source::Slot(_), Source::Constant(NONE))
                    | (Source::Constant(NONE), Source::Slot(_)) => {}
                    (Source::Slot(slot), Source::Constant(number))
                    | (Source::Constant(number), Source::Slot(slot)) => {
                        self.constants.insert((slot, number));
                    }
                    (Source::Slot(slot), Source::Computed)
                    | (Source::Computed, Source::Slot(slot)) => {
                        self.looked_at.insert(slot.index());
                    }
                    (Source::Constant(_) | Source::Computed, _) => {}
                }
            }
        }
    }

    fn finish(mut self) -> Classes {
        let mut classes: BTreeMap<u32, Class> = BTreeMap::new();
        let mut spoiled: BTreeSet<u32> = BTreeSet::new();
        for index in 0..self.instance.slots.len() as u32 {
            let slot = SlotId(index);
            let root = self.root(slot);
            let Some(content) = self.content(slot) else {
                spoiled.insert(root);
                continue;
            };
            if content == Content::Bit && self.looked_at[slot.index()] {
                spoiled.insert(root);
            }
            let class = classes.entry(root).or_default();
            class.modulus = 1;
            class.content = content;
            class.slots.push(slot);
        }
        for (from, to) in std::mem::take(&mut self.moves) {
            let root = self.root(from);
            classes.entry(root).or_default().moves.insert((from, to));
        }
        for (left, right) in std::mem::take(&mut self.tests) {
            let root = self.root(left);
            classes.entry(root).or_default().tests.insert((left, right));
        }
        for (slot, number) in std::mem::take(&mut self.constants) {
            let root = self.root(slot);
            classes.entry(root).or_default().constants.insert(number);
        }
        for (slot, by) in std::mem::take(&mut self.moduli) {
            let root = self.root(slot);
            let class = classes.entry(root).or_default();
            class.modulus = least_common_multiple(class.modulus, by);
            class.divided.insert(slot);
        }
        for slot in std::mem::take(&mut self.succeeded) {
            let root = self.root(slot);
            classes.entry(root).or_default().succeeded.insert(slot);
        }
        let is_anonymous = |root: &u32, class: &Class| {
            class.content != Content::Bit || (!spoiled.contains(root) && class.constants.is_empty())
        };
        let classes = classes
            .into_iter()
            .filter(|(root, class)| !class.slots.is_empty() && is_anonymous(root, class));
        Classes { classes: classes.map(|(_, class)| class).collect() }
    }
}

fn least_common_multiple(first: Scalar, second: Scalar) -> Scalar {
    let (mut a, mut b) = (first, second);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    first / a * second
}
