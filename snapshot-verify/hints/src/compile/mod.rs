//! From a checked program to a [`Model`]: every variable gets its bytes, expressions become terms. Unsupported constructs are refused by name and location.
//!
//! | module | content |
//! | --- | --- |
//! | `layout` | variables as bytes |
//! | `expressions` | expressions as terms |
//! | `statements` | instructions |

mod expressions;
mod layout;
mod statements;

use snapshot_invariant::claim::Ghosts;
use snapshot_language::Span;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::{ProcedureId, Program, Statement, StatementKind, Type};
use snapshot_semantics::interpret::code;

use crate::flow::loops_around;
use crate::model::{Act, Goal, Instruction, Model, NO_GHOSTS, Room, Round, Slot, Unsupported};
use crate::names::Name;
use crate::shape::{Mode, PLACES, Scalar, T};
use crate::term::Term;
use expressions::Scope;
use layout::Layout;

/// Prepares a program, within a deadline without a limit of memory.
///
/// Analyses break off at the deadline without an error, and it is checked once more at the end: a model with
/// partial results is dropped here. A limit of memory might be kept again by then.
///
/// # Errors
/// If it has unsupported constructs, or no ghost scans of this kind, or the deadline passes.
pub fn compile(
    program: &Program,
    goal: Goal,
    deadline: Deadline<'_>,
) -> Result<Model, Unsupported> {
    let mut model = build(program, goal, &[], deadline)?;
    if goal.is_of_round_vectors() {
        let names = crate::names::find(program, &model, deadline);
        if !names.is_empty() {
            model = build(program, goal, &names, deadline)?;
            crate::names::apply(&mut model, names, deadline);
        }
    }
    within_limits(&model, deadline)?;
    prepare(&mut model, deadline)?;
    let is_version = |slot: &&Slot| slot.kept && slot.leaf.scalar == Scalar::Version;
    match model.slots.iter().filter(is_version).count() > MOST_VERSIONS {
        true => Err(Unsupported { span: model.code[0].span, construct: "more than 100 versions" }),
        false => Ok(model),
    }
}

/// Compiles variables and instructions.
fn build(
    program: &Program,
    goal: Goal,
    names: &[Name],
    deadline: Deadline<'_>,
) -> Result<Model, Unsupported> {
    if let Some(span) = layout::beyond(program, goal.mode(), names, MOST_SCALARS) {
        let construct = "variables of more than 65,536 scalars";
        return Err(Unsupported { span, construct });
    }
    let mut layout = Layout::new(goal.mode());
    let shared = layout.shared(program, names);
    let (private, links, frames) = layout.blocks(program, names);
    let mut blocks = [0; 3];
    for (owner, begin) in blocks.iter_mut().enumerate() {
        *begin = layout.slots.len();
        let owner = owner as u8;
        layout.slots.extend(layout.block.iter().map(|slot| Slot {
            owner: Some(owner),
            tracked: slot.tracked || owner == T,
            ..slot.clone()
        }));
    }
    let (is_ghost, ghostly) = ghosts(program, goal.obligation.ghosts)?;
    let mut model = Model {
        goal,
        slots: layout.slots,
        code: vec![instruction(Act::Idle, Span::default(), program.scan())],
        entries: Vec::new(),
        frames,
        ghostly,
        is_ghost,
        blocks,
        update: program.update(),
        scan: program.scan(),
        shared,
        links,
        private,
        delays: false,
        flips: Vec::new(),
        uses: Default::default(),
        named: Vec::new(),
    };
    for (id, (procedure, code)) in program.procedures.iter().zip(code::compile(program)).enumerate()
    {
        in_time(deadline, procedure.span)?;
        let (id, begin) = (ProcedureId(id as u32), model.code.len());
        model.entries.push(begin);
        let scope = Scope { program, model: &model, procedure: id };
        let spans = code.statements.iter().map(|span| span.unwrap_or(procedure.span));
        let all = code.instructions.iter().zip(spans);
        let all = all.map(|(one, span)| Ok(instruction(scope.act(one, begin)?, span, id)));
        let mut code: Vec<Instruction> = all.collect::<Result<_, Unsupported>>()?;
        let length = begin + code.len();
        if length > LONGEST {
            let construct = "programs of more than 10,000 instructions";
            let last = code.len() - 1 - (length - LONGEST).min(code.len() - 1);
            return Err(Unsupported { span: code[last].span, construct });
        }
        let locals = &model.frames[id.0 as usize].locals;
        crate::liveness::fill(&mut code, begin, locals, deadline);
        mark_points(program, id, locals, &mut code);
        model.code.extend(code);
    }
    if let Some([begin, end]) = goal.round {
        model.code[usize::from(begin)].round = Some(Round::Begin);
        model.code[usize::from(end)].round = Some(Round::End);
    }
    Ok(model)
}

/// Maximum number of placements of the variables of loops over processes around instructions, in
/// total: the analysis of reads visits each.
const MOST_PLACEMENTS: usize = 1 << 16;

/// Maximum number of scalars of shared memory and of the blocks of i, j and t.
const MOST_SCALARS: usize = 1 << 16;

/// Maximum number of instructions: some analyses take quadratic time.
const LONGEST: usize = 10_000;

