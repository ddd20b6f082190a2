//! The programs of `small/`: a dozen lines each, for tests of verifiers and of the language.
//!
//! Five are right: `versioned` collects twice until all versions are equal, `locked` takes a lock
//! that names its owner, `locked_by_links` and `turns` take locks by LL/SC, `undisturbed` collects
//! between LL and SC. A verifier once gave a wrong answer, or none, for each of the others or their
//! bugs: names of processes are compared with numbers; a move takes several successors of counters;
//! processes are exchanged despite canonical numbers of versions; a reaction leads back to its
//! beginning; more versions are unrelated at the start than a first layout has room for; a scan
//! returns a view that its process has kept (`cached`); scans store for others within a cell
//! (`masked`) or within a private array (`noted`); the counter of a loop is forgotten (`counted`); a
//! shared variable names the process whose row others fill (`helped`); a process runs for ever after
//! its last write (`halts`). Those that are right for every n, or have a bug that is, say so: `expect
//! every n: linearizable`.

/// Returns the text of a small program, without its bugs.
///
/// # Panics
/// If no program has this name.
pub fn small(name: &str) -> &'static str {
    let text = small_with_bugs(name);
    let end = ["\nbug ", "\nexpect "].iter().filter_map(|line| text.find(line)).min();
    end.map_or(text, |end| &text[..end])
}

/// Returns the text of a small program, with its bugs and expected verdicts.
///
/// # Panics
/// If no program has this name.
pub fn small_with_bugs(name: &str) -> &'static str {
    let known = SMALL.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("there is no corpus/small/{name}.snapshot")).1
}

/// Returns the names of all small programs.
pub fn smalls() -> impl Iterator<Item = &'static str> {
    SMALL.iter().map(|(name, _)| *name)
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
    "chooses",
    "counted",
    "counts",
    "done",
    "few",
    "halts",
    "halts_behind_others",
    "halts_by_fault",
    "helped",
    "late",
    "left_out",
    "locked",
    "locked_by_links",
    "masked",
    "matrix",
    "name_above_number",
    "name_equal_number",
    "never_named",
    "never_named_rows",
    "noted",
    "overflowing",
    "owner",
    "privcopy",
    "published",
    "reaction_circle",
    "reaction_circle_own",
    "reaction_circle_test",
    "reborn",
    "relinked",
    "republished",
    "restored",
    "rounds_flip",
    "spinning",
    "stale_cell",
    "stuck",
    "three_increments",
    "turns",
    "two_counters",
    "two_increments",
    "two_increments_private",
    "twofresh",
    "undisturbed",
    "unforced",
    "unforgotten",
    "versioned",
    "versions_and_symmetry",
    "versions_apart",
    "versions_of_processes",
    "within",
];
