//! Requests of an agent that were not passed on. Relay and proxy note them; a turn is told of them.

use std::sync::{Mutex, PoisonError};

use http::{Method, Uri};

/// Requests that are kept until they are asked for; of further ones only the number is told.
const KEPT: usize = 20;

/// Characters that are kept of an address.
const SHOWN: usize = 200;

/// What one relay or one proxy refused.
#[derive(Debug, Default)]
pub(crate) struct Refused(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    requests: Vec<String>,
    further: usize,
}

impl Refused {
    /// Notes a request, without its query.
    pub(crate) fn note(&self, method: &Method, address: &Uri) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.requests.len() == KEPT {
            noted.further = noted.further.saturating_add(1);
            return;
        }
        let host = address.authority().map_or("", |authority| authority.as_str());
        let address: String = host.chars().chain(address.path().chars()).take(SHOWN).collect();
        noted.requests.push(format!("{method} {address}"));
    }

    /// What was refused since this was last asked.
    pub(crate) fn take(&self) -> Vec<String> {
        let Noted { mut requests, further } =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if further > 0 {
            requests.push(format!("{further} further requests"));
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn requests_are_told_once_without_their_query_and_not_without_end() {
        let refused = Refused::default();
        let note = |method, address: &str| refused.note(&method, &address.parse().unwrap());
        note(Method::GET, "/v1/files?key=secret");
        note(Method::CONNECT, "example.com:443");
        assert_eq!(refused.take(), ["GET /v1/files", "CONNECT example.com:443"]);
        assert!(refused.take().is_empty());
        for _ in 0..KEPT + 3 {
            note(Method::GET, "/x");
        }
        let told = refused.take();
        assert_eq!(told.len(), KEPT + 1);
        assert_eq!(told.last().unwrap(), "3 further requests");
    }
}
