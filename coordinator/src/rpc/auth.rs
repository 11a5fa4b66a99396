//! Who may call: a token per worker process.

use std::sync::{Arc, Mutex, PoisonError};

use secrecy::SecretString;
use sha2::{Digest, Sha256};
use tonic::{Request, Status};

/// The metadata key that carries the token.
const HEADER: &str = "authorization";

/// The tokens that open this coordinator's services. Only their hashes are kept.
#[derive(Clone, Default)]
pub struct Tokens(Arc<Mutex<Vec<[u8; 32]>>>);

impl Tokens {
    /// Makes a new token and lets it in.
    pub fn issue(&self) -> SecretString {
        let token = hex::encode(rand::random::<[u8; 32]>());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(hash(&token));
        SecretString::from(token)
    }

    /// Lets a request in, or refuses it without saying which part was wrong.
    pub(super) fn check<T>(&self, request: &Request<T>) -> Result<(), Status> {
        let refused = || Status::unauthenticated("a valid worker token is needed");
        let header = request.metadata().get(HEADER).ok_or_else(refused)?;
        let token = header
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix("Bearer "))
            .ok_or_else(refused)?;
        // Hashes are compared, so the time it takes says nothing about a token.
        let hash = hash(token);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&hash);
        if known { Ok(()) } else { Err(refused()) }
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}
