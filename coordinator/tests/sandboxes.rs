//! Whole runs at the levels that confine.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod support;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use serde_json::{Value, json};

use support::{Bed, MODEL_KEY, Results};

const LEVELS: [&str; 3] = ["landlock", "bubblewrap", "container"];

const SCENARIO: &str = "
scenarios:
  - when: weather
    words: {city: [Vienna, Graz]}
    steps:
      - ask: Which city?
      - call: {tool: get_current_weather, arguments: {city: '{city}'}}
      - answer: '{city}: {result}'
";

fn bed(level: &str) -> Bed {
    let mut bed = Bed::new(SCENARIO);
    bed.case_with_answers("weather", "How is the weather?", &["get_current_weather"], &["Graz"]);
    bed.config["run"]["sandbox"] = json!(level);
    bed
}

fn levels_of(results: &Results) -> Vec<&Value> {
    results
        .iterations()
        .iter()
        .map(|iteration| &iteration["sandbox"])
        .collect()
}

#[test]
fn a_conversation_passes_at_every_level_and_the_level_is_told() {
    for level in LEVELS {
        let bed = bed(level);
        let ran = bed.run(&["-i", "4"]);
        assert_eq!(ran.code, Some(0));
        let results = bed.results();
        assert_eq!(results.verdicts(), ["passed"; 4]);
        assert_eq!(levels_of(&results), [level; 4]);
        assert_eq!(results["run"]["agents"][0]["sandbox"], level);
        let announced = format!("agent builtin: sandbox {level} (");
        assert!(ran.stdout.contains(&announced), "{}", ran.stdout);
        bed.wait_until_nothing_runs();
        let left: Vec<_> = std::fs::read_dir(bed.path("cache/mcproctor/sandboxes"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn an_ordinary_user_runs_at_every_level_that_takes_no_engine() {
    for level in ["landlock", "bubblewrap"] {
        let mut bed = Bed::of_an_ordinary_user(SCENARIO);
        bed.case_with_answers("weather", "How is the weather?", &["get_current_weather"], &["Graz"]);
        bed.config["run"]["sandbox"] = json!(level);
        assert_eq!(bed.run(&["-i", "2"]).code, Some(0), "{level}");
        let results = bed.results();
        assert_eq!(results.verdicts(), ["passed"; 2]);
        assert_eq!(levels_of(&results), [level; 2]);
        bed.wait_until_nothing_runs();
    }
}

/// A script that looks for the model's key in `processes` and `files`, patterns of a shell, and then runs the agent. It ends
/// with 9 where it finds the key in a file, with 8 where it finds it in a process's memory.
///
/// The two halves of the key meet only in memory that is not looked at: the shell's, which passes them on by a pipe, and
/// the searching program's own.
fn search(processes: &str, files: &str) -> String {
    let (first, rest) = MODEL_KEY.split_at(7);
    format!(
        r#"
        key="{first}""{rest}"
        /usr/bin/python3 -c '
import os, sys
planted = (sys.argv[1] + sys.argv[2]).encode()
for process in sys.argv[3:]:
    if process in ("/proc/self", "/proc/%d" % os.getpid(), "/proc/%d" % os.getppid()):
        continue
    try:
        with open(process + "/maps") as maps, open(process + "/mem", "rb", 0) as memory:
            for line in maps:
                place, rights = line.split()[:2]
                start, end = (int(x, 16) for x in place.split("-"))
                last = b""
                while rights.startswith("r") and start < end:
                    try:
                        memory.seek(start)
                        piece = memory.read(min(end - start, 1 << 24))
                    except (OSError, OverflowError):
                        break
                    if planted in last + piece:
                        sys.exit(8)
                    start, last = start + max(len(piece), 1), piece[-len(planted):]
    except OSError:
        pass' {first} {rest} {processes} || exit $?
        for process in {processes}; do
            [ "$process" = "/proc/$$" ] && continue
            for file in environ cmdline maps status; do
                printf %s "$key" | grep -qaF -f - "$process/$file" 2>/dev/null && exit 9
            done
        done
        printf %s "$key" | grep -rqaF -f - {files} --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=dev 2>/dev/null && exit 9
        "$@"
        "#
    )
}

#[test]
fn the_models_key_is_nowhere_to_be_found_inside() {
    let script = search("/proc/[0-9]* /proc/self /proc/1 /proc/$PPID", "/");
    for level in LEVELS {
        let mut bed = bed(level);
        let agent = bed.around_builtin(&script);
        bed.agents(&[agent]);
        assert_eq!(bed.run(&[]).code, Some(0), "{level}");
        assert_eq!(bed.results().verdict(), "passed", "{level}");
        assert!(!bed.asked().is_empty());
    }
}

#[test]
fn where_nothing_confines_the_same_search_finds_it() {
    let found = |processes: &str, files: &str| {
        let mut bed = bed("process");
        let files = files.replace("BED", bed.path("").to_str().unwrap());
        let agent = bed.around_builtin(&search(processes, &files));
        bed.agents(&[agent]);
        bed.run(&[]);
        bed.results().reason().to_owned()
    };
    let config = found("/proc/self", "BED/eval.yaml");
    assert!(config.contains("code 9"), "{config}");
    // The worker keeps its memory to itself, but not from root.
    let memory = found("/proc/$PPID", "/nothing");
    assert_eq!(
        memory.contains("code 8"),
        rustix::process::geteuid().is_root(),
        "{memory}"
    );
}

#[test]
fn a_level_that_cannot_be_set_up_makes_attempts_invalid_with_reason_and_remedy() {
    let mut bed = bed("bubblewrap");
    // No program is found there.
    bed.env
        .push(("PATH".to_owned(), bed.path("home").display().to_string()));
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/machinery");
    assert_eq!(results.only()["attempts"], 2);
    assert_eq!(levels_of(&results), ["bubblewrap"], "no weaker level was taken");
    for text in [results.reason(), ran.stdout.as_str()] {
        assert!(text.contains("`bwrap` is not installed"), "{text}");
        assert!(text.contains("apt-get install bubblewrap"), "{text}");
    }
    assert!(bed.asked().is_empty(), "no agent was started");
}

#[test]
fn without_an_engine_or_its_image_nothing_runs_and_what_would_help_is_told() {
    let asked = |bed: &Bed, reason: &str, remedy: &str| {
        let ran = bed.run(&[]);
        assert_eq!(ran.code, Some(3));
        let results = bed.results();
        assert_eq!(results.verdict(), "invalid/machinery");
        assert_eq!(levels_of(&results), ["container"], "no weaker level was taken");
        for text in [results.reason(), ran.stdout.as_str()] {
            assert!(text.contains(reason) && text.contains(remedy), "{text}");
        }
        assert!(bed.asked().is_empty(), "no agent was started");
    };
    let mut without_engine = bed("container");
    let nothing = without_engine.path("home").display().to_string();
    without_engine.env.push(("PATH".to_owned(), nothing));
    asked(
        &without_engine,
        "neither `docker` nor `podman` is installed",
        "apt-get install docker.io",
    );
    let mut silent = bed("container");
    let bin = silent.path("bin");
    std::fs::create_dir(&bin).unwrap();
    let engine = bin.join("docker");
    std::fs::write(&engine, "#!/bin/sh\nexec /bin/sleep 600\n").unwrap();
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    silent.env.push(("PATH".to_owned(), bin.display().to_string()));
    asked(&silent, "`docker` does not answer: no word in 2 seconds", "start it");
    let mut without_image = bed("container");
    without_image.config["run"]["sandbox"] = json!({"level": "container", "image": "no-such-image:1"});
    asked(
        &without_image,
        "there is no image `no-such-image:1`",
        "docker pull no-such-image:1",
    );
}

#[test]
fn a_run_in_containers_pins_their_image() {
    let bed = bed("container");
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    let image = results["run"]["agents"][0]["image"].as_str().unwrap().to_owned();
    assert!(image.starts_with("sha256:") && image.len() > 70, "{image}");
    let mut other = bed;
    other.config["run"]["sandbox"] = json!("bubblewrap");
    assert_eq!(other.run(&[]).code, Some(0));
    assert_eq!(other.results()["run"]["agents"][0]["image"], Value::Null);
}

#[test]
fn what_relay_and_proxy_refused_is_an_escape() {
    let script = r#"
        curl --silent "$6/files?purpose=x"
        server=$(sed 's/.*"url": *"\([^"]*\)".*/\1/' "$4")
        server=$(dirname "$server")
        curl --silent "$server/admin"
        curl --silent "$server/.well-known/oauth-protected-resource"
        "$@"
        "#;
    for level in ["process", "landlock", "bubblewrap", "container"] {
        let mut bed = bed(level);
        let agent = bed.around_builtin(script);
        bed.agents(&[agent]);
        bed.run(&[]);
        let results = bed.results();
        let escapes = &results.only()["escapes"];
        let told: Vec<_> = escapes
            .as_array()
            .unwrap()
            .iter()
            .filter(|escape| escape["turn"] == 0)
            .map(|escape| (escape["kind"].as_str().unwrap(), escape["what"].as_str().unwrap()))
            .collect();
        assert_eq!(
            told,
            [
                ("refused", "GET /v1/files (refused by the relay)"),
                ("refused", "GET /admin (refused by the proxy)"),
            ],
            "{level}"
        );
    }
}

#[test]
fn a_limit_that_is_reached_is_no_verdict_about_the_agent() {
    let mut bed = bed("process");
    bed.config["run"]["sandbox"] = json!({"level": "landlock", "diskMb": 5});
    bed.config["run"]["maxAttempts"] = json!(1);
    let agent =
        bed.around_builtin(r#"dd if=/dev/zero of=one bs=1M count=4; dd if=/dev/zero of=two bs=1M count=4; "$@""#);
    bed.agents(&[agent]);
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/machinery");
    let told = "more than 5 MB of disk: raise `run.sandbox.diskMb`, which is 5";
    assert!(bed.results().reason().contains(told), "{}", bed.results().reason());
}

#[test]
fn an_agent_that_waits_for_a_helper_that_it_may_not_start_does_not_run_out_of_time() {
    let script = r#"
        /usr/bin/python3 -c '
import threading, time
for _ in range(400):
    threading.Thread(target=time.sleep, args=(600,)).start()'
        sleep 600
        "#;
    // Its engine counts for everybody.
    let mut bed = bed("container");
    bed.config["run"]["sandbox"] = json!({"level": "container", "processes": 300});
    bed.config["run"]["maxAttempts"] = json!(1);
    bed.config["run"]["timeoutSeconds"] = json!(10);
    let agent = bed.around_builtin(script);
    bed.agents(&[agent]);
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/machinery");
    let told = "raise `run.sandbox.processes`, which is 300";
    assert!(bed.results().reason().contains(told), "{}", bed.results().reason());
}

/// Lets this process, and what it starts, have 256 files open until dropped; who wants more may have 1024.
struct FewFiles(Rlimit);

impl FewFiles {
    fn new() -> Self {
        let before = getrlimit(Resource::Nofile);
        let few = Rlimit {
            current: Some(256),
            maximum: Some(1024),
        };
        setrlimit(Resource::Nofile, few).unwrap();
        Self(before)
    }
}

impl Drop for FewFiles {
    fn drop(&mut self) {
        // Only root gets back what it gave up.
        let most = Rlimit {
            current: Some(1024),
            maximum: Some(1024),
        };
        let _ = setrlimit(Resource::Nofile, self.0).or_else(|_| setrlimit(Resource::Nofile, most));
    }
}

#[test]
fn an_agent_that_takes_every_connection_takes_none_from_another_attempt() {
    // 1,200 connections, of 12 processes, to the proxy and as many to the relay; held until it is ended.
    let hog = r#"
        server=$(sed 's/.*"url": *"http:..\([^/"]*\).*/\1/' "$4")
        model=$(printf %s "$6" | sed 's|http://\([^/]*\).*|\1|')
        for process in 1 2 3 4 5 6 7 8 9 10 11 12; do
            /usr/bin/python3 -c '
import socket, sys, time
held = []
for address in sys.argv[1:]:
    host, port = address.split(":")
    for _ in range(100):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex((host, int(port)))
        held.append(connection)
time.sleep(600)' "$server" "$model" &
        done
        wait
        "#;
    // It knows the limit that was found; the worker has raised its own.
    let other = r#"[ "$(ulimit -Sn)" = 256 ] || exit 8; sleep 3; "$@""#;
    for level in ["process", "landlock", "bubblewrap"] {
        let mut bed = bed(level);
        bed.config["run"]["timeoutSeconds"] = json!(15);
        bed.config["run"]["maxAttempts"] = json!(1);
        let (mut hog, mut other) = (bed.around_builtin(hog), bed.around_builtin(other));
        hog["name"] = json!("hog");
        other["name"] = json!("other");
        bed.agents(&[hog, other]);
        let few = FewFiles::new();
        let running = bed.start(&["-i", "1"]);
        drop(few);
        running.wait();
        let results = bed.results();
        let of = |name: &str| {
            let mut all = results.iterations().iter();
            all.find(|iteration| iteration["agent"] == name).unwrap().clone()
        };
        let (hog, other) = (of("hog"), of("other"));
        assert_eq!(hog["turns"][0]["ending"], "timed_out", "{level}: {hog}");
        assert_eq!(other["outcome"], "passed", "{level}: {other}");
        // While the connections were held.
        assert!(other["durationMs"].as_u64().unwrap() < 12_000, "{level}: {other}");
    }
}

#[test]
fn what_is_ready_is_told_by_check() {
    let bed = bed("landlock");
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    for line in [
        "sandbox landlock: Landlock ABI ",
        "sandbox bubblewrap: ",
        "sandbox container: ",
        "notice: agent builtin: sandbox landlock (Landlock ABI ",
    ] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
}

/// 24; the long form of the suite asks for 500.
fn iterations() -> usize {
    std::env::var("MCPROCTOR_TEST_ITERATIONS").map_or(24, |count| count.parse().unwrap())
}

/// The containers that show something of this folder, running or not.
fn containers_at(folder: &std::path::Path) -> Vec<String> {
    let engine = |args: &[&str]| {
        let mut engines = ["docker", "podman"].into_iter();
        let output = engines.find_map(|engine| {
            let output = std::process::Command::new(engine).args(args).output().ok()?;
            output.status.success().then_some(output.stdout)
        });
        String::from_utf8(output.unwrap_or_default()).unwrap()
    };
    let all = engine(&["ps", "--all", "--quiet", "--filter", "label=mcproctor.sandbox"]);
    let of_folder = |id: &&str| engine(&["inspect", id]).contains(folder.to_str().unwrap());
    all.lines().filter(of_folder).map(str::to_owned).collect()
}

#[test]
fn nothing_is_left_when_workers_are_killed_in_between() {
    for level in LEVELS {
        let mut bed = bed(level);
        bed.config["run"]["sandbox"] = json!({"level": level, "processes": 1000, "memoryMb": 4000});
        // The same iteration may be hit more than once.
        bed.config["run"]["maxAttempts"] = json!(10);
        // Those of other tests' containers, which an engine makes where everybody sees them, are none of this run's.
        let mounts = || {
            let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
            let of_engine = |line: &str| {
                [" - overlay ", " - nsfs ", " - tmpfs shm "]
                    .iter()
                    .any(|kind| line.contains(kind))
            };
            text.lines().filter(|line| !of_engine(line)).count()
        };
        let before = mounts();
        let iterations = iterations();
        let mut running = bed.start(&["-i", &iterations.to_string(), "--workers", "2"]);
        for passed in [iterations / 6, iterations / 3, iterations / 2] {
            running.wait_for("results", |text| text.matches(" passed weather #").count() >= passed);
            let workers = running.workers();
            let victim = Pid::from_raw(workers.first().unwrap().id).unwrap();
            kill_process(victim, Signal::KILL).unwrap();
        }
        assert_eq!(running.wait().code, Some(0));
        assert_eq!(bed.results().verdicts(), vec!["passed"; iterations]);
        bed.wait_until_nothing_runs();
        let left: Vec<_> = std::fs::read_dir(bed.path("cache/mcproctor/sandboxes"))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(containers_at(&bed.path("cache")), Vec::<String>::new());
        assert_eq!(mounts(), before);
    }
}
