//! *Lost* processes: their link to an LL/SC cell is broken, and until they link to it again, or
//! return, none of their steps matters to other processes.
//!
//! While a process is lost, every SC and VL on the cell fails. If on all paths, given that, the
//! process writes nothing that is kept, and none of its reads and links is used after the paths,
//! then the paths make no difference: it counts as having completed one, as soon as its link is
//! broken. So of a late helper, a view shows only where it will test its link again.
//!
//! A state of the program stands for all such paths. It is related to a view for each of them;
//! steps of others change neither the paths nor their ends, and a step of the process on its path
//! removes some of them. Responding earlier only adds precedence, as shrinking does.

use rustc_hash::FxHashSet;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::SharedId;

use super::liveness::{successors, target};
use super::model::{Act, Cell, Instruction, Model};
use super::names::Use;
use super::shape::{BASE, I};
use super::term::Term;

/// Known local truth values, by their offsets in the block.
type Known = Vec<(usize, bool)>;

/// Locations at which processes with a broken link to a variable are lost.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Not an array.
    pub variable: SharedId,
    /// Per instruction, the paths of a process; `None` if it is not lost.
    pub ways: Vec<Option<Ways>>,
}

/// Remaining paths of a lost process.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Ends of the paths.
    pub ends: Box<[usize]>,
    /// Names that must not be the process itself, since it writes its own row. They cannot become
    /// the process: that takes a write to the name.
    pub unnamed: Vec<usize>,
}

/// Returns the lost processes of each variable. Only if rounds are ghost scans, for then no result
/// of a process is judged, and only for vectors, for then faults are excluded elsewhere.
pub fn lost(model: &Model, deadline: Deadline<'_>) -> Vec<Lost> {
    if !model.obligation.is_of_round_vectors() {
        return Vec::new();
    }
    let linked = (0..).map(SharedId).zip(&model.links).filter(|(_, links)| links.is_some());
    let of = |variable: SharedId| {
        let ways = (0..model.code.len()).map(|at| ways(model, variable, at, deadline)).collect();
        Lost { variable, ways }
    };
    let is_single = |variable: &SharedId| {
        let links = model.links_of(I, *variable);
        let path = model.slots[links.start].link.as_ref().map(|(_, path)| path);
        links.len() == 1 && path.is_some_and(Vec::is_empty)
    };
    let single = linked.filter(|(variable, _)| is_single(variable));
    single.map(|(variable, _)| of(variable)).collect()
}

/// Returns the paths of a process from an instruction with a broken link.
fn ways(model: &Model, variable: SharedId, begin: usize, deadline: Deadline<'_>) -> Option<Ways> {
    if !model.code[begin].live_links[variable.0 as usize] {
        return None;
    }
    let mut search = Search::new(model, variable);
    let mut waiting: Vec<(usize, Known)> = vec![(begin, Vec::new())];
    let mut seen: FxHashSet<(usize, Known)> = FxHashSet::default();
    while let Some((at, known)) = waiting.pop() {
        if deadline.is_over() {
            return None;
        }
        if !seen.insert((at, known.clone())) {
            continue;
        }
        waiting.extend(search.go(at, known)?);
    }
    // A process that loops for ever stays at its location.
    (!search.ends.is_empty() && search.is_harmless()).then(|| {
        search.ends.sort_unstable();
        Ways { ends: search.ends.into(), unnamed: search.unnamed }
    })
}

/// All paths from an instruction, and their effects.
struct Search<'m> {
    model: &'m Model,
    variable: SharedId,
    /// Ends of the paths.
    ends: Vec<usize>,
    /// Locals that the paths set, by their offsets in the block.
    set: Vec<usize>,
    /// Variables to which the paths change links.
    linked: Vec<SharedId>,
    /// Loops that the paths continue: the first instruction of the body, and the first behind.
    loops: Vec<(usize, usize)>,
    /// Names whose rows the paths write at the process's own index.
    unnamed: Vec<usize>,
}

impl<'m> Search<'m> {
    fn new(model: &'m Model, variable: SharedId) -> Self {
        let (ends, set, linked) = (Vec::new(), Vec::new(), Vec::new());
        let (loops, unnamed) = (Vec::new(), Vec::new());
        Self { model, variable, ends, set, linked, loops, unnamed }
    }

