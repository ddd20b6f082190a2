//! Textual form of the parts of states, as used in certificates.
//!
//! A part is a line of words separated by single spaces. Scalars follow the order of the
//! declarations; arrays and records are flattened, since the types determine their extent. The word
//! `-` stands for none, `t` and `f` for truth values; all other words are numbers. After the
//! content of an LL/SC cell comes a word with a digit per process, 1 for an unbroken link. After
//! the private variables of a process comes its location: `idle`; or, before the response, `ended`
//! or `returns 0 1 0`; or, from the outermost call to the innermost, `at PROCEDURE INSTRUCTION`
//! with the locals of the call and the index that each of its `for` statements skips.
//!
//! **The text is untrusted.** It is accepted only if the interpreter can continue from it: all data
//! have their types, the innermost call is at an instruction where a process can stop, and each
//! outer call at the call that it waits for. The state may be unreachable.

use std::str::Split;
use std::sync::Arc;

use thiserror::Error;

use super::code::Instruction;
use super::data::{Data, range};
use super::machine::Machine;
use super::parts::{ProcessPart, SharedPart};
use super::state::{Activity, Cell, Frame, Local};
use crate::program::{CellKind, ProcedureId, Type};

/// Exclusive bound on versions, counters and values in a text, so that counting on from them does
/// not overflow.
const LARGEST: u32 = 1 << 30;

/// Reason why a text is not a part of a state.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum WrittenError {
    /// A word is missing or invalid.
    #[error("word {word}: expected {expected}")]
    Expected {
        /// Number of the word, from 1.
        word: usize,
        expected: &'static str,
    },
    /// The line has further words after its end.
    #[error("word {word} and what follows are too many")]
    TooLong {
        /// Number of the word, from 1.
        word: usize,
    },
}

/// Writer and reader of the parts of a machine's states.
#[derive(Clone, Debug)]
pub struct Writing<'m, 'p> {
    machine: &'m Machine<'p>,
    /// Per procedure and instruction, true if a process can stop there: reachable, and outside of
    /// `atomic` blocks.
    outside: Vec<Vec<bool>>,
}

impl<'m, 'p> Writing<'m, 'p> {
    pub fn new(machine: &'m Machine<'p>) -> Self {
        let outside = machine.code.iter().map(|code| outside(&code.instructions)).collect();
        Self { machine, outside }
    }

    /// Writes the shared part as a line.
    pub fn shared(&self, part: &SharedPart) -> String {
        let mut words = Vec::new();
        let mut cells = part.0.iter();
        for (index, variable) in self.machine.program.shared.iter().enumerate() {
            for cell in cells.by_ref().take(self.machine.cell_count(index)) {
                write(&cell.content, &variable.content, &mut words);
                if variable.cell == CellKind::Linked {
                    words.push(
                        cell.links.iter().map(|link| if *link { '1' } else { '0' }).collect(),
                    );
                }
            }
        }
        words.join(" ")
    }

    /// Writes the part of a process as a line.
    pub fn process(&self, part: &ProcessPart) -> String {
        let program = self.machine.program;
        let mut words = Vec::new();
        for (data, variable) in part.0.private.iter().zip(&program.private) {
            write(data, &variable.content, &mut words);
        }
        match &part.0.activity {
            Activity::Idle => words.push("idle".to_owned()),
            Activity::Responding(None) => words.push("ended".to_owned()),
            Activity::Responding(Some(values)) => {
                words.push("returns".to_owned());
                words.extend(values.iter().map(u32::to_string));
            }
            Activity::Returning(..) => unreachable!("parts are written of snapshots only"),
            Activity::Running(frames) => {
                for frame in frames {
                    words.push("at".to_owned());
                    words.extend([frame.procedure.0.to_string(), frame.at.to_string()]);
                    let declared = program.procedure(frame.procedure);
                    for (data, local) in frame.locals.iter().zip(&declared.locals) {
                        write(data, &local.content, &mut words);
                    }
                    let except = |except: &Option<i64>| {
                        except.map_or_else(|| "-".to_owned(), |index| index.to_string())
                    };
                    words.extend(frame.excepts.iter().map(except));
                }
            }
        }
        words.join(" ")
    }

    /// Reads a shared part from a line.
    ///
    /// # Errors
    /// If the line is not a shared part of this program with this many processes.
    pub fn read_shared(&self, line: &str) -> Result<SharedPart, WrittenError> {
        let n = self.machine.n;
        let mut words = Words::new(line);
        let mut cells = Vec::new();
        for (index, variable) in self.machine.program.shared.iter().enumerate() {
            for _ in 0..self.machine.cell_count(index) {
                let content = words.data(&variable.content, n, false)?;
                let links = match variable.cell {
                    CellKind::Linked => words.links(n)?,
                    CellKind::Register | CellKind::Swappable => Vec::new(),
                };
                cells.push(Cell { content, links });
            }
        }
        words.end()?;
        Ok(SharedPart(Arc::new(cells)))
    }

