//! `Evidence`: pieces by content hash, chunked, resumable, durable when acknowledged.

use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::v1;
use mcproctor_proto::v1::evidence_server::Evidence;
use mcproctor_proto::v1::upload_chunk::Part;
use tonic::{Request, Response, Status, Streaming};

use super::auth::Tokens;
use crate::store::{Store, StoreError};

pub(super) struct EvidenceService {
    pub(super) tokens: Tokens,
    pub(super) store: Store,
}

#[tonic::async_trait]
impl Evidence for EvidenceService {
    async fn have(&self, request: Request<v1::HaveRequest>) -> Result<Response<v1::HaveReply>, Status> {
        self.tokens.check(&request)?;
        let asked = request.into_inner();
        let have = self
            .store
            .evidence_have(&asked.sha256, asked.bytes)
            .await
            .map_err(refused)?;
        Ok(Response::new(v1::HaveReply {
            complete: have.complete,
            offset: have.offset,
        }))
    }

    async fn upload(&self, request: Request<Streaming<v1::UploadChunk>>) -> Result<Response<v1::UploadReply>, Status> {
        self.tokens.check(&request)?;
        let mut chunks = request.into_inner();
        let Some(v1::UploadChunk {
            part: Some(Part::Header(header)),
        }) = chunks.message().await?
        else {
            return Err(Status::invalid_argument("an upload begins with its header"));
        };
        let kind = EvidenceKind::from_name(&header.kind)
            .ok_or_else(|| Status::invalid_argument(format!("`{}` is no kind of evidence", header.kind)))?;
        let begun = self
            .store
            .begin_evidence(kind, &header.sha256, header.bytes, header.offset)
            .await;
        let mut upload = begun.map_err(refused)?;
        while let Some(data) = next_data(&mut chunks).await? {
            upload.append(&data).await.map_err(refused)?;
        }
        upload.finish().await.map_err(refused)?;
        Ok(Response::new(v1::UploadReply { bytes: header.bytes }))
    }
}

async fn next_data(chunks: &mut Streaming<v1::UploadChunk>) -> Result<Option<Vec<u8>>, Status> {
    match chunks.message().await? {
        None => Ok(None),
        Some(v1::UploadChunk {
            part: Some(Part::Data(data)),
        }) => Ok(Some(data)),
        Some(_) => Err(Status::invalid_argument("after its header an upload holds data only")),
    }
}

fn refused(error: StoreError) -> Status {
    if error.is_disk_full() {
        Status::resource_exhausted(format!("failed to {error}"))
    } else {
        Status::failed_precondition(format!("failed to {error}"))
    }
}
