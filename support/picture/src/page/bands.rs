//! Annotations with a duration: a comment that begins something, and a later one that ends it.
//!
//! `nemesis start partition` and `nemesis stop partition` become a band from one to the other, as
//! do `fail point x on` and `off`. The first word that marks a begin or an end counts; the other words
//! are the name, of which the end may leave out the last ones.

use serde::Serialize;

use super::Annotation;

/// Words of a begin, each with those that end it.
const MARKS: [(&[&str], &[&str]); 5] = [
    (&["start", "starts", "started"], &["stop", "stops", "stopped", "heal", "heals", "healed"]),
    (&["begin", "begins", "began"], &["end", "ends", "ended"]),
    (&["on", "enabled"], &["off", "disabled"]),
    (&["kill", "kills", "killed"], &["restart", "restarts", "restarted"]),
    (&["pause", "pauses", "paused"], &["resume", "resumes", "resumed"]),
];

/// Most bands.
const MOST: usize = 1_000;

/// Number of colours; kinds beyond them share the last one.
pub(super) const COLOURS: usize = 4;

/// A time between two annotations.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Band {
    pub from: usize,
    pub to: usize,
    /// Number of the kind, in the order of the legend.
    pub kind: usize,
}

/// All bands of a recording, with the names of their kinds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Bands {
    pub bands: Vec<Band>,
    pub kinds: Vec<String>,
}

struct Open {
    pair: usize,
    name: Vec<String>,
    tick: usize,
}

impl Bands {
    /// Pairs each end with the latest begin that it may end. Cost: annotations, times begins without
    /// an end.
    pub fn new(annotations: &[Annotation]) -> Self {
        let mut found = Self::default();
        let mut open: Vec<Open> = Vec::new();
        for one in annotations {
            let words = words(&one.text);
            let Some((at, pair, is_begin)) = marked(&words) else { continue };
            let name = [&words[..at], &words[at + 1..]].concat();
            if is_begin {
                open.push(Open { pair, name, tick: one.tick });
                // Begins that nothing ends must not pile up.
                if open.len() > MOST {
                    open.remove(0);
                }
                continue;
            }
            let is_its = |begun: &Open| begun.pair == pair && begun.name.starts_with(&name);
            let Some(place) = open.iter().rposition(is_its) else { continue };
            let begun = open.remove(place);
            found.add(&begun, one.tick);
            if found.bands.len() == MOST {
                break;
            }
        }
        found
    }

    fn add(&mut self, begun: &Open, to: usize) {
        let name = match begun.name.as_slice() {
            [] => "between the comments".to_owned(),
            words => words.join(" "),
        };
        let known = self.kinds.iter().position(|kind| *kind == name);
        let kind = known.unwrap_or_else(|| {
            self.kinds.push(name);
            self.kinds.len() - 1
        });
        self.bands.push(Band { from: begun.tick, to, kind });
    }

    /// Returns the number of bands of a kind.
    pub fn count(&self, kind: usize) -> usize {
        self.bands.iter().filter(|band| band.kind == kind).count()
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Returns the place of the first word that marks a begin or an end, its row of [`MARKS`], and true
/// for a begin.
fn marked(words: &[String]) -> Option<(usize, usize, bool)> {
    words.iter().enumerate().find_map(|(at, word)| {
        let word = word.as_str();
        let begins = MARKS.iter().position(|(begins, _)| begins.contains(&word));
        let ends = MARKS.iter().position(|(_, ends)| ends.contains(&word));
        begins.map(|pair| (at, pair, true)).or(ends.map(|pair| (at, pair, false)))
    })
}
