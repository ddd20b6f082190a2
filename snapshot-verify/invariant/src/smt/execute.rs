//! Steps of the interpreter as terms: one access to shared memory, whichever, and what the process
//! computes up to the next.
//!
//! Nothing is left out: each process has all of its variables, arrays have an element for each
//! process, and a loop over all processes visits one after the other in their order. What is
//! known of all processes ("between this one and the next there is none") is noted as a condition
//! on any, for whoever instantiates it.

use std::collections::BTreeMap;
use std::rc::Rc;

use snapshot_language::program::{Access, Expression, Place, Program};
use snapshot_semantics::interpret::code::{Code, For, Instruction};

use super::observed::OBSERVER;
use super::store::written;
use super::term::{Value, not};
use crate::layout::Unfit;

/// What a process does.
pub const DOES: [&str; 4] = ["idle", "updates", "scans", "switches"];
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
                Instruction::Point { .. } => waiting.push(next(way, here + 1)),
                Instruction::Jump { target } => waiting.push(next(way, target)),
                Instruction::BeginFor(this) => {
                    self.round(&way, procedure, this, None, &mut waiting)?
                }
                Instruction::NextFor(this) => {
                    let now = self.local(&way, procedure, this.variable.0 as usize).term();
                    self.round(&way, procedure, this, Some(now), &mut waiting)?;
                }
                Instruction::Call { .. } => return Err(Unfit("calls")),
                Instruction::New { .. } | Instruction::Free { .. } => return Err(Unfit("nodes")),
                Instruction::Choose { .. } => return Err(Unfit("choices")),
                Instruction::Together { .. } => return Err(Unfit("blocks")),
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
        if !this.over.is_of_names() || this.except.is_some() {
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
}
