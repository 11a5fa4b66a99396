//! What a child writes besides messages: the end of it is kept.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use secrecy::{ExposeSecret, SecretString};

/// How much is kept, in bytes.
const LIMIT: usize = 64 * 1024;

/// The tail of a log, without the secrets of the child's environment.
pub(super) struct Log {
    tail: Mutex<VecDeque<u8>>,
    secrets: Vec<SecretString>,
}

impl Log {
    pub(super) fn new(env: &BTreeMap<String, SecretString>) -> Self {
        // Short values are words like `1` or `true`: taking them out would make the log unreadable and hide nothing.
        let secrets = env
            .values()
            .filter(|value| value.expose_secret().len() >= 6)
            .cloned()
            .collect();
        Self {
            tail: Mutex::new(VecDeque::new()),
            secrets,
        }
    }

    /// Adds a line.
    pub(super) fn line(&self, line: &[u8]) {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&line[line.len().saturating_sub(LIMIT)..]);
        tail.push_back(b'\n');
        let surplus = tail.len().saturating_sub(LIMIT);
        tail.drain(..surplus);
    }

    /// The end of the log.
    pub(super) fn text(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, second) = tail.as_slices();
        let text = String::from_utf8_lossy(&[first, second].concat()).into_owned();
        self.secrets
            .iter()
            .fold(text, |text, secret| text.replace(secret.expose_secret(), "[redacted]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_secrets_are_not() {
        let env = BTreeMap::from([
            ("TOKEN".to_owned(), SecretString::from("sentinel".to_owned())),
            ("DEBUG".to_owned(), SecretString::from("1".to_owned())),
        ]);
        let log = Log::new(&env);
        log.line(&vec![b'x'; 3 * LIMIT]);
        log.line(b"listening as sentinel, level 1");
        let text = log.text();
        assert_eq!(text.len(), LIMIT + "[redacted]".len() - "sentinel".len());
        assert!(text.ends_with("xx\nlistening as [redacted], level 1\n"));
    }
}
