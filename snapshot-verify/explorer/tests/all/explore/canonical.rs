//! Canonical forms in the search: a symmetry, a numbering, and a numbering with expansions, each
//! small enough to be understood in full.

use snapshot_core::Process;
use snapshot_explorer::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, Invocations, Location, NONE,
    Operator, Owner, Response, Scalar, Slot, SlotId, Standing, Target, Term,
};
use snapshot_explorer::search::layout::{LayoutError, Registers};
use snapshot_explorer::search::{
    Choice, Exploration, ExploreError, Numbering, Permutation, SearchVerdict, Symmetry,
};
use snapshot_language::Span;
use test_support::effort::{Effort, is_left_out};

use crate::explore::bowman::{Exit, bowman};
use crate::explore::meaning::{found, registers, replay};
use crate::explore::oracle::{Ends, Oracle, State};

/// The processes of bowman other than i and j are interchangeable.
#[derive(Debug)]
struct OthersOfBowman {
    permutations: Vec<Permutation>,
}

impl OthersOfBowman {
    /// Creates the symmetry for 4 or 5 processes and a pair of the first two.
    fn new(n: usize) -> Self {
        let others: Vec<Vec<usize>> = match n {
            4 => vec![vec![2, 3], vec![3, 2]],
            _ => (2..5)
                .flat_map(|a| (2..5).map(move |b| vec![a, b, 9 - a - b]))
                .filter(|p| p[0] != p[1] && p.iter().all(|q| (2..5).contains(q)))
                .filter(|p| p[2] != p[0] && p[2] != p[1])
                .collect(),
        };
        let permutation = |others: Vec<usize>| {
            Permutation::new([0, 1].into_iter().chain(others).map(Process::from_index))
        };
        Self { permutations: others.into_iter().map(permutation).collect() }
    }
}

impl Symmetry for OthersOfBowman {
    fn canonicalise(&self, registers: Registers, state: &mut [Scalar]) -> Permutation {
        let permuted = self.permutations.iter().map(|by| {
            let mut permuted = state.to_vec();
            self.permute(registers, by, &mut permuted);
            (permuted, by)
        });
        let (least, by) = permuted.min_by(|(one, _), (other, _)| one.cmp(other)).unwrap();
        state.copy_from_slice(&least);
        *by
    }

    fn permute(&self, registers: Registers, by: &Permutation, state: &mut [Scalar]) {
        let before = state.to_vec();
        // The slots are active, a[i], a[j], then three per process.
        if before[0] != NONE {
            state[0] = by.image(Process::from_index(before[0] as usize)).index() as Scalar;
        }
        for p in (0..registers.processes()).map(Process::from_index) {
            let q = by.image(p);
            for local in 0..3 {
                state[3 + 3 * q.index() + local] = before[3 + 3 * p.index() + local];
            }
            state[registers.location(q)] = before[registers.location(p)];
            state[registers.must_bits(q)] = before[registers.must_bits(p)];
        }
    }
}

/// Replaces a state by the least of its permutations, for the oracle.
fn least(symmetry: &OthersOfBowman, state: &mut State) {
    let permuted = symmetry.permutations.iter().map(|by| {
        let mut permuted = state.clone();
        if state.slots[0] != NONE {
            permuted.slots[0] =
                by.image(Process::from_index(state.slots[0] as usize)).index() as Scalar;
        }
        for p in 0..state.locations.len() {
            let q = by.image(Process::from_index(p)).index();
            permuted.slots[3 + 3 * q..6 + 3 * q]
                .copy_from_slice(&state.slots[3 + 3 * p..6 + 3 * p]);
            permuted.locations[q] = state.locations[p];
            permuted.musts[q] = state.musts[p];
        }
        permuted
    });
    let key = |state: &State| (state.slots.clone(), state.locations.clone(), state.musts.clone());
    *state = permuted.min_by_key(key).unwrap();
}

