//! A gateway's own config, and runs that use one.

use mcproctor_proto::agent::{Credential, Dialect};
use secrecy::ExposeSecret;

use super::{Folder, SMALLEST, environment};
use crate::config::{Environment, GatewayConfig, load_gateway};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";

fn read(folder: &Folder, listen: Option<&str>, environment: &Environment) -> Result<GatewayConfig, String> {
    let listen = listen.map(|address| address.parse().unwrap());
    load_gateway(&folder.path("eval.yaml"), listen, environment).map_err(|errors| {
        errors
            .to_string()
            .replace(&format!("{}/", folder.0.path().display()), "")
    })
}

fn variables() -> Environment {
    environment([("TOKENS", KEY), ("ANTHROPIC", "a-key"), ("OPENAI", "o-key")])
}

const WHOLE: &str = "
listen: '[::]:8484'
tls: {certFile: server.pem, keyFile: ~/server.key}
tokenKey: ${TOKENS}
models:
  anthropic: {api: anthropic, apiKey: '${ANTHROPIC}'}
  subscription: {api: anthropic, oauthToken: '${ANTHROPIC}'}
  openai: {api: openai, apiKey: '${OPENAI}'}
  local: {api: openai, baseUrl: 'http://127.0.0.1:8000/v1'}
limits: {maxCostUsd: 20, maxTokens: 1000000, requestsPerMinute: 120}
prices: {mine: {inputPerMillion: 1, outputPerMillion: 2}}
x-note: free
";

#[test]
fn everything_in_a_gateways_config_is_read() {
    let folder = Folder::with(WHOLE).and("server.pem", CERTIFICATE);
    let home = folder.0.path().display().to_string();
    let folder = folder.and(
        "server.key",
        "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n",
    );
    let environment = [
        ("TOKENS", KEY),
        ("ANTHROPIC", "a-key"),
        ("OPENAI", "o-key"),
        ("HOME", &home),
    ];
    let config = read(&folder, None, &environment.into_iter().collect()).unwrap();
    assert_eq!(config.listen.to_string(), "[::]:8484");
    assert!(config.tls.unwrap().key_pem.expose_secret().contains("EC PRIVATE KEY"));
    assert!(config.token_key.is(KEY));
    let models: Vec<_> = config
        .models
        .iter()
        .map(|(name, model)| {
            let credential = match &model.credential {
                Credential::ApiKey(key) => format!("key {}", key.expose_secret()),
                Credential::OauthToken(token) => format!("token {}", token.expose_secret()),
                Credential::OwnLogin => "own login".to_owned(),
                Credential::None => "none".to_owned(),
            };
            format!("{name} {} {} {credential}", model.api.name(), model.base_url)
        })
        .collect();
    assert_eq!(
        models,
        [
            "anthropic anthropic https://api.anthropic.com/ key a-key",
            "local openai http://127.0.0.1:8000/v1 none",
            "openai openai https://api.openai.com/v1 key o-key",
            "subscription anthropic https://api.anthropic.com/ token a-key",
        ]
    );
    assert_eq!(config.models["local"].api, Dialect::OpenAi);
    assert_eq!(config.limits.max_tokens, Some(1_000_000));
    assert_eq!(config.limits.requests_per_minute, Some(120));
    assert!(config.prices.of("mine").is_some());
}

#[test]
fn a_small_config_listens_on_loopback_and_the_command_line_goes_first() {
    let folder = Folder::with("tokenKey: ${TOKENS}\nmodels: {a: {api: anthropic, apiKey: k-1234}}\n");
    let config = read(&folder, None, &variables()).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8484");
    let config = read(&folder, Some("127.0.0.1:0"), &variables()).unwrap();
    assert_eq!(config.listen.port(), 0);
    let report = read(&folder, Some("0.0.0.0:8484"), &variables()).unwrap_err();
    assert!(
        report.contains("0.0.0.0:8484 is reached from other machines, and there is no `tls`"),
        "{report}"
    );
}

#[test]
fn what_is_wrong_with_a_gateways_config_is_said_at_its_place_and_without_secrets() {
    let folder = Folder::with(
        "listen: localhost:8484\ntokenKey: ${SHORT}\ntls: {certFile: gone.pem, keyFile: eval.yaml}\nmodles: {}\nmodels:\n  \
         a b: {api: anthropic, apiKey: k}\n  b: {api: gemini, apiKey: k}\n  c: {api: openai, oauthToken: s3cr3t}\n  \
         d: {api: anthropic}\n  e: {api: anthropic, apiKey: 's3cr3t ü'}\n  f: {api: openai, apiKey: k, oauthToken: s3cr3t}\n\
         limits: {maxTokens: 0}\n",
    );
    let report = read(&folder, None, &environment([("SHORT", "s3cr3t")])).unwrap_err();
    insta::assert_snapshot!(report);
    assert!(!report.contains("s3cr3t"), "{report}");
}

