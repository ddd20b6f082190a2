//! The self-check finds an injected error in each kind of reduction, and no error in the correct
//! ones.

use std::collections::BTreeSet;

use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{Domain, End, NONE, Operator, Response, Scalar, SlotId, Term};
use snapshot_explorer::pipeline::Prepared;
use snapshot_explorer::quotient::canonical_renaming::CanonicalRenaming;
use snapshot_explorer::quotient::process_symmetry::ProcessSymmetry;
use snapshot_explorer::reduction::Reductions;
use snapshot_explorer::search::canonical::Around;
use snapshot_explorer::search::layout::{Register, Registers};
use snapshot_explorer::search::{
    Ample, Defect, Examined, Exploration, ExploreError, Forgetting, Numbering, Permutation,
    SelfCheck, Symmetry,
};
use test_support::effort::either;

use crate::explore::published;

/// Counters: one step of a scan increments one of them twice.
const TWICE: &str = "algorithm twice
shared a[segment]: value
shared hi: counter
shared lo: counter
update(v):
    atomic:
        a[me] := v
        h := hi
        hi := h + 1
scan:
    local c[segment]: value
    local t: counter
    atomic:
        t := lo
        h := hi
        t := t + 1
        t := t + 1
        lo := t
        for s in segments: c[s] := a[s]
    if t + 1 < h: c[me] := initial
    return c
";

/// Versions, which a scan compares.
const VERSIONS: &str = "algorithm versions
type cell = record (val: value, seq: version)
shared a[segment]: cell
update(v):
    a[me] := (v, fresh)
scan:
    local one[segment]: cell
    local two[segment]: cell
    loop:
        for s in segments: one[s] := a[s]
        for s in segments: two[s] := a[s]
        if all s in segments: one[s].seq = two[s].seq: return [two[s].val for s in segments]
";

/// Examines every state.
const DENSELY: SelfCheck = SelfCheck { one_in: 1, seed: 1 };

fn prepared(text: &str, processes: usize) -> Prepared {
    published::prepared(text, None, processes, Reductions::standard())
}

fn algorithm(name: &str) -> &'static str {
    corpus::algorithm(name).unwrap().text
}

fn run(prepared: &Prepared, exploration: &Exploration<'_>) -> Result<Examined, Box<Defect>> {
    let numbering = prepared.numbering.as_ref().map(|numbering| numbering as _);
    let exploration = Exploration {
        numbering: exploration.numbering.or(numbering),
        self_check: exploration
            .self_check
            .filter(|asked| *asked != SelfCheck::DEFAULT)
            .or(Some(DENSELY)),
        memory: 64 << 20,
        ..exploration.clone()
    };
    match exploration.run(&prepared.instance, &mut |_| ()) {
        Ok(outcome) => Ok(outcome.examined),
        Err(ExploreError::SelfCheck(defect)) => Err(defect),
        Err(error) => panic!("{error}"),
    }
}

