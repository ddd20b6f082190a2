//! Random texts designed to be slow: nested calls, quantifiers, loops and blocks, large types, deep
//! nesting, many statements, variables, conditions, links and versions. Most are valid programs.

use std::fmt::Write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A text under construction.
struct Draw {
    random: ChaCha8Rng,
    /// Declarations of shared and private variables, and of types.
    declared: String,
    procedures: String,
    names: u32,
}

pub fn snapshot(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let (update, scan) = (draw.pieces(1, 3), draw.pieces(0, 2));
    let Draw { declared, procedures, .. } = draw;
    format!(
        "algorithm hostile\n{declared}shared a[segment]: value\nupdate(v):\n{}    a[me] := \
         v\nscan:\n    local copy[segment]: value\n{}    for s in segments: copy[s] := a[s]\n    return \
         copy\n{procedures}",
        indented(&update, 1),
        indented(&scan, 1),
    )
}

/// An algorithm of a register.
pub fn register(seed: u64) -> String {
    let mut draw = Draw::new(seed);
    let (put, get) = (draw.pieces(1, 3), draw.pieces(0, 2));
    let Draw { declared, procedures, .. } = draw;
    format!(
        "algorithm hostile\nobject register:\n    state content: value\n    put(v: value):\n        content \
         := v\n    get: value:\n        return content\n{declared}shared a: value\nput(v):\n{}    a := \
         v\nget:\n{}    x := a\n    return x\n{procedures}",
        indented(&put, 1),
        indented(&get, 1),
    )
}

fn indented(lines: &[String], depth: usize) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{}{line}", "    ".repeat(depth));
        text
    })
}

fn behind(lines: Vec<String>, depth: usize) -> impl Iterator<Item = String> {
    lines.into_iter().map(move |line| format!("{}{line}", "    ".repeat(depth)))
}

