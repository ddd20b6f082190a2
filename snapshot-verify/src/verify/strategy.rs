//! In which order pairs and efforts are explored, whatever it is that explores
//! them, and when that ends.

use std::time::Instant;

use snapshot_core::Process;

use super::outcome::{Measures, Unfinished};
use super::request::{Barriers, Operations, Request};
use super::schedule::{Effort, Schedule};

/// Explores one effort of one pair.
pub trait Explore {
    /// What it finds wrong with the program.
    type Wrong;
    /// Why it cannot explore.
    type Error;

    /// Explores until done or stopped; until the instant, if there is one.
    ///
    /// # Errors
    /// If it cannot: the state is too large, say.
    fn explore(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        until: Option<Instant>,
    ) -> Result<(Finding<Self::Wrong>, Measures), Self::Error>;
}

/// What one exploration found.
#[derive(Clone, Debug)]
pub enum Finding<W> {
    /// All was explored, and nothing is wrong.
    Nothing,
    /// Something is.
    Wrong(W),
    /// It was not finished.
    Stopped(Unfinished),
}

/// What was found out about one pair.
#[derive(Clone, Debug)]
pub struct Found<W> {
    /// i and j.
    pub pair: [Process; 2],
    /// The answer; never [`Unfinished::Answered`] for a pair that is wrong itself.
    pub finding: Finding<W>,
    /// The effort that gave the answer; if there is none, those finished.
    pub scope: Vec<Effort>,
    /// What it took.
    pub measures: Measures,
}

/// Explores what is requested: each pair, in order.
///
/// # Errors
/// The first that the explorer meets.
pub fn explore_all<E: Explore>(
    request: &Request,
    explorer: &mut E,
) -> Result<Vec<Found<E::Wrong>>, E::Error> {
    let end = request.time.and_then(|time| Instant::now().checked_add(time));
    let pairs = request.pairs.among(request.processes);
    let mut pairs_progress: Vec<PairProgress<E::Wrong>> =
        pairs.into_iter().map(|pair| PairProgress::new(pair, request)).collect();
    let cause = match (request.operations, request.barriers) {
        (Operations::Grow, _) | (_, Barriers::Grow) => {
            grow(request, end, &mut pairs_progress, explorer)?
        }
        _ => once(request, end, &mut pairs_progress, explorer)?,
    };
    Ok(pairs_progress.into_iter().map(|standing| standing.found(cause)).collect())
}

/// One exploration per pair. Returns why there are pairs without a finding.
fn once<E: Explore>(
    request: &Request,
    end: Option<Instant>,
    pairs_progress: &mut [PairProgress<E::Wrong>],
    explorer: &mut E,
) -> Result<Unfinished, E::Error> {
    let (operations, barriers) = (request.operations.bound(), request.barriers.bound());
    let effort = Effort { operations, barriers, active: request.processes };
    let count = pairs_progress.len();
    for (position, standing) in pairs_progress.iter_mut().enumerate() {
        let until = end.map(|end| share(end, count - position));
        let finding = standing.explore(effort, until, explorer)?;
        let cause = match &finding {
            Finding::Wrong(_) if !request.keep_going => Some(Unfinished::Answered),
            Finding::Stopped(Unfinished::Interrupted) => Some(Unfinished::Interrupted),
            _ => None,
        };
        standing.conclude(finding, effort);
        if let Some(cause) = cause {
            return Ok(cause);
        }
    }
    Ok(Unfinished::Answered)
}

/// Now and an equal part of what is left until the end.
fn share(end: Instant, parts: usize) -> Instant {
    let now = Instant::now();
    let left = end.saturating_duration_since(now);
    now + left / u32::try_from(parts).unwrap_or(u32::MAX)
}

/// How many turns the first pair may be ahead of the others.
const HEAD_START: usize = 6;

/// Schedule of all pairs, the cheapest first. Returns why there are pairs without a
/// finding.
///
/// A violation mostly shows for the first pairs already, if the effort suffices,
/// and there are many pairs where n is large. So the second pair begins one turn
/// after the first, the third one after that, up to [`HEAD_START`]; then
/// they take turns.
fn grow<E: Explore>(
    request: &Request,
    end: Option<Instant>,
    pairs_progress: &mut [PairProgress<E::Wrong>],
    explorer: &mut E,
) -> Result<Unfinished, E::Error> {
    let whole = Effort { operations: None, barriers: None, active: request.processes };
    loop {
        // All pairs have the same schedule but for what did not fit.
        let all = pairs_progress.iter_mut().enumerate();
        let open = all.filter(|(_, standing)| standing.conclusion.is_none());
        let next =
            open.min_by_key(|(position, standing)| standing.turns + HEAD_START.min(*position));
        let Some((_, standing)) = next else {
            return Ok(Unfinished::Answered);
        };
        let Some(effort) = standing.schedule.next() else {
            standing.conclude(Finding::Stopped(Unfinished::Memory), whole);
            continue;
        };
        match standing.explore(effort, end, explorer)? {
            Finding::Nothing => {
                standing.schedule.note(effort, true);
                if effort == whole {
                    standing.conclude(Finding::Nothing, whole);
                }
            }
            Finding::Stopped(Unfinished::Memory) => standing.schedule.note(effort, false),
            Finding::Stopped(cause) => return Ok(cause),
            wrong @ Finding::Wrong(_) => {
                standing.conclude(wrong, effort);
                if !request.keep_going {
                    return Ok(Unfinished::Answered);
                }
            }
        }
    }
}

