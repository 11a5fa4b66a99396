//! Writes sample reports: `cargo run -p mcproctor --example report_sample -- FOLDER [ITERATIONS]`.
//!
//! FOLDER gets `report.html` and `results.json` of an invented run with that many iterations per cell (default 12).

#![allow(clippy::print_stdout, reason = "this program's output is a path")]

mod sample;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder: PathBuf = arguments.next().context("name a folder for the sample")?.into();
    let iterations = match arguments.next() {
        Some(number) => number.to_string_lossy().parse().context("the number of iterations")?,
        None => 12,
    };
    let shape = arguments.next().map(|word| word.to_string_lossy().into_owned());
    let mut run = match shape.as_deref() {
        Some("one") => sample::one_agent(iterations),
        _ => sample::mixed(iterations),
    };
    if shape.as_deref() == Some("running") {
        sample::still_running(&mut run);
    }
    let started = Instant::now();
    let written = sample::write_all(&run, &folder)?;
    println!("{} in {} ms", written.html.display(), started.elapsed().as_millis());
    Ok(())
}
