//! The usual lines of long recordings: as this program writes them, with integers of up to 15 digits
//! without sign.
//!
//! Invariant: [`super::line::parse`] would parse each line parsed here in the same way, in a
//! recording of a snapshot without keys whose processes and segments have numbers. Any other line,
//! right or wrong, is left to it. So there is one grammar, and this module reports no errors.

use snapshot_core::{Process, Segment};

use crate::Value;
use crate::format::Shape;
use crate::format::text::integer;

struct Line<'l> {
    bytes: &'l [u8],
    at: usize,
}

impl Line<'_> {
    /// Passes these bytes, if they come next.
    #[inline(always)]
    fn passes(&mut self, wanted: &[u8]) -> bool {
        let passes = self.bytes[self.at..].starts_with(wanted);
        self.at += if passes { wanted.len() } else { 0 };
        passes
    }

    /// Passes an integer; JSON has no leading zeros.
    #[inline(always)]
    fn integer(&mut self) -> Option<i64> {
        let (value, end) = integer(self.bytes, self.at)?;
        let is_json = self.bytes[self.at] != b'0' || end == self.at + 1;
        self.at = end;
        is_json.then_some(value)
    }

    /// Passes integers up to the end of their array.
    #[inline(always)]
    fn integers(&mut self, values: &mut Vec<Value>) -> Option<()> {
        let limit = values.len() + Segment::LIMIT + 1;
        while values.len() < limit {
            values.push(Value::Integer(self.integer()?));
            if self.passes(b"]") {
                return Some(());
            }
            if !self.passes(b",") {
                return None;
            }
        }
        None
    }

    #[inline(always)]
    fn invocation(&mut self, process: Process, values: &mut Vec<Value>) -> Option<Shape> {
        if self.passes(b"scan\"") {
            return Some(Shape::InvokeScan);
        }
        if !self.passes(b"update\"") {
            return None;
        }
        let segment =
            if self.passes(b",\"segment\":") { self.integer()? as usize } else { process.index() };
        let segment = Segment::new(segment).ok()?;
        if !self.passes(b",\"value\":") {
            return None;
        }
        values.push(Value::Integer(self.integer()?));
        Some(Shape::InvokeUpdate(segment))
    }
}

