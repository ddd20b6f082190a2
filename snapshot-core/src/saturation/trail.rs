//! Suppositions about the order of operations, and the consequences of a failure.
//!
//! Where scans are partial, an undetermined pair may be ordered in a way that makes no cycle now
//! and yet is wrong: choices have to be taken back. As in satisfiability modulo orders, a cycle is
//! analysed: its derivation names the suppositions that it uses, and so the converse of the latest
//! one of these follows from the others. The converse is learned: all suppositions after the second
//! latest are taken back (backjumping), and the converse holds from there on, with the derivation
//! as its reason. Each reason is kept, since together they are the proof if no supposition remains.
//!
//! **Termination.** There are finitely many pairs, and each failure puts a further learned order
//! below fewer suppositions (Nieuwenhuis, Oliveras, Tinelli 2006, Theorem 2.10).

use super::proof::Derivation;
use super::relation::{Cycle, Relation};
use crate::OperationId;
use crate::verdict::{Line, Refutation, Rule};

/// The largest number of lines, or of nested suppositions, of a proof.
const MOST_LINES: usize = 1 << 20;
const MOST_DEPTH: usize = 500;

/// An order of two operations that currently holds.
#[derive(Clone, Debug)]
struct Held {
    before: u32,
    after: u32,
    /// The levels of the suppositions that it depends on, ascending; for a supposition, its own.
    levels: Vec<usize>,
    /// The reason of a learned order.
    reason: Option<usize>,
}

impl Held {
    fn level(&self) -> usize {
        self.levels.last().copied().unwrap_or(0)
    }
}

/// A contradiction that follows from some orders.
#[derive(Clone, Debug)]
struct Lemma {
    /// The orders used, oldest first: operations, with the reason of a learned one.
    orders: Vec<(u32, u32, Option<usize>)>,
    /// The derivation; line `k` below the number of orders stands for order `k`.
    lines: Vec<Line>,
}

/// The analysis of a cycle.
struct Analysis {
    lemma: Lemma,
    /// The latest supposition that it depends on; `None`: the history is refuted.
    refuted: Option<(u32, u32)>,
    /// The levels of the other suppositions, ascending.
    levels: Vec<usize>,
}

/// The result of a supposition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// The supposition holds.
    Holds,
    /// The supposition failed; suppositions were taken back, and a converse was learned.
    Learned,
    /// The history is refuted: see [`Trail::refutation`].
    Refuted,
}

/// Counts of suppositions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Effort {
    /// Orders that were supposed.
    pub supposed: u64,
    /// Suppositions that led to a contradiction.
    pub failed: u64,
    /// Operations that were taken back from the schedule.
    pub taken_back: u64,
}

/// The current suppositions, and the learned orders.
#[derive(Debug, Default)]
pub(super) struct Trail {
    held: Vec<Held>,
    level: usize,
    lemmas: Vec<Lemma>,
    pub effort: Effort,
    /// Approximate number of bytes of lemmas.
    pub bytes: usize,
    /// Operations whose clocks rose at the last step; meaningless after a failure.
    pub risen: Vec<u32>,
}

impl Trail {
    /// Supposes that one operation comes before another one.
    pub fn suppose(&mut self, relation: &mut Relation, before: u32, after: u32) -> Step {
        self.effort.supposed += 1;
        self.level += 1;
        relation.begin_trial();
        self.held.push(Held { before, after, levels: vec![self.level], reason: None });
        let Err(mut found) = relation.order(before, after) else {
            self.risen.clear();
            relation.each_risen(|operation| self.risen.push(operation));
            return Step::Holds;
        };
        self.effort.failed += 1;
        loop {
            let analysis = self.analyse(relation, found);
            let Analysis { lemma, refuted, levels } = analysis;
            self.bytes += lemma.lines.len() * size_of::<Line>() + lemma.orders.len() * 16;
            self.lemmas.push(lemma);
            self.take_back(relation, levels.last().copied().unwrap_or(0));
            let Some((after, before)) = refuted else { return Step::Refuted };
            let reason = Some(self.lemmas.len() - 1);
            self.held.push(Held { before, after, levels, reason });
            match relation.order(before, after) {
                Ok(()) => return Step::Learned,
                Err(next) => found = next,
            }
        }
    }

