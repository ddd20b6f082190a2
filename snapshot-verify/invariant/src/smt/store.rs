//! Values of variables in a step, and their values once a part is replaced.

use snapshot_language::program::{
    IndexSet, Place, Program, Projection, Root, SharedVariable, Type,
};

use super::execute::{ACTOR, Executor, Way};
use super::term::{Value, held};
use crate::layout::Unsupported;

impl Executor<'_> {
    pub(super) fn shared(&self, way: &Way, number: usize) -> Value {
        let declared = &self.program.shared[number];
        let whole = || held(&format!("shared.{}", declared.name), &shared_type(declared), &[]);
        way.shared.get(&number).cloned().unwrap_or_else(whole)
    }

    pub(super) fn local(&self, way: &Way, procedure: usize, number: usize) -> Value {
        let content = &self.program.procedures[procedure].locals[number].content;
        let name = local_name(self.program, procedure, number);
        let whole = || held(&name, content, &[ACTOR.to_owned()]);
        way.locals.get(&(procedure, number)).cloned().unwrap_or_else(whole)
    }

    pub(super) fn private(&self, way: &Way, number: usize) -> Value {
        let declared = &self.program.private[number];
        let name = format!("private.{}", declared.name);
        let whole = || held(&name, &declared.content, &[ACTOR.to_owned()]);
        way.private.get(&number).cloned().unwrap_or_else(whole)
    }

    pub(super) fn store(
        &self,
        way: &mut Way,
        procedure: usize,
        place: &Place,
        value: Value,
    ) -> Result<(), Unsupported> {
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
}

enum Step {
    Element(String),
    Field(usize),
}

/// Returns the value with a part replaced.
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

/// Returns a shared variable with one of its cells replaced.
pub(super) fn written(variable: &Value, indices: &[String], value: Value) -> Value {
    let path: Vec<Step> = indices.iter().map(|index| Step::Element(index.clone())).collect();
    changed(variable, &path, value)
}

/// Returns the type of a shared variable, with its cells as an array.
pub fn shared_type(declared: &SharedVariable) -> Type {
    let wrap =
        |element: Type, index: &IndexSet| Type::Array { index: *index, element: Box::new(element) };
    declared.dimensions.iter().rev().fold(declared.content.clone(), wrap)
}

/// Returns the name of a local's functions.
pub fn local_name(program: &Program, procedure: usize, number: usize) -> String {
    let of = &program.procedures[procedure];
    format!("{}.{}.{number}", of.name, of.locals[number].name)
}