fn found(prepared: &Prepared, exploration: &Exploration<'_>) -> &'static str {
    let defect = run(prepared, exploration).unwrap_err();
    assert!(!defect.state.is_empty() && !defect.step.is_empty(), "{defect}");
    defect.reduction
}

/// Exchanges processes, but leaves the names in one slot unchanged.
#[derive(Debug)]
struct WrongExchange(ProcessSymmetry, SlotId);

impl Symmetry for WrongExchange {
    fn canonicalise(&self, _: Registers, _: &mut [Scalar]) -> Permutation {
        Permutation::IDENTITY
    }

    fn permute(&self, registers: Registers, by: &Permutation, state: &mut [Scalar]) {
        let name = state[registers.slot(self.1)];
        self.0.permute(registers, by, state);
        state[registers.slot(self.1)] = name;
    }

    fn orbits(&self) -> Vec<Vec<Process>> {
        self.0.orbits()
    }
}

#[test]
fn a_wrong_exchange_is_found() {
    let prepared = prepared(algorithm("bowman"), 4);
    let symmetry = prepared.symmetry(|_| true, Deadline::NEVER).unwrap().unwrap();
    let right =
        Exploration { symmetry: Some(&symmetry), operations: Some(1), ..Exploration::default() };
    let examined = run(&prepared, &right).unwrap();
    assert!(examined.symmetry > 1000, "{examined:?}");

    let active = prepared.instance.slots.iter().position(|slot| slot.name == "active").unwrap();
    assert!(prepared.instance.slots[active].domain.names_processes());
    let wrong = WrongExchange(symmetry, SlotId(active as u32));
    let wrong =
        Exploration { symmetry: Some(&wrong), operations: Some(1), ..Exploration::default() };
    assert_eq!(found(&prepared, &wrong), "symmetry");
}

/// Returns the term as if all names had the same number.
fn without_conversions(term: &Term) -> Term {
    let all = |of: &[Term]| of.iter().map(without_conversions).collect();
    match term {
        Term::Apply(Operator::NumberOf, _) => Term::Constant(0),
        Term::Apply(operator, of) => Term::Apply(*operator, all(of)),
        Term::Element { index, of } => {
            Term::Element { index: Box::new(without_conversions(index)), of: all(of) }
        }
        term => term.clone(),
    }
}

/// Exchanges are searched where conversions of names to numbers do not forbid them.
#[test]
fn exchange_forbidden_by_conversions_is_found() {
    let prepared = prepared(corpus::small("name_equal_number"), 4);
    assert!(prepared.symmetry(|_| true, Deadline::NEVER).unwrap().is_none());
    let mut planted = prepared.instance.clone();
    for block in planted.graphs.iter_mut().flat_map(|graph| &mut graph.blocks) {
        for assignment in &mut block.assignments {
            assignment.value = without_conversions(&assignment.value);
        }
        if let End::Branch { condition, .. } = &mut block.end {
            *condition = without_conversions(condition);
        }
        if let End::Respond(Response::Scan { at, foreign }) = &mut block.end {
            at.iter_mut().chain([foreign]).for_each(|term| *term = without_conversions(term));
        }
    }
    let symmetry = ProcessSymmetry::new(&planted, |_| true, Deadline::NEVER).unwrap();
    assert!(!symmetry.is_trivial());
    let wrong = Exploration { symmetry: Some(&symmetry), ..Exploration::default() };
    assert_eq!(found(&prepared, &wrong), "symmetry");
}

/// A numbering with injected errors.
#[derive(Debug)]
struct Changed {
    numbering: CanonicalRenaming,
    /// The greatest number of expansions of a state.
    expansions: u32,
    /// Slots whose versions are never distinguished.
    merged: BTreeSet<SlotId>,
}

impl Numbering for Changed {
    fn numbers(&self, slot: SlotId) -> u32 {
        Numbering::numbers(&self.numbering, slot)
    }

    fn is_renamed(&self, slot: SlotId) -> bool {
        self.numbering.is_renamed(slot)
    }

    fn first_fresh(&self) -> Scalar {
        self.numbering.first_fresh()
    }

    fn expand(&self, registers: Registers, state: &mut [Scalar], number: u32) -> bool {
        number < self.expansions && self.numbering.expand(registers, state, number)
    }

    fn normalise(&self, registers: Registers, state: &mut [Scalar]) {
        Numbering::normalise(&self.numbering, registers, state);
        for slot in &self.merged {
            let held = &mut state[registers.slot(*slot)];
            *held = if *held == NONE { NONE } else { 0 };
        }
    }

    fn classes(&self) -> Vec<Vec<SlotId>> {
        self.numbering.classes()
    }
}

fn changed(prepared: &Prepared) -> Changed {
    let numbering = prepared.numbering.clone().unwrap();
    Changed { numbering, expansions: u32::MAX, merged: BTreeSet::new() }
}

#[test]
fn insufficiently_widened_gaps_are_found() {
    let prepared = prepared(TWICE, 2);
    let never = Changed { expansions: 1, ..changed(&prepared) };
    let once = Changed { expansions: 2, ..changed(&prepared) };
    for numbering in [never, once] {
        let exploration = Exploration { numbering: Some(&numbering), ..Exploration::default() };
        assert_eq!(found(&prepared, &exploration), "counters");
    }
}

#[test]
fn merged_versions_are_found() {
    let prepared = prepared(VERSIONS, 2);
    let examined = run(&prepared, &Exploration::default()).unwrap();
    assert!(examined.numbering > 100, "{examined:?}");

    let slots = prepared.instance.slots.iter().zip((0..).map(SlotId));
    let versions = slots.filter(|(slot, _)| matches!(slot.domain, Domain::Version { .. }));
    let merged = versions.map(|(_, slot)| slot).collect();
    let numbering = Changed { merged, ..changed(&prepared) };
    let exploration = Exploration { numbering: Some(&numbering), ..Exploration::default() };
    assert_eq!(found(&prepared, &exploration), "counters");
}

#[test]
fn separately_flipped_bit_is_found() {
    let prepared = prepared(algorithm("afek_bounded"), 2);
    let numbering = prepared.numbering.as_ref().unwrap();
    // The first bit of a component is 0 in each normal form; here another bit is always 0, too.
    let bit = Numbering::classes(numbering).into_iter().flatten().rfind(|slot| {
        let domain = prepared.instance.slots[slot.index()].domain;
        matches!(domain, Domain::Range { .. })
    });
    let numbering = Changed { merged: bit.into_iter().collect(), ..changed(&prepared) };
    assert_eq!(numbering.merged.len(), 1);
    let exploration = Exploration { numbering: Some(&numbering), ..Exploration::default() };
    assert_eq!(found(&prepared, &exploration), "counters");
}

/// Always forgets one cell.
#[derive(Debug)]
struct Forgetful(SlotId);

impl Forgetting for Forgetful {
    fn forget(&self, registers: Registers, state: &mut [Scalar]) {
        state[registers.slot(self.0)] = 0;
    }
}

#[test]
fn forgotten_live_cell_is_found() {
    let prepared = prepared(algorithm("bowman"), 2);
    let cell = prepared.instance.slots.iter().position(|slot| slot.name == "a[0]").unwrap();
    let forgetting = Forgetful(SlotId(cell as u32));
    let exploration = Exploration { forgetting: Some(&forgetting), ..Exploration::default() };
    assert_eq!(found(&prepared, &exploration), "stale");
}

/// Forgets the dead cells, and one more cell.
#[derive(Debug)]
struct Additionally<'a>(&'a dyn Forgetting, Forgetful);

