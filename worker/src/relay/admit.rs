//! When a request for an answer may be sent: within what may be used, and at its place in the rate.

use std::sync::Arc;

use http::header::{HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::Either;
use mcproctor_proto::traffic::{ATTEMPT_LIMIT, GATEWAY_LIMIT};

use super::errand::Errand;
use super::failure::shorten;
use super::forward::{Content, Forward};
use super::ledger::{End, RequestId};
use super::overhear::Overheard;
use super::pace::Place;
use super::purse::{NoRoom, WAITING};
use super::refuse::Refusal;
use super::server::now;

/// What an agent is told that has used up what it may.
const USED_UP: &str = "what this attempt may use of the model is used up (a limit of the evaluation, not of the API)";

/// How a request ended that is not sent, and what it is answered.
pub(super) type TurnedAway = Box<(End, Response<Content>)>;

impl Forward {
    /// Waits until a request for an answer may be sent, and charges it.
    pub(super) async fn admit(&self, id: RequestId, errand: &Errand, body: &mut Overheard) -> Result<(), TurnedAway> {
        let purses = || [Some(&self.purse), self.common.as_ref()].into_iter().flatten();
        if let Some(common) = self.common.as_ref().filter(|common| common.limits_money()) {
            let model = body.model().await.map_err(|why| Box::new(self.not_read(&why)))?;
            if common.lacks_price_of(model.as_deref()) {
                return Err(Box::new(self.unpriced(model.as_deref())));
            }
        }
        loop {
            // Before anything is looked at, so that no change is missed.
            let changed = (
                self.purse.changed(),
                self.common.as_ref().map(|common| common.changed()),
            );
            let own = |purse| Arc::ptr_eq(purse, &self.purse);
            let mut room = purses().try_for_each(|purse| purse.room().map_err(|no_room| (own(purse), no_room)));
            if room.is_ok() {
                // What is used up while it waits for its place is used up; what is used up before keeps it from waiting in vain.
                let place = self.wait_for_its_place(id).await;
                let asked = errand.asked();
                let admitted = purses().map(|purse| purse.admit(&asked).map_err(|no_room| (own(purse), no_room)));
                match admitted.collect::<Result<Vec<_>, _>>() {
                    Ok(tickets) => {
                        errand.charge(tickets);
                        if let Some(place) = place {
                            place.take();
                        }
                        return Ok(());
                    }
                    Err(no_room) => room = Err(no_room),
                }
            }
            if let Err((own, NoRoom::Shut(shut))) = room {
                let refusal = if own {
                    self.refuse_for_a_limit(ATTEMPT_LIMIT, USED_UP)
                } else {
                    self.refuse_for_a_limit(GATEWAY_LIMIT, &format!("the gateway asks no model any more: {shut}"))
                };
                return Err(Box::new((End::Limited, refusal)));
            }
            let Some(_waiting) = self.purse.wait() else {
                // As if it had not come: it comes again.
                return Err(Box::new((End::Left { answered: false }, self.too_many())));
            };
            match changed {
                (own, Some(common)) => tokio::select! {
                    () = own => {}
                    () = common => {}
                },
                (own, None) => own.await,
            }
        }
    }

    /// Holds a request back until one more may be sent. An agent that leaves meanwhile takes its request with it.
    async fn wait_for_its_place(&self, id: RequestId) -> Option<Place> {
        let interval = self.request_interval?;
        self.ledger().hold(id, now());
        let place = self.row.place(interval).await;
        self.ledger().release(id, now());
        Some(place)
    }

    /// Neither agent sends a request again that was answered so.
    fn refuse_for_a_limit(&self, code: &'static str, message: &str) -> Response<Content> {
        let refusal = Refusal {
            status: StatusCode::BAD_REQUEST,
            kind: "invalid_request_error",
            code: Some(code),
            message,
        };
        refusal.reply(self.route.dialect).map(Either::Right)
    }

    /// Agents send a request again that was answered so.
    fn too_many(&self) -> Response<Content> {
        let message =
            format!("{WAITING} requests of this attempt wait already; come again when one of them is through");
        let mut refusal = self.refuse(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", &message);
        refusal.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        refusal
    }

    /// A model that would make a limit of money one that cannot be kept to.
    fn unpriced(&self, model: Option<&str>) -> (End, Response<Content>) {
        let message = match model {
            Some(model) => format!(
                "the gateway does not ask {model}: its price is not known, so limits.maxCostUsd could not be kept to; add it to the \
                 gateway's config: `prices: {{{model}: {{inputPerMillion: …, outputPerMillion: …}}}}`",
                model = shorten(model)
            ),
            None => "the gateway has limits.maxCostUsd, and the request names no model".to_owned(),
        };
        self.refuse_as_wrong(StatusCode::BAD_REQUEST, "invalid_request_error", &message)
    }
}
