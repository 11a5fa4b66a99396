//! A worker that has no file left to open. Alone in its program, because it takes them from everybody in it.
#![allow(clippy::unwrap_used, missing_docs)]

use std::os::fd::AsRawFd as _;
use std::time::Duration;

use mcproctor_proto::server::HttpServer;
use mcproctor_worker::proxy::{Proxy, ProxyOptions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpSocket;

#[tokio::test]
async fn slow_an_agent_that_cannot_be_heard_for_long_is_not_blamed() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = HttpServer {
        url: "http://127.0.0.1:9/mcp".to_owned(),
        headers: Vec::new(),
        ca_pem: None,
    };
    let proxy = Proxy::start(ProxyOptions::new("s", nowhere, folder.path()))
        .await
        .unwrap();
    let address = proxy
        .url()
        .trim_start_matches("http://")
        .trim_end_matches("/mcp")
        .parse()
        .unwrap();
    // It gets the lowest number that is free, so all below are taken, and none above may be.
    let agent = TcpSocket::new_v4().unwrap();
    let before = getrlimit(Resource::Nofile);
    let none_left = Rlimit {
        current: u64::try_from(agent.as_raw_fd() + 1).ok(),
        ..before
    };
    setrlimit(Resource::Nofile, none_left).unwrap();
    let _agent = agent.connect(address).await.unwrap();
    let told = async {
        loop {
            if let Some(fault) = proxy.exposure().await.recording_fault {
                break fault;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let fault = tokio::time::timeout(Duration::from_secs(20), told).await;
    setrlimit(Resource::Nofile, before).unwrap();
    assert!(fault.unwrap().contains("could not be accepted: Too many open files"));
}
