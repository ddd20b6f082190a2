//! Bits of which only the relation to others is listed.
//!
//! A class is a list of bytes. In a listed view, the known bits of a class are relative to the
//! first of them, the *lead*, which is 0: the view stands for itself and for its copy with all of
//! these bits flipped. So a step begins with bits that are symbols: the lead bit of the class, or
//! its negation ([`load`]). A symbol can be copied, negated and compared with a symbol of its
//! class; any other expression of it is unknown, and both branches are taken. For any choice of
//! classes, the successors of such a step hold for both values of the lead: nothing is presumed of
//! the program.
//!
//! After the step ([`normal`]), a symbol that makes up all known bits of one class, and occurs
//! nowhere else, leads that class; any other symbol is split into two views, one per value. Then
//! each class is flipped so that its lead is 0, which loses information.
//!
//! Views of one state are joined where their centres are equal. So the centre must be a function of
//! the state, with flips, too: the lead is the first bit in the centre, if there is one, and
//! [`check`] confirms that the class of a byte of the centre does not depend on t.

use smallvec::SmallVec;

use crate::byte::{ANY, BASE, LOOSE, OTHER, T};
use crate::centre::Shared;
use crate::layout::{ByRound, Layout, Leaf, Scalar};

/// A byte of a class.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bit {
    pub at: usize,
    /// If the byte belongs to the class in one round of a loop only: the byte of the loop's
    /// variable, and the member that it must be.
    pub round: Option<(usize, u8)>,
}

/// Names of members in rounds; then any other, and any but t.
pub(crate) const MEMBERS: [&str; 5] = ["i", "j", "t", "-", "*"];

const TRUE: u8 = BASE + 1;

/// First byte of symbols, beyond the truth values.
const SYMBOLS: u8 = BASE + 2;

/// Maximum number of classes.
pub const MOST: usize = (u8::MAX as usize - SYMBOLS as usize) / 2;

/// Returns the lead of a class, or its negation.
pub const fn symbol(class: usize, negated: bool) -> u8 {
    SYMBOLS + 2 * class as u8 + negated as u8
}

/// Returns true if a byte of a truth value is a symbol.
pub const fn is_symbol(byte: u8) -> bool {
    byte >= SYMBOLS
}

pub const fn class(symbol: u8) -> usize {
    (symbol - SYMBOLS) as usize / 2
}

/// Returns the negation of a known truth value, or of a symbol.
pub const fn negated(byte: u8) -> u8 {
    byte ^ 1
}

/// Returns true for the truth value true, and for a negated symbol.
pub const fn is_odd(byte: u8) -> bool {
    byte & 1 == 1
}

impl Layout<'_> {
    /// Returns the bit of this name, in a round in which this local of its procedure is this
    /// member.
    pub fn bit(&self, name: &str, round: Option<(usize, u8)>) -> Option<Bit> {
        // An exhausted budget rejects all further lines.
        self.asks.go_on(self.slots.len()).then_some(())?;
        let at = self.slots.iter().position(|slot| slot.is_called(name))?;
        let slot = &self.slots[at];
        let Some((local, member)) = round else { return Some(Bit { at, round: None }) };
        let owner = usize::from(slot.owner?);
        let room = self.frames[slot.frame?].locals.get(local)?;
        let variable = self.blocks[owner] + room.base;
        let is_member = |leaf: Leaf| leaf.scalar == Scalar::Member && !leaf.optional;
        let of = &self.slots[variable];
        let is_one = room.size == 1 && of.leaf.is_some_and(is_member) && member <= LOOSE;
        is_one.then_some(Bit { at, round: Some((variable, member)) })
    }

    /// Extends a bit to the rounds of any other process, where these include the rounds of i and j.
    pub(crate) fn loosened(&self, bit: Bit) -> Bit {
        let is_loose = |variable: usize| self.loose_bytes.iter().any(|(_, one)| *one == variable);
        match bit.round {
            Some((variable, OTHER)) if is_loose(variable) => {
                Bit { round: Some((variable, LOOSE)), ..bit }
            }
            _ => bit,
        }
    }

    /// Parses a bit: `r[j].p[i]`, `t:scan.x#4@1=i`.
    pub fn bit_of_name(&self, word: &str) -> Option<Bit> {
        let Some((name, round)) = word.split_once('@') else { return self.bit(word, None) };
        let (local, member) = round.split_once('=')?;
        let member = MEMBERS.iter().position(|name| *name == member)?;
        self.bit(name, Some((local.parse().ok()?, member as u8)))
    }

    /// Returns the name of a bit.
    pub fn bit_name(&self, bit: Bit) -> String {
        let slot = &self.slots[bit.at];
        let name = slot.word();
        let (Some((variable, member)), Some(owner), Some(frame)) =
            (bit.round, slot.owner, slot.frame)
        else {
            return name;
        };
        let begin = self.blocks[usize::from(owner)];
        let locals = &self.frames[frame].locals;
        let local = locals.iter().position(|room| begin + room.base == variable);
        format!("{name}@{}={}", local.unwrap_or_default(), MEMBERS[usize::from(member)])
    }

    /// Returns the class of a byte at the present positions of the loops.
    pub fn class_of(&self, state: &[u8], at: usize) -> Option<usize> {
        let mut classes = self.class_bits.get(&at)?.iter();
        let counts = |round: Option<(usize, u8)>| {
            round.is_none_or(|(variable, member)| state[variable] == BASE + member)
        };
        classes.find(|(_, round)| counts(*round)).map(|(class, _)| *class)
    }

    /// Returns the possible values of an unknown byte, as symbols if it is in a class.
    pub fn values(&self, state: &[u8], at: usize, members: &[u8]) -> Option<SmallVec<[u8; 8]>> {
        match self.class_of(state, at) {
            Some(class) => Some(SmallVec::from_slice(&[symbol(class, false), symbol(class, true)])),
            None => Some(SmallVec::from_vec(self.slots[at].leaf?.values(members)?)),
        }
    }

    /// Indexes the classes by byte.
    pub(crate) fn index_classes(&mut self) {
        self.class_bits.clear();
        for (number, class) in self.classes.iter().enumerate() {
            for bit in class {
                self.class_bits.entry(bit.at).or_default().push((number, bit.round));
            }
        }
        let is_truth = |at: &usize| {
            let slot = &self.slots[*at];
            slot.kept && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Bool)
        };
        let all = (0..self.slots.len()).filter(is_truth);
        self.truths = if self.classes.is_empty() { Vec::new() } else { all.collect() };
        let of = |at: &usize| self.class_bits.get(at).cloned().unwrap_or_default();
        self.truth_classes = self.truths.iter().map(of).collect();
    }
}

