//! What a config means, and what is said about one that means nothing.

#![allow(clippy::unwrap_used, clippy::panic)]

mod credentials;
mod gateway;
mod meaning;
mod reports;
mod sandboxes;
mod secrets;
mod variables;

use std::fs;
use std::path::PathBuf;

use mcproctor_proto::server::{HttpServer, Transport};
use secrecy::ExposeSecret;

use super::{Config, Environment, load};

/// A folder with a config and whatever lies beside it.
struct Folder(tempfile::TempDir);

/// The smallest config.
const SMALLEST: &str = "mcp: {url: 'http://127.0.0.1:3210/mcp'}\ntestcases: {path: cases}\n";

impl Folder {
    fn with(config: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.and("eval.yaml", config)
    }

    fn and(self, name: &str, content: &str) -> Self {
        fs::write(self.0.path().join(name), content).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn load(&self, environment: &Environment) -> Config {
        load(&self.path("eval.yaml"), environment).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// The report of what is wrong, with the folder's own path left out.
    fn report(&self, environment: &Environment) -> String {
        let errors = load(&self.path("eval.yaml"), environment).err().unwrap();
        errors.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn environment<const N: usize>(variables: [(&str, &str); N]) -> Environment {
    variables.into_iter().chain([("HOME", "/home/user")]).collect()
}

fn http(config: &Config) -> &HttpServer {
    match &config.servers[0].transport {
        Transport::Http(http) => http,
        Transport::Stdio(_) => panic!("a server at a URL was configured"),
    }
}

fn header_values(config: &Config) -> Vec<&str> {
    http(config)
        .headers
        .iter()
        .map(|header| header.value.expose_secret())
        .collect()
}
