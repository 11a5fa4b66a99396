//! A headless Chromium, driven over its DevTools pipe (`--remote-debugging-pipe`: JSON messages ended by NUL on the file
//! descriptors 3 and 4), so that no port is opened and no driver program is needed.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The longest that any single step may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    next: u64,
    /// Uncaught errors and what the browser logged, refused resources included.
    pub(crate) complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let program = NAMES.into_iter().find(|name| {
            Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success())
        });
        let program = program.expect("this test needs Chromium: apt-get install chromium");
        let profile = tempfile::tempdir().unwrap();
        // The shell puts its own pipes where Chromium looks for them.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-extensions",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--remote-debugging-pipe", "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let (to, mut out) = (
            child.stdin.take().unwrap(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if sender
                    .send(serde_json::from_slice(&message).unwrap_or_default())
                    .is_err()
                {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"]
            .as_array()
            .unwrap()
            .iter()
            .find(|target| target["type"] == "page")
            .unwrap();
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": page["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Sends a command and waits for its answer, which must not be an error.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        write!(self.to, "{message}\0").unwrap();
        loop {
            let answer = self
                .from
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("Chromium did not answer {method}"));
            if answer["id"] == self.next {
                let error = answer["error"].clone();
                return if error.is_null() {
                    Ok(answer["result"].clone())
                } else {
                    Err(error)
                };
            }
            self.overhear(&answer);
        }
    }

    fn overhear(&mut self, event: &Value) {
        let about = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(about["exceptionDetails"].to_string()),
            Some("Log.entryAdded") if about["entry"]["level"] == "error" => {
                self.complaints.push(about["entry"].to_string())
            }
            _ => {}
        }
    }

    /// Opens a page at that width of the window and waits until its script is done.
    pub(crate) fn open(&mut self, file: &Path, hash: &str, width: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call(
            "Page.navigate",
            json!({"url": format!("file://{}{hash}", file.display())}),
        );
        self.wait_for("document.body && document.body.dataset.ready === 'yes'");
    }

    /// The value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true}),
        );
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    pub(crate) fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Asks until a condition holds; while a page is being loaded there may be nothing to ask.
    pub(crate) fn wait_for(&mut self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        let question = json!({"expression": format!("!!({condition})"), "returnByValue": true});
        while !self
            .try_call("Runtime.evaluate", question.clone())
            .is_ok_and(|answer| answer["result"]["value"] == true)
        {
            assert!(Instant::now() < deadline, "still not true: {condition}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A real click in the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{block: 'center'}});
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()",
            json!(selector)
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1}),
            );
        }
    }

    /// A key of the keyboard: `/`, `j`, `Enter`.
    pub(crate) fn press(&mut self, key: &str) {
        let mut event = json!({"type": "keyDown", "key": key});
        match key {
            "Enter" => {
                event["text"] = json!("\r");
                event["windowsVirtualKeyCode"] = json!(13);
            }
            key => event["text"] = json!(key),
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event);
    }

    /// Text typed where the focus is.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        // The group is this test's own: the shell became Chromium, and its helpers stay in it.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}
