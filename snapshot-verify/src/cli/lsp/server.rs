//! Requests and notifications of an editor, and their handlers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeLensOptions, CodeLensParams, DiagnosticSeverity, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams,
    DocumentSymbolParams, DocumentSymbolResponse, ExecuteCommandOptions, ExecuteCommandParams,
    GotoDefinitionParams, GotoDefinitionResponse, HoverParams, HoverProviderCapability,
    InitializeResult, MessageType, OneOf, PublishDiagnosticsParams, ServerCapabilities, ServerInfo,
    ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    Uri,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::document::{Document, SOURCE, diagnostic};
use super::transport::Received;
use super::verification::{self, Answered, COMMAND, Question};
use super::{Event, Lsp};

/// Maximum number of open documents: each is held in memory.
const DOCUMENTS: usize = 1000;

/// Whether the server continues.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flow {
    On,
    /// The server ends.
    End {
        /// True after a `shutdown` request.
        orderly: bool,
    },
}

/// Phase of the protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Before `initialize`.
    Beginning,
    Running,
    /// After `shutdown`.
    ShutDown,
}

#[derive(Debug)]
pub struct Server {
    options: Lsp,
    phase: Phase,
    /// By the text of the URI.
    documents: BTreeMap<String, Document>,
    /// The running verification.
    running: Option<Running>,
    /// Channel for results of threads.
    events: SyncSender<Event>,
    /// Bodies of messages to write.
    outgoing: Vec<String>,
}

#[derive(Debug)]
struct Running {
    id: RequestId,
    uri: String,
    stop: Arc<AtomicBool>,
}

/// Argument of [`COMMAND`].
#[derive(Debug, Deserialize)]
struct Argument {
    uri: String,
    #[serde(default)]
    bug: Option<String>,
}

/// Reason why a request has no answer.
type Refusal = (ErrorCode, String);

impl Server {
    pub fn new(options: Lsp, events: SyncSender<Event>) -> Self {
        Self {
            options,
            phase: Phase::Beginning,
            documents: BTreeMap::new(),
            running: None,
            events,
            outgoing: Vec::new(),
        }
    }

    /// Takes the messages to write.
    pub fn outgoing(&mut self) -> impl Iterator<Item = String> + use<> {
        std::mem::take(&mut self.outgoing).into_iter()
    }

    /// Handles an input.
    pub fn receive(&mut self, received: Received) -> Flow {
        match received {
            Received::Message(Message::Request(request)) => self.request(request),
            Received::Message(Message::Notification(notification)) => {
                return self.notification(notification);
            }
            // The server sends the editor no requests.
            Received::Message(Message::Response(_)) => {}
            Received::Malformed(wrong) => {
                let error = json!({ "code": ErrorCode::ParseError as i32, "message": wrong });
                let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
                self.outgoing.push(body.to_string());
            }
        }
        Flow::On
    }

    /// Checks the changed documents.
    pub fn check(&mut self) {
        let changed = self.documents.values_mut().filter(|document| document.is_changed);
        let mut found = Vec::new();
        for document in changed {
            document.is_changed = false;
            found.push(published(document));
        }
        for params in found {
            self.notify::<notification::PublishDiagnostics>(params);
        }
    }