impl Forgetting for Additionally<'_> {
    fn forget(&self, registers: Registers, state: &mut [Scalar]) {
        self.0.forget(registers, state);
        self.1.forget(registers, state);
    }

    fn is_blank(&self, registers: Registers, register: Register, scalar: Scalar) -> bool {
        self.0.is_blank(registers, register, scalar)
    }
}

/// Returns a cell by the name of its variable.
fn cell(prepared: &Prepared, name: &str) -> Forgetful {
    let cell = prepared.instance.slots.iter().position(|slot| slot.name.starts_with(name));
    Forgetful(SlotId(cell.unwrap_or_else(|| panic!("no cell {name}")) as u32))
}

#[test]
fn dead_cells_of_riany_are_examined_and_a_forgotten_live_cell_is_found() {
    let mut riany = prepared(algorithm("riany"), 2);
    riany.analyse(Deadline::NEVER).unwrap();
    let forgetting = riany.forgetting().unwrap();
    let operations = Some(either(1, 2));
    // There are many states, so a sample suffices.
    let self_check = Some(SelfCheck { one_in: 64, seed: 2 });
    let exploration = Exploration { operations, self_check, ..Exploration::default() };
    let right = Exploration { forgetting: Some(&forgetting), ..exploration.clone() };
    let examined = run(&riany, &right).unwrap();
    assert!(examined.forgetting > 500, "{examined:?}");

    let wrong = Additionally(&forgetting, cell(&riany, "high"));
    let wrong = Exploration { forgetting: Some(&wrong), ..exploration };
    assert_eq!(found(&riany, &wrong), "stale");
}