/// How far a pair is.
#[derive(Debug)]
struct PairProgress<W> {
    pair: [Process; 2],
    schedule: Schedule,
    measures: Measures,
    /// How often it was its turn.
    turns: usize,
    /// What is finally said of it, and the effort that gave the answer.
    conclusion: Option<(Finding<W>, Effort)>,
}

impl<W> PairProgress<W> {
    fn new(pair: [Process; 2], request: &Request) -> Self {
        let schedule = match request.barriers {
            Barriers::Grow => Schedule::by_barriers(request.processes),
            Barriers::Unbounded | Barriers::AtMost(_) => Schedule::new(request.processes),
        };
        Self { pair, schedule, measures: Measures::default(), turns: 0, conclusion: None }
    }

    fn explore<E: Explore<Wrong = W>>(
        &mut self,
        effort: Effort,
        until: Option<Instant>,
        explorer: &mut E,
    ) -> Result<Finding<W>, E::Error> {
        let (finding, measures) = explorer.explore(self.pair, effort, until)?;
        self.measures.add(&measures);
        self.turns += 1;
        Ok(finding)
    }

    fn conclude(&mut self, finding: Finding<W>, effort: Effort) {
        self.conclusion = Some((finding, effort));
    }

    fn found(self, cause: Unfinished) -> Found<W> {
        let (finding, scope) = match self.conclusion {
            Some((finding @ (Finding::Nothing | Finding::Wrong(_)), effort)) => {
                (finding, vec![effort])
            }
            Some((stopped, _)) => (stopped, self.schedule.finished().collect()),
            None => (Finding::Stopped(cause), self.schedule.finished().collect()),
        };
        Found { pair: self.pair, finding, scope, measures: self.measures }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use super::super::Pairs;
    use super::*;

    /// Answers by a rule, and notes what it was asked.
    struct Fake<F> {
        rule: F,
        asked: Vec<([usize; 2], Effort)>,
    }

    impl<F: FnMut([usize; 2], Effort) -> Finding<&'static str>> Explore for Fake<F> {
        type Wrong = &'static str;
        type Error = Infallible;

        fn explore(
            &mut self,
            pair: [Process; 2],
            effort: Effort,
            _: Option<Instant>,
        ) -> Result<(Finding<&'static str>, Measures), Infallible> {
            let pair = pair.map(Process::index);
            self.asked.push((pair, effort));
            // Being like another pair takes a turn, but no exploration.
            let explorations = usize::from(pair != [0, 2]);
            let measures = Measures { explorations, states: 10, ..Measures::default() };
            Ok(((self.rule)(pair, effort), measures))
        }
    }

    fn request(processes: usize, operations: Operations) -> Request {
        Request {
            operations,
            self_check: crate::search::SelfCheck::of_build(),
            ..Request::new(processes)
        }
    }

    type Asked = Vec<([usize; 2], Effort)>;

    fn run(
        request: &Request,
        rule: impl FnMut([usize; 2], Effort) -> Finding<&'static str>,
    ) -> (Vec<String>, Asked) {
        let mut fake = Fake { rule, asked: Vec::new() };
        let Ok(found) = explore_all(request, &mut fake);
        let tell = |found: Found<&str>| match found.finding {
            Finding::Nothing => "clean".to_owned(),
            Finding::Wrong(wrong) => wrong.to_owned(),
            Finding::Stopped(cause) => format!("{cause:?}"),
        };
        (found.into_iter().map(tell).collect(), fake.asked)
    }

    #[test]
    fn every_pair_is_explored_and_the_first_wrong_one_is_enough() {
        let rule =
            |pair, _| if pair == [0, 2] { Finding::Wrong("wrong") } else { Finding::Nothing };
        let mut request = request(3, Operations::Unbounded);
        let (findings, asked) = run(&request, rule);
        assert_eq!(findings, ["clean", "wrong", "Answered"]);
        let whole = Effort { operations: None, barriers: None, active: 3 };
        assert_eq!(asked, [([0, 1], whole), ([0, 2], whole)]);

        request.keep_going = true;
        assert_eq!(run(&request, rule).0, ["clean", "wrong", "clean"]);
        request.pairs = Pairs::One(Process::from_index(1), Process::from_index(2));
        assert_eq!(run(&request, rule).0, ["clean"]);
    }

