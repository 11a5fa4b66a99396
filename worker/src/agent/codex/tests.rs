#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use mcproctor_proto::agent::{AgentKind, Credential};
use secrecy::ExposeSecret as _;

use super::*;
use crate::agent::transcript::{exit, lines};

fn codex(change: impl FnOnce(&mut Agent, &mut Place)) -> Codex {
    let mut agent = Agent {
        name: "codex".to_owned(),
        kind: AgentKind::Codex,
        model: Some("gpt-5.1".to_owned()),
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
        mcp_servers: vec![("my \"own\".server".to_owned(), "http://127.0.0.1:1/mcp".to_owned())],
        model_url: Some("http://127.0.0.1:2".to_owned()),
        confined: false,
        own_home: None,
        session: String::new(),
    };
    change(&mut agent, &mut place);
    let program = Program {
        path: PathBuf::from("/bin/codex"),
        folders: Vec::new(),
    };
    let stream = Stream::new(&place.server_names(), 0);
    Codex {
        agent,
        place,
        program,
        thread: None,
        turn: 0,
        total: Usage::default(),
        stream,
    }
}

fn turn(codex: &mut Codex, index: u32, transcript: &str) -> Reading {
    codex.invocation(index, "hi").unwrap();
    for line in lines(transcript) {
        codex.line(&line);
    }
    codex.finish(&exit(0, ""))
}

#[test]
fn a_server_name_is_quoted_for_toml() {
    let args = codex(|_, _| ()).invocation(0, "hi").unwrap().args;
    let servers = args.iter().find(|arg| arg.starts_with("mcp_servers=")).unwrap();
    assert!(servers.starts_with(r#"mcp_servers={"my \"own\".server"={url="http://127.0.0.1:1/mcp",required=true,"#));
    assert_eq!(toml_string("a\\\n"), r#""a\\\u000A""#);
}

#[test]
fn its_own_tools_are_off_by_default_and_on_when_asked_for() {
    let off = "features.shell_tool=false".to_owned();
    assert!(codex(|_, _| ()).invocation(0, "hi").unwrap().args.contains(&off));
    let mut with = codex(|agent, _| agent.builtin_tools = BuiltinTools::Default);
    assert!(!with.invocation(0, "hi").unwrap().args.contains(&off));
}

#[test]
fn the_real_key_goes_nowhere_near_the_agent() {
    let invocation = codex(|_, _| ()).invocation(0, "hi").unwrap();
    assert!(
        invocation
            .env
            .values()
            .all(|value| !value.expose_secret().contains("sk-real"))
    );
    assert_eq!(invocation.env["CODEX_HOME"].expose_secret(), "/seat/home/.codex");
    assert_eq!(invocation.stdin, b"hi");
}

#[test]
fn it_speaks_to_the_relay_as_to_its_maker_unless_the_api_is_another() {
    let provider = |base_url: Option<&str>| {
        let mut codex = codex(|agent, _| agent.base_url = base_url.map(str::to_owned));
        let args = codex.invocation(0, "hi").unwrap().args;
        args.into_iter()
            .find(|arg| arg.starts_with("model_providers."))
            .unwrap()
    };
    for maker in [None, Some("https://api.openai.com/v1")] {
        assert!(provider(maker).contains(r#"name="OpenAI""#));
    }
    assert!(provider(Some("http://gateway.example/v1")).contains(r#"name="mcproctor""#));
}

#[test]
fn its_own_login_keeps_its_home_and_its_provider() {
    let mut codex = codex(|agent, place| {
        agent.credential = Credential::OwnLogin;
        place.model_url = None;
        place.own_home = Some(PathBuf::from("/home/someone"));
    });
    let invocation = codex.invocation(0, "hi").unwrap();
    assert_eq!(invocation.env["HOME"].expose_secret(), "/home/someone");
    assert!(!invocation.args.iter().any(|arg| arg.contains("model_provider")));
    assert!(
        invocation.files.is_empty(),
        "nothing may be written to the user's own folder"
    );
}

#[test]
fn a_later_turn_resumes_the_thread_and_counts_its_own_tokens_only() {
    let mut codex = codex(|_, place| place.mcp_servers[0].0 = "weather".to_owned());
    assert!(matches!(
        codex.invocation(1, "more"),
        Err(AgentError::NotResumable { .. })
    ));
    let first = turn(&mut codex, 0, "codex-tool-call");
    assert_eq!(
        (first.usage.input_tokens, first.usage.output_tokens),
        (Some(240), Some(18))
    );
    let args = codex.invocation(1, "more").unwrap().args;
    assert_eq!(args[..2], ["exec", "resume"]);
    assert_eq!(args[args.len() - 1], "-");
    assert_eq!(args[args.len() - 2].len(), 36);
    let second = turn(&mut codex, 1, "codex-resumed");
    assert_eq!(
        (
            second.usage.input_tokens,
            second.usage.cached_input_tokens,
            second.usage.output_tokens
        ),
        (Some(120), Some(20), Some(9))
    );
}
