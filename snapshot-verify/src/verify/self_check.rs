//! Self-check of reductions that concern more than single states.
//!
//! [`crate::search::self_check`] tests claims about the states of one instance. This module tests
//! the instance itself, on random executions:
//!
//! * *The passes.* The interpreter repeats an execution of the reduced instance, from the text. An
//!   observer of the interpreter's events must be in the state that the product has computed
//!   ([`passes`]): so every history of the reduced instance is a history of the program.
//! * *Isomorphic pairs.* Where the answer for one pair is taken from another, executions of the one
//!   instance, renamed, must be executions of the other, step by step and state by state
//!   ([`renamed`]).
//! * *The answer.* If no violation was found, random executions of the interpreter must not show
//!   one ([`answer`]); this test knows nothing of instances and reductions.
//!
//! A walk of fixed seed proves nothing; it finds defects that show in many executions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;

use super::barriers::within;
use super::expand::expand;
use super::schedule::Effort;
use crate::instance::{Instance, Scalar};
use crate::interpret::{Action, Client, Event, Machine, MoveErrorKind, Roles, Values, walk};
use crate::quotient::process_symmetry::Isomorphism;
use crate::search::code::RegisterMachine;
use crate::search::layout::{INVOKED_BITS, Registers};
use crate::search::product::{Ahead, Choice, Product, Stop};
use crate::search::{Defect, Exploration, ExploreError, PathStep, SearchPath, SelfCheck};

/// Executions of each kind, and their numbers of steps or moves.
const WALKS: u64 = 12;
const STEPS: usize = 24;
const MOVES: usize = 60;

/// Tests the passes: `instance` is their result for the program of the machine.
///
/// # Errors
/// The first defect, or if the instance cannot be explored.
pub fn passes(
    machine: &Machine<'_>,
    instance: &Instance,
    exploration: &Exploration<'_>,
    options: SelfCheck,
) -> Result<(), ExploreError> {
    exploration.product(instance, |product| {
        for seed in 0..WALKS {
            let mut walker = Walker::new(product, instance, options.seed ^ seed);
            while walker.stop.is_none() && walker.trace.steps.len() < STEPS && walker.step() {}
            walker.is_made_again(machine, instance)?;
        }
        Ok(())
    })?
}

