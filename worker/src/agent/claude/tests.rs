#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use mcproctor_proto::agent::AgentKind;
use secrecy::ExposeSecret as _;

use super::*;
use crate::agent::transcript::{exit, lines};

fn claude(change: impl FnOnce(&mut Agent, &mut Place)) -> Claude {
    let mut agent = Agent {
        name: "claude".to_owned(),
        kind: AgentKind::Claude,
        model: None,
        args: Vec::new(),
        env: BTreeMap::new(),
        builtin_tools: BuiltinTools::None,
        tool_loading: None,
        base_url: None,
        credential: Credential::ApiKey(SecretString::from("sk-real")),
        command: None,
    };
    let mut place = Place {
        home: PathBuf::from("/seat/home"),
        work: PathBuf::from("/seat/work"),
        mcp_servers: vec![("weather".to_owned(), "http://127.0.0.1:1/mcp".to_owned())],
        model_url: Some("http://127.0.0.1:2/".to_owned()),
        confined: false,
        own_home: None,
        session: String::new(),
    };
    change(&mut agent, &mut place);
    login::check(&agent, &place).unwrap();
    let program = Program {
        path: PathBuf::from("/bin/claude"),
        folders: Vec::new(),
    };
    let stream = Stream::new(&place.server_names(), 0);
    Claude {
        agent,
        place,
        program,
        session: None,
        turn: 0,
        stream,
    }
}

fn value(invocation: &Invocation, name: &str) -> Option<String> {
    invocation.env.get(name).map(|value| value.expose_secret().to_owned())
}

fn option<'a>(invocation: &'a Invocation, name: &str) -> Option<&'a str> {
    let at = invocation.args.iter().position(|arg| arg == name)?;
    invocation.args.get(at + 1).map(String::as_str)
}

#[test]
fn only_the_tools_of_the_server_are_left_by_default() {
    let invocation = claude(|_, _| ()).invocation(0, "hi").unwrap();
    assert_eq!(option(&invocation, "--tools"), Some(""));
    assert_eq!(option(&invocation, "--allowedTools"), Some("mcp__weather__*"));
    assert_eq!(value(&invocation, "ENABLE_TOOL_SEARCH").as_deref(), Some("false"));
    assert_eq!(invocation.stdin, b"hi");
}

#[test]
fn beside_its_own_tools_it_loads_tools_as_it_does_without_a_relay() {
    let loading = |base_url: Option<&str>, asked| {
        let mut claude = claude(|agent, _| {
            agent.builtin_tools = BuiltinTools::Default;
            agent.base_url = base_url.map(str::to_owned);
            agent.tool_loading = asked;
        });
        value(&claude.invocation(0, "hi").unwrap(), "ENABLE_TOOL_SEARCH")
    };
    assert_eq!(loading(None, None).as_deref(), Some("true"));
    assert_eq!(
        loading(Some("https://api.anthropic.com"), None).as_deref(),
        Some("true")
    );
    assert_eq!(
        loading(Some("http://gateway.example"), None),
        None,
        "it knows what to do at an API that is not its maker's"
    );
    assert_eq!(loading(None, Some(ToolLoading::Upfront)).as_deref(), Some("false"));
}

#[test]
fn the_real_key_goes_nowhere_near_the_agent() {
    let mut claude = claude(|agent, _| {
        agent
            .env
            .insert("ANTHROPIC_AUTH_TOKEN".to_owned(), SecretString::from("sk-real"));
    });
    let invocation = claude.invocation(0, "hi").unwrap();
    assert!(
        invocation
            .env
            .values()
            .all(|value| !value.expose_secret().contains("sk-real"))
    );
    assert!(!format!("{invocation:?}").contains("sk-real"));
    assert_eq!(
        value(&invocation, "ANTHROPIC_BASE_URL").as_deref(),
        Some("http://127.0.0.1:2")
    );
    assert_eq!(
        value(&invocation, "ANTHROPIC_API_KEY").as_deref(),
        Some(PLACEHOLDER_KEY)
    );
}

#[test]
fn a_token_is_stood_in_for_by_a_token() {
    let mut claude = claude(|agent, _| agent.credential = Credential::OauthToken(SecretString::from("real")));
    let invocation = claude.invocation(0, "hi").unwrap();
    assert_eq!(
        value(&invocation, "CLAUDE_CODE_OAUTH_TOKEN").as_deref(),
        Some(PLACEHOLDER_TOKEN)
    );
    assert_eq!(value(&invocation, "ANTHROPIC_API_KEY"), None);
}

#[test]
fn its_own_login_keeps_its_home_and_meets_no_relay() {
    let mut claude = claude(|agent, place| {
        agent.credential = Credential::OwnLogin;
        place.model_url = None;
        place.own_home = Some(PathBuf::from("/home/someone"));
    });
    let invocation = claude.invocation(0, "hi").unwrap();
    assert_eq!(value(&invocation, "HOME").as_deref(), Some("/home/someone"));
    assert_eq!(value(&invocation, "ANTHROPIC_BASE_URL"), None);
    assert_eq!(value(&invocation, "ANTHROPIC_API_KEY"), None);
    assert_eq!(invocation.files[0].path, PathBuf::from("/seat/home/mcproctor-mcp.json"));
}

#[test]
fn deferred_loading_leaves_the_search_that_finds_the_tools() {
    let mut claude = claude(|agent, _| agent.tool_loading = Some(ToolLoading::Deferred));
    let invocation = claude.invocation(0, "hi").unwrap();
    assert_eq!(option(&invocation, "--tools"), Some("ToolSearch"));
    assert_eq!(value(&invocation, "ENABLE_TOOL_SEARCH").as_deref(), Some("true"));
}

#[test]
fn a_later_turn_resumes_the_session_that_the_first_one_named() {
    let mut claude = claude(|_, _| ());
    assert!(matches!(
        claude.invocation(1, "more"),
        Err(AgentError::NotResumable { .. })
    ));
    claude.invocation(0, "hi").unwrap();
    for line in lines("claude-tool-call") {
        claude.line(&line);
    }
    claude.finish(&exit(0, ""));
    let session = option(&claude.invocation(1, "more").unwrap(), "--resume")
        .unwrap()
        .to_owned();
    assert_eq!(session.len(), 36);
}

#[test]
fn further_arguments_follow_an_option_without_a_value() {
    let invocation = claude(|agent, _| agent.args = vec!["--effort".to_owned(), "low".to_owned()]);
    let args = { invocation }.invocation(0, "hi").unwrap().args;
    assert_eq!(args[args.len() - 3..], ["--verbose", "--effort", "low"]);
}