impl Draw {
    fn new(seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { random, declared: String::new(), procedures: String::new(), names: 0 }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.next_u32() as usize % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns a number from 1 on; small and large numbers are equally likely.
    fn size(&mut self, most: usize) -> usize {
        let bits = self.below(most.ilog2() as usize + 1) as u32;
        (2_usize.pow(bits) + self.below(2_usize.pow(bits))).min(most)
    }

    fn name(&mut self, of: &str) -> String {
        self.names += 1;
        format!("{of}{}", self.names)
    }

    fn declare(&mut self, line: &str) {
        self.declared += line;
        self.declared.push('\n');
    }

    /// Returns a truth value.
    fn bit(&mut self) -> String {
        let name = self.name("z");
        let (line, suffix) = match self.below(3) {
            0 => (format!("shared {name}: bool"), ""),
            1 => (format!("private {name}: bool"), ""),
            _ => (format!("shared {name}[process]: bool"), "[me]"),
        };
        self.declare(&line);
        name + suffix
    }

    fn range(&mut self) -> String {
        match self.below(5) {
            0 => "processes".to_owned(),
            1 => "segments".to_owned(),
            2 => format!("0..{}", self.size(60)),
            3 => format!("0..{}", self.size(200_000)),
            _ => format!("0..{}", self.below(4)),
        }
    }

    fn pieces(&mut self, least: usize, most: usize) -> Vec<String> {
        let count = least + self.below(most - least + 1);
        (0..count).flat_map(|_| self.piece(0)).collect()
    }

    /// Returns statements, nested in this many others.
    fn piece(&mut self, within: usize) -> Vec<String> {
        match self.below(16) {
            0 | 1 => self.calls(within),
            2 => self.quantifiers(),
            3 | 4 => self.loops(within),
            5 => self.block(),
            6 => self.types(),
            7 => self.expression(),
            8 => self.statements(),
            9 => self.variables(),
            10 | 11 => self.ways(),
            12 => self.links(),
            13 => self.conditions(),
            14 => self.versions(),
            _ => self.numbers(),
        }
    }

    fn inner(&mut self, within: usize) -> Vec<String> {
        match within < 2 && self.below(3) == 0 {
            true => self.piece(within + 1),
            false => vec![self.one(&["skip", "x0 := true"]).to_owned()],
        }
    }

    /// Procedures that call the next one several times.
    fn calls(&mut self, within: usize) -> Vec<String> {
        let (count, each, name) = (self.size(60), 1 + self.below(3), self.name("p"));
        let last = match self.below(3) {
            0 => vec![format!("{} := true", self.bit())],
            _ => self.inner(within),
        };
        for number in 0..count {
            let calls = vec![format!("{name}_{}()", number + 1); each];
            self.procedures += &format!("procedure {name}_{number}():\n{}", indented(&calls, 1));
        }
        self.procedures += &format!("procedure {name}_{count}():\n{}", indented(&last, 1));
        vec![format!("{name}_0()")]
    }

    fn quantifiers(&mut self) -> Vec<String> {
        let (bit, known) = (self.bit(), self.name("t"));
        let mut condition = String::new();
        let names: Vec<String> = (0..=self.below(7)).map(|_| self.name("x")).collect();
        for name in &names {
            let (which, range) = (self.one(&["all", "any"]), self.range());
            condition += &format!("{which} {name} in {range}: ");
        }
        condition += &match self.below(4) {
            0 => format!("{0} = {0}", names[0]),
            1 => format!("not {known}"),
            2 => known.clone(),
            _ => "true".to_owned(),
        };
        vec![format!("{known} := {bit}"), format!("if {condition}: skip")]
    }

    fn loops(&mut self, within: usize) -> Vec<String> {
        let (local, bit, depth) = (self.name("b"), self.bit(), 1 + self.below(6));
        let mut lines = vec![format!("{local} := {bit}")];
        for depth in 0..depth {
            let (name, range) = (self.name("k"), self.range());
            lines.push(format!("{}for {name} in {range}:", "    ".repeat(depth)));
        }
        let body = match self.below(4) {
            0 => vec![format!("{local} := not {local}")],
            1 => vec![format!("{bit} := {local}")],
            2 => vec![format!("if {local}: {local} := {bit}")],
            _ => self.inner(within),
        };
        lines.extend(behind(body, depth));
        lines
    }

    fn block(&mut self) -> Vec<String> {
        let bits: Vec<String> = (0..=self.below(8)).map(|_| self.bit()).collect();
        let mut lines = vec!["atomic:".to_owned()];
        for _ in 0..self.size(3_000) {
            let (to, from) = (self.below(bits.len()), self.below(bits.len()));
            let value = [format!("not {}", bits[from]), "true".to_owned()];
            lines.push(format!("    {} := {}", bits[to], value[self.below(2)]));
        }
        lines
    }

    fn types(&mut self) -> Vec<String> {
        let mut content =
            self.one(&["bool", "value", "process or none", "0..3", "version"]).to_owned();
        for _ in 0..=self.below(4) {
            content = match self.below(3) {
                0 => format!("array [0..{}] of {content}", self.size(100_000)),
                1 => format!("array [process] of {content}"),
                _ => format!("record (f: {content}, g: bool)"),
            };
        }
        let (named, name, copy) = (self.name("t"), self.name("w"), self.name("c"));
        let (line, suffix) = match self.below(3) {
            0 => (format!("shared {name}: {named}"), ""),
            1 => (format!("shared {name}[process]: {named}"), "[me]"),
            _ => (format!("private {name}: {named}"), ""),
        };
        self.declare(&format!("type {named} = {content}\n{line}"));
        let stored = vec![format!("{name}{suffix} := {copy}"); self.below(3)];
        [vec![format!("{copy} := {name}{suffix}")], stored].concat()
    }

    fn expression(&mut self) -> Vec<String> {
        let (bit, local, count) = (self.bit(), self.name("b"), self.size(240));
        let condition = match self.below(4) {
            0 => format!("{}{local}", "not ".repeat(count)),
            1 => vec![local.clone(); count].join(" or "),
            2 => vec![format!("({local} and not {local})"); count].join(" or "),
            _ => format!("{}{local}{}", "(".repeat(count), ")".repeat(count)),
        };
        vec![format!("{local} := {bit}"), format!("if {condition}: {bit} := true")]
    }

    fn statements(&mut self) -> Vec<String> {
        let (bit, local, count) = (self.bit(), self.name("b"), self.size(6_000));
        match self.below(3) {
            0 => vec![format!("{bit} := true"); count],
            1 => {
                let turns = vec![format!("{local} := not {local}"); count];
                [vec![format!("{local} := {bit}")], turns].concat()
            }
            _ => (0..count.min(2_000)).map(|one| format!("{local}_{one} := {bit}")).collect(),
        }
    }

    fn variables(&mut self) -> Vec<String> {
        let (name, copy) = (self.name("q"), self.name("y"));
        let (kind, content) = (self.one(&["shared", "private"]), self.one(&["bool", "0..7"]));
        for number in 0..self.size(1_500) {
            self.declare(&format!("{kind} {name}_{number}: {content}"));
        }
        vec![format!("{copy} := {name}_0")]
    }

    /// Conditions on unknown values: each doubles the number of paths.
    fn ways(&mut self) -> Vec<String> {
        let (name, odd, read, told) = (self.name("u"), self.name("y"), self.name("c"), self.bit());
        let count = self.size(400);
        let mut lines = vec![format!("{odd} := false")];
        let turn = |condition: &str| format!("if {condition}: {odd} := not {odd}");
        match self.below(3) {
            0 => {
                self.declare(&format!("shared {name}[0..{count}]: bool"));
                lines.extend((0..count).map(|one| format!("{read}_{one} := {name}[{one}]")));
                lines.extend((0..count).map(|one| turn(&format!("{read}_{one}"))));
            }
            1 => {
                self.declare(&format!("shared {name}[0..{count}]: bool"));
                lines.extend((0..count).map(|one| turn(&format!("{name}[{one}]"))));
            }
            _ => {
                let last = count.min(120);
                self.declare(&format!("shared {name}: array [0..{last}] of bool"));
                lines.push(format!("{read} := {name}"));
                lines.push(format!("for k0 in 0..{last}: {}", turn(&format!("{read}[k0]"))));
            }
        }
        lines.push(format!("{told} := {odd}"));
        lines
    }

    fn links(&mut self) -> Vec<String> {
        let (name, last) = (self.name("l"), self.size(60));
        self.declare(&format!("shared {name}[0..{last}]: llsc bool"));
        let mut lines = Vec::new();
        for _ in 0..=self.below(20) {
            let cell = format!("{name}[{}]", self.below(last + 1));
            lines.push(match self.below(4) {
                0 => format!("{name}o := LL({cell})"),
                1 => format!("{name}g := SC({cell}, true)"),
                2 => format!("{name}g := VL({cell})"),
                _ => format!("{cell} := false"),
            });
        }
        lines
    }

    fn conditions(&mut self) -> Vec<String> {
        let (local, bit, depth) = (self.name("b"), self.bit(), self.size(45));
        let mut lines = vec![format!("{local} := {bit}")];
        for depth in 0..depth {
            let condition = [local.clone(), format!("not {local}"), bit.clone()];
            let condition = &condition[self.below(3)];
            lines.push(format!("{}if {condition}:", "    ".repeat(depth)));
        }
        lines.push(format!("{}skip", "    ".repeat(depth)));
        lines
    }

    fn versions(&mut self) -> Vec<String> {
        let name = self.name("v");
        let numbers = 0..self.size(80);
        numbers.clone().for_each(|one| self.declare(&format!("shared {name}_{one}: version")));
        numbers.map(|one| format!("{name}_{one} := fresh")).collect()
    }

    fn numbers(&mut self) -> Vec<String> {
        let (own, shared, local) = (self.name("i"), self.name("j"), self.name("x"));
        let most = self.size(150_000);
        self.declare(&format!("private {own}: 0..{most}\nshared {shared}: 0..{most}"));
        let next = format!("{own} := ({own} + 1) mod {}", most + 1);
        match self.below(3) {
            0 => vec![next, format!("{shared} := {own}")],
            1 => vec![
                format!("{local} := {shared}"),
                format!("if {local} < {most}: {local} := {local} + 1"),
                format!("{shared} := {local}"),
            ],
            _ => {
                vec![next, format!("for {local} in 0..{most}: if {own} = {most}: {own} := {most}")]
            }
        }
    }
}
