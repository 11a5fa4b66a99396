//! What the judge is asked: the instructions, and the evidence of one attempt.
//!
//! Everything that agents, tools and servers said is material: it stands between marks that it cannot forge, its size is
//! bounded with a word about what is left out, and it holds no secret of the config.

mod evidence;
mod fence;
mod question;

pub(super) use question::{Message, Question, Role, choice, opinion, repair, tone};
