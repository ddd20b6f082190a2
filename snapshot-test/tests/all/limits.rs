//! Inputs that are too large to be committed, or arrive in pieces.

use std::io::{self, Read};

use snapshot_core::history::Action;
use snapshot_test::format::{Format, LINE_LIMIT, Reader};
use snapshot_test::{InputError, Value, read_history};

/// Hands out one byte at a time.
struct Dripping<R>(R);

impl<R: Read> Read for Dripping<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = buffer.len().min(1);
        self.0.read(&mut buffer[..end])
    }
}

/// An endless input that counts the bytes read.
struct Endless<'c> {
    byte: u8,
    read: &'c mut usize,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(self.byte);
        *self.read += buffer.len();
        Ok(buffer.len())
    }
}

fn open<'i>(
    format: Format,
    input: impl Read + 'i,
) -> Result<Reader<Box<dyn Read + 'i>>, InputError> {
    let input: Box<dyn Read + 'i> = Box::new(input);
    Ok(match format {
        Format::Text => Reader::text(input)?,
        Format::Jsonl => Reader::jsonl(input)?,
        Format::Disc22 => Reader::disc22(input, 2),
        Format::Edn | Format::Intervals => unreachable!("{format} has no reader of events"),
    })
}

fn first_error(format: Format, input: impl Read) -> String {
    match open(format, input).and_then(read_history) {
        Ok(_) => panic!("read without an error"),
        Err(error) => error.report("input").to_string(),
    }
}

#[test]
fn endless_line_is_refused_at_the_limit() {
    for (format, place, begin) in [
        (Format::Text, "2:1", "p0 update 1\np1 update "),
        (
            Format::Jsonl,
            "2:1",
            "{\"process\":0,\"event\":\"invoke\",\"operation\":\"scan\"}\n{\"process\":",
        ),
        (Format::Disc22, "1:13", "startScan!0;endScan!0,"),
    ] {
        let mut read = 0;
        let endless = Endless { byte: b'1', read: &mut read };
        assert_eq!(
            first_error(format, begin.as_bytes().chain(endless)),
            format!(
                "input:{place}: expected at most 8 MiB up to the end of the line or event, \
                 found more\n\
                 help: put each event on a line of its own; is this a recording at all?"
            )
        );
        assert!(read <= LINE_LIMIT + (2 << 20));
    }
    let mut read = 0;
    assert!(
        first_error(Format::Text, Endless { byte: 0, read: &mut read })
            .starts_with("input:1:1: binary data: expected text, found the control byte 0x00")
    );
}

#[test]
fn a_line_of_exactly_the_limit_is_read() {
    for excess in [0, 1] {
        let frame = "p0 update \"\"\n".len();
        let text = "x".repeat(LINE_LIMIT - frame + excess);
        let input = format!("# first\np0 update \"{text}\"\np0 ok\n");
        let result = open(Format::Text, input.as_bytes()).and_then(read_history);
        if excess == 0 {
            let (history, locations) = result.unwrap();
            assert_eq!(history.update_value(&history.operations()[0]), &Value::from(text.as_str()));
            assert_eq!((locations[1].line, locations[1].offset), (3, (8 + LINE_LIMIT) as u64));
        } else {
            assert_eq!(result.unwrap_err().location().line, 2);
        }
    }
}

#[test]
fn chunks_of_an_input_do_not_matter() {
    for (format, input) in [
        (
            Format::Text,
            "\u{feff}# ü\nsegments 2\r\ninitial \"é\"\n\n p0\tupdate -1234567890123 # x\n\
             p1 scan\r\np0 ok\np1 ok \"\" 7\n# end\n",
        ),
        (
            Format::Jsonl,
            "\u{feff}{\"snapshot-history\":1,\"segments\":2}\n\n\
             {\"process\":0,\"event\":\"invoke\",\"operation\":\"scan\",\"time\":1.5}\n\
             {\"event\":\"ok\",\"comment\":{\"a\":[null]},\"values\":[-5,\"\\u00e9\"],\"process\":0}\r\n",
        ),
        (
            Format::Disc22,
            "\u{feff}startUpdate!0,-5;startScan!1;\r\n endUpdate!0,-5;\n\nendScan!1,3;\n",
        ),
    ] {
        let (whole, whole_locations) =
            open(format, input.as_bytes()).and_then(read_history).unwrap();
        let (dripped, dripped_locations) =
            open(format, Dripping(input.as_bytes())).and_then(read_history).unwrap();
        assert!(whole.events().eq(dripped.events()), "{format}");
        assert_eq!(whole.declaration(), dripped.declaration());
        assert_eq!(whole_locations, dripped_locations);
        for (location, event) in whole_locations.iter().zip(whole.events()) {
            let rest = &input[location.offset as usize..];
            let marker = match format {
                Format::Text => format!("p{}", event.process),
                Format::Jsonl => "{".to_owned(),
                Format::Disc22 => {
                    let is_end =
                        matches!(event.action, Action::RespondUpdate | Action::RespondScan { .. });
                    if is_end { "end" } else { "start" }.to_owned()
                }
                Format::Edn | Format::Intervals => unreachable!("{format} has no reader of events"),
            };
            assert!(rest.starts_with(&marker), "{location} {rest:?}");
            let line = input.trim_start_matches('\u{feff}').lines().nth(location.line as usize - 1);
            assert!(line.unwrap()[location.column as usize - 1..].starts_with(&marker));
        }
    }
}

#[test]
fn recordings_longer_than_the_buffer_are_read_whole() {
    let events = 300_000;
    let mut input = String::new();
    for event in 0..events / 4 {
        input += &format!("p0 update {event}\np1 scan\np1 ok {event}\np0 ok\n");
    }
    let (history, locations) = read_history(Reader::text(input.as_bytes()).unwrap()).unwrap();
    assert_eq!(history.len(), events);
    for (event, operation) in history.operations().iter().filter(|op| op.is_scan()).enumerate() {
        assert_eq!(history.scan_values(operation), [Value::from(event as i64)]);
    }
    for (line, location) in locations.iter().enumerate() {
        assert_eq!((location.line, location.column), (line as u64 + 1, 1));
        assert_eq!(input.as_bytes()[location.offset as usize], b'p');
    }
}

#[test]
fn an_error_ends_the_input() {
    let mut reader = Reader::text(&b"p0 upd\np0 scan\n"[..]).unwrap();
    assert!(reader.next_event().unwrap().is_err());
    assert!(reader.next_event().is_none());
}
