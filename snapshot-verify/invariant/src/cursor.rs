//! Counters as positions among the processes, in turn.
//!
//! A *cursor* is a counter c of which `process((c + a) mod n)` is taken. Its byte is a *window*: for
//! each of the first places a, whether that process is i, j, t or any other. A window is a function
//! of c, n, i, j and t, however c came about, so no form of the program is required: c + 1 loses the
//! first place and has an unknown last one, copies have the same window, and counters whose windows
//! differ at a place differ. Nothing else is known: n may be 2, so all places but neighbours may
//! coincide, and no order of i, j and t among the processes is assumed.
//!
//! Whether a scalar holds windows or its relation to the [clock](crate::clock) is a guess.

use crate::byte::{ANY, BASE, NONE, OTHER, T};
use crate::centre::is_central;
use crate::claim::Ghosts;
use crate::clock::{SOME, UNTIL};
use crate::layout::{Layout, Leaf, Scalar};

/// Most places of a window.
pub const MOST: usize = 3;

/// Members that a place may be, and unknown.
const UNKNOWN: u8 = OTHER + 1;
const CHOICES: u8 = UNKNOWN + 1;

/// The first window.
const FIRST: u8 = UNTIL + 1;

/// Per place, a member, or [`UNKNOWN`].
type Window = [u8; MOST];

/// Returns the window of a byte; nothing is known of other bytes.
fn window(byte: u8) -> Window {
    let Some(mut code) = byte.checked_sub(FIRST) else { return [UNKNOWN; MOST] };
    [0; MOST].map(|_| {
        let place = code % CHOICES;
        code /= CHOICES;
        place
    })
}

/// Returns the byte of a window: [`SOME`] if nothing is known.
fn byte_of(window: Window) -> u8 {
    match window {
        [UNKNOWN, UNKNOWN, UNKNOWN] => SOME,
        window => FIRST + window.iter().rev().fold(0, |code, place| code * CHOICES + place),
    }
}

/// Returns true if a byte is a window of which something is known.
pub const fn is_window(byte: u8) -> bool {
    byte >= FIRST
}

/// Returns the byte of the process at a place; [`ANY`] if it is unknown.
pub fn place(byte: u8, at: usize) -> u8 {
    match window(byte).get(at) {
        None | Some(&UNKNOWN) => ANY,
        Some(member) => BASE + member,
    }
}

/// Returns the byte of a counter plus 1.
pub fn successor(byte: u8) -> u8 {
    let [_, second, third] = window(byte);
    byte_of([second, third, UNKNOWN])
}

/// Returns true if one of the first places is unknown.
pub fn is_open(byte: u8, width: usize) -> bool {
    window(byte)[..width].contains(&UNKNOWN)
}

/// Returns true if two windows are those of different counters.
pub fn differ(one: u8, two: u8) -> bool {
    let is_known = |place: &u8| *place != UNKNOWN;
    let mut places = std::iter::zip(window(one), window(two));
    places.any(|(one, two)| is_known(&one) && is_known(&two) && one != two)
}

/// Returns a window in which each place is translated.
pub fn translated(byte: u8, to: impl Fn(u8) -> u8) -> u8 {
    match is_window(byte) {
        true => byte_of(window(byte).map(|place| if place == UNKNOWN { place } else { to(place) })),
        false => byte,
    }
}

/// Returns a byte with its first places only; counters without a window are known to be there.
fn cut(byte: u8, width: usize) -> u8 {
    let mut window = window(byte);
    window[width..].fill(UNKNOWN);
    byte_of(window)
}

/// Returns all windows that a byte stands for, if each unknown one of the first places is one of
/// these members.
fn spelled(byte: u8, width: usize, members: &[u8]) -> Vec<u8> {
    let mut all = vec![window(byte)];
    for at in 0..width {
        all = all
            .into_iter()
            .flat_map(|window| {
                let chosen: &[u8] = if window[at] == UNKNOWN { members } else { &window[at..=at] };
                let with = |member: &u8| {
                    let mut window = window;
                    window[at] = *member;
                    window
                };
                chosen.iter().map(with).collect::<Vec<_>>()
            })
            .collect();
    }
    all.into_iter().map(byte_of).collect()
}

/// Returns the windows, in a view of t or without t, of a window in the view of another process: t
/// stands for that process there, and *other* may be t here.
pub fn seen_by_others(byte: u8, has_tracked: bool) -> Vec<u8> {
    let mut all = vec![window(byte)];
    for at in 0..MOST {
        let way = |place: u8| match place {
            T => [OTHER, OTHER],
            OTHER if has_tracked => [OTHER, T],
            place => [place, place],
        };
        let both = all.iter().flat_map(|window| {
            way(window[at]).map(|place| {
                let mut window = *window;
                window[at] = place;
                window
            })
        });
        all = both.collect();
        all.dedup();
    }
    all.into_iter().map(byte_of).collect()
}

