//! Forgets locals that no step reads before they are written.
//!
//! States that differ only in such locals have the same futures: the interpreter reads a local only
//! if an instruction has it in an expression, keeps a part of it, or takes the next index of a
//! `for`. A local is *live* at an instruction if some path from there reads it before it is written
//! completely. The textbook's backward analysis (Aho, Sethi and Ullman, section 10.6) finds the
//! live locals, of each procedure by itself: a call reads its arguments and leaves the caller's
//! other locals unchanged.
//!
//! A forgotten local holds [`Data::None`], which only optional types allow. So an instruction that
//! wrongly reads it stops the interpreter, and does not take it for some value.

use std::sync::Arc;

use super::code::{Code, Instruction};
use super::data::Data;
use super::machine::Machine;
use super::state::{Activity, Frame, State};
use crate::program::{Expression, ExpressionKind, Place, Root};

/// Live locals, per procedure and instruction.
#[derive(Clone, Debug)]
pub struct Forgetting {
    procedures: Vec<Vec<Live>>,
}

/// Live locals at an instruction.
#[derive(Clone, Debug, Default)]
struct Live {
    /// Liveness before the instruction, by local.
    before: Vec<bool>,
    /// For a call: liveness while the callee runs.
    during: Vec<bool>,
}

impl Forgetting {
    /// Analyses all procedures of a program.
    pub fn new(machine: &Machine<'_>) -> Self {
        let procedures = machine.program.procedures.iter().zip(&machine.code);
        let live =
            |(procedure, code): (&crate::program::Procedure, _)| live(code, procedure.locals.len());
        Self { procedures: procedures.map(live).collect() }
    }

    /// Forgets the locals of a process that are not live at its location.
    ///
    /// # Panics
    /// If the process does not exist, or the state belongs to another program.
    pub fn forget(&self, state: &mut State, process: usize) {
        self.forget_those(state, process, |data| *data != Data::None);
    }

    /// Forgets as [`Self::forget`], but only locals that hold a node: so they release it.
    ///
    /// # Panics
    /// As [`Self::forget`].
    pub fn forget_nodes(&self, state: &mut State, process: usize) {
        self.forget_those(state, process, Data::has_nodes);
    }

    fn forget_those(&self, state: &mut State, process: usize, concerns: fn(&Data) -> bool) {
        let Activity::Running(frames) = &state.processes[process].activity else { return };
        let last = frames.len() - 1;
        let is_dead = |(depth, frame): (usize, &Frame)| {
            let mut locals = frame.locals.iter().zip(self.live(frame, depth < last));
            locals.any(|(data, live)| !live && concerns(data))
        };
        if !frames.iter().enumerate().any(is_dead) {
            return;
        }
        let local = Arc::make_mut(&mut state.processes[process]);
        let Activity::Running(frames) = &mut local.activity else { return };
        for (depth, frame) in frames.iter_mut().enumerate() {
            let live = self.live(frame, depth < last);
            let dead = frame.locals.iter_mut().zip(live).filter(|(_, live)| !**live);
            for (data, _) in dead.filter(|(data, _)| concerns(data)) {
                *data = Data::None;
            }
        }
    }

    fn live(&self, frame: &Frame, calls: bool) -> &[bool] {
        let live = &self.procedures[frame.procedure.0 as usize][frame.at];
        if calls { &live.during } else { &live.before }
    }
}

/// Computes liveness by instruction, until a fixed point.
fn live(code: &Code<'_>, locals: usize) -> Vec<Live> {
    let none = Live { before: vec![false; locals], during: vec![false; locals] };
    let mut live = vec![none; code.instructions.len()];
    loop {
        let mut grows = false;
        for (at, instruction) in code.instructions.iter().enumerate().rev() {
            let mut after = vec![false; locals];
            for next in successors(instruction, at) {
                let next = live.get(next).map_or(&[][..], |next| &next.before);
                after.iter_mut().zip(next).for_each(|(after, next)| *after |= next);
            }
            let now = transfer(instruction, after);
            grows |= now.before != live[at].before;
            live[at] = now;
        }
        if !grows {
            return live;
        }
    }
}

pub(super) fn successors(instruction: &Instruction<'_>, at: usize) -> Vec<usize> {
    match instruction {
        Instruction::Unless { target, .. } => vec![at + 1, *target],
        Instruction::Jump { target } => vec![*target],
        Instruction::BeginFor(this) | Instruction::NextFor(this) => vec![this.body, this.end],
        Instruction::Return { .. } => Vec::new(),
        Instruction::Assign { .. }
        | Instruction::Access { .. }
        | Instruction::Call { .. }
        | Instruction::New { .. }
        | Instruction::Choose { .. }
        | Instruction::Together { .. }
        | Instruction::Point { .. }
        | Instruction::Free { .. }
        | Instruction::BeginAtomic { .. }
        | Instruction::EndAtomic => vec![at + 1],
    }
}

/// Returns the live locals before an instruction, from those after it.
fn transfer(instruction: &Instruction<'_>, after: Vec<bool>) -> Live {
    let mut live = after;
    let mut during = Vec::new();
    instruction.into().into_iter().for_each(|place| stored(place, &mut live));
    match instruction {
        Instruction::Call { .. } => during.clone_from(&live),
        Instruction::BeginFor(this) => live[this.variable.0 as usize] = false,
        Instruction::NextFor(this) => live[this.variable.0 as usize] = true,
        _ => {}
    }
    instruction.operands().into_iter().for_each(|operand| read(operand, &mut live));
    Live { before: live, during }
}

/// A store to a part of a variable keeps the rest.
fn stored(place: &Place, live: &mut [bool]) {
    if let Root::Local(local) = place.root {
        live[local.0 as usize] = !place.path.is_empty();
    }
    place.indices().for_each(|index| read(index, live));
}

fn read(expression: &Expression, live: &mut [bool]) {
    if let ExpressionKind::Local(local) = expression.kind {
        live[local.0 as usize] = true;
    }
    expression.operands().into_iter().for_each(|operand| read(operand, live));
}
