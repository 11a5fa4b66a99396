//! `mcproctor check`: is everything ready for a run?

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use mcproctor_proto::assignment::SandboxLevel;

use super::agents::{
    about_sandboxes, machine, model_access, program_version, without_answers, without_judge, without_sandbox,
    without_usage,
};
use super::exit::Exit;
use super::inputs;
use super::inspect::{InspectError, inspect, not_offered, unknown_arguments};
use super::let_in::ask_the_gateway;
use super::limits::out_of_control;
use super::runtime::block_on;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::provider_limits::{Finding, Severity, ToolShape, findings};
use crate::testcase::TestCase;
use crate::threshold::out_of_reach;
use crate::unseen::harmless;
use crate::words::counted;

/// Arguments of `mcproctor check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// The config file.
    #[arg(short, long, value_name = "FILE", default_value = "./eval.yaml")]
    config: PathBuf,
}

pub(super) fn run(args: &CheckArgs) -> Exit {
    let read = inputs::config(&args.config).and_then(|config| Ok((inputs::cases(&config)?, config)));
    match read {
        Ok((cases, config)) => block_on(check(config, cases)),
        Err(exit) => exit,
    }
}

async fn check(config: Config, cases: Vec<TestCase>) -> Exit {
    let mut text = format!(
        "config: {} · {} · {} · {}\n",
        config.file.display(),
        counted(cases.len() as u64, "test case"),
        counted(config.run.agents.len() as u64, "agent"),
        counted(u64::from(config.run.iterations), "iteration"),
    );
    for notice in &config.notices {
        let _ = writeln!(text, "notice: {notice}");
    }
    let mut exit = Exit::Success;
    for server in &config.servers {
        match inspect(server).await {
            Ok(probe) => {
                let _ = writeln!(
                    text,
                    "server {}: {} {}, protocol {}, {} tools: {}",
                    server.name,
                    probe.server_name,
                    probe.server_version,
                    probe.protocol_version,
                    probe.tools.len(),
                    probe
                        .tools
                        .iter()
                        .map(|tool| tool.name.as_str())
                        .collect::<Vec<_>>()
                        .join(", ")
                );
                let shapes: Vec<ToolShape> = probe.tools.iter().map(shape).collect();
                for finding in findings(&shapes, &server.name) {
                    text.push_str(&describe(&finding));
                }
                for missing in not_offered(&cases, &probe)
                    .into_iter()
                    .chain(unknown_arguments(&cases, &probe))
                {
                    let _ = writeln!(text, "mismatch: {missing}");
                    exit = exit.min(Exit::Usage);
                }
            }
            Err(error) => {
                let _ = writeln!(
                    text,
                    "{}: {error}",
                    if matches!(error, InspectError::Unclear { .. }) {
                        "fault"
                    } else {
                        "stop"
                    }
                );
                exit = exit.min(Exit::Failure);
            }
        }
    }
    for agent in &config.run.agents {
        match program_version(agent) {
            Ok(version) => {
                let program =
                    version.map_or_else(|| "a command".to_owned(), |version| format!("{} {version}", agent.kind));
                let _ = writeln!(
                    text,
                    "agent {}: {program}, {}",
                    agent.name,
                    model_access(agent, config.run.gateway.as_ref())
                );
            }
            Err(message) => {
                let _ = writeln!(text, "stop: {message}");
                exit = exit.min(Exit::Failure);
            }
        }
    }
    match machine(SandboxLevel::ALL.to_vec(), config.run.sandbox.image()).await {
        Ok(machine) => {
            for (level, state) in &machine {
                let _ = match state {
                    Ok(what) => writeln!(text, "sandbox {level}: {what}"),
                    Err(why) => writeln!(text, "sandbox {level}: not here: {why}"),
                };
            }
            match config.sandboxes(&machine) {
                Ok(sandboxes) => {
                    for why in without_sandbox(&config, &sandboxes, &machine) {
                        let _ = writeln!(text, "stop: {why}");
                        exit = exit.min(Exit::Failure);
                    }
                    for about in about_sandboxes(&config, &sandboxes, &machine) {
                        let _ = writeln!(text, "notice: {about}");
                    }
                }
                Err(error) => {
                    let _ = writeln!(text, "mismatch: {error}");
                    exit = exit.min(Exit::Usage);
                }
            }
        }
        Err(message) => {
            let _ = writeln!(text, "stop: {message}");
            exit = exit.min(Exit::Failure);
        }
    }
    for answer in ask_the_gateway(&config, &SystemClock).await {
        match answer {
            Ok(line) => {
                let _ = writeln!(text, "{line}");
            }
            Err(shut_out) => {
                let kind = if shut_out.exit == Exit::Usage {
                    "mismatch"
                } else {
                    "stop"
                };
                let _ = writeln!(text, "{kind}: {}", shut_out.message);
                exit = exit.min(shut_out.exit);
            }
        }
    }
    if config.run.limits.any() {
        let _ = writeln!(text, "limits: {}", config.run.limits.in_words());
    }
    if let Some(judge) = &config.judge {
        let _ = writeln!(text, "judge: {} at {}", judge.model, judge.shown_url());
    }
    let mismatches = [
        without_answers(&config, &cases),
        without_usage(&config, &cases),
        without_judge(&config, &cases),
        out_of_control(&config),
        out_of_reach(&config.run.thresholds, cases.len(), config.run.iterations),
    ];
    for problem in mismatches.into_iter().flatten() {
        let _ = writeln!(text, "mismatch: {problem}");
        exit = exit.min(Exit::Usage);
    }
    text.push_str(if exit == Exit::Success {
        "ready\n"
    } else {
        "not ready\n"
    });
    // Names come from a stranger's server: what a terminal would obey is not passed on.
    let text: String = text.chars().map(|c| if c == '\n' { c } else { harmless(c) }).collect();
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => exit,
        Err(_) => exit.min(Exit::Failure),
    }
}

fn shape(tool: &mcproctor_worker::probe::Tool) -> ToolShape {
    ToolShape {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
    }
}

fn describe(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Warning => "warning",
        Severity::Error => "refused",
    };
    let place = match (&finding.tool, finding.path.as_str()) {
        (None, _) => "tool list".to_owned(),
        (Some(tool), "") => format!("tool {tool}"),
        (Some(tool), path) => format!("tool {tool} at {path}"),
    };
    let agents: Vec<&str> = finding.agents.iter().map(|agent| agent.name()).collect();
    format!(
        "{severity}: {place}: {} ({}; {})\n",
        finding.what,
        agents.join(", "),
        finding.source
    )
}
