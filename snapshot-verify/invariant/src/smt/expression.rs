//! Expressions as terms. A quantifier is a separate truth value, with a witness and a condition on
//! any process.

use std::rc::Rc;

use snapshot_language::program::{Binary, Bound, Expression, ExpressionKind, Type};

use super::execute::{ACTOR, Executor, Way};
use super::term::{Value, and, not, or};
use crate::layout::Unsupported;

impl Executor<'_> {
    pub(super) fn value(
        &self,
        way: &mut Way,
        procedure: usize,
        of: &Expression,
    ) -> Result<Value, Unsupported> {
        self.evaluate(way, procedure, of, &[])
    }

    /// Evaluates, with these terms for the variables of the enclosing quantifiers.
    fn evaluate(
        &self,
        way: &mut Way,
        procedure: usize,
        of: &Expression,
        bound: &[(usize, String)],
    ) -> Result<Value, Unsupported> {
        let get = |way: &mut Way, of: &Expression| self.evaluate(way, procedure, of, bound);
        Ok(match &of.kind {
            ExpressionKind::Bool(truth) => Value::scalar(if *truth { "true" } else { "false" }),
            ExpressionKind::InitialValue => Value::scalar("false"),
            ExpressionKind::FirstVersion => Value::scalar("version.first"),
            ExpressionKind::Me => Value::scalar(ACTOR),
            ExpressionKind::None => {
                let some = match &of.content {
                    Type::Optional(inner) if **inner == Type::Version => "version.first",
                    Type::Optional(inner) if matches!(**inner, Type::Bool | Type::Value) => "false",
                    _ => "process.i",
                };
                Value::Scalar(Some("true".to_owned()), some.to_owned())
            }
            ExpressionKind::Process(number) | ExpressionKind::Segment(number)
                if *number == Bound::constant(0) =>
            {
                let first = format!("index{}", way.processes.len());
                way.processes.push(first.clone());
                let least = first.clone();
                way.universals.push(Rc::new(move |any| format!("(not (before {any} {least}))")));
                Value::scalar(first)
            }
            ExpressionKind::Convert(inner) => get(way, inner)?,
            ExpressionKind::Some(inner) => {
                let term = get(way, inner)?.term();
                Value::Scalar(Some("false".to_owned()), term)
            }
            ExpressionKind::Local(id) => {
                let number = id.0 as usize;
                match bound.iter().rev().find(|(one, _)| *one == number) {
                    Some((_, term)) => Value::scalar(term.clone()),
                    None => self.local(way, procedure, number),
                }
            }
            ExpressionKind::Private(id) => self.private(way, id.0 as usize),
            ExpressionKind::Index(array, index) => {
                let index = get(way, index)?.term();
                get(way, array)?.element(&index)
            }
            ExpressionKind::Field(record, number) => match get(way, record)? {
                Value::Record(fields) => fields[*number].clone(),
                other => other,
            },
            ExpressionKind::Record(fields) => {
                let fields = fields.iter().map(|field| get(way, field));
                Value::Record(fields.collect::<Result<_, _>>()?)
            }
            ExpressionKind::With(record, fields) => {
                let mut record = get(way, record)?;
                for (number, field) in fields {
                    let field = get(way, field)?;
                    if let Value::Record(fields) = &mut record {
                        fields[*number] = field;
                    }
                }
                record
            }
            ExpressionKind::Filled(element) => {
                let element = get(way, element)?;
                Value::Array(Rc::new(move |_| element.clone()))
            }
            ExpressionKind::Each { variable, over, body } if over.is_of_names() => {
                let hole = hole(bound.len());
                let within = [bound, &[(variable.0 as usize, hole.clone())]].concat();
                let body = self.evaluate(way, procedure, body, &within)?;
                Value::Array(Rc::new(move |index| body.replaced(&hole, index)))
            }
            ExpressionKind::Quantified { all, variable, over, except, body }
                if over.is_of_names() && bound.is_empty() =>
            {
                let hole = hole(0);
                let within = [(variable.0 as usize, hole.clone())];
                let body = self.evaluate(way, procedure, body, &within)?.term();
                let meant = match except {
                    None => body,
                    Some(except) => {
                        let except = get(way, except)?.term();
                        let is_left_out = format!("(= {hole} {except})");
                        match all {
                            true => or(&[is_left_out, body]),
                            false => and(&[not(&is_left_out), body]),
                        }
                    }
                };
                Value::scalar(quantified(way, *all, &hole, &meant))
            }
            ExpressionKind::Not(inner) => Value::scalar(not(&get(way, inner)?.term())),
            ExpressionKind::Binary(operator, a, b) => {
                let (a, b) = (get(way, a)?, get(way, b)?);
                Value::scalar(match operator {
                    Binary::And => and(&[a.term(), b.term()]),
                    Binary::Or => or(&[a.term(), b.term()]),
                    Binary::Equal if bound.is_empty() => self.equal(way, &a, &b)?,
                    Binary::NotEqual if bound.is_empty() => not(&self.equal(way, &a, &b)?),
                    Binary::Equal => scalars_equal(&a, &b)?,
                    Binary::NotEqual => not(&scalars_equal(&a, &b)?),
                    _ => return Err(Unsupported("numbers")),
                })
            }
            ExpressionKind::If(condition, then, otherwise) => {
                let condition = get(way, condition)?.term();
                let (then, otherwise) = (get(way, then)?, get(way, otherwise)?);
                Value::either(&condition, &then, &otherwise)
            }
            ExpressionKind::Fresh if bound.is_empty() => {
                let name = format!("fresh{}", way.fresh.len());
                way.fresh.push(name.clone());
                Value::scalar(name)
            }
            _ => return Err(Unsupported("numbers of processes, conversions, or `!`")),
        })
    }

    /// Returns the equality of two values of one type.
    pub(super) fn equal(&self, way: &mut Way, a: &Value, b: &Value) -> Result<String, Unsupported> {
        Ok(match (a, b) {
            (Value::Array(_), Value::Array(_)) => {
                let hole = hole(0);
                let each = scalars_equal(&a.element(&hole), &b.element(&hole))?;
                quantified(way, true, &hole, &each)
            }
            (Value::Record(xs), Value::Record(ys)) => {
                let all = xs.iter().zip(ys).map(|(x, y)| self.equal(way, x, y));
                and(&all.collect::<Result<Vec<_>, _>>()?)
            }
            _ => scalars_equal(a, b)?,
        })
    }
}

