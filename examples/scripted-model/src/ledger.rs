//! What has to be remembered between requests: which conversations there are, and how often faults have struck.

use crate::conversation::{Conversation, Entry};
use crate::scenario::Counted;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A conversation and its place among those of its scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the conversation in this endpoint, from 1.
    pub(crate) conversation: u64,
    /// Number of the conversation in its scenario, from 1, in order of arrival.
    pub(crate) iteration: u64,
}

/// Everything remembered.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    known: HashMap<u64, Known>,
    by_session: HashMap<(usize, String), u64>,
    /// Conversations without a session of their own, by what their last request held, oldest first.
    by_history: HashMap<(usize, u64), Vec<u64>>,
    iterations: HashMap<usize, u64>,
    strikes: HashMap<Strike, u64>,
}

#[derive(Debug)]
struct Known {
    place: Place,
    scenario: usize,
    /// The last request, if the conversation has no session.
    history: Option<u64>,
    refused: bool,
}

/// What a fault's count belongs to.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Strike {
    scenario: usize,
    conversation: Option<u64>,
    play: String,
    beat: usize,
    fault: usize,
}

impl Ledger {
    /// Which conversation a request belongs to; a new one gets the next number of its scenario.
    ///
    /// A conversation is known, in this order, by the mark in its tool calls, by the session the agent names, and
    /// without either by what was said: a request that repeats a refused one is the agent's retry, one that goes on
    /// after what another held is that one's next turn.
    pub(crate) fn place(&mut self, scenario: usize, conversation: &Conversation) -> Place {
        let history = conversation.session.is_none().then(|| hash(&conversation.entries));
        let number = self
            .find(scenario, conversation, history)
            .unwrap_or_else(|| self.open(scenario));
        if let Some(session) = &conversation.session {
            self.by_session.insert((scenario, session.clone()), number);
        }
        self.remember(number, history)
    }

    fn find(&self, scenario: usize, conversation: &Conversation, history: Option<u64>) -> Option<u64> {
        let marked = conversation.mark().map(|mark| mark.conversation);
        let marked = marked.filter(|number| self.known.get(number).is_some_and(|known| known.scenario == scenario));
        if marked.is_some() {
            return marked;
        }
        if let Some(session) = &conversation.session {
            return self.by_session.get(&(scenario, session.clone())).copied();
        }
        let at = |history| {
            self.by_history
                .get(&(scenario, history))
                .map_or(&[][..], Vec::as_slice)
                .iter()
        };
        let refused = |number: &&u64| self.known.get(number).is_some_and(|known| known.refused);
        let retried = at(history?).find(refused);
        retried
            .or_else(|| at(hash(before_last_turn(&conversation.entries)?)).next())
            .copied()
    }

    fn open(&mut self, scenario: usize) -> u64 {
        let number = self.known.len() as u64 + 1;
        let iteration = self.iterations.entry(scenario).or_default();
        *iteration += 1;
        let place = Place {
            conversation: number,
            iteration: *iteration,
        };
        self.known.insert(
            number,
            Known {
                place,
                scenario,
                history: None,
                refused: false,
            },
        );
        number
    }

    fn remember(&mut self, number: u64, history: Option<u64>) -> Place {
        let Some(known) = self.known.get_mut(&number) else {
            return Place {
                conversation: number,
                iteration: 1,
            };
        };
        known.refused = false;
        if known.history != history {
            if let Some(waiting) = known
                .history
                .and_then(|old| self.by_history.get_mut(&(known.scenario, old)))
            {
                waiting.retain(|other| *other != number);
            }
            if let Some(history) = history {
                self.by_history
                    .entry((known.scenario, history))
                    .or_default()
                    .push(number);
            }
            known.history = history;
        }
        known.place
    }

    /// Notes that the conversation's request was not answered, so that its repetition is a retry.
    pub(crate) fn refused(&mut self, place: Place) {
        if let Some(known) = self.known.get_mut(&place.conversation) {
            known.refused = true;
        }
    }

    /// Counts a fault, and says whether it still strikes.
    pub(crate) fn strikes(&mut self, at: FaultAt<'_>, place: Place, counted: Counted, times: Option<u64>) -> bool {
        let conversation = (counted == Counted::PerConversation).then_some(place.conversation);
        let FaultAt {
            scenario,
            play,
            beat,
            fault,
        } = at;
        let strike = Strike {
            scenario,
            conversation,
            play: play.to_owned(),
            beat,
            fault,
        };
        let count = self.strikes.entry(strike).or_default();
        if times.is_some_and(|times| *count >= times) {
            return false;
        }
        *count += 1;
        true
    }
}

/// Where a fault stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaultAt<'a> {
    pub(crate) scenario: usize,
    pub(crate) play: &'a str,
    pub(crate) beat: usize,
    pub(crate) fault: usize,
}

/// What the request before this one held: everything before the model's last turn.
fn before_last_turn(entries: &[Entry]) -> Option<&[Entry]> {
    let is_model = |entry: &Entry| matches!(entry, Entry::Model(_));
    let last = entries.iter().rposition(is_model)?;
    let first = entries[..last]
        .iter()
        .rposition(|entry| !is_model(entry))
        .map_or(0, |index| index + 1);
    entries.get(..first)
}

fn hash(entries: &[Entry]) -> u64 {
    let mut hasher = DefaultHasher::new();
    entries.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(session: Option<&str>, entries: &[Entry]) -> Conversation {
        Conversation {
            session: session.map(str::to_owned),
            entries: entries.to_vec(),
            ..Conversation::default()
        }
    }

    fn said(text: &str) -> Entry {
        Entry::User(text.to_owned())
    }

    #[test]
    fn sessions_count_as_iterations_in_order_of_arrival() {
        let mut ledger = Ledger::default();
        let place = |ledger: &mut Ledger, session| ledger.place(0, &request(Some(session), &[said("hi")])).iteration;
        assert_eq!(place(&mut ledger, "a"), 1);
        assert_eq!(place(&mut ledger, "b"), 2);
        assert_eq!(place(&mut ledger, "a"), 1);
    }

    #[test]
    fn the_retry_of_a_refused_request_is_no_new_iteration() {
        let mut ledger = Ledger::default();
        let first = ledger.place(0, &request(None, &[said("hi")]));
        ledger.refused(first);
        assert_eq!(ledger.place(0, &request(None, &[said("hi")])), first);
        assert_eq!(ledger.place(0, &request(None, &[said("hi")])).iteration, 2);
    }

    #[test]
    fn a_conversation_without_a_session_goes_on_where_it_stood() {
        let mut ledger = Ledger::default();
        let first = ledger.place(0, &request(None, &[said("hi")]));
        let next = [said("hi"), Entry::Model(None), said("Vienna")];
        assert_eq!(ledger.place(0, &request(None, &next)), first);
        assert_eq!(ledger.place(0, &request(None, &[said("hi")])).iteration, 2);
    }
}
