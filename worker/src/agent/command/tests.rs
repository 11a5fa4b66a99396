#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcproctor_proto::agent::{
    Agent, AgentKind, AnswerFormat, BuiltinTools, CommandAgent, Credential, ModelApi, PromptInput,
};
use mcproctor_proto::turn::TurnEnding;
use secrecy::ExposeSecret as _;

use super::Command;
use crate::agent::driver::{Driver as _, Exit, Place, Reading};

fn template() -> CommandAgent {
    CommandAgent {
        program: "sh".to_owned(),
        prompt: PromptInput::Stdin,
        answer: AnswerFormat::Text,
        resume_args: None,
        model_api: Some(ModelApi::ChatCompletions),
    }
}

fn command(template: CommandAgent, args: &[&str]) -> Command {
    let agent = Agent {
        name: "mine".to_owned(),
        kind: AgentKind::Command,
        model: Some("m-1".to_owned()),
        args: args.iter().map(ToString::to_string).collect(),
        env: BTreeMap::new(),
        builtin_tools: BuiltinTools::None,
        tool_loading: None,
        base_url: None,
        credential: Credential::None,
        command: Some(template),
    };
    let place = Place {
        home: PathBuf::from("/seat/home"),
        work: PathBuf::from("/seat/work"),
        mcp_servers: vec![("weather".to_owned(), "http://127.0.0.1:1/mcp".to_owned())],
        model_url: Some("http://127.0.0.1:2".to_owned()),
        confined: false,
        own_home: None,
        session: "s-1".to_owned(),
    };
    Command::new(&agent, &place).unwrap()
}

fn exit(code: i32, stderr: &str) -> Exit {
    Exit {
        code: Some(code),
        signal: None,
        output_fault: None,
        stderr_tail: stderr.to_owned(),
    }
}

fn read(answer: AnswerFormat, lines: &[&str], exit: &Exit) -> Reading {
    let mut command = command(CommandAgent { answer, ..template() }, &[]);
    command.invocation(0, "hello").unwrap();
    for line in lines {
        command.line(line.as_bytes());
    }
    command.finish(exit)
}

#[test]
fn fills_in_every_placeholder() {
    let all = "{mcp_url} {mcp_config} {model_url} {model} {prompt} {session} {turn}";
    let mut command = command(
        CommandAgent {
            prompt: PromptInput::Argument,
            ..template()
        },
        &[all],
    );
    let invocation = command.invocation(0, "--help {model}").unwrap();
    assert_eq!(
        invocation.args,
        ["http://127.0.0.1:1/mcp /seat/home/mcp.json http://127.0.0.1:2/v1 m-1 --help {model} s-1 0"]
    );
    assert!(invocation.stdin.is_empty());
    assert_eq!(
        invocation.env["OPENAI_BASE_URL"].expose_secret(),
        "http://127.0.0.1:2/v1"
    );
}

#[test]
fn a_prompt_on_standard_input_stays_out_of_the_arguments() {
    let mut command = command(template(), &["-c", "cat # {prompt}"]);
    let invocation = command.invocation(0, "hello").unwrap();
    assert_eq!(invocation.args, ["-c", "cat # {prompt}"]);
    assert_eq!(invocation.stdin, b"hello");
}

#[test]
fn a_later_turn_needs_resume_arguments() {
    let mut once = command(template(), &["-c", "cat"]);
    assert!(
        once.invocation(1, "more")
            .unwrap_err()
            .to_string()
            .contains("resumeArgs")
    );
    let resume_args = Some(vec!["--resume".to_owned(), "{session}/{turn}".to_owned()]);
    let mut often = command(
        CommandAgent {
            resume_args,
            ..template()
        },
        &["-c", "cat"],
    );
    assert_eq!(often.invocation(1, "more").unwrap().args, ["--resume", "s-1/1"]);
}

#[test]
fn text_is_the_whole_output() {
    let reading = read(AnswerFormat::Text, &["It is", "", "18 °C."], &exit(0, "noise"));
    assert_eq!(reading.reply, "It is\n\n18 °C.");
    assert_eq!(reading.ending, TurnEnding::Completed);
}

#[test]
fn json_is_read_over_several_lines_with_its_usage() {
    let lines = [
        "{",
        r#""answer": "18 °C","#,
        r#""usage": {"inputTokens": 7, "costUsd": 0.5}}"#,
    ];
    let reading = read(AnswerFormat::Json("/answer".to_owned()), &lines, &exit(0, ""));
    assert_eq!(reading.reply, "18 °C");
    assert_eq!(reading.usage.input_tokens, Some(7));
    assert_eq!(reading.usage.cost_usd, Some(0.5));
}

#[test]
fn output_cut_inside_a_string_is_unreadable_although_the_exit_code_is_0() {
    for format in [
        AnswerFormat::Json("/answer".to_owned()),
        AnswerFormat::JsonLines("/answer".to_owned()),
    ] {
        let mut long = r#"{"answer": ""#.to_owned();
        long.push_str(&"x".repeat(65_536 - long.len()));
        let reading = read(format, &[r#"{"answer": "first"}"#, &long][1..], &exit(0, ""));
        assert_eq!(reading.ending, TurnEnding::Unreadable);
    }
}

#[test]
fn the_last_json_line_with_an_answer_counts() {
    let lines = [
        r#"{"text": "first"}"#,
        "a line of log",
        r#"{"text": "second"}"#,
        r#"{"other": 1}"#,
        "",
    ];
    let reading = read(AnswerFormat::JsonLines("/text".to_owned()), &lines, &exit(0, ""));
    assert_eq!(reading.reply, "second");
    assert_eq!(reading.ending, TurnEnding::Completed);
}

#[test]
fn a_failing_exit_code_is_the_agents_error_whatever_it_printed() {
    let reading = read(
        AnswerFormat::Text,
        &["all is well"],
        &exit(3, "Traceback: no such tool\n"),
    );
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert_eq!(reading.detail.as_deref(), Some("exit code 3: Traceback: no such tool"));
    assert_eq!(reading.reply, "all is well");
}
