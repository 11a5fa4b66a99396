//! Uploads of evidence: small pieces are sent at once; for larger ones it is asked first what is there, and sent from where
//! it ends.

use std::io::{Read, SeekFrom};
use std::path::Path;

use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::id::AttemptId;
use mcproctor_proto::v1;
use mcproctor_proto::v1::evidence_client::EvidenceClient;
use mcproctor_proto::v1::upload_chunk::Part;
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::connect::Authenticated;
use super::error::LinkError;

/// One chunk on the wire, in bytes. A piece that fits into one is sent without asking: the question would cost as much.
const CHUNK: usize = 64 << 10;

/// A piece of evidence as it lies on the worker's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What it is.
    pub(crate) reference: EvidenceRef,
    /// Where it lies.
    pub(crate) path: std::path::PathBuf,
}

/// Hashes the file and names it by its content. `None` when it is empty or not there: nothing is no evidence. Blocks.
pub(crate) fn piece(kind: EvidenceKind, path: &Path) -> Result<Option<Piece>, LinkError> {
    let failed = |source| LinkError::Evidence {
        path: kind.name().to_owned(),
        source,
    };
    let mut file = match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    let mut hash = Sha256::new();
    let mut bytes = 0_u64;
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
    let reference = EvidenceRef {
        kind,
        sha256: hex::encode(hash.finalize()),
        bytes,
    };
    Ok((bytes > 0).then(|| Piece {
        reference,
        path: path.to_owned(),
    }))
}

/// Uploads a piece; what is there already is not sent again. Durable at the coordinator when it returns.
pub(crate) async fn upload(
    client: &mut EvidenceClient<Authenticated>,
    attempt: &AttemptId,
    piece: &Piece,
) -> Result<(), LinkError> {
    let EvidenceRef { kind, sha256, bytes } = piece.reference.clone();
    let offset = if bytes <= CHUNK as u64 {
        0
    } else {
        let question = v1::HaveRequest {
            sha256: sha256.clone(),
            bytes,
        };
        let have = client.have(question).await?.into_inner();
        if have.complete {
            return Ok(());
        }
        have.offset
    };
    let failed = |source| LinkError::Evidence {
        path: kind.name().to_owned(),
        source,
    };
    let mut file = File::open(&piece.path).await.map_err(failed)?;
    file.seek(SeekFrom::Start(offset)).await.map_err(failed)?;
    let header = v1::UploadHeader {
        attempt: attempt.as_str().to_owned(),
        kind: kind.name().to_owned(),
        sha256,
        bytes,
        offset,
    };
    let (chunks, stream) = tokio::sync::mpsc::channel(4);
    let sending = async move {
        let mut part = Some(Part::Header(header));
        while let Some(next) = part.take() {
            if chunks.send(v1::UploadChunk { part: Some(next) }).await.is_err() {
                // The call has ended; its status says why.
                return Ok(());
            }
            let mut buffer = vec![0; CHUNK];
            let read = file.read(&mut buffer).await?;
            buffer.truncate(read);
            part = (read > 0).then_some(Part::Data(buffer));
        }
        Ok(())
    };
    let stream = tokio_stream::wrappers::ReceiverStream::new(stream);
    let (sent, reply) = tokio::join!(sending, client.upload(stream));
    sent.map_err(failed)?;
    reply?;
    Ok(())
}
