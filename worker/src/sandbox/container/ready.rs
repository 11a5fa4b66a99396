//! Whether this machine can do it.

use std::sync::{Mutex, PoisonError};

use super::engine::Engine;
use crate::sandbox::ability::{self, Unavailable};
use crate::sandbox::limits::Enforced;

/// What is there for a container.
#[derive(Clone, Debug)]
pub(in crate::sandbox) struct Ready {
    pub(super) engine: Engine,
    version: String,
    /// The name of the image, and the id that it had when it was first asked for.
    image: (String, String),
}

impl Ready {
    /// The id of the image.
    pub(in crate::sandbox) fn image(&self) -> &str {
        &self.image.1
    }

    /// Which limits the engine enforces.
    pub(in crate::sandbox) fn enforced(&self) -> Enforced {
        self.engine.enforced()
    }
}

/// What the level holds, for people.
pub(in crate::sandbox) fn describe(ready: &Ready) -> String {
    let (name, id) = &ready.image;
    let short: String = id.rsplit(':').next().unwrap_or_default().chars().take(12).collect();
    format!(
        "{} {}, image {name} ({short}): no network, a read-only system",
        ready.engine.name(),
        ready.version
    )
}

/// An engine that answers and has the image. Asked for once; an engine that was not there may be there the next time.
pub(in crate::sandbox) fn ready(image: &str) -> Result<Ready, Unavailable> {
    static KNOWN: Mutex<Vec<Ready>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|ready| ready.image.0 == image) {
        return Ok(found.clone());
    }
    ability::filter()?;
    let (engine, version) = Engine::find()?;
    let id = engine.image(image)?;
    let ready = Ready {
        engine,
        version,
        image: (image.to_owned(), id),
    };
    known.push(ready.clone());
    Ok(ready)
}
