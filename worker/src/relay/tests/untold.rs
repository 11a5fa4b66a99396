//! What nobody tells: requests that are dropped, cut off, answered without a word on usage, or open side by side.

use std::time::Duration;

use mcproctor_proto::allowance::{Allowance, CostAllowance};
use mcproctor_proto::price::Price;
use mcproctor_proto::traffic::ModelTraffic;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::super::{Dialect, Relay};
use super::{connect, post, read_to_end, read_until, relay, relay_with, reply, settled, upstream};

const JSON: &str = "content-type: application/json\r\n";
const SSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
/// The beginning of a message: 7 tokens of input are told, and one of output.
const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n";

fn tokens(tokens: u64) -> Allowance {
    Allowance {
        tokens: Some(tokens),
        ..Allowance::default()
    }
}

/// Sends a request that may have an answer of so many tokens, and gives both ends once the API has it.
async fn open(relay: &Relay, api: &TcpListener, path: &str, most: u64) -> (TcpStream, TcpStream) {
    let agent = send(relay, path, most).await;
    let (mut asked, _) = api.accept().await.unwrap();
    read_until(&mut asked, "\"the end\"}").await;
    (agent, asked)
}

async fn send(relay: &Relay, path: &str, most: u64) -> TcpStream {
    let mut agent = connect(relay).await;
    let body = format!(r#"{{"model":"m","max_tokens":{most},"x":"the end"}}"#);
    agent.write_all(post(path, &body).as_bytes()).await.unwrap();
    agent
}

async fn is_not_asked(api: &TcpListener) {
    let connected = tokio::time::timeout(Duration::from_millis(60), api.accept()).await;
    assert!(connected.is_err(), "the API was asked");
}

/// Asserts that the attempt may ask nothing more, and gives what is known of it.
async fn is_used_up(relay: Relay, api: &TcpListener, path: &str) -> ModelTraffic {
    settled(&relay).await;
    let mut agent = send(&relay, path, 1).await;
    let answer = String::from_utf8(read_to_end(&mut agent).await).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 400") && answer.contains("attempt_limit_reached"),
        "{answer}"
    );
    is_not_asked(api).await;
    relay.stop().await
}

#[tokio::test]
async fn a_request_that_is_dropped_before_its_answer_may_have_used_all_that_it_asked_for() {
    for (most, allowed) in [(5_000, 5_000), (400, 5_000)] {
        let (api, url) = upstream().await;
        let relay = relay_with(Dialect::Anthropic, &url, tokens(allowed)).await;
        let (agent, _asked) = open(&relay, &api, "/v1/messages", most).await;
        drop(agent);
        let traffic = settled(&relay).await;
        assert_eq!(traffic.requests_without_usage, 1);
        assert!(!traffic.usage_is_known());
        if most == allowed {
            let traffic = is_used_up(relay, &api, "/v1/messages").await;
            assert_eq!((traffic.limited_requests, traffic.tokens().total()), (1, 0));
        } else {
            open(&relay, &api, "/v1/messages", 1).await;
        }
    }
}

#[tokio::test]
async fn a_message_that_is_cut_before_its_last_word_may_have_used_the_rest() {
    let (api, url) = upstream().await;
    let relay = relay_with(Dialect::Anthropic, &url, tokens(1_000)).await;
    let (mut agent, mut asked) = open(&relay, &api, "/v1/messages", 993).await;
    asked.write_all(format!("{SSE}{START}").as_bytes()).await.unwrap();
    read_until(&mut agent, "message_start").await;
    drop(agent);
    let traffic = is_used_up(relay, &api, "/v1/messages").await;
    assert_eq!((traffic.tokens().total(), traffic.requests_without_usage), (8, 1));
}

#[tokio::test]
async fn a_stream_of_chat_completions_that_is_not_asked_to_tell_may_have_used_all_that_it_asked_for() {
    let (api, url) = upstream().await;
    let price = Price {
        output_per_million: 1_000_000.0,
        ..Price::default()
    };
    let allowance = Allowance {
        cost: Some(CostAllowance { usd: 300.0, price }),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::OpenAi, &url, allowance).await;
    let (mut agent, mut asked) = open(&relay, &api, "/v1/chat/completions", 300).await;
    let stream = "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n";
    asked.write_all(format!("{SSE}{stream}").as_bytes()).await.unwrap();
    drop(asked);
    read_to_end(&mut agent).await;
    let traffic = is_used_up(relay, &api, "/v1/chat/completions").await;
    assert_eq!((traffic.succeeded, traffic.requests_without_usage), (1, 1));
}

#[tokio::test]
async fn counts_that_a_stream_told_on_its_way_are_not_its_last_word() {
    let (api, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &url).await;
    let chunk = |choices: &str| {
        format!("data: {{\"choices\":{choices},\"usage\":{{\"prompt_tokens\":5,\"completion_tokens\":1}}}}\n\n")
    };
    for (choices, untold) in [("[{\"index\":0}]", 1), ("[]", 1)] {
        let (mut agent, mut asked) = open(&relay, &api, "/v1/chat/completions", 300).await;
        asked
            .write_all(format!("{SSE}{}", chunk(choices)).as_bytes())
            .await
            .unwrap();
        read_until(&mut agent, "usage").await;
        drop(agent);
        // The one without choices is the last one, whether or not the agent waits for what says so.
        assert_eq!(settled(&relay).await.requests_without_usage, untold, "{choices}");
    }
}

