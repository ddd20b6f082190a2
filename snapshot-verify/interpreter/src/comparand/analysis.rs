//! Finds the comparand locals at each instruction, procedure by procedure: a backward analysis for
//! each candidate local, and a forward analysis for nodes without other pointers.

use super::{Comparand, Field, Here};
use crate::code::{Code, Instruction};
use crate::forget::successors;
use crate::program::{
    Access, CellPlace, Expression, ExpressionKind, LocalId, Place, Root, SharedId,
};

/// Analysis of one procedure. Its variables are the locals, then the fields of the nodes that
/// locals point to, if the procedure writes such a field.
pub(super) struct Analysis<'c, 'p> {
    code: &'c Code<'p>,
    locals: usize,
    pairs: Vec<(usize, Field)>,
    field: &'c dyn Fn(SharedId) -> Option<Field>,
    /// True if the local may hold a node with other pointers to it, per instruction and local.
    escaped: Vec<Vec<bool>>,
}

/// Liveness by variable.
type Live = Vec<bool>;

impl<'c, 'p> Analysis<'c, 'p> {
    pub(super) fn new(
        code: &'c Code<'p>,
        locals: usize,
        field: &'c dyn Fn(SharedId) -> Option<Field>,
    ) -> Self {
        let mut analysis = Self { code, locals, pairs: Vec::new(), field, escaped: Vec::new() };
        for instruction in &code.instructions {
            if let Instruction::Access { access: Access::Write(place, _), .. } = instruction
                && let Some((Some(base), field)) = analysis.base(place)
                && !analysis.pairs.contains(&(base, field))
            {
                analysis.pairs.push((base, field));
            }
        }
        analysis.escaped = analysis.escaped();
        analysis
    }

    /// Analyses forward: a node that `new` yields belongs to its local alone, until the local is
    /// read for anything but access to fields. A CAS that fails has not stored it.
    fn escaped(&self) -> Vec<Vec<bool>> {
        let mut before: Vec<Option<Vec<bool>>> = vec![None; self.code.instructions.len()];
        let mut waiting = vec![(0, vec![true; self.locals])];
        while let Some((at, escaped)) = waiting.pop() {
            let Some(known) = before.get_mut(at) else { continue };
            let joined: Vec<bool> = match known {
                Some(known) => known.iter().zip(&escaped).map(|(one, other)| one | other).collect(),
                None => escaped,
            };
            if known.as_ref() == Some(&joined) {
                continue;
            }
            *known = Some(joined.clone());
            let instruction = &self.code.instructions[at];
            // The test of an outcome reads nothing else.
            let nexts = match self.failure(at) {
                Some(target) => vec![(target, true), (at + 2, false)],
                None => {
                    let nexts = successors(instruction, at);
                    nexts.into_iter().map(|next| (next, false)).collect()
                }
            };
            for (next, fails) in nexts {
                waiting.push((next, self.escaping(instruction, joined.clone(), fails)));
            }
        }
        let all = vec![true; self.locals];
        before.into_iter().map(|known| known.unwrap_or_else(|| all.clone())).collect()
    }

    /// Returns the target for a failed CAS, if the next instruction tests its outcome.
    fn failure(&self, at: usize) -> Option<usize> {
        let Instruction::Access {
            access: Access::CompareAndSwap(..),
            into: Some(Place { root: Root::Local(outcome), path }),
            ..
        } = &self.code.instructions[at]
        else {
            return None;
        };
        match self.code.instructions.get(at + 1)? {
            Instruction::Unless { condition, target }
                if path.is_empty() && local(condition) == Some(outcome.0 as usize) =>
            {
                Some(*target)
            }
            _ => None,
        }
    }

    fn escaping(&self, instruction: &Instruction<'p>, before: Vec<bool>, fails: bool) -> Vec<bool> {
        let mut escaped = before;
        let mut read = Vec::new();
        let indices = instruction.into().into_iter().flat_map(Place::indices);
        indices.for_each(|index| locals_in(index, &mut read));
        for operand in self.leaking(instruction, fails) {
            locals_in(operand, &mut read);
        }
        read.drain(..).for_each(|local| escaped[local] = true);
        if let Some(local) = written(instruction) {
            escaped[local] = !matches!(instruction, Instruction::New { .. });
        }
        escaped
    }

