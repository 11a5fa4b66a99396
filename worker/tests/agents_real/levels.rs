//! The real command lines at the levels that confine, under whatever user runs the tests and under an ordinary one.

use std::process::Command;

use mcproctor_proto::turn::TurnEnding;
use mcproctor_worker::sandbox::ability;

use super::*;
use crate::again::{Again, ordinary_user};

/// Names the worker's program where the tests were copied to another place.
pub(super) const LAUNCHER: &str = "MCPROCTOR_TEST_LAUNCHER";

fn require(level: SandboxLevel) {
    if let Err(why) = ability(level, DEFAULT_IMAGE) {
        panic!("this machine cannot hold an agent in `{level}`: {why}");
    }
}

async fn everything(kind: AgentKind, level: SandboxLevel) {
    require(level);
    both::two_turns(kind, level).await;
    own_shell(kind, level).await;
    both::killed(kind, level).await;
}

/// The agent's own shell works, and is as confined as the agent.
async fn own_shell(kind: AgentKind, level: SandboxLevel) {
    let host = tempfile::tempdir().unwrap();
    let secret = host.path().join("secret");
    fs::write(&secret, "planted").unwrap();
    let secret = secret.display();
    let scenario = format!(
        "
scenarios:
  - when: hi
    steps:
      - call: list_cities
      - shell: 'echo out-$((40+2)); cat {secret} || echo refused; echo x > {secret}.new || echo closed; echo x > file && echo open'
      - answer: 'Shell: {{result}}'
"
    );
    let mut seat = Seat::take_at(level, kind, &scenario, |agent, _| {
        agent.builtin_tools = BuiltinTools::Default;
        if kind == AgentKind::Claude {
            agent.args = ["--permission-mode", "bypassPermissions"].map(str::to_owned).to_vec();
            agent.env.insert("IS_SANDBOX".to_owned(), SecretString::from("1"));
        }
    })
    .await;
    let reading = seat.turn(0, "hi").await;
    assert_eq!(reading.ending, TurnEnding::Completed, "{}", seat.transcript());
    assert_eq!(
        (reading.reported_calls, reading.escapes.len()),
        (Some(1), 1),
        "{}",
        seat.transcript()
    );
    for said in ["out-42", "refused", "closed", "open"] {
        assert!(reading.reply.contains(said), "{said}: {}", reading.reply);
    }
    assert!(!seat.transcript().contains("planted"), "{}", seat.transcript());
    assert_eq!(fs::read_dir(host.path()).unwrap().count(), 1);
}

mod landlock {
    use super::*;

    #[tokio::test]
    async fn claude_works_and_is_confined() {
        everything(AgentKind::Claude, SandboxLevel::Landlock).await;
    }

    #[tokio::test]
    async fn codex_works_and_is_confined() {
        everything(AgentKind::Codex, SandboxLevel::Landlock).await;
    }
}

mod bubblewrap {
    use super::*;

    #[tokio::test]
    async fn claude_works_and_is_confined() {
        everything(AgentKind::Claude, SandboxLevel::Bubblewrap).await;
    }

    #[tokio::test]
    async fn codex_works_and_is_confined() {
        everything(AgentKind::Codex, SandboxLevel::Bubblewrap).await;
    }
}

mod container {
    use super::*;

    #[tokio::test]
    async fn claude_works_and_is_confined() {
        everything(AgentKind::Claude, SandboxLevel::Container).await;
    }

    #[tokio::test]
    async fn codex_works_and_is_confined() {
        everything(AgentKind::Codex, SandboxLevel::Container).await;
    }
}

/// Runs the tests above at `level` as an ordinary user.
fn again_as_nobody(level: &str) {
    let again = Again::new();
    let program = again.copy(&launcher().program, "mcproctor-worker");
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/agents/node_modules");
    assert!(agents.exists(), "install the agents: npm ci --prefix docker/agents");
    // Second names where the file system has them; copies take a while.
    let copied = ["-al", "-a"].into_iter().any(|how| {
        let copying = Command::new("cp").arg(how).arg(&agents).arg(again.path()).output();
        copying.unwrap().status.success()
    });
    assert!(copied);
    let bin = again.path().join("node_modules/.bin");
    let (claude, codex) = (bin.join("claude"), bin.join("codex"));
    // Not the temporary folder itself, where codex refuses to run its helpers.
    let places = again.open_folder("places");
    let env = [
        (LAUNCHER, program.as_os_str()),
        ("MCPROCTOR_CLAUDE", claude.as_os_str()),
        ("MCPROCTOR_CODEX", codex.as_os_str()),
    ];
    again.run(
        ordinary_user("--clear-groups"),
        &format!("levels::{level}::"),
        &places,
        &env,
    );
}

#[test]
fn they_work_as_an_ordinary_user_at_landlock() {
    again_as_nobody("landlock");
}

#[test]
fn they_work_as_an_ordinary_user_at_bubblewrap() {
    again_as_nobody("bubblewrap");
}
