//! Views as conditions on the scalars of a state.

use rustc_hash::FxHashMap;
use snapshot_language::program::Type;
use snapshot_semantics::interpret::code::Instruction;

use super::diagram::Diagram;
use super::execute::DOES;
use super::observed::OBSERVER;
use super::store::{local_name, shared_type};
use super::term::{Function, PROCESS, and, apply, functions, not, or};
use crate::byte::{ANY, BASE, I, J, NONE, OTHER, T};
use crate::layout::{Layout, SPECIFICATION, Scalar, Unsupported, at, cells, leaves, op};
use crate::step::{GAP, Kind, MEMBER};

/// A scalar of a state: a function, applied to members.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Name within the predicate.
    pub name: String,
    pub function: Function,
    /// Members that the function is applied to.
    pub members: Vec<u8>,
}

/// Views of a kind as a predicate on scalars.
pub struct Predicate {
    /// Arguments, besides t.
    pub arguments: Vec<Argument>,
    pub term: String,
    /// Number of nodes of its diagram.
    pub nodes: usize,
}

/// Returns the term of a member; t is an argument.
pub fn member(member: u8) -> &'static str {
    match member {
        I => "process.i",
        J => "process.j",
        _ => "t",
    }
}

/// Meaning of the bytes of views.
pub struct Meaning<'a, 'p> {
    layout: &'a Layout<'p>,
    /// Per byte of the program's variables: the function, and its arguments.
    slots: FxHashMap<usize, (Function, Vec<u8>)>,
    /// Per byte of the position of a loop, the byte of its index.
    indices: FxHashMap<usize, usize>,
}

impl<'a, 'p> Meaning<'a, 'p> {
    pub fn new(layout: &'a Layout<'p>) -> Result<Self, Unsupported> {
        let program = layout.program;
        let mut meaning =
            Self { layout, slots: FxHashMap::default(), indices: FxHashMap::default() };
        for (declared, room) in program.shared.iter().zip(&layout.shared) {
            let name = format!("shared.{}", declared.name);
            let all = functions(&name, &shared_type(declared), 0)?;
            let mut byte = room.base;
            for (place, _) in cells(&declared.dimensions) {
                for (_, path, rest) in leaves(&declared.content, false) {
                    let members = [place.as_slice(), &path].concat();
                    meaning.note(byte, &all, &name, &rest, members);
                    byte += 1;
                }
            }
        }
        for me in [I, J, T] {
            let block = layout.blocks[usize::from(me)];
            for (declared, room) in program.private.iter().zip(&layout.private) {
                let name = format!("private.{}", declared.name);
                meaning.variable(&name, &declared.content, me, block + room.base)?;
            }
            for (number, frame) in layout.frames.iter().enumerate() {
                let declared = program.procedures[number].locals.iter();
                for (local, (declared, room)) in declared.zip(&frame.locals).enumerate() {
                    let name = local_name(program, number, local);
                    meaning.variable(&name, &declared.content, me, block + room.base)?;
                }
                for instruction in &layout.code[number].instructions {
                    if let Instruction::BeginFor(this) = instruction {
                        let position = block + frame.fors[this.number];
                        let index = block + frame.locals[this.variable.0 as usize].base;
                        meaning.indices.insert(position, index);
                    }
                }
            }
        }
        Ok(meaning)
    }

    /// Records the bytes of a variable of a process.
    fn variable(
        &mut self,
        name: &str,
        content: &Type,
        me: u8,
        begin: usize,
    ) -> Result<(), Unsupported> {
        let all = functions(name, content, 1)?;
        for (offset, (_, path, rest)) in leaves(content, false).into_iter().enumerate() {
            let members = [&[me], path.as_slice()].concat();
            self.note(begin + offset, &all, name, &rest, members);
        }
        Ok(())
    }

    /// Records the function of a byte, whose name is the variable's name and the fields.
    fn note(&mut self, byte: usize, all: &[Function], name: &str, rest: &str, members: Vec<u8>) {
        let mut fields = String::new();
        let mut within = false;
        for letter in rest.chars() {
            match letter {
                '[' => within = true,
                ']' => within = false,
                letter if !within => fields.push(letter),
                _ => {}
            }
        }
        let wanted = format!("{name}{fields}");
        if let Some(function) = all.iter().find(|function| function.name == wanted) {
            self.slots.insert(byte, (function.clone(), members));
        }
    }

