//! Docker or podman, as a command.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use mcproctor_proto::assignment::DEFAULT_IMAGE;

use crate::question::{Answer, ask};
use crate::sandbox::ability::Unavailable;
use crate::sandbox::limits::Enforced;
use crate::search_path;

/// How long an engine may take to say that it is there. One that hangs is not to hold up a run.
const PATIENCE: Duration = Duration::from_secs(2);

/// What an engine's command needs of the worker's environment: where the engine is, and its own files.
const ENVIRONMENT: [&str; 16] = [
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINER_CONNECTION",
    "CONTAINER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "HOME",
    "PATH",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// Which engine a command leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Docker,
    Podman,
}

/// An engine's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Engine {
    pub(super) kind: Kind,
    pub(super) program: PathBuf,
}

impl Engine {
    /// The engine behind a command at this path, by its name.
    pub(super) fn at(program: PathBuf) -> Self {
        let podman = program.file_name().is_some_and(|name| name == "podman");
        Self {
            kind: if podman { Kind::Podman } else { Kind::Docker },
            program,
        }
    }

    /// The first engine of the path that answers, with its version.
    pub(super) fn find() -> Result<(Self, String), Unavailable> {
        let mut reasons = Vec::new();
        for name in ["docker", "podman"] {
            let Some(program) = search_path::find(name) else {
                continue;
            };
            let engine = Self::at(program);
            match engine.version() {
                Ok(said) if maps_users(&said) => reasons.push(format!(
                    "`{name}` gives its containers other users than the machine's (rootless, or `userns-remap`), who could not use \
                     the agent's folders"
                )),
                Ok(said) => return Ok((engine, said.split(' ').next().unwrap_or_default().to_owned())),
                Err(why) => reasons.push(format!("`{name}` does not answer: {why}")),
            }
        }
        if reasons.is_empty() {
            return Err(Unavailable::new(
                "neither `docker` nor `podman` is installed",
                "install one (`apt-get install docker.io`, and start `dockerd`), or use `bubblewrap`",
            ));
        }
        Err(Unavailable::new(
            reasons.join("; "),
            "start it (`systemctl start docker`, or `dockerd`) and let this user use it (`usermod --append --groups docker USER`), \
             or use `bubblewrap`",
        ))
    }

