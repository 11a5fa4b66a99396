//! Holds an agent that never ends, so that a test can kill the worker that does: `held_agent BASE LEVEL LAUNCHER SECONDS`.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcproctor_proto::assignment::{DEFAULT_IMAGE, Resources, SandboxLevel};
use mcproctor_worker::sandbox::{Launcher, Limits, OutputFiles, Sandbox, Spec, keep_to_itself};

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    keep_to_itself().unwrap();
    let level = SandboxLevel::from_name(&args[2]).unwrap();
    let sandbox = Sandbox::set_up(&PathBuf::from(&args[1]), level, DEFAULT_IMAGE, &Launcher::of(&args[3])).unwrap();
    let records = sandbox.records().unwrap();
    // One that nothing but its descent tells.
    let script = "(cd / && env -i setsid sh -c 'sleep \"$1\" >/dev/null 2>&1 </dev/null &' sh \"$1\" &); sleep \"$1\"";
    let spec = Spec {
        program: "/bin/sh".into(),
        args: ["-c", script, "sh", &args[4]].map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        path: Vec::new(),
        reads: Vec::new(),
        stdin: Vec::new(),
        cwd: sandbox.work().to_owned(),
    };
    let files = OutputFiles {
        stdout: records.path().join("stdout"),
        stderr: records.path().join("stderr"),
    };
    let limits = Limits {
        resources: Resources {
            memory_bytes: Some(1 << 30),
            processes: Some(500),
            ..Resources::default()
        },
        ..Limits::default()
    };
    let mut process = sandbox.start(&spec, &files, limits).unwrap();
    process.wait().await;
}
