//! The algorithms of `algorithms/`, `objects/` and `strong/`: pseudocode in the language of
//! `docs/language.md`, each with its planted bugs and expectations.
//!
//! Each algorithm is faithful to its publication, which it cites; a comment states and justifies
//! any deviation. All but `register`, which has one writer and computes with values, are algorithms
//! of snapshots; those of `objects/` declare the object that they implement. Those of `strong/`, of either kind, are
//! known for their strong linearizability, or for the lack of it. This crate does not
//! interpret the texts, their bugs or their expectations: that is left to a reader of the language.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Algorithm {
    /// Name in the text, which is also the name of the file without its ending.
    pub name: &'static str,
    /// Content of the whole file.
    pub text: &'static str,
}

/// Returns all algorithms of snapshots, in the order of their names.
pub const fn algorithms() -> &'static [Algorithm] {
    ALGORITHMS
}

/// Returns all algorithms of other objects, in the order of their names.
pub const fn object_algorithms() -> &'static [Algorithm] {
    OBJECTS
}

/// Returns algorithms that are known to be strongly linearizable, or known not to be, in the order
/// of their names.
pub const fn strong_algorithms() -> &'static [Algorithm] {
    STRONG
}

/// Returns the algorithms of all lists.
pub fn all_algorithms() -> impl Iterator<Item = &'static Algorithm> + Clone {
    ALGORITHMS.iter().chain(OBJECTS).chain(STRONG)
}

/// Returns the algorithm with this name.
pub fn algorithm(name: &str) -> Option<Algorithm> {
    all_algorithms().copied().find(|algorithm| algorithm.name == name)
}

macro_rules! files {
    [$folder:literal: $($name:literal),* $(,)?] => {
        &[$(Algorithm {
            name: $name,
            text: include_str!(concat!("../", $folder, "/", $name, ".snapshot")),
        }),*]
    };
}

const ALGORITHMS: &[Algorithm] = files![
    "algorithms":
    "afek_bounded",
    "afek_unbounded",
    "attiya_welch",
    "bowman",
    "double_collect",
    "jayanti",
    "naive_collect",
    "register",
    "riany",
];

const OBJECTS: &[Algorithm] = files![
    "objects":
    "array_queue",
    "atomic_register",
    "cas_counter",
    "collected_queue",
    "collected_stack",
    "faa_counter",
    "immediate_snapshot",
    "linked_queue",
    "linked_stack",
    "linked_two_lock_queue",
    "lock_coupling_set",
    "ms_queue",
    "multi_writer_double_collect",
    "owner_mutex",
    "packed_stack",
    "snzi",
    "tagged_queue",
    "tagged_stack",
    "tas_lock",
    "test_and_set_lock",
    "ticket_lock",
    "treiber_stack",
    "two_lock_queue",
    "wrapping_counter",
];

const STRONG: &[Algorithm] = files![
    "strong":
    "herlihy_wing",
    "locked_snapshot",
    "memsnap",
    "one_cell_snapshot",
    "parlay_hash",
    "rw_cas",
    "single_scanner",
    "union_find",
    "union_find_same_first",
    "union_find_same_lower",
    "versioned_snapshot",
];
