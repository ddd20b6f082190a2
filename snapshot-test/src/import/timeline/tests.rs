use proptest::prelude::*;

use super::*;

/// For each client, pauses and lengths of its operations, one after the other; many have no length.
fn logs() -> impl Strategy<Value = Vec<Interval>> {
    let operation = (0..3_i64, prop_oneof![Just(0_i64), 0..4_i64], 0..9_u8);
    prop::collection::vec(prop::collection::vec(operation, 0..6), 1..5).prop_map(|clients| {
        let mut intervals = Vec::new();
        for (client, operations) in clients.into_iter().enumerate() {
            let mut now = 0;
            for (pause, length, kind) in operations {
                let (call, end) = (now + pause, now + pause + length);
                now = end;
                let fate = match kind {
                    0 => Fate::Failed,
                    1 | 2 => Fate::Unknown,
                    _ => Fate::Ok,
                };
                let stamp = |at: i64| at.to_string().parse::<Stamp>().expect("a number");
                intervals.push(Interval {
                    spot: Spot::new(intervals.len(), intervals.len() + 1),
                    client: client.to_string(),
                    // Values identify operations.
                    deed: Deed::Update {
                        segment: Segment::from_index(client),
                        value: Value::from(intervals.len() as i64 + 1),
                    },
                    call: stamp(call),
                    // An operation that was given up immediately has no end.
                    end: (kind != 2).then(|| stamp(end)),
                    fate,
                });
            }
        }
        intervals
    })
}

fn shuffled() -> impl Strategy<Value = (Vec<Interval>, Vec<Interval>)> {
    let logs = logs().prop_filter("operations", |log| !log.is_empty());
    logs.prop_flat_map(|log| (Just(log.clone()), Just(log).prop_shuffle()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Against the definition: A precedes B in the history only if A's widened interval ends
    /// strictly before B's, or one client did A before B, by (call, return). And all of this order
    /// is kept, unless a warning reports that order of the client was lost. The order of the log
    /// does not matter.
    #[test]
    fn imported_order_is_that_of_the_widened_intervals(
        (intervals, other) in shuffled(),
        skew in 0..3_i64,
    ) {
        let skew = skew.to_string().parse::<Stamp>().expect("a number");
        let imported = |intervals: Vec<Interval>| {
            history(intervals, Declaration::new(Value::ZERO), skew).expect("clients take turns")
        };
        let arranged = imported(intervals.clone());
        let again = imported(other);
        prop_assert_eq!(arranged.history.to_string(), again.history.to_string());
        prop_assert_eq!(&arranged.warnings, &again.warnings);
        let history = &arranged.history;
        let number = |id: usize| match history.update_value(&history.operations()[id]) {
            Value::Integer(number) => *number as usize - 1,
            Value::Text(_) => unreachable!("values are numbers"),
        };
        prop_assert_eq!(history.operations().len(), intervals.len());
        for (a, first) in history.operations().iter().enumerate() {
            for (b, second) in history.operations().iter().enumerate() {
                let (from, to) = (&intervals[number(a)], &intervals[number(b)]);
                let has_returned = from.fate == Fate::Ok;
                let end = from.end;
                let of_one_client = from.client == to.client
                    && has_returned
                    && end <= Some(to.call)
                    && (from.call, end) < (to.call, to.end);
                let is_before = has_returned
                    && end.is_some_and(|end| end.after(skew) < to.call.before(skew));
                if first.precedes(second) {
                    prop_assert!(is_before || of_one_client, "{:?} {:?}", from, to);
                }
                let is_warned = arranged.warnings.iter().any(|warning| {
                    matches!(warning, Warning::OrderLost { client, .. } if *client == from.client)
                });
                if is_before || (of_one_client && !is_warned) {
                    prop_assert!(first.precedes(second), "{:?} {:?}", from, to);
                }
            }
        }
        let failed = history.operations().iter().filter(|operation| operation.is_failed()).count();
        prop_assert_eq!(
            failed,
            intervals.iter().filter(|interval| interval.fate == Fate::Failed).count()
        );
    }
}