/// Parses the event in the first of `lines`. Returns it with the length of that line with its end;
/// its values are appended. `None`: the line is not of the usual form; some of its values may have
/// been appended.
#[inline]
pub(super) fn event(lines: &[u8], values: &mut Vec<Value>) -> Option<(Process, Shape, usize)> {
    let mut line = Line { bytes: lines, at: 0 };
    if !line.passes(b"{\"process\":") {
        return None;
    }
    let process = Process::new(line.integer()? as usize).ok()?;
    let shape = if line.passes(b",\"event\":\"ok\"") {
        if line.passes(b",\"values\":[") {
            line.integers(values)?;
            Shape::RespondScan
        } else {
            Shape::RespondUpdate
        }
    } else if line.passes(b",\"event\":\"invoke\",\"operation\":\"") {
        line.invocation(process, values)?
    } else {
        return None;
    };
    line.passes(b"}\n").then_some((process, shape, line.at))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::format::names::{Kind, Naming};
    use crate::format::{Batch, Payload, Reader};

    type Read = Option<(Process, Shape, usize, Vec<Value>)>;

    fn usual(lines: &[u8]) -> Read {
        let mut values = Vec::new();
        let (process, shape, length) = event(lines, &mut values)?;
        Some((process, shape, length, values))
    }

    fn in_general(lines: &[u8]) -> Read {
        let length = memchr::memchr(b'\n', lines)? + 1;
        let (mut payload, mut naming) = (Payload::default(), Naming::default());
        for kind in [Kind::Process, Kind::Segment] {
            naming.number(kind, 0, 1).ok()?;
        }
        let line = &lines[..length];
        match super::super::line::parse(line, 0, &mut payload, &mut naming, 2).ok()? {
            super::super::line::Line::Event(event)
                if event.key.is_none() && event.time.is_none() =>
            {
                Some((event.process, event.shape, length, payload.values))
            }
            _ => None,
        }
    }

    fn integers() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => "[1-9][0-9]{0,14}",
            1 => "0",
            1 => "0[0-9]{1,9}|[0-9]{16,21}",
            1 => "-[0-9]{1,9}|[0-9]\\.[0-9]|[0-9]e3|\"[a-z]\"|null",
        ]
    }

    fn lines() -> impl Strategy<Value = String> {
        let process = prop_oneof![
            12 => "[1-9][0-9]{0,3}|0",
            1 => "65535|65536|1048576|\"p\"|00|-1",
        ];
        let rest = prop_oneof![
            2 => Just(r#""ok""#.to_owned()),
            2 => Just(r#""invoke","operation":"scan""#.to_owned()),
            4 => (process.clone(), integers()).prop_map(|(segment, value)| {
                format!(r#""invoke","operation":"update","segment":{segment},"value":{value}"#)
            }),
            2 => integers()
                .prop_map(|value| format!(r#""invoke","operation":"update","value":{value}"#)),
            4 => vec(integers(), 0..5)
                .prop_map(|values| format!(r#""ok","values":[{}]"#, values.join(","))),
            1 => Just(r#""fail""#.to_owned()),
            1 => r#""ok","(time|comment|key|process|value)":[0-9]"#,
        ];
        (process, rest)
            .prop_map(|(process, rest)| format!("{{\"process\":{process},\"event\":{rest}}}\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(test_support::effort::either(8_000, 80_000)))]

        #[test]
        fn fast_parse_agrees_with_serde(line in lines(), next in "|\\{\"process\":0\\}\n") {
            let lines = line + &next + "        ";
            if let Some(read) = usual(lines.as_bytes()) {
                prop_assert_eq!(Some(read), in_general(lines.as_bytes()), "{:?}", lines);
            }
        }

        #[test]
        fn fast_parse_of_damaged_lines_agrees_with_serde(
            line in lines(),
            at in any::<prop::sample::Index>(),
            byte in prop_oneof![any::<u8>(), prop::sample::select(&b" \t\n0/:9-+\"{}[],\\"[..])],
        ) {
            let mut lines = line.into_bytes();
            let at = at.index(lines.len());
            lines[at] = byte;
            lines.extend_from_slice(b"\n        ");
            if let Some(read) = usual(&lines) {
                let text = String::from_utf8_lossy(&lines);
                prop_assert_eq!(Some(read), in_general(&lines), "{:?}", text);
            }
        }

        #[test]
        fn usual_lines_take_the_fast_parse(
            process in 0usize..=Segment::LIMIT,
            values in vec("[1-9][0-9]{0,14}|0", 1..9),
        ) {
            let value = &values[0];
            let values = values.join(",");
            for rest in [
                r#""ok""#.to_owned(),
                format!(r#""ok","values":[{values}]"#),
                r#""invoke","operation":"scan""#.to_owned(),
                format!(r#""invoke","operation":"update","segment":{process},"value":{value}"#),
                format!(r#""invoke","operation":"update","value":{value}"#),
            ] {
                let line = format!("{{\"process\":{process},\"event\":{rest}}}\n        ");
                let read = usual(line.as_bytes());
                prop_assert!(read.is_some(), "{line:?}");
                prop_assert_eq!(read, in_general(line.as_bytes()));
            }
        }
    }

    #[test]
    fn a_response_has_at_most_one_value_per_possible_segment() {
        for (excess, is_read) in [(0, true), (1, false)] {
            let values = "7,".repeat(Segment::LIMIT + excess) + "7";
            let line =
                format!("{{\"process\":0,\"event\":\"ok\",\"values\":[{values}]}}\n        ");
            assert_eq!(usual(line.as_bytes()).is_some(), is_read);
            assert_eq!(in_general(line.as_bytes()).is_some(), is_read);
        }
    }

    #[test]
    fn names_keys_and_exchanges_are_left_to_serde() {
        let scan = r#"{"process":0,"event":"invoke","operation":"scan"}"#;
        for (header, first) in [
            (r#"{"snapshot-history":1,"processes":["a","b"]}"#, r#""process":"a","#),
            (r#"{"snapshot-history":1}"#, r#""process":0,"key":1,"#),
            (r#"{"snapshot-history":1,"object":"immediate"}"#, r#""process":0,"#),
        ] {
            let operation =
                if header.contains("immediate") { r#"exchange","value":1"# } else { "scan\"" };
            let text = format!(
                "{header}\n{{{first}\"event\":\"invoke\",\"operation\":\"{operation}}}\n{scan}\n"
            );
            let mut reader = Reader::jsonl(text.as_bytes()).expect("the header is right");
            reader.take_all();
            let mut batch = Batch::new();
            reader.next_batch(&mut batch);
            assert_eq!(batch.len(), 1, "{text}");
            assert!(batch.take_error().is_some(), "{text}");
        }
    }
}