/// Returns an error in the classes of a layout, if any: a byte must be a kept truth value that is
/// never none and be in one class at a time; if it may be in the centre, its class must not depend
/// on which process t is.
pub fn check(layout: &Layout<'_>) -> Result<(), &'static str> {
    for (&at, classes) in &layout.class_bits {
        let slot = &layout.slots[at];
        let is_truth = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Bool && !leaf.optional);
        if !slot.kept || !is_truth {
            return Err("bits that are kept");
        }
        if !layout.asks.go_on(layout.classes.iter().map(Vec::len).sum()) {
            return Err("time");
        }
        for (number, (_, round)) in classes.iter().enumerate() {
            let is_other = |(_, other): &(usize, Option<(usize, u8)>)| match (round, other) {
                (Some((variable, member)), Some((same, other))) => {
                    variable == same && member != other
                }
                _ => false,
            };
            if !classes[..number].iter().all(is_other) {
                return Err("one class for each bit");
            }
        }
        let is_of = |member: u8| {
            let is = |round: Option<(usize, u8)>| round.is_some_and(|(_, one)| one == member);
            classes.iter().find(|(_, round)| is(*round)).map(|(class, _)| *class)
        };
        if !may_be_central(layout, at) {
            continue;
        }
        // A round of t is a round of any other to other views: then the bit leads in all of them.
        let is_variable = |(_, variable): &(usize, usize)| {
            classes.iter().any(|(_, round)| round.is_some_and(|(one, _)| one == *variable))
        };
        let is_loose = layout.loose_bytes.iter().any(is_variable);
        let (tracked, other) = (is_of(T), is_of(if is_loose { LOOSE } else { OTHER }));
        if tracked.is_some() != other.is_some() {
            return Err("a class in the rounds of t and of any other");
        }
        for class in tracked.into_iter().chain(other) {
            let is_alone = |bit: &Bit| bit.at == at || !may_be_central(layout, bit.at);
            if !layout.classes[class].iter().all(is_alone) {
                return Err("one bit of the centre in a class of a round");
            }
        }
    }
    Ok(())
}

/// Returns true if a byte may be known in the centre: procedures that run in ghost scans only are
/// never in it.
fn may_be_central(layout: &Layout<'_>, at: usize) -> bool {
    let slot = &layout.slots[at];
    !slot.tracked && slot.frame.is_none_or(|frame| layout.outside[frame])
}

/// Returns, per truth value, its class at the present positions of the loops.
fn classes(layout: &Layout<'_>, state: &[u8]) -> SmallVec<[Option<u8>; 64]> {
    let counts = |(_, round): &&(usize, Option<(usize, u8)>)| {
        round.is_none_or(|(variable, member)| state[variable] == BASE + member)
    };
    let of = |classes: &ByRound| classes.iter().find(counts).map(|(class, _)| *class as u8);
    layout.truth_classes.iter().map(of).collect()
}