#[test]
fn symmetry_keeps_one_state_per_class_and_valid_traces() {
    let symmetry = OthersOfBowman::new(4);
    for exit in [Exit::Correct, Exit::Early] {
        let instance = bowman(4, [0, 1], exit);
        let oracle = Oracle { instance: &instance, operations: None, active: vec![true; 4] };
        let exploration =
            Exploration { symmetry: Some(&symmetry), threads: 2, ..Exploration::default() };
        let outcome = exploration.run(&instance, &mut |_| {}).unwrap();
        if exit == Exit::Correct {
            assert_eq!(outcome.verdict, SearchVerdict::Verified);
            let (least, most) = (2_151_306 / 2, 2_151_306 * 6 / 10);
            assert!((least..most).contains(&outcome.states), "{}", outcome.states);
        } else {
            let expected = oracle.search(&|state| least(&symmetry, state));
            assert_eq!(found(&outcome), expected);
            let SearchVerdict::Violation { trace, .. } = outcome.verdict else { panic!() };
            assert_eq!(trace.steps.len(), 15);
            assert_eq!(replay(&oracle, &trace), Ends::Violation);
        }
    }
}

#[test]
fn traces_undo_permutations_of_processes() {
    if is_left_out(Effort::Slow) {
        return;
    }
    // The 5 processes have few operations, but any of three may be the helper: canonical states
    // keep renaming it.
    let symmetry = OthersOfBowman::new(5);
    let instance = bowman(5, [0, 1], Exit::Early);
    let oracle = Oracle { instance: &instance, operations: Some(1), active: vec![true; 5] };
    let left = Exploration { operations: Some(1), ..Exploration::default() };
    let SearchVerdict::Violation { trace: plain, .. } =
        left.run(&instance, &mut |_| {}).unwrap().verdict
    else {
        panic!()
    };
    let unbounded = Exploration { symmetry: Some(&symmetry), ..Exploration::default() };
    let SearchVerdict::Violation { trace, .. } =
        unbounded.run(&instance, &mut |_| {}).unwrap().verdict
    else {
        panic!()
    };
    assert_eq!(plain.steps.len(), trace.steps.len());
    let unbounded = Oracle { instance: &instance, operations: None, active: vec![true; 5] };
    assert_eq!(replay(&unbounded, &trace), Ends::Violation);
    assert_eq!(replay(&oracle, &plain), Ends::Violation);
}

/// The reaction of a scan of [`registers_with_versions`] to different versions in two collects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Different {
    Repeat,
    ReturnNonsense,
}

