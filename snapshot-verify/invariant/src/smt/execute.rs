//! Steps of the interpreter as terms: one access to shared memory, whichever, and what the process
//! computes up to the next.
//!
//! Nothing is left out: each process has all of its variables, arrays have an element for each
//! process, and a loop over all processes visits one after the other in their order. What is
//! known of all processes ("between this one and the next there is none") is noted as a condition
//! on any, for whoever instantiates it.

use std::collections::BTreeMap;
use std::rc::Rc;

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_language::program::{
    Access, Binary, Bound, Expression, ExpressionKind, Place, Program, Projection, Root, Type,
};
use snapshot_semantics::interpret::code::{Code, For, Instruction};

use super::term::{Value, and, held, not, or, table};
use crate::layout::{Unfit, by_members};

/// What a process does.
pub const DOES: [&str; 4] = ["idle", "updates", "scans", "switches"];
/// The names of the observer's bits.
pub const OBSERVER: [&str; 6] = [
    "observer.invoked_i",
    "observer.invoked_j",
    "observer.needed_i",
    "observer.needed_j",
    "observer.bad01",
    "observer.bad10",
];
/// The most instructions of a step: loops without accesses would have no end.
const LONGEST: usize = 400;
/// The most ways that a step may have.
const MOST: usize = 4_000;

/// Which process makes a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Actor {
    /// That of segment i.
    I,
    /// That of segment j.
    J,
    /// Any other.
    Another,
}

/// The process that makes the step, as a term.
pub const ACTOR: &str = "actor";

type Universal = Rc<dyn Fn(&str) -> String>;

/// A step, as far as it has been followed.
#[derive(Clone)]
pub struct Way {
    /// Where the process stands: an access of a procedure, unless it is idle.
    pub place: Option<(usize, usize)>,
    /// What it does: one of [`DOES`].
    pub does: &'static str,
    /// Whether its scan has made its first access; what the scan must return; whether the update to
    /// 1 has made its first access; whether the process has begun one.
    pub begun: String,
    /// See `begun`.
    pub must: [String; 2],
    /// See `begun`.
    pub invoked: String,
    /// See `begun`.
    pub switched: String,
    /// The observer's bits.
    pub observer: [String; 6],
    /// Shared variables that were written, whole.
    pub shared: BTreeMap<usize, Value>,
    /// Private variables that were stored to.
    pub private: BTreeMap<usize, Value>,
    /// Locals, by procedure.
    pub locals: BTreeMap<(usize, usize), Value>,
    /// What holds where this way is taken.
    pub conditions: Vec<String>,
    /// What holds of each process.
    pub universals: Vec<Universal>,
    /// Processes and truth values that are there by a condition.
    pub processes: Vec<String>,
    /// See `processes`.
    pub truths: Vec<String>,
    /// New versions.
    pub fresh: Vec<String>,
    /// When the observer accepts what is returned, or an update takes effect never.
    pub alarm: String,
    atomic: usize,
    length: usize,
}

/// Executes a program.
pub struct Executor<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its instructions.
    pub code: &'p [Code<'p>],
    /// The process.
    pub actor: Actor,
}

impl<'p> Executor<'p> {
    /// A process before a step: idle, or before an access.
    pub fn begin(&self, place: Option<(usize, usize)>, does: &'static str) -> Way {
        let of = |function: &str| format!("({function} {ACTOR})");
        Way {
            place,
            does,
            begun: of("begun"),
            must: [of("must.i"), of("must.j")],
            invoked: of("invoked"),
            switched: of("switched"),
            observer: OBSERVER.map(str::to_owned),
            shared: BTreeMap::new(),
            private: BTreeMap::new(),
            locals: BTreeMap::new(),
            conditions: Vec::new(),
            universals: Vec::new(),
            processes: Vec::new(),
            truths: Vec::new(),
            fresh: Vec::new(),
            alarm: "false".to_owned(),
            atomic: 0,
            length: 0,
        }
    }

