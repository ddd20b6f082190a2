//! From a checked program to a [`Model`]: every variable gets its bytes, statements become
//! instructions, expressions terms. Unsupported constructs are refused by name and location.
//!
//! | module | content |
//! | --- | --- |
//! | `layout` | variables as bytes |
//! | `expressions` | expressions as terms |
//! | `statements` | statements as instructions |

mod expressions;
mod layout;
mod statements;

use snapshot_language::Span;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::{ProcedureId, Program, Statement, StatementKind, Type};

use crate::flow::loops_around;
use crate::model::{
    Act, Ghosts, Instruction, Model, NO_GHOSTS, Obligation, Room, Round, Slot, Unsupported,
};
use crate::names::Name;
use crate::shape::{Mode, PLACES, T};
use crate::term::Term;
use expressions::Scope;
use layout::Layout;
pub use layout::over;
use statements::Writer;

/// Prepares a program.
///
/// # Errors
/// If it has unsupported constructs, or no ghost scans of this kind.
pub fn compile(program: &Program, obligation: Obligation) -> Result<Model, Unsupported> {
    compile_within(program, obligation, Deadline::NEVER)
}

/// As [`compile`], within a deadline without a limit of memory.
///
/// Analyses break off at the deadline without an error, and it is checked once more at the end: a model with
/// partial results is dropped here. A limit of memory might be kept again by then.
///
/// # Errors
/// As [`compile`], or if the deadline passes.
pub fn compile_within(
    program: &Program,
    obligation: Obligation,
    deadline: Deadline<'_>,
) -> Result<Model, Unsupported> {
    let mut model = build(program, obligation, &[], deadline)?;
    if obligation.is_of_round_vectors() {
        let names = crate::names::find(program, &model, deadline);
        if !names.is_empty() {
            model = build(program, obligation, &names, deadline)?;
            crate::names::apply(&mut model, names, deadline);
        }
    }
    within_limits(&model, deadline)?;
    prepare(&mut model, deadline)?;
    match model.versions.len() > MOST_VERSIONS {
        true => Err(Unsupported { span: model.code[0].span, construct: "more than 100 versions" }),
        false => Ok(model),
    }
}

