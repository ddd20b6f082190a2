//! The report of a contradiction between judges, which no known history causes.

use super::{first_alarm, method};
use crate::history::{Declaration, History};
use crate::verdict::Dispute;

/// An update, and a scan that returns its value or, too late, the initial one.
fn simple(returned: i64) -> History<i64> {
    let mut history = History::builder(Declaration::new(0).with_segments(2)).expect("it is valid");
    history.invoke_update(0, 0, 5).expect("it can begin");
    history.respond_update(0).expect("it can end");
    history.invoke_scan(1).expect("it can begin");
    history.respond_scan(1, &[returned, 0]).expect("it can end");
    history.finish()
}

#[test]
fn check_contradicting_the_observer_is_disputed() {
    let (observer, pass) = (Dispute::OBSERVER, Dispute::PASS);
    assert!(method(&simple(5), true).is_ok() && method(&simple(0), false).is_ok());
    let right = method(&simple(5), false);
    assert_eq!(right, Err(Dispute { accepting: observer, refusing: pass }));
    let wrong = method(&simple(0), true);
    assert_eq!(wrong, Err(Dispute { accepting: pass, refusing: observer }));
}

#[test]
fn violation_missed_by_the_monitor_is_disputed() {
    assert!(first_alarm(&simple(0)).is_ok());
    let dispute = first_alarm(&simple(5)).expect_err("it is linearizable");
    assert_eq!((dispute.accepting, dispute.refusing), (Dispute::MONITOR, Dispute::PASS));
    assert!(dispute.to_string().contains("BUG in this program"));
}