    /// Handles the result of a verification.
    pub fn answered(&mut self, Answered { question, answer }: Answered) -> Flow {
        self.running = self.running.take().filter(|running| running.id != question.id);
        let document = self.documents.get_mut(&question.uri);
        let document = document.filter(|document| document.text == question.text);
        let (Ok(answer), Some(document)) = (&answer, document) else {
            let (code, wrong) = match answer {
                Err(wrong) => (ErrorCode::RequestFailed, wrong),
                Ok(_) => (ErrorCode::ContentModified, "the text has changed".to_owned()),
            };
            self.refuse(question.id, (code, wrong));
            return Flow::On;
        };
        let range = document.place(question.bug.as_deref());
        let message = match answer.details.as_str() {
            "" => answer.conclusion.clone(),
            details => format!("{}\n{details}", answer.conclusion),
        };
        // An answer replaces the last one to the same question.
        document.answers.retain(|before| before.range != range);
        document.answers.push(diagnostic(range, answer.severity, message));
        document.is_changed = true;
        let typ = match answer.severity {
            DiagnosticSeverity::ERROR => MessageType::ERROR,
            DiagnosticSeverity::WARNING => MessageType::WARNING,
            _ => MessageType::INFO,
        };
        let shown = ShowMessageParams { typ, message: answer.conclusion.clone() };
        self.notify::<notification::ShowMessage>(shown);
        let result = json!({
            "verdict": answer.verdict,
            "conclusion": answer.conclusion,
            "details": answer.details,
        });
        self.respond(question.id, result);
        Flow::On
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        match (self.phase, request.method.as_str()) {
            (Phase::Beginning, request::Initialize::METHOD) => {
                self.phase = Phase::Running;
                return self.respond(id, self.capabilities());
            }
            (Phase::Beginning, _) => {
                let wrong = "`initialize` comes first".to_owned();
                return self.refuse(id, (ErrorCode::ServerNotInitialized, wrong));
            }
            (Phase::ShutDown, _) => {
                let wrong = "after `shutdown` comes `exit`".to_owned();
                return self.refuse(id, (ErrorCode::InvalidRequest, wrong));
            }
            (Phase::Running, request::Initialize::METHOD) => {
                let wrong = "the server is initialized".to_owned();
                return self.refuse(id, (ErrorCode::InvalidRequest, wrong));
            }
            (Phase::Running, request::Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                self.stop();
                return self.respond(id, Value::Null);
            }
            (Phase::Running, request::ExecuteCommand::METHOD) => {
                if let Err(refusal) = self.execute(id.clone(), request.params) {
                    self.refuse(id, refusal);
                }
                return;
            }
            (Phase::Running, _) => {}
        }
        match self.answer(request) {
            Ok(result) => self.respond(id, result),
            Err(refusal) => self.refuse(id, refusal),
        }
    }