    /// Its version, and, of docker, how it keeps containers apart.
    fn version(&self) -> Result<String, String> {
        let question = match self.kind {
            Kind::Docker => "{{.ServerVersion}} {{.SecurityOptions}}",
            Kind::Podman => "{{.Version.Version}}",
        };
        match self.ask(&["info", "--format", question]) {
            // Without an engine docker's command has nothing to say of a version.
            Ok(answer) if answer.status.success() && answer.stdout.starts_with(|c: char| c.is_ascii_digit()) => {
                Ok(answer.stdout)
            }
            Ok(answer) => Err(last_line(&answer.stderr)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Err(format!("no word in {} seconds", PATIENCE.as_secs()))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The id of an image that is there. Nothing is downloaded.
    pub(super) fn image(&self, name: &str) -> Result<String, Unavailable> {
        let answer = self.ask(&["image", "inspect", "--format", "{{.Id}}", "--", name]);
        let failed =
            |why: String| Unavailable::new(format!("the engine does not tell of its images: {why}"), "try again");
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        let said = answer.stderr.to_ascii_lowercase();
        match answer
            .status
            .success()
            .then_some(answer.stdout)
            .filter(|id| !id.is_empty())
        {
            Some(id) => Ok(if id.contains(':') { id } else { format!("sha256:{id}") }),
            None if said.contains("no such") || said.contains("not known") => Err(Unavailable::new(
                format!("there is no image `{name}`"),
                match name {
                    DEFAULT_IMAGE => format!("build it (`{} build --tag {name} docker/agents`)", self.name()),
                    _ => format!("download it (`{} pull {name}`)", self.name()),
                } + ", or name another one in `run.sandbox.image`",
            )),
            None => Err(failed(last_line(&answer.stderr))),
        }
    }

    /// Which limits it enforces on this machine.
    pub(super) fn enforced(&self) -> Enforced {
        let question = match self.kind {
            Kind::Docker => "{{.MemoryLimit}} {{.PidsLimit}} {{.CPUCfsQuota}}",
            Kind::Podman => "{{.Host.CgroupControllers}}",
        };
        let Ok(answer) = self.ask(&["info", "--format", question]) else {
            return Enforced::default();
        };
        let words: Vec<&str> = answer.stdout.split([' ', '[', ']', ',']).collect();
        match self.kind {
            Kind::Docker => Enforced {
                memory: words.first() == Some(&"true"),
                processes: words.get(1) == Some(&"true"),
                cpus: words.get(2) == Some(&"true"),
            },
            Kind::Podman => Enforced {
                memory: words.contains(&"memory"),
                processes: words.contains(&"pids"),
                cpus: words.contains(&"cpu"),
            },
        }
    }

    /// How it is called: `docker` or `podman`.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Docker => "docker",
            Kind::Podman => "podman",
        }
    }

    /// Puts a question to the engine that it answers at once, if it is well.
    pub(super) fn ask(&self, args: &[&str]) -> io::Result<Answer> {
        self.ask_for(PATIENCE, args)
    }

    /// The same, for something that may take a while.
    pub(super) fn ask_for(&self, patience: Duration, args: &[&str]) -> io::Result<Answer> {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(environment()).current_dir("/");
        ask(&mut command, patience)
    }
}

/// What an engine's command is given of the worker's environment.
pub(super) fn environment() -> BTreeMap<String, OsString> {
    let there = ENVIRONMENT.into_iter();
    there
        .filter_map(|name| Some((name.to_owned(), env::var_os(name)?)))
        .collect()
}

/// Whether an engine says that the numbers of users inside are others outside. Podman can be told not to do so.
fn maps_users(said: &str) -> bool {
    ["name=rootless", "name=userns"]
        .iter()
        .any(|option| said.contains(option))
}

/// The last thing that was said, which is the reason as a rule.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or("it did not say why").trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A command of this name that says what `script` does.
    fn engine(name: &str, script: &str) -> (tempfile::TempDir, Engine) {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let engine = Engine::at(program);
        (folder, engine)
    }

    #[test]
    fn an_engine_that_gives_containers_other_users_is_told_from_one_that_does_not() {
        assert!(!maps_users("20.10.24 [name=apparmor name=seccomp,profile=default]"));
        assert!(maps_users(
            "28.2.2 [name=seccomp,profile=builtin name=rootless name=cgroupns]"
        ));
        assert!(maps_users("20.10.24 [name=seccomp,profile=default name=userns]"));
    }

    #[test]
    fn a_command_without_an_engine_behind_it_is_none() {
        let (_folder, silent) = engine("docker", "echo ' []'; echo 'Cannot connect to the daemon' >&2");
        assert_eq!(silent.version().unwrap_err(), "Cannot connect to the daemon");
    }

    #[test]
    fn an_engine_is_told_nothing_of_the_workers_environment_but_what_it_needs() {
        let (_folder, engine) = engine("docker", "/usr/bin/env");
        let told = engine.ask(&[]).unwrap().stdout;
        // What a shell sets for itself.
        let own = ["PWD", "OLDPWD", "SHLVL", "_"];
        let names: Vec<_> = told.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(names.contains(&"PATH"), "{told}");
        let further = names
            .iter()
            .find(|name| !ENVIRONMENT.contains(name) && !own.contains(name));
        assert_eq!(further, None);
        // Tests are started with more.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
    }

    #[test]
    fn images_are_known_by_their_ids_as_both_engines_write_them() {
        let (_folder, docker) = engine("docker", "echo sha256:abc");
        let (_other, podman) = engine("podman", "echo abc");
        assert_eq!(docker.image("a").unwrap(), podman.image("a").unwrap());
        let (_third, without) = engine(
            "podman",
            "echo 'Error: inspecting object: a: image not known' >&2; exit 125",
        );
        assert!(without.image("a").unwrap_err().remedy.contains("podman pull a"));
    }
}