    fn take_back(&mut self, relation: &mut Relation, level: usize) {
        while self.level > level {
            relation.undo_trial();
            self.level -= 1;
        }
        self.held.retain(|held| held.level() <= level);
    }

    /// Finds the suppositions that a cycle depends on.
    fn analyse(&self, relation: &Relation, found: Cycle) -> Analysis {
        let mut derivation = Derivation::new(relation, &super::id);
        for held in &self.held {
            derivation.push(held.before, held.after, Rule::Suppose);
        }
        let is_derived = derivation.derive(found.operation, found.operation).is_some();
        debug_assert!(is_derived, "a cycle is made of edges");
        let (lines, used) = used_lines(derivation.lines, self.held.len());
        let used: Vec<&Held> = used.iter().map(|at| &self.held[*at]).collect();
        let mut levels: Vec<usize> =
            used.iter().flat_map(|held| held.levels.iter().copied()).collect();
        levels.sort_unstable();
        levels.dedup();
        let refuted = levels.pop().and_then(|latest| {
            let is_it = |held: &&Held| held.reason.is_none() && held.level() == latest;
            self.held.iter().find(is_it).map(|held| (held.before, held.after))
        });
        let orders = used.iter().map(|held| (held.before, held.after, held.reason)).collect();
        Analysis { lemma: Lemma { orders, lines }, refuted, levels }
    }

    /// The proof, once the history is refuted; `None` if it is too large to be written.
    pub fn refutation(&self) -> Option<Refutation> {
        let mut proof = Proof { lemmas: &self.lemmas, lines: Vec::new(), known: Vec::new() };
        proof.write(self.lemmas.last()?, 0)?;
        Some(Refutation { lines: proof.lines })
    }
}

/// Returns the lines that the last one depends on, renumbered, and the used ones of the first
/// `orders`.
fn used_lines(lines: Vec<Line>, orders: usize) -> (Vec<Line>, Vec<usize>) {
    let mut is_used = vec![false; lines.len()];
    is_used[lines.len() - 1] = true;
    for at in (0..lines.len()).rev().filter(|at| *at >= orders) {
        if !is_used[at] {
            continue;
        }
        match lines[at].rule {
            Rule::Chain { first, second } => (is_used[first], is_used[second]) = (true, true),
            Rule::Block { because, .. } => is_used[because] = true,
            _ => {}
        }
    }
    let mut number = 0;
    let place: Vec<usize> = is_used
        .iter()
        .map(|used| {
            number += usize::from(*used);
            number - usize::from(*used)
        })
        .collect();
    let kept = lines.into_iter().enumerate().filter(|(at, _)| is_used[*at]);
    let renumbered = kept.map(|(_, line)| line.renumbered(|to| place[to]));
    (renumbered.collect(), (0..orders).filter(|at| is_used[*at]).collect())
}

/// Writes lemmas below the suppositions that they depend on.
struct Proof<'t> {
    lemmas: &'t [Lemma],
    lines: Vec<Line>,
    /// The orders that hold at the current line of the proof, with their lines.
    known: Vec<(u32, u32, usize)>,
}

impl Proof<'_> {
    fn write(&mut self, lemma: &Lemma, depth: usize) -> Option<()> {
        if self.lines.len() > MOST_LINES || depth > MOST_DEPTH {
            return None;
        }
        let mut places = Vec::with_capacity(lemma.lines.len());
        for &(before, after, reason) in &lemma.orders {
            let known = self.known.iter().find(|(a, b, _)| (*a, *b) == (before, after));
            let line = match (known, reason) {
                (Some((_, _, line)), _) => *line,
                (None, None) => return None,
                (None, Some(reason)) => {
                    let length = self.known.len();
                    self.push(after, before, Rule::Suppose);
                    self.write(&self.lemmas[reason], depth + 1)?;
                    self.known.truncate(length);
                    self.push(before, after, Rule::Otherwise)
                }
            };
            places.push(line);
        }
        for line in &lemma.lines[lemma.orders.len()..] {
            let line = line.renumbered(|to| places[to]);
            places.push(self.lines.len());
            self.lines.push(line);
        }
        Some(())
    }

    fn push(&mut self, before: u32, after: u32, rule: Rule) -> usize {
        let id = |operation: u32| OperationId::from_index(operation as usize);
        self.known.push((before, after, self.lines.len()));
        self.lines.push(Line { before: id(before), after: id(after), rule });
        self.lines.len() - 1
    }
}
