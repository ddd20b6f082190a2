//! Questions and answers over HTTP, as data: no socket is known here.
//!
//! The page and the questions are served to the page itself only. A site that the same browser
//! shows could send requests to a loopback address, also under a name of its own that it lets
//! resolve to it (DNS rebinding). So the header `Host` must be the server's own, `Origin`, if
//! present, too, and questions are of type `application/json`, which no other site may send without
//! permission, and none is given.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use snapshot_picture::page::Explored;

use super::{ExploreError, Explorer, MOST_MOVES};

/// Most bytes of the body of a question.
pub const BODY_LIMIT: usize = 1 << 18;

/// A request, as far as the answer depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Question<'r> {
    pub method: &'r str,
    /// Path, with the query if there is one.
    pub path: &'r str,
    pub host: Option<&'r str>,
    pub origin: Option<&'r str>,
    pub content_type: Option<&'r str>,
    pub body: &'r [u8],
}

/// The answer to a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
}

/// An execution at a position.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    moves: Vec<String>,
    at: usize,
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

#[derive(Serialize)]
struct Refused<'t> {
    error: &'t str,
}

impl Answer {
    /// A refusal, with its reason.
    pub fn refused(status: u16, reason: &str) -> Self {
        Self::json(status, &Refused { error: reason })
    }

    fn json(status: u16, value: &impl Serialize) -> Self {
        let body = serde_json::to_string(value).expect("an answer is made of text and numbers");
        Self { status, content_type: JSON, body }
    }

    fn new(result: Result<Self, ExploreError>) -> Self {
        result.unwrap_or_else(|error| {
            let status = if error.is_ours() { 500 } else { 422 };
            Self::refused(status, &error.to_string())
        })
    }
}

impl Explorer {
    /// Answers a request to the server at a port of the loopback address. `stop` ends a search.
    pub fn answer(&self, port: u16, question: &Question<'_>, stop: &AtomicBool) -> Answer {
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let is_own = |host: &str| hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        if !question.host.is_some_and(is_own) {
            return Answer::refused(
                403,
                &format!("this server answers at http://{} only", hosts[0]),
            );
        }
        let is_foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(is_own);
        if question.origin.is_some_and(is_foreign) {
            return Answer::refused(403, "this server answers its own page only");
        }
        match (question.method, question.path) {
            ("GET", "/") => Answer { status: 200, content_type: HTML, body: self.page() },
            ("POST", "/view" | "/trace" | "/find") => self.asked(question, stop),
            (_, "/") => Answer::refused(405, "the page is read by GET"),
            (_, "/view" | "/trace" | "/find") => Answer::refused(405, "questions are POST"),
            _ => Answer::refused(404, "there is only /, and for its page /view, /trace and /find"),
        }
    }

    fn asked(&self, question: &Question<'_>, stop: &AtomicBool) -> Answer {
        let kind = question.content_type.and_then(|kind| kind.split(';').next());
        if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON)) {
            return Answer::refused(415, "a question is of type application/json");
        }
        if question.path == "/find" {
            return Answer::new(self.find(stop).map(|found| Answer::json(200, &found)));
        }
        if question.body.len() > BODY_LIMIT {
            let reason = format!("a question has at most {BODY_LIMIT} bytes");
            return Answer::refused(413, &reason);
        }
        let asked: Asked = match serde_json::from_slice(question.body) {
            Ok(asked) => asked,
            Err(error) => {
                let reason = format!(
                    "{error}: a question is {{\"moves\": [\"p0 scan\", \"p0 step\"], \"at\": 1}}"
                );
                return Answer::refused(400, &reason);
            }
        };
        Answer::new(match question.path {
            "/view" => self.view(&asked.moves, asked.at).map(|view| Answer::json(200, &view)),
            _ => self.trace(&asked.moves, asked.at).map(|trace| Answer {
                status: 200,
                content_type: TEXT,
                body: trace.to_string(),
            }),
        })
    }

    /// Returns the page.
    pub fn page(&self) -> String {
        let page = Explored {
            title: self.title.clone(),
            source: self.source.text().lines().map(str::to_owned).collect(),
            processes: self.processes(),
            most_moves: MOST_MOVES,
            recorded: self.recorded_moves(),
            example: match self.recorded.operations.first() {
                Some(name) => format!("p0 begin {name} 1"),
                None => "p0 update 7".to_owned(),
            },
            origin: format!("Served by snapshot-verify {}.", env!("CARGO_PKG_VERSION")),
        };
        page.html()
    }
}
