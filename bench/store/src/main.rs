//! Results acknowledged a second, each with a piece of evidence of its own.
//!
//! Three ways to the same guarantee (on the disk before it is acknowledged), measured in turns in one run:
//! `group`: many results wait for the store at once; `single`: the store gets one at a time, so each has its own syncs;
//! `files`: no store, but a file for each result and one for its evidence, each synced together with its folder.
//!
//! Usage: `bench-store [DIR]`; DIR lies on the disk to be measured (default: the current folder).
#![expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mcproctor::outcome::Outcome;
use mcproctor::record::{AttemptRecord, RunRecord};
use mcproctor::store::Store;
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::id::RunId;
use mcproctor_proto::traffic::ModelTraffic;
use sha2::{Digest, Sha256};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(1);
const AT_ONCE: u32 = 256;
const EVIDENCE_BYTES: usize = 2_000;

fn main() -> Result<()> {
    let parent = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    let folder = tempfile::tempdir_in(&parent).with_context(|| format!("no folder in {}", parent.display()))?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut rates = [const { Vec::new() }; 3];
    for round in 0..ROUNDS {
        let dir = |way: &str| folder.path().join(format!("{way}-{round}"));
        rates[0].push(runtime.block_on(through_store(&dir("group"), AT_ONCE))?);
        rates[1].push(runtime.block_on(through_store(&dir("single"), 1))?);
        rates[2].push(through_files(&dir("files"))?);
    }
    let [group, single, files] = rates.map(median);
    println!("group_per_s={group:.0}");
    println!("single_per_s={single:.0}");
    println!("files_per_s={files:.0}");
    println!("group_vs_single={:.1}", group / single);
    println!("group_vs_files={:.1}", group / files);
    Ok(())
}

/// Results a second, `at_once` of them waiting at any time.
async fn through_store(dir: &Path, at_once: u32) -> Result<f64> {
    let store = Store::open(dir)?;
    let run = run();
    store.create_run(&run).await?;
    let start = Instant::now();
    let writers: Vec<_> = (0..at_once)
        .map(|writer| {
            let (store, run) = (store.clone(), run.id.clone());
            tokio::spawn(async move {
                let mut stored = 0;
                while start.elapsed() < ROUND {
                    let iteration = stored * at_once + writer + 1;
                    let (piece, bytes) = evidence(iteration);
                    store.put_evidence(piece.kind, &piece.sha256, bytes).await?;
                    store.put_attempt(&run, 1, &attempt(iteration, piece)).await?;
                    stored += 1;
                }
                anyhow::Ok(stored)
            })
        })
        .collect();
    let mut stored = 0;
    for writer in writers {
        stored += writer.await??;
    }
    Ok(f64::from(stored) / start.elapsed().as_secs_f64())
}

/// Results a second, with a synced file for each result and for each piece.
fn through_files(dir: &Path) -> Result<f64> {
    fs::create_dir(dir)?;
    let folder = File::open(dir)?;
    let put = |name: String, bytes: &[u8]| -> Result<()> {
        let mut file = File::create_new(dir.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        folder.sync_all()?;
        Ok(())
    };
    let (start, mut stored) = (Instant::now(), 0);
    while start.elapsed() < ROUND {
        let (piece, bytes) = evidence(stored);
        put(format!("{}.bin", piece.sha256), &bytes)?;
        // As long as the compressed record is.
        put(format!("{stored}.json"), &[b'x'; 300])?;
        stored += 1;
    }
    Ok(f64::from(stored) / start.elapsed().as_secs_f64())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A piece like a short transcript: it compresses, and no two are the same.
fn evidence(number: u32) -> (EvidenceRef, Vec<u8>) {
    let bytes =
        format!("{{\"type\":\"assistant\",\"n\":{number},\"text\":\"The weather in Graz is fine.\"}}\n").into_bytes();
    let bytes: Vec<u8> = bytes.iter().copied().cycle().take(EVIDENCE_BYTES).collect();
    let sha256 = hex::encode(Sha256::digest(&bytes));
    (
        EvidenceRef {
            kind: EvidenceKind::Transcript,
            sha256,
            bytes: EVIDENCE_BYTES as u64,
        },
        bytes,
    )
}

fn run() -> RunRecord {
    RunRecord {
        id: RunId::new("bench"),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at_unix_ms: 0,
        config_file: "eval.yaml".to_owned(),
        config_sha256: String::new(),
        servers: Vec::new(),
        agents: Vec::new(),
        test_cases: Vec::new(),
        iterations: 100_000,
        max_attempts: 3,
        seed: 0,
        notices: Vec::new(),
        thresholds: Default::default(),
        judge: None,
        graded_from: None,
        stopped: None,
    }
}

fn attempt(iteration: u32, evidence: EvidenceRef) -> AttemptRecord {
    AttemptRecord {
        cell: 0,
        iteration,
        attempt: 1,
        outcome: Outcome::Passed,
        reason: "every expectation was met".to_owned(),
        last: true,
        started_at_unix_ms: 0,
        duration_ms: 1_000,
        worker: "local".to_owned(),
        sandbox: SandboxLevel::Process,
        turns: Vec::new(),
        calls: Vec::new(),
        requests: Vec::new(),
        expectations: Vec::new(),
        exposures: Vec::new(),
        traffic: ModelTraffic::default(),
        cost_usd: None,
        evidence: vec![evidence],
    }
}
