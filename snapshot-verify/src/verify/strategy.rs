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

    /// Explores until done or stopped, within a share of what all may take.
    ///
    /// # Errors
    /// If it cannot: the state is too large, say.
    fn explore(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        share: Share,
    ) -> Result<(Finding<Self::Wrong>, Measures), Self::Error>;

    /// Whether what was explored is kept, to go on from in another run.
    fn is_kept(&self) -> bool {
        false
    }
}

/// What one exploration may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Until when it may take; without: any time.
    pub until: Option<Instant>,
    /// How many states it may have, about; without: any number.
    pub states: Option<u64>,
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

/// How many states each of several pairs may have in the first turn, if time or states are limited.
const FIRST_TURN: u64 = 1_000_000;

/// How many times as many in each turn as in the one before.
const GROWTH: u64 = 8;

/// Each pair to its end, one after the other. Returns why there are pairs without a finding.
///
/// With a limit, pairs take turns, by states, and begin again in each, until all that are left are
/// alike: a pair that takes long does not hide another one, and which are explored to their end
/// does not depend on shares of the clock. What is kept goes on in another run, so that shares decide nothing there.
fn once<E: Explore>(
    request: &Request,
    end: Option<Instant>,
    pairs_progress: &mut [PairProgress<E::Wrong>],
    explorer: &mut E,
) -> Result<Unfinished, E::Error> {
    let (operations, barriers) = (request.operations.bound(), request.barriers.bound());
    let effort = Effort { operations, barriers, active: request.processes };
    let is_kept = explorer.is_kept();
    let takes_turns = (end.is_some() || request.states.is_some()) && !is_kept;
    let (mut turn, mut used) = (FIRST_TURN, 0);
    loop {
        let is_open = |standing: &PairProgress<E::Wrong>| standing.conclusion.is_none();
        let mut open = pairs_progress.iter().filter(|standing| is_open(standing)).count();
        if open == 0 {
            return Ok(Unfinished::Answered);
        }
        // Those that are like others wait for these.
        let is_alone = |standing: &&PairProgress<E::Wrong>| {
            is_open(standing) && standing.measures.like.is_none()
        };
        let is_last = !takes_turns || pairs_progress.iter().filter(is_alone).count() <= 1;
        for standing in pairs_progress.iter_mut().filter(|standing| is_open(standing)) {
            let left = request.states.map(|all| all.saturating_sub(used));
            if left == Some(0) {
                return Ok(Unfinished::States);
            }
            let most = (!is_last).then_some(turn);
            let until = end.map(|end| if is_kept { share(end, open) } else { end });
            open -= 1;
            let share = Share { until, states: most.into_iter().chain(left).min() };
            let finding = standing.explore_again(effort, share, explorer)?;
            if standing.measures.like.is_none() {
                used += standing.measures.states;
            }
            let cause = match &finding {
                Finding::Stopped(Unfinished::States) => continue,
                Finding::Wrong(_) if !request.keep_going => Some(Unfinished::Answered),
                Finding::Stopped(Unfinished::Interrupted) => Some(Unfinished::Interrupted),
                Finding::Stopped(Unfinished::Time) if !is_kept => Some(Unfinished::Time),
                _ => None,
            };
            standing.conclude(finding, effort);
            if let Some(cause) = cause {
                return Ok(cause);
            }
        }
        turn = turn.saturating_mul(GROWTH);
    }
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
    let mut used = 0;
    loop {
        let states = request.states.map(|all| all.saturating_sub(used));
        if states == Some(0) {
            return Ok(Unfinished::States);
        }
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
        let before = standing.measures.states;
        let finding = standing.explore(effort, Share { until: end, states }, explorer)?;
        used += standing.measures.states - before;
        match finding {
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
        share: Share,
        explorer: &mut E,
    ) -> Result<Finding<W>, E::Error> {
        let (finding, measures) = explorer.explore(self.pair, effort, share)?;
        self.measures.add(&measures);
        self.turns += 1;
        Ok(finding)
    }

    /// The same effort once more: what is told of it is that of the last time, but for how long all
    /// took.
    fn explore_again<E: Explore<Wrong = W>>(
        &mut self,
        effort: Effort,
        share: Share,
        explorer: &mut E,
    ) -> Result<Finding<W>, E::Error> {
        let (finding, measures) = explorer.explore(self.pair, effort, share)?;
        self.measures = Measures { elapsed: self.measures.elapsed + measures.elapsed, ..measures };
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
            _: Share,
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

    /// Needs some numbers of states for its pairs, in their order; one of them is wrong.
    struct Sized {
        needs: [u64; 3],
        wrong: usize,
        /// Which is like the first one.
        alike: Option<usize>,
        is_kept: bool,
        asked: Vec<(usize, Option<u64>)>,
    }

    impl Explore for Sized {
        type Wrong = usize;
        type Error = Infallible;

        fn explore(
            &mut self,
            pair: [Process; 2],
            _: Effort,
            share: Share,
        ) -> Result<(Finding<usize>, Measures), Infallible> {
            let number = pair[0].index() + pair[1].index() - 1;
            self.asked.push((number, share.states));
            let is_like = self.alike == Some(number);
            let states = self.needs[number].min(share.states.unwrap_or(u64::MAX));
            let measures = Measures {
                states,
                like: is_like.then_some([0, 1].map(Process::from_index)),
                ..Measures::default()
            };
            let finding = match states < self.needs[number] {
                true => Finding::Stopped(Unfinished::States),
                false if number == self.wrong => Finding::Wrong(number),
                false => Finding::Nothing,
            };
            Ok((finding, measures))
        }

        fn is_kept(&self) -> bool {
            self.is_kept
        }
    }

    fn sized(needs: [u64; 3], alike: Option<usize>, request: &Request) -> (Sized, Vec<String>) {
        let mut explorer = Sized { needs, wrong: 2, alike, is_kept: false, asked: Vec::new() };
        let Ok(found) = explore_all(request, &mut explorer);
        let tell = |found: Found<usize>| match found.finding {
            Finding::Nothing => "clean".to_owned(),
            Finding::Wrong(_) => "wrong".to_owned(),
            Finding::Stopped(cause) => format!("{cause:?}"),
        };
        (explorer, found.into_iter().map(tell).collect())
    }

    /// A pair that takes for ever hides no other one, and what is found does not depend on how
    /// much of the clock each takes.
    #[test]
    fn with_a_limit_of_time_pairs_take_turns_by_states() {
        let limited =
            Request { time: Some(Duration::from_secs(3_600)), ..request(3, Operations::Unbounded) };
        let needs = [u64::MAX, 10, 5 * FIRST_TURN];
        let (explorer, findings) = sized(needs, None, &limited);
        assert_eq!(findings, ["Answered", "clean", "wrong"]);
        let (first, second) = (Some(FIRST_TURN), Some(FIRST_TURN * GROWTH));
        assert_eq!(explorer.asked, [(0, first), (1, first), (2, first), (0, second), (2, second)]);
        // Nobody waits where one is left, or those like it.
        let needs = [3 * FIRST_TURN, 10, 5 * FIRST_TURN];
        for alike in [None, Some(1)] {
            let (explorer, findings) = sized(needs, alike, &limited);
            assert_eq!(findings, ["clean", "clean", "wrong"]);
            assert_eq!(explorer.asked[0], (0, first));
        }
        let (explorer, _) =
            sized([5 * FIRST_TURN, 10, 10], None, &Request { keep_going: true, ..limited });
        assert_eq!(explorer.asked.last(), Some(&(0, None)));
        // Without a limit of time there is nothing to share.
        let (explorer, findings) =
            sized([1 << 40, 10, 10], None, &request(3, Operations::Unbounded));
        assert_eq!(findings, ["clean", "clean", "wrong"]);
        assert_eq!(explorer.asked, [(0, None), (1, None), (2, None)]);
    }

    #[test]
    fn with_a_limit_of_states_pairs_take_turns_too() {
        let limited =
            |states| Request { states: Some(states), ..request(3, Operations::Unbounded) };
        let (explorer, findings) = sized([100, 20, 30], None, &limited(90));
        assert_eq!(findings, ["States", "States", "States"]);
        assert_eq!(explorer.asked, [(0, Some(90))]);
        let all = 4 * FIRST_TURN;
        let (explorer, findings) = sized([1 << 40, 20, 30], None, &limited(all));
        assert_eq!(findings, ["Answered", "clean", "wrong"]);
        let first = Some(FIRST_TURN);
        assert_eq!(explorer.asked, [(0, first), (1, first), (2, first)]);
        let (explorer, findings) = sized([1 << 40, 20, 1 << 40], Some(1), &limited(all));
        assert_eq!(findings, ["States", "clean", "States"]);
        assert_eq!(explorer.asked.last(), Some(&(0, Some(2 * FIRST_TURN))));
        let grows = Request { states: Some(90), ..request(3, Operations::Grow) };
        let (findings, asked) = run(&grows, |_, _| Finding::Nothing);
        assert_eq!((findings, asked.len()), (vec!["States".to_owned(); 3], 9), "10 states each");
    }

    #[test]
    fn time_is_shared_equally_among_the_pairs_left() {
        let end = Instant::now() + Duration::from_secs(60);
        let third = share(end, 3).saturating_duration_since(Instant::now());
        assert!(third > Duration::from_secs(19) && third <= Duration::from_secs(20), "{third:?}");
        assert!(share(Instant::now(), 1) <= Instant::now());
    }
}
