//! One turn: start the agent, read what it prints, end it in time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcproctor_proto::assignment::Assignment;
use mcproctor_proto::traffic::RefusalKind;
use mcproctor_proto::turn::{Escape, EscapeKind, Turn, TurnEnding, Usage};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::seat::Seat;
use crate::agent::{Exit, Invocation};
use crate::sandbox::{Limits, Output, ProcessEnd, Spec};
use mcproctor_proto::redact::Redactor;

/// How often silence is looked for.
const WATCH: Duration = Duration::from_millis(500);
/// How long what was printed may still be read after a kill.
const GRACE: Duration = Duration::from_secs(10);

/// How long an agent may go on after a refusal that no retry gets over; some command lines try again for minutes.
const REFUSED_GRACE: Duration = Duration::from_secs(3);

/// Why the harness ended a turn.
enum Cut {
    OutOfTime,
    Silent,
    Refused,
    Limited,
    Cancelled,
}

/// Runs a turn to its end, whatever that is.
pub(super) async fn run_turn(
    seat: &mut Seat,
    assignment: &Assignment,
    index: u32,
    prompt: String,
    cancel: &CancellationToken,
) -> Turn {
    let begun = Instant::now();
    let mut turn = Turn {
        index,
        prompt,
        reply: String::new(),
        ending: TurnEnding::Machinery,
        detail: None,
        started_at_unix_ms: unix_ms(),
        duration_ms: 0,
        usage: Usage::default(),
        escapes: Vec::new(),
        warnings: Vec::new(),
        model: None,
        reported_calls: None,
        model_refusal: None,
    };
    for endpoint in &seat.endpoints {
        endpoint.proxy.set_turn(index);
    }
    match start(seat, index, &turn.prompt) {
        Err(reason) => turn.detail = Some(reason),
        Ok(mut process) => {
            let (end, cut) = attend(seat, assignment, &mut process, cancel).await;
            read(seat, &mut turn, &end, cut.as_ref());
        }
    }
    redact(&mut turn, &seat.redactor);
    turn.duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    turn
}

fn start(seat: &mut Seat, index: u32, prompt: &str) -> Result<crate::sandbox::RunningProcess, String> {
    let invocation = seat
        .driver
        .invocation(index, prompt)
        .map_err(|error| format!("failed to prepare the agent: {error}"))?;
    let Invocation {
        program,
        args,
        env,
        path,
        stdin,
        cwd,
        files,
    } = invocation;
    let failed = |error: crate::sandbox::SandboxError| format!("failed to {error}");
    for file in &files {
        seat.sandbox.write(&file.path, &file.contents).map_err(failed)?;
    }
    let spec = Spec {
        program,
        args,
        env,
        path,
        reads: seat.named_files.clone(),
        stdin,
        cwd,
    };
    let limits = Limits {
        resources: seat.resources,
        ..Limits::default()
    };
    seat.sandbox.start(&spec, &seat.output, limits).map_err(failed)
}

/// Reads the agent's output until it ends or has to be ended.
async fn attend(
    seat: &mut Seat,
    assignment: &Assignment,
    process: &mut crate::sandbox::RunningProcess,
    cancel: &CancellationToken,
) -> (ProcessEnd, Option<Cut>) {
    let begun = Instant::now();
    let held_before = held(seat);
    let mut deadline = begun + assignment.turn_timeout;
    let mut last_line = Instant::now();
    let mut watch = tokio::time::interval(WATCH);
    let mut refused_since: Option<Instant> = None;
    let mut cut = None;
    loop {
        tokio::select! {
            output = process.next() => match output {
                Output::Line(line) => {
                    last_line = Instant::now();
                    seat.driver.line(&line);
                }
                Output::Ended(end) => return (end, cut),
            },
            () = tokio::time::sleep_until(deadline), if cut.is_none() => {
                // The run's own rate held requests back for so long: that time is not the agent's.
                let extended = begun + assignment.turn_timeout + held(seat).saturating_sub(held_before);
                if extended > Instant::now() {
                    deadline = extended;
                } else {
                    cut = Some(Cut::OutOfTime);
                }
            }
            () = cancel.cancelled(), if cut.is_none() => cut = Some(Cut::Cancelled),
            _ = watch.tick(), if cut.is_none() => {
                match refused_for_good(seat) {
                    Some(refused) => {
                        if refused_since.get_or_insert_with(Instant::now).elapsed() > REFUSED_GRACE {
                            cut = Some(refused);
                        }
                    }
                    None => refused_since = None,
                }
                if silent_for(seat, last_line) > assignment.idle_timeout {
                    cut = Some(Cut::Silent);
                }
            }
        }
        if cut.is_some() {
            for endpoint in &seat.endpoints {
                endpoint.proxy.agent_is_being_stopped();
            }
            process.kill_tree().await;
            return (drain(seat, process).await, cut);
        }
    }
}

/// What a killed agent had printed before.
async fn drain(seat: &mut Seat, process: &mut crate::sandbox::RunningProcess) -> ProcessEnd {
    let rest = async {
        loop {
            match process.next().await {
                Output::Line(line) => drop(seat.driver.line(&line)),
                Output::Ended(end) => return end,
            }
        }
    };
    match tokio::time::timeout(GRACE, rest).await {
        Ok(end) => end,
        Err(_) => ProcessEnd {
            code: None,
            signal: None,
            killed: true,
            output_fault: Some("the agent's processes could not be ended".to_owned()),
            out_of_memory: false,
            sandbox_fault: None,
            leftovers: 0,
            stderr_tail: String::new(),
            duration: GRACE,
        },
    }
}