/// One register with value and version per process. A scan collects until two collects have the
/// same versions.
fn registers_with_versions(different: Different) -> Instance {
    const VALUE: [SlotId; 2] = [SlotId(0), SlotId(1)];
    const VERSION: [SlotId; 2] = [SlotId(2), SlotId(3)];
    let version = Domain::Version { optional: false };
    let dying = Domain::Version { optional: true };
    let slot =
        |name: &str, owner, domain| Slot { name: name.to_owned(), owner, domain, initial: 0 };
    let mut slots = vec![
        slot("r[0].value", Owner::Shared, Domain::BIT),
        slot("r[1].value", Owner::Shared, Domain::BIT),
        slot("r[0].version", Owner::Shared, version),
        slot("r[1].version", Owner::Shared, version),
    ];
    let graphs = (0..2).map(|p| {
        let owner = Owner::Operation(Process::from_index(p));
        let first = slots.len() as u32;
        slots.push(slot("v", owner, Domain::BIT));
        slots.extend(["copy[0]", "copy[1]"].map(|name| slot(name, owner, Domain::BIT)));
        slots.extend(["a[0]", "a[1]", "b[0]", "b[1]"].map(|name| slot(name, owner, dying)));
        let argument = SlotId(first);
        let copy = [SlotId(first + 1), SlotId(first + 2)];
        let [a, b] = [3, 5].map(|k| [SlotId(first + k), SlotId(first + k + 1)]);
        // Dead versions are `NONE`: a meaningless number would be renamed.
        let dead = |slot| if copy.contains(&slot) { Term::Constant(0) } else { Term::NONE };
        let assign = |slot, value| Assignment { target: Target::Slot(slot), value };
        let block = |assignments, end| Block { accesses: 1, assignments, end };
        let read = |to, from| assign(to, Term::Slot(from));
        let same =
            |l: usize| Term::Apply(Operator::Equal, vec![Term::Slot(a[l]), Term::Slot(b[l])]);
        let write = vec![assign(VALUE[p], Term::Slot(argument)), assign(VERSION[p], Term::Fresh)];
        let again = [a[0], a[1], b[0], b[1], copy[0], copy[1]];
        let again = again.map(|slot| assign(slot, dead(slot))).to_vec();
        let respond = Response::Scan { at: copy.map(Term::Slot), foreign: Term::FALSE };
        let nonsense = Response::Scan { at: copy.map(Term::Slot), foreign: Term::TRUE };
        let again = match different {
            Different::Repeat => block(again, End::Pause(Location(2))),
            Different::ReturnNonsense => block(vec![], End::Respond(nonsense)),
        };
        let value = Term::Slot(argument);
        let blocks = vec![
            block(vec![], End::Pause(Location(1))),
            block(vec![], End::Pause(Location(2))),
            block(write, End::Respond(Response::Update { value })),
            block(vec![read(a[0], VERSION[0])], End::Pause(Location(3))),
            block(vec![read(a[1], VERSION[1])], End::Pause(Location(4))),
            block(vec![read(b[0], VERSION[0]), read(copy[0], VALUE[0])], End::Pause(Location(5))),
            block(vec![read(b[1], VERSION[1]), read(copy[1], VALUE[1])], End::Jump(BlockId(7))),
            block(
                vec![],
                End::Branch { condition: same(0), then: BlockId(8), otherwise: BlockId(10) },
            ),
            block(
                vec![],
                End::Branch { condition: same(1), then: BlockId(9), otherwise: BlockId(10) },
            ),
            block(vec![], End::Respond(respond)),
            again,
        ];
        let standing = |step| Standing {
            step,
            span: Span::default(),
            label: String::new(),
            updating: false,
            reactions: vec![],
        };
        let steps = [None, Some(2), Some(3), Some(4), Some(5), Some(6)];
        Graph {
            blocks,
            locations: steps.map(|step| standing(step.map(BlockId))).to_vec(),
            invocations: Invocations { update: BlockId(0), scan: BlockId(1) },
            argument: Some(argument),
        }
    });
    let graphs = graphs.collect();
    Instance { processes: 2, pair: [0, 1].map(Process::from_index), slots, graphs }
}

/// Numbers versions by their first occurrence in the slots.
#[derive(Debug)]
struct FirstOccurrence {
    slots: Vec<usize>,
}

impl FirstOccurrence {
    fn new(instance: &Instance) -> Self {
        let slots = instance.slots.iter().enumerate();
        let versions = slots.filter(|(_, slot)| matches!(slot.domain, Domain::Version { .. }));
        Self { slots: versions.map(|(index, _)| index).collect() }
    }

    fn rename(&self, slots: &mut [Scalar]) {
        let mut seen = Vec::new();
        for &slot in &self.slots {
            let version = slots[slot];
            if version == NONE {
                continue;
            }
            let known = seen.iter().position(|&other| other == version);
            slots[slot] = known.unwrap_or(seen.len()) as Scalar;
            if known.is_none() {
                seen.push(version);
            }
        }
    }
}

impl Numbering for FirstOccurrence {
    fn numbers(&self, _: SlotId) -> u32 {
        self.slots.len() as u32
    }

    fn first_fresh(&self) -> Scalar {
        self.slots.len() as Scalar
    }

    fn normalise(&self, _: Registers, state: &mut [Scalar]) {
        self.rename(state);
    }
}

