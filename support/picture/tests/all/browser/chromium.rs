//! A headless Chromium, driven by its DevTools protocol.
//!
//! `SNAPSHOT_SCREENSHOTS=DIR` keeps screenshots of the tests.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser with one page.
pub struct Chromium {
    process: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    next: u64,
    /// Begin of the addresses that the page may ask for, besides files and data.
    server: String,
    /// Console output, and every exception.
    pub complaints: Vec<String>,
    folder: TempDir,
}

impl Chromium {
    /// Starts a browser. Returns `None`, with a message, if Chromium is not installed.
    pub fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let started = NAMES.iter().find_map(|name| {
            Command::new(name)
                .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
                .args(["--disable-dev-shm-usage", "--remote-debugging-port=0", "--hide-scrollbars"])
                .args(["--disable-background-networking", "--disable-extensions"])
                .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
                .arg("about:blank")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .ok()
        });
        let Some(mut process) = started else {
            eprintln!("SKIPPED: there is no Chromium on this machine (apt-get install chromium)");
            return None;
        };
        let mut lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let address = loop {
            let line = lines.next().expect("Chromium says where it listens").expect("text");
            if let Some((_, address)) = line.split_once("DevTools listening on ") {
                break address.trim().to_owned();
            }
        };
        // Its output must be read, or it blocks.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address.trim_start_matches("ws://").split('/').next().expect("a host");
        let stream = TcpStream::connect(host).expect("Chromium listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
        let (socket, _) = tungstenite::client(&address, stream).expect("a web socket");
        let (session, complaints) = (String::new(), Vec::new());
        let server = "file:".to_owned();
        let mut browser = Self { process, socket, session, next: 1, server, complaints, folder };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            browser.call(domain, &json!({}));
        }
        Some(browser)
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).expect("Chromium listens");
        loop {
            let Message::Text(text) = self.socket.read().expect("Chromium answers") else {
                continue;
            };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                    self.complaints.push(answer["params"].to_string());
                }
                Some("Network.requestWillBeSent") => {
                    let url = answer["params"]["request"]["url"].as_str().unwrap_or_default();
                    if !["file:", "blob:", &self.server].iter().any(|own| url.starts_with(own)) {
                        self.complaints.push(format!("the page asked for {url}"));
                    }
                }
                _ => {}
            }
        }
    }

    /// Shows a page, in a window of this size, and waits until its script is done.
    pub fn open(&mut self, page: &str, [width, height]: [u32; 2], is_dark: bool) {
        let place = self.folder.path().join("page.html");
        fs::write(&place, page).expect("a file");
        self.resize([width, height], is_dark);
        self.call("Page.navigate", &json!({ "url": format!("file://{}", place.display()) }));
        self.wait(
            "location.protocol === 'file:' && document.readyState === 'complete' && \
             (document.scripts.length === 0 || document.documentElement.dataset.ready === 'yes')",
        );
    }

    /// Gives the window this size, and the system this scheme of colours.
    pub fn resize(&mut self, [width, height]: [u32; 2], is_dark: bool) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media);
    }

    /// Shows the page of a server, in a window of this size.
    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub fn visit(&mut self, url: &str, size: [u32; 2], is_dark: bool) {
        self.resize(size, is_dark);
        self.server = url.to_owned();
        self.call("Page.navigate", &json!({ "url": url }));
        self.wait(&format!(
            "location.href.startsWith({url:?}) && document.readyState === 'complete'"
        ));
    }

    /// Loads the page again.
    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub fn reload(&mut self) {
        self.value("window.isOld = true");
        self.call("Page.reload", &json!({}));
        self.wait("window.isOld === undefined && document.readyState === 'complete'");
    }

    /// Types a text into the focused element.
    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
        self.await_frame();
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != json!(true) {
            assert!(
                begun.elapsed() < Duration::from_secs(40),
                "never: {expression}; {:?}",
                self.complaints
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the value of an expression on the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    pub fn text(&mut self, selector: &str) -> String {
        let expression = format!("document.querySelector({selector:?}).textContent");
        self.value(&expression).as_str().unwrap_or_default().to_owned()
    }

    /// Simulates a keystroke.
    pub fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut stroke = json!({ "type": kind, "key": key, "code": key });
            if key == "Tab" {
                stroke["windowsVirtualKeyCode"] = json!(9);
            }
            if key == "Enter" && kind == "keyDown" {
                stroke["windowsVirtualKeyCode"] = json!(13);
                stroke["text"] = json!("\r");
            } else if key.chars().count() == 1 && kind == "keyDown" {
                stroke["text"] = json!(key);
            }
            self.call("Input.dispatchKeyEvent", &stroke);
        }
        self.await_frame();
    }

    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub fn mouse(&mut self, kind: &str, x: f64, y: f64, wheel: f64) {
        let button = if kind == "mouseMoved" || kind == "mouseWheel" { "none" } else { "left" };
        let event = json!({
            "type": kind, "x": x, "y": y, "deltaX": 0, "deltaY": wheel, "button": button,
            "clickCount": 1
        });
        self.call("Input.dispatchMouseEvent", &event);
        self.await_frame();
    }

    /// Waits for the frame after the next.
    pub fn await_frame(&mut self) {
        self.value(
            "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))",
        );
    }

    /// Takes a picture of the whole page, for visual inspection.
    pub fn screenshot(&mut self, name: &str) {
        let Ok(folder) = env::var("SNAPSHOT_SCREENSHOTS") else { return };
        let parameters = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", &parameters);
        let bytes = STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64");
        fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).expect("a file");
    }

    /// Shows the page as it is printed.
    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub fn show_printed(&mut self) {
        self.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
        self.await_frame();
    }

    /// Returns the number of bytes of the page when printed.
    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub fn print(&mut self) -> usize {
        let pdf = self.call("Page.printToPDF", &json!({ "printBackground": false }));
        let bytes = STANDARD.decode(pdf["data"].as_str().expect("a document")).expect("base64");
        if let Ok(folder) = env::var("SNAPSHOT_SCREENSHOTS") {
            fs::write(Path::new(&folder).join("print.pdf"), &bytes).expect("a file");
        }
        bytes.len()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