/// A cell is dead because its pointer leads elsewhere, and the pointer dies before the cell is
/// written: it was reset to a scalar that leads to the cell.
pub(super) const DYING_POINTER: &str = "algorithm dying_pointer
shared whole: view
shared names[process]: 0..n-1
update(v):
    names[process(1)] := 1
    atomic:
        names[me] := (me + 1) mod n
        u := whole
        u[me] := v
        whole := u
scan:
    x := names[me]
    names[me] := n - 1
    w := whole
    names[process(x)] := 0
    x := names[process(1)]
    if x = me: w[me] := initial
    return w
";

#[test]
fn cells_behind_a_dying_pointer_are_examined_and_a_forgotten_live_one_is_found() {
    let mut dying = prepared(DYING_POINTER, 2);
    dying.analyse(Deadline::NEVER).unwrap();
    let forgetting = dying.forgetting().unwrap();
    let exploration = Exploration { forgetting: Some(&forgetting), ..Exploration::default() };
    let examined = run(&dying, &exploration).unwrap();
    assert!(examined.forgetting > 100, "{examined:?}");

    let wrong = Additionally(&forgetting, cell(&dying, "names[1]"));
    let wrong = Exploration { forgetting: Some(&wrong), ..Exploration::default() };
    assert_eq!(found(&dying, &wrong), "stale");
}

/// Treats every step of a process as ample whose open scan has a requirement (`must`).
#[derive(Debug)]
struct Hasty;

impl Ample for Hasty {
    fn persistent_step(&self, _: Registers, _: &[Scalar], _: &mut Around) -> bool {
        true
    }

    fn may_commute(&self, _: &Around, state: &[Scalar], process: Process) -> bool {
        // At location 0 a process is between operations.
        state.get(self.location(state, process)).is_some_and(|&location| location != 0)
    }

    fn commutes(&self, _: &Around, _: Process, _: &[Scalar], _: &[Scalar], _: &[u16]) -> bool {
        true
    }
}

impl Hasty {
    /// Returns the register of a location. Two locations end the program's registers; two musts,
    /// two of the observer, two numbers of operations, and two of barriers follow.
    fn location(&self, state: &[Scalar], process: Process) -> usize {
        state.len() - 10 + process.index()
    }
}

#[test]
fn a_step_taken_too_early_is_found() {
    let prepared = prepared(algorithm("bowman"), 2);
    let bounded = Exploration { operations: Some(2), ..Exploration::default() };
    let ample = prepared.ample(Some(2), Deadline::NEVER).unwrap().unwrap();
    let examined = run(&prepared, &Exploration { ample: Some(&ample), ..bounded.clone() }).unwrap();
    assert!(examined.ample > 20, "{examined:?}");
    assert_eq!(found(&prepared, &Exploration { ample: Some(&Hasty), ..bounded }), "ample");
}

#[test]
fn examined_states_do_not_depend_on_threads() {
    let prepared = prepared(algorithm("bowman"), 3);
    let examined = |threads| {
        let numbering = prepared.numbering.as_ref().map(|numbering| numbering as _);
        let self_check = Some(SelfCheck { one_in: 16, seed: 5 });
        let exploration = Exploration { threads, numbering, self_check, ..Exploration::default() };
        let antichain = Exploration { antichain: true, ..exploration };
        antichain.run(&prepared.instance, &mut |_| ()).unwrap().examined
    };
    assert_eq!(examined(1), examined(2));
    assert!(examined(1).antichain > 20, "{:?}", examined(1));
}
