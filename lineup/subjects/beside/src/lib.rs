//! The planted bugs of `lineup::subjects`, with the locks and atomics of `std`: the same source
//! files, in a crate whose `sync` is that of `std`.
//!
//! Operations and answers are texts, such as `add(200)`: each tool runs the same tests.
#![forbid(unsafe_code)]

/// The objects' `crate::sync`.
pub mod sync {
    pub use std::sync::*;
}

#[path = "../../../src/subjects/bags.rs"]
pub mod bags;
#[path = "../../../src/subjects/collections.rs"]
pub mod collections;
#[path = "../../../src/subjects/counters.rs"]
pub mod counters;
#[path = "../../../src/subjects/events.rs"]
pub mod events;
#[path = "../../../src/subjects/lists.rs"]
pub mod lists;
#[path = "../../../src/subjects/queues.rs"]
pub mod queues;
#[path = "../../../src/subjects/tasks.rs"]
pub mod tasks;

/// An object under test.
pub trait Object: Send + Sync + 'static {
    /// Makes a fresh object.
    fn new() -> Self;
    /// Executes an operation, and returns its answer as text.
    fn call(&self, operation: &str) -> String;
}

/// As `lineup::subject!`: makes an [`Object`].
#[macro_export]
macro_rules! subject {
    (
        $(#[$doc:meta])*
        $visibility:vis $name:ident($object:ident: $type:ty) = $new:expr;
        $($operation:ident($($argument:ident: $of:ty)?) $(in [$($value:expr),*])? => $call:expr;)+
    ) => {
        $(#[$doc])*
        $visibility struct $name($type);

        impl $crate::Object for $name {
            fn new() -> Self {
                Self($new)
            }

            fn call(&self, operation: &str) -> String {
                let $object = &self.0;
                $($crate::operation!(
                    operation, $operation, ($($argument: $of)?) $(, [$($value),*])?, $call
                );)+
                panic!("no operation {operation}")
            }
        }
    };
}

/// Executes one operation.
#[macro_export]
macro_rules! operation {
    ($text:ident, $operation:ident, (), $call:expr) => {
        if $text == stringify!($operation) {
            return format!("{:?}", $call);
        }
    };
    ($text:ident, $operation:ident, ($argument:ident: $of:ty), [$($value:expr),*], $call:expr) => {
        for $argument in [$($value),*] {
            let $argument: $of = $argument;
            if $text == format!("{}({})", stringify!($operation), $argument) {
                return format!("{:?}", $call);
            }
        }
    };
}

/// A test: the initial sequence and the columns, as texts.
#[derive(Clone, Debug)]
pub struct Test {
    /// Initial sequence.
    pub initial: Vec<String>,
    /// A sequence per thread.
    pub columns: Vec<Vec<String>>,
}

impl Test {
    /// Parses `init: add(1) | add(2) get | get`.
    pub fn parse(text: &str) -> Self {
        let (mut initial, mut columns) = (Vec::new(), Vec::new());
        for part in text.split('|') {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            match part.trim().strip_prefix("init:") {
                Some(rest) => initial = words(rest),
                None => columns.push(words(part)),
            }
        }
        Self { initial, columns }
    }
}

/// Result of a tool on one object.
#[derive(Clone, Debug)]
pub struct Said {
    /// Verdict, in a word.
    pub word: &'static str,
    /// Number of executions until the verdict.
    pub executions: u64,
}

/// A planted bug: its name, and its smallest failing test; `waits`: the bug makes a thread wait for
/// ever.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// The paper's letter and the subject.
    pub name: &'static str,
    pub test: &'static str,
    /// True if a thread waits for ever.
    pub waits: bool,
}

/// Calls a macro for each bug with the wrong object and the right one.
#[macro_export]
macro_rules! each_bug {
    ($do:ident) => {
        $do!("Counter1", counters::Counter1, counters::Counter, "inc get | inc", false);
        $do!(
            "A",
            events::ManualResetEventPre,
            events::ManualResetEvent,
            "wait | set reset set",
            true
        );
        $do!("B", queues::QueuePre, queues::Queue, "add(200) try_take | add(400)", false);
        $do!(
            "C",
            lists::LinkedListPre,
            lists::LinkedList,
            "add_first(10) count | add_last(20)",
            false
        );
        $do!(
            "D",
            collections::BlockingCollectionD,
            collections::BlockingCollection,
            "take | complete_adding",
            true
        );
        $do!("E", bags::BagE, bags::Bag, "add(10) try_take(0) | add(10)", false);
        $do!("F", tasks::TaskSourceF, tasks::TaskSource, "try_set(1) | try_set(2)", false);
        $do!("G", tasks::TaskSourceG, tasks::TaskSource, "try_set(1) | try_set(2) result", false);
        $do!(
            "H",
            collections::BlockingCollectionHI,
            collections::BlockingCollection,
            "add(10) count | try_take",
            false
        );
        $do!(
            "I",
            collections::BlockingCollectionHI,
            collections::BlockingCollection,
            "add(10) try_take | try_take",
            false
        );
        $do!(
            "J",
            bags::BagJ,
            bags::Bag,
            "init: add(21) | add(10) try_take(1) | try_take(0)",
            false
        );
        $do!(
            "K",
            collections::BlockingCollectionK,
            collections::BlockingCollection,
            "complete_adding count | add(10)",
            false
        );
    };
}

/// Prints a line of the table for each selected bug: `ask` receives the bug, and true to judge the
/// right object instead.
pub fn line(tool: &str, bug: Bug, ask: impl Fn(Bug, bool) -> Said) {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if !asked.is_empty() && !asked.iter().any(|name| name == bug.name) {
        return;
    }
    let mut cells = vec![bug.name.to_owned(), format!("`{}`", bug.test.replace('|', "\\|"))];
    for right in [false, true] {
        let start = std::time::Instant::now();
        let said = ask(bug, right);
        let seconds = start.elapsed().as_secs_f64();
        cells.push(format!("{}, {}, {seconds:.3} s", said.word, said.executions));
    }
    println!("| {tool} | {} |", cells.join(" | "));
}
