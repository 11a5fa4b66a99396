//! How the tools of a server differ between the sides: the likeliest reason why agents behave otherwise.

mod change;
mod lists;
mod piece;

pub use change::{ToolChange, ToolChangeKind};
pub use lists::ToolLists;
pub use piece::{Piece, PieceKind};

pub(super) use change::tool_changes;
