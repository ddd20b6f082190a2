//! Selectors: the variables by which processes select cells.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataflow::cone_of_influence::Sources;
use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Domain, Instance, NONE, Operator, Owner, Scalar, SlotId, Target, Term,
};
use crate::quotient::canonical_renaming::classes::Classes;

/// Variables and pointers with more scalars are not analysed.
const MOST_SCALARS: i64 = 64;

/// The selectors of all processes, and their sources.
#[derive(Debug)]
pub(crate) struct Selectors {
    /// By process.
    pub(crate) of: Vec<Vec<Selector>>,
    /// The cells from which selectors are loaded.
    pub(crate) pointers: BTreeSet<SlotId>,
}

/// A variable by which cells are selected; for a counter, its remainder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Selector {
    pub(crate) slot: SlotId,
    /// Whether the domain includes `none`, which has code 0.
    optional: bool,
    pub(crate) encoding: Encoding,
}

/// The scalars with codes, besides `none`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Encoding {
    /// A range: its first scalar, and the number of scalars.
    Range(Scalar, usize),
    /// Counters, distinguished modulo this number.
    Remainders(Scalar),
}

impl Selector {
    /// Returns the code of a scalar, if the selector may hold it.
    #[inline]
    pub(crate) fn code(&self, scalar: Scalar) -> Option<usize> {
        if scalar == NONE {
            return self.optional.then_some(0);
        }
        let number = match self.encoding {
            Encoding::Range(low, count) => {
                let number = usize::try_from(scalar.checked_sub(low)?).ok()?;
                (number < count).then_some(number)?
            }
            Encoding::Remainders(modulus) => scalar.rem_euclid(modulus) as usize,
        };
        Some(usize::from(self.optional) + number)
    }

    /// Returns the scalar with a code; for a counter, the remainder.
    pub(crate) fn scalar(&self, code: usize) -> Scalar {
        match (code.checked_sub(usize::from(self.optional)), self.encoding) {
            (None, _) => NONE,
            (Some(number), Encoding::Range(low, _)) => low + number as Scalar,
            (Some(number), Encoding::Remainders(_)) => number as Scalar,
        }
    }

    pub(crate) fn codes(&self) -> usize {
        let count = match self.encoding {
            Encoding::Range(_, count) => count,
            Encoding::Remainders(modulus) => modulus as usize,
        };
        usize::from(self.optional) + count
    }
}

impl Selectors {
    /// Finds the variables whose values select among these cells, and the variables and pointers
    /// that flow into them.
    pub(crate) fn new(
        instance: &Instance,
        is_cell: &dyn Fn(SlotId) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let moduli = moduli(instance, deadline)?;
        let blocks = || instance.graphs.iter().flat_map(|graph| &graph.blocks);
        let assignments = || blocks().flat_map(|block| &block.assignments);
        // A slot assigned through a run-time index is not a selector: the assigned slot would be
        // unknown.
        let mut excluded: BTreeSet<SlotId> =
            instance.graphs.iter().filter_map(|graph| graph.argument).collect();
        let mut found = BTreeSet::new();
        for block in blocks() {
            deadline.check()?;
            block.terms(&mut |term| indices(term, is_cell, &mut |slot| _ = found.insert(slot)));
        }
        for Assignment { target, .. } in assignments() {
            if let Target::Element { index, of } = target {
                excluded.extend(of);
                if of.iter().any(|slot| is_cell(*slot)) {
                    tellers(index, &mut |slot| _ = found.insert(slot));
                }
            }
        }
        let selector = |slot: SlotId| -> Option<Selector> {
            let described = instance.slot(slot);
            let is_own = matches!(described.owner, Owner::Process(_) | Owner::Operation(_));
            let encoding = match described.domain {
                Domain::Range { .. } => {
                    let (low, count) = small_range(instance, slot)?;
                    Encoding::Range(low, count)
                }
                Domain::Version { .. } | Domain::Counter { .. } => {
                    Encoding::Remainders(*moduli.get(&slot)?)
                }
            };
            let optional = match described.domain {
                Domain::Range { optional, .. } => optional,
                // A meaningless version or counter is `none`.
                Domain::Version { .. } | Domain::Counter { .. } => true,
            };
            (is_own && !excluded.contains(&slot)).then_some(Selector { slot, optional, encoding })
        };
        let is_pointer = |slot: SlotId| {
            instance.slot(slot).owner == Owner::Shared && small_range(instance, slot).is_some()
        };
        let sources = Sources::read_by(
            instance,
            |term, visit| tellers(term, &mut |slot| visit(slot)),
            deadline,
        )?;
        let through = |slot: SlotId| is_pointer(slot) || selector(slot).is_some();
        let found = sources.cone(found, through, deadline)?;
        let found = || found.ones().map(|slot| SlotId(slot as u32));
        let mut of = vec![Vec::new(); instance.processes];
        for selector in found().filter_map(selector) {
            if let Some(process) = instance.slot(selector.slot).owner.reader() {
                of[process.index()].push(selector);
            }
        }
        let pointers = found().filter(|slot| is_pointer(*slot)).collect();
        Ok(Self { of, pointers })
    }
}