    /// Answers a request about a document that needs no verification.
    fn answer(&self, Request { method, params, .. }: Request) -> Result<Value, Refusal> {
        let value = |result: Result<Value, serde_json::Error>| {
            result.map_err(|error| (ErrorCode::InternalError, error.to_string()))
        };
        match method.as_str() {
            request::HoverRequest::METHOD => {
                let asked: HoverParams = read(params)?;
                let at = asked.text_document_position_params;
                let document = self.document(&at.text_document.uri)?;
                value(serde_json::to_value(document.hover(at.position)))
            }
            request::GotoDefinition::METHOD => {
                let asked: GotoDefinitionParams = read(params)?;
                let at = asked.text_document_position_params;
                let found = self.document(&at.text_document.uri)?.definition(at.position);
                value(serde_json::to_value(found.map(GotoDefinitionResponse::Scalar)))
            }
            request::DocumentSymbolRequest::METHOD => {
                let asked: DocumentSymbolParams = read(params)?;
                let symbols = self.document(&asked.text_document.uri)?.symbols();
                value(serde_json::to_value(DocumentSymbolResponse::Nested(symbols)))
            }
            request::Formatting::METHOD => {
                let asked: DocumentFormattingParams = read(params)?;
                value(serde_json::to_value(self.document(&asked.text_document.uri)?.formatting()))
            }
            request::CodeLensRequest::METHOD => {
                let asked: CodeLensParams = read(params)?;
                let lenses = self.document(&asked.text_document.uri)?.lenses(&self.title());
                value(serde_json::to_value(lenses))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("there is no method {method}"))),
        }
    }

    fn notification(&mut self, Notification { method, params }: Notification) -> Flow {
        match method.as_str() {
            notification::Exit::METHOD => {
                return Flow::End { orderly: self.phase == Phase::ShutDown };
            }
            _ if self.phase != Phase::Running => {}
            notification::DidOpenTextDocument::METHOD => {
                if let Ok(opened) = read::<DidOpenTextDocumentParams>(params) {
                    let opened = opened.text_document;
                    self.open(opened.uri, opened.version, opened.text);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Ok(changed) = read::<DidChangeTextDocumentParams>(params)
                    && let key = changed.text_document.uri.as_str()
                    && let Some(document) = self.documents.get_mut(key)
                {
                    for change in changed.content_changes {
                        document.change(changed.text_document.version, change);
                    }
                    self.stop_of(changed.text_document.uri.as_str());
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Ok(closed) = read::<DidCloseTextDocumentParams>(params) {
                    self.close(closed.text_document.uri);
                }
            }
            notification::Cancel::METHOD => {
                let id = params.get("id").cloned();
                let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
                if let Some(running) = &self.running
                    && Some(&running.id) == id.as_ref()
                {
                    self.stop();
                }
            }
            _ => {}
        }
        Flow::On
    }

    fn open(&mut self, uri: Uri, version: i32, text: String) {
        let key = uri.as_str().to_owned();
        if self.documents.len() >= DOCUMENTS && !self.documents.contains_key(&key) {
            let message = format!("{SOURCE} looks after {DOCUMENTS} documents at most");
            let shown = ShowMessageParams { typ: MessageType::WARNING, message };
            return self.notify::<notification::ShowMessage>(shown);
        }
        self.stop_of(&key);
        self.documents.insert(key, Document::new(uri, version, text));
    }

    fn close(&mut self, uri: Uri) {
        if self.documents.remove(uri.as_str()).is_some() {
            self.stop_of(uri.as_str());
            // The diagnostics of a closed document would become stale in the editor.
            let params = PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None };
            self.notify::<notification::PublishDiagnostics>(params);
        }
    }

    /// Begins a verification; a running one is stopped.
    fn execute(&mut self, id: RequestId, params: Value) -> Result<(), Refusal> {
        let mut asked: ExecuteCommandParams = read(params)?;
        if asked.command != COMMAND {
            let wrong = format!("there is no command {}; {COMMAND} is one", asked.command);
            return Err((ErrorCode::InvalidParams, wrong));
        }
        let argument = match asked.arguments.len() {
            1 => asked.arguments.remove(0),
            _ => return Err((ErrorCode::InvalidParams, "one argument is expected".to_owned())),
        };
        let Argument { uri, bug } = read(argument)?;
        let Some(document) = self.documents.get(&uri) else { return Err(unknown(&uri)) };
        let question = Question {
            id: id.clone(),
            uri: uri.clone(),
            name: document.name().to_owned(),
            text: document.text.clone(),
            bug,
        };
        self.stop();
        let stop = Arc::new(AtomicBool::new(false));
        self.running = Some(Running { id, uri, stop: Arc::clone(&stop) });
        let (options, events) = (self.options.clone(), self.events.clone());
        thread::spawn(move || {
            let answered = verification::answer(question, &options, stop);
            // Without a receiver the server has ended.
            let _ = events.send(Event::Answered(Box::new(answered)));
        });
        Ok(())
    }

    /// Stops the running verification, which then soon answers.
    fn stop(&self) {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::Relaxed);
        }
    }

    fn stop_of(&self, uri: &str) {
        if self.running.as_ref().is_some_and(|running| running.uri == uri) {
            self.stop();
        }
    }

    fn document(&self, uri: &Uri) -> Result<&Document, Refusal> {
        self.documents.get(uri.as_str()).ok_or_else(|| unknown(uri.as_str()))
    }

    /// Returns the size and the time limit of verifications, for lenses.
    fn title(&self) -> String {
        let Lsp { processes, time, .. } = &self.options;
        format!("(n = {processes}, at most {} s)", time.as_secs_f64())
    }

    fn capabilities(&self) -> Value {
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            ..TextDocumentSyncOptions::default()
        };
        let capabilities = ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            document_symbol_provider: Some(OneOf::Left(true)),
            document_formatting_provider: Some(OneOf::Left(true)),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![COMMAND.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            ..ServerCapabilities::default()
        };
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        let server_info = Some(ServerInfo { name: SOURCE.to_owned(), version });
        let result = InitializeResult { capabilities, server_info };
        serde_json::to_value(result).expect("capabilities are made of texts and numbers")
    }

    fn respond(&mut self, id: RequestId, result: Value) {
        self.send(Response { id, result: Some(result), error: None }.into());
    }

    fn refuse(&mut self, id: RequestId, (code, wrong): Refusal) {
        self.send(Response::new_err(id, code as i32, wrong).into());
    }

    fn notify<N: notification::Notification>(&mut self, params: N::Params) {
        self.send(Notification::new(N::METHOD.to_owned(), params).into());
    }

    fn send(&mut self, message: Message) {
        let mut body = serde_json::to_value(message).expect("a message is made of JSON");
        body["jsonrpc"] = json!("2.0");
        self.outgoing.push(body.to_string());
    }
}

fn published(document: &Document) -> PublishDiagnosticsParams {
    PublishDiagnosticsParams {
        uri: document.uri.clone(),
        diagnostics: document.diagnostics(),
        version: Some(document.version),
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn unknown(uri: &str) -> Refusal {
    (ErrorCode::InvalidParams, format!("no document {uri} is open"))
}