impl Layout<'_> {
    /// Makes a scalar hold windows of some places; `false`: it cannot. All cells of a variable hold
    /// them, if one does.
    pub fn set_window(&mut self, name: &str, width: usize) -> bool {
        let is_it = |slot: &crate::layout::Slot| {
            let is_counter = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Counter);
            slot.name == name && is_counter && slot.window == 0
        };
        let fits = (1..=MOST).contains(&width) && self.obligation.ghosts != Ghosts::Rounds;
        let Some(at) = self.slots.iter().position(is_it).filter(|_| fits) else { return false };
        let mut rooms = self.shared.iter().zip(&self.cells);
        let is_in = |base: usize, size: usize| (base..base + size).contains(&at);
        let all = rooms.find_map(|(_, cells)| {
            let (_, room) = cells.iter().find(|(_, room)| is_in(room.base, room.size))?;
            let offset = at - room.base;
            Some(cells.iter().map(|(_, room)| room.base + offset).collect())
        });
        for at in all.unwrap_or_else(|| vec![at]) {
            self.slots[at].window = width;
        }
        true
    }

    /// Returns the names of the scalars that hold windows, each with the number of places; of a
    /// variable with several cells the first.
    pub fn windows(&self) -> Vec<(String, usize)> {
        let is_first = |at: usize| {
            let mut cells = self.cells.iter().flat_map(|cells| cells.iter().skip(1));
            !cells.any(|(_, room)| (room.base..room.base + room.size).contains(&at))
        };
        let slots = self.slots.iter().enumerate();
        let of = slots.filter(|(at, slot)| slot.window > 0 && is_first(*at));
        of.map(|(_, slot)| (slot.name.clone(), slot.window)).collect()
    }

    /// Returns the scalars that name the actor of a step, each with the place of its window: those of
    /// the centre if t acts, and [names](crate::names) of rows.
    pub(crate) fn naming(&self, before: &[u8], actor: u8) -> Vec<(usize, usize)> {
        let names = self.names.iter().map(|at| (*at, 0));
        let places = |at: &usize| {
            let at = *at;
            (0..self.slots[at].window).map(move |place| (at, place))
        };
        let named = |(at, place): &(usize, usize)| {
            self.name_in(before, *at, *place) == BASE + T && is_central(self, before, *at)
        };
        let all = names.chain(self.cursors.iter().flat_map(places)).filter(|_| actor == T);
        let rows = (0..self.named.len()).map(|name| self.name_at(name));
        let rows = rows.filter(|at| before[*at] == BASE + actor).map(|at| (at, 0));
        all.filter(named).chain(rows).collect()
    }

    /// Returns the byte of a process that a scalar names: itself, or a place of its window.
    pub fn name_in(&self, state: &[u8], at: usize, of: usize) -> u8 {
        match self.slots[at].window {
            0 => state[at],
            _ => place(state[at], of),
        }
    }

    /// Returns a counter's byte as a scalar holds it.
    pub fn counted(&self, at: usize, leaf: Leaf, byte: u8) -> u8 {
        let is_counter = leaf.scalar == Scalar::Counter;
        match (byte, self.slots[at].window) {
            (NONE, _) => NONE,
            (ANY, _) if is_counter && !leaf.optional => SOME,
            (ANY, _) => ANY,
            (byte, 0) if is_window(byte) => SOME,
            (byte, 0) => byte,
            (byte, width) => cut(byte, width),
        }
    }

    /// Returns the windows that the byte of a scalar that holds windows stands for.
    pub(crate) fn spelled(&self, at: usize, byte: u8, members: &[u8]) -> Vec<u8> {
        let slot = &self.slots[at];
        let members: Vec<u8> = members.iter().copied().chain([OTHER]).collect();
        let may_be_none = byte == ANY && slot.leaf.is_some_and(|leaf| leaf.optional);
        let mut all = spelled(byte, slot.window, &members);
        all.extend(may_be_none.then_some(NONE));
        all
    }

    /// Returns true if a scalar that holds windows may have this byte.
    pub fn is_window_of(&self, at: usize, byte: u8, members: &[u8]) -> bool {
        let is_there = |place: u8| matches!(place, OTHER | UNKNOWN) || members.contains(&place);
        match byte {
            NONE | SOME => true,
            byte => {
                is_window(byte)
                    && window(byte).into_iter().all(is_there)
                    && byte_of(window(byte)) == byte
                    && cut(byte, self.slots[at].window) == byte
            }
        }
    }
}
