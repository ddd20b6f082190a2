//! The programs of `small/`: a dozen lines each, for tests of verifiers and of the language.
//!
//! Five are right: `versioned` collects twice until all versions are equal, `locked` takes a
//! lock that names its owner, `locked_by_links` and `turns` take locks by LL/SC, `undisturbed`
//! collects between LL and SC. Each of the others was once answered wrongly by a
//! verifier, or not at all: names of processes are compared with numbers, a move takes several
//! successors of counters, processes are exchanged where versions have canonical numbers, a
//! reaction leads back to where it began, more versions are unrelated at the start than a first
//! layout has room for, a scan returns a view that its process has kept (`cached`), scans store
//! for others within a cell (`masked`) or within a private array (`noted`), what a loop counts
//! with is forgotten (`counted`), a shared variable names the process whose row others fill
//! (`helped`), a process writes for the last time and goes on for ever (`halts`,
//! `halts_by_fault`).

/// The text of a small program.
///
/// # Panics
/// If there is none with this name.
pub fn small(name: &str) -> &'static str {
    let known = SMALL.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("there is no corpus/small/{name}.snapshot")).1
}

macro_rules! files {
    [$($name:literal),* $(,)?] => {
        &[$(($name, include_str!(concat!("../small/", $name, ".snapshot")))),*]
    };
}

const SMALL: &[(&str, &str)] = files![
    "boss",
    "cached",
    "catch_up",
    "counted",
    "halts",
    "halts_by_fault",
    "helped",
    "locked",
    "locked_by_links",
    "masked",
    "matrix",
    "name_above_number",
    "name_equal_number",
    "noted",
    "published",
    "reaction_circle",
    "reaction_circle_own",
    "reaction_circle_test",
    "three_increments",
    "turns",
    "two_counters",
    "two_increments",
    "two_increments_private",
    "undisturbed",
    "versioned",
    "versions_and_symmetry",
    "versions_apart",
    "versions_of_processes",
];
