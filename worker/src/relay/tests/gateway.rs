//! A gateway between raw sockets, and between a relay and an API.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcproctor_proto::agent::Credential;
use mcproctor_proto::allowance::CostAllowance;
use mcproctor_proto::id::{AttemptId, Lease, RunId};
use mcproctor_proto::lease_token::{Claims, TokenKey};
use mcproctor_proto::price::Price;
use mcproctor_proto::traffic::RefusalKind;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::{KEY, connect, read_to_end, read_until, reply, settled, upstream};
use crate::relay::{
    Dialect, Gateway, GatewayError, GatewayLimits, GatewayModel, GatewayOptions, GatewayTls, LetIn, Relay,
    RelayOptions, ask_gateway,
};

mod slow;

const TOKEN_KEY: &str = "a-token-key-for-tests-0123456789abcdef";
const NOW: u64 = 1_790_000_000;
const JSON: &str = "content-type: application/json\r\n";

/// A gateway with an entry for each dialect, before one API.
struct Bed {
    gateway: Gateway,
    api: TcpListener,
    clock: Arc<AtomicU64>,
}

impl Bed {
    async fn new(limits: GatewayLimits) -> Self {
        Self::with(limits, None).await
    }

    async fn with(limits: GatewayLimits, tls: Option<GatewayTls>) -> Self {
        let (api, url) = upstream().await;
        let clock = Arc::new(AtomicU64::new(NOW));
        let mut options = options(&url, &clock);
        options.limits = limits;
        options.tls = tls;
        let gateway = Gateway::start(options).await.unwrap();
        Self { gateway, api, clock }
    }

    /// Sends a request with this credential in the place that the dialect has for it.
    async fn ask(&self, dialect: Dialect, token: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.gateway.address()).await.unwrap();
        stream
            .write_all(request(dialect, token, path).as_bytes())
            .await
            .unwrap();
        stream
    }

    /// The same, answered by the API with these bytes: what the API read, and the answer.
    async fn exchange(&self, dialect: Dialect, token: &str, path: &str, answer: &[u8]) -> (String, Vec<u8>) {
        let mut stream = self.ask(dialect, token, path).await;
        let (mut api, _) = self.api.accept().await.unwrap();
        let request = read_until(&mut api, "{\"model\":\"m\"}").await;
        api.write_all(answer).await.unwrap();
        drop(api);
        (request, read_to_end(&mut stream).await)
    }

    /// The answer to a request that must not reach the API.
    async fn refused(&self, dialect: Dialect, token: &str, path: &str) -> (String, Value) {
        let mut stream = self.ask(dialect, token, path).await;
        let answer = String::from_utf8(read_to_end(&mut stream).await).unwrap();
        let asked = tokio::time::timeout(Duration::from_millis(30), self.api.accept()).await;
        assert!(asked.is_err(), "the API was asked");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str(body).unwrap())
    }

    async fn get(&self, path: &str, bearer: Option<&str>) -> (String, String) {
        let mut stream = TcpStream::connect(self.gateway.address()).await.unwrap();
        let authorization = bearer.map_or(String::new(), |bearer| format!("authorization: Bearer {bearer}\r\n"));
        let request = format!("GET {path} HTTP/1.1\r\nhost: g\r\n{authorization}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = String::from_utf8(read_to_end(&mut stream).await).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }

    async fn usage(&self) -> Value {
        let (status, body) = self.get("/usage", Some(TOKEN_KEY)).await;
        assert_eq!(status, "HTTP/1.1 200 OK");
        serde_json::from_str(&body).unwrap()
    }

    /// A relay that asks this gateway, as a worker has one.
    async fn relay(&self, dialect: Dialect, scheme: &str, token: &str, ca_pem: Option<&str>) -> Relay {
        let end = if dialect == Dialect::OpenAi { "/v1" } else { "" };
        let port = self.gateway.address().port();
        Relay::start(RelayOptions {
            dialect,
            upstream: format!("{scheme}://localhost:{port}{end}").parse().unwrap(),
            credential: Credential::ApiKey(token.to_owned().into()),
            meant: Default::default(),
            silence: Duration::from_secs(10),
            allowance: Default::default(),
            ca_pem: ca_pem.map(str::to_owned),
            pace: Arc::default(),
        })
        .await
        .unwrap()
    }
}

fn options(url: &str, clock: &Arc<AtomicU64>) -> GatewayOptions {
    let model = |dialect, url: String| GatewayModel {
        dialect,
        upstream: url.parse().unwrap(),
        credential: Credential::ApiKey(KEY.to_owned().into()),
    };
    let clock = Arc::clone(clock);
    let price = Price {
        input_per_million: 1_000_000.0,
        ..Price::default()
    };
    GatewayOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls: None,
        token_key: token_key(),
        models: [
            ("anthropic".to_owned(), model(Dialect::Anthropic, url.to_owned())),
            ("openai".to_owned(), model(Dialect::OpenAi, format!("{url}/v1"))),
        ]
        .into(),
        limits: GatewayLimits::default(),
        price_of: Arc::new(move |name| ["priced", "m"].contains(&name).then_some(price)),
        now_unix_s: Arc::new(move || clock.load(Ordering::SeqCst)),
    }
}