/// Returns a new truth value for a quantifier, with a witness: `all` selects "for all", else "for
/// some".
fn quantified(way: &mut Way, all: bool, hole: &str, meant: &str) -> String {
    let truth = format!("truth{}", way.truths.len());
    let witness = format!("index{}", way.processes.len());
    way.truths.push(truth.clone());
    way.processes.push(witness.clone());
    let (hole, meant, name) = (hole.to_owned(), meant.to_owned(), truth.clone());
    let at_witness = meant.replace(&hole, &witness);
    if all {
        way.conditions.push(or(&[truth.clone(), not(&at_witness)]));
        way.universals.push(Rc::new(move |any| or(&[not(&name), meant.replace(&hole, any)])));
    } else {
        way.conditions.push(or(&[not(&truth), at_witness]));
        way.universals
            .push(Rc::new(move |any| or(&[name.clone(), not(&meant.replace(&hole, any))])));
    }
    truth
}

/// Returns the placeholder of an index that is not chosen yet.
fn hole(depth: usize) -> String {
    format!("@hole{depth}@")
}

fn scalars_equal(a: &Value, b: &Value) -> Result<String, Unsupported> {
    match (a, b) {
        (Value::Scalar(a, x), Value::Scalar(b, y)) => {
            let of = |one: &Option<String>| one.clone().unwrap_or("false".to_owned());
            let (a, b) = (of(a), of(b));
            let both = and(&[not(&a), not(&b), format!("(= {x} {y})")]);
            Ok(or(&[and(&[a, b]), both]))
        }
        (Value::Record(xs), Value::Record(ys)) => {
            let all = xs.iter().zip(ys).map(|(x, y)| scalars_equal(x, y));
            Ok(and(&all.collect::<Result<Vec<_>, _>>()?))
        }
        _ => Err(Unsupported("equality of arrays within another")),
    }
}
