//! Trees are printed as text, and parsed again.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use snapshot_language::Span;
use snapshot_language::tree::{
    Cell, Expression, ExpressionKind, Indices, IndicesKind, InitialNode, Mark, Name, Node,
    Operator, Procedure, Range, Statement, StatementKind, Tree, TypeDeclaration, TypeExpression,
    TypeKind, Variable,
};

use crate::texts::{read, texts};

/// Returns the debug output of a tree without its spans.
fn shape(tree: &Tree) -> String {
    let debug = format!("{tree:?}");
    let mut shape = String::new();
    let mut rest = debug.as_str();
    while let Some(begin) = rest.find("Span {") {
        shape += &rest[..begin];
        rest = &rest[begin..];
        rest = &rest[rest.find('}').unwrap() + 1..];
    }
    shape + rest
}

fn round_trips(tree: &Tree) -> Result<(), TestCaseError> {
    let text = tree.to_string();
    let mut again = match snapshot_language::parse("printed.snapshot", &text) {
        Ok(algorithm) => algorithm.tree(None).unwrap(),
        Err(error) => return Err(TestCaseError::fail(format!("{text}\n{error}"))),
    };
    // Without a declaration, an update of two parameters implies one.
    if tree.object.is_none() {
        again.object = None;
    }
    prop_assert_eq!(shape(tree), shape(&again), "{}", text);
    prop_assert_eq!(text, again.to_string());
    Ok(())
}

#[test]
fn trees_of_texts_round_trip() {
    for directory in [
        "right",
        "../../../../corpus/algorithms",
        "../../../../corpus/objects",
        "../../../../corpus/strong",
    ] {
        for (name, text) in texts(directory) {
            let algorithm = read(&name, &text);
            let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
            for variant in std::iter::once(None).chain(bugs) {
                round_trips(&algorithm.tree(variant).unwrap()).unwrap();
            }
        }
    }
}

fn name() -> impl Strategy<Value = Name> {
    prop::sample::select(vec!["a", "b2", "c_d", "view", "process", "shared", "record"])
        .prop_map(|text| Name { text: text.to_owned(), span: Span::default() })
}

fn field() -> impl Strategy<Value = Name> {
    prop_oneof![
        name(),
        prop::sample::select(vec!["me", "for", "none", "n"])
            .prop_map(|text| Name { text: text.to_owned(), span: Span::default() }),
    ]
}

fn expression_of(kind: ExpressionKind) -> Expression {
    Expression { kind, span: Span::default() }
}

/// Generates a bound: it begins with a number or `n`.
fn bound() -> impl Strategy<Value = Expression> {
    let leaf = || {
        prop_oneof![(0..100).prop_map(ExpressionKind::Number), Just(ExpressionKind::N)]
            .prop_map(expression_of)
    };
    let sum = (prop::sample::select(vec![Operator::Add, Operator::Multiply]), leaf(), leaf())
        .prop_map(|(operator, left, right)| {
            expression_of(ExpressionKind::Binary(operator, Box::new(left), Box::new(right)))
        });
    prop_oneof![leaf(), sum]
}

fn indices() -> impl Strategy<Value = Indices> {
    prop_oneof![
        Just(IndicesKind::Processes),
        Just(IndicesKind::Segments),
        (bound(), bound())
            .prop_map(|(low, high)| { IndicesKind::Range(Box::new(low), Box::new(high)) }),
    ]
    .prop_map(|kind| Indices { kind, span: Span::default() })
}

fn operator() -> impl Strategy<Value = Operator> {
    use Operator as O;
    prop::sample::select(vec![
        O::Or,
        O::And,
        O::Equal,
        O::NotEqual,
        O::Less,
        O::LessOrEqual,
        O::Greater,
        O::GreaterOrEqual,
        O::Add,
        O::Subtract,
        O::Multiply,
        O::Modulo,
    ])
}

fn expression() -> impl Strategy<Value = Expression> {
    use ExpressionKind as K;
    let leaf = prop_oneof![
        any::<bool>().prop_map(K::Bool),
        (0..1000).prop_map(K::Number),
        Just(K::None),
        Just(K::Me),
        Just(K::N),
        Just(K::Initial),
        Just(K::Fresh),
        name().prop_map(|name| K::Variable(name.text)),
    ]
    .prop_map(expression_of);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let fields = vec((field(), inner.clone()), 1..3).boxed();
        prop_oneof![
            (boxed.clone(), boxed.clone()).prop_map(|(a, i)| K::Index(a, i)),
            (boxed.clone(), field()).prop_map(|(r, f)| K::Field(r, f)),
            (name(), vec(inner.clone(), 0..3)).prop_map(|(f, a)| K::Call(f, a)),
            (name(), vec(inner.clone(), 0..3)).prop_map(|(f, a)| K::New(f, a)),
            vec(inner.clone(), 2..4).prop_map(K::Tuple),
            fields.clone().prop_map(K::Record),
            (boxed.clone(), fields).prop_map(|(r, f)| K::With(r, f)),
            (boxed.clone(), name(), indices()).prop_map(|(body, variable, over)| {
                K::Each(body, Range { variable, over, except: None })
            }),
            (any::<bool>(), range(boxed.clone()), boxed.clone())
                .prop_map(|(all, range, body)| K::Quantified(all, range, body)),
            (boxed.clone(), boxed.clone(), boxed.clone()).prop_map(|(c, a, b)| K::If(c, a, b)),
            boxed.clone().prop_map(K::Not),
            (operator(), boxed.clone(), boxed).prop_map(|(o, a, b)| K::Binary(o, a, b)),
        ]
        .prop_map(expression_of)
    })
}

