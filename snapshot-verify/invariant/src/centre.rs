//! Centre of a view: the part that all views of one state share.
//!
//! Views of a state with different tracked processes agree on the bytes of i and j alone. So each
//! byte in the centre is a function of the state, and definite. Excluded from the centre are the
//! scans of i and j, and bytes with t among their indices.

use std::rc::Rc;

use smallvec::SmallVec;
use snapshot_language::program::SharedId;

use crate::byte::{ANY, BASE, I, J, LOOSE, OTHER, T};
use crate::cursor;
use crate::layout::{Layout, RowOf, at, op};
use crate::step::{Failure, GAP, Kind, MEMBER, are_too_many};

/// Condition under which a byte of a view is in the centre.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Central {
    /// At all times.
    Always,
    /// At no time.
    Never,
    /// While its owner is outside scans (in a scan it counts as idle) and, if the byte's procedure
    /// may run in a ghost scan, outside ghost scans.
    Outside {
        owner: u8,
        /// True if the byte is in the frame of a procedure that may run in a ghost scan.
        ghostly: bool,
    },
    /// While its owner is outside scans. In a ghost scan also, unless the link is forgotten at the
    /// call of the ghost scan: there nothing was known of it, and only views that follow the owner
    /// learn of it.
    Link {
        owner: u8,
        /// Variable of the cell.
        variable: SharedId,
    },
}

/// Scans of i or of j.
#[derive(Clone, Copy, Debug)]
struct Inside {
    scan: bool,
    ghost: bool,
}

impl Inside {
    fn new(layout: &Layout<'_>, state: &[u8], owner: u8) -> Self {
        let block = layout.blocks[usize::from(owner)];
        let scan = matches!(state[block + at::OP], op::SCANS | op::GHOSTS..);
        Self { scan, ghost: state[block + at::GHOST] != 0 }
    }
}

impl Central {
    /// Returns the condition for a byte.
    pub fn new(layout: &Layout<'_>, byte: usize) -> Self {
        let slot = &layout.slots[byte];
        let Some(owner) = slot.owner.filter(|_| !slot.tracked) else {
            return if slot.tracked { Self::Never } else { Self::Always };
        };
        let block = layout.blocks[usize::from(owner)];
        if let Some(variable) = slot.linked() {
            return Self::Link { owner, variable };
        }
        match (slot.frame, byte - block) {
            (None, at::SWITCHED | at::END..) => Self::Always,
            (frame, _) => {
                let ghostly = frame.is_some_and(|frame| layout.ghostly[frame]);
                Self::Outside { owner, ghostly }
            }
        }
    }

    /// Returns true if the byte is in the centre during these scans of i and j; `None`: that also
    /// depends on the location of its owner.
    fn holds(self, inside: [Inside; 2]) -> Option<bool> {
        match self {
            Self::Always => Some(true),
            Self::Never => Some(false),
            Self::Outside { owner, ghostly } => {
                let Inside { scan, ghost } = inside[usize::from(owner)];
                Some(!(scan || ghostly && ghost))
            }
            Self::Link { owner, .. } => {
                let Inside { scan, ghost } = inside[usize::from(owner)];
                (scan || !ghost).then_some(!scan)
            }
        }
    }
}

/// Bytes in the centre during some scans of i and j.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// Per byte, 255 if it is in the centre, otherwise 0.
    bytes: Vec<u8>,
    /// Links that are in the centre, unless they are forgotten.
    links: Vec<usize>,
}

impl Mask {
    /// Returns the masks of a layout, in the order of their numbers.
    pub(crate) fn all(layout: &Layout<'_>) -> Vec<Self> {
        let inside = |number: usize| Inside { scan: number & 1 != 0, ghost: number & 2 != 0 };
        let of = |number: usize| {
            let inside = [inside(number), inside(number >> 2)];
            let mut mask = Self::default();
            for (at, condition) in layout.in_centre.iter().enumerate() {
                let holds = condition.holds(inside);
                mask.bytes.push(if holds == Some(false) { 0 } else { u8::MAX });
                mask.links.extend(holds.is_none().then_some(at));
            }
            mask
        };
        (0..16).map(of).collect()
    }
}

/// The bytes of a view that are in the centre.
#[derive(Clone, Copy)]
pub struct Shared<'a, 'p> {
    layout: &'a Layout<'p>,
    state: &'a [u8],
    mask: &'a Mask,
}

impl<'a, 'p> Shared<'a, 'p> {
    pub fn new(layout: &'a Layout<'p>, state: &'a [u8]) -> Self {
        let number = |owner: u8| {
            let Inside { scan, ghost } = Inside::new(layout, state, owner);
            usize::from(scan) | usize::from(ghost) << 1
        };
        Self { layout, state, mask: &layout.masks[number(I) | number(J) << 2] }
    }