    /// Returns the successors of an instruction on the paths; `None` if the instruction may matter.
    fn go(&mut self, at: usize, mut known: Known) -> Option<Vec<(usize, Known)>> {
        let one: &Instruction = &self.model.code[at];
        let is_own = |cell: &Cell| cell.variable == self.variable;
        match &one.act {
            // The path ends here; execution continues as usual.
            Act::LoadLinked(cell, _) if is_own(cell) => return self.end(at),
            Act::Call(..) | Act::Return(_) => return self.end(at),
            // The block is one step, a part of which would be made as usual.
            Act::Atomic if !self.is_closed(at) => return None,
            Act::Unless(condition, to) => {
                let next = match truth(condition, &known) {
                    Some(true) => vec![at + 1],
                    Some(false) => vec![*to],
                    None => vec![at + 1, *to],
                };
                return Some(next.into_iter().map(|next| (next, known.clone())).collect());
            }
            Act::Begin(this) | Act::Next(this) => {
                if !self.loops.contains(&(this.body, this.end)) {
                    self.loops.push((this.body, this.end));
                }
            }
            Act::Validate(cell, _) | Act::StoreConditional(cell, ..) if is_own(cell) => {
                self.store(one, Some(false), &mut known)?;
            }
            Act::Write(..) if matches!(one.used, Some(Use::Own(..))) => {
                if let Some(Use::Own(name, _)) = one.used
                    && !self.unnamed.contains(&name)
                {
                    self.unnamed.push(name);
                }
                if one.round.is_some() || one.point {
                    return None;
                }
            }
            Act::StoreConditional(..) | Act::Write(..) | Act::Swap(..) => {
                if one.pause != [false; 3] || one.round.is_some() || one.point {
                    return None;
                }
                self.store(one, None, &mut known)?;
            }
            Act::LoadLinked(cell, _) => {
                self.linked.push(cell.variable);
                self.linked.extend(self.model.row_of(cell.variable).map(|(row, _)| row.array));
                self.store(one, None, &mut known)?;
            }
            Act::Read(..) | Act::Validate(..) => self.store(one, None, &mut known)?,
            Act::Assign(_, value) => {
                let value = truth(value, &known);
                self.store(one, value, &mut known)?;
            }
            Act::Jump(_) | Act::Atomic | Act::EndAtomic => {}
            Act::Idle => return None,
        }
        let next = successors(&one.act, at).into_iter();
        Some(next.map(|next| (next, known.clone())).collect())
    }

    fn end(&mut self, at: usize) -> Option<Vec<(usize, Known)>> {
        if !self.ends.contains(&at) {
            self.ends.push(at);
        }
        Some(Vec::new())
    }

    /// Returns true if an atomic block has neither another exit than its end, nor an LL on the
    /// variable.
    fn is_closed(&self, at: usize) -> bool {
        let mut depth = 0;
        for one in &self.model.code[at..] {
            match &one.act {
                Act::Atomic => depth += 1,
                Act::EndAtomic => depth -= 1,
                Act::Call(..) | Act::Return(_) => return false,
                Act::LoadLinked(cell, _) if cell.variable == self.variable => return false,
                _ => {}
            }
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Records a store of a value, if known; `None` if it is kept for later operations.
    fn store(&mut self, one: &Instruction, value: Option<bool>, known: &mut Known) -> Option<()> {
        let Some(into) = target(&one.act) else { return Some(()) };
        if into.private.is_some() {
            return None;
        }
        let bytes = into.room.base..into.room.base + into.room.size;
        known.retain(|(at, _)| !bytes.contains(at));
        if let (Some(value), 1, true) = (value, into.room.size, into.path.is_empty()) {
            known.push((into.room.base, value));
            known.sort_unstable();
        }
        if !self.set.contains(&into.room.base) {
            self.set.push(into.room.base);
        }
        Some(())
    }

    /// Returns true if no effect of the paths is used behind them.
    fn is_harmless(&self) -> bool {
        self.ends.iter().all(|&end| {
            let one = &self.model.code[end];
            let locals = &self.model.frames[one.procedure.0 as usize].locals;
            let mut live = locals.iter().zip(&one.live).filter(|(_, live)| **live);
            let is_set = live.any(|(room, _)| self.set.contains(&room.base));
            let is_linked = self.linked.iter().any(|of| one.live_links[of.0 as usize]);
            let is_within = self.loops.iter().any(|(body, behind)| (*body..*behind).contains(&end));
            !is_set && !is_linked && !is_within
        })
    }
}

/// Evaluates a condition, from the known locals.
fn truth(term: &Term, known: &Known) -> Option<bool> {
    match term {
        Term::Variable(base, 1) => known.iter().find(|(at, _)| at == base).map(|(_, value)| *value),
        Term::Constant(bytes) if bytes.len() == 1 && bytes[0] >= BASE && bytes[0] <= BASE + 1 => {
            Some(bytes[0] != BASE)
        }
        Term::Not(inner) => truth(inner, known).map(|truth| !truth),
        Term::Connected(all, one, two) => match (truth(one, known), truth(two, known)) {
            (Some(one), _) if one != *all => Some(one),
            (_, Some(two)) if two != *all => Some(two),
            (Some(_), Some(_)) => Some(*all),
            _ => None,
        },
        _ => None,
    }
}