fn range(except: BoxedStrategy<Box<Expression>>) -> impl Strategy<Value = Range> {
    (name(), indices(), option::of(except)).prop_map(|(variable, over, except)| Range {
        variable,
        over,
        except,
    })
}

fn type_expression() -> impl Strategy<Value = TypeExpression> {
    let of = |kind| TypeExpression { kind, span: Span::default() };
    let leaf = prop_oneof![
        prop::sample::select(vec!["value", "view", "mine"])
            .prop_map(|name| TypeKind::Named(name.to_owned())),
        (bound(), bound()).prop_map(|(low, high)| TypeKind::Range(Box::new(low), Box::new(high))),
    ]
    .prop_map(of);
    leaf.prop_recursive(3, 8, 2, move |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| TypeKind::Optional(Box::new(inner))),
            vec((field(), inner.clone()), 1..3).prop_map(TypeKind::Record),
            (indices(), inner).prop_map(|(i, inner)| TypeKind::Array(i, Box::new(inner))),
        ]
        .prop_map(of)
    })
}

/// Generates a target of an assignment.
fn place() -> impl Strategy<Value = Expression> {
    let leaf = name().prop_map(|name| expression_of(ExpressionKind::Variable(name.text)));
    leaf.prop_recursive(2, 4, 1, |inner| {
        prop_oneof![
            (inner.clone(), expression())
                .prop_map(|(a, i)| ExpressionKind::Index(Box::new(a), Box::new(i))),
            (inner, field()).prop_map(|(r, f)| ExpressionKind::Field(Box::new(r), f)),
        ]
        .prop_map(expression_of)
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    use StatementKind as K;
    let mark = || {
        let condition = option::of(expression());
        option::of(condition.prop_map(|condition| Mark { span: Span::default(), condition }))
    };
    let simple = prop_oneof![
        (place(), expression()).prop_map(|(place, value)| K::Assign(place, value)),
        (vec(option::of(place()), 1..4), expression())
            .prop_map(|(places, value)| K::TakeApart(places, value)),
        (name(), vec(expression(), 0..3))
            .prop_map(|(name, a)| K::Do(expression_of(ExpressionKind::Call(name, a)))),
        place().prop_map(K::Free),
        Just(K::Exit),
        Just(K::Skip),
        option::of(expression()).prop_map(K::Return),
    ];
    let leaf =
        (simple, mark()).prop_map(|(kind, mark)| Statement { kind, span: Span::default(), mark });
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let block = vec(inner, 1..4);
        let plain = prop_oneof![
            (vec((expression(), block.clone()), 1..3), option::of(block.clone()))
                .prop_map(|(arms, otherwise)| K::If(arms, otherwise)),
            (expression(), block.clone()).prop_map(|(c, body)| K::While(c, body)),
            block.clone().prop_map(K::Loop),
            (range(expression().prop_map(Box::new).boxed()), block.clone())
                .prop_map(|(range, body)| K::For(range, body)),
            block.clone().prop_map(K::Atomic),
        ]
        .prop_map(|kind| Statement { kind, span: Span::default(), mark: None });
        let repeat = (block, expression(), mark()).prop_map(|(body, c, mark)| Statement {
            kind: K::Repeat(body, c),
            span: Span::default(),
            mark,
        });
        prop_oneof![5 => plain, 1 => repeat]
    })
}

fn variable(cell: bool) -> impl Strategy<Value = Variable> {
    let cells =
        if cell { vec![None, Some(Cell::Linked), Some(Cell::Swappable)] } else { vec![None] };
    (
        name(),
        vec(indices(), 0..3),
        prop::sample::select(cells),
        type_expression(),
        option::of(expression()),
    )
        .prop_map(|(name, dimensions, cell, content, initial)| Variable {
            name,
            dimensions,
            cell,
            content,
            initial,
        })
}

fn procedure() -> impl Strategy<Value = Procedure> {
    let name = prop_oneof![
        name(),
        prop::sample::select(vec!["update", "scan"])
            .prop_map(|text| Name { text: text.to_owned(), span: Span::default() }),
    ];
    (
        name,
        vec((self::name(), option::of(type_expression())), 0..3),
        option::of(type_expression()),
        vec(variable(false), 0..3),
        vec(statement(), 1..4),
    )
        .prop_map(|(name, parameters, returns, locals, body)| Procedure {
            name,
            parameters,
            returns,
            locals,
            body,
        })
}

prop_compose! {
    fn node()(
        name in name(),
        bound in option::of(bound()),
        stable in any::<bool>(),
        fields in vec((field(), variable(true)), 1..4),
    ) -> Node {
        let fields = fields.into_iter().map(|(name, field)| {
            Variable { name, dimensions: Vec::new(), initial: None, ..field }
        });
        Node { name, bound, stable, fields: fields.collect() }
    }
}

prop_compose! {
    fn initial_node()(
        name in name(),
        node in name(),
        fields in vec(expression(), 0..3),
    ) -> InitialNode {
        InitialNode { name, node, fields, span: Span::default() }
    }
}

prop_compose! {
    fn tree()(
        name in name(),
        citation in option::of("[a-z ,.]{0,20}"),
        types in vec((name(), type_expression()), 0..3),
        nodes in vec(node(), 0..2),
        initially in vec(initial_node(), 0..2),
        shared in vec(variable(true), 0..3),
        private in vec(variable(false), 0..2),
        procedures in vec(procedure(), 0..3),
    ) -> Tree {
        let types = types
            .into_iter()
            .map(|(name, content)| TypeDeclaration { name, content })
            .collect();
        Tree { name, citation, types, object: None, nodes, initially, shared, private, procedures }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_round_trips(tree in tree()) {
        round_trips(&tree)?;
    }
}
