//! Slow, and needs the npm registry: the bridge and the probe in front of the reference server that shows every feature
//! of the protocol, started by `npx` as people start it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::time::Duration;

use mcproctor_proto::server::StdioServer;
use mcproctor_worker::bridge::{Bridge, BridgeOptions};
use mcproctor_worker::probe::probe;

#[tokio::test]
async fn the_reference_server_is_probed_twice_through_one_bridge() {
    let server = StdioServer {
        command: "npx".to_owned(),
        args: ["-y", "@modelcontextprotocol/server-everything@2026.8.31", "stdio"]
            .map(str::to_owned)
            .to_vec(),
        env: BTreeMap::new(),
        cwd: None,
    };
    let bridge = Bridge::start(&server, BridgeOptions::default()).await.unwrap();
    let first = probe(&bridge.url(), Duration::from_secs(120)).await;
    let first = first.unwrap_or_else(|error| panic!("{error}\n{}", bridge.log()));
    assert!(first.tools.iter().any(|tool| tool.name == "echo"), "{:?}", first.tools);
    assert!(first.tools.iter().all(|tool| tool.input_schema["type"] == "object"));
    let second = probe(&bridge.url(), Duration::from_secs(20)).await.unwrap();
    assert_eq!(
        (second.server_name, second.protocol_version),
        (first.server_name, first.protocol_version)
    );
    assert_eq!(second.tools, first.tools);
    bridge.stop().await;
}