#[tokio::test]
async fn what_a_request_that_cannot_be_decoded_asks_for_is_taken_for_the_most() {
    for (encoding, allowed) in [("identity", 1_000_000), ("compress", 1_128_000)] {
        let (api, url) = upstream().await;
        let relay = relay_with(Dialect::Anthropic, &url, tokens(allowed)).await;
        let body = r#"{"model":"m","max_tokens":1,"x":"the end"}"#;
        let request = post("/v1/messages", body).replace(
            "accept-encoding",
            &format!("content-encoding: {encoding}\r\naccept-encoding"),
        );
        let mut agent = connect(&relay).await;
        agent.write_all(request.as_bytes()).await.unwrap();
        let (mut asked, _) = api.accept().await.unwrap();
        read_until(&mut asked, "the end").await;
        drop(agent);
        settled(&relay).await;
        match encoding {
            "identity" => drop(open(&relay, &api, "/v1/messages", 1).await),
            _ => drop(is_used_up(relay, &api, "/v1/messages").await),
        }
    }
}

#[tokio::test]
async fn what_the_api_never_had_in_full_used_nothing() {
    let (api, url) = upstream().await;
    let relay = relay_with(Dialect::Anthropic, &url, tokens(100)).await;
    let mut agent = connect(&relay).await;
    let request = post("/v1/messages", r#"{"max_tokens":9000,"x":"the end"}"#);
    agent.write_all(&request.as_bytes()[..request.len() - 1]).await.unwrap();
    let (mut asked, _) = api.accept().await.unwrap();
    read_until(&mut asked, "the end").await;
    drop(agent);
    let traffic = settled(&relay).await;
    assert_eq!((traffic.requests, traffic.requests_without_usage), (1, 0));
    open(&relay, &api, "/v1/messages", 1).await;
}

#[tokio::test]
async fn requests_side_by_side_wait_until_those_before_them_have_told() {
    let (api, url) = upstream().await;
    let relay = relay_with(Dialect::Anthropic, &url, tokens(1_000)).await;
    let (mut first, mut asked) = open(&relay, &api, "/v1/messages", 1_000).await;
    let mut second = send(&relay, "/v1/messages", 1_000).await;
    is_not_asked(&api).await;
    let told = reply(
        "200 OK",
        JSON,
        br#"{"model":"m","usage":{"input_tokens":900,"output_tokens":1}}"#,
    );
    asked.write_all(&told).await.unwrap();
    read_to_end(&mut first).await;
    let (mut asked, _) = api.accept().await.unwrap();
    read_until(&mut asked, "the end").await;
    asked.write_all(&told).await.unwrap();
    assert!(read_to_end(&mut second).await.starts_with(b"HTTP/1.1 200"));
    let traffic = is_used_up(relay, &api, "/v1/messages").await;
    assert_eq!((traffic.tokens().total(), traffic.requests_without_usage), (1_802, 0));
    assert_eq!(traffic.held_ms, 0, "that is no rate's doing, and extends no turn");
}

#[tokio::test]
async fn sixteen_requests_of_an_attempt_with_a_limit_are_open_at_once_and_any_number_without_one() {
    for (allowance, at_once) in [(tokens(10_000_000), 16), (Allowance::default(), 24)] {
        let (api, url) = upstream().await;
        let relay = relay_with(Dialect::Anthropic, &url, allowance).await;
        let mut agents = Vec::new();
        for _ in 0..24 {
            agents.push(send(&relay, "/v1/messages", 10).await);
        }
        let mut asked = Vec::new();
        for _ in 0..at_once {
            asked.push(api.accept().await.unwrap());
        }
        is_not_asked(&api).await;
        // Whoever is through, or gone, makes room.
        for _ in at_once..24 {
            let (mut over, _) = asked.remove(0);
            over.write_all(&reply("200 OK", JSON, b"{}")).await.unwrap();
            drop(over);
            asked.push(api.accept().await.unwrap());
        }
        assert_eq!(relay.stop().await.limited_requests, 0);
    }
}

#[tokio::test]
async fn those_beyond_what_may_wait_are_asked_to_come_again() {
    let (api, url) = upstream().await;
    let relay = relay_with(Dialect::OpenAi, &url, tokens(10)).await;
    let _open = open(&relay, &api, "/v1/chat/completions", 1_000).await;
    let mut waiting = Vec::new();
    for _ in 0..64 {
        waiting.push(send(&relay, "/v1/chat/completions", 1).await);
    }
    while relay.open_requests() < 65 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut one_more = send(&relay, "/v1/chat/completions", 1).await;
    let answer = String::from_utf8(read_to_end(&mut one_more).await).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 1"),
        "{answer}"
    );
    let traffic = relay.stop().await;
    assert_eq!((traffic.limited_requests, traffic.refusal), (0, None));
}
