//! Bowman's algorithm as a checked program, built by hand: tests the interpreter without the front
//! end.

use snapshot_language::Span;
use snapshot_language::program::{
    Access, Binary, Bound, CellKind, CellPlace, Expression, ExpressionKind, IndexSet, Interface,
    Local, LocalId, Place, Procedure, ProcedureId, Program, Projection, Root, SharedId,
    SharedVariable, Statement, StatementKind, Type,
};

const ACTIVE: SharedId = SharedId(0);
const A: SharedId = SharedId(1);

fn optional_process() -> Type {
    Type::Optional(Box::new(Type::Process))
}

pub fn expression(kind: ExpressionKind, content: Type) -> Expression {
    Expression { kind, content, span: Span::default() }
}

pub fn statement(kind: StatementKind) -> Statement {
    Statement { kind, span: Span::default(), mark: None }
}

pub fn access(access: Access, into: Option<Place>) -> Statement {
    statement(StatementKind::Access { access, into })
}

fn cell(variable: SharedId, indices: Vec<Expression>) -> CellPlace {
    CellPlace { variable, indices, span: Span::default() }
}

fn none() -> Expression {
    expression(ExpressionKind::None, optional_process())
}

fn me() -> Expression {
    expression(ExpressionKind::Me, Type::Process)
}

fn some_me() -> Expression {
    expression(ExpressionKind::Some(Box::new(me())), optional_process())
}

fn local(name: &str, content: Type, initial: Expression) -> Local {
    Local { name: name.to_owned(), span: Span::default(), content, initial, hidden: false }
}

fn initial_value() -> Expression {
    expression(ExpressionKind::InitialValue, Type::Value)
}

fn variable(name: &str, dimensions: Vec<IndexSet>, initial: Expression) -> SharedVariable {
    SharedVariable {
        name: name.to_owned(),
        span: Span::default(),
        dimensions,
        content: initial.content.clone(),
        cell: CellKind::Register,
        initial,
    }
}

/// Bowman's algorithm; with `early_exit`, the scan ends as soon as `active` is set by any process.
pub fn bowman(early_exit: bool) -> Program {
    let value = || expression(ExpressionKind::Local(LocalId(0)), Type::Value);
    let own = expression(ExpressionKind::Convert(Box::new(me())), Type::Segment);
    let update = Procedure {
        name: "update".to_owned(),
        span: Span::default(),
        locals: vec![local("v", Type::Value, initial_value())],
        parameters: 1,
        returns: None,
        body: vec![
            access(Access::Write(cell(ACTIVE, Vec::new()), none()), None),
            access(Access::Write(cell(A, vec![own]), value()), None),
        ],
    };
    let (copy, segment, seen) = (LocalId(0), LocalId(1), LocalId(2));
    let index = || expression(ExpressionKind::Local(segment), Type::Segment);
    let collect = StatementKind::For {
        variable: segment,
        over: IndexSet::Segments,
        except: None,
        body: vec![access(
            Access::Read(cell(A, vec![index()])),
            Some(Place { root: Root::Local(copy), path: vec![Projection::Index(index())] }),
        )],
    };
    let (operator, other) =
        if early_exit { (Binary::NotEqual, none()) } else { (Binary::Equal, some_me()) };
    let hidden = expression(ExpressionKind::Local(seen), optional_process());
    let condition = ExpressionKind::Binary(operator, Box::new(hidden), Box::new(other));
    let until = StatementKind::If {
        condition: expression(condition, Type::Bool),
        then: vec![statement(StatementKind::Break)],
        otherwise: Vec::new(),
    };
    let body = vec![
        access(Access::Write(cell(ACTIVE, Vec::new()), some_me()), None),
        statement(collect),
        access(
            Access::Read(cell(ACTIVE, Vec::new())),
            Some(Place { root: Root::Local(seen), path: Vec::new() }),
        ),
        statement(until),
    ];
    let filled = ExpressionKind::Filled(Box::new(initial_value()));
    let scan = Procedure {
        name: "scan".to_owned(),
        span: Span::default(),
        locals: vec![
            local("copy", Type::view(), expression(filled, Type::view())),
            local(
                "s",
                Type::Segment,
                expression(ExpressionKind::Segment(Bound::constant(0)), Type::Segment),
            ),
            Local { hidden: true, ..local("active", optional_process(), none()) },
        ],
        parameters: 0,
        returns: Some(Type::view()),
        body: vec![
            statement(StatementKind::Loop { body }),
            statement(StatementKind::Return(Some(expression(
                ExpressionKind::Local(copy),
                Type::view(),
            )))),
        ],
    };
    Program {
        name: "bowman".to_owned(),
        bug: early_exit.then(|| "early_exit".to_owned()),
        citation: None,
        nodes: Vec::new(),
        initial_nodes: Vec::new(),
        shared: vec![
            variable("active", Vec::new(), none()),
            variable("a", vec![IndexSet::Segments], initial_value()),
        ],
        private: Vec::new(),
        procedures: vec![update, scan],
        interface: Interface::Snapshot { update: ProcedureId(0), scan: ProcedureId(1) },
    }
}