fn token_key() -> TokenKey {
    TokenKey::new(TOKEN_KEY.to_owned().into()).unwrap()
}

fn claims(model: &str) -> Claims {
    Claims {
        run: RunId::new("run-1"),
        lease: Lease {
            attempt: AttemptId::new("1-1-1"),
            epoch: 5,
        },
        model: model.to_owned(),
        tokens: None,
        cost: None,
        expires_at_unix_s: NOW + 600,
    }
}

fn token(claims: &Claims) -> String {
    token_key().sign(claims).expose_secret().to_owned()
}

/// The dialects with an endpoint of each, and a token for it.
fn both() -> [(Dialect, &'static str, String); 2] {
    [
        (Dialect::Anthropic, "/v1/messages", token(&claims("anthropic"))),
        (Dialect::OpenAi, "/v1/responses", token(&claims("openai"))),
    ]
}

fn request(dialect: Dialect, token: &str, path: &str) -> String {
    let credential = match dialect {
        Dialect::Anthropic => format!("x-api-key: {token}\r\nanthropic-version: 2023-06-01"),
        Dialect::OpenAi => format!("authorization: Bearer {token}"),
    };
    format!(
        "POST {path} HTTP/1.1\r\nhost: gateway.example:8484\r\n{credential}\r\ncookie: a=b\r\nx-own: gone\r\nopenai-organization: gone\r\nuser-agent: kept\r\n\
         connection: close\r\ncontent-length: 13\r\n\r\n{{\"model\":\"m\"}}"
    )
}

fn ok(model: &str, input: u64) -> Vec<u8> {
    let body = json!({"model": model, "usage": {"input_tokens": input, "output_tokens": 0}});
    reply("200 OK", JSON, body.to_string().as_bytes())
}

fn tls() -> GatewayTls {
    GatewayTls {
        certificate_pem: include_str!("../../../tests/proxy/fixtures/server.pem").to_owned(),
        key_pem: include_str!("../../../tests/proxy/fixtures/server.key")
            .to_owned()
            .into(),
    }
}

#[tokio::test]
async fn the_token_goes_and_the_real_key_comes_and_every_byte_of_an_answer_passes() {
    let bed = Bed::new(GatewayLimits::default()).await;
    for (dialect, path, token) in both() {
        let mut body = b"event: ping\ndata: {}\n\n: \xff\xfe not text\n\n".repeat(40);
        body.extend((0..=255).collect::<Vec<u8>>());
        let sent = reply(
            "200 OK",
            "content-type: text/event-stream\r\nx-request-id: 7\r\n",
            &body,
        );
        let (request, answer) = bed.exchange(dialect, &token, path, &sent).await;
        assert!(answer.ends_with(&body), "{path}");
        assert!(String::from_utf8_lossy(&answer).contains("x-request-id: 7\r\n"));
        let request = request.to_ascii_lowercase();
        let key = match dialect {
            Dialect::Anthropic => format!("\r\nx-api-key: {KEY}\r\n"),
            Dialect::OpenAi => format!("\r\nauthorization: bearer {KEY}\r\n"),
        };
        assert!(
            request.contains(&key) && request.contains("user-agent: kept"),
            "{request}"
        );
        for gone in [
            token.to_ascii_lowercase().as_str(),
            "cookie",
            "gateway.example",
            ": gone",
        ] {
            assert!(!request.contains(gone), "{gone} in {request}");
        }
    }
}

#[tokio::test]
async fn every_event_reaches_whoever_asks_before_the_next_is_written() {
    let bed = Bed::new(GatewayLimits::default()).await;
    for (dialect, path, token) in both() {
        let mut stream = bed.ask(dialect, &token, path).await;
        let (mut api, _) = bed.api.accept().await.unwrap();
        read_until(&mut api, "{\"model\":\"m\"}").await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        api.write_all(head.as_bytes()).await.unwrap();
        for n in 0..5 {
            let event = format!("event: e{n}\ndata: {{\"n\":{n}}}\n\n");
            api.write_all(event.as_bytes()).await.unwrap();
            read_until(&mut stream, &event).await;
        }
    }
}

#[tokio::test]
async fn no_token_that_is_not_good_gets_anything_out_and_the_refusal_has_the_dialects_form() {
    let bed = Bed::new(GatewayLimits::default()).await;
    let other_key = TokenKey::new("another-key-another-key-another-key".to_owned().into()).unwrap();
    for (dialect, path, good) in both() {
        let entry = if dialect == Dialect::Anthropic {
            "anthropic"
        } else {
            "openai"
        };
        let expired = Claims {
            expires_at_unix_s: NOW,
            ..claims(entry)
        };
        let other = if dialect == Dialect::Anthropic {
            (
                "openai",
                "entry `openai` speaks the API `openai`, and `anthropic` was asked",
            )
        } else {
            (
                "anthropic",
                "entry `anthropic` speaks the API `anthropic`, and `openai` was asked",
            )
        };
        for (token, why) in [
            (String::new(), "lease token"),
            (KEY.to_owned(), "this is no lease token"),
            (good[..good.len() - 2].to_owned(), "lease token"),
            (
                other_key.sign(&claims(entry)).expose_secret().to_owned(),
                "was not signed with this gateway's key",
            ),
            (token(&expired), "the lease token has expired"),
            (token(&claims("gone")), "no model entry `gone`"),
            (token(&claims(other.0)), other.1),
        ] {
            let (head, body) = bed.refused(dialect, &token, path).await;
            let (status, kind, code) = if why.contains("entry") {
                ("400", "invalid_request_error", "gateway_entry_refused")
            } else {
                ("401", "authentication_error", "lease_token_refused")
            };
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
            assert!(
                body["error"]["message"].as_str().unwrap().contains(why),
                "{why}: {body}"
            );
            assert_eq!(body["error"]["type"], kind);
            let told = match dialect {
                Dialect::Anthropic => {
                    assert_eq!(body["type"], "error");
                    &body["error"]["details"]["error_code"]
                }
                Dialect::OpenAi => &body["error"]["code"],
            };
            assert_eq!(told, code);
            assert!(token.is_empty() || !body.to_string().contains(&token), "{body}");
        }
    }
    assert_eq!(bed.usage().await["refusedTokens"], 14);
    assert_eq!(bed.usage().await["attempts"], json!([]));
}

/// What a gateway says of a token that it was asked about with this key.
async fn asked(url: &str, key: &str, entry: &str) -> Result<LetIn, String> {
    let token = TokenKey::new(key.to_owned().into()).unwrap().sign(&claims(entry));
    ask_gateway(&url.parse().unwrap(), None, &token)
        .await
        .map_err(|error| format!("{error:?}"))
}

#[tokio::test]
async fn what_a_token_is_good_for_is_told_without_asking_a_model() {
    let bed = Bed::new(GatewayLimits {
        max_tokens: Some(0),
        ..GatewayLimits::default()
    })
    .await;
    let url = format!("http://{}/", bed.gateway.address());
    let let_in = asked(&url, TOKEN_KEY, "openai").await.unwrap();
    assert_eq!(let_in.api, Dialect::OpenAi);
    assert_eq!(
        let_in.limit_reached.as_deref(),
        Some("limits.maxTokens is reached: 0 of 0 tokens are used; raise it in the gateway's config")
    );
    assert_eq!(bed.usage().await["attempts"], json!([]), "no account was opened");
    let unanswered = tokio::time::timeout(Duration::from_millis(30), bed.api.accept()).await;
    assert!(unanswered.is_err(), "the API was asked");

    let refused = asked(&url, "another-key-another-key-another-key", "openai").await;
    assert_eq!(
        refused.unwrap_err(),
        "Token(\"the lease token was not signed with this gateway's key\")"
    );
    let refused = asked(&url, TOKEN_KEY, "gone").await;
    assert_eq!(refused.unwrap_err(), "Entry(\"the gateway has no model entry `gone`\")");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let closed = asked(&format!("http://{closed}"), TOKEN_KEY, "openai")
        .await
        .unwrap_err();
    assert!(
        closed.starts_with("Unreachable(") && closed.contains("refused"),
        "{closed}"
    );
}

#[tokio::test]
async fn what_is_no_gateway_is_told_from_one() {
    let (other, url) = upstream().await;
    let answering = async {
        let (mut stream, _) = other.accept().await.unwrap();
        read_until(&mut stream, "\r\n\r\n").await;
        stream
            .write_all(&reply("200 OK", JSON, b"{\"ok\":true}"))
            .await
            .unwrap();
    };
    let (answer, ()) = tokio::join!(asked(&url, TOKEN_KEY, "openai"), answering);
    assert_eq!(answer.unwrap_err(), "NoGateway(200)");
}

#[tokio::test]
async fn a_token_expires_while_the_gateway_runs_and_a_new_one_goes_on() {
    let bed = Bed::new(GatewayLimits::default()).await;
    let (dialect, path, first) = both()[0].clone();
    bed.exchange(dialect, &first, path, &ok("m", 1)).await;
    bed.clock.store(NOW + 600, Ordering::SeqCst);
    let (head, _) = bed.refused(dialect, &first, path).await;
    assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
    let renewed = Claims {
        expires_at_unix_s: NOW + 1_200,
        ..claims("anthropic")
    };
    let (_, answer) = bed.exchange(dialect, &token(&renewed), path, &ok("m", 1)).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn a_token_asks_on_the_account_of_its_own_attempt_and_run_whenever_it_is_used() {
    let bed = Bed::new(GatewayLimits::default()).await;
    let (dialect, path, _) = both()[0].clone();
    let mut own = claims("anthropic");
    own.tokens = Some(10);
    let another_run = Claims {
        run: RunId::new("run-2"),
        ..own.clone()
    };
    bed.exchange(dialect, &token(&own), path, &ok("m", 10)).await;
    let (_, body) = bed.refused(dialect, &token(&own), path).await;
    assert!(body.to_string().contains("attempt_limit_reached"), "{body}");
    // The attempt of another run that has the same number has an account of its own.
    let (_, answer) = bed.exchange(dialect, &token(&another_run), path, &ok("m", 1)).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    // A token that is used after its attempt is over has what is left, until it expires.
    bed.clock.store(NOW + 599, Ordering::SeqCst);
    let (_, body) = bed.refused(dialect, &token(&own), path).await;
    assert!(body.to_string().contains("attempt_limit_reached"), "{body}");
    for later in [600, 700, 100_000] {
        bed.clock.store(NOW + later, Ordering::SeqCst);
        for claims in [&own, &another_run] {
            let (head, body) = bed.refused(dialect, &token(claims), path).await;
            assert!(
                head.starts_with("HTTP/1.1 401 ") && body.to_string().contains("expired"),
                "{body}"
            );
        }
    }
}

#[tokio::test]
async fn a_lease_that_was_given_out_anew_ends_the_older_one_but_not_what_it_had_begun() {
    let bed = Bed::new(GatewayLimits::default()).await;
    let (dialect, path, old) = both()[0].clone();
    let mut begun = bed.ask(dialect, &old, path).await;
    let (mut api, _) = bed.api.accept().await.unwrap();
    read_until(&mut api, "{\"model\":\"m\"}").await;
    let mut newer = claims("anthropic");
    newer.lease.epoch += 1;
    let (_, answer) = bed.exchange(dialect, &token(&newer), path, &ok("m", 1)).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    let (head, body) = bed.refused(dialect, &old, path).await;
    assert!(head.starts_with("HTTP/1.1 401 ") && body.to_string().contains("given out anew"));
    api.write_all(&ok("m", 1)).await.unwrap();
    assert!(read_to_end(&mut begun).await.starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn a_good_token_opens_the_endpoints_of_its_model_and_nothing_else() {
    let bed = Bed::new(GatewayLimits::default()).await;
    let anthropic = token(&claims("anthropic"));
    for path in ["/v1/files", "/v1/organizations/api_keys", "/", "/v1/messages/../files"] {
        let (head, _) = bed.refused(Dialect::Anthropic, &anthropic, path).await;
        assert!(head.starts_with("HTTP/1.1 404 "), "{path}: {head}");
    }
}

#[tokio::test]
async fn refusals_and_failures_of_the_api_pass_as_they_are() {
    let bed = Bed::new(GatewayLimits::default()).await;
    for (dialect, path, token) in both() {
        for status in [
            "429 Too Many Requests",
            "500 Internal Server Error",
            "529 Overloaded",
            "401 Unauthorized",
        ] {
            let body = format!(r#"{{"error":{{"type":"x","message":"{status}"}}}}"#);
            let sent = reply(
                status,
                "content-type: application/json\r\nretry-after: 17\r\n",
                body.as_bytes(),
            );
            let (_, answer) = bed.exchange(dialect, &token, path, &sent).await;
            let answer = String::from_utf8(answer).unwrap();
            let code = status.split(' ').next().unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {code}")), "{answer}");
            assert!(
                answer.contains("retry-after: 17\r\n") && answer.ends_with(&body),
                "{answer}"
            );
        }
    }
}

#[tokio::test]
async fn an_attempt_that_has_used_up_its_allowance_is_refused_as_the_relay_before_the_gateway_understands() {
    let bed = Bed::new(GatewayLimits::default()).await;
    for (dialect, path, entry) in [
        (Dialect::Anthropic, "/v1/messages", "anthropic"),
        (Dialect::OpenAi, "/v1/responses", "openai"),
    ] {
        let mut claims = claims(entry);
        claims.lease.attempt = AttemptId::new(entry);
        claims.tokens = Some(100);
        let (_, answer) = bed.exchange(dialect, &token(&claims), path, &ok("m", 100)).await;
        assert!(answer.starts_with(b"HTTP/1.1 200"));
        let relay = bed.relay(dialect, "http", &token(&claims), None).await;
        let mut agent = connect(&relay).await;
        let asked = request(dialect, "dummy", path).replace("gateway.example:8484", "127.0.0.1");
        agent.write_all(asked.as_bytes()).await.unwrap();
        let answer = String::from_utf8(read_to_end(&mut agent).await).unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 400") && answer.contains("invalid_request_error"),
            "{answer}"
        );
        let traffic = relay.stop().await;
        assert_eq!((traffic.limited_requests, traffic.refusal), (1, None));
        // Another attempt has its own, and money is kept to likewise.
        claims.tokens = None;
        claims.cost = Some(CostAllowance {
            usd: 2.0,
            price: Price {
                input_per_million: 1_000_000.0,
                ..Price::default()
            },
        });
        claims.lease.attempt = AttemptId::new(format!("{entry}-2"));
        for _ in 0..2 {
            let (_, answer) = bed.exchange(dialect, &token(&claims), path, &ok("m", 1)).await;
            assert!(answer.starts_with(b"HTTP/1.1 200"));
        }
        let (head, body) = bed.refused(dialect, &token(&claims), path).await;
        assert!(head.starts_with("HTTP/1.1 400") && body.to_string().contains("attempt_limit_reached"));
    }
}

#[tokio::test]
async fn when_the_gateways_own_budget_is_gone_nobody_asks_any_more_and_it_is_no_quota_of_the_provider() {
    for (limits, model, input, words) in [
        (
            GatewayLimits {
                max_tokens: Some(50),
                ..GatewayLimits::default()
            },
            "m",
            50,
            "limits.maxTokens is reached: 50 of 50 tokens are used",
        ),
        (
            GatewayLimits {
                max_cost_usd: Some(2.5),
                ..GatewayLimits::default()
            },
            "priced",
            3,
            "limits.maxCostUsd is reached: $3.00 of $2.50 are spent",
        ),
    ] {
        let bed = Bed::new(limits).await;
        let (_, answer) = bed
            .exchange(
                Dialect::Anthropic,
                &token(&claims("anthropic")),
                "/v1/messages",
                &ok(model, input),
            )
            .await;
        assert!(answer.starts_with(b"HTTP/1.1 200"));
        let mut another = claims("openai");
        another.lease.attempt = AttemptId::new("2-1-1");
        let relay = bed.relay(Dialect::OpenAi, "http", &token(&another), None).await;
        let mut agent = connect(&relay).await;
        let asked = request(Dialect::OpenAi, "dummy", "/v1/responses").replace("gateway.example:8484", "127.0.0.1");
        agent.write_all(asked.as_bytes()).await.unwrap();
        let answer = String::from_utf8(read_to_end(&mut agent).await).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(words), "{answer}");
        let refusal = settled(&relay).await.refusal.unwrap();
        assert_eq!(refusal.kind(), RefusalKind::Limit, "{refusal:?}");
        assert!(bed.usage().await["limitReached"].as_str().unwrap().contains(words));
    }
}

#[tokio::test]
async fn no_api_speaks_for_a_gateway() {
    let bed = Bed::new(GatewayLimits::default()).await;
    for behind_a_gateway in [false, true] {
        for (status, code) in [
            ("400 Bad Request", "attempt_limit_reached"),
            ("400 Bad Request", "gateway_limit_reached"),
            ("401 Unauthorized", "lease_token_refused"),
        ] {
            let relay = match behind_a_gateway {
                true => {
                    bed.relay(Dialect::OpenAi, "http", &token(&claims("openai")), None)
                        .await
                }
                false => {
                    let url = format!("http://{}/v1", bed.api.local_addr().unwrap());
                    super::relay(Dialect::OpenAi, &url).await
                }
            };
            let mut agent = connect(&relay).await;
            let asked = request(Dialect::OpenAi, "dummy", "/v1/responses").replace("gateway.example:8484", "127.0.0.1");
            agent.write_all(asked.as_bytes()).await.unwrap();
            let (mut api, _) = bed.api.accept().await.unwrap();
            read_until(&mut api, "{\"model\":\"m\"}").await;
            let body = format!(r#"{{"error":{{"message":"no","code":"{code}"}}}}"#);
            let head = format!("{JSON}x-mcproctor-refusal: {code}\r\n");
            api.write_all(&reply(status, &head, body.as_bytes())).await.unwrap();
            drop(api);
            let answer = String::from_utf8(read_to_end(&mut agent).await).unwrap();
            assert!(
                answer.ends_with(&body) && !answer.contains("x-mcproctor-refusal"),
                "{answer}"
            );
            let traffic = relay.stop().await;
            assert_eq!(traffic.limited_requests, 0, "{code} {behind_a_gateway}");
            assert_eq!(traffic.refusal.unwrap().code, None, "{code} {behind_a_gateway}");
        }
    }
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_for_itself_and_stops_nobody_else_where_money_is_limited() {
    let bed = Bed::new(GatewayLimits {
        max_cost_usd: Some(1e9),
        ..GatewayLimits::default()
    })
    .await;
    for (dialect, path, token) in both() {
        for (body, words) in [
            (
                r#"{"model":"strange","messages":[]}"#,
                "does not ask strange: its price is not known",
            ),
            (r#"{"messages":[]}"#, "the request names no model"),
            (r#"{"model":"m","messages":[],"model":"strange"}"#, "names two models"),
        ] {
            let mut stream = TcpStream::connect(bed.gateway.address()).await.unwrap();
            let asked = request(dialect, &token, path);
            let head = asked.split_once("\r\n\r\n").unwrap().0;
            let head = head.replace("content-length: 13", &format!("content-length: {}", body.len()));
            // The second name comes once the first one has been read.
            let (first, second) = body.split_at(body.len() - 11);
            stream
                .write_all(format!("{head}\r\n\r\n{first}").as_bytes())
                .await
                .unwrap();
            tokio::time::sleep(Duration::from_millis(30)).await;
            stream.write_all(second.as_bytes()).await.unwrap();
            let answer = String::from_utf8(read_to_end(&mut stream).await).unwrap();
            assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(words), "{answer}");
            assert!(answer.contains("invalid_request_error"), "{answer}");
        }
        let asked = tokio::time::timeout(Duration::from_millis(30), bed.api.accept()).await;
        if let Ok(Ok((mut api, _))) = asked {
            // The start of the request that then named another model, and no end of it.
            let seen = String::from_utf8_lossy(&read_to_end(&mut api).await).into_owned();
            assert!(!seen.contains("strange"), "{seen}");
        }
        let (_, answer) = bed.exchange(dialect, &token, path, &ok("m", 1)).await;
        assert!(answer.starts_with(b"HTTP/1.1 200"));
    }
    let usage = bed.usage().await;
    assert_eq!((&usage["limitReached"], &usage["tokens"]), (&Value::Null, &json!(2)));
    assert_eq!(usage["untoldAtMost"], json!({ "tokens": 0, "costUsd": 0.0 }));
}

#[tokio::test]
async fn what_nobody_told_counts_for_a_gateways_limit_as_the_most_that_it_may_have_been() {
    let bed = Bed::new(GatewayLimits {
        max_tokens: Some(100_000),
        ..GatewayLimits::default()
    })
    .await;
    let (dialect, path, token) = both()[1].clone();
    let stream = bed.ask(dialect, &token, path).await;
    let (mut api, _) = bed.api.accept().await.unwrap();
    read_until(&mut api, "{\"model\":\"m\"}").await;
    drop(stream);
    read_to_end(&mut api).await;
    let (head, body) = bed.refused(dialect, &token, path).await;
    assert!(
        head.starts_with("HTTP/1.1 400") && body.to_string().contains("gateway_limit_reached"),
        "{body}"
    );
    let usage = bed.usage().await;
    assert_eq!(
        (&usage["tokens"], &usage["requestsWithoutUsage"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(usage["untoldAtMost"]["tokens"], 128_005);
}

#[tokio::test]
async fn a_rate_delays_the_requests_of_all_attempts_together_and_refuses_none() {
    let limits = GatewayLimits {
        requests_per_minute: Some(400),
        ..GatewayLimits::default()
    };
    let bed = Bed::new(limits).await;
    let begun = std::time::Instant::now();
    for attempt in ["1-1-1", "1-2-1", "1-3-1"] {
        let mut claims = claims("openai");
        claims.lease.attempt = AttemptId::new(attempt);
        let token = token(&claims);
        let (_, answer) = bed
            .exchange(Dialect::OpenAi, &token, "/v1/responses", &ok("m", 1))
            .await;
        assert!(answer.starts_with(b"HTTP/1.1 200"));
    }
    // Two intervals lie between three requests.
    assert!(begun.elapsed() >= Duration::from_millis(300), "{:?}", begun.elapsed());
    let usage = bed.usage().await;
    assert!(usage["attempts"][2]["heldMs"].as_u64().unwrap() > 0, "{usage}");
}

#[tokio::test]
async fn usage_is_told_by_attempt_and_in_all_to_those_with_the_key_and_health_to_everybody() {
    let bed = Bed::new(GatewayLimits::default()).await;
    for (attempt, input) in [("1-1-1", 10), ("1-1-1", 20), ("1-2-1", 5)] {
        let mut claims = claims("anthropic");
        claims.lease.attempt = AttemptId::new(attempt);
        let token = token(&claims);
        bed.exchange(Dialect::Anthropic, &token, "/v1/messages", &ok("priced", input))
            .await;
    }
    let usage = bed.usage().await;
    assert_eq!((&usage["tokens"], &usage["costUsd"]), (&json!(35), &json!(35.0)));
    assert_eq!(usage["usage"][0]["model"], "priced");
    let attempts = usage["attempts"].as_array().unwrap();
    let told: Vec<_> = attempts
        .iter()
        .map(|attempt| {
            (
                &attempt["attempt"],
                &attempt["requests"],
                &attempt["usage"][0]["inputTokens"],
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (&json!("1-1-1"), &json!(2), &json!(30)),
            (&json!("1-2-1"), &json!(1), &json!(5))
        ]
    );
    for wrong in [
        None,
        Some("wrong"),
        Some(KEY),
        Some(token(&claims("anthropic")).as_str()),
    ] {
        let (status, body) = bed.get("/usage", wrong).await;
        assert_eq!(status, "HTTP/1.1 401 Unauthorized");
        assert!(!body.contains("1-1-1"), "{body}");
    }
    assert_eq!(
        bed.get("/healthz", None).await,
        ("HTTP/1.1 200 OK".into(), "ok\n".into())
    );
    // Attempts are forgotten with their tokens; the sum stays.
    bed.clock.store(NOW + 600, Ordering::SeqCst);
    let mut later = claims("anthropic");
    later.lease.attempt = AttemptId::new("9-1-1");
    later.expires_at_unix_s = NOW + 1_200;
    bed.exchange(Dialect::Anthropic, &token(&later), "/v1/messages", &ok("priced", 1))
        .await;
    let usage = bed.usage().await;
    assert_eq!(
        (usage["attempts"].as_array().unwrap().len(), &usage["tokens"]),
        (1, &json!(36))
    );
}

#[tokio::test]
async fn over_tls_a_relay_that_trusts_the_certificate_gets_through_and_another_shows_no_token() {
    let bed = Bed::with(GatewayLimits::default(), Some(tls())).await;
    let good = token(&claims("anthropic"));
    let asked = request(Dialect::Anthropic, "dummy", "/v1/messages").replace("gateway.example:8484", "127.0.0.1");
    let ca = include_str!("../../../tests/proxy/fixtures/ca.pem");
    let relay = bed.relay(Dialect::Anthropic, "https", &good, Some(ca)).await;
    let mut agent = connect(&relay).await;
    agent.write_all(asked.as_bytes()).await.unwrap();
    let (mut api, _) = bed.api.accept().await.unwrap();
    let request = read_until(&mut api, "{\"model\":\"m\"}").await;
    assert!(request.contains(&format!("x-api-key: {KEY}")) && !request.contains(&good));
    api.write_all(&ok("m", 7)).await.unwrap();
    assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 200"));
    assert_eq!(relay.stop().await.tokens().total(), 7);

    let stranger = bed.relay(Dialect::Anthropic, "https", &good, None).await;
    let mut agent = connect(&stranger).await;
    agent.write_all(asked.as_bytes()).await.unwrap();
    assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 502"));
    // In the clear nothing is answered.
    let mut plain = TcpStream::connect(bed.gateway.address()).await.unwrap();
    plain.write_all(asked.as_bytes()).await.unwrap();
    assert!(!read_to_end(&mut plain).await.starts_with(b"HTTP"));
}

#[tokio::test]
async fn what_cannot_be_served_is_refused_before_a_port_is_opened() {
    let clock = Arc::new(AtomicU64::new(NOW));
    let refused = async |change: &dyn Fn(&mut GatewayOptions)| {
        let mut options = options("http://127.0.0.1:9", &clock);
        change(&mut options);
        assert!(!format!("{options:?}").contains(KEY) && !format!("{options:?}").contains(TOKEN_KEY));
        Gateway::start(options).await.unwrap_err()
    };
    let error = refused(&|options| options.listen = "0.0.0.0:0".parse().unwrap()).await;
    assert!(matches!(error, GatewayError::Unencrypted(_)) && error.is_usage());
    let error = refused(&|options| {
        options.tls = Some(GatewayTls {
            certificate_pem: "nothing".to_owned(),
            ..tls()
        });
    })
    .await;
    assert!(matches!(error, GatewayError::Certificate(_)) && error.is_usage());
    let error = refused(&|options| {
        options.tls = Some(GatewayTls {
            key_pem: "nothing".to_owned().into(),
            ..tls()
        });
    })
    .await;
    assert!(matches!(error, GatewayError::CertificateKey) && error.is_usage());
    let error = refused(&|options| {
        for model in options.models.values_mut() {
            model.credential = Credential::ApiKey(format!("{KEY}\n!").into());
        }
    })
    .await;
    assert!(matches!(error, GatewayError::Model { .. }) && error.is_usage());
    assert!(!format!("{error:?}").contains(KEY));
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let error = refused(&|options| options.listen = address).await;
    assert!(matches!(error, GatewayError::Listen { .. }) && !error.is_usage());
}

#[tokio::test]
async fn told_to_end_it_takes_nothing_new_and_lets_open_answers_end_within_bounds() {
    for ends in [true, false] {
        let bed = Bed::new(GatewayLimits::default()).await;
        let address = bed.gateway.address();
        let (dialect, path, token) = both()[0].clone();
        let mut stream = bed.ask(dialect, &token, path).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        let (mut api, _) = bed.api.accept().await.unwrap();
        read_until(&mut api, "{\"model\":\"m\"}").await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        api.write_all(head.as_bytes()).await.unwrap();
        read_until(&mut stream, "\r\n\r\n").await;
        let patience = Duration::from_millis(if ends { 10_000 } else { 50 });
        let draining = tokio::spawn(bed.gateway.drain(patience));
        // A connection without a request is closed at once; by then nothing is accepted any more.
        assert_eq!(read_to_end(&mut idle).await, b"");
        assert!(TcpStream::connect(address).await.is_err());
        if ends {
            api.write_all(b"data: the end\n\n").await.unwrap();
            drop(api);
            assert!(read_to_end(&mut stream).await.windows(7).any(|part| part == b"the end"));
        }
        assert_eq!(draining.await.unwrap(), ends);
    }
}