/// Whether the model, or the relay before it, said no in a way that will not change while the agent tries again.
fn refused_for_good(seat: &Seat) -> Option<Cut> {
    let traffic = seat.relay.as_ref()?.traffic();
    if traffic.limited_requests > 0 {
        return Some(Cut::Limited);
    }
    let for_good = matches!(
        traffic.refusal?.kind(),
        RefusalKind::Credential
            | RefusalKind::NoSuchModel
            | RefusalKind::Quota
            | RefusalKind::Limit
            | RefusalKind::Gateway
    );
    for_good.then_some(Cut::Refused)
}

/// For how long requests were held back so far to keep to the run's rate.
fn held(seat: &Seat) -> Duration {
    let relay = seat.relay.as_ref();
    relay.map_or(Duration::ZERO, |relay| Duration::from_millis(relay.traffic().held_ms))
}

/// How long nothing has happened, with nothing outstanding that would explain it.
fn silent_for(seat: &Seat, last_line: Instant) -> Duration {
    let busy = seat.endpoints.iter().any(|endpoint| endpoint.proxy.open_calls() > 0)
        || seat.relay.as_ref().is_some_and(|relay| relay.open_requests() > 0);
    if busy {
        return Duration::ZERO;
    }
    let mut quiet = last_line.elapsed();
    for endpoint in &seat.endpoints {
        quiet = quiet.min(endpoint.proxy.last_activity().elapsed());
    }
    if let Some(relay) = &seat.relay {
        quiet = quiet.min(relay.last_activity().elapsed());
    }
    quiet
}

fn read(seat: &mut Seat, turn: &mut Turn, end: &ProcessEnd, cut: Option<&Cut>) {
    let exit = Exit {
        code: end.code,
        signal: end.signal,
        output_fault: end.output_fault.clone(),
        stderr_tail: end.stderr_tail.clone(),
    };
    let reading = seat.driver.finish(&exit);
    turn.reply = reading.reply;
    turn.ending = reading.ending;
    turn.detail = reading.detail;
    turn.usage = reading.usage;
    turn.escapes = reading.escapes;
    turn.escapes.extend(refused(seat, turn.index));
    turn.warnings = reading.warnings;
    turn.model = reading.model;
    turn.reported_calls = reading.reported_calls;
    turn.model_refusal = reading.refusal;
    if end.leftovers > 0 {
        turn.warnings.push(format!(
            "{} processes outlived the agent and were killed",
            end.leftovers
        ));
    }
    let seconds = end.duration.as_secs_f64();
    match cut {
        Some(Cut::Cancelled) => {
            turn.ending = TurnEnding::Cancelled;
            turn.detail = Some("the run was stopped".to_owned());
        }
        Some(Cut::OutOfTime) => {
            turn.ending = TurnEnding::TimedOut;
            turn.detail = Some(format!("the time limit was reached after {seconds:.1} s"));
        }
        Some(Cut::Silent) => {
            turn.ending = TurnEnding::TimedOut;
            turn.detail = Some(format!(
                "the agent went silent, with no model request and no tool call open, and was ended after {seconds:.1} s"
            ));
        }
        Some(Cut::Refused) => {
            turn.ending = TurnEnding::AgentError;
            turn.detail = Some("the model refused the agent for good, and its retries were cut short".to_owned());
        }
        Some(Cut::Limited) => {
            turn.ending = TurnEnding::AgentError;
            turn.detail = Some("it had used up what it may of the model, and its retries were cut short".to_owned());
        }
        None if end.sandbox_fault.is_some() => {
            turn.ending = TurnEnding::Machinery;
            turn.detail.clone_from(&end.sandbox_fault);
        }
        None if end.out_of_memory => {
            turn.ending = TurnEnding::Machinery;
            turn.detail = Some("the agent was killed for want of memory".to_owned());
        }
        None => {}
    }
}

/// What the agent asked relay and proxies for that they did not pass on.
fn refused(seat: &Seat, turn: u32) -> impl Iterator<Item = Escape> {
    let by_relay = seat.relay.iter().map(|relay| ("the relay", relay.take_refused()));
    let proxies = seat.endpoints.iter();
    let by_proxies = proxies.map(|endpoint| ("the proxy", endpoint.proxy.take_refused()));
    by_relay.chain(by_proxies).flat_map(move |(who, requests)| {
        requests.into_iter().map(move |request| Escape {
            kind: EscapeKind::Refused,
            what: format!("{request} (refused by {who})"),
            turn,
        })
    })
}

/// Takes the secrets out of what the agent said, which may repeat what a tool or its environment told it. The prompt is the
/// test case's own.
fn redact(turn: &mut Turn, redactor: &Redactor) {
    let refusal = turn.model_refusal.iter_mut().map(|refusal| &mut refusal.message);
    let escapes = turn.escapes.iter_mut().map(|escape| &mut escape.what);
    let texts = turn
        .detail
        .iter_mut()
        .chain(&mut turn.warnings)
        .chain(escapes)
        .chain(refusal);
    for text in texts.chain([&mut turn.reply]) {
        *text = redactor.text(std::mem::take(text));
    }
}

pub(super) fn unix_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
