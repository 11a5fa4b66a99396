//! Slow: the official conformance suite finds the same with and without the recording proxy in between.
//!
//! Wants `npm ci` in `worker/tests/conformance` once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::server::HttpServer;
use mcproctor_worker::proxy::{Proxy, ProxyOptions};

/// Where the suite's check of the server's own Host header cannot see the same: the proxy checks it instead.
const EXCEPT: &str = "dns-rebinding-protection";

/// A server, killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// A program of the pinned packages.
fn program(name: &str) -> PathBuf {
    let path = folder().join("node_modules/.bin").join(name);
    assert!(
        path.exists(),
        "{} is missing: run `npm ci` in worker/tests/conformance",
        path.display()
    );
    path
}

/// Each scenario, check, status and message with how often it came; what differs from run to run is masked.
type Findings = BTreeMap<String, usize>;

fn findings(url: &str) -> Findings {
    let out = tempfile::tempdir().unwrap();
    let suite = folder().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    assert!(
        suite.exists(),
        "the suite is missing: run `npm ci` in worker/tests/conformance"
    );
    let output = Command::new(program("node"))
        .arg(suite)
        .args(["server", "--suite", "all", "--url", url, "--output-dir"])
        .arg(out.path())
        .output()
        .unwrap();
    let mut findings = Findings::new();
    for scenario in std::fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap()) {
        let name = scenario.file_name().into_string().unwrap();
        // `server-<scenario>-2026-03-01T12-00-00-000Z`
        let name = name[..name.len() - "-2026-03-01T12-00-00-000Z".len()].to_owned();
        if name.ends_with(EXCEPT) {
            continue;
        }
        let checks = std::fs::read_to_string(scenario.path().join("checks.json")).unwrap();
        let checks: Vec<serde_json::Value> = serde_json::from_str(&checks).unwrap();
        for check in checks {
            let field = |name: &str| check[name].as_str().unwrap_or_default();
            let message = masked(field("errorMessage"));
            let line = format!("{name} · {} · {} · {message}", field("id"), field("status"));
            *findings.entry(line).or_default() += 1;
        }
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        findings.len() > 20,
        "the suite ran: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    findings
}

/// Numbers and ids change from run to run.
fn masked(message: &str) -> String {
    message
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .map(|word| {
            if word.chars().any(|c| c.is_ascii_digit()) {
                "#"
            } else {
                word
            }
        })
        .collect()
}

/// Direct and through the proxy.
async fn compare(url: String) -> Findings {
    let direct = tokio::task::spawn_blocking({
        let url = url.clone();
        move || findings(&url)
    });
    let direct = direct.await.unwrap();
    let records = tempfile::tempdir().unwrap();
    let upstream = HttpServer {
        url,
        headers: Vec::new(),
        ca_pem: None,
    };
    let proxy = Proxy::start(ProxyOptions::new("s", upstream, records.path()))
        .await
        .unwrap();
    let proxied = proxy.url().to_owned();
    let through = tokio::task::spawn_blocking(move || findings(&proxied)).await.unwrap();
    let recorded = proxy.finish().await.unwrap();
    assert_eq!(direct, through);
    assert_eq!(recorded.exposure.recording_fault, None);
    assert!(recorded.exposure.initialized && recorded.exposure.tools_listed);
    let answered = |call: &ToolCall| {
        matches!(
            call.state,
            CallState::Ok | CallState::ToolError | CallState::ProtocolError
        )
    };
    assert!(
        !recorded.calls.is_empty() && recorded.calls.iter().all(answered),
        "{:?}",
        recorded.calls
    );
    direct
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_looks_the_same() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new(program("node"));
    let script = folder().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    server.arg(script).arg("streamableHttp").env("PORT", port.to_string());
    let _server = Running(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let patience = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < patience, "the reference server does not listen");
        std::thread::yield_now();
    }
    compare(format!("http://127.0.0.1:{port}/mcp")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fixture_passes_every_check_and_looks_the_same() {
    let fixture = Path::new(env!("CARGO_BIN_EXE_mcproctor-worker"))
        .with_file_name("examples")
        .join("conformance_server");
    assert!(
        fixture.exists(),
        "run `cargo build -p mcproctor-worker --example conformance_server`"
    );
    let mut child = Command::new(fixture).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    let _server = Running(child);
    let direct = compare(url.trim().to_owned()).await;
    let failed: Vec<_> = direct.keys().filter(|line| line.contains("· FAILURE ·")).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}
