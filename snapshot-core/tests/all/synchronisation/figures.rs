//! The examples of Lawrence and Lowe, "Synchronisation: Specification and Testing".

use snapshot_core::OperationId;
use snapshot_core::generic::History;
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::objects::{Channel, ChannelInput, ChannelOutput, Exchanger};
use snapshot_core::synchronisation::progress::{self, Progress};
use snapshot_core::synchronisation::{Deficiency, Verdict, Violation, by_keys};

use super::keyed;

fn ids(ids: &[usize]) -> Vec<OperationId> {
    ids.iter().map(|&id| OperationId::from_index(id)).collect()
}

/// Figure 2: a right channel; 1 meets 3, 5 meets 4, 2 meets 6.
#[test]
fn figure_2_is_set_linearizable_by_the_groups_of_the_paper() {
    use ChannelInput::{Receive, Send};
    use ChannelOutput::{Received, Sent};
    let mut history = History::builder();
    history.invoke(1, Send(8_u8)).unwrap();
    history.invoke(2, Send(8)).unwrap();
    history.invoke(3, Receive).unwrap();
    history.respond(3, Received(8)).unwrap();
    history.invoke(4, Receive).unwrap();
    history.respond(1, Sent).unwrap();
    history.invoke(5, Send(9)).unwrap();
    history.respond(4, Received(9)).unwrap();
    history.invoke(6, Receive).unwrap();
    history.respond(2, Sent).unwrap();
    history.respond(5, Sent).unwrap();
    history.respond(6, Received(8)).unwrap();
    let history = history.finish();
    let truth = keyed(&Channel::default(), &history, &mut super::Tally::default());
    assert!(truth.is_set_linearizable && truth.has_progress);
    let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
    let Verdict::SetLinearizable(groups) = by_keys(&Channel::default(), &history, &mut budget)
    else {
        panic!("it is set-linearizable");
    };
    let groups: Vec<Vec<OperationId>> = groups.blocks().map(<[OperationId]>::to_vec).collect();
    assert_eq!(groups, [ids(&[0, 2]), ids(&[3, 4]), ids(&[1, 5])]);
}

/// Figure 9: in an exchanger, operation 0 was delayed and returned the value of 3, which had
/// met 2; so 0 and 1 have no partners.
#[test]
fn figure_9_has_operations_without_partners() {
    let mut history = History::builder();
    history.invoke(0, 13_u8).unwrap();
    history.invoke(1, 70).unwrap();
    history.respond(1, 13).unwrap();
    history.invoke(2, 76).unwrap();
    history.invoke(3, 58).unwrap();
    history.respond(3, 76).unwrap();
    history.respond(2, 58).unwrap();
    history.respond(0, 58).unwrap();
    let history = history.finish();
    let truth = keyed(&Exchanger::default(), &history, &mut super::Tally::default());
    assert!(!truth.is_set_linearizable);
    let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
    let verdict = by_keys(&Exchanger::default(), &history, &mut budget);
    let operation = OperationId::from_index(1);
    let deficiency = Some(Deficiency { partners: Vec::new(), components: vec![vec![operation]] });
    assert_eq!(verdict, Verdict::Violation(Violation::Unmatched { operation, deficiency }));
}

/// Figure 10: in a channel, operations 2 and 3 should have met.
#[test]
fn figure_10_lacks_progress() {
    use ChannelInput::{Receive, Send};
    let mut history = History::builder();
    history.invoke(0, Send(48_u8)).unwrap();
    history.invoke(1, Receive).unwrap();
    history.invoke(2, Send(92)).unwrap();
    history.invoke(3, Receive).unwrap();
    history.respond(1, ChannelOutput::Received(48)).unwrap();
    history.respond(0, ChannelOutput::Sent).unwrap();
    let history = history.finish();
    let truth = keyed(&Channel::default(), &history, &mut super::Tally::default());
    assert!(truth.is_set_linearizable && !truth.has_progress);
    let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
    let found = progress::by_keys(&Channel::default(), &history, &mut budget);
    assert_eq!(found, Progress::Missed(ids(&[2, 3])));
}

/// Section 3: after the call of a send alone no return is due; where one receive has returned for
/// two waiting sends, one of these is due to return.
#[test]
fn due_returns_are_those_of_section_3() {
    use ChannelInput::{Receive, Send};
    let mut history = History::builder();
    history.invoke(0, Send(4_u8)).unwrap();
    let alone = history.clone().finish();
    let truth = keyed(&Channel::default(), &alone, &mut super::Tally::default());
    assert!(truth.has_progress);
    history.invoke(1, Receive).unwrap();
    history.invoke(2, Receive).unwrap();
    history.respond(0, ChannelOutput::Sent).unwrap();
    let history = history.finish();
    let truth = keyed(&Channel::default(), &history, &mut super::Tally::default());
    assert!(truth.is_set_linearizable && !truth.has_progress);
    let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
    let found = progress::by_keys(&Channel::default(), &history, &mut budget);
    assert_eq!(found, Progress::Unreturned);
}
