//! Labels of locations: the access, similar to the text, with known indices.

use super::body::Body;
use crate::instance::NONE;
use crate::program::{
    Access, Binary, CellPlace, Expression, ExpressionKind, Place, Projection, Root,
};

impl Body<'_> {
    /// Returns the label of an access, for people.
    pub(super) fn label(&mut self, access: &Access, into: Option<&Place>) -> String {
        let access = match access {
            Access::Read(cell) => self.cell_label(cell),
            Access::Write(cell, value) => {
                return format!("{} := {}", self.cell_label(cell), self.text(value));
            }
            Access::LoadLinked(cell) => format!("LL({})", self.cell_label(cell)),
            Access::StoreConditional(cell, value) => {
                format!("SC({}, {})", self.cell_label(cell), self.text(value))
            }
            Access::Validate(cell) => format!("VL({})", self.cell_label(cell)),
            Access::CompareAndSwap(cell, old, new) => {
                let (old, new) = (self.text(old), self.text(new));
                format!("CAS({}, {old}, {new})", self.cell_label(cell))
            }
        };
        match into.and_then(|place| self.place_label(place)) {
            Some(place) => format!("{place} := {access}"),
            None => access,
        }
    }

    fn cell_label(&mut self, cell: &CellPlace) -> String {
        let mut label = self.program.shared(cell.variable).name.clone();
        for index in &cell.indices {
            label.push_str(&format!("[{}]", self.text(index)));
        }
        label
    }

    /// Returns the label of a place, if the text names it.
    fn place_label(&mut self, place: &Place) -> Option<String> {
        let (mut label, mut content) = match place.root {
            Root::Private(id) => {
                let variable = self.program.private(id);
                (variable.name.clone(), &variable.content)
            }
            Root::Local(id) => {
                let procedure = self.frame().procedure;
                let local = self.program.procedure(procedure).local(id);
                if local.hidden {
                    return None;
                }
                (local.name.clone(), &local.content)
            }
        };
        for projection in &place.path {
            match (projection, content) {
                (Projection::Field(field), crate::program::Type::Record(fields)) => {
                    label.push_str(&format!(".{}", fields[*field].name));
                    content = &fields[*field].content;
                }
                (Projection::Index(index), crate::program::Type::Array { element, .. }) => {
                    label.push_str(&format!("[{}]", self.text(index)));
                    content = element;
                }
                _ => {}
            }
        }
        Some(label)
    }

    /// Returns the text of an expression, abbreviated by three dots if it is long.
    fn text(&mut self, expression: &Expression) -> String {
        match &expression.kind {
            ExpressionKind::Bool(bit) => bit.to_string(),
            ExpressionKind::Integer(bound)
            | ExpressionKind::Process(bound)
            | ExpressionKind::Segment(bound) => match self.size.bound(*bound) {
                Ok(number) => number.to_string(),
                Err(_) => bound.to_string(),
            },
            ExpressionKind::None => "none".to_owned(),
            ExpressionKind::InitialValue => "initial".to_owned(),
            ExpressionKind::FirstVersion => "the first version".to_owned(),
            ExpressionKind::Counter(number) => number.to_string(),
            ExpressionKind::Me => self.me.index().to_string(),
            ExpressionKind::Convert(operand)
            | ExpressionKind::Checked(operand)
            | ExpressionKind::NumberOf(operand)
            | ExpressionKind::ValueOf(operand)
            | ExpressionKind::Some(operand)
            | ExpressionKind::Unwrap(operand) => self.text(operand),
            ExpressionKind::Local(id) => {
                let frame = self.frame();
                if let Some(super::tree::Tree::Leaf(term)) = frame.known.get(id)
                    && let Some(number) = term.constant()
                {
                    return if number == NONE { "none".to_owned() } else { number.to_string() };
                }
                let procedure = frame.procedure;
                self.program.procedure(procedure).local(*id).name.clone()
            }
            ExpressionKind::Private(id) => self.program.private(*id).name.clone(),
            ExpressionKind::Index(array, index) => {
                format!("{}[{}]", self.text(array), self.text(index))
            }
            ExpressionKind::Field(record, field) => match &record.content {
                crate::program::Type::Record(fields) => {
                    format!("{}.{}", self.text(record), fields[*field].name)
                }
                _ => "...".to_owned(),
            },
            ExpressionKind::Not(operand) => format!("not {}", self.text(operand)),
            ExpressionKind::Binary(operator @ (Binary::Add | Binary::Subtract), a, b) => {
                let sign = if *operator == Binary::Add { "+" } else { "-" };
                format!("{} {sign} {}", self.text(a), self.text(b))
            }
            ExpressionKind::Successor(operand) => format!("{} + 1", self.text(operand)),
            ExpressionKind::Remainder(operand, modulus) => match self.size.bound(*modulus) {
                Ok(modulus) => format!("{} mod {modulus}", self.text(operand)),
                Err(_) => format!("{} mod {modulus}", self.text(operand)),
            },
            ExpressionKind::Quotient(operand, divisor) => {
                format!("{} / {divisor}", self.text(operand))
            }
            ExpressionKind::List(..) | ExpressionKind::InitialNode(_) => {
                unreachable!("only objects have lists and nodes")
            }
            ExpressionKind::Fresh => "fresh".to_owned(),
            ExpressionKind::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| self.text(field)).collect();
                format!("({})", fields.join(", "))
            }
            ExpressionKind::With(..)
            | ExpressionKind::Each { .. }
            | ExpressionKind::Filled(_)
            | ExpressionKind::Quantified { .. }
            | ExpressionKind::Binary(..)
            | ExpressionKind::If(..) => "...".to_owned(),
        }
    }
}
