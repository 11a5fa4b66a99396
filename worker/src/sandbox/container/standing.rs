//! Seeing that no container is left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::engine::Engine;

/// The name of the file in a sandbox that tells of its containers: the engine's command, and a line for each container that
/// ended by itself. The commands that run them keep it locked.
const FILE: &str = "containers";

/// How the containers of a sandbox are known: by this label, with the sandbox's name.
pub(super) const LABEL: &str = "mcproctor.sandbox";

/// How long the engine may take to end and remove containers.
const PATIENCE: Duration = Duration::from_secs(10);

/// The containers of one sandbox. Dropping it waits until none is left.
#[derive(Debug)]
pub(super) struct Standing {
    engine: Engine,
    sandbox: String,
    file: PathBuf,
    begun: AtomicUsize,
}

impl Standing {
    /// Notes in `folder`, a sandbox's, that it will have containers, so that the next worker finds them should this one die.
    pub(super) fn note(engine: Engine, folder: &Path) -> io::Result<Self> {
        let file = folder.join(FILE);
        let mut text = engine.program.clone().into_os_string().into_encoded_bytes();
        text.push(b'\n');
        fs::write(&file, text)?;
        Ok(Self {
            engine,
            sandbox: name_of(folder),
            file,
            begun: AtomicUsize::new(0),
        })
    }

    /// The file that whoever runs a container keeps locked, and writes a line to when one has ended by itself.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// What the containers are labelled with.
    pub(super) fn label(&self) -> String {
        format!("{LABEL}={}", self.sandbox)
    }

    /// Counts a container that is about to begin. Gives its number.
    pub(super) fn begin(&self) -> usize {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        let begun = self.begun.load(Ordering::Acquire);
        if begun == 0 {
            return;
        }
        // An engine's command ends when its container is removed.
        let unlocked = wait_for_the_lock(&self.file);
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        if !unlocked || text.lines().count() <= begun {
            remove_all(&self.engine, &self.sandbox);
        }
    }
}

/// Removes the containers of the sandbox at `folder`, whose worker has died. Says whether all are gone, or never were.
pub(in crate::sandbox) fn remove_named(folder: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(FILE)) else {
        return true;
    };
    let program = PathBuf::from(text.lines().next().unwrap_or_default());
    // Without the engine's command nothing can be done, today or later.
    !program.is_absolute() || !program.is_file() || remove_all(&Engine::at(program), &name_of(folder))
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn wait_for_the_lock(file: &Path) -> bool {
    let begun = Instant::now();
    let Ok(file) = File::open(file) else { return false };
    while file.try_lock().is_err() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Removes the containers of the sandbox called `sandbox`, running or not. Says whether all are gone.
fn remove_all(engine: &Engine, sandbox: &str) -> bool {
    let begun = Instant::now();
    let filter = format!("label={LABEL}={sandbox}");
    loop {
        match engine.ask(&["ps", "--all", "--quiet", "--no-trunc", "--filter", &filter]) {
            Ok(answer) if answer.status.success() && answer.stdout.is_empty() => return true,
            Ok(answer) if answer.status.success() => {
                let mut args = vec!["rm", "--force", "--"];
                args.extend(answer.stdout.lines());
                let _ = engine.ask_for(PATIENCE, &args);
            }
            _ => {}
        }
        if begun.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
