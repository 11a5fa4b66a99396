//! Fills a store with an invented run: `cargo run -p mcproctor --example report_store -- FOLDER [ITERATIONS]`.
//!
//! ITERATIONS is of the whole run (default 100,000), shared by ten cells. `mcproctor report --out-dir FOLDER` writes its reports.

#![allow(clippy::print_stdout, reason = "this program's output is what it did")]

#[path = "report_sample/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use mcproctor::record::{AttemptRecord, RunState};
use mcproctor::store::Store;
use mcproctor_proto::evidence::EvidenceKind;
use sha2::{Digest, Sha256};

/// Results that wait for the store at once.
const AT_ONCE: u32 = 256;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder: PathBuf = arguments.next().context("name a folder for the store")?.into();
    let iterations: u32 = match arguments.next() {
        Some(number) => number.to_string_lossy().parse().context("the number of iterations")?,
        None => 100_000,
    };
    let run = Arc::new(sample::plan_of_mixed(iterations.div_ceil(10)));
    let (per_cell, cells) = (run.iterations, run.cells() as u32);
    tokio::runtime::Runtime::new()?.block_on(async {
        let store = Store::open(&folder)?;
        store.create_run(&run).await?;
        let stderr = b"thread 'main' stopped: the session file is not writable\n".to_vec();
        let stderr_sha256 = Arc::new(hex::encode(Sha256::digest(&stderr)));
        store.put_evidence(EvidenceKind::Stderr, &stderr_sha256, stderr).await?;
        let list = sample::TOOL_LIST.as_bytes().to_vec();
        let sha256 = hex::encode(Sha256::digest(&list));
        store.put_evidence(EvidenceKind::ToolList, &sha256, list).await?;
        let writers: Vec<_> = (0..AT_ONCE)
            .map(|writer| {
                let (store, run, stderr_sha256) = (store.clone(), Arc::clone(&run), Arc::clone(&stderr_sha256));
                tokio::spawn(async move {
                    let mut number = writer;
                    while number < per_cell * cells {
                        let (cell, iteration) = ((number / per_cell) as usize, number % per_cell + 1);
                        for mut attempt in sample::attempts(&run, cell, iteration) {
                            name_evidence(&mut attempt, &stderr_sha256);
                            store.put_attempt(&run.id, 1, &attempt).await?;
                        }
                        number += AT_ONCE;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for writer in writers {
            writer.await??;
        }
        store.set_state(&run.id, RunState::Completed).await?;
        println!(
            "{} iterations of the run {} in {}",
            per_cell * cells,
            run.id,
            folder.display()
        );
        anyhow::Ok(())
    })
}

/// The sample names its evidence by words; a store wants hashes.
fn name_evidence(attempt: &mut AttemptRecord, sha256: &str) {
    for piece in &mut attempt.evidence {
        piece.sha256 = sha256.to_owned();
    }
}
