//! Steps of the interpreter as terms: any one access to shared memory, and the computation of the
//! process up to the next.
//!
//! Nothing is left out: each process has all of its variables, arrays have an element for each
//! process, and a loop over all processes visits one after the other in their order. Facts about
//! all processes ("between this one and the next there is none") are recorded as conditions on any
//! process, to be instantiated later.

use std::collections::BTreeMap;
use std::rc::Rc;

use snapshot_language::program::{Access, Expression, Place, Program};
use snapshot_semantics::interpret::code::{Code, For, Instruction};

use super::observed::OBSERVER;
use super::store::written;
use super::term::{Value, not};
use crate::layout::Unsupported;

/// Operations of a process.
pub const DOES: [&str; 4] = ["idle", "updates", "scans", "switches"];
/// Maximum number of instructions of a step: loops without accesses would have no end.
const LONGEST: usize = 400;
/// Maximum number of ways of a step.
const MOST: usize = 4_000;

/// Process that makes a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Actor {
    /// The process of segment i.
    I,
    /// The process of segment j.
    J,
    Another,
}

/// Term of the process that makes the step.
pub const ACTOR: &str = "actor";

type Universal = Rc<dyn Fn(&str) -> String>;

/// A step, as far as it has been followed.
#[derive(Clone)]
pub struct Way {
    /// Location of the process: an access of a procedure, unless it is idle.
    pub place: Option<(usize, usize)>,
    /// Operation of the process: one of [`DOES`].
    pub does: &'static str,
    /// Truth values: the scan has made its first access. The values that the scan must return. The
    /// update to 1 has made its first access. The process has begun such an update.
    pub begun: String,
    /// See `begun`.
    pub must: [String; 2],
    /// See `begun`.
    pub invoked: String,
    /// See `begun`.
    pub switched: String,
    /// Bits of the observer.
    pub observer: [String; 6],
    /// Whole values of the shared variables that were written.
    pub shared: BTreeMap<usize, Value>,
    /// Private variables that were stored to.
    pub private: BTreeMap<usize, Value>,
    /// Locals, by procedure.
    pub locals: BTreeMap<(usize, usize), Value>,
    /// Conditions under which this way is taken.
    pub conditions: Vec<String>,
    /// Facts that hold for each process.
    pub universals: Vec<Universal>,
    /// Processes and truth values that are introduced by a condition.
    pub processes: Vec<String>,
    /// See `processes`.
    pub truths: Vec<String>,
    pub fresh: Vec<String>,
    /// Condition under which the observer accepts the result, or an update never takes effect.
    pub alarm: String,
    atomic: usize,
    length: usize,
}

pub struct Executor<'p> {
    pub program: &'p Program,
    pub code: &'p [Code<'p>],
    pub actor: Actor,
}

impl<'p> Executor<'p> {
    /// Returns a process before a step: idle, or before an access.
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

    /// Evaluates a constant expression.
    ///
    /// # Errors
    /// If it is not modelled.
    pub fn constant(&self, of: &Expression) -> Result<Value, Unsupported> {
        self.value(&mut self.begin(None, DOES[0]), 0, of)
    }

    /// Returns all ways to begin an operation.
    ///
    /// # Errors
    /// If a construct is not modelled.
    pub fn invocations(&self) -> Result<Vec<Way>, Unsupported> {
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

    /// Returns all ways to continue from an access.
    ///
    /// # Errors
    /// If a construct is not modelled.
    pub fn steps(
        &self,
        place: (usize, usize),
        does: &'static str,
    ) -> Result<Vec<Way>, Unsupported> {
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
    fn run(&self, way: Way, done: &mut Vec<Way>) -> Result<(), Unsupported> {
        let mut waiting = vec![way];
        while let Some(mut way) = waiting.pop() {
            way.length += 1;
            if way.length > LONGEST || done.len() + waiting.len() > MOST {
                return Err(Unsupported("loops without accesses, or with many ways through"));
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
                Instruction::Point { .. } => waiting.push(next(way, here + 1)),
                Instruction::Jump { target } => waiting.push(next(way, target)),
                Instruction::BeginFor(this) => {
                    self.round(&way, procedure, this, None, &mut waiting)?
                }
                Instruction::NextFor(this) => {
                    let now = self.local(&way, procedure, this.variable.0 as usize).term();
                    self.round(&way, procedure, this, Some(now), &mut waiting)?;
                }
                Instruction::Call { .. } => return Err(Unsupported("calls")),
                Instruction::New { .. } | Instruction::Free { .. } => {
                    return Err(Unsupported("nodes"));
                }
                Instruction::Choose { .. } => return Err(Unsupported("choices")),
                Instruction::Together { .. } => return Err(Unsupported("blocks")),
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

    /// Returns the next index of a loop over all processes, or its end.
    fn round(
        &self,
        way: &Way,
        procedure: usize,
        this: For<'p>,
        now: Option<String>,
        waiting: &mut Vec<Way>,
    ) -> Result<(), Unsupported> {
        if !this.over.is_of_names() || this.except.is_some() {
            return Err(Unsupported("loops over numbers, or that leave out a process"));
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

    /// Follows an access in all its ways.
    fn access(
        &self,
        mut way: Way,
        access: &Access,
        into: Option<&Place>,
    ) -> Result<Vec<Way>, Unsupported> {
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
            _ => Err(Unsupported("LL/SC cells")),
        }
    }
}