    /// Reads a process's part from a line.
    ///
    /// # Errors
    /// If the line is not a process's part of this program.
    pub fn read_process(&self, line: &str) -> Result<ProcessPart, WrittenError> {
        let n = self.machine.n;
        let mut words = Words::new(line);
        let variables = self.machine.program.private.iter();
        let private = variables.map(|variable| words.data(&variable.content, n, false));
        let private = private.collect::<Result<_, _>>()?;
        let activity = match words.next() {
            Some("idle") => Activity::Idle,
            Some("ended") => Activity::Responding(None),
            Some("returns") => {
                let values = (0..n).map(|_| words.number("a value", 0, i64::from(LARGEST)));
                let values = values.map(|value| value.map(|value| value as u32));
                Activity::Responding(Some(values.collect::<Result<_, _>>()?))
            }
            Some("at") => Activity::Running(self.read_frames(&mut words)?),
            _ => return Err(words.expected("`idle`, `ended`, `returns` or `at`")),
        };
        words.end()?;
        Ok(ProcessPart(Arc::new(Local { private, activity })))
    }

    fn read_frames(&self, words: &mut Words<'_>) -> Result<Vec<Frame>, WrittenError> {
        let (program, n) = (self.machine.program, self.machine.n);
        let mut frames: Vec<Frame> = Vec::new();
        let last = program.procedures.len() as i64 - 1;
        loop {
            let procedure = ProcedureId(words.number("a procedure", 0, last)? as u32);
            let is_called = match frames.last() {
                None => program.is_operation(procedure),
                Some(frame) => matches!(
                    self.instruction(frame),
                    Instruction::Call { procedure: called, .. } if called == procedure
                ),
            };
            if !is_called {
                return Err(words.expected("the procedure that is called there"));
            }
            let (code, outside) = {
                let index = procedure.0 as usize;
                (&self.machine.code[index], &self.outside[index])
            };
            let most = code.instructions.len() as i64 - 1;
            let at = words.number("an instruction of the procedure", 0, most)? as usize;
            if !outside[at] {
                return Err(words.expected("an instruction where a process can rest"));
            }
            let locals = &program.procedure(procedure).locals;
            let locals = locals.iter().map(|local| words.data(&local.content, n, true));
            let locals = locals.collect::<Result<_, _>>()?;
            let excepts = (0..code.fors).map(|_| words.except()).collect::<Result<_, _>>()?;
            frames.push(Frame { procedure, at, locals, excepts });
            let instruction = code.instructions[at];
            if instruction.is_access() {
                return Ok(frames);
            }
            if !matches!(instruction, Instruction::Call { .. }) {
                return Err(words.expected("before, an access or a call"));
            }
            if words.next() != Some("at") {
                return Err(words.expected("`at`, for the call that it waits for"));
            }
        }
    }

    fn instruction(&self, frame: &Frame) -> Instruction<'p> {
        self.machine.code[frame.procedure.0 as usize].instructions[frame.at]
    }
}

impl Machine<'_> {
    /// Returns the number of cells of a shared variable.
    pub(super) fn cell_count(&self, variable: usize) -> usize {
        super::machine::cells_of(&self.program.shared[variable], self.n)
    }
}

fn write(data: &Data, content: &Type, words: &mut Vec<String>) {
    match (data, content) {
        (Data::None, _) => words.push("-".to_owned()),
        (data, Type::Optional(content)) => write(data, content, words),
        (Data::Bool(data), _) => words.push(if *data { "t" } else { "f" }.to_owned()),
        (Data::Number(data), _) => words.push(data.to_string()),
        (Data::Value(data) | Data::Version(data), _) => words.push(data.to_string()),
        (Data::Counter(data), _) => words.push(data.to_string()),
        (Data::Parts(parts), Type::Array { element, .. }) => {
            parts.iter().for_each(|part| write(part, element, words));
        }
        (Data::Parts(parts), Type::Record(fields)) => {
            let pairs = parts.iter().zip(fields);
            pairs.for_each(|(part, field)| write(part, &field.content, words));
        }
        (Data::Parts(_) | Data::Node { .. }, _) => {
            unreachable!("certificates are of snapshots: they have neither lists nor nodes")
        }
    }
}

struct Words<'a> {
    words: Split<'a, char>,
    /// Number of words read.
    read: usize,
}

