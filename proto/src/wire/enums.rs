//! Enumerations, one to one.

use super::malformed::Malformed;
use crate::call::CallState;
use crate::turn::{EscapeKind, TurnEnding};
use crate::v1;

macro_rules! one_to_one {
    ($field:literal, $ours:ident, $theirs:ident { $($variant:ident),+ $(,)? }) => {
        impl From<$ours> for v1::$theirs {
            fn from(value: $ours) -> Self {
                match value { $($ours::$variant => Self::$variant),+ }
            }
        }

        impl $ours {
            pub(super) fn from_wire(value: i32) -> Result<Self, Malformed> {
                match v1::$theirs::try_from(value) {
                    $(Ok(v1::$theirs::$variant) => Ok(Self::$variant),)+
                    Ok(v1::$theirs::Unspecified) => Err(Malformed::missing($field)),
                    Err(_) => Err(Malformed::unknown($field, value)),
                }
            }
        }
    };
}

one_to_one!(
    "state",
    CallState,
    CallState {
        Ok,
        ToolError,
        ProtocolError,
        HttpError,
        Cancelled,
        TransportLost,
        Suspended,
        NeverFinished
    }
);
one_to_one!(
    "ending",
    TurnEnding,
    TurnEnding {
        Completed,
        AgentError,
        TimedOut,
        Unreadable,
        Machinery,
        Cancelled
    }
);
one_to_one!(
    "kind",
    EscapeKind,
    EscapeKind {
        Shell,
        Web,
        File,
        OtherServer,
        OtherTool,
        Refused
    }
);
