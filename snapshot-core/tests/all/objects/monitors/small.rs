//! All histories of a few operations: all orders of events, all calls, all choices of complete and
//! pending. The counts keep the enumeration honest.

use std::fmt::Debug;

use snapshot_core::generic::objects::{
    Counter, Lock, PriorityQueue, Queue, Register, Set, Stack, SwapRegister,
};
use test_support::effort;

use super::objects::{Call, Tried};
use super::{Script, Tally, has_order, judged};

/// All orders of the events of operations that begin in the order of their numbers; those whose
/// bit is set respond.
pub fn orders(operations: usize, responding: u32) -> Vec<Vec<usize>> {
    fn extend(
        operations: usize,
        responding: u32,
        begun: usize,
        open: u32,
        events: &mut Vec<usize>,
        all: &mut Vec<Vec<usize>>,
    ) {
        if begun == operations && open & responding == 0 {
            all.push(events.clone());
            return;
        }
        if begun < operations {
            events.push(begun);
            extend(operations, responding, begun + 1, open | 1 << begun, events, all);
            events.pop();
        }
        for ending in (0..begun).filter(|one| (open & responding) >> one & 1 == 1) {
            events.push(ending);
            extend(operations, responding, begun, open & !(1 << ending), events, all);
            events.pop();
        }
    }
    let mut all = Vec::new();
    extend(operations, responding, 0, 0, &mut Vec::new(), &mut all);
    all
}

/// Passes all histories of this many operations.
pub fn for_all<S: Tried>(
    object: &S,
    operations: usize,
    each: &mut impl FnMut(&Script<S::Input, S::Output>),
) {
    for responding in 0..1 << operations {
        let orders = orders(operations, responding);
        let mut chosen: Vec<Call<S>> = Vec::new();
        choose(object, operations, responding, &mut chosen, &mut |calls| {
            for events in &orders {
                each(&Script { events: events.clone(), calls: calls.to_vec() });
            }
        });
    }
}

fn choose<S: Tried>(
    object: &S,
    operations: usize,
    responding: u32,
    chosen: &mut Vec<Call<S>>,
    judge: &mut dyn FnMut(&[Call<S>]),
) {
    if chosen.len() == operations {
        return judge(chosen);
    }
    let is_complete = responding >> chosen.len() & 1 == 1;
    for call in object.calls(chosen, is_complete, operations as u8) {
        chosen.push(call);
        choose(object, operations, responding, chosen, judge);
        chosen.pop();
    }
}

fn tally<S>(object: &S, (quick, slow): (usize, usize)) -> Tally
where
    S: Tried<Input: Debug, Output: Debug>,
{
    let mut tally = Tally::default();
    for operations in 1..=effort::either(quick, slow) {
        for_all(object, operations, &mut |script| {
            let history = script.history();
            judged(object, &history, has_order(object, &history), &mut tally);
        });
    }
    eprintln!("{tally:?}");
    tally
}

#[test]
fn queues() {
    let tally = tally(&Queue::<u8>::default(), (4, 5));
    assert_eq!(tally.counts(), effort::either((12_194, 86_194, 22), (382_403, 9_908_337, 1_360)));
}

#[test]
fn stacks() {
    let tally = tally(&Stack::<u8>::default(), (4, 5));
    assert_eq!(tally.counts(), effort::either((12_752, 85_636, 22), (412_969, 9_877_771, 1_370)));
}

#[test]
fn priority_queues() {
    let tally = tally(&PriorityQueue::<u8>::default(), (4, 4));
    assert_eq!(tally.counts(), (59_408, 228_714, 132));
}

#[test]
fn registers() {
    let tally = tally(&Register::<u8>::default(), (4, 5));
    assert_eq!(tally.counts(), effort::either((11_142, 70_049, 0), (420_175, 8_328_647, 0)));
}

#[test]
fn swap_registers() {
    let tally = tally(&SwapRegister::<u8>::default(), (3, 4));
    assert_eq!(
        tally.counts(),
        effort::either((6_971, 15_278, 1_540), (695_452, 3_686_127, 145_603))
    );
}

#[test]
fn locks() {
    let tally = tally(&Lock::<u8>::default(), (4, 5));
    assert_eq!(
        tally.counts(),
        effort::either((10_877, 10_974, 15_825), (981_921, 1_529_274, 2_009_089))
    );
}

#[test]
fn sets() {
    let tally = tally(&Set::<u8>::default(), (4, 4));
    assert_eq!(tally.counts(), (72_062, 153_730, 153_730));
}

#[test]
fn counters() {
    let tally = tally(&Counter::default(), (4, 4));
    assert_eq!(tally.counts(), (84_134, 691_070, 691_070));
}