/// Compiles variables and instructions.
fn build(
    program: &Program,
    obligation: Obligation,
    names: &[Name],
    deadline: Deadline<'_>,
) -> Result<Model, Unsupported> {
    if let Some(span) = layout::beyond(program, obligation.mode, names, MOST_SCALARS) {
        let construct = "variables of more than 65,536 scalars";
        return Err(Unsupported { span, construct });
    }
    let mut layout = Layout::new(obligation);
    let shared = layout.shared(program, names);
    let (private, links, frames) = layout.blocks(program, names);
    let mut blocks = [0; 3];
    let size = layout.block.len();
    for (owner, begin) in blocks.iter_mut().enumerate() {
        *begin = layout.slots.len();
        let owner = owner as u8;
        layout.slots.extend(layout.block.iter().map(|slot| Slot {
            owner: Some(owner),
            tracked: slot.tracked || owner == T,
            ..slot.clone()
        }));
    }
    debug_assert_eq!(layout.slots.len(), blocks[0] + 3 * size);
    let (is_ghost, ghostly) = ghosts(program, obligation.ghosts)?;
    let mut model = Model {
        obligation,
        slots: layout.slots,
        code: vec![idle(program.scan())],
        entries: Vec::new(),
        frames,
        ghostly,
        is_ghost,
        blocks,
        update: program.update(),
        scan: program.scan(),
        shared,
        links,
        initial: Vec::new(),
        private: Vec::new(),
        versions: Vec::new(),
        outside: Vec::new(),
        in_centre: Vec::new(),
        positions: Vec::new(),
        names: Vec::new(),
        delays: false,
        flips: Vec::new(),
        uses: Default::default(),
        fresh_locals: Vec::new(),
        in_rows: Vec::new(),
        named: Vec::new(),
    };
    for (room, variable) in private.into_iter().zip(&program.private) {
        let scope =
            Scope { program, model: &model, procedure: None, nested: true, procedure_code: false };
        let initial = scope.initial(&variable.initial)?;
        model.private.push((room, initial));
    }
    let rows = crate::names::rows(names);
    let rows = rows.iter().map(|row| program.shared(row.array));
    for variable in program.shared.iter().chain(rows) {
        let scope =
            Scope { program, model: &model, procedure: None, nested: true, procedure_code: false };
        let initial = scope.initial(&variable.initial)?;
        let base = model.shared[model.initial.len()].base;
        model.initial.push((base, initial));
    }
    for (id, procedure) in program.procedures.iter().enumerate() {
        let id = ProcedureId(id as u32);
        let scope = Scope {
            program,
            model: &model,
            procedure: Some(id),
            nested: true,
            procedure_code: false,
        };
        let locals = procedure.locals.iter().zip(&model.frames[id.0 as usize].locals);
        let locals = locals.skip(procedure.parameters);
        let initial =
            locals.map(|(local, room)| Ok((room.clone(), scope.initial(&local.initial)?)));
        let initial = initial.collect::<Result<_, Unsupported>>()?;
        model.fresh_locals.push(initial);
    }
    for (id, procedure) in program.procedures.iter().enumerate() {
        in_time(deadline, procedure.span)?;
        let id = ProcedureId(id as u32);
        model.entries.push(model.code.len());
        let begin = model.code.len();
        let nested = has_nested_loops(&procedure.body, false);
        let scope =
            Scope { program, model: &model, procedure: Some(id), nested, procedure_code: true };
        let mut writer = Writer {
            scope,
            procedure: id,
            begin,
            code: Vec::new(),
            loops: Vec::new(),
            atomics: 0,
            fors: 0,
        };
        writer.block(&procedure.body)?;
        writer.push(Act::Return(None), procedure.span);
        let mut code = writer.code;
        let length = model.code.len() + code.len();
        if length > LONGEST {
            let construct = "programs of more than 10,000 instructions";
            let last = code.len() - 1 - (length - LONGEST).min(code.len() - 1);
            return Err(Unsupported { span: code[last].span, construct });
        }
        crate::liveness::fill(&mut code, begin, &model.frames[id.0 as usize].locals, deadline);
        mark_points(program, id, &model.frames[id.0 as usize].locals, &mut code);
        model.code.extend(code);
    }
    if let Ghosts::Rounds { begin, end } = obligation.ghosts {
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

/// Maximum number of instructions: locations have 16 bits, and some analyses take quadratic time.
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
    crate::links::fill_live(model, deadline);
    // From here on the per-instruction results are complete.
    in_time(deadline, span)?;
    crate::links::drop_hidden(model);
    crate::names::mark(model);
    crate::relevance::restrict(model, deadline);
    model.delays = may_delay(model);
    model.index();
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
    model.obligation.mode == Mode::Direct && !leaves
}

fn idle(procedure: ProcedureId) -> Instruction {
    Instruction {
        act: Act::Idle,
        span: Span::default(),
        procedure,
        live: Vec::new(),
        live_links: Vec::new(),
        pause: [true; 3],
        places: Vec::new(),
        point: false,
        round: None,
        used: None,
    }
}

/// Returns, per procedure, whether its calls are ghost scans, and whether it may run within one.
fn ghosts(program: &Program, ghosts: Ghosts) -> Result<(Vec<bool>, Vec<bool>), Unsupported> {
    let count = program.procedures.len();
    let mut is_ghost = vec![false; count];
    match ghosts {
        Ghosts::Scans | Ghosts::Rounds { .. } => is_ghost[program.scan().0 as usize] = true,
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
        Ghosts::Scans | Ghosts::Rounds { .. } => vec![program.update()],
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

fn has_nested_loops(statements: &[Statement], within: bool) -> bool {
    statements.iter().any(|statement| {
        let is_for = matches!(statement.kind, StatementKind::For { .. });
        let parts: Vec<Statement> = statement.parts().cloned().collect();
        (is_for && within) || has_nested_loops(&parts, within || is_for)
    })
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
