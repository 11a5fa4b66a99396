//! What a request may have used beyond what its answer told. Pure.

use std::sync::Arc;

use mcproctor_proto::tokens::Tokens;

use super::asked::Asked;
use super::ledger::{End, Told};

/// What a request used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    /// What its answer told.
    pub(super) told: Told,
    /// What it may have used beyond that, as an estimate; `None` when all was told, or nothing used.
    pub(super) untold: Option<Tokens>,
    /// The model that it asked.
    pub(super) asked: Option<Arc<str>>,
    /// Whether it asked for something else than the agent is configured to.
    pub(super) elsewhere: bool,
}

impl Used {
    /// What a request for an answer used that ended so.
    pub(super) fn new(end: &End, told: Told, asked: &Asked) -> Self {
        Self {
            untold: untold(end, &told, asked),
            told,
            asked: asked.model.clone(),
            elsewhere: false,
        }
    }
}

fn untold(end: &End, told: &Told, asked: &Asked) -> Option<Tokens> {
    if told.whole {
        return None;
    }
    let output = match end {
        End::Limited => return None,
        End::Succeeded { .. } | End::Left { answered: true } => u64::MAX,
        // Of a request that the API has not read to its end nothing can have been used.
        End::Left { answered: false } if !asked.delivered => return None,
        End::Left { answered: false } => u64::MAX,
        // The API broke off, which no agent brings about: it wrote at least a byte a token, as far as it came.
        End::Refused(refusal) if (200..300).contains(&refusal.status) => told.bytes,
        End::Refused(refusal) if refusal.status == 0 && asked.delivered => 0,
        End::Refused(_) => return None,
    };
    let known = told.tokens.unwrap_or_default();
    let most = asked.most();
    Some(Tokens {
        // An API that tells the input at once tells it in full.
        input_tokens: if known.input_tokens > 0 { 0 } else { most.input_tokens },
        output_tokens: most.output_tokens.min(output).saturating_sub(known.output_tokens),
        ..Tokens::default()
    })
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::traffic::ModelRefusal;

    use super::super::asked::{Asking, Form};
    use super::*;

    fn asked(delivered: bool) -> Asked {
        let mut asking = Asking::new(Form::Messages, 300);
        asking.feed(br#"{"max_tokens":50}"#);
        if delivered {
            asking.delivered();
        }
        asking.so_far().clone()
    }

    fn refused(status: u16) -> End {
        End::Refused(ModelRefusal {
            status,
            code: None,
            message: String::new(),
            retry_after_ms: None,
        })
    }

    fn told(input_tokens: u64, output_tokens: u64, whole: bool) -> Told {
        Told {
            model: None,
            tokens: Some(Tokens {
                input_tokens,
                output_tokens,
                ..Tokens::default()
            }),
            whole,
            bytes: 20,
        }
    }

    #[test]
    fn what_was_sent_and_not_told_in_full_may_have_used_all_that_it_asked_for() {
        let nothing = Told::default();
        let cut = told(90, 1, false);
        let succeeded = End::Succeeded { model: None };
        for (end, told, delivered, rest) in [
            (&succeeded, &nothing, true, Some((100, 50))),
            (&End::Left { answered: true }, &nothing, true, Some((100, 50))),
            (&End::Left { answered: false }, &nothing, true, Some((100, 50))),
            (&End::Left { answered: true }, &cut, true, Some((0, 49))),
            (&End::Left { answered: true }, &told(90, 7, true), true, None),
            (&End::Left { answered: false }, &nothing, false, None),
            (&refused(200), &cut, true, Some((0, 19))),
            (&refused(0), &nothing, true, Some((100, 0))),
            (&refused(0), &nothing, false, None),
            (&refused(429), &nothing, true, None),
            (&refused(500), &nothing, true, None),
            (&End::Limited, &nothing, false, None),
        ] {
            let used = Used::new(end, told.clone(), &asked(delivered));
            let rest_told = used.untold.map(|rest| (rest.input_tokens, rest.output_tokens));
            assert_eq!(rest_told, rest, "{end:?} {told:?} {delivered}");
        }
    }
}