#[test]
fn the_agents_of_a_run_with_a_gateway_have_its_address_and_no_key() {
    let folder = Folder::with(&format!(
        "{SMALLEST}run:\n  gateway: {{url: 'https://gateway.example:8484/', tokenKey: '${{TOKENS}}', caFile: ca.pem}}\n  \
         agents: [claude, codex, {{kind: claude, name: other, gatewayModel: subscription}}, {{kind: command, name: chat, \
         command: c, modelApi: chatCompletions}}, {{kind: command, name: none, command: c}}]\n"
    ))
    .and("ca.pem", CERTIFICATE);
    let environment = environment([
        ("TOKENS", KEY),
        ("ANTHROPIC_API_KEY", "never-used"),
        ("OPENAI_API_KEY", "never-used"),
        ("ANTHROPIC_BASE_URL", "no address at all"),
    ]);
    let config = folder.load(&environment);
    let gateway = config.run.gateway.as_ref().unwrap();
    let access: Vec<_> = config
        .run
        .agents
        .iter()
        .map(|agent| {
            assert!(matches!(agent.credential, Credential::None), "{}", agent.name);
            let entry = gateway.models.get(&agent.name).map(String::as_str);
            (agent.name.as_str(), agent.base_url.as_deref(), entry)
        })
        .collect();
    let (claude, openai) = ("https://gateway.example:8484", "https://gateway.example:8484/v1");
    assert_eq!(
        access,
        [
            ("claude", Some(claude), Some("anthropic")),
            ("codex", Some(openai), Some("openai")),
            ("other", Some(claude), Some("subscription")),
            ("chat", Some(openai), Some("openai")),
            ("none", None, None),
        ]
    );
    assert_eq!(gateway.ca_pem.as_deref(), Some(CERTIFICATE));
    assert!(!format!("{config:?} {:?}", config.run).contains(KEY));
    assert_eq!(config.redactor().text(format!("<{KEY}>")), "<[redacted]>");
    let mut other = config.clone();
    let entries = &mut other.run.gateway.as_mut().unwrap().models;
    entries.insert("claude".to_owned(), "subscription".to_owned());
    assert_ne!(other.fingerprint(), config.fingerprint());
}

#[test]
fn keys_beside_a_gateway_and_tokens_in_the_clear_are_refused() {
    let folder = Folder::with(&format!(
        "{SMALLEST}run:\n  gateway: {{url: 'http://gateway.example:8484', tokenKey: short}}\n  agents:\n    \
         - {{kind: claude, apiKey: s3cr3t}}\n    - {{kind: codex, baseUrl: 'http://h/v1'}}\n    \
         - {{kind: command, name: n, command: c, gatewayModel: a}}\n"
    ));
    let report = folder.report(&environment([]));
    for line in [
        "run.gateway.url: tokens would go to another machine in the clear",
        "run.gateway.tokenKey: the key has 5 bytes; it takes at least 32",
    ] {
        assert!(report.contains(line), "{report}");
    }
    let folder = Folder::with(&format!(
        "{SMALLEST}run:\n  gateway: {{url: 'http://localhost:8484', tokenKey: '{KEY}'}}\n  agents:\n    \
         - {{kind: claude, apiKey: s3cr3t}}\n    - {{kind: codex, baseUrl: 'http://h/v1'}}\n    \
         - {{kind: command, name: n, command: c, gatewayModel: a}}\n"
    ));
    let report = folder.report(&environment([]));
    for line in [
        "run.agents[0].apiKey: with `run.gateway` keys and addresses of models are the gateway's",
        "run.agents[1].baseUrl: with `run.gateway` keys and addresses of models are the gateway's",
        "run.agents[2].gatewayModel: without `modelApi` the command asks no model",
    ] {
        assert!(report.contains(line), "{report}");
    }
    let folder = Folder::with(&format!(
        "{SMALLEST}run: {{agents: [{{kind: claude, gatewayModel: a}}]}}\n"
    ));
    let report = folder.report(&environment([]));
    assert!(
        report.contains("run.agents[0].gatewayModel: the config has no `run.gateway`"),
        "{report}"
    );
}

#[test]
fn a_gateways_url_that_ends_with_v1_is_refused_where_it_stands() {
    for url in ["https://gateway.example:8484/v1", "http://localhost:8484/v1/"] {
        let folder = Folder::with(&format!(
            "{SMALLEST}run:\n  gateway: {{url: '{url}', tokenKey: '{KEY}'}}\n  agents: [claude]\n"
        ));
        let report = folder.report(&environment([]));
        let line = SMALLEST.lines().count() + 2;
        assert_eq!(
            report,
            format!(
                "eval.yaml:{line}:18: run.gateway.url: the URL ends with `/v1`, which relays add where their API has it\n    \
                 accepted: `https://HOST:PORT`, without `/v1`; `http://` only to this machine"
            )
        );
    }
}