    /// A constant expression.
    ///
    /// # Errors
    /// If it is not modelled.
    pub fn constant(&self, of: &Expression) -> Result<Value, Unfit> {
        self.value(&mut self.begin(None, DOES[0]), 0, of)
    }

    /// All ways to begin an operation.
    ///
    /// # Errors
    /// If a construct is not modelled.
    pub fn invocations(&self) -> Result<Vec<Way>, Unfit> {
        let idle = self.begin(None, DOES[0]);
        let (update, scan) = (self.program.update().0 as usize, self.program.scan().0 as usize);
        let mut ways = Vec::new();
        let mut invoke = |does, procedure: usize, argument: Option<&str>, condition: String| {
            let mut way = Way { does, place: Some((procedure, 0)), ..idle.clone() };
            way.conditions.push(condition);
            way.begun = "false".to_owned();
            way.invoked = "false".to_owned();
            if does == DOES[3] {
                way.switched = "true".to_owned();
            }
            let declared = self.program.procedures[procedure].locals.iter();
            for (number, local) in declared.enumerate() {
                if let (0, Some(argument)) = (number, argument) {
                    way.locals.insert((procedure, 0), Value::scalar(argument));
                } else if number >= self.program.procedures[procedure].parameters {
                    let value = self.value(&mut way, procedure, &local.initial)?;
                    way.locals.insert((procedure, number), value);
                }
            }
            self.run(way, &mut ways)
        };
        let any = || "true".to_owned();
        if self.actor == Actor::Another {
            invoke(DOES[1], update, Some("false"), any())?;
        } else {
            let switched = format!("(switched {ACTOR})");
            invoke(DOES[1], update, Some("true"), switched.clone())?;
            invoke(DOES[1], update, Some("false"), not(&switched))?;
            invoke(DOES[3], update, Some("true"), not(&switched))?;
        }
        invoke(DOES[2], scan, None, any())?;
        Ok(ways)
    }

    /// All ways to go on from an access.
    ///
    /// # Errors
    /// If a construct is not modelled.
    pub fn steps(&self, place: (usize, usize), does: &'static str) -> Result<Vec<Way>, Unfit> {
        let mut way = self.begin(Some(place), does);
        self.first_access(&mut way);
        let mut ways = Vec::new();
        match self.code[place.0].instructions[place.1] {
            Instruction::Access { access, into, .. } => {
                for after in self.access(way, access, into)? {
                    self.run(after, &mut ways)?;
                }
            }
            _ => {
                way.atomic = 1;
                way.place = Some((place.0, place.1 + 1));
                self.run(way, &mut ways)?;
            }
        }
        Ok(ways)
    }

