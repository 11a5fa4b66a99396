//! One sandbox of this level.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mcproctor_proto::assignment::Resources;

use super::arguments::{self, ENTRANCE};
use super::engine::{self, Kind as EngineKind};
use super::ready::Ready;
use super::standing::Standing;
use crate::sandbox::confined;
use crate::sandbox::error::SandboxError;
use crate::sandbox::etc;
use crate::sandbox::folder::Folder;
use crate::sandbox::launcher::Launcher;
use crate::sandbox::plan::{Entrance, Kind, OwnLimits, Plan};
use crate::sandbox::spec::Spec;
use crate::sandbox::tree::MARKER;
use crate::sandbox::view::View;
use crate::sandbox::wall::CommandLine;
use crate::sandbox::ways::Ways;

/// The walls of one sandbox. Dropping it waits until no container of it is left.
#[derive(Debug)]
pub(in crate::sandbox) struct Container {
    ready: Ready,
    ways: Ways,
    /// Where the agent's own files of `/etc` lie.
    etc: PathBuf,
    /// What is shown as root's home, under root.
    roots_home: Option<PathBuf>,
    user: User,
    standing: Standing,
}

/// Whom the agent runs as.
#[derive(Clone, Copy, Debug)]
struct User {
    id: u32,
    group: u32,
    /// Whether the worker is somebody else, and so has to give the agent its folders.
    other: bool,
}

impl User {
    /// The worker's own user; under root somebody without any rights.
    fn choose() -> Self {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        if user.is_root() {
            let id = etc::ID.parse().unwrap_or(65534);
            return Self {
                id,
                group: id,
                other: true,
            };
        }
        Self {
            id: user.as_raw(),
            group: group.as_raw(),
            other: false,
        }
    }
}

impl Container {
    /// Prepares what is beside the agent's own folders.
    pub(in crate::sandbox) fn around(folder: &Folder, ready: Ready) -> Result<Self, SandboxError> {
        let user = User::choose();
        let (ways, etc) = (folder.inner("ways")?, folder.inner("etc")?);
        let file_error = |path: &Path| {
            let path = path.to_owned();
            move |source| SandboxError::File { path, source }
        };
        etc::write_own(&etc, &user.id.to_string(), &user.group.to_string()).map_err(file_error(&etc))?;
        // Read by somebody else, in folders that the sandbox's own closes to everybody.
        let files = etc::own_names().map(|name| (etc.join(name), 0o644));
        let roots_home = user.other.then(|| folder.inner("root")).transpose()?;
        let folders = [Some(&ways), Some(&etc), roots_home.as_ref()].into_iter().flatten();
        let folders = folders.map(|path| (path.clone(), 0o755));
        for (path, mode) in files.into_iter().chain(folders) {
            fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(file_error(&path))?;
        }
        let standing = Standing::note(ready.engine.clone(), folder.path()).map_err(file_error(folder.path()))?;
        Ok(Self {
            ready,
            ways: Ways::through(ways),
            etc,
            roots_home,
            user,
            standing,
        })
    }

    /// Who has to own the agent's files, if not the worker's user.
    pub(in crate::sandbox) fn owner(&self) -> Option<(u32, u32)> {
        self.user.other.then_some((self.user.id, self.user.group))
    }

    /// Opens a way to a loopback port. Gives the port inside.
    pub(in crate::sandbox) fn open_way(&mut self, port: u16) -> Result<u16, SandboxError> {
        let (inside, socket) = self.ways.open(port)?;
        fs::set_permissions(socket, Permissions::from_mode(0o666)).map_err(SandboxError::Way)?;
        Ok(inside)
    }

    /// What shuts the program of `spec` in.
    pub(in crate::sandbox) fn command_line(
        &self,
        launcher: &Launcher,
        spec: &Spec,
        own_folders: &[&View],
        channel: i32,
        (limits, resources): (OwnLimits, Resources),
        marker: &str,
    ) -> Result<CommandLine, SandboxError> {
        let name = format!("mcproctor-{marker}-{}", self.standing.begin());
        let rootless = self.ready.engine.kind == EngineKind::Podman && !self.user.other;
        let room = arguments::Room {
            engine: self.ready.engine.kind,
            name: &name,
            label: &self.standing.label(),
            marker: &format!("{MARKER}={marker}"),
            image: self.ready.image(),
            launcher: &launcher.program,
            launcher_args: &launcher.args,
            ways: self.ways.folder(),
            etc: &self.etc,
            own_folders,
            roots_home: self.roots_home.as_deref(),
            cwd: &spec.cwd,
            user: (self.user.id, self.user.group),
            keep_user: rootless,
            resources,
        };
        let plan = Plan {
            channel,
            kind: Kind::Container(Entrance {
                engine: self.ready.engine.program.clone(),
                args: arguments::arguments(&room, &confined::installed_files(spec)),
                environment: engine::environment(),
                socket: self.ways.folder().join(ENTRANCE),
                standing: self.standing.file().to_owned(),
            }),
            ways: self.ways.plan(),
            limits,
        };
        let spec = Spec {
            program: at_its_place(&spec.program),
            ..spec.clone()
        };
        Ok(CommandLine {
            program: launcher.program.clone(),
            args: confined::arguments(launcher, &plan, &spec)?,
        })
    }
}

/// Where the program really lies, when it is not the image's: what is mounted at a link's place is a file there, and a script
/// finds nothing beside it.
fn at_its_place(program: &Path) -> PathBuf {
    if arguments::is_of_the_image(program) {
        return program.to_owned();
    }
    program.canonicalize().unwrap_or_else(|_| program.to_owned())
}
