//! The file: the state, the invariant, and a question for each way of each step.

use std::fmt::Write as _;
use std::io;

use rustc_hash::FxHashSet;
use snapshot_semantics::interpret::code::Instruction;

use super::execute::{ACTOR, Actor, DOES, Executor, Way};
use super::observed::OBSERVER;
use super::rows::{Meaning, Predicate, T_SORT, place};
use super::store::{local_name, shared_type};
use super::term::{
    Definition, Function, PROCESS, VERSION, Value, and, apply, define, functions, not, or,
    parameter,
};
use crate::byte::T;
use crate::layout::{Layout, Unsupported};
use crate::search::ViewSets;
use crate::step::Kind;

/// Process whose invariant is the question after a step.
const ASKED: &str = "asked";

/// Content of the file.
pub struct Goals<'a, 'p> {
    layout: &'a Layout<'p>,
    functions: Vec<Function>,
    kinds: Vec<(Kind, Predicate)>,
    questions: Vec<Question>,
    initial: Question,
}

struct Question {
    title: String,
    actor: Actor,
    way: Way,
    /// Location of the process before the step, and its operation.
    from: Option<((usize, usize), &'static str)>,
    /// Processes that the step refers to, such as the index of an enclosing loop.
    named: Vec<String>,
    definitions: Vec<Definition>,
}

impl<'a, 'p> Goals<'a, 'p> {
    /// Returns the conditions under which a set of views is a proof.
    ///
    /// # Errors
    /// If the program has constructs that are not modelled.
    pub fn new(layout: &'a Layout<'p>, family: &ViewSets) -> Result<Self, Unsupported> {
        let meaning = Meaning::new(layout)?;
        let kinds = family.kinds.iter().zip(&family.views).map(|(kind, views)| {
            let rows = views.iter().map(|view| &**view);
            (kind.clone(), meaning.predicate(kind, rows))
        });
        let kinds = kinds.collect();
        let mut goals = Self {
            layout,
            functions: Vec::new(),
            kinds,
            questions: Vec::new(),
            initial: Question {
                title: "the initial state".to_owned(),
                actor: Actor::Another,
                way: Executor {
                    program: layout.program,
                    code: &layout.code,
                    actor: Actor::Another,
                }
                .begin(None, DOES[0]),
                from: None,
                named: Vec::new(),
                definitions: Vec::new(),
            },
        };
        goals.declare()?;
        goals.initial.definitions = goals.initially()?;
        for actor in [Actor::I, Actor::J, Actor::Another] {
            goals.steps(actor)?;
        }
        Ok(goals)
    }

    fn declare(&mut self) -> Result<(), Unsupported> {
        let program = self.layout.program;
        for declared in &program.shared {
            let name = format!("shared.{}", declared.name);
            self.functions.extend(functions(&name, &shared_type(declared), 0)?);
        }
        for declared in &program.private {
            let name = format!("private.{}", declared.name);
            self.functions.extend(functions(&name, &declared.content, 1)?);
        }
        for (number, procedure) in program.procedures.iter().enumerate() {
            for (local, declared) in procedure.locals.iter().enumerate() {
                let name = local_name(program, number, local);
                self.functions.extend(functions(&name, &declared.content, 1)?);
            }
        }
        let mut of_process = |name: &str, sort| {
            self.functions.push(Function { name: name.to_owned(), arity: 1, sort });
        };
        of_process("at", "Place");
        of_process("does", "Does");
        for name in ["begun", "must.i", "must.j", "invoked", "switched"] {
            of_process(name, "Bool");
        }
        for name in OBSERVER {
            self.functions.push(Function { name: name.to_owned(), arity: 0, sort: "Bool" });
        }
        Ok(())
    }

    /// Returns the definitions of the functions in the initial state; locals are unconstrained.
    fn initially(&self) -> Result<Vec<Definition>, Unsupported> {
        let program = self.layout.program;
        let executor = Executor { program, code: &self.layout.code, actor: Actor::Another };
        let mut all = Vec::new();
        for declared in &program.shared {
            let mut value = executor.constant(&declared.initial)?;
            for _ in &declared.dimensions {
                value = Value::Array(std::rc::Rc::new(move |_| value.clone()));
            }
            let name = format!("shared.{}", declared.name);
            all.extend(define(&name, &shared_type(declared), &value, None));
        }
        for declared in &program.private {
            let value = executor.constant(&declared.initial)?;
            let name = format!("private.{}", declared.name);
            // Each process is the owner of its own.
            let own = define(&name, &declared.content, &value, Some(&parameter(0)));
            let of_each =
                |(function, term): Definition| (function, term.replace(ACTOR, &parameter(0)));
            all.extend(own.into_iter().map(of_each));
        }
        let constant = |name: &str, arity, sort, term: &str| {
            (Function { name: name.to_owned(), arity, sort }, term.to_owned())
        };
        all.push(constant("does", 1, "Does", DOES[0]));
        for name in ["begun", "invoked", "switched"] {
            all.push(constant(name, 1, "Bool", "false"));
        }
        all.extend(OBSERVER.map(|name| constant(name, 0, "Bool", "false")));
        Ok(all)
    }

