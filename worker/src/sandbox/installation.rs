//! Which files belong to an installed program.

use std::path::{Path, PathBuf};

/// Where Node's packages lie.
const PACKAGES: &str = "node_modules";

/// What has to be readable for `program` to run, beside the system's folders: the file itself with the links that lead to
/// it, and the tree that it was installed with. Kept narrow: a program in a user's `~/.local/bin` opens nothing of `~/.local`.
pub(super) fn files_of(program: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut next = Some(program.to_owned());
    // Links to links, as package managers make them.
    while let Some(path) = next.take().filter(|path| files.len() < 16 && !files.contains(path)) {
        files.extend(tree_of(&path));
        next = path
            .read_link()
            .ok()
            .and_then(|target| Some(path.parent()?.join(target)));
        files.push(path);
    }
    if let Ok(real) = program.canonicalize() {
        files.extend(tree_of(&real));
        files.push(real);
    }
    files.sort();
    files.dedup();
    files
}

/// The folder that was installed as a whole with `program`, if it is one of a known kind.
fn tree_of(program: &Path) -> Option<PathBuf> {
    let outermost_packages = program
        .ancestors()
        .filter(|folder| folder.file_name().is_some_and(|name| name == PACKAGES))
        .last();
    if let Some(packages) = outermost_packages {
        return Some(packages.to_owned());
    }
    let prefix = program.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let known = [
        // A virtual environment of Python (PEP 405).
        "pyvenv.cfg",
        // A version of Node, with what was installed for it.
        "lib/node_modules",
        // An environment of conda.
        "conda-meta",
    ];
    // The root of the system and `/usr` are the system's; `/usr/local/lib/node_modules` lies in it.
    (prefix.parent().is_some() && known.iter().any(|mark| prefix.join(mark).exists())).then(|| prefix.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn a_program_in_a_home_folder_opens_itself_and_where_its_links_lead_and_no_more() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let real = home.join(".local/share/agent/versions/2.1");
        touch(&real);
        touch(&home.join(".local/share/keyrings/login"));
        fs::create_dir_all(home.join(".local/bin")).unwrap();
        let link = home.join(".local/bin/agent");
        symlink("../share/agent/versions/2.1", &link).unwrap();
        let files = files_of(&link);
        assert!(files.contains(&link) && files.contains(&real));
        assert!(files.iter().all(|file| file.is_file()), "{files:?}");
    }

    #[test]
    fn a_package_comes_with_the_packages_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let real = folder.join("agents/node_modules/@maker/agent/node_modules/native/cli");
        touch(&real);
        let link = folder.join("agents/node_modules/.bin/agent");
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink("../@maker/agent/node_modules/native/cli", &link).unwrap();
        let files = files_of(&link);
        assert!(files.contains(&folder.join("agents/node_modules")));
        assert!(!files.contains(&folder.join("agents")));
    }

    #[test]
    fn a_virtual_environment_comes_whole() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        touch(&folder.join("venv/pyvenv.cfg"));
        touch(&folder.join("venv/bin/agent"));
        assert!(files_of(&folder.join("venv/bin/agent")).contains(&folder.join("venv")));
    }

    #[test]
    fn links_in_a_circle_come_to_an_end() {
        let folder = tempfile::tempdir().unwrap();
        symlink("b", folder.path().join("a")).unwrap();
        symlink("a", folder.path().join("b")).unwrap();
        assert_eq!(files_of(&folder.path().join("a")).len(), 2);
    }
}