/// Replaces the bits of a listed view by symbols.
pub fn load(layout: &Layout<'_>, view: &[u8]) -> Vec<u8> {
    let mut state = view.to_vec();
    for (&at, class) in layout.truths.iter().zip(classes(layout, view)) {
        if let (BASE | TRUE, Some(class)) = (state[at], class) {
            state[at] = symbol(usize::from(class), is_odd(state[at]));
        }
    }
    state
}

/// Returns the views of a state after a step: symbols that do not make up one class are split by
/// value, and classes lead with 0.
pub fn normal(layout: &Layout<'_>, state: Vec<u8>) -> Vec<Vec<u8>> {
    let mut done = Vec::new();
    normal_into(layout, state, &mut done);
    done
}

/// As [`normal`], behind views that are there.
pub(crate) fn normal_into(layout: &Layout<'_>, mut state: Vec<u8>, done: &mut Vec<Vec<u8>>) {
    if layout.classes.is_empty() {
        done.push(state);
        return;
    }
    let of = classes(layout, &state);
    let Some(first) = mixed(layout, &state, &of) else {
        lead(layout, &mut state, &of);
        done.push(state);
        return;
    };
    let begin = done.len();
    let mut waiting = vec![(state, Some(first))];
    while let Some((mut state, mixed)) = waiting.pop() {
        let Some(mixed) = mixed else {
            lead(layout, &mut state, &of);
            if !done[begin..].contains(&state) {
                done.push(state);
            }
            continue;
        };
        for value in [false, true] {
            let mut state = state.clone();
            for &at in &layout.truths {
                if is_symbol(state[at]) && class(state[at]) == mixed {
                    state[at] = BASE + u8::from(is_odd(state[at]) != value);
                }
            }
            let mixed = self::mixed(layout, &state, &of);
            waiting.push((state, mixed));
        }
    }
}

/// Of a class without known bits.
const NOTHING: u8 = 0;
/// Of a class whose known bits are values.
const VALUES: u8 = 1;

/// Returns a symbol that does not make up one class.
fn mixed(layout: &Layout<'_>, state: &[u8], of: &[Option<u8>]) -> Option<usize> {
    // Per class, its known bits: nothing, values, or a symbol behind these.
    let mut held = [NOTHING; MOST];
    // Per symbol, the class that it occurs in, plus 1.
    let mut places = [0; MOST];
    for (&at, &in_class) in layout.truths.iter().zip(of) {
        let byte = state[at];
        if byte == ANY {
            continue;
        }
        let symbol = is_symbol(byte).then(|| class(byte));
        if let Some(symbol) = symbol {
            let Some(in_class) = in_class else { return Some(symbol) };
            if !matches!(places[symbol], 0) && places[symbol] != in_class + 1 {
                return Some(symbol);
            }
            places[symbol] = in_class + 1;
        }
        let Some(in_class) = in_class.map(usize::from) else { continue };
        let now = symbol.map_or(VALUES, |symbol| symbol as u8 + VALUES + 1);
        let before = std::mem::replace(&mut held[in_class], now);
        if before != NOTHING && before != now {
            return symbol
                .filter(|_| before == VALUES)
                .or(before.checked_sub(VALUES + 1).map(usize::from));
        }
    }
    None
}

/// Flips each class so that it leads with 0.
fn lead(layout: &Layout<'_>, state: &mut [u8], of: &[Option<u8>]) {
    let shared = Shared::new(layout, state);
    // Per class: whether the lead is in the centre, and whether it is odd.
    let mut leads = [None; MOST];
    for (&at, class) in layout.truths.iter().zip(of) {
        let (Some(class), true) = (class, state[at] != ANY) else { continue };
        let lead = &mut leads[usize::from(*class)];
        if !matches!(lead, Some((true, _))) {
            let is_central = shared.has(at);
            if lead.is_none() || is_central {
                *lead = Some((is_central, is_odd(state[at])));
            }
        }
    }
    for (&at, class) in layout.truths.iter().zip(of) {
        let (Some(class), true) = (class, state[at] != ANY) else { continue };
        let is_true = leads[usize::from(*class)].is_some_and(|(_, lead)| lead != is_odd(state[at]));
        state[at] = BASE + u8::from(is_true);
    }
}

/// Returns a byte of the centre that holds a symbol of a class, in a loaded view.
pub fn in_centre(layout: &Layout<'_>, state: &[u8], of: usize) -> Option<usize> {
    let shared = Shared::new(layout, state);
    let holds = |at: &&usize| is_symbol(state[**at]) && class(state[**at]) == of;
    layout.truths.iter().filter(holds).find(|at| shared.has(**at)).copied()
}