    /// Follows a way up to the next access.
    fn run(&self, way: Way, done: &mut Vec<Way>) -> Result<(), Unfit> {
        let mut waiting = vec![way];
        while let Some(mut way) = waiting.pop() {
            way.length += 1;
            if way.length > LONGEST || done.len() + waiting.len() > MOST {
                return Err(Unfit("loops without accesses, or with many ways through"));
            }
            let Some((procedure, here)) = way.place else {
                done.push(way);
                continue;
            };
            let next = |mut way: Way, to: usize| {
                way.place = Some((procedure, to));
                way
            };
            match self.code[procedure].instructions[here] {
                Instruction::Access { access, into, .. } => match way.atomic {
                    0 => done.push(way),
                    _ => waiting.extend(self.access(way, access, into)?),
                },
                Instruction::BeginAtomic { .. } if way.atomic == 0 => done.push(way),
                Instruction::BeginAtomic { .. } => {
                    way.atomic += 1;
                    waiting.push(next(way, here + 1));
                }
                Instruction::EndAtomic => {
                    way.atomic -= 1;
                    waiting.push(next(way, here + 1));
                }
                Instruction::Assign { place, value } => {
                    let value = self.value(&mut way, procedure, value)?;
                    self.store(&mut way, procedure, place, value)?;
                    waiting.push(next(way, here + 1));
                }
                Instruction::Unless { condition, target } => {
                    let holds = self.value(&mut way, procedure, condition)?.term();
                    let mut other = way.clone();
                    way.conditions.push(holds.clone());
                    other.conditions.push(not(&holds));
                    waiting.extend([next(way, here + 1), next(other, target)]);
                }
                Instruction::Jump { target } => waiting.push(next(way, target)),
                Instruction::BeginFor(this) => {
                    self.round(&way, procedure, this, None, &mut waiting)?
                }
                Instruction::NextFor(this) => {
                    let now = self.local(&way, procedure, this.variable.0 as usize).term();
                    self.round(&way, procedure, this, Some(now), &mut waiting)?;
                }
                Instruction::Call { .. } => return Err(Unfit("calls")),
                Instruction::Return { result } => {
                    let result = match result {
                        Some(result) => Some(self.value(&mut way, procedure, result)?),
                        None => None,
                    };
                    self.end(&mut way, result);
                    done.push(way);
                }
            }
        }
        Ok(())
    }

    /// The next index of a loop over all processes, or its end.
    fn round(
        &self,
        way: &Way,
        procedure: usize,
        this: For<'p>,
        now: Option<String>,
        waiting: &mut Vec<Way>,
    ) -> Result<(), Unfit> {
        if !by_members(this.over) || this.except.is_some() {
            return Err(Unfit("loops over numbers, or that leave out a process"));
        }
        let mut on = way.clone();
        let index = format!("index{}", on.processes.len());
        on.processes.push(index.clone());
        let from = now.clone();
        if let Some(now) = &from {
            on.conditions.push(format!("(before {now} {index})"));
        }
        let last = index.clone();
        on.universals.push(Rc::new(move |any| match &from {
            None => format!("(not (before {any} {last}))"),
            Some(now) => format!("(not (and (before {now} {any}) (before {any} {last})))"),
        }));
        on.locals.insert((procedure, this.variable.0 as usize), Value::scalar(index));
        on.place = Some((procedure, this.body));
        waiting.push(on);
        // There are processes, so a loop has a first round.
        if let Some(now) = now {
            let mut end = way.clone();
            end.universals.push(Rc::new(move |any| format!("(not (before {now} {any}))")));
            end.place = Some((procedure, this.end));
            waiting.push(end);
        }
        Ok(())
    }

    fn first_access(&self, way: &mut Way) {
        match way.does {
            "scans" => {
                let begun = way.begun.clone();
                for (must, needed) in way.must.iter_mut().zip(&way.observer[2..4]) {
                    *must = format!("(ite {begun} {must} {needed})");
                }
                way.begun = "true".to_owned();
            }
            "switches" => {
                let (segment, invoked) = (self.segment(), way.invoked.clone());
                let after = observed(&way.observer, &|state, _| state.invoke_update(segment));
                for (bit, after) in way.observer.iter_mut().zip(after) {
                    *bit = format!("(ite {invoked} {bit} {after})");
                }
                way.invoked = "true".to_owned();
            }
            _ => {}
        }
    }

    fn segment(&self) -> Switching {
        if self.actor == Actor::J { Switching::J } else { Switching::I }
    }

    /// The end of an operation.
    fn end(&self, way: &mut Way, result: Option<Value>) {
        self.first_access(way);
        if way.does == "switches" {
            let segment = self.segment();
            way.observer = observed(&way.observer, &|state, _| state.respond_update(segment));
        }
        if let (true, Some(result)) = (way.does == "scans", result) {
            let entries = ["process.i", "process.j"].map(|at| result.element(at).term());
            let more = [way.must.as_slice(), &entries].concat();
            let all = [way.observer.as_slice(), &more].concat();
            way.alarm = table(&all, &|bits| returned(bits).is_none());
            way.observer = observer_after(&all, &|bits| returned(bits).unwrap_or_default());
        }
        way.does = DOES[0];
        way.begun = "false".to_owned();
        way.invoked = "false".to_owned();
        way.place = None;
    }

