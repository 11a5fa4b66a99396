//! The folder that a command finds stored runs in.

use std::path::PathBuf;

use super::exit::Exit;
use super::runtime::complain;
use crate::config::{self, Environment};

/// How it is named.
#[derive(Debug, clap::Args)]
pub(super) struct StoreFolder {
    /// The config file whose report.outDir holds the runs
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    config: Option<PathBuf>,

    /// The folder that holds the runs; without it and -c that of ./eval.yaml, else ./reports
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
}

impl StoreFolder {
    /// The folder. A config that cannot be read is said, and gives the exit.
    pub(super) fn find(&self) -> Result<PathBuf, Exit> {
        if let Some(folder) = &self.out_dir {
            return Ok(folder.clone());
        }
        let usual = PathBuf::from("./eval.yaml");
        let Some(file) = self.config.clone().or_else(|| usual.is_file().then_some(usual)) else {
            return Ok(PathBuf::from("./reports"));
        };
        config::load(&file, &Environment::of_process())
            .map(|config| config.report.out_dir)
            .map_err(|errors| complain(Exit::Usage, &errors.to_string()))
    }
}
