//! What both command lines have to do, each by its own name.

use mcproctor_proto::turn::TurnEnding;

use super::*;

pub(super) async fn two_turns(kind: AgentKind, level: SandboxLevel) {
    let scenario = "
scenarios:
  - when: weather
    steps:
      - ask: Which city?
      - say: I will look.
        call: {tool: get_current_weather, arguments: {city: Graz}}
      - answer: 'Found: {result}'
";
    let mut seat = Seat::take_at(level, kind, scenario, |_, _| ()).await;
    let first = seat.turn(0, "How is the weather?").await;
    assert_eq!(
        (first.ending, first.reply.as_str()),
        (TurnEnding::Completed, "Which city?"),
        "{}",
        seat.transcript()
    );
    assert!(first.resumable);
    let second = seat.turn(1, "Graz").await;
    assert_eq!(second.ending, TurnEnding::Completed, "{}", seat.transcript());
    assert!(
        second.reply.starts_with("Found: ") && second.reply.contains("Graz"),
        "{}",
        second.reply
    );
    assert_eq!((second.reported_calls, second.escapes.len()), (Some(1), 0));
    // Both turns are one conversation, and each is billed for itself: the second asked twice.
    assert_eq!(seat.model.requests().last().unwrap().iteration, Some(1));
    let (one, two) = (first.usage.output_tokens.unwrap(), second.usage.output_tokens.unwrap());
    assert!(one > 0 && two > 0, "{one} {two}");
    let offered = seat.offered(0);
    assert_eq!(
        offered.iter().filter(|tool| tool.contains("my__weather")).count(),
        3,
        "{offered:?}"
    );
    let own = [
        "Bash",
        "Write",
        "WebFetch",
        "exec_command",
        "shell",
        "view_image",
        "web_search",
    ];
    assert!(!offered.iter().any(|tool| own.contains(&tool.as_str())), "{offered:?}");
}

pub(super) async fn prompts(kind: AgentKind) {
    let mut seat = Seat::take(kind, "scenarios: [{when: ' end', steps: [{answer: whole}]}]", |_, _| ()).await;
    let long = format!("{} end", "x".repeat(200_000));
    assert_eq!(seat.turn(0, &long).await.reply, "whole", "{}", seat.transcript());
    let mut seat = Seat::take(
        kind,
        "scenarios: [{when: --help me, steps: [{answer: dashes}]}]",
        |_, _| (),
    )
    .await;
    assert_eq!(seat.turn(0, "--help me").await.reply, "dashes", "{}", seat.transcript());
}

pub(super) async fn slow_server(kind: AgentKind) {
    let scenario = "
scenarios:
  - when: cities
    steps: [{call: list_cities}, {answer: 'Found: {result}'}]
";
    // A first seat for its server and its model, a second one with a slow door in front of that server.
    let mut url = String::new();
    let seat = Seat::take(kind, scenario, |_, place| url.clone_from(&place.mcp_servers[0].1)).await;
    let url = slow_to_answer(&url, Duration::from_secs(3)).await;
    let model = seat.model.base_url();
    let mut late = Seat::take(kind, scenario, |_, place| {
        place.mcp_servers[0].1 = url;
        place.model_url = Some(model);
    })
    .await;
    let reading = late.turn(0, "Which cities?").await;
    assert!(reading.reply.contains("Vienna"), "{}", late.transcript());
    assert!(
        !reading
            .warnings
            .iter()
            .any(|warning| warning.contains("when the turn began")),
        "{:?}",
        reading.warnings
    );
}

pub(super) async fn refused_key(kind: AgentKind) {
    let scenario = "scenarios: [{when: hi, steps: [{status: 401, message: bad key}]}]";
    let mut seat = Seat::take(kind, scenario, |_, _| ()).await;
    let reading = seat.turn(0, "hi").await;
    assert_eq!(reading.ending, TurnEnding::AgentError, "{}", seat.transcript());
    assert_eq!(reading.refusal.unwrap().status, 401);
}

pub(super) async fn shell(kind: AgentKind) {
    let scenario = "scenarios: [{when: hi, steps: [{shell: echo escaped}, {answer: done}]}]";
    let mut seat = Seat::take(kind, scenario, |agent, _| agent.builtin_tools = BuiltinTools::Default).await;
    let reading = seat.turn(0, "hi").await;
    assert_eq!(reading.ending, TurnEnding::Completed, "{}", seat.transcript());
    assert_eq!(reading.escapes.len(), 1, "{:?}", reading.escapes);
    assert!(reading.escapes[0].what.contains("echo escaped"));
}

pub(super) async fn killed(kind: AgentKind, level: SandboxLevel) {
    let scenario = "scenarios: [{when: hi, steps: [{call: list_cities}, {hang: at-once}]}]";
    let mut seat = Seat::take_at(level, kind, scenario, |_, _| ()).await;
    let mut process = seat.start(0, "hi");
    loop {
        match tokio::time::timeout(PATIENCE, process.next()).await.unwrap() {
            Output::Line(line) => {
                seat.driver.line(&line);
                if String::from_utf8_lossy(&line).contains("Vienna") {
                    break;
                }
            }
            Output::Ended(end) => panic!("ended by itself: {end:?}\n{}", seat.transcript()),
        }
    }
    process.kill_tree().await;
    if level == SandboxLevel::Container {
        // An engine's command takes a moment longer, to see the container removed.
        let patience = Instant::now() + PATIENCE;
        while !processes_of(&seat).is_empty() && Instant::now() < patience {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    assert_eq!(processes_of(&seat), Vec::<PathBuf>::new());
    let end = process.wait().await;
    assert!(end.killed);
    let reading = seat.finish(end);
    assert_ne!(reading.ending, TurnEnding::Completed);
    assert_eq!(reading.reported_calls, Some(1));
    assert!(
        seat.transcript().contains("Vienna"),
        "what was printed before the kill is kept"
    );
}

pub(super) async fn missing_server(kind: AgentKind) {
    let scenario = "scenarios: [{when: hi, steps: [{answer: I have no tools.}]}]";
    let mut seat = Seat::take(kind, scenario, |_, place| {
        place.mcp_servers[0].1 = "http://127.0.0.1:1/mcp".to_owned()
    })
    .await;
    let reading = seat.turn(0, "hi").await;
    let told = reading.detail.unwrap_or_default() + &reading.warnings.concat();
    assert!(told.contains("my__weather"), "{}", seat.transcript());
}