    /// An access, all its ways.
    fn access(
        &self,
        mut way: Way,
        access: &Access,
        into: Option<&Place>,
    ) -> Result<Vec<Way>, Unfit> {
        let Some((procedure, here)) = way.place else { return Ok(Vec::new()) };
        let place = access.place();
        let number = place.variable.0 as usize;
        let mut indices = Vec::new();
        for index in &place.indices {
            indices.push(self.value(&mut way, procedure, index)?.term());
        }
        let variable = self.shared(&way, number);
        let cell = indices.iter().fold(variable.clone(), |value, index| value.element(index));
        let finish = |mut way: Way, result: Value| {
            if let Some(into) = into {
                self.store(&mut way, procedure, into, result)?;
            }
            way.place = Some((procedure, here + 1));
            Ok(way)
        };
        match access {
            Access::Read(_) => Ok(vec![finish(way, cell)?]),
            Access::Write(_, value) => {
                let value = self.value(&mut way, procedure, value)?;
                way.shared.insert(number, written(&variable, &indices, value));
                Ok(vec![finish(way, Value::scalar("true"))?])
            }
            Access::CompareAndSwap(_, old, new) => {
                let old = self.value(&mut way, procedure, old)?;
                let equal = self.equal(&mut way, &cell, &old)?;
                let mut failed = way.clone();
                failed.conditions.push(not(&equal));
                way.conditions.push(equal);
                let new = self.value(&mut way, procedure, new)?;
                way.shared.insert(number, written(&variable, &indices, new));
                let truth = |truth: &str| Value::scalar(truth);
                Ok(vec![finish(way, truth("true"))?, finish(failed, truth("false"))?])
            }
            _ => Err(Unfit("LL/SC cells")),
        }
    }

    fn shared(&self, way: &Way, number: usize) -> Value {
        let declared = &self.program.shared[number];
        let whole = || held(&format!("shared.{}", declared.name), &shared_type(declared), &[]);
        way.shared.get(&number).cloned().unwrap_or_else(whole)
    }

    fn local(&self, way: &Way, procedure: usize, number: usize) -> Value {
        let content = &self.program.procedures[procedure].locals[number].content;
        let name = local_name(self.program, procedure, number);
        let whole = || held(&name, content, &[ACTOR.to_owned()]);
        way.locals.get(&(procedure, number)).cloned().unwrap_or_else(whole)
    }

    fn private(&self, way: &Way, number: usize) -> Value {
        let declared = &self.program.private[number];
        let name = format!("private.{}", declared.name);
        let whole = || held(&name, &declared.content, &[ACTOR.to_owned()]);
        way.private.get(&number).cloned().unwrap_or_else(whole)
    }

    fn store(
        &self,
        way: &mut Way,
        procedure: usize,
        place: &Place,
        value: Value,
    ) -> Result<(), Unfit> {
        let mut path = Vec::new();
        for projection in &place.path {
            path.push(match projection {
                Projection::Index(index) => {
                    Step::Element(self.value(way, procedure, index)?.term())
                }
                Projection::Field(number) => Step::Field(*number),
            });
        }
        match place.root {
            Root::Local(id) => {
                let old = self.local(way, procedure, id.0 as usize);
                way.locals.insert((procedure, id.0 as usize), changed(&old, &path, value));
            }
            Root::Private(id) => {
                let old = self.private(way, id.0 as usize);
                way.private.insert(id.0 as usize, changed(&old, &path, value));
            }
        }
        Ok(())
    }

    /// Evaluates.
    fn value(&self, way: &mut Way, procedure: usize, of: &Expression) -> Result<Value, Unfit> {
        self.evaluate(way, procedure, of, &[])
    }

