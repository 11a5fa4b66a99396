//! Who may use what.

use std::path::Path;

use crate::map::rooms;
use crate::tree::{code, rust_files, uses};

const NOT_PURE: [&str; 11] = [
    "axum",
    "hyper",
    "hyper_util",
    "mcproctor_worker",
    "prost",
    "rusqlite",
    "tokio",
    "tokio_stream",
    "tokio_util",
    "tonic",
    "tower",
];

/// Rooms that have to stay pure, whatever the map says.
const PURE: [(&str, &str); 21] = [
    ("coordinator/src/", "yaml/"),
    ("coordinator/src/", "config/"),
    ("coordinator/src/", "expectation/"),
    ("coordinator/src/", "testcase/"),
    ("coordinator/src/", "plan.rs"),
    ("coordinator/src/", "scheduler/state.rs"),
    ("coordinator/src/", "conversation.rs"),
    ("coordinator/src/", "validation/"),
    ("coordinator/src/", "outcome/"),
    ("coordinator/src/", "record.rs"),
    ("coordinator/src/", "stats/"),
    ("coordinator/src/", "compare/"),
    ("coordinator/src/", "report/"),
    ("worker/src/", "iteration/state.rs"),
    ("worker/src/", "proxy/pairing/"),
    ("worker/src/", "sse.rs"),
    ("coordinator/src/", "threshold/"),
    ("coordinator/src/", "cut.rs"),
    ("coordinator/src/", "markdown/"),
    ("coordinator/src/", "unseen.rs"),
    ("coordinator/src/", "words.rs"),
];

/// Rooms of the worker that may use any other.
const COMPOSING: [&str; 4] = ["command", "endpoint", "iteration", "link"];

/// Rooms of the worker that any other may use, and that use none.
const FOR_ALL: [&str; 7] = [
    "descriptors",
    "hop_by_hop",
    "loopback",
    "question",
    "refused",
    "search_path",
    "sse",
];

/// What is found in every file under `folders` but those under `allowed`.
fn only_in(folders: &[&str], allowed: &[&str], what: &str, is_there: impl Fn(&str) -> bool) {
    let mut found = 0;
    for path in folders.iter().flat_map(|folder| rust_files(folder)) {
        if is_there(&code(&path)) {
            found += 1;
            assert!(
                allowed.iter().any(|start| path.starts_with(start)),
                "{path} uses {what}, which is for {allowed:?} only"
            );
        }
    }
    assert!(found > 0, "nothing uses {what}: the rule is out of date");
}

#[test]
fn pure_rooms_use_no_runtime_no_network_and_no_database() {
    for (base, room) in PURE {
        assert_eq!(rooms(base).get(room), Some(&true), "{base}{room} is not marked as pure");
    }
    for base in ["coordinator/src/", "worker/src/"] {
        for (room, _) in rooms(base).into_iter().filter(|(_, pure)| *pure) {
            for path in rust_files(&format!("{base}{}", room.trim_end_matches('/'))) {
                let code = code(&path);
                for name in NOT_PURE {
                    assert!(!uses(&code, name), "{path} is pure, and uses {name}");
                }
            }
        }
    }
}

#[test]
fn generated_types_stay_at_the_border() {
    only_in(
        &["coordinator/src", "worker/src"],
        &["coordinator/src/rpc/", "worker/src/link/"],
        "generated types",
        |code| {
            uses(code, "v1")
                || code
                    .split(';')
                    .any(|statement| uses(statement, "mcproctor_proto") && statement.contains("v1"))
        },
    );
}

#[test]
fn the_coordinator_uses_the_worker_only_in_its_commands() {
    only_in(&["coordinator/src"], &["coordinator/src/cli/"], "the worker", |code| {
        uses(code, "mcproctor_worker")
    });
    only_in(
        &["worker/src"],
        &["worker/src/main.rs"],
        "its own library by name",
        |code| {
            assert!(!uses(code, "mcproctor"), "a worker uses the coordinator");
            uses(code, "mcproctor_worker")
        },
    );
}

#[test]
fn only_the_demo_uses_the_examples() {
    let demo = ["coordinator/src/cli/demo"];
    for name in ["weather_server", "scripted_model"] {
        only_in(&["coordinator/src", "worker/src"], &demo, name, |code| uses(code, name));
    }
}

#[test]
fn a_library_with_a_room_of_its_own_stays_there() {
    let rooms: [(&str, &[&str]); 2] = [
        ("askama", &["coordinator/src/compare/", "coordinator/src/report/"]),
        ("rusqlite", &["coordinator/src/store/"]),
    ];
    for (name, room) in rooms {
        only_in(&["coordinator/src", "worker/src"], room, name, |code| uses(code, name));
    }
}

#[test]
fn rooms_of_the_worker_do_not_use_each_other() {
    let names: Vec<String> = rooms("worker/src/")
        .into_keys()
        .filter(|room| !room.trim_end_matches('/').contains('/'))
        .map(|room| room.trim_end_matches('/').trim_end_matches(".rs").to_owned())
        .filter(|room| !matches!(room.as_str(), "main" | "lib"))
        .collect();
    for path in rust_files("worker/src") {
        let own = Path::new(&path)
            .components()
            .nth(2)
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap();
        let own = own.trim_end_matches(".rs");
        if COMPOSING.contains(&own) {
            continue;
        }
        let code = code(&path);
        for other in names
            .iter()
            .filter(|other| *other != own && !FOR_ALL.contains(&other.as_str()))
        {
            assert!(!code.contains(&format!("crate::{other}::")), "{path} uses {other}");
        }
    }
}