/// Returns the scalars that a cell may hold, if they are few; otherwise an empty list.
pub(crate) fn scalars_of(instance: &Instance, cell: SlotId) -> Vec<Scalar> {
    match (small_range(instance, cell), instance.slot(cell).domain) {
        (Some((low, count)), Domain::Range { optional, .. }) => {
            let numbers = (0..count).map(|number| low + number as Scalar);
            optional.then_some(NONE).into_iter().chain(numbers).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the least scalar of a range and the number of scalars, if the range is small.
fn small_range(instance: &Instance, slot: SlotId) -> Option<(Scalar, usize)> {
    let Domain::Range { low, high, .. } = instance.slot(slot).domain else { return None };
    let count = i64::from(high) - i64::from(low) + 1;
    (count <= MOST_SCALARS).then_some((low, count as usize))
}

/// Returns, for each counter whose remainder renumbering preserves, the modulus.
fn moduli(
    instance: &Instance,
    deadline: Deadline<'_>,
) -> Result<BTreeMap<SlotId, Scalar>, Stopped> {
    let classes = Classes::new(instance);
    let small = classes.iter().filter(|class| (2..=MOST_SCALARS).contains(&class.modulus.into()));
    let mut moduli = BTreeMap::new();
    for class in small {
        let kept = class.origins(&class.divided, deadline)?;
        moduli.extend(kept.ones().map(|at| (class.slots[at], class.modulus)));
    }
    Ok(moduli)
}

/// Visits the slots that determine the indices by which a term selects among such cells.
fn indices(term: &Term, is_cell: &dyn Fn(SlotId) -> bool, visit: &mut impl FnMut(SlotId)) {
    match term {
        Term::Element { index, of } => {
            let mut chooses = false;
            of.iter().for_each(|term| term.slots(&mut |slot| chooses |= is_cell(slot)));
            if chooses {
                tellers(index, visit);
            }
            indices(index, is_cell, visit);
            of.iter().for_each(|term| indices(term, is_cell, visit));
        }
        Term::Apply(_, arguments) => {
            arguments.iter().for_each(|term| indices(term, is_cell, visit));
        }
        Term::Constant(_) | Term::Process(_) | Term::Slot(_) | Term::Fresh | Term::Successor(_) => {
        }
    }
}

/// Visits the slots that determine a term's value, except slots that it only compares.
fn tellers(term: &Term, visit: &mut impl FnMut(SlotId)) {
    match term {
        Term::Slot(slot) | Term::Successor(slot) => visit(*slot),
        Term::Element { index, of } => {
            tellers(index, visit);
            of.iter().for_each(|term| tellers(term, visit));
        }
        Term::Apply(Operator::Equal | Operator::Less | Operator::LessOrEqual, _) => {}
        Term::Apply(_, arguments) => arguments.iter().for_each(|term| tellers(term, visit)),
        Term::Constant(_) | Term::Process(_) | Term::Fresh => {}
    }
}