    /// Returns true if a byte is in the centre.
    pub fn has(&self, byte: usize) -> bool {
        self.mask.bytes[byte] != 0
            && (self.mask.links.is_empty()
                || !self.mask.links.contains(&byte)
                || !self.is_forgotten(byte))
    }

    fn is_forgotten(&self, link: usize) -> bool {
        match self.layout.in_centre[link] {
            Central::Link { owner, variable } => {
                self.layout.is_unlinked(self.state, owner, variable)
            }
            _ => false,
        }
    }

    /// Returns the view, with 0 for the bytes outside the centre.
    fn bytes(&self) -> Vec<u8> {
        let bytes = self.state.iter().zip(&self.mask.bytes);
        let mut bytes: Vec<u8> = bytes.map(|(byte, mask)| byte & mask).collect();
        for &link in self.mask.links.iter().filter(|link| self.is_forgotten(**link)) {
            bytes[link] = 0;
        }
        bytes
    }
}

/// Returns true if a byte of a view is in the centre.
pub fn is_central(layout: &Layout<'_>, state: &[u8], byte: usize) -> bool {
    Shared::new(layout, state).has(byte)
}

/// Returns the centres of a view, as a view of each of these kinds, which differ in the place of t:
/// bytes outside the centre are 0, and t counts as any other process.
pub fn centres(layout: &Layout<'_>, kinds: &[Kind], state: &[u8]) -> SmallVec<[Vec<u8>; 1]> {
    let mut centre = Shared::new(layout, state).bytes();
    for &(position, variable) in &layout.loose_bytes {
        if matches!(centre[position], byte if byte == MEMBER + T || byte == GAP + 1 + T) {
            centre[position] = GAP;
        }
        if centre[variable] == BASE + T {
            centre[variable] = BASE + LOOSE;
        }
    }
    for &at in &layout.names {
        if centre[at] == BASE + T {
            centre[at] = BASE + OTHER;
        }
    }
    for &at in &layout.cursors {
        centre[at] = cursor::translated(centre[at], |place| if place == T { OTHER } else { place });
    }
    let is_of_t =
        |at: &&usize| matches!(centre[**at], byte if byte == MEMBER + T || byte == GAP + 1 + T);
    let positions: SmallVec<[usize; 8]> =
        layout.positions.iter().filter(is_of_t).copied().collect();
    if positions.is_empty() {
        return SmallVec::from_elem(centre, usize::from(!kinds.is_empty()));
    }
    let mut centres: SmallVec<[Vec<u8>; 1]> = SmallVec::new();
    for kind in kinds {
        let before = kind.members.iter().take_while(|member| **member != T).last();
        let mut centre = centre.clone();
        for &at in &positions {
            centre[at] = before.map_or(GAP, |member| GAP + 1 + member);
        }
        if !centres.contains(&centre) {
            centres.push(centre);
        }
    }
    centres
}

/// Returns the centre of a view of one kind.
pub fn centre(layout: &Layout<'_>, kind: &Kind, state: &[u8]) -> Vec<u8> {
    let mut centres = centres(layout, std::slice::from_ref(kind), state);
    centres.pop().unwrap_or_default()
}

/// Returns all ways to make the centre definite. A byte that is forgotten at its process's location
/// stays unknown in all views.
///
/// # Errors
/// If there are infinitely many, or [too many](are_too_many).
pub fn definite(
    layout: &Layout<'_>,
    kind: &Kind,
    mut state: Vec<u8>,
) -> Result<Vec<Vec<u8>>, Failure> {
    layout.forget_rows(kind, &mut state)?;
    let is_vague = |at: &usize| {
        layout.is_vague(*at, state[*at])
            && !(is_at_times(layout, *at) && is_forgotten(layout, &state, *at))
    };
    let told = told(layout, &state);
    let vague: SmallVec<[usize; 8]> = told.iter().copied().filter(is_vague).collect();
    if vague.is_empty() {
        return Ok(vec![state]);
    }
    let state = state.as_slice();
    let mut states = vec![state.to_vec()];
    for at in vague {
        let numbers = layout.numbers(at, state[at], &kind.members).map(SmallVec::from_vec);
        let Some(values) = numbers.or_else(|| layout.values(state, at, &kind.members)) else {
            return Err(Failure::Unsupported(
                "a version or a view that is kept of i or j, and unknown",
            ));
        };
        let count = states.len() * values.len();
        if are_too_many(count, state.len()) {
            return Err(Failure::TooMany);
        }
        if !layout.asks.go_on(count * state.len()) {
            return Err(Failure::Ended);
        }
        let with = |state: &Vec<u8>, value: u8| {
            let mut state = state.clone();
            state[at] = value;
            state
        };
        states = states
            .iter()
            .flat_map(|state| values.iter().map(|value| with(state, *value)).collect::<Vec<_>>())
            .collect();
    }
    Ok(states)
}

