//! Order in which an explorer tries pairs and efforts, and when the exploration ends.

use std::time::Instant;

use snapshot_core::Process;

use super::outcome::{Measures, Unfinished};
use super::request::{Barriers, Operations, Request};
use super::schedule::{Effort, Schedule};

/// Explores one effort of one pair.
pub trait Explore {
    /// Defect of the program that an exploration can find.
    type Wrong;
    /// Reason why an exploration is impossible.
    type Error;

    /// Explores until done, stopped, or out of its share of the budget.
    ///
    /// # Errors
    /// If exploration is impossible, because the state is too large, for instance.
    fn explore(
        &mut self,
        pair: [Process; 2],
        effort: Effort,
        share: Share,
    ) -> Result<(Finding<Self::Wrong>, Measures), Self::Error>;

    /// Returns true if explorations are saved, so that a later run resumes them.
    fn is_kept(&self) -> bool {
        false
    }
}

/// Budget of one exploration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Deadline; `None` if unlimited.
    pub until: Option<Instant>,
    /// Approximate number of states; `None` if unlimited.
    pub states: Option<u64>,
}

/// Result of one exploration.
#[derive(Clone, Debug)]
pub enum Finding<W> {
    /// The exploration is complete, and nothing is wrong.
    Nothing,
    Wrong(W),
    /// The exploration ended early.
    Stopped(Unfinished),
}

/// Result for one pair.
#[derive(Clone, Debug)]
pub struct Found<W> {
    pub pair: [Process; 2],
    /// The answer; never [`Unfinished::Answered`] for a pair that is wrong itself.
    pub finding: Finding<W>,
    /// The effort that gave the answer; without an answer, the finished efforts.
    pub scope: Vec<Effort>,
    pub measures: Measures,
}

/// Explores each requested pair, in order.
///
/// # Errors
/// The first error of the explorer.
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

/// Number of states for each of several pairs in the first turn, if time or states are limited.
const FIRST_TURN: u64 = 1_000_000;

/// Factor by which the number of states grows from turn to turn.
const GROWTH: u64 = 8;

/// Explores each pair to its end, one after the other. Returns why some pairs have no finding.
///
/// With a limit of time or states, pairs take turns of a number of states each. Every turn starts
/// over with a larger number, until the remaining pairs are all isomorphic. So a pair that takes
/// long does not hide another one, and which pairs are explored to their end does not depend on
/// shares of the clock. If explorations are saved for a later run, there are no turns: each pair
/// has an equal share of the time left.
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
        // Pairs that are isomorphic to others wait for those.
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

/// Returns the end of an equal part of the time left until `end`.
fn share(end: Instant, parts: usize) -> Instant {
    let now = Instant::now();
    let left = end.saturating_duration_since(now);
    now + left / u32::try_from(parts).unwrap_or(u32::MAX)
}

/// Number of turns that the first pair may be ahead of the others.
const HEAD_START: usize = 6;

/// Explores all pairs by growing efforts, the cheapest first. Returns why some pairs have no
/// finding.
///
/// If the effort suffices, a violation mostly shows for the first pairs already, and there are many
/// pairs if n is large. So the second pair begins one turn after the first, the third one turn
/// after the second, up to [`HEAD_START`] turns; then the pairs take turns.
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
        // All pairs have the same schedule, except for efforts that did not fit.
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

/// Progress of a pair.
#[derive(Debug)]
struct PairProgress<W> {
    pair: [Process; 2],
    schedule: Schedule,
    measures: Measures,
    /// Number of turns taken.
    turns: usize,
    /// The final result, and the effort that gave it.
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

    /// Repeats an effort. The measures are those of the last exploration, but the elapsed time is
    /// the sum over all of them.
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

    /// Answers by a rule, and records the requested efforts.
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
            // A pair that is isomorphic to another takes a turn, but no exploration.
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
    fn pairs_are_explored_until_the_first_wrong_one() {
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
    fn only_the_pair_that_does_not_fit_is_unknown() {
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
    fn interrupt_ends_all_pairs() {
        let request = request(3, Operations::Unbounded);
        let (findings, asked) = run(&request, |_, _| Finding::Stopped(Unfinished::Interrupted));
        assert_eq!(findings, ["Interrupted"; 3]);
        assert_eq!(asked.len(), 1);
    }

    #[test]
    fn growing_tries_all_pairs_with_a_head_start_of_the_first() {
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
    fn growing_is_clean_only_without_bounds() {
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

    /// Explorer whose pairs need these numbers of states, in order; one pair is wrong.
    struct Sized {
        needs: [u64; 3],
        wrong: usize,
        /// The pair that is isomorphic to the first one.
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

    /// A pair that takes forever hides no other one, and results do not depend on each pair's share
    /// of the clock.
    #[test]
    fn time_limit_makes_pairs_take_turns_by_states() {
        let limited =
            Request { time: Some(Duration::from_secs(3_600)), ..request(3, Operations::Unbounded) };
        let needs = [u64::MAX, 10, 5 * FIRST_TURN];
        let (explorer, findings) = sized(needs, None, &limited);
        assert_eq!(findings, ["Answered", "clean", "wrong"]);
        let (first, second) = (Some(FIRST_TURN), Some(FIRST_TURN * GROWTH));
        assert_eq!(explorer.asked, [(0, first), (1, first), (2, first), (0, second), (2, second)]);
        // A single remaining pair takes no turns, nor does one whose isomorphic pairs remain.
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
    fn state_limit_makes_pairs_take_turns() {
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
