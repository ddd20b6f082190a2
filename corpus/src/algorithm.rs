//! The algorithms of `algorithms/` and `objects/`: pseudocode in the language of
//! `docs/language.md`, each with its planted bugs and what to expect of it.
//!
//! Each is faithful to its publication, which it cites; where it is not, a
//! comment says so and why. All but `register`, which has one writer and computes
//! with values, are algorithms of snapshots; those of `objects/` say which object they
//! implement. What a text means, its bugs and its expectations
//! are for a reader of the language to find out: this crate has none.

/// An algorithm of the corpus.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Algorithm {
    /// Its name, the same as in the text and as its file's without the ending.
    pub name: &'static str,
    /// The whole file.
    pub text: &'static str,
}

/// All algorithms of snapshots, in the order of their names.
pub const fn algorithms() -> &'static [Algorithm] {
    ALGORITHMS
}

/// All algorithms of other objects, in the order of their names.
pub const fn object_algorithms() -> &'static [Algorithm] {
    OBJECTS
}

/// The algorithm with this name, of a snapshot or another object.
pub fn algorithm(name: &str) -> Option<Algorithm> {
    ALGORITHMS.iter().chain(OBJECTS).copied().find(|algorithm| algorithm.name == name)
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
    "ms_queue",
    "snzi",
    "tagged_queue",
    "tagged_stack",
    "tas_lock",
    "ticket_lock",
    "treiber_stack",
    "two_lock_queue",
];
