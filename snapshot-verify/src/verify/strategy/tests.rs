//! Turns of pairs and efforts, by an explorer whose answers are rules.

#![cfg(test)]

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
    let rule = |pair, _| if pair == [0, 2] { Finding::Wrong("wrong") } else { Finding::Nothing };
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
        Effort { operations: Some(bound), .. } if bound > 6 => Finding::Stopped(Unfinished::Memory),
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

    let bounded = Request { barriers: Barriers::AtMost(2), ..request(3, Operations::Unbounded) };
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
    let (explorer, findings) = sized([1 << 40, 10, 10], None, &request(3, Operations::Unbounded));
    assert_eq!(findings, ["clean", "clean", "wrong"]);
    assert_eq!(explorer.asked, [(0, None), (1, None), (2, None)]);
}

#[test]
fn state_limit_makes_pairs_take_turns() {
    let limited = |states| Request { states: Some(states), ..request(3, Operations::Unbounded) };
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