    fn steps(&mut self, actor: Actor) -> Result<(), Unsupported> {
        let executor = Executor { program: self.layout.program, code: &self.layout.code, actor };
        let subject = match actor {
            Actor::I => "process i",
            Actor::J => "process j",
            Actor::Another => "another process",
        };
        for way in executor.invocations()? {
            self.question(actor, format!("{subject} begins"), None, way, Vec::new());
        }
        let program = self.layout.program;
        let operations = [
            (program.update().0 as usize, DOES[1]),
            (program.update().0 as usize, DOES[3]),
            (program.scan().0 as usize, DOES[2]),
        ];
        for (procedure, does) in operations {
            if does == DOES[3] && actor == Actor::Another {
                continue;
            }
            for (here, instruction) in self.layout.code[procedure].instructions.iter().enumerate() {
                if !instruction.is_access() || self.is_within_atomic(procedure, here) {
                    continue;
                }
                let named = self.indices(procedure, here);
                for way in executor.steps((procedure, here), does)? {
                    let title =
                        format!("{subject} {does}, {}", place(self.layout, procedure, here));
                    let from = Some(((procedure, here), does));
                    self.question(actor, title, from, way, named.clone());
                }
            }
        }
        Ok(())
    }

    /// Returns true if an instruction is within an atomic block.
    fn is_within_atomic(&self, procedure: usize, here: usize) -> bool {
        let mut depth = 0usize;
        for instruction in &self.layout.code[procedure].instructions[..here] {
            match instruction {
                Instruction::BeginAtomic { .. } => depth += 1,
                Instruction::EndAtomic => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        depth > 0
    }

    /// Returns the indices of the loops around an instruction, as terms.
    fn indices(&self, procedure: usize, here: usize) -> Vec<String> {
        let around = |instruction: &Instruction<'_>| match instruction {
            Instruction::BeginFor(this) if (this.body..this.end).contains(&here) => {
                let name = local_name(self.layout.program, procedure, this.variable.0 as usize);
                Some(apply(&name, &[ACTOR.to_owned()]))
            }
            _ => None,
        };
        self.layout.code[procedure].instructions.iter().filter_map(around).collect()
    }

    fn question(
        &mut self,
        actor: Actor,
        title: String,
        from: Option<((usize, usize), &'static str)>,
        way: Way,
        named: Vec<String>,
    ) {
        let definitions = self.behind(&way);
        let end = match way.place {
            None => "the end".to_owned(),
            Some((procedure, here)) => place(self.layout, procedure, here),
        };
        let title = format!("{title} to {end}");
        self.questions.push(Question { title, actor, way, from, named, definitions });
    }

    /// Returns the definitions of the functions after a step.
    fn behind(&self, way: &Way) -> Vec<Definition> {
        let program = self.layout.program;
        let mut all = Vec::new();
        for (number, value) in &way.shared {
            let declared = &program.shared[*number];
            let name = format!("shared.{}", declared.name);
            all.extend(define(&name, &shared_type(declared), value, None));
        }
        for (number, value) in &way.private {
            let declared = &program.private[*number];
            let name = format!("private.{}", declared.name);
            all.extend(define(&name, &declared.content, value, Some(ACTOR)));
        }
        for ((procedure, number), value) in &way.locals {
            let declared = &program.procedures[*procedure].locals[*number];
            let name = local_name(program, *procedure, *number);
            all.extend(define(&name, &declared.content, value, Some(ACTOR)));
        }
        let scalar = |name: &str, sort, term: String| -> Definition {
            let x = parameter(0);
            let term = format!("(ite (= {x} {ACTOR}) {term} ({name} {x}))");
            (Function { name: name.to_owned(), arity: 1, sort }, term)
        };
        if let Some((procedure, here)) = way.place {
            all.push(scalar("at", "Place", place(self.layout, procedure, here)));
        }
        all.push(scalar("does", "Does", way.does.to_owned()));
        let [must_i, must_j] = way.must.clone();
        all.push(scalar("begun", "Bool", way.begun.clone()));
        all.push(scalar("must.i", "Bool", must_i));
        all.push(scalar("must.j", "Bool", must_j));
        all.push(scalar("invoked", "Bool", way.invoked.clone()));
        all.push(scalar("switched", "Bool", way.switched.clone()));
        for (name, term) in OBSERVER.iter().zip(&way.observer) {
            let function = Function { name: (*name).to_owned(), arity: 0, sort: "Bool" };
            all.push((function, term.clone()));
        }
        all
    }

    /// Writes the whole file, and returns the number of questions.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, output: &mut dyn io::Write) -> io::Result<usize> {
        let program = self.layout.program;
        writeln!(
            output,
            "; {}: a proof for every n, as conditions. Each answer must be unsat.",
            program.name
        )?;
        let sizes: Vec<String> = self.kinds.iter().map(|(_, one)| one.nodes.to_string()).collect();
        writeln!(output, "; The invariant: diagrams of {} nodes.", sizes.join(" + "))?;
        writeln!(output, "(set-option :print-success false)")?;
        writeln!(output, "(set-logic QF_UFDT)")?;
        let mut places = Vec::new();
        for (procedure, code) in self.layout.code.iter().enumerate() {
            for (here, instruction) in code.instructions.iter().enumerate() {
                if instruction.is_access() {
                    places.push(format!("({})", place(self.layout, procedure, here)));
                }
            }
        }
        let does = DOES.map(|one| format!("({one})")).join(" ");
        writeln!(output, "(declare-sort {PROCESS} 0)\n(declare-sort {VERSION} 0)")?;
        writeln!(output, "(declare-datatypes ((Place 0)) (({})))", places.join(" "))?;
        writeln!(output, "(declare-datatypes ((Does 0)) (({does})))")?;
        for name in ["process.i", "process.j", ACTOR, ASKED] {
            writeln!(output, "(declare-fun {name} () {PROCESS})")?;
        }
        writeln!(output, "(declare-fun version.first () {VERSION})")?;
        writeln!(output, "(declare-fun before ({PROCESS} {PROCESS}) Bool)")?;
        for function in &self.functions {
            let sorts = vec![PROCESS; function.arity].join(" ");
            writeln!(output, "(declare-fun {} ({sorts}) {})", function.name, function.sort)?;
        }
        for (number, (_, predicate)) in self.kinds.iter().enumerate() {
            let mut arguments = format!("(t {T_SORT})");
            for argument in &predicate.arguments {
                let _ = write!(arguments, " ({} {})", argument.name, argument.sort());
            }
            writeln!(output, "(define-fun views.{number} ({arguments}) Bool {})", predicate.term)?;
        }
        self.ask(output, &self.initial, true)?;
        for question in &self.questions {
            self.ask(output, question, false)?;
        }
        Ok(self.questions.len() + 1)
    }

    /// Returns the invariant: for i and j, or for a third process.
    fn invariant(&self, name: &dyn Fn(&str) -> String, third: Option<&str>) -> String {
        let mut parts = Vec::new();
        for (number, (kind, predicate)) in self.kinds.iter().enumerate() {
            let is_third = kind.members.contains(&T);
            if is_third != third.is_some() {
                continue;
            }
            let t = third.unwrap_or("process.i");
            let mut arguments = vec![t.to_owned()];
            arguments.extend(predicate.arguments.iter().map(|argument| argument.term(name, t)));
            let views = apply(&format!("views.{number}"), &arguments);
            let pairs = kind.members.windows(2);
            let term = |member: u8| if member == T { t } else { super::rows::member(member) };
            let order: Vec<String> = pairs
                .filter(|pair| pair.contains(&T))
                .map(|pair| not(&format!("(before {} {})", term(pair[0]), term(pair[1]))))
                .collect();
            parts.push(or(&[order.as_slice(), &[views]].concat()));
        }
        and(&parts)
    }

    fn ask(&self, output: &mut dyn io::Write, of: &Question, initially: bool) -> io::Result<()> {
        let same = |name: &str| name.to_owned();
        let changed: FxHashSet<&str> =
            of.definitions.iter().map(|(function, _)| function.name.as_str()).collect();
        let behind = |name: &str| match changed.contains(name) {
            true => format!("{name}.next"),
            false => name.to_owned(),
        };
        writeln!(output, "(push 1)\n(echo \"{}\")", of.title)?;
        let way = &of.way;
        for name in &way.processes {
            writeln!(output, "(declare-fun {name} () {PROCESS})")?;
        }
        for name in &way.truths {
            writeln!(output, "(declare-fun {name} () Bool)")?;
        }
        for name in &way.fresh {
            writeln!(output, "(declare-fun {name} () {VERSION})")?;
        }
        let mut processes: Vec<String> =
            ["process.i", "process.j", ACTOR, ASKED].map(str::to_owned).to_vec();
        let named = processes.clone();
        processes.extend(of.named.iter().chain(&way.processes).cloned());
        let mut assume = |term: &str| match term {
            "true" => Ok(()),
            term => writeln!(output, "(assert {term})"),
        };
        assume("(before process.i process.j)")?;
        for x in &processes {
            assume(&format!("(not (before {x} {x}))"))?;
            for y in processes.iter().filter(|y| *y != x) {
                assume(&format!("(or (= {x} {y}) (before {x} {y}) (before {y} {x}))"))?;
                for z in processes.iter().filter(|z| *z != x && *z != y) {
                    assume(&format!(
                        "(=> (and (before {x} {y}) (before {y} {z})) (before {x} {z}))"
                    ))?;
                }
            }
        }
        let third =
            |one: &str| format!("(and (not (= {one} process.i)) (not (= {one} process.j)))");
        assume(&third(ASKED))?;
        assume(&match of.actor {
            Actor::I => format!("(= {ACTOR} process.i)"),
            Actor::J => format!("(= {ACTOR} process.j)"),
            Actor::Another => third(ACTOR),
        })?;
        if !initially {
            assume(&self.invariant(&same, None))?;
            assume(&self.invariant(&same, Some(ASKED)))?;
            if of.actor == Actor::Another {
                assume(&self.invariant(&same, Some(ACTOR)))?;
            }
            match of.from {
                None => assume(&format!("(= (does {ACTOR}) {})", DOES[0]))?,
                Some(((procedure, here), does)) => {
                    assume(&format!("(= (does {ACTOR}) {does})"))?;
                    let here = place(self.layout, procedure, here);
                    assume(&format!("(= (at {ACTOR}) {here})"))?;
                }
            }
        }
        for condition in &way.conditions {
            assume(condition)?;
        }
        for universal in &way.universals {
            for process in &processes {
                assume(&universal(process))?;
            }
        }
        self.fresh(&mut assume, way, &named, &processes)?;
        for (function, term) in &of.definitions {
            let parameters = (0..function.arity).map(|at| format!("({} {PROCESS})", parameter(at)));
            let parameters = parameters.collect::<Vec<_>>().join(" ");
            let (name, sort) = (&function.name, function.sort);
            writeln!(output, "(define-fun {name}.next ({parameters}) {sort} {term})")?;
        }
        let goal = or(&[
            way.alarm.clone(),
            not(&self.invariant(&behind, None)),
            not(&self.invariant(&behind, Some(ASKED))),
        ]);
        writeln!(output, "(assert {goal})\n(check-sat)\n(pop 1)")
    }

    /// A new version differs from all existing versions.
    fn fresh(
        &self,
        assume: &mut dyn FnMut(&str) -> io::Result<()>,
        way: &Way,
        owners: &[String],
        indices: &[String],
    ) -> io::Result<()> {
        for (number, fresh) in way.fresh.iter().enumerate() {
            for other in std::iter::once("version.first")
                .chain(way.fresh[..number].iter().map(String::as_str))
            {
                assume(&format!("(not (= {fresh} {other}))"))?;
            }
            for function in self.functions.iter().filter(|function| function.sort == VERSION) {
                let is_shared = function.name.starts_with("shared.");
                let mut all: Vec<Vec<String>> = vec![Vec::new()];
                for at in 0..function.arity {
                    let terms = if at == 0 && !is_shared { owners } else { indices };
                    let with = |list: &Vec<String>, one: &String| {
                        [list.as_slice(), std::slice::from_ref(one)].concat()
                    };
                    all = all
                        .iter()
                        .flat_map(|list| {
                            terms.iter().map(|one| with(list, one)).collect::<Vec<_>>()
                        })
                        .collect();
                }
                for arguments in all {
                    let old = apply(&function.name, &arguments);
                    assume(&format!("(not (= {fresh} {old}))"))?;
                }
            }
        }
        Ok(())
    }
}
