//! How agents get their keys.

use mcproctor_proto::agent::Credential;
use secrecy::ExposeSecret;

use super::{Folder, SMALLEST, environment};
use crate::config::Environment;

fn credential(agent: &str, environment: &Environment) -> String {
    let config = Folder::with(&format!("{SMALLEST}run: {{agents: [{agent}]}}\n"))
        .and(".env", "FROM_FILE=1\n")
        .load(environment);
    match &config.run.agents[0].credential {
        Credential::ApiKey(key) => format!("key {}", key.expose_secret()),
        Credential::OauthToken(token) => format!("token {}", token.expose_secret()),
        Credential::OwnLogin => "own login".to_owned(),
        Credential::None => "none".to_owned(),
    }
}

#[test]
fn the_entry_comes_before_the_environment_and_that_before_the_own_login() {
    let keys = environment([
        ("ANTHROPIC_API_KEY", "a"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "t"),
        ("OPENAI_API_KEY", "o"),
    ]);
    let token = environment([("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "t")]);
    let nothing = environment([]);
    assert_eq!(credential("{kind: claude, apiKey: own}", &keys), "key own");
    assert_eq!(credential("claude", &keys), "key a");
    assert_eq!(credential("claude", &token), "token t");
    assert_eq!(credential("claude", &nothing), "own login");
    assert_eq!(credential("codex", &keys), "key o");
    assert_eq!(credential("codex", &token), "own login");
}

#[test]
fn the_own_login_is_never_taken_to_another_address() {
    assert_eq!(
        credential("{kind: claude, baseUrl: 'http://h/'}", &environment([])),
        "none"
    );
    assert_eq!(
        credential(
            "{kind: codex, baseUrl: 'http://h/v1'}",
            &environment([("OPENAI_API_KEY", "o")])
        ),
        "key o"
    );
}

#[test]
fn a_command_gets_a_key_only_for_the_provider_that_it_speaks_to() {
    let keys = environment([("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")]);
    assert_eq!(credential("{kind: command, command: x}", &keys), "none");
    assert_eq!(
        credential("{kind: command, command: x, modelApi: messages}", &keys),
        "key a"
    );
    assert_eq!(
        credential("{kind: command, command: x, modelApi: responses}", &keys),
        "key o"
    );
    let local = "{kind: command, command: x, modelApi: chatCompletions, baseUrl: 'http://127.0.0.1:1/v1'}";
    assert_eq!(credential(local, &keys), "none");
}

#[test]
fn a_gateway_in_the_environment_is_gone_through_as_the_programs_themselves_do() {
    let gateway = environment([("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"), ("OPENAI_BASE_URL", "")]);
    let folder = Folder::with(&format!(
        "{SMALLEST}run: {{agents: [claude, codex, {{kind: claude, name: other, baseUrl: 'http://127.0.0.1:8'}}]}}\n"
    ));
    let config = folder.load(&gateway);
    let addresses: Vec<Option<&str>> = config
        .run
        .agents
        .iter()
        .map(|agent| agent.base_url.as_deref())
        .collect();
    assert_eq!(
        addresses,
        [Some("http://127.0.0.1:9"), None, Some("http://127.0.0.1:8")]
    );
    assert_eq!(
        credential("claude", &gateway),
        "none",
        "the own login is for the provider alone"
    );

    let report = folder.report(&environment([("ANTHROPIC_BASE_URL", "user:pass@gateway")]));
    assert!(
        report.contains("the variable ANTHROPIC_BASE_URL is no address"),
        "{report}"
    );
    assert!(!report.contains("pass@"), "{report}");
}
