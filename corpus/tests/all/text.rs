//! A strict reader for the text format of the twins, with only the features they need.

use snapshot_core::History;
use snapshot_core::history::{Declaration, Writers};

/// A value of a twin.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Value {
    Number(i64),
    Text(String),
}

/// Returns the events of a file: its lines without comments and header.
pub fn events(source: &str) -> Vec<String> {
    let is_event = |line: &String| line.starts_with('p') && !line.starts_with("processes");
    lines(source).filter(is_event).collect()
}

fn lines(source: &str) -> impl Iterator<Item = String> + '_ {
    source
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .filter(|line| !line.is_empty())
}

pub fn parse(source: &str) -> Result<History<Value>, String> {
    let mut declaration = Declaration::new(Value::Number(0));
    let mut body = lines(source).peekable();
    while let Some(line) = body.next_if(|line| !line.starts_with('p') || line.starts_with("proc")) {
        match line.split_once(' ') {
            Some(("segments", n)) => declaration = declaration.with_segments(number(n)?),
            Some(("processes", n)) => declaration = declaration.with_processes(number(n)?),
            Some(("initial", rest)) => declaration = declaration.with_initial(values(rest)?),
            Some(("writers", "many")) => declaration = declaration.with_writers(Writers::Many),
            _ => return Err(format!("what is `{line}`?")),
        }
    }
    let mut history = History::builder(declaration).map_err(|error| error.to_string())?;
    for line in body {
        let (process, action) = line.split_once(' ').ok_or("an event has two words")?;
        let process = number(process.strip_prefix('p').ok_or("an event has a process")?)?;
        let (verb, rest) = action.split_once(' ').unwrap_or((action, ""));
        match (verb, rest) {
            ("scan", "") => history.invoke_scan(process),
            ("ok", "") => history.respond_update(process),
            ("ok", entries) => history.respond_scan(process, &values(entries)?),
            ("fail", "") => history.fail(process),
            ("unknown", "") => history.unknown(process),
            ("update", rest) => {
                let (segment, value) = match rest.strip_prefix('s') {
                    Some(rest) => {
                        let (segment, value) = rest.split_once(' ').ok_or("a value is missing")?;
                        (number(segment)?, value)
                    }
                    None => (process, rest),
                };
                let [value] = &values(value)?[..] else {
                    return Err(format!("one value in `{line}`"));
                };
                history.invoke_update(process, segment, value.clone())
            }
            _ => return Err(format!("what is `{line}`?")),
        }
        .map_err(|error| format!("`{line}`: {error}"))?;
    }
    Ok(history.finish())
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn values(mut text: &str) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    while !text.trim_start().is_empty() {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix('"') {
            let (inside, rest) = rest.split_once('"').ok_or("a quote is missing")?;
            values.push(Value::Text(inside.to_owned()));
            text = rest;
        } else {
            let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
            values.push(Value::Number(word.parse().map_err(|_| format!("`{word}`?"))?));
            text = rest;
        }
    }
    Ok(values)
}
