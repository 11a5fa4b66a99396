//! Replays a made-up run in this terminal, to look at how it is shown.
//!
//! `cargo run -p mcproctor --example ui_replay -- [CASES [ITERATIONS [SLOTS [SPEED [AGENTS [tui|plain|json]]]]]]`

use std::sync::Arc;
use std::time::Duration;

use mcproctor::clock::{Clock, ManualClock};
use mcproctor::event::{Envelope, Event};
use mcproctor::record::RunState;
use mcproctor::ui::{Mode, Options, OutputChoice, StopRequest, Surroundings, start};
use mcproctor::{event, judge, outcome, record};
use tokio::sync::mpsc;

#[path = "../src/ui/sample.rs"]
mod sample;

/// Wall time of one step.
const STEP: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u32| -> anyhow::Result<u32> {
        Ok(arguments.get(index).map_or(Ok(default), |text| text.parse())?)
    };
    let mut sample = sample::Sample::new(number(0, 3)? as usize, number(1, 2)?, number(2, 2)?);
    let speed = i64::from(number(3, 1)?);
    sample.agents = (1..=number(4, 1)?).map(|n| format!("agent-{n}")).collect();
    let choice = match arguments.get(5).map(String::as_str) {
        Some("tui") => Some(OutputChoice::Tui),
        Some("plain") => Some(OutputChoice::Plain),
        Some("json") => Some(OutputChoice::Json),
        _ => None,
    };

    let clock = ManualClock::at(sample::START);
    let (stop, mut stops) = mpsc::unbounded_channel();
    let (sender, events) = mpsc::unbounded_channel();
    let resume = Some("mcproctor run -c examples/eval.yaml --resume".to_owned());
    let options = Options {
        stop,
        resume,
        clock: Arc::new(clock.clone()),
    };
    let ui = start(Mode::choose(choice, &Surroundings::of_this_process()), events, options)?;

    let mut all = sample.events().into_iter().peekable();
    while all.peek().is_some() {
        tokio::time::sleep(STEP).await;
        clock.advance(i64::try_from(STEP.as_millis())? * speed);
        let now = clock.now_unix_ms();
        while let Some(envelope) = all.next_if(|envelope| envelope.at <= now) {
            sender.send(envelope)?;
        }
        match stops.try_recv() {
            Ok(StopRequest::Clean) => {
                sender.send(Envelope {
                    at: now,
                    event: Event::Stopping {
                        reason: "interrupted".to_owned(),
                    },
                })?;
                tokio::time::sleep(Duration::from_secs(2)).await;
                let finished = Event::RunFinished {
                    run: sample.run().id,
                    state: RunState::Aborted,
                };
                sender.send(Envelope {
                    at: now,
                    event: finished,
                })?;
                break;
            }
            Ok(StopRequest::Hard) => break,
            Err(_) => {}
        }
    }
    drop(sender);
    ui.finished().await?;
    Ok(())
}