    /// Evaluates, with these terms for the variables of what is around it.
    fn evaluate(
        &self,
        way: &mut Way,
        procedure: usize,
        of: &Expression,
        bound: &[(usize, String)],
    ) -> Result<Value, Unfit> {
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
            ExpressionKind::Each { variable, over, body } if by_members(*over) => {
                let hole = hole(bound.len());
                let within = [bound, &[(variable.0 as usize, hole.clone())]].concat();
                let body = self.evaluate(way, procedure, body, &within)?;
                Value::Array(Rc::new(move |index| body.replaced(&hole, index)))
            }
            ExpressionKind::Quantified { all, variable, over, except, body }
                if by_members(*over) && bound.is_empty() =>
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
                    _ => return Err(Unfit("numbers")),
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
            _ => return Err(Unfit("numbers of processes, conversions, or `!`")),
        })
    }

    /// Equality of two values of one type.
    fn equal(&self, way: &mut Way, a: &Value, b: &Value) -> Result<String, Unfit> {
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

/// Whether it holds of all, or any: a new truth value, with a witness.
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

/// What stands for an index that is not chosen yet.
fn hole(depth: usize) -> String {
    format!("@hole{depth}@")
}

fn scalars_equal(a: &Value, b: &Value) -> Result<String, Unfit> {
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
        _ => Err(Unfit("equality of arrays within another")),
    }
}

enum Step {
    Element(String),
    Field(usize),
}

/// The value with a part replaced.
fn changed(old: &Value, path: &[Step], value: Value) -> Value {
    match path.split_first() {
        None => value,
        Some((Step::Element(index), rest)) => {
            let inner = changed(&old.element(index), rest, value);
            old.with_element(index, inner)
        }
        Some((Step::Field(number), rest)) => match old {
            Value::Record(fields) => {
                let mut fields = fields.clone();
                fields[*number] = changed(&fields[*number], rest, value);
                Value::Record(fields)
            }
            other => other.clone(),
        },
    }
}

fn written(variable: &Value, indices: &[String], value: Value) -> Value {
    let path: Vec<Step> = indices.iter().map(|index| Step::Element(index.clone())).collect();
    changed(variable, &path, value)
}

/// The type of a shared variable, its cells as an array.
pub fn shared_type(declared: &snapshot_language::program::SharedVariable) -> Type {
    let wrap = |element: Type, index: &snapshot_language::program::IndexSet| Type::Array {
        index: *index,
        element: Box::new(element),
    };
    declared.dimensions.iter().rev().fold(declared.content.clone(), wrap)
}

/// The name of a local's functions.
pub fn local_name(program: &Program, procedure: usize, number: usize) -> String {
    let of = &program.procedures[procedure];
    format!("{}.{}.{number}", of.name, of.locals[number].name)
}

/// What the observer says to a vector: its state then, if it is right. The bits are those of its
/// state, then what the scan must return, then what it returned.
fn returned(bits: usize) -> Option<ObserverState> {
    let state = ObserverState::from_bits((bits & 63) as u8)?;
    let must = Must::from_bits((bits >> 6 & 3) as u8)?;
    state.respond_scan(must, bits >> 8 & 1 == 1, bits >> 9 & 1 == 1).ok()
}

/// The observer's bits after an event.
fn observed(
    bits: &[String; 6],
    event: &dyn Fn(ObserverState, usize) -> ObserverState,
) -> [String; 6] {
    let after = |bits: usize| {
        let state = ObserverState::from_bits((bits & 63) as u8).unwrap_or_default();
        event(state, bits)
    };
    observer_after(bits, &after)
}

fn observer_after(variables: &[String], after: &dyn Fn(usize) -> ObserverState) -> [String; 6] {
    std::array::from_fn(|bit| table(variables, &|bits| after(bits).bits() >> bit & 1 == 1))
}
