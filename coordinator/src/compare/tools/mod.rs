//! How the tools of a server differ between the sides: the likeliest reason why agents behave otherwise.

mod change;
mod lists;
mod piece;
mod value;

pub use change::{ToolChange, ToolChangeKind};
pub use lists::ToolLists;
pub use piece::{Piece, PieceKind};
pub use value::FieldChange;

pub(super) use change::tool_changes;