/// Where i and j stand: their operations, and the locations of their frames.
pub type Standing = SmallVec<[u8; 24]>;

/// Returns the bytes of the centre that must be definite where i and j stand, and those of which
/// that depends on more.
fn told(layout: &Layout<'_>, state: &[u8]) -> Rc<[usize]> {
    let mut standing = Standing::new();
    for block in &layout.blocks[..2] {
        standing.extend([at::OP, at::GHOST].map(|offset| state[block + offset]));
        standing.extend(layout.frames.iter().map(|frame| state[block + frame.at]));
    }
    if let Some(told) = layout.told.borrow().get(&standing) {
        return Rc::clone(told);
    }
    let shared = Shared::new(layout, state);
    let is_told = |at: &usize| {
        shared.has(*at) && (is_at_times(layout, *at) || !is_forgotten(layout, state, *at))
    };
    let told: Rc<[usize]> = layout.central.iter().copied().filter(is_told).collect();
    layout.told.borrow_mut().insert(standing, Rc::clone(&told));
    told
}

/// Returns true if it depends on more than where its process stands whether a byte is forgotten: on
/// names in force, and on loops that run.
fn is_at_times(layout: &Layout<'_>, byte: usize) -> bool {
    let slot = &layout.slots[byte];
    let is_named = matches!(slot.row, Some(RowOf::Named(_)));
    is_named || slot.frame.is_some() && slot.name.is_empty() && is_left_out(layout, byte)
}

/// Returns true for the index that a loop leaves out.
fn is_left_out(layout: &Layout<'_>, byte: usize) -> bool {
    let slot = &layout.slots[byte];
    let (Some(owner), Some(procedure)) = (slot.owner, slot.frame) else { return false };
    let block = layout.blocks[usize::from(owner)];
    let mut fors = layout.frames[procedure].fors.iter().zip(&layout.leaves_out[procedure]);
    fors.any(|(position, leaves_out)| *leaves_out && block + position + 1 == byte)
}

/// Returns true if a local or a link holds nothing at its process's location: the procedure is not
/// called, the byte is forgotten there, or it belongs to a loop that is not running.
fn is_forgotten(layout: &Layout<'_>, state: &[u8], byte: usize) -> bool {
    let slot = &layout.slots[byte];
    if let Some(RowOf::Named(name)) = slot.row
        && layout.is_in_force(state, name) == Ok(false)
    {
        return true;
    }
    if let (Some(owner), Some(variable)) = (slot.owner, slot.linked()) {
        return layout.is_unlinked(state, owner, variable);
    }
    let (Some(owner), Some(procedure)) = (slot.owner, slot.frame) else { return false };
    let block = layout.blocks[usize::from(owner)];
    let frame = &layout.frames[procedure];
    if slot.name.is_empty() {
        // A loop variable is unknown only if it is unknown in all views. The index that a running
        // loop leaves out is an exception.
        let this = frame.fors.iter().position(|position| block + position + 1 == byte);
        let runs = |this: usize| state[block + frame.fors[this]] != ANY;
        return !this.is_some_and(|this| layout.leaves_out[procedure][this] && runs(this));
    }
    let Some(here) = state[block + frame.at].checked_sub(1) else { return true };
    layout.forgotten[procedure][usize::from(here)].iter().any(|local| {
        let room = frame.locals[*local];
        (room.base..room.base + room.size).contains(&(byte - block))
    })
}

/// Numbers versions in the order of their occurrence, versions of the centre first. The initial
/// version keeps its number.
pub fn canonical(layout: &Layout<'_>, state: &mut [u8]) {
    if layout.versions.is_empty() {
        return;
    }
    let mut names: SmallVec<[u8; 16]> = SmallVec::new();
    let shared = Shared::new(layout, state);
    for central in [true, false] {
        for &at in &layout.versions {
            let byte = state[at];
            if byte > BASE && shared.has(at) == central && !names.contains(&byte) {
                names.push(byte);
            }
        }
    }
    for &at in &layout.versions {
        if state[at] > BASE {
            let number = names.iter().position(|name| *name == state[at]).unwrap_or_default();
            state[at] = BASE + 1 + number as u8;
        }
    }
}

/// Returns the first number that no version of the centre has.
pub fn central_versions(layout: &Layout<'_>, state: &[u8]) -> u8 {
    let shared = Shared::new(layout, state);
    let numbers = layout.versions.iter().filter(|at| shared.has(**at));
    numbers.filter_map(|at| state[*at].checked_sub(BASE)).max().map_or(1, |most| most + 1)
}