    #[test]
    fn a_pair_that_does_not_fit_is_unknown_and_the_others_are_not() {
        let request = request(3, Operations::AtMost(2));
        let rule = |pair: [usize; 2], _| match pair {
            [0, 1] => Finding::Stopped(Unfinished::Memory),
            _ => Finding::Nothing,
        };
        let (findings, asked) = run(&request, rule);
        assert_eq!(findings, ["Memory", "clean", "clean"]);
        assert!(asked.iter().all(|(_, effort)| effort.operations == Some(2)));
    }

    #[test]
    fn an_interrupt_ends_all() {
        let request = request(3, Operations::Unbounded);
        let (findings, asked) = run(&request, |_, _| Finding::Stopped(Unfinished::Interrupted));
        assert_eq!(findings, ["Interrupted"; 3]);
        assert_eq!(asked.len(), 1);
    }

    #[test]
    fn growing_tries_all_pairs_the_first_ones_with_a_head_start() {
        let request = request(3, Operations::Grow);
        let found = Effort { operations: Some(1), barriers: None, active: 3 };
        let (findings, asked) = run(&request, |pair, effort| match (pair, effort) {
            ([1, 2], effort) if effort == found => Finding::Wrong("wrong"),
            _ => Finding::Nothing,
        });
        assert_eq!(findings, ["Answered", "Answered", "wrong"]);
        let turns = |until: usize, pair: [usize; 2]| {
            asked[..until].iter().filter(|(asked, _)| *asked == pair).count()
        };
        for until in 1..=asked.len() {
            let [first, second, third] = [[0, 1], [0, 2], [1, 2]].map(|pair| turns(until, pair));
            assert!(first >= second && second >= third, "turn {until}");
            assert!(first <= second + 2 && first <= third + 3, "turn {until}");
        }
        let efforts = |pair: [usize; 2]| {
            let of_pair = asked.iter().filter(move |(asked, _)| *asked == pair);
            of_pair.map(|(_, effort)| *effort).take(4).collect::<Vec<_>>()
        };
        assert_eq!(efforts([0, 1]), efforts([1, 2]), "all have the same schedule");
    }

    #[test]
    fn growing_ends_clean_only_without_bound_and_with_all() {
        let grow = request(3, Operations::Grow);
        let (findings, asked) = run(&grow, |_, _| Finding::Nothing);
        assert_eq!(findings, ["clean"; 3]);
        let whole = Effort { operations: None, barriers: None, active: 3 };
        for pair in [[0, 1], [0, 2], [1, 2]] {
            let last = asked.iter().rfind(|(asked, _)| *asked == pair);
            assert_eq!(last, Some(&(pair, whole)));
        }

        let (findings, asked) = run(&grow, |_, effort| match effort {
            Effort { operations: None, barriers: None, active: 3 } => {
                Finding::Stopped(Unfinished::Memory)
            }
            Effort { operations: Some(bound), .. } if bound > 6 => {
                Finding::Stopped(Unfinished::Memory)
            }
            _ => Finding::Nothing,
        });
        assert_eq!(findings, ["Memory"; 3]);
        assert!(
            asked
                .iter()
                .any(|asked| asked.1 == Effort { operations: Some(6), barriers: None, active: 3 })
        );
    }

    #[test]
    fn barriers_grow_as_operations_do() {
        let grow = Request { barriers: Barriers::Grow, ..request(3, Operations::Unbounded) };
        let (findings, asked) = run(&grow, |_, _| Finding::Nothing);
        assert_eq!(findings, ["clean"; 3]);
        assert_eq!(asked[0].1, Effort { operations: None, barriers: Some(0), active: 2 });
        let whole = Effort { operations: None, barriers: None, active: 3 };
        assert!(asked.iter().any(|(_, effort)| *effort == whole));
        assert!(asked.iter().all(|(_, effort)| effort.operations.is_none()));

        let bounded =
            Request { barriers: Barriers::AtMost(2), ..request(3, Operations::Unbounded) };
        let (findings, asked) = run(&bounded, |_, _| Finding::Nothing);
        assert_eq!(findings, ["clean"; 3]);
        let effort = Effort { operations: None, barriers: Some(2), active: 3 };
        assert!(asked.iter().all(|asked| asked.1 == effort) && asked.len() == 3);
    }

    #[test]
    fn time_is_shared_equally_among_the_pairs_left() {
        let end = Instant::now() + Duration::from_secs(60);
        let third = share(end, 3).saturating_duration_since(Instant::now());
        assert!(third > Duration::from_secs(19) && third <= Duration::from_secs(20), "{third:?}");
        assert!(share(Instant::now(), 1) <= Instant::now());
    }
}
