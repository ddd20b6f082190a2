//! Certificates: every change of a valid one is refused, with the reason.

use snapshot_core::OperationId;
use snapshot_core::certificate::deficiency::{self, DeficiencyError};
use snapshot_core::certificate::groups::{self, GroupsError};
use snapshot_core::generic::History;
use snapshot_core::immediate::SetLinearization;
use snapshot_core::synchronisation::Deficiency;
use snapshot_core::synchronisation::objects::{
    Channel, ChannelInput, ChannelOutput, Exchanger, TimeoutExchanger,
};

use super::domain::Recording;

fn id(index: usize) -> OperationId {
    OperationId::from_index(index)
}

/// 0 sends 5 to 1; then 2 sends 6 to 3, after both have returned; 4 sends and waits; 5 failed.
fn history() -> Recording<Channel<u8>> {
    use ChannelInput::{Receive, Send};
    use ChannelOutput::{Received, Sent};
    let mut history = History::builder();
    for (input, output) in [(Send(5), Received(5)), (Send(6), Received(6))] {
        history.invoke(0, input).unwrap();
        history.invoke(1, Receive).unwrap();
        history.respond(1, output).unwrap();
        history.respond(0, Sent).unwrap();
    }
    history.invoke(2, Send(7)).unwrap();
    history.invoke(3, Receive).unwrap();
    history.fail(3).unwrap();
    history.finish()
}

#[test]
fn groups_are_replayed() {
    let check = |groups: &[&[usize]]| {
        let blocks = groups.iter().map(|group| group.iter().map(|&index| id(index)));
        groups::check(&Channel::default(), &history(), &SetLinearization::new(blocks))
    };
    assert_eq!(check(&[&[0, 1], &[2, 3]]), Ok(()));
    assert_eq!(check(&[&[1, 0], &[3, 2]]), Ok(()));
    assert_eq!(check(&[&[0, 1]]), Err(GroupsError::Missing { operation: id(2) }));
    assert_eq!(check(&[&[0, 1], &[], &[2, 3]]), Err(GroupsError::Empty { group: 1 }));
    assert_eq!(check(&[&[0, 1], &[2, 3], &[1]]), Err(GroupsError::Repeated { operation: id(1) }));
    assert_eq!(check(&[&[0, 1], &[2, 3], &[5]]), Err(GroupsError::Failed { operation: id(5) }));
    assert_eq!(
        check(&[&[0, 1], &[2, 3], &[6]]),
        Err(GroupsError::NoSuchOperation { operation: id(6), operations: 6 })
    );
    assert_eq!(check(&[&[0, 1], &[2], &[3]]), Err(GroupsError::NotAllowed { group: 1 }));
    assert_eq!(check(&[&[0, 1], &[2, 3], &[4]]), Err(GroupsError::NotAllowed { group: 2 }));
    assert_eq!(
        check(&[&[2, 3], &[0, 1]]),
        Err(GroupsError::Precedence { group: 1, operation: id(0), later: id(3) })
    );
    assert_eq!(
        check(&[&[0, 3], &[2, 1]]),
        Err(GroupsError::Precedence { group: 0, operation: id(0), later: id(3) })
    );
}

/// Three exchanges of 1 for 1 overlap: one of them has no partner; 3 overlaps none of them.
fn three(last_responds: bool) -> Recording<Exchanger<u8>> {
    let mut history = History::builder();
    for process in 0..3 {
        history.invoke(process, 1).unwrap();
    }
    for process in 0..2 {
        history.respond(process, 1).unwrap();
    }
    if last_responds {
        history.respond(2, 1).unwrap();
    }
    history.invoke(3, 1).unwrap();
    history.finish()
}

#[test]
fn deficiencies_are_checked() {
    let check = |last_responds: bool, partners: &[usize], components: &[&[usize]]| {
        let ids = |set: &[usize]| set.iter().map(|&index| id(index)).collect();
        let components = components.iter().map(|set| ids(set)).collect();
        let deficiency = Deficiency { partners: ids(partners), components };
        deficiency::check(&Exchanger::default(), &three(last_responds), &deficiency)
    };
    assert_eq!(check(true, &[], &[&[0, 1, 2]]), Ok(()));
    assert_eq!(check(true, &[0], &[&[1], &[2]]), Err(meets(1, 2)));
    assert_eq!(check(true, &[], &[&[0]]), Err(meets(0, 1)));
    assert_eq!(check(true, &[], &[&[0, 1]]), Err(DeficiencyError::Even { component: 0 }));
    assert_eq!(
        check(true, &[0], &[&[1, 2, 3]]),
        Err(DeficiencyError::Enough { components: 1, partners: 1 })
    );
    assert_eq!(
        check(true, &[], &[&[0, 1, 1]]),
        Err(DeficiencyError::Repeated { operation: id(1) })
    );
    assert_eq!(
        check(true, &[], &[&[4]]),
        Err(DeficiencyError::NoSuchOperation { operation: id(4), operations: 4 })
    );
    assert_eq!(
        check(false, &[], &[&[0, 1, 2]]),
        Err(DeficiencyError::NotComplete { operation: id(2) })
    );
}

fn meets(operation: usize, other: usize) -> DeficiencyError {
    DeficiencyError::Meets { operation: id(operation), other: id(other) }
}

#[test]
fn deficiency_of_an_operation_that_can_be_alone_is_refused() {
    let mut history = History::builder();
    history.invoke(0, 1_u8).unwrap();
    history.respond(0, None).unwrap();
    let deficiency = Deficiency { partners: Vec::new(), components: vec![vec![id(0)]] };
    let checked = deficiency::check(&TimeoutExchanger::default(), &history.finish(), &deficiency);
    assert_eq!(checked, Err(DeficiencyError::Alone { operation: id(0) }));
}
