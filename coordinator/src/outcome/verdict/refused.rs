//! Attempts that a model, or the way to it, refused.

use mcproctor_proto::traffic::{GATEWAY_UNREACHABLE, ModelRefusal, RefusalKind, TOKEN_REFUSED};
use mcproctor_proto::turn::{Turn, TurnEnding};

use super::super::kind::{InvalidCause, Outcome};
use super::super::remedies;
use super::{Next, Verdict};
use crate::conversation::Conversation;

/// Refusals that no further attempt gets over. They come before exposure: an agent that is refused at its first request
/// may end before it has listed any tool.
pub(super) fn for_good(conversation: &Conversation) -> Option<Verdict> {
    let refusal = standing_refusal(conversation)?;
    // An agent may ask for anything. What it was refused says nothing about others if it asked for what it is not configured to,
    // or had been answered before: then at most this attempt is invalid, which `model` sees to.
    let traffic = &conversation.traffic;
    let its_own = traffic.refusal_elsewhere || traffic.succeeded > 0;
    let of_the_model = matches!(
        refusal.kind(),
        RefusalKind::Credential | RefusalKind::NoSuchModel | RefusalKind::Quota
    );
    if its_own && of_the_model {
        return None;
    }
    let remedy = match refusal.kind() {
        RefusalKind::Limit => return Some(gateway_limit(refusal)),
        RefusalKind::Gateway => return Some(gateway_refusal(refusal)),
        RefusalKind::Credential => "check the agent's key",
        RefusalKind::NoSuchModel if speaks_of_a_model(refusal) => "check the agent's model",
        RefusalKind::NoSuchModel => remedies::ADDRESS,
        RefusalKind::Quota => "the account has no credit or quota left",
        RefusalKind::Schema => {
            return Some(Verdict::stands(
                Outcome::Invalid(InvalidCause::Server),
                format!(
                    "the model API refuses a tool definition of the server: {}",
                    refusal.message
                ),
            ));
        }
        RefusalKind::Transient | RefusalKind::Other => return None,
    };
    let message = format!("{}; {remedy}", refusal_in_words(refusal));
    Some(Verdict {
        outcome: Outcome::Invalid(InvalidCause::Model),
        reason: message.clone(),
        next: Next::StopDispatch(message),
    })
}

/// Whether it is the model that is not there, and not the whole address.
fn speaks_of_a_model(refusal: &ModelRefusal) -> bool {
    let code = refusal.code.as_deref().unwrap_or_default();
    code.contains("model") || refusal.message.to_ascii_lowercase().contains("model")
}

/// A limit of the gateway holds for every run that goes through it: nobody's fault, and nothing more can be held until it is
/// raised.
fn gateway_limit(refusal: &ModelRefusal) -> Verdict {
    Verdict {
        outcome: Outcome::Invalid(InvalidCause::Limit),
        reason: refusal.message.clone(),
        next: Next::StopDispatch(format!("{}, and go on with --resume", refusal.message)),
    }
}

/// A gateway that lets no attempt through is a part of the machinery, and no model was asked.
fn gateway_refusal(refusal: &ModelRefusal) -> Verdict {
    let remedy = if refusal.code.as_deref() == Some(TOKEN_REFUSED) {
        remedies::GATEWAY_TOKEN
    } else {
        remedies::GATEWAY_ENTRY
    };
    let message = format!("the gateway lets no attempt through: {}; {remedy}", refusal.message);
    Verdict {
        outcome: Outcome::Invalid(InvalidCause::Machinery),
        reason: message.clone(),
        next: Next::StopDispatch(message),
    }
}

/// A refusal that kept the agent from its answer: the model, or the way to it, is invalid and not the agent.
pub(super) fn model(conversation: &Conversation, last: Option<&Turn>) -> Option<Verdict> {
    let refusal = standing_refusal(conversation)?;
    // A refused request that the agent ended its turn well without changes nothing.
    if last?.ending == TurnEnding::Completed && conversation.traffic.succeeded > 0 {
        return None;
    }
    let reason = refusal_in_words(refusal);
    // No API's own word: only what could not be reached has no status.
    let no_gateway = refusal.status == 0 && refusal.code.as_deref() == Some(GATEWAY_UNREACHABLE);
    let (cause, reason) = if no_gateway {
        let remedy = remedies::gateway_way(&refusal.message);
        (InvalidCause::Machinery, format!("{reason}; {remedy}"))
    } else {
        (InvalidCause::Model, reason)
    };
    Some(Verdict {
        outcome: Outcome::Invalid(cause),
        reason,
        next: Next::Again {
            slower: (refusal.kind() == RefusalKind::Transient).then(|| refusal.retry_after_ms.unwrap_or(0)),
        },
    })
}

/// What the relay saw, or, with the command line's own login, what the agent itself said of the model.
fn standing_refusal(conversation: &Conversation) -> Option<&ModelRefusal> {
    if conversation.traffic.observed {
        conversation.traffic.refusal.as_ref()
    } else {
        conversation.turns.last()?.model_refusal.as_ref()
    }
}

fn refusal_in_words(refusal: &ModelRefusal) -> String {
    let message: &str = if refusal.message.is_empty() {
        "no reason given"
    } else {
        &refusal.message
    };
    match refusal.status {
        // The relay says what it could not reach.
        0 => message.to_owned(),
        status => format!("the model API refused with {status}: {message}"),
    }
}
