//! Statements of random programs, and their expressions.

use super::variable::{KINDS, Kind, Place, Variable, Variables};
use crate::generate::Draw;

/// Writer of one operation.
pub(super) struct Writer<'a> {
    draw: &'a mut Draw,
    variables: &'a Variables,
    scanning: bool,
    /// Number of steps that garnish may still add.
    budget: usize,
    indentation: usize,
    /// True within a loop, whose index may be used.
    index: bool,
    /// True if exchanges and similar accesses are allowed.
    exchanging: bool,
    body: String,
}

impl<'a> Writer<'a> {
    pub fn new(
        draw: &'a mut Draw,
        variables: &'a Variables,
        scanning: bool,
        budget: usize,
    ) -> Self {
        let body = String::new();
        let (indentation, index, exchanging) = (1, false, false);
        Self { draw, variables, scanning, budget, indentation, index, exchanging, body }
    }

    pub fn exchanging(self, exchanging: bool) -> Self {
        Self { exchanging, ..self }
    }

    /// Returns the operation, after the locals that it uses.
    pub fn finish(self) -> String {
        let mut text = String::new();
        let words = |name: &str| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            self.body.split(|c| !is_part(c)).any(|word| word == name)
        };
        for local in self.variables.which(|of| of.place == Place::Local && words(&of.name)) {
            text += &format!("    local {}: {}\n", local.name, local.kind.text());
        }
        text + &self.body
    }

    pub fn line(&mut self, text: &str) {
        self.body += &"    ".repeat(self.indentation);
        self.body += text;
        self.body.push('\n');
    }

    pub fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indentation += 1;
        write(self);
        self.indentation -= 1;
    }

    /// Writes lines in one step, surrounded by garnish, which costs no further step there.
    pub fn atomic(&mut self, lines: &[&str]) {
        self.line("atomic:");
        self.indented(|this| {
            let before = this.draw.below(3);
            (0..before).for_each(|_| this.statement(true));
            lines.iter().for_each(|line| this.line(line));
            let after = this.draw.below(3);
            (0..after).for_each(|_| this.statement(true));
        });
    }

    /// Writes a line in one step with garnish, or by itself.
    pub fn atomic_or_alone(&mut self, line: &str) {
        match self.draw.below(3) {
            0 => self.line(line),
            _ => self.atomic(&[line]),
        }
    }

    /// Writes up to two statements.
    pub fn garnish(&mut self) {
        for _ in 0..self.draw.below(3) {
            self.statement(false);
        }
    }

    /// Distorts the result of a scan now and then.
    pub fn distortion(&mut self) {
        if !self.scanning || self.draw.below(5) < 2 {
            return;
        }
        // After a read, the variable may differ from its initial value.
        let kind = self.kind_at_hand();
        if let Some(read) = self.read_of(kind) {
            self.line(&read);
        }
        let condition = self.comparison(kind).unwrap_or_else(|| "false".to_owned());
        let effect = match self.draw.below(5) {
            0 => "return zero".to_owned(),
            1 | 2 => "w[me] := initial".to_owned(),
            3 => "w[process(1)] := initial".to_owned(),
            _ => {
                let name = self.expression(Kind::Name);
                format!("w[{name}] := initial")
            }
        };
        self.line(&format!("if {condition}: {effect}"));
    }

    fn kind_at_hand(&mut self) -> Kind {
        let shared = self.variables.which(|of| !matches!(of.place, Place::Local));
        shared[self.draw.below(shared.len())].kind
    }

    /// Writes one statement; within a step it may access shared memory freely.
    fn statement(&mut self, atomic: bool) {
        let kind = self.kind_at_hand();
        let may_access = atomic || self.budget > 0;
        let kinds = if self.exchanging { 16 } else { 11 };
        match self.draw.below(kinds) {
            0..=2 if may_access => {
                let Some(line) = self.read_of(kind) else { return };
                self.spend(atomic);
                self.line(&line);
            }
            3..=5 if may_access => {
                let Some(line) = self.write_of(kind) else { return };
                self.spend(atomic);
                self.line(&line);
            }
            6 => {
                let Some(line) = self.local(kind) else { return };
                self.line(&line);
            }
            7 => {
                let Some(condition) = self.comparison(kind) else { return };
                let then = match self.draw.below(3) {
                    0 if may_access => {
                        self.spend(atomic);
                        self.write_of(kind)
                    }
                    1 if may_access => {
                        self.spend(atomic);
                        self.read_of(kind)
                    }
                    _ => self.local(kind),
                };
                let Some(then) = then else { return };
                self.line(&format!("if {condition}: {then}"));
            }
            8 if !atomic && may_access => {
                self.spend(false);
                self.line("atomic:");
                let before = self.body.len();
                self.indented(|this| {
                    (0..1 + this.draw.below(3)).for_each(|_| this.statement(true))
                });
                if self.body.len() == before {
                    self.indented(|this| this.line("skip"));
                }
            }
            9 if may_access && !self.index => {
                self.index = true;
                let line = match self.draw.below(3) {
                    0 => self.write_of(kind),
                    1 => self.read_of(kind),
                    _ => self.local(kind),
                };
                let condition = self.comparison(Kind::Name).filter(|_| self.draw.coin());
                self.index = false;
                let Some(line) = line else { return };
                self.spend(atomic);
                let over = self.index_set();
                self.line(&match condition {
                    Some(condition) => format!("for i in {over}: if {condition}: {line}"),
                    None => format!("for i in {over}: {line}"),
                });
            }
            _ if may_access => {
                // LL, SC, VL, CAS, or exchanges; more likely if `exchanging`.
                let Some(line) = self.access() else { return };
                self.spend(atomic);
                self.line(&line);
            }
            _ => {}
        }
    }

    fn index_set(&mut self) -> &'static str {
        if !self.exchanging {
            return "processes";
        }
        ["processes", "0..me", "me+1..n-1", "me..n-1", "0..me-1"][self.draw.below(5)]
    }

    fn spend(&mut self, atomic: bool) {
        if !atomic {
            self.budget = self.budget.saturating_sub(1);
        }
    }

    fn one_of(&mut self, holds: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let found = self.variables.which(holds);
        let at = self.draw.below(found.len().max(1));
        found.get(at).map(|&one| one.clone())
    }

    fn own(&mut self, kind: Kind) -> Option<Variable> {
        self.one_of(|of| of.kind == kind && matches!(of.place, Place::Local | Place::Private))
    }

    fn cell(&mut self, kind: Kind) -> Option<String> {
        let cell = self
            .one_of(|of| of.kind == kind && !matches!(of.place, Place::Local | Place::Private))?;
        Some(match cell.place {
            Place::Array => {
                let index = match self.draw.below(3) {
                    0 => "me".to_owned(),
                    _ => self.expression(Kind::Name),
                };
                format!("{}[{index}]", cell.name)
            }
            _ => cell.name,
        })
    }

    fn read_of(&mut self, kind: Kind) -> Option<String> {
        let to = self.own(kind)?;
        Some(format!("{} := {}", to.name, self.cell(kind)?))
    }

    fn write_of(&mut self, kind: Kind) -> Option<String> {
        let cell = self.cell(kind)?;
        Some(format!("{cell} := {}", self.expression(kind)))
    }

    fn local(&mut self, kind: Kind) -> Option<String> {
        let to = self.own(kind)?;
        Some(format!("{} := {}", to.name, self.expression(kind)))
    }

    /// Makes SWAP, FAA, TAS, or a write of a part of a cell.
    fn exchange(&mut self) -> Option<String> {
        let bit = self.own(Kind::Bool)?.name;
        let swappable = self.one_of(|of| of.place == Place::Swappable);
        Some(match self.draw.below(6) {
            0 => format!("{bit} := TAS(flag)"),
            1 => format!("{bit} := SWAP(flag, {})", self.expression(Kind::Bool)),
            2 => match self.own(Kind::Counter) {
                Some(own) => format!("{} := FAA(steps, 1)", own.name),
                None => "FAA(steps, 1)".to_owned(),
            },
            3 => format!("pair.flag := {}", self.expression(Kind::Bool)),
            4 => match self.own(Kind::Small) {
                Some(own) => format!("pair.count := {} / 2", own.name),
                None => "pair.count := (me + 3) / (n + 1)".to_owned(),
            },
            _ => {
                let Some(cell) = swappable else { return Some(format!("{bit} := pair.flag")) };
                let (to, new) = (self.own(cell.kind)?.name, self.expression(cell.kind));
                format!("{to} := SWAP({}, {new})", cell.name)
            }
        })
    }

    /// Makes LL, SC, VL or CAS.
    fn access(&mut self) -> Option<String> {
        if self.exchanging && self.draw.below(4) > 0 {
            return self.exchange();
        }
        let cell = self.one_of(|of| matches!(of.place, Place::Linked | Place::Swappable))?;
        let name = &cell.name;
        let bit = self.own(Kind::Bool)?.name;
        Some(match (cell.place, self.draw.below(3)) {
            (Place::Swappable, _) => {
                let old = match cell.kind {
                    Kind::Version => self.own(cell.kind)?.name,
                    kind => self.expression(kind),
                };
                let new = self.expression(cell.kind);
                format!("{bit} := CAS({name}, {old}, {new})")
            }
            (_, 0) => format!("{} := LL({name})", self.own(cell.kind)?.name),
            (_, 1) => format!("{bit} := VL({name})"),
            _ => format!("{bit} := SC({name}, {})", self.expression(cell.kind)),
        })
    }

    /// Makes an expression of this type, without access.
    fn expression(&mut self, kind: Kind) -> String {
        if self.draw.below(3) < 2
            && let Some(own) = self.own(kind)
        {
            return match (kind, self.draw.below(3)) {
                (Kind::Counter, 0 | 1) => format!("{} + 1", own.name),
                (Kind::Bool, 0) => format!("(not {})", own.name),
                (Kind::Small, 0) => format!("({} + 1) mod 3", own.name),
                (Kind::Index, 0) => format!("({} + 1) mod n", own.name),
                (Kind::Version, 0) => "fresh".to_owned(),
                _ => own.name,
            };
        }
        let name = |this: &Self| if this.index { "i" } else { "me" }.to_owned();
        match (kind, self.draw.below(4)) {
            (Kind::Name, 0) => "process(1)".to_owned(),
            (Kind::Name, 1) => match self.own(Kind::Index) {
                Some(own) => format!("process({})", own.name),
                None => name(self),
            },
            (Kind::Name, _) | (Kind::MaybeName, 1..) => name(self),
            (Kind::MaybeName, 0) => "none".to_owned(),
            (Kind::Version, _) => "fresh".to_owned(),
            (Kind::Counter, which) => which.min(2).to_string(),
            (Kind::Bool, which) => if which < 3 { "true" } else { "false" }.to_owned(),
            (Kind::Small, which) => which.min(2).to_string(),
            (Kind::Index, 0) => "1".to_owned(),
            (Kind::Index, 1) => "n - 1".to_owned(),
            // A name becomes a number.
            (Kind::Index, 2) => self.own(Kind::Name).map_or_else(|| name(self), |own| own.name),
            (Kind::Index, _) => format!("({} + 1) mod n", name(self)),
        }
    }

    /// Makes a condition on data of this type.
    fn comparison(&mut self, kind: Kind) -> Option<String> {
        let left = self.own(kind)?.name;
        // A fresh version differs from all others: it may only be stored.
        let right = match kind {
            Kind::Version => self.own(kind)?.name,
            _ => self.expression(kind),
        };
        let equality = if self.draw.coin() { "=" } else { "!=" };
        let order = ["<", "<=", ">", ">="][self.draw.below(4)];
        let simple = match (kind, self.draw.below(4)) {
            (Kind::Bool, 0 | 1) => left,
            (Kind::Bool, 2) => format!("not {left}"),
            (Kind::Name, 0) => format!("{left} {equality} 1"),
            (Kind::Name, 1) => format!("{left} {order} 1"),
            (Kind::Name, 2) => format!("({left} + 1) mod n {equality} 0"),
            (Kind::MaybeName, 0) => format!("{left} != none"),
            (Kind::MaybeName, 1) => format!("{left} = none"),
            (Kind::Counter, 0) => format!("{left} + 1 {order} {right}"),
            (Kind::Counter, 1) => format!("{left} {order} {right}"),
            (Kind::Counter, 2) => {
                format!("{left} mod {} {equality} 0", 2 + self.draw.below(2))
            }
            (Kind::Small | Kind::Index, 0 | 1) => format!("{left} {order} {right}"),
            _ => format!("{left} {equality} {right}"),
        };
        if self.draw.below(5) > 0 {
            return Some(simple);
        }
        let other = KINDS[self.draw.below(KINDS.len())];
        let also = self.own(other).map(|own| format!("{} = {}", own.name, own.name));
        let also = match self.own(Kind::Bool) {
            Some(bit) => Some(bit.name),
            None => also,
        };
        let connective = if self.draw.coin() { "and" } else { "or" };
        Some(format!("{simple} {connective} {}", also?))
    }
}