#[test]
fn renamed_versions_make_the_search_finite() {
    for (different, ends) in
        [(Different::Repeat, Ends::Well), (Different::ReturnNonsense, Ends::Violation)]
    {
        let instance = registers_with_versions(different);
        let numbering = FirstOccurrence::new(&instance);
        let oracle = Oracle { instance: &instance, operations: None, active: vec![true; 2] };
        let exploration = Exploration { numbering: Some(&numbering), ..Exploration::default() };
        let outcome = exploration.run(&instance, &mut |_| {}).unwrap();
        let expected = oracle.search(&|state| numbering.rename(&mut state.slots));
        assert_eq!(found(&outcome), expected);
        match outcome.verdict {
            SearchVerdict::Violation { trace, .. } => {
                assert_eq!((ends, trace.steps.len()), (Ends::Violation, 7));
                let mut state = oracle.initial();
                for step in &trace.steps {
                    oracle.take(step.process.index(), step.choice, &mut state);
                    let mut renamed = state.clone();
                    numbering.rename(&mut renamed.slots);
                    let slots = &registers(&instance, &renamed)[..instance.slots.len()];
                    assert_eq!(slots, &step.state[..instance.slots.len()]);
                }
            }
            verdict => assert_eq!((verdict, ends), (SearchVerdict::Verified, Ends::Well)),
        }
    }
}

#[test]
fn versions_without_numbering_are_refused() {
    let instance = registers_with_versions(Different::Repeat);
    let error = Exploration::default().run(&instance, &mut |_| {}).unwrap_err();
    let slot = "r[0].version".to_owned();
    assert_eq!(error, ExploreError::Layout(LayoutError::Unbounded { slot }));
}

/// Scans increment a counter; the scan that makes it 4 returns nonsense.
fn counter() -> Instance {
    let domain = Domain::Counter { optional: false };
    let slots = vec![Slot { name: "c".to_owned(), owner: Owner::Shared, domain, initial: 0 }];
    let c = SlotId(0);
    let four = Term::Apply(Operator::Equal, vec![Term::Slot(c), Term::Constant(4)]);
    let increment = Assignment { target: Target::Slot(c), value: Term::Successor(c) };
    let block = |assignments, end| Block { accesses: 1, assignments, end };
    let update = Response::Update { value: Term::Constant(0) };
    let scan = Response::Scan { at: [Term::FALSE, Term::FALSE], foreign: four };
    let graph = Graph {
        blocks: vec![
            block(vec![], End::Respond(update)),
            block(vec![], End::Pause(Location(1))),
            block(vec![increment], End::Respond(scan)),
        ],
        locations: [None, Some(BlockId(2))]
            .map(|step| Standing {
                step,
                span: Span::default(),
                label: String::new(),
                updating: false,
                reactions: vec![],
            })
            .to_vec(),
        invocations: Invocations { update: BlockId(0), scan: BlockId(1) },
        argument: None,
    };
    let pair = [0, 1].map(Process::from_index);
    Instance { processes: 2, pair, slots, graphs: vec![graph.clone(), graph] }
}

/// 0 and 1 represent themselves; 2 represents all larger numbers, and is expanded to 2 and 3, or to
/// 2 alone.
#[derive(Debug)]
struct Saturated {
    expand: bool,
}

impl Numbering for Saturated {
    fn numbers(&self, _: SlotId) -> u32 {
        3
    }

    fn first_fresh(&self) -> Scalar {
        3
    }

    fn expand(&self, _: Registers, state: &mut [Scalar], number: u32) -> bool {
        if number > 0 && (state[0] < 2 || !self.expand) {
            return false;
        }
        state[0] += number as Scalar;
        number < 2
    }

    fn normalise(&self, _: Registers, state: &mut [Scalar]) {
        state[0] = state[0].min(2);
    }
}

#[test]
fn every_expansion_of_a_state_is_tried() {
    let verdict = |expand| {
        let numbering = Saturated { expand };
        let exploration = Exploration { numbering: Some(&numbering), ..Exploration::default() };
        exploration.run(&counter(), &mut |_| {}).unwrap().verdict
    };
    // 2 alone never becomes 4. With 3 as an expansion, the third scan is wrong.
    assert_eq!(verdict(false), SearchVerdict::Verified);
    let SearchVerdict::Violation { trace, .. } = verdict(true) else { panic!() };
    assert_eq!(trace.steps.len(), 6);
    assert_eq!((trace.steps[4].choice, trace.steps[5].state[0]), (Choice::Scan, 4));
}
