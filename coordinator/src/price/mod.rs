//! What models cost: a dated list of the makers' own prices, and the user's in place of them.
//!
//! A model that is in neither has no known price, and then nothing has a known cost: unknown is never nothing.

mod list;
mod prices;

pub use list::{ListPrice, listed};
pub use prices::{KnownPrice, Prices};
