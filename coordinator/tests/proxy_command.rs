//! `mcproctor proxy` as a real process in front of a real socket.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The command, killed when dropped.
struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Running {
    fn start(args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcproctor"));
        command
            .arg("proxy")
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in [
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "all_proxy",
            "NO_PROXY",
            "no_proxy",
        ] {
            command.env_remove(name);
        }
        let mut child = command.envs(env.iter().copied()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let url = first.split(' ').next().unwrap_or_default();
        let address = url
            .strip_prefix("http://")
            .and_then(|url| url.split('/').next())
            .unwrap_or_default()
            .to_owned();
        Self { child, lines, address }
    }

    fn post(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as Ctrl-C does; gives its exit code, the rest of its output, and its errors.
    fn interrupt(mut self) -> (Option<i32>, String, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        self.lines.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), out, err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that gives one answer a connection, after reading one request; it never answers the tool `hang`.
fn server(status: &'static str, answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut hanging = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = read_request(&mut stream);
            if request.contains("\"hang\"") {
                hanging.push(stream);
                continue;
            }
            let echoed = request
                .lines()
                .find_map(|line| line.strip_prefix("authorization: "))
                .unwrap_or("nobody");
            let body = answer.replace("WHO", echoed);
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + &body).as_bytes());
        }
    });
    address
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&seen).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap_or("0");
            if body.len() >= length.parse().unwrap() {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(read) => seen.extend_from_slice(&buffer[..read]),
        }
    }
}

const OK: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"for WHO"}]}}"#;

fn call(tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"n":1.0}}}}}}"#)
}

#[test]
fn calls_are_printed_and_appended_when_they_start_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("calls.jsonl");
    std::fs::write(&record, "{\"earlier\":true}\n").unwrap();
    let target = format!("http://{}/mcp?key=sentinel-query", server("200 OK", OK));
    let args = [
        "--target",
        &target,
        "--record",
        record.to_str().unwrap(),
        "--header-env",
        "Authorization=THE_TOKEN",
    ];
    let running = Running::start(&args, &[("THE_TOKEN", "Bearer sentinel-token")]);
    assert!(
        running
            .post("/mcp", &call("now"))
            .ends_with(&OK.replace("WHO", "Bearer sentinel-token"))
    );
    let mut hanging = TcpStream::connect(&running.address).unwrap();
    let body = call("hang");
    write!(
        hanging,
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let lines = || -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(&record).unwrap();
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    };
    while lines().len() < 4 {
        std::thread::yield_now();
    }
    let started = lines()[3].clone();
    assert_eq!(
        (&started["event"], &started["tool"], &started["state"]),
        (&"start".into(), &"hang".into(), &serde_json::Value::Null)
    );
    let (code, printed, errors) = running.interrupt();
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let lines = lines();
    assert_eq!(lines[0]["earlier"], true);
    let (start, end) = (&lines[1], &lines[2]);
    assert_eq!(start["call"], end["call"]);
    assert_eq!(start["arguments"].to_string(), r#"{"n":1.0}"#);
    assert_eq!(end["state"], "ok");
    assert_eq!(end["result"]["content"][0]["text"], "for [redacted]");
    assert_eq!(end["bytes"], OK.replace("WHO", "Bearer sentinel-token").len());
    assert_eq!(end["sha256"].as_str().unwrap().len(), 64);
    let mut keys: Vec<&str> = end.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = "arguments bytes call durationMs error event legs result sha256 startedAt state tool truncated";
    assert_eq!(keys.join(" "), expected);
    assert_eq!(
        (&lines[4]["state"], &lines[4]["call"]),
        (&"never_finished".into(), &started["call"])
    );
    assert!(
        printed.contains("mcp-1 → now {\"n\":1.0}\n") && printed.contains("mcp-1 ← now ok, "),
        "{printed}"
    );
    assert!(printed.contains("mcp-2 ← hang never_finished"), "{printed}");
    let recorded = std::fs::read_to_string(&record).unwrap();
    assert!(!(printed + &recorded).contains("sentinel"));
}

#[test]
fn a_record_that_cannot_be_written_cuts_nobody_off() {
    let target = format!("http://{}/mcp", server("200 OK", OK));
    let running = Running::start(&["--target", &target, "--record", "/dev/full"], &[]);
    for _ in 0..3 {
        assert!(
            running
                .post("/mcp", &call("now"))
                .ends_with(&OK.replace("WHO", "nobody"))
        );
    }
    let (code, printed, errors) = running.interrupt();
    assert_eq!(code, Some(3));
    assert_eq!(errors.matches("the record is not complete").count(), 1, "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
    assert_eq!(printed.matches("← now ok").count(), 3, "{printed}");
}

#[test]
fn a_login_is_said_at_the_end() {
    let target = format!("http://{}/mcp", server("401 Unauthorized", "{}"));
    let running = Running::start(&["--target", &target], &[]);
    assert!(running.post("/mcp", &call("t")).starts_with("HTTP/1.1 401"));
    let (code, _, errors) = running.interrupt();
    assert_eq!(code, Some(3));
    assert!(errors.contains("asks for a login"), "{errors}");
}

#[test]
fn wrong_options_are_usage_errors_that_repeat_no_secret() {
    for (args, says) in [
        (&["--target", "ftp://localhost/"][..], "use the server's URL"),
        (&["--target", "http://user:s3cret@localhost/"], "user information"),
        (
            &["--target", "http://localhost/", "--listen", "0.0.0.0:0"],
            "not a loopback address",
        ),
        (
            &["--target", "http://localhost/", "--header", "s3cret"],
            "--header wants",
        ),
        (
            &["--target", "http://localhost/", "--header-env", "A=MCPROCTOR_UNSET"],
            "`MCPROCTOR_UNSET` is not set",
        ),
        (
            &["--target", "http://localhost/", "--ca-file", "/nonexistent"],
            "/nonexistent",
        ),
        (&[], "--target"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_mcproctor"))
            .arg("proxy")
            .args(args)
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(
            errors.contains(says) && !errors.contains("s3cret"),
            "{args:?}: {errors}"
        );
    }
}

#[test]
fn https_goes_through_the_environments_proxy_and_loopback_never_does() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let https_proxy = format!("http://{}", listener.local_addr().unwrap());
    let env = [("HTTPS_PROXY", https_proxy.as_str()), ("NO_PROXY", "other.test")];

    let running = Running::start(&["--target", "https://mcp.test/mcp"], &env);
    let asked = std::thread::spawn({
        let listener = listener.try_clone().unwrap();
        move || {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read_request(&mut stream);
            stream
                .write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
                .unwrap();
            request
        }
    });
    assert!(running.post("/mcp", &call("t")).starts_with("HTTP/1.1 502"));
    assert!(asked.join().unwrap().starts_with("CONNECT mcp.test:443 "));

    let direct = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("https://{}/mcp", direct.local_addr().unwrap());
    let running = Running::start(&["--target", &target], &env);
    let first = std::thread::spawn(move || {
        let (mut stream, _) = direct.accept().unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        byte[0]
    });
    assert!(running.post("/mcp", &call("t")).starts_with("HTTP/1.1 502"));
    assert_eq!(
        first.join().unwrap(),
        0x16,
        "a TLS handshake arrives at the server itself"
    );
}

#[test]
fn a_command_is_a_server_too() {
    let script = r#"while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'; done"#;
    let running = Running::start(&["--", "sh", "-c", script], &[]);
    let path = "/mcp";
    let answer = running.post(path, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    let (code, _, errors) = running.interrupt();
    assert_eq!(code, Some(0), "{errors}");
}
