//! Line-Up on the planted bugs: `cargo run --release --bin line-up [BUG]..`
#![forbid(unsafe_code)]

use beside::{Bug, Said, each_bug, line};
use lineup::subjects::{bags, collections, counters, events, lists, queues, tasks};
use lineup::{Check, Subject, Test, Verdict};

fn said<S: Subject>(bug: Bug) -> Said {
    let test = Test::parse::<S>(bug.test).expect("the test is one of the subject");
    let report = Check::new().run(&test);
    let word = match &report.verdict {
        Verdict::Violation(violation) if violation.history.is_stuck() => "FAIL (stuck)",
        Verdict::Pass { .. } => "PASS",
        Verdict::Unknown(_) => "unknown",
        _ => "FAIL",
    };
    Said { word, executions: report.serial.executions + report.concurrent.executions }
}

macro_rules! ask {
    ($name:literal, $wrong:ty, $right:ty, $test:literal, $waits:literal) => {
        line("Line-Up", Bug { name: $name, test: $test, waits: $waits }, |bug, right| {
            if right { said::<$right>(bug) } else { said::<$wrong>(bug) }
        })
    };
}

fn main() {
    each_bug!(ask);
}
