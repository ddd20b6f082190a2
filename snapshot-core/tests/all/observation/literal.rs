//! Definitions 1 and 2 of the paper, literally: every arrangement of the operations is
//! tried, and looked up among the serial histories.

use snapshot_core::observation::{
    ConcurrentHistory, Event, Judgement, SerialHistory, Shape, Thread,
};

#[derive(Clone, Debug)]
pub struct Operation {
    pub thread: Thread,
    pub call: usize,
    pub end: Option<(usize, u8)>,
}

/// Operations in the order of their calls.
pub fn operations(history: &ConcurrentHistory<u8>) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    for (position, event) in history.events().iter().enumerate() {
        match event {
            Event::Call(thread) => {
                operations.push(Operation { thread: *thread, call: position, end: None });
            }
            Event::Return(thread, response) => {
                let own = operations.iter_mut().rfind(|o| o.thread == *thread);
                own.unwrap().end = Some((position, *response));
            }
        }
    }
    operations
}

fn witness(
    rest: &[Operation],
    so_far: &mut SerialHistory<u8>,
    serial: &[SerialHistory<u8>],
) -> bool {
    if rest.is_empty() {
        return serial.contains(so_far);
    }
    (0..rest.len()).any(|next| {
        let operation = &rest[next];
        let precedes = |o: &Operation| o.end.is_some_and(|(end, _)| end < operation.call);
        let last = rest.len() == 1;
        if rest.iter().any(precedes) || operation.end.is_none() && !last {
            return false;
        }
        let mut left = rest.to_vec();
        left.remove(next);
        match operation.end {
            Some((_, response)) => so_far.operations.push((operation.thread, response)),
            None => so_far.stuck = Some(operation.thread),
        }
        let found = witness(&left, so_far, serial);
        match operation.end {
            Some(_) => drop(so_far.operations.pop()),
            None => so_far.stuck = None,
        }
        found
    })
}

pub fn judge(
    _: &Shape,
    serial: &[SerialHistory<u8>],
    history: &ConcurrentHistory<u8>,
) -> Judgement {
    let all = operations(history);
    let mut empty = SerialHistory { operations: Vec::new(), stuck: None };
    if !history.is_stuck() {
        return match witness(&all, &mut empty, serial) {
            true => Judgement::Linearizable,
            false => Judgement::NoWitness,
        };
    }
    for pending in all.iter().filter(|o| o.end.is_none()) {
        let kept = |o: &&Operation| o.end.is_some() || o.thread == pending.thread;
        let kept: Vec<Operation> = all.iter().filter(kept).cloned().collect();
        if !witness(&kept, &mut empty, serial) {
            return Judgement::StuckWithoutWitness(pending.thread);
        }
    }
    Judgement::Linearizable
}
