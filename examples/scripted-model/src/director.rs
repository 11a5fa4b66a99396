//! What comes next: the conversation, its scenario and the ledger decide; nothing is sent from here.

use crate::conversation::{Conversation, Mark};
use crate::ledger::{FaultAt, Ledger, Place};
use crate::reply::{Call, Reply, Usage};
use crate::scenario::{FaultKind, Play, Scenario, Scenarios, Turn};
use crate::template::Template;
use crate::tools;
use std::time::Duration;

/// What one request gets.
#[derive(Debug)]
pub(crate) struct Decision {
    /// None for a request outside any scenario.
    pub(crate) part: Option<Part>,
    pub(crate) delay: Duration,
    pub(crate) fault: Option<FaultKind>,
    /// The answer; with a fault, what would have been the answer.
    pub(crate) reply: Reply,
}

/// Which part of which scenario is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) scenario: String,
    pub(crate) play: String,
    pub(crate) iteration: u64,
    pub(crate) turn: usize,
}

/// Decides about one request and counts it.
pub(crate) fn decide(scenarios: &Scenarios, ledger: &mut Ledger, conversation: &Conversation) -> Decision {
    if conversation.side {
        return aside(conversation, "Scripted conversation");
    }
    let message = conversation.first_message();
    let matching = scenarios
        .list
        .iter()
        .enumerate()
        .find(|(_, scenario)| scenario.matches(&message));
    let Some((index, scenario)) = matching else {
        return aside(conversation, "No scenario matches this conversation.");
    };
    let place = ledger.place(index, conversation);
    let Some((name, play)) = scenario.play(place.iteration) else {
        return aside(conversation, "The scenario has no play for this iteration.");
    };
    let turn = conversation.turns();
    let part = Part {
        scenario: scenario.name.clone(),
        play: name.to_owned(),
        iteration: place.iteration,
        turn,
    };
    play_on(ledger, index, scenario, play, part, place, conversation)
}

fn play_on(
    ledger: &mut Ledger,
    index: usize,
    scenario: &Scenario,
    play: &Play,
    part: Part,
    place: Place,
    conversation: &Conversation,
) -> Decision {
    let done = Turn {
        text: Some("There is nothing more to say.".to_owned()),
        ..Turn::default()
    };
    let beat = play.beats.get(part.turn);
    let turn = beat.and_then(|beat| beat.turn.as_ref()).unwrap_or(&done);
    let mark = Mark {
        conversation: place.conversation,
        turn: part.turn,
        search: false,
    };
    let reply = reply(turn, mark, conversation, &Template::new(scenario, conversation));
    let faults = beat.map_or(&[][..], |beat| &beat.faults).iter().enumerate();
    for (fault_index, fault) in faults {
        let at = FaultAt {
            scenario: index,
            play: &part.play,
            beat: part.turn,
            fault: fault_index,
        };
        if ledger.strikes(at, place, fault.counted, fault.times) {
            ledger.refused(place);
            return Decision {
                part: Some(part),
                delay: fault.delay,
                fault: Some(fault.kind.clone()),
                reply,
            };
        }
    }
    Decision {
        part: Some(part),
        delay: turn.delay,
        fault: None,
        reply,
    }
}

fn reply(turn: &Turn, mut mark: Mark, conversation: &Conversation, template: &Template<'_>) -> Reply {
    let said = turn.text.as_deref().map(|text| template.text(text));
    let (text, targets) = match tools::resolve(&turn.uses, &conversation.tools, template) {
        Ok(targets) => (said, targets),
        Err(missing) => {
            let searched = conversation.mark() == Some(Mark { search: true, ..mark });
            let search = tools::search(&turn.uses, &conversation.tools).filter(|_| !searched);
            mark.search = search.is_some();
            let text = (!mark.search).then(|| missing.text());
            (text, search.into_iter().collect())
        }
    };
    let call = |(index, target)| Call {
        id: mark.call_id(index),
        target,
    };
    let calls: Vec<_> = targets.into_iter().enumerate().map(call).collect();
    Reply {
        id: format!(
            "c{}_t{}{}",
            mark.conversation,
            mark.turn,
            if mark.search { "_s" } else { "" }
        ),
        model: conversation.model.clone(),
        refusal: turn.refusal,
        usage: Usage::of(conversation.bytes, mark.turn, text.as_deref(), &calls),
        text,
        calls,
        pace: turn.pace,
    }
}

/// A short answer that belongs to no scenario and counts nowhere.
fn aside(conversation: &Conversation, text: &str) -> Decision {
    let reply = Reply {
        id: "aside".to_owned(),
        model: conversation.model.clone(),
        text: Some(text.to_owned()),
        refusal: false,
        calls: Vec::new(),
        usage: Usage::of(conversation.bytes, 0, Some(text), &[]),
        pace: Duration::ZERO,
    };
    Decision {
        part: None,
        delay: Duration::ZERO,
        fault: None,
        reply,
    }
}

#[cfg(test)]
mod tests;