    /// Returns the predicate of the views of a kind.
    pub fn predicate<'v>(&self, kind: &Kind, views: impl Iterator<Item = &'v [u8]>) -> Predicate {
        let mut labels: Vec<String> = Vec::new();
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        let mut arguments: Vec<Argument> = Vec::new();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for view in views {
            let mut row = Vec::with_capacity(view.len());
            for byte in 0..view.len() {
                let label = self.label(kind, view, byte, &mut arguments);
                let next = labels.len() as u32;
                let number = *numbers.entry(label.clone()).or_insert(next);
                if number == next {
                    labels.push(label);
                }
                row.push(number);
            }
            rows.push(row);
        }
        rows.sort_unstable();
        rows.dedup();
        if rows.is_empty() {
            return Predicate { arguments, term: "false".to_owned(), nodes: 0 };
        }
        let diagram = Diagram::new(&labels, &rows);
        Predicate { arguments, term: diagram.term(), nodes: diagram.len() }
    }

    /// Returns the condition that a byte of a view states.
    fn label(&self, kind: &Kind, view: &[u8], byte: usize, all: &mut Vec<Argument>) -> String {
        let nothing = || "true".to_owned();
        let slot = &self.layout.slots[byte];
        let mut of = |name: &str, members: &[u8], sort| {
            let function = Function { name: name.to_owned(), arity: members.len(), sort };
            argument(all, function, members)
        };
        let bit = |term: String, set: bool| if set { term } else { not(&term) };
        if byte == SPECIFICATION {
            let bits = OBSERVER.iter().enumerate();
            let bits = bits.map(|(at, name)| bit(of(name, &[], "Bool"), view[byte] >> at & 1 == 1));
            return and(&bits.collect::<Vec<_>>());
        }
        let Some(owner) = slot.owner else { return self.scalar(kind, view, byte, all) };
        if !kind.members.contains(&owner) {
            return nothing();
        }
        let block = self.layout.blocks[usize::from(owner)];
        let (offset, me) = (byte - block, [owner]);
        let does = view[block + at::OP];
        let is_followed = owner == kind.followed;
        match offset {
            at::OP => {
                let does = of("does", &me, "Does");
                let is = |number: usize| format!("(= {does} {})", DOES[number]);
                match (view[byte], is_followed) {
                    // A scan that is not followed counts as idle.
                    (op::IDLE, false) => or(&[is(0), is(2)]),
                    (byte, _) => is(usize::from(byte)),
                }
            }
            at::BEGUN if is_followed => bit(of("begun", &me, "Bool"), view[byte] != 0),
            at::BITS if is_followed && view[block + at::BEGUN] != 0 => {
                let names = ["must.i", "must.j"].iter().enumerate();
                let bits =
                    names.map(|(at, name)| bit(of(name, &me, "Bool"), view[byte] >> at & 1 == 1));
                and(&bits.collect::<Vec<_>>())
            }
            at::INVOKED if does != op::IDLE => bit(of("invoked", &me, "Bool"), view[byte] != 0),
            at::SWITCHED if owner != T => bit(of("switched", &me, "Bool"), view[byte] != 0),
            _ if offset < at::END => nothing(),
            _ => match slot.frame {
                Some(frame) if offset == self.layout.frames[frame].at => match view[byte] {
                    0 => nothing(),
                    here => {
                        let at = of("at", &me, "Place");
                        format!("(= {at} {})", place(self.layout, frame, usize::from(here) - 1))
                    }
                },
                Some(_) if slot.position => self.position(kind, view, byte, all),
                _ => self.scalar(kind, view, byte, all),
            },
        }
    }

    /// Returns the condition on the position of a loop among the members.
    fn position(&self, kind: &Kind, view: &[u8], byte: usize, all: &mut Vec<Argument>) -> String {
        let index = self.indices.get(&byte).and_then(|index| self.slots.get(index));
        let (Some((function, members)), position @ 1..) = (index, view[byte]) else {
            return "true".to_owned();
        };
        let index = argument(all, function.clone(), members);
        if position >= MEMBER {
            return format!("(= {index} {})", member(position - MEMBER));
        }
        let order = &kind.members;
        let next = match position {
            GAP => 0,
            position => {
                let behind = position - GAP - 1;
                order.iter().position(|one| *one == behind).map_or(0, |at| at + 1)
            }
        };
        let above = next.checked_sub(1).and_then(|at| order.get(at));
        let above = above.map(|one| format!("(before {} {index})", member(*one)));
        let below = order.get(next).map(|one| format!("(before {index} {})", member(*one)));
        and(&above.into_iter().chain(below).collect::<Vec<_>>())
    }

    /// Returns the condition that a byte states on a scalar of the program.
    fn scalar(&self, kind: &Kind, view: &[u8], byte: usize, all: &mut Vec<Argument>) -> String {
        let Some((function, members)) = self.slots.get(&byte) else { return "true".to_owned() };
        let leaf = self.layout.slots[byte].leaf;
        let is_there = members.iter().all(|member| kind.members.contains(member));
        let Some(leaf) = leaf.filter(|_| is_there && view[byte] != ANY) else {
            return "true".to_owned();
        };
        let mut parts = Vec::new();
        if leaf.optional {
            let name = format!("{}.none", function.name);
            let is_none =
                argument(all, Function { name, sort: "Bool", ..function.clone() }, members);
            if view[byte] == NONE {
                return is_none;
            }
            parts.push(not(&is_none));
        }
        let term = argument(all, function.clone(), members);
        match leaf.scalar {
            Scalar::Bool | Scalar::Value | Scalar::View => {
                parts.push(if view[byte] == BASE { not(&term) } else { term });
            }
            Scalar::Member if view[byte] == BASE + OTHER => {
                let others = kind.members.iter();
                parts.extend(others.map(|one| not(&format!("(= {term} {})", member(*one)))));
            }
            Scalar::Member => parts.push(format!("(= {term} {})", member(view[byte] - BASE))),
            Scalar::Version => parts.push(self.version(view, byte, &term, all)),
            Scalar::Integer(..) | Scalar::Link(_) | Scalar::Counter | Scalar::Lost => {}
        }
        and(&parts)
    }

    /// Returns the condition on a version: which earlier version in the view it equals, if any.
    fn version(&self, view: &[u8], byte: usize, term: &str, all: &mut Vec<Argument>) -> String {
        if view[byte] == BASE {
            return format!("(= {term} version.first)");
        }
        let mut differs = vec![not(&format!("(= {term} version.first)"))];
        for before in self.layout.versions.iter().copied().filter(|before| *before < byte) {
            let Some((function, members)) = self.slots.get(&before) else { continue };
            if matches!(view[before], ANY | NONE) {
                continue;
            }
            let other = argument(all, function.clone(), members);
            if view[before] == view[byte] {
                return format!("(= {term} {other})");
            }
            differs.push(not(&format!("(= {term} {other})")));
        }
        and(&differs)
    }
}

/// Returns the term of a location.
pub fn place(layout: &Layout<'_>, procedure: usize, here: usize) -> String {
    format!("at.{}.{here}", layout.program.procedures[procedure].name)
}

/// Returns the name of a scalar within a predicate, which receives it as an argument.
fn argument(all: &mut Vec<Argument>, function: Function, members: &[u8]) -> String {
    let known = all.iter().find(|one| one.function.name == function.name && one.members == members);
    if let Some(known) = known {
        return known.name.clone();
    }
    let name = format!("s{}", all.len());
    all.push(Argument { name: name.clone(), function, members: members.to_vec() });
    name
}

impl Argument {
    /// Returns the term of the scalar, with the functions as `name` calls them before or after a
    /// step.
    pub fn term(&self, name: &dyn Fn(&str) -> String, t: &str) -> String {
        let members: Vec<String> = self
            .members
            .iter()
            .map(|one| if *one == T { t.to_owned() } else { member(*one).to_owned() })
            .collect();
        apply(&name(&self.function.name), &members)
    }

    pub const fn sort(&self) -> &'static str {
        self.function.sort
    }
}

pub const T_SORT: &str = PROCESS;