impl<'a> Words<'a> {
    fn new(line: &'a str) -> Self {
        let mut words = line.split(' ');
        if line.is_empty() {
            // An empty line has no words; `split` yields one empty word.
            words.next();
        }
        Self { words, read: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.read += 1;
        self.words.next()
    }

    /// Returns the error that the last word read is not as expected.
    const fn expected(&self, expected: &'static str) -> WrittenError {
        WrittenError::Expected { word: self.read, expected }
    }

    fn end(&mut self) -> Result<(), WrittenError> {
        match self.next() {
            None => Ok(()),
            Some(_) => Err(WrittenError::TooLong { word: self.read }),
        }
    }

    fn number(&mut self, what: &'static str, low: i64, high: i64) -> Result<i64, WrittenError> {
        let number = self.next().and_then(number);
        number.filter(|number| (low..=high).contains(number)).ok_or(self.expected(what))
    }

    fn except(&mut self) -> Result<Option<i64>, WrittenError> {
        match self.next() {
            Some("-") => Ok(None),
            Some(word) => number(word)
                .filter(|index| index.unsigned_abs() < u64::from(LARGEST))
                .map(Some)
                .ok_or(self.expected("an index, or `-`")),
            None => Err(self.expected("an index, or `-`")),
        }
    }

    fn links(&mut self, n: usize) -> Result<Vec<bool>, WrittenError> {
        let word = self.next().unwrap_or_default();
        let is_one = word.len() == n && word.bytes().all(|byte| matches!(byte, b'0' | b'1'));
        match is_one {
            true => Ok(word.bytes().map(|byte| byte == b'1').collect()),
            false => Err(self.expected("a digit 0 or 1 per process")),
        }
    }

    /// Reads data of a type. `local`: the data is a local. Then the index of a `for` that has
    /// ended, or has an empty range, is 0 even if its type excludes 0.
    fn data(&mut self, content: &Type, n: usize, local: bool) -> Result<Data, WrittenError> {
        let most = i64::from(LARGEST);
        Ok(match content {
            Type::Optional(content) => {
                let mut ahead = self.words.clone();
                if ahead.next() == Some("-") {
                    self.next();
                    return Ok(Data::None);
                }
                self.data(content, n, local)?
            }
            Type::Bool => match self.next() {
                Some("t") => Data::Bool(true),
                Some("f") => Data::Bool(false),
                _ => return Err(self.expected("a truth value, `t` or `f`")),
            },
            Type::Process | Type::Segment | Type::Integer { .. } => {
                let (low, high) = range(content, n).unwrap_or((0, 0));
                let number = self.number("a number", i64::MIN, i64::MAX)?;
                let is_reset = local && number == 0;
                if !is_reset && !(low..=high).contains(&number) {
                    return Err(self.expected("a number within the range of its type"));
                }
                Data::Number(number)
            }
            Type::Value => Data::Value(self.number("a value", 0, most)? as u32),
            Type::Version => Data::Version(self.number("a version", 0, most)? as u32),
            Type::Counter => Data::Counter(self.number("a counter", 0, most)? as u64),
            Type::Array { index, element } => {
                let (low, high) = index.bounds(n);
                let parts = (low..=high).map(|_| self.data(element, n, local));
                Data::Parts(parts.collect::<Result<_, _>>()?)
            }
            Type::List(_) | Type::Node { .. } => unreachable!("certificates are of snapshots"),
            Type::Record(fields) => {
                let parts = fields.iter().map(|field| self.data(&field.content, n, local));
                Data::Parts(parts.collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Parses a number in its canonical form only: neither `+1` nor `01`.
fn number(word: &str) -> Option<i64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_plain = digits == "0" && word == "0" || !digits.starts_with('0');
    word.parse().ok().filter(|_| is_plain && !digits.starts_with('+'))
}

/// Returns, per instruction, true if it is reachable and outside of `atomic` blocks.
fn outside(instructions: &[Instruction<'_>]) -> Vec<bool> {
    let mut depths: Vec<Option<usize>> = vec![None; instructions.len()];
    let mut waiting = vec![(0, 0_usize)];
    while let Some((at, depth)) = waiting.pop() {
        if at >= instructions.len() || depths[at].is_some() {
            continue;
        }
        depths[at] = Some(depth);
        match &instructions[at] {
            Instruction::Return { .. } => {}
            Instruction::Jump { target } => waiting.push((*target, depth)),
            Instruction::Unless { target, .. } => {
                waiting.extend([(at + 1, depth), (*target, depth)])
            }
            Instruction::BeginFor(this) | Instruction::NextFor(this) => {
                waiting.extend([(this.body, depth), (this.end, depth)]);
            }
            Instruction::BeginAtomic { .. } => waiting.push((at + 1, depth + 1)),
            Instruction::EndAtomic => waiting.push((at + 1, depth.saturating_sub(1))),
            Instruction::Assign { .. }
            | Instruction::Access { .. }
            | Instruction::Call { .. }
            | Instruction::New { .. }
            | Instruction::Choose { .. }
            | Instruction::Together { .. }
            | Instruction::Point { .. }
            | Instruction::Free { .. } => {
                waiting.push((at + 1, depth));
            }
        }
    }
    depths.into_iter().map(|depth| depth == Some(0)).collect()
}