    /// Returns the operands whose nodes may have other pointers after an instruction. Access to a
    /// field creates no pointer, and a failed CAS has not stored its operand.
    fn leaking(&self, instruction: &Instruction<'p>, fails: bool) -> Vec<&'p Expression> {
        let Instruction::Access { access, .. } = *instruction else {
            return instruction.operands();
        };
        let mut operands = access.operands();
        if fails {
            operands.pop();
        }
        if matches!(self.base(access.place()), Some((Some(_), _))) {
            operands.remove(0);
        }
        operands
    }

    pub(super) fn all(&self) -> Vec<Here> {
        let any = self.live(None, &[]);
        let here = |live: &Live| Here { dead_fields: self.dead_fields(live), ..Here::default() };
        let mut found: Vec<Here> = any.iter().map(here).collect();
        for local in 0..self.locals {
            let live = self.live(Some(local), &any);
            // If the assumption changes no liveness, it gains nothing.
            for (at, live) in live.iter().enumerate() {
                if live[local] || *live == any[at] {
                    continue;
                }
                let dead = |of: &usize| *of != local && !live[*of];
                let dead: Vec<usize> = (0..self.locals).filter(dead).collect();
                let dead_fields = self.dead_fields(live);
                found[at].comparands.push(Comparand { local, dead, dead_fields });
            }
        }
        found
    }

    fn dead_fields(&self, live: &Live) -> Vec<(usize, Field)> {
        let pairs = self.pairs.iter().zip(&live[self.locals..]);
        pairs.filter(|(_, live)| !**live).map(|(pair, _)| *pair).collect()
    }

    /// Returns the live variables before each instruction, under the assumption that this local is
    /// a comparand; `any`: liveness once the local is overwritten.
    fn live(&self, assumed: Option<usize>, any: &[Live]) -> Vec<Live> {
        let none = vec![false; self.locals + self.pairs.len()];
        let mut live = vec![none.clone(); self.code.instructions.len()];
        loop {
            let mut grows = false;
            for (at, instruction) in self.code.instructions.iter().enumerate().rev() {
                let is_written = assumed.is_some() && assumed == written(instruction);
                let from = if is_written { any } else { &live[..] };
                let mut after = none.clone();
                for next in self.successors(at, assumed) {
                    let next = from.get(next).map_or(&[][..], |next| next);
                    after.iter_mut().zip(next).for_each(|(after, next)| *after |= next);
                }
                let now = self.transfer(at, after, assumed);
                grows |= now != live[at];
                live[at] = now;
            }
            if !grows {
                return live;
            }
        }
    }

    /// Returns the successors. A CAS that expects the assumed local fails, and takes the branch of
    /// the test that follows it, if any.
    fn successors(&self, at: usize, assumed: Option<usize>) -> Vec<usize> {
        let instruction = &self.code.instructions[at];
        if let Instruction::Access { access: Access::CompareAndSwap(_, expected, _), .. } =
            instruction
            && assumed.is_some()
            && local(expected) == assumed
            && let Some(target) = self.failure(at)
        {
            return vec![target];
        }
        successors(instruction, at)
    }

    fn transfer(&self, at: usize, after: Live, assumed: Option<usize>) -> Live {
        let mut live = after;
        let instruction = &self.code.instructions[at];
        if let Instruction::Access { access, into, .. } = instruction {
            self.access(at, (access, *into), assumed, &mut live);
            return live;
        }
        instruction.into().into_iter().for_each(|place| self.stored(place, &mut live));
        match instruction {
            Instruction::BeginFor(this) => self.kill(this.variable.0 as usize, &mut live),
            Instruction::NextFor(this) => live[this.variable.0 as usize] = true,
            _ => {}
        }
        instruction.operands().into_iter().for_each(|operand| self.read(operand, &mut live));
        live
    }

    fn access(
        &self,
        at: usize,
        (access, into): (&Access, Option<&Place>),
        assumed: Option<usize>,
        live: &mut Live,
    ) {
        let is_assumed = |value: &Expression| assumed.is_some() && local(value) == assumed;
        let takes_part = into.is_some_and(|into| match into.root {
            Root::Local(of) => !into.path.is_empty() || live[of.0 as usize],
            Root::Private(_) => true,
        });
        into.iter().for_each(|place| self.stored(place, live));
        let base = self.base(access.place());
        match access {
            Access::Read(_) => {
                if !matches!(base, Some((Some(base), _)) if Some(base) == assumed) || takes_part {
                    self.located(access.place(), live);
                }
            }
            Access::Write(place, value) => {
                let pair = base.and_then(|(base, field)| self.pair(base?, field));
                let is_private =
                    base.is_some_and(|(base, _)| !base.is_none_or(|base| self.escaped[at][base]));
                let is_kept =
                    pair.is_none_or(|pair| std::mem::take(&mut live[pair])) || !is_private;
                if !is_assumed(value) || is_kept {
                    self.read(value, live);
                }
                match base {
                    Some((Some(base), _)) => live[base] = true,
                    _ => self.located(place, live),
                }
            }
            Access::CompareAndSwap(place, expected, new) => {
                if !is_assumed(expected) {
                    self.read(expected, live);
                    self.read(new, live);
                }
                self.located(place, live);
            }
            Access::LoadLinked(place) | Access::Validate(place) => self.located(place, live),
            Access::StoreConditional(place, value) => {
                self.read(value, live);
                self.located(place, live);
            }
        }
    }

    /// Marks the variables that locate a cell as live.
    fn located(&self, place: &CellPlace, live: &mut Live) {
        match self.base(place) {
            Some((Some(base), field)) => {
                live[base] = true;
                if let Some(pair) = self.pair(base, field) {
                    live[pair] = true;
                }
            }
            Some((None, _)) => live.iter_mut().for_each(|live| *live = true),
            None => place.indices.iter().for_each(|index| self.read(index, live)),
        }
    }

    /// Returns the field of a cell, and the local that points to its node, if any.
    fn base(&self, place: &CellPlace) -> Option<(Option<usize>, Field)> {
        let field = (self.field)(place.variable)?;
        let [index] = place.indices.as_slice() else { return Some((None, field)) };
        Some((local(index), field))
    }

    fn pair(&self, base: usize, field: Field) -> Option<usize> {
        let position = self.pairs.iter().position(|pair| *pair == (base, field))?;
        Some(self.locals + position)
    }

    /// Kills a local that is overwritten: it points to another node now, or to none.
    fn kill(&self, local: usize, live: &mut Live) {
        live[local] = false;
        for (pair, live) in self.pairs.iter().zip(&mut live[self.locals..]) {
            *live &= pair.0 != local;
        }
    }

    fn stored(&self, place: &Place, live: &mut Live) {
        if let Root::Local(local) = place.root {
            match place.path.is_empty() {
                true => self.kill(local.0 as usize, live),
                false => live[local.0 as usize] = true,
            }
        }
        place.indices().for_each(|index| self.read(index, live));
    }

    /// Marks an operand live with all its fields: a read may create another pointer to them.
    fn read(&self, expression: &Expression, live: &mut Live) {
        if let Some(local) = local(expression) {
            live[local] = true;
            for (pair, live) in self.pairs.iter().zip(&mut live[self.locals..]) {
                *live |= pair.0 == local;
            }
        }
        expression.operands().into_iter().for_each(|operand| self.read(operand, live));
    }
}

/// Returns the local that an expression denotes, possibly as an optional.
fn local(expression: &Expression) -> Option<usize> {
    match &expression.kind {
        ExpressionKind::Local(LocalId(local)) => Some(*local as usize),
        ExpressionKind::Some(inner) | ExpressionKind::Unwrap(inner) => local(inner),
        _ => None,
    }
}

fn locals_in(expression: &Expression, found: &mut Vec<usize>) {
    found.extend(local(expression));
    expression.operands().into_iter().for_each(|operand| locals_in(operand, found));
}

/// Returns the local that an instruction overwrites completely.
fn written(instruction: &Instruction<'_>) -> Option<usize> {
    let place = instruction.into()?;
    match place.root {
        Root::Local(local) if place.path.is_empty() => Some(local.0 as usize),
        _ => None,
    }
}
