//! An agent without a model, for measuring what surrounds one: it says hello to the MCP server at the URL in its only
//! argument, lists the tools, calls `list_cities` and answers.
//!
//! Only the standard library, so that starting it costs next to nothing and `rustc` alone builds it.
#![expect(clippy::print_stdout, reason = "an agent's answer is what it prints")]

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"stub-agent","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_cities","arguments":{}}}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("the URL of the server is missing")?;
    let rest = url.strip_prefix("http://").ok_or("the URL has to start with http://")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let server = Server { authority, path };

    let hello = server.post(INITIALIZE, None)?;
    let session = header(&hello, "mcp-session-id");
    server.post(INITIALIZED, session.as_deref())?;
    server.post(LIST, session.as_deref())?;
    let reply = server.post(CALL, session.as_deref())?;
    if !reply.contains("\"result\"") {
        return Err(format!("the call failed: {reply}").into());
    }
    println!("Those are the cities.");
    Ok(())
}

struct Server<'a> {
    authority: &'a str,
    path: &'a str,
}

impl Server<'_> {
    /// Head and body of the reply, whose end is the end of the connection.
    fn post(&self, body: &str, session: Option<&str>) -> Result<String, Box<dyn Error>> {
        let session = session.map_or(String::new(), |id| {
            format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-06-18\r\n")
        });
        let request = format!(
            "POST /{} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{session}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.path,
            self.authority,
            body.len(),
        );
        let mut stream = TcpStream::connect(self.authority)?;
        stream.write_all(request.as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        let status = reply.split(' ').nth(1).unwrap_or_default();
        if !status.starts_with('2') {
            return Err(format!("the server refused: {reply}").into());
        }
        Ok(reply)
    }
}

fn header(reply: &str, name: &str) -> Option<String> {
    reply.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}