/// Maximum number of kept versions: a byte numbers the versions of a view, and those that a step
/// adds.
const MOST_VERSIONS: usize = 100;

/// Refuses programs that take the analyses too long.
fn within_limits(model: &Model, deadline: Deadline<'_>) -> Result<(), Unsupported> {
    let mut placements: usize = 0;
    for (at, one) in model.code.iter().enumerate() {
        in_time(deadline, one.span)?;
        let around = loops_around(model, at).len() as u32;
        placements = placements.saturating_add(PLACES.saturating_pow(around));
        if placements > MOST_PLACEMENTS {
            let construct = "loops over processes within each other, with too many instructions";
            return Err(Unsupported { span: one.span, construct });
        }
    }
    Ok(())
}

/// Refuses programs whose preparation exceeds the deadline, the only reason for an answer *time*.
fn in_time(deadline: Deadline<'_>, span: Span) -> Result<(), Unsupported> {
    let construct = "programs that are not prepared in time";
    deadline.check().map_err(|_| Unsupported { span, construct })
}

/// Chooses the kept scalars, and what else is guessed.
fn prepare(model: &mut Model, deadline: Deadline<'_>) -> Result<(), Unsupported> {
    let span = model.code[0].span;
    // From here on the per-instruction results are complete.
    in_time(deadline, span)?;
    crate::links::drop_hidden(model);
    crate::names::mark(model);
    crate::relevance::restrict(model, deadline);
    model.delays = may_delay(model);
    model.uses = crate::decided::uses(model, deadline);
    model.flips = crate::flips::classes(model, deadline);
    in_time(deadline, span)
}

/// Returns true if operations may be shown late: ghost scans leave nothing to the operation.
fn may_delay(model: &Model) -> bool {
    let mut ghostly = model.code.iter().filter(|one| model.ghostly[one.procedure.0 as usize]);
    let leaves = ghostly.any(|one| {
        let stored = crate::liveness::target(&one.act);
        stored.is_some_and(|target| target.private.is_some())
    });
    model.goal.mode() == Mode::Direct && !leaves
}

const fn instruction(act: Act, span: Span, procedure: ProcedureId) -> Instruction {
    Instruction { act, span, procedure, live: Vec::new(), point: false, round: None, used: None }
}

/// Returns, per procedure, whether its calls are ghost scans, and whether it may run within one.
fn ghosts(program: &Program, ghosts: Ghosts) -> Result<(Vec<bool>, Vec<bool>), Unsupported> {
    let count = program.procedures.len();
    let mut is_ghost = vec![false; count];
    match ghosts {
        Ghosts::Scans | Ghosts::Rounds => is_ghost[program.scan().0 as usize] = true,
        Ghosts::Calls => {
            for operation in [program.update(), program.scan()] {
                Statement::each(&program.procedure(operation).body, &mut |statement| {
                    if let StatementKind::Call { procedure, .. } = &statement.kind {
                        let returns = &program.procedure(*procedure).returns;
                        is_ghost[procedure.0 as usize] |= *returns == Some(Type::view());
                    }
                });
            }
        }
    }
    let mut ghostly = vec![false; count];
    let called = is_ghost.clone();
    for ghost in (0..count).filter(|ghost| called[*ghost]) {
        let reached = snapshot_language::program::linearization::reached(
            &program.procedures,
            ProcedureId(ghost as u32),
        );
        ghostly.iter_mut().zip(&reached).for_each(|(all, one)| *all |= one);
        // A process has one open ghost scan at a time: nested calls are a part of it.
        let inner = (0..count).filter(|inner| *inner != ghost && reached[*inner]);
        inner.for_each(|inner| is_ghost[inner] = false);
    }
    let outside = match ghosts {
        Ghosts::Scans | Ghosts::Rounds => vec![program.update()],
        Ghosts::Calls => vec![program.update(), program.scan()],
    };
    for operation in outside {
        if !is_ghost.contains(&true) || ghostly[operation.0 as usize] {
            let span = program.procedure(operation).span;
            return Err(Unsupported { span, construct: NO_GHOSTS });
        }
    }
    Ok((is_ghost, ghostly))
}

/// Marks the first stores of an update's value, where it takes effect.
fn mark_points(program: &Program, id: ProcedureId, locals: &[Room], code: &mut [Instruction]) {
    if id != program.update() {
        return;
    }
    let value = &locals[0];
    let parameter = code.iter().position(
        |instruction| matches!(&instruction.act, Act::Write(_, term) if mentions(term, value.base)),
    );
    if let Some(first) = parameter {
        code[first].point = true;
    }
}

/// Returns true if a row reads a byte.
fn mentions(term: &Term, value: usize) -> bool {
    match term {
        Term::Variable(base, _) => *base == value,
        Term::Row(terms) => terms.iter().any(|term| mentions(term, value)),
        _ => false,
    }
}

/// Returns true if a type contains views.
fn holds_view(content: &Type) -> bool {
    match content {
        content if *content == Type::view() => true,
        Type::Array { element, .. } => holds_view(element),
        Type::Record(fields) => fields.iter().any(|field| holds_view(&field.content)),
        _ => false,
    }
}
