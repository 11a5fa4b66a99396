//! A coordinator that is killed while it writes.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use mcproctor::outcome::Outcome;
use mcproctor::store::{Reader, Store};
use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::id::RunId;
use rand::RngExt;

use crate::sample::{attempt, noise, put, run, sha256};

/// Set in the child: the folder that it writes to, and a number that tells its pieces from other children's.
const DIR: &str = "STORE_TEST_DIR";
const ROUND: &str = "STORE_TEST_ROUND";

const THIS: &str = "killed::what_was_acknowledged_outlives_sigkill_at_any_moment";

#[test]
fn what_was_acknowledged_outlives_sigkill_at_any_moment() {
    if let (Ok(dir), Ok(round)) = (std::env::var(DIR), std::env::var(ROUND)) {
        write_until_killed(Path::new(&dir), round.parse().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = HashSet::new();
    for round in 0..10_u32 {
        let patience = rand::rng().random_range(1..300);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", THIS, "--nocapture"])
            .env(DIR, folder.path())
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut count = 0;
        for line in lines {
            // The last line may be torn, like everything else.
            if let Some(key) = line
                .unwrap()
                .strip_prefix("acknowledged ")
                .and_then(|line| line.strip_suffix('.'))
            {
                acknowledged.insert((round, key.parse::<u32>().unwrap()));
                count += 1;
            }
            if count == patience {
                child.kill().unwrap();
            }
        }
        assert!(count >= patience, "the child ended by itself: {:?}", child.wait());
        child.wait().unwrap();

        let store = Store::open(folder.path()).unwrap();
        let reader = store.reader().unwrap();
        let id = RunId::new("r1");
        for (round, iteration) in &acknowledged {
            let found = reader.attempt(&id, *round, *iteration, 1).unwrap();
            let found = found.unwrap_or_else(|| panic!("{round}-{iteration} was acknowledged and is gone"));
            for piece in &found.evidence {
                let bytes = reader.evidence(&piece.sha256).unwrap().unwrap();
                assert_eq!(sha256(&bytes), piece.sha256);
            }
        }
        // A killed coordinator leaves a run that nobody carries on and that anybody may take over.
        assert!(!Reader::open(folder.path()).unwrap().runs().unwrap()[0].active);
        drop(store.lock_run(&id).unwrap());
    }
}

fn write_until_killed(dir: &Path, round: u32) -> ! {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(dir).unwrap();
        let record = run("r1", 1);
        if round == 0 {
            store.create_run(&record).await.unwrap();
        }
        let _lock = store.lock_run(&record.id).unwrap();
        let writers: Vec<_> = (0..8_u32)
            .map(|writer| {
                let (store, id) = (store.clone(), record.id.clone());
                tokio::spawn(async move {
                    for number in 0.. {
                        let iteration = number * 8 + writer + 1;
                        let mut sent = attempt(round, iteration, 1, Outcome::Passed);
                        let seed = u64::from(round) << 32 | u64::from(iteration);
                        let length = if iteration % 50 == 0 { 3 << 19 } else { 300 };
                        sent.evidence = vec![
                            put(&store, EvidenceKind::ToolList, b"the same for all").await,
                            put(&store, EvidenceKind::Calls, &noise(seed, length)).await,
                        ];
                        store.put_attempt(&id, 1, &sent).await.unwrap();
                        writeln!(std::io::stdout().lock(), "acknowledged {iteration}.").unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
    std::process::exit(1)
}
