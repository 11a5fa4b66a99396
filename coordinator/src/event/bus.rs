//! One place to say what happened, any number of listeners.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::kinds::{Envelope, Event};
use crate::clock::Clock;

/// Where events are said. Listeners that have gone are forgotten; none can slow a run.
#[derive(Clone)]
pub struct Events {
    clock: Arc<dyn Clock>,
    listeners: Vec<UnboundedSender<Envelope>>,
}

impl Events {
    /// A bus without listeners.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            listeners: Vec::new(),
        }
    }

    /// A new listener; it hears what is said through this value and the clones made of it from now on.
    pub fn listen(&mut self) -> UnboundedReceiver<Envelope> {
        let (sender, receiver) = unbounded_channel();
        self.listeners.push(sender);
        receiver
    }

    /// Says that something happened now.
    pub fn say(&self, event: Event) {
        let envelope = Envelope {
            at: self.clock.now_unix_ms(),
            event,
        };
        for listener in &self.listeners {
            // A listener that is gone does not want to know.
            let _ = listener.send(envelope.clone());
        }
    }
}
