//! Programs from text.

use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_language as language;
use snapshot_language::program::Program;
use snapshot_semantics::interpret::{Client, Machine, Move, MoveErrorKind, StepReport};
use snapshot_semantics::refine::{Budget, Refinement, Techniques, refine};

/// Refinement without any reduction: its counterexamples are shortest.
pub const PLAIN: Techniques = Techniques::NONE;

/// Runs the refinement up to this many states.
pub fn refined_with(
    machine: &Machine<'_>,
    client: &Client,
    means: Techniques,
    states: usize,
) -> Refinement {
    let (memory, threads) = (usize::MAX, NonZeroUsize::MIN);
    let mut budget = Budget { states, memory, threads, proceed: &mut |_| true };
    refine(machine, client, means, &mut budget).unwrap()
}

/// Parses a valid text.
pub fn program(text: &str) -> Program {
    let parsed = language::parse("test.snapshot", text).and_then(|text| text.program(None));
    parsed.unwrap_or_else(|errors| panic!("{errors}"))
}

/// Describes the accesses and events of a step.
pub fn step_text(report: &StepReport) -> String {
    let event = report.event.iter().map(|event| event.action.to_string());
    let accesses = report.accesses.iter().map(ToString::to_string);
    accesses.chain(event).collect::<Vec<_>>().join("; ")
}

/// Runs process 1 of three through a scan, alone. Returns the steps between invocation and
/// response, or the fault of the program.
pub fn alone(declarations: &str, body: &str) -> Result<Vec<String>, String> {
    let indented: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "algorithm test\nshared log: 0..99\n{declarations}\n\
         update(v):\n    log := 0\nscan:\n{indented}    return [initial for s in segments]\n"
    );
    let program = program(&text);
    let machine = Machine::new(&program, 3).map_err(|error| error.to_string())?;
    let mut state = machine.initial().clone();
    let process = Process::from_index(1);
    let mut steps = Vec::new();
    let mut made = Move::scan(process);
    loop {
        match machine.make(&mut state, made) {
            Ok(report) => steps.push(step_text(&report)),
            Err(MoveErrorKind::Fault(fault)) => {
                let at = &text[fault.span.begin as usize..fault.span.end as usize];
                return Err(format!("{at}: {}", fault.kind));
            }
            Err(refused) => panic!("{refused}"),
        }
        if state.is_idle(1) {
            assert_eq!(steps.pop().unwrap(), "scan returns [0, 0, 0]");
            return Ok(steps.split_off(1));
        }
        made = Move::step(process);
    }
}