/// Tests an isomorphism between the explored instances of two pairs.
///
/// # Errors
/// The first defect, or if one of the instances cannot be explored.
pub fn renamed(
    [(from, of_from), (to, of_to)]: [(&Instance, &Exploration<'_>); 2],
    by: &Isomorphism,
    options: SelfCheck,
) -> Result<(), ExploreError> {
    of_from.product(from, |known| {
        of_to.product(to, |product| {
            for seed in 0..WALKS {
                let mut walker = Walker::new(known, from, options.seed ^ seed);
                let mut image = Walker::new(product, to, 0);
                while walker.stop.is_none() && walker.trace.steps.len() < STEPS && walker.step() {
                    let Some(step) = walker.trace.steps.last() else { break };
                    let process = Process::from_index(by.processes[step.process.index()]);
                    image.take(process, step.choice);
                    let same = kind(walker.stop) == kind(image.stop)
                        && (walker.stop.is_some()
                            || image.code.state() == mapped(by, from, to, walker.code.state()));
                    if !same {
                        let what = format!(
                            "the pair {:?} is not the pair {:?} with processes renamed to {:?}",
                            to.pair.map(Process::index),
                            from.pair.map(Process::index),
                            by.processes
                        );
                        return Err(walker.defect("symmetry", what, from));
                    }
                }
            }
            Ok(())
        })?
    })?
}

/// Tests that no random execution violates linearizability, as was found for a pair and an effort.
///
/// # Errors
/// The violation of a random execution.
pub fn answer(
    machine: &Machine<'_>,
    pair: [Process; 2],
    effort: Effort,
    options: SelfCheck,
) -> Result<(), ExploreError> {
    let others = effort.active.saturating_sub(2);
    let client = Client {
        values: Values::Simple(pair[0], pair[1]),
        operations: effort.most_operations(),
        each: None,
        roles: Roles::Few { first: pair, others },
        updater: None,
        barriers: None,
    };
    for seed in 0..WALKS {
        let made = walk(machine, &client, options.seed ^ seed, MOVES);
        let events = made.execution.reports.iter().filter_map(|report| report.event.as_ref());
        let events = within(events.collect(), effort.barriers.unwrap_or(u32::MAX));
        if Observed::of(pair, machine.processes(), events.into_iter()).is_none() {
            let moves: Vec<String> = made.moves.iter().map(ToString::to_string).collect();
            return Err(ExploreError::SelfCheck(Box::new(Defect {
                reduction: "the answer",
                what: format!("no violation was found, but here is one: {}", moves.join("; ")),
                step: "its last move".to_owned(),
                state: "()".to_owned(),
            })));
        }
    }
    Ok(())
}

/// A random execution of an instance. States on the way are not made canonical.
struct Walker<'a> {
    product: &'a Product<'a>,
    registers: Registers,
    code: RegisterMachine,
    random: ChaCha8Rng,
    trace: SearchPath,
    stop: Option<Stop>,
}

impl<'a> Walker<'a> {
    fn new(product: &'a Product<'a>, instance: &Instance, seed: u64) -> Self {
        let mut code = Ahead::new(product).machine;
        let mut initial = product.initial().0;
        // As in the instance, independent of the canonical form.
        for (register, slot) in instance.slots.iter().enumerate() {
            initial[register] = slot.meaningless().unwrap_or(slot.initial);
        }
        code.begin();
        code.state_mut().copy_from_slice(&initial);
        Self {
            product,
            registers: product.layout().registers(),
            code,
            random: ChaCha8Rng::seed_from_u64(seed),
            trace: SearchPath::default(),
            stop: None,
        }
    }

    /// Takes a random step; returns `false` at the end.
    fn step(&mut self) -> bool {
        let moves = self.product.moves(&self.code);
        if moves.is_empty() {
            return false;
        }
        // The same process is often chosen again, so that operations come to an end.
        let last = self.trace.steps.last().map(|step| step.process);
        let goes_on = moves
            .iter()
            .find(|(process, choice)| Some(*process) == last && *choice == Choice::Step);
        let drawn = self.random.next_u32() as usize;
        let (process, choice) = match goes_on {
            Some(&same) if drawn.is_multiple_of(2) => same,
            _ => moves[drawn / 2 % moves.len()],
        };
        self.take(process, choice);
        true
    }

    /// Takes a step. The code is not told that the step begins, so that fresh versions stay fresh.
    fn take(&mut self, process: Process, choice: Choice) {
        let (accesses, reactions) = (self.code.accesses(), self.code.reactions().len());
        self.stop = self.product.take(process, choice, &mut self.code).err();
        self.trace.steps.push(PathStep {
            process,
            choice,
            accesses: self.code.accesses() - accesses,
            reactions: self.code.reactions()[reactions..].to_vec(),
            state: self.code.state().to_vec(),
        });
    }

    /// Checks that the interpreter does the same.
    fn is_made_again(
        &self,
        machine: &Machine<'_>,
        instance: &Instance,
    ) -> Result<(), ExploreError> {
        const NAME: &str = "a pass over the instance (constant, decided, dead, shrink, counters)";
        let fail = |what: String| Err(self.defect(NAME, what, instance));
        let moves = expand(instance, &self.trace, false);
        let execution = match (machine.run(&moves), self.stop) {
            (Err(error), Some(Stop::Fault(_))) if matches!(error.kind, MoveErrorKind::Fault(_)) => {
                return Ok(());
            }
            (Err(error), _) => return fail(format!("the interpreter cannot follow: {error}")),
            (Ok(_), Some(Stop::Fault(fault))) => {
                return fail(format!("the interpreter does not go wrong: {}", fault.what));
            }
            (Ok(execution), _) => execution,
        };
        let events = execution.reports.iter().filter_map(|report| report.event.as_ref());
        let observed = Observed::of(instance.pair, instance.processes, events);
        match (observed, self.stop) {
            (None, Some(Stop::Violation(_))) => Ok(()),
            (None, _) => fail("the interpreter violates where the instance does not".to_owned()),
            (Some(_), Some(_)) => {
                fail("the instance violates, the interpreter does not".to_owned())
            }
            (Some(observed), None) if observed.is_in(self.registers, self.code.state()) => Ok(()),
            (Some(observed), None) => {
                fail(format!("the interpreter's events lead the observer to {observed:?}"))
            }
        }
    }

    fn defect(&self, reduction: &'static str, what: String, instance: &Instance) -> ExploreError {
        let steps = self.trace.steps.iter().map(|step| match step.choice {
            Choice::Update(value) => format!("p{} update({value})", step.process),
            Choice::Scan => format!("p{} scan", step.process),
            Choice::Step => format!("p{} step", step.process),
            Choice::UpdateBehindBarrier(value) => {
                format!("barrier, p{} update({value})", step.process)
            }
            Choice::ScanBehindBarrier => format!("barrier, p{} scan", step.process),
        });
        let held = self.registers.variables().zip(self.code.state());
        let held = held.filter(|(_, scalar)| **scalar > 0);
        let state = held.map(|(of, scalar)| format!("{} = {scalar}", of.name(instance)));
        ExploreError::SelfCheck(Box::new(Defect {
            reduction,
            what,
            step: steps.collect::<Vec<_>>().join("; "),
            state: format!("({})", state.collect::<Vec<_>>().join(", ")),
        }))
    }
}

/// Returns how a step ends, without the place.
const fn kind(stop: Option<Stop>) -> u8 {
    match stop {
        None | Some(Stop::TooNarrow) => 0,
        Some(Stop::Violation(_)) => 1,
        Some(Stop::Fault(_)) => 2,
    }
}

/// Maps a state of one instance to a state of another.
fn mapped(by: &Isomorphism, from: &Instance, to: &Instance, state: &[Scalar]) -> Vec<Scalar> {
    let registers = Registers::new(from);
    let swapped = by.processes[from.pair[0].index()] != to.pair[0].index();
    // In each pair of neighbouring bits one belongs to i and the other to j.
    let bits = |bits: Scalar| if swapped { (bits & 5) << 1 | (bits & 10) >> 1 } else { bits };
    let mut image = vec![0; registers.count()];
    for (slot, &becomes) in by.slots.iter().enumerate() {
        image[registers.slot(becomes)] = by.scalar(from.slots[slot].domain, state[slot]);
    }
    for (process, &becomes) in by.processes.iter().enumerate() {
        let [one, other] = [process, becomes].map(Process::from_index);
        let location = state[registers.location(one)] as usize;
        image[registers.location(other)] = by.locations[process][location].index() as Scalar;
        image[registers.left(other)] = state[registers.left(one)];
        image[registers.must_bits(other)] = bits(state[registers.must_bits(one)]);
    }
    for register in [registers.invoked(), registers.needed_and_bad(), registers.due()] {
        image[register] = bits(state[register]);
    }
    image[registers.barriers()] = state[registers.barriers()];
    image
}

/// State of the observer after some events.
#[derive(Debug)]
struct Observed {
    state: ObserverState,
    /// Obligations of open scans, by process.
    musts: Vec<Must>,
}

impl Observed {
    /// Observes events; returns `None` if the observer accepts.
    fn of<'e>(
        pair: [Process; 2],
        processes: usize,
        events: impl Iterator<Item = &'e Event>,
    ) -> Option<Self> {
        let mut state = ObserverState::INITIAL;
        let mut musts = vec![Must::NOTHING; processes];
        let mut writes = vec![false; processes];
        let side = |process| Switching::BOTH.into_iter().zip(pair).find(|(_, p)| *p == process);
        for Event { process, action } in events {
            let at = process.index();
            match (action, side(*process)) {
                (Action::InvokeUpdate(value), side) => {
                    writes[at] = *value == 1 && side.is_some();
                    if let Some((segment, _)) = side.filter(|_| writes[at]) {
                        state = state.invoke_update(segment);
                    }
                }
                (Action::RespondUpdate, side) => {
                    if let Some((segment, _)) = side.filter(|_| writes[at]) {
                        state = state.respond_update(segment);
                    }
                }
                (Action::Begin { .. } | Action::End { .. }, _) => {
                    unreachable!("the observer is of snapshots")
                }
                (Action::InvokeScan, _) => musts[at] = state.invoke_scan(),
                (Action::RespondScan(values), _) => {
                    let others = values.iter().enumerate();
                    let mut others =
                        others.filter(|(k, _)| !pair.contains(&Process::from_index(*k)));
                    if others.any(|(_, value)| *value != 0) {
                        return None;
                    }
                    let [at_i, at_j] = pair.map(|process| values[process.index()] == 1);
                    let must = std::mem::replace(&mut musts[at], Must::NOTHING);
                    state = state.respond_scan(must, at_i, at_j).ok()?;
                }
            }
        }
        Some(Self { state, musts })
    }

    /// Returns true if a state of the product agrees.
    fn is_in(&self, registers: Registers, state: &[Scalar]) -> bool {
        let bits = state[registers.invoked()] | state[registers.needed_and_bad()] << INVOKED_BITS;
        let musts = self.musts.iter().enumerate();
        bits == Scalar::from(self.state.bits())
            && musts.into_iter().all(|(process, must)| {
                state[registers.must_bits(Process::from_index(process))]
                    == Scalar::from(must.bits())
            })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;
    use crate::deadline::Deadline;
    use crate::instance::{Assignment, End, Owner, SlotId, Target, Term};
    use crate::language::parse;
    use crate::program::Program;
    use crate::quotient::process_symmetry::isomorphism;
    use crate::verify::{Prepared, Reductions};

    const OPTIONS: SelfCheck = SelfCheck::DEFAULT;

    fn program(name: &str, bug: Option<&str>) -> Program {
        let text = corpus::algorithm(name).unwrap().text;
        parse(name, text).unwrap().program(bug).unwrap()
    }

    fn prepared(program: &Program, pair: [usize; 2]) -> Prepared {
        let pair = pair.map(Process::from_index);
        Prepared::new(program, 3, pair, Reductions::standard(), |_| true, Deadline::NEVER).unwrap()
    }

    fn is_defect<T: std::fmt::Debug>(found: Result<T, ExploreError>) -> bool {
        matches!(found, Err(ExploreError::SelfCheck(_)))
    }

    /// Returns copies of the instance of bowman, each with one block changed.
    fn spoilt(change: impl Fn(&Instance, &mut crate::instance::Block) -> bool) -> Vec<Instance> {
        let instance = prepared(&program("bowman", None), [0, 1]).instance;
        let mut all = Vec::new();
        for process in 0..instance.processes {
            for block in 0..instance.graphs[process].blocks.len() {
                let mut spoilt = instance.clone();
                if change(&instance, &mut spoilt.graphs[process].blocks[block]) {
                    all.push(spoilt);
                }
            }
        }
        assert!(!all.is_empty());
        all
    }

    fn found(spoilt: Vec<Instance>) -> (usize, usize) {
        let program = program("bowman", None);
        let machine = Machine::new(&program, 3).unwrap();
        let found = |instance: &&Instance| {
            is_defect(passes(&machine, instance, &Exploration::default(), OPTIONS))
        };
        (spoilt.iter().filter(found).count(), spoilt.len())
    }

    #[test]
    fn sabotaged_passes_are_found() {
        let program = program("bowman", None);
        let machine = Machine::new(&program, 3).unwrap();
        let right = prepared(&program, [0, 1]).instance;
        passes(&machine, &right, &Exploration::default(), OPTIONS).unwrap();

        // Decided the wrong way round.
        let (decided, of) = found(spoilt(|_, block| match &mut block.end {
            End::Branch { then, otherwise, .. } => {
                std::mem::swap(then, otherwise);
                true
            }
            _ => false,
        }));
        assert!(decided * 2 >= of, "{decided} of {of}");
        // Forgotten though live: the value read from a segment counts as its initial value.
        let (dead, of) = found(spoilt(|instance, block| {
            let is_copied = |of: &Assignment| match (&of.target, &of.value) {
                (Target::Slot(to), Term::Slot(from)) => {
                    matches!(instance.slot(*to).owner, Owner::Operation(_))
                        && instance.slot(*from).name.starts_with("a[")
                }
                _ => false,
            };
            let copied = block.assignments.iter_mut().find(|of| is_copied(of));
            copied.map(|of| of.value = Term::Constant(0)).is_some()
        }));
        assert!(dead * 2 >= of, "{dead} of {of}");
        // One access too many is fused.
        let (fused, of) = found(spoilt(|_, block| {
            block.accesses += 1;
            block.accesses > 1
        }));
        assert!(fused * 2 >= of, "{fused} of {of}");
    }

    #[test]
    fn invalid_renaming_is_found() {
        let program = program("bowman", None);
        let [first, second] = [[0, 1], [0, 2]].map(|pair| prepared(&program, pair).instance);
        let mut by = isomorphism(&first, &second, &[0, 2, 1], Deadline::NEVER).unwrap().unwrap();
        let exploration = Exploration::default();
        let both = [(&first, &exploration), (&second, &exploration)];
        renamed(both, &by, OPTIONS).unwrap();
        let slot = |name: &str| {
            let at = first.slots.iter().position(|slot| slot.name == name).unwrap();
            SlotId(at as u32).index()
        };
        by.slots.swap(slot("a[0]"), slot("a[1]"));
        assert!(is_defect(renamed(both, &by, OPTIONS)));
    }

    #[test]
    fn missed_violation_is_found() {
        let pair = [0, 1].map(Process::from_index);
        let effort = Effort { operations: None, barriers: None, active: 3 };
        // A scan by p1 returns the initial values.
        let wrong = parse("wrong", WRONG).unwrap().program(None).unwrap();
        for (program, is_wrong) in [(program("bowman", None), false), (wrong, true)] {
            let machine = Machine::new(&program, 3).unwrap();
            assert_eq!(is_defect(answer(&machine, pair, effort, OPTIONS)), is_wrong);
        }
    }

    const WRONG: &str = "algorithm wrong
shared whole: view
update(v):
    atomic:
        w := whole
        w[me] := v
        whole := w
scan:
    local zero: view
    w := whole
    if me = process(1): return zero
    return w
";
}
