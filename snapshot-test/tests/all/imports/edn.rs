//! EDN: maps, transactions and tuples, in the order of the file or of `:time`.

use proptest::prelude::*;
use snapshot_test::Value;
use snapshot_test::import::{EdnOptions, Imported, edn};
use test_support::effort::either;

use super::log::{Act, How, Log, Name, Operation, REGISTERS, logs, rendered};

/// Registers, as keywords; the keys of a transaction are keywords, too.
const KEYWORDS: &[Name] = &[("", ":x"), ("", ":y"), ("", "3")];

/// The form of a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Maps,
    Transactions,
    /// Tuples of independent keys.
    Tuples,
}

fn values() -> Vec<Value> {
    let texts = ["x", "a b", "_", "nul"].map(Value::from);
    [0, 5, -3].map(Value::from).into_iter().chain(texts).collect()
}

/// Returns a value, or a name, in EDN.
fn edn_of(value: &Value) -> String {
    match value {
        Value::Integer(integer) => integer.to_string(),
        Value::Text(text) => format!("{text:?}"),
    }
}

/// Returns the values of the invocation and the response of an operation.
fn both(form: Form, operation: &Operation) -> (String, String) {
    match (&operation.act, form) {
        (Act::Update(name, value), Form::Maps) => {
            let value = format!("{{{} {}}}", name.1, edn_of(value));
            (value.clone(), value)
        }
        (Act::Update(name, value), Form::Transactions) => {
            let value = format!("[[:w {} {}]]", name.1, edn_of(value));
            (value.clone(), value)
        }
        (Act::Update(name, value), Form::Tuples) => {
            let value = format!("[{} {}]", name.0, edn_of(value));
            (value.clone(), value)
        }
        (Act::Scan(_, entries), Form::Maps) => {
            let entry = |(name, value): &(Name, Value)| format!("{} {}", name.1, edn_of(value));
            let entries: Vec<_> = entries.iter().map(entry).collect();
            ("nil".to_owned(), format!("{{{}}}", entries.join(", ")))
        }
        (Act::Scan(_, entries), Form::Transactions) => {
            let asked: Vec<_> =
                entries.iter().map(|(name, _)| format!("[:r {} nil]", name.1)).collect();
            let entry =
                |(name, value): &(Name, Value)| format!("[:r {} {}]", name.1, edn_of(value));
            let found: Vec<_> = entries.iter().map(entry).collect();
            (format!("[{}]", asked.join(" ")), format!("[{}]", found.join(" ")))
        }
        (Act::Scan(key, entries), Form::Tuples) => {
            let value = entries.first().map_or("nil".to_owned(), |(_, value)| edn_of(value));
            (format!("[{key} nil]"), format!("[{key} {value}]"))
        }
    }
}

/// Returns the events of a log, each with its time, in order.
fn events(form: Form, log: &Log) -> Vec<String> {
    let mut events: Vec<(usize, String)> = Vec::new();
    for operation in &log.operations {
        let (given, returned) = both(form, operation);
        let function = match (&operation.act, form) {
            (_, Form::Transactions) => "txn",
            (Act::Update(..), _) => "write",
            (Act::Scan(..), _) => "read",
        };
        let mut event = |at: usize, kind: &str, value: &str| {
            let time = 10 * at + 7;
            let process = operation.client + 40;
            let text = format!(
                "{{:index {at}, :error [\"[{{\" \\] #inst \"x\"], :type :{kind}, :f :{function}, \
                 :value {value}, :process {process}, :time {time}.25}}"
            );
            events.push((at, text));
        };
        event(operation.invoked, "invoke", &given);
        match operation.ended {
            Some((at, How::Ok)) => event(at, "ok", &returned),
            Some((at, How::Fail)) => event(at, "fail", &given),
            Some((at, How::Unknown)) => event(at, "info", &given),
            None => {}
        }
    }
    events.sort();
    events.into_iter().map(|(_, text)| text).collect()
}

/// Returns the text of events, in one of the layouts of a file.
fn written(events: &[String], way: u8) -> String {
    let nemesis = "{:type :info, :process :nemesis, :f :kill, :value #object[a.B 0x1 \"}\"]}\n";
    match way % 4 {
        0 => events.join("\n"),
        1 => format!("[{}]", events.join(" ; [{ a comment\n")),
        2 => format!("{nemesis}#jepsen.history.Op {}", events.join("\n#jepsen.history.Op ")),
        _ => format!("\u{feff}({}\n#_ #_ {{:a []}} 5 )", events.join(" #_[#_ 1 2 {}] ")),
    }
}

fn imported(text: &str, options: &EdnOptions) -> Imported {
    match edn(text.as_bytes(), options) {
        Ok(imported) => imported,
        Err(error) => panic!("{}\n{text}", error.report("log")),
    }
}

fn any_log() -> impl Strategy<Value = (Form, Log)> {
    let of = |form: Form| {
        let segments = if form == Form::Tuples { REGISTERS } else { KEYWORDS };
        logs(segments, values()).prop_map(move |log| (form, log))
    };
    prop_oneof![of(Form::Maps), of(Form::Transactions), of(Form::Tuples)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(either(150, 5_000)) })]

    #[test]
    fn logs_round_trip(
        ((form, log), order, way) in any_log()
            .prop_filter("operations", |(_, log)| !log.is_empty())
            .prop_flat_map(|(form, mut log)| {
                if form == Form::Tuples {
                    // A read of a register returns its value.
                    for operation in &mut log.operations {
                        if let (Act::Scan(key, entries), Some((_, How::Ok))) =
                            (&mut operation.act, operation.ended)
                            && entries.is_empty()
                        {
                            entries.push(((*key, ""), Value::from(5)));
                        }
                    }
                }
                let count = events(form, &log).len();
                let order: Vec<usize> = (0..count).collect();
                (Just((form, log)), Just(order).prop_shuffle(), any::<u8>())
            }),
    ) {
        let events = events(form, &log);
        let independent = form == Form::Tuples;
        let options = EdnOptions { independent, ..EdnOptions::default() };
        let expected = log.expected_import(|client| (client + 40).to_string());
        let text = written(&events, way);
        let Imported { history, places, warnings, names } = imported(&text, &options);
        prop_assert_eq!(places.len(), history.len());
        prop_assert_eq!(rendered(&history, &names), expected.clone(), "{}", text);
        prop_assert_eq!(warnings, []);
        // In another order, sorted by time.
        let shuffled: Vec<_> = order.iter().map(|&event| events[event].clone()).collect();
        let text = written(&shuffled, way);
        let options = EdnOptions { sort_by_time: true, ..options };
        let Imported { history, places, warnings, names } = imported(&text, &options);
        prop_assert_eq!(places.len(), history.len());
        prop_assert_eq!(rendered(&history, &names), expected, "{}", text);
        prop_assert_eq!(warnings, []);
    }
}
