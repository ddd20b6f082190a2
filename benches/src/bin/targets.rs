//! Every row in memory against its target, in one run.
//!
//! Ratios (monitor to check, long to short) are taken between the least times
//! of the same process on the same input. Fails if a target is missed at the
//! full size, or if a digest is wrong at the smoke size.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use benches::rows::{
    Check, Exchanged, Explored, HardCorpus, Linearize, Monitored, Observed, PublishedCorpus,
    Searched, Wrong,
};
use benches::{Outcome, Row, Size, Target, conclude, fastest, half_scans};

/// How long each row may try for a faster run.
const PATIENCE: Duration = Duration::from_secs(1);

/// Events of the short history to which the long one is compared.
const SHORT: u64 = 100_000;

/// How much longer a history of 100 times the length may take.
const GROWTH: f64 = 130.0;

fn main() -> ExitCode {
    conclude(measure_all())
}

fn measure_all() -> Result<Vec<Outcome>, Box<dyn Error>> {
    let size = Size::from_environment()?;
    let is_judged = size == Size::Full;
    let mut outcomes = Vec::new();
    let mut add = |what: &str, measured, unit, target| {
        outcomes.push(Outcome { what: what.to_owned(), measured, unit, target, is_judged });
    };

    let observed = announced(&Observed, size)?;
    add("observer", observed.rate(), "M events/s", Target::AtLeast(200.0));

    let input = Check.input(size);
    let check = measured(&Check, size, &input)?;
    add("check", check.rate(), "M events/s", Target::AtLeast(30.0));
    let linearization = measured(&Linearize, size, &input)?;
    add("check and linearization", linearization.rate(), "M events/s", Target::Shown);
    let monitor = measured(&Monitored, size, &input)?;
    add("monitor", monitor.rate(), "M events/s", Target::Shown);
    add("monitor / check", monitor.seconds / check.seconds, "times", Target::AtMost(2.0));
    drop(input);
    if size == Size::Full {
        let short = fastest(&Check, &half_scans(SHORT), PATIENCE).as_secs_f64();
        add("check, 10^7 / 10^5 events", check.seconds / short, "times", Target::AtMost(GROWTH));
    }

    let input = Exchanged::Decided.input(size);
    for row in Exchanged::ALL {
        let time = measured(&row, size, &input)?;
        let rate = Exchanged::ENTRIES * time.rate();
        add(&row.name(), rate, "M entries/s", Target::AtLeast(20.0));
        if size == Size::Full {
            let short = fastest(&row, &Exchanged::execution(SHORT), PATIENCE).as_secs_f64();
            let what = format!("{}, 10^7 / 10^5 events", row.name());
            add(&what, time.seconds / short, "times", Target::AtMost(GROWTH));
        }
    }
    drop(input);

    let published = announced(&PublishedCorpus, size)?;
    add("published corpus", published.seconds * 1e3, "ms", Target::AtMost(1000.0));
    let searched = announced(&Searched, size)?;
    add("published corpus, exact search", searched.seconds * 1e3, "ms", Target::Shown);
    let hard = announced(&HardCorpus, size)?;
    add("hard corpus", hard.seconds * 1e3, "ms", Target::Shown);
    for row in Wrong::all() {
        let wrong = announced(&row, size)?;
        add(&row.name(), wrong.seconds * 1e3, "ms", Target::AtMost(10.0));
    }
    for row in Explored::ALL {
        let explored = announced(&row, size)?;
        add(&row.name(), explored.rate(), "M states/s", Target::Shown);
    }
    Ok(outcomes)
}

/// The least time of a row.
struct Time {
    seconds: f64,
    events: f64,
}

impl Time {
    /// Millions of events per second.
    fn rate(&self) -> f64 {
        self.events / self.seconds / 1e6
    }
}

fn announced<R: Row>(row: &R, size: Size) -> Result<Time, Box<dyn Error>> {
    measured(row, size, &row.input(size))
}

fn measured<R: Row>(row: &R, size: Size, input: &R::Input) -> Result<Time, Box<dyn Error>> {
    println!("{}", row.announce(size, input)?);
    let seconds = fastest(row, input, PATIENCE).as_secs_f64();
    Ok(Time { seconds, events: row.events(input) as f64 })
}
