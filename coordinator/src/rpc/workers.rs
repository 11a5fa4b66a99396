//! `Workers.Work`: one stream per worker, translated and handed to the schedule.

use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use mcproctor_proto::v1;
use mcproctor_proto::v1::workers_server::Workers;
use mcproctor_proto::worker::Order;
use tokio::sync::mpsc::{Sender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::auth::Tokens;
use crate::scheduler::Input;

pub(super) struct WorkersService {
    pub(super) tokens: Tokens,
    pub(super) inputs: Sender<Input>,
}

#[tonic::async_trait]
impl Workers for WorkersService {
    type WorkStream = Pin<Box<dyn Stream<Item = Result<v1::CoordinatorMessage, Status>> + Send>>;

    async fn work(&self, request: Request<Streaming<v1::WorkerMessage>>) -> Result<Response<Self::WorkStream>, Status> {
        self.tokens.check(&request)?;
        let mut messages = request.into_inner();
        let first = messages
            .message()
            .await?
            .ok_or_else(|| Status::invalid_argument("a hello has to come first"))?;
        let hello = first
            .read_hello()
            .map_err(|error| Status::invalid_argument(format!("failed to {error}")))?;
        if hello.worker.is_empty() || hello.slots == 0 {
            return Err(Status::invalid_argument(
                "a hello needs a worker name and at least one slot",
            ));
        }
        let worker = hello.worker.clone();
        let (outbox, orders) = unbounded_channel::<Order>();
        self.inputs
            .send(Input::Joined { hello, outbox })
            .await
            .map_err(|_| Status::unavailable("the run is over"))?;

        let inputs = self.inputs.clone();
        // It ends with the stream: at the worker's end, at a fault of the connection, or when the run is over.
        tokio::spawn(async move {
            let reason = loop {
                match messages.message().await {
                    Ok(None) => break format!("the worker {worker} closed its stream"),
                    Err(status) => break format!("the stream of the worker {worker} broke: {}", status.message()),
                    Ok(Some(message)) => match message.read() {
                        Ok(says) => {
                            if inputs
                                .send(Input::Says {
                                    worker: worker.clone(),
                                    says,
                                })
                                .await
                                .is_err()
                            {
                                return;
                            }
                        }
                        Err(error) => break format!("failed to {error} from the worker {worker}"),
                    },
                }
            };
            // Nobody listens once the run is over, and then nothing is lost.
            let _ = inputs.send(Input::Left { worker, reason }).await;
        });
        let orders = UnboundedReceiverStream::new(orders).map(|order| Ok(v1::CoordinatorMessage::from(&order)));
        Ok(Response::new(Box::pin(orders)))
    }
}
