//! Commands in kept rooms: at the workspace's own path, as this user and as an ordinary one, and in a copy where mounts
//! are refused. This program is also the supervisor of these commands.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use ralph_engine::clock::Clock;
use ralph_engine::redact::Redactor;
use ralph_engine::room::{DependencyFolder, RoomFile, RoomFolder, Source};
use ralph_engine::under_way::UnderWay;
use ralph_engine::verification::{Room, Runner, VerifyCommand};
use ralph_rules::record::CheckOutcome;
use ralph_snapshots::Blobs;
use ralph_supervisor::Launch;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const NOBODY: u32 = 65534;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(word) if word == "__supervise" => return ralph_supervisor::supervise(args),
        Some(word) if word == "--list" => println!("rooms: test"),
        Some(word) if word == "as_myself" => play(Path::new(&args.next().unwrap())),
        Some(filter) if !filter.as_encoded_bytes().starts_with(b"-") => {
            println!("skipped: only some tests are run");
        }
        _ => {
            let dir = tempfile::tempdir().unwrap();
            play(dir.path());
            as_nobody();
        }
    }
    ExitCode::SUCCESS
}

/// Plays everything again as an ordinary user, if this is root.
fn as_nobody() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (exe, scene) = (dir.path().join("rooms"), dir.path().join("scene"));
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    fs::create_dir(&scene).unwrap();
    for path in [dir.path(), &exe, &scene] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    chown(&scene, Some(NOBODY), Some(NOBODY)).unwrap();
    let become_nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut again = Command::new("setpriv");
    again.args(become_nobody).arg(&exe).arg("as_myself").arg(&scene).current_dir("/");
    assert!(again.status().unwrap().success(), "as an ordinary user");
}

fn play(dir: &Path) {
    if !mounts_are_permitted(dir) {
        where_mounts_are_refused_the_room_is_used_at_its_own_path(&Scene::new(&dir.join("refused")));
        println!("the copy only: user {} may not mount", rustix::process::geteuid().as_raw());
        return;
    }
    let scenarios: [fn(&Scene); 5] = [
        commands_see_the_room_at_the_path_of_the_workspace,
        what_they_write_stays_in_the_room,
        builds_are_warm_and_right,
        a_rewritten_test_is_noticed,
        a_room_that_was_used_at_its_own_path_can_be_mounted,
    ];
    for (number, scenario) in scenarios.into_iter().enumerate() {
        scenario(&Scene::new(&dir.join(number.to_string())));
    }
    println!("{} scenarios as user {}", scenarios.len(), rustix::process::geteuid().as_raw());
}

/// As `unshare` says: whether the product can is what is tested.
fn mounts_are_permitted(dir: &Path) -> bool {
    if ralph_os::missing().iter().any(|one| one.what.contains("private view")) {
        return false;
    }
    let root = rustix::process::geteuid().is_root();
    let as_root: &[&str] = if root { &[] } else { &["--user", "--map-root-user"] };
    let mut probe = Command::new("unshare");
    probe.args(as_root).args(["--mount", "mount", "--bind"]).arg(dir).arg(dir);
    probe.output().is_ok_and(|output| output.status.success())
}

struct Scene {
    dir: PathBuf,
    workspace: PathBuf,
}

type Wanted = BTreeMap<Vec<u8>, RoomFile>;

impl Scene {
    fn new(dir: &Path) -> Scene {
        let workspace = dir.join("work, a:b");
        for (path, text) in [
            ("src/a.txt", "the agent's"),
            ("built.o", "by the agent"),
            (".git/HEAD", "ref: refs/heads/main"),
            ("node_modules/lib/index.js", "installed"),
            ("node_modules/.cache/x", "the agent's"),
        ] {
            let at = workspace.join(path);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, text).unwrap();
        }
        Scene { dir: dir.to_owned(), workspace }
    }

    fn filled(&self, wanted: &Wanted) -> RoomFolder {
        let mut folder = RoomFolder::open(&self.dir.join("room")).unwrap();
        folder.fill(wanted, &self.workspace, &Blobs::at(self.dir.join("blobs"))).unwrap();
        folder
    }

    fn dependencies() -> [DependencyFolder; 1] {
        [DependencyFolder { path: b"node_modules".as_slice().into() }]
    }

    /// Runs commands in a room and returns what each printed.
    fn run(&self, room: &mut Room<'_>, commands: &[&str]) -> Vec<String> {
        let clock = Clock::from(0);
        let nothing: [(&str, &str); 0] = [];
        let redactor = Redactor::new(nothing.into_iter());
        let runner = Runner {
            launch: Launch::new(std::env::current_exe().unwrap(), "sh", &self.workspace),
            deadline: 60_000,
            until: None,
            after_failure: true,
            clock: &clock,
            redactor: &redactor,
            under_way: &UnderWay::default(),
            sandbox: None,
            run: None,
        };
        let commands: Vec<_> = commands.iter().map(|line| VerifyCommand { line, output: None }).collect();
        let results = runner.run(&commands, room, &mut |_, _| ()).unwrap();
        let passed = |result: &ralph_rules::record::CheckResult| {
            assert_eq!(result.how, CheckOutcome::Passed, "{result:?}");
            result.tail.clone()
        };
        results.iter().map(passed).collect()
    }
}

fn wanted(files: &[(&str, &str)]) -> Wanted {
    let file = |text: &str| RoomFile {
        source: Source::Bytes(text.as_bytes().to_vec()),
        hash: 0,
        mode: 0o644,
        link: false,
    };
    files.iter().map(|(path, text)| (path.as_bytes().to_vec(), file(text))).collect()
}

fn baseline() -> Wanted {
    wanted(&[(".gitignore", "*.o\nnode_modules/\n"), ("src/a.txt", "chosen"), ("tests/t", "expected")])
}

fn commands_see_the_room_at_the_path_of_the_workspace(scene: &Scene) {
    let (folder, dependencies) = (scene.filled(&baseline()), Scene::dependencies());
    let mut room = Room::kept(&folder, &scene.workspace, &dependencies).unwrap();
    let script = "pwd; cat src/a.txt node_modules/lib/index.js; ls -A . node_modules; id -u; echo $PYTHONPYCACHEPREFIX";
    let told = scene.run(&mut room, &[script]);
    let user = rustix::process::geteuid().as_raw();
    let expected = format!(
        "{}\nchoseninstalled.:\n.gitignore\nnode_modules\nsrc\ntests\n\nnode_modules:\nlib\n{user}\n{}\n",
        scene.workspace.display(),
        folder.bytecode().display()
    );
    assert_eq!((room.kind(), told), ("room", vec![expected]));
}

fn what_they_write_stays_in_the_room(scene: &Scene) {
    let (folder, dependencies) = (scene.filled(&baseline()), Scene::dependencies());
    let mut room = Room::kept(&folder, &scene.workspace, &dependencies).unwrap();
    let first = "echo new > made.o; echo hacked > node_modules/lib/index.js; mkdir node_modules/more";
    let told = scene.run(&mut room, &[first, "cat made.o node_modules/lib/index.js; ls node_modules"]);
    assert_eq!(told.last().unwrap(), "new\nhacked\nlib\nmore\n", "the next command sees it");
    drop(room);
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!(read(scene.workspace.join("node_modules/lib/index.js")), "installed");
    assert!(!scene.workspace.join("made.o").exists() && !scene.workspace.join("node_modules/more").exists());
    assert_eq!(read(folder.tree().join("made.o")), "new\n");
    // The next room has the packages as they are installed.
    let mut room = Room::kept(&folder, &scene.workspace, &dependencies).unwrap();
    assert_eq!(scene.run(&mut room, &["cat made.o node_modules/lib/index.js"]), ["new\ninstalled"]);
}

fn builds_are_warm_and_right(scene: &Scene) {
    let makefile = "out.o: src/a.txt\n\tcp src/a.txt out.o; echo built\nsame.o: tests/t\n\tcp tests/t same.o; echo same\n";
    let with = |text: &str| {
        let mut files = baseline();
        files.extend(wanted(&[("Makefile", makefile), ("src/a.txt", text)]));
        files
    };
    let build = |text: &str| {
        let folder = scene.filled(&with(text));
        let mut room = Room::kept(&folder, &scene.workspace, &[]).unwrap();
        scene.run(&mut room, &["make -s out.o same.o; cat out.o"]).concat()
    };
    assert_eq!(build("one\n"), "built\nsame\none\n");
    assert_eq!(build("one\n"), "one\n", "nothing changed");
    assert_eq!(build("two\n"), "built\ntwo\n");
    assert_eq!(build("one\n"), "built\none\n", "an older content is as new as any");
}

fn a_rewritten_test_is_noticed(scene: &Scene) {
    let folder = scene.filled(&baseline());
    let mut room = Room::kept(&folder, &scene.workspace, &[]).unwrap();
    scene.run(&mut room, &["printf other > tests/t; printf expected > tests/t; cat src/a.txt"]);
    let touched = folder.rewritten(&|_| true);
    assert_eq!(touched.iter().map(ToString::to_string).collect::<Vec<_>>(), ["tests/t"]);
}

/// A dependency folder that vanishes before the mount stands for a system that refuses it.
fn where_mounts_are_refused_the_room_is_used_at_its_own_path(scene: &Scene) {
    symlink("node_modules", scene.workspace.join("vendor")).unwrap();
    let dependencies =
        [b"node_modules".as_slice(), b"vendor"].map(|path| DependencyFolder { path: path.into() });
    let folder = scene.filled(&baseline());
    let mut room = Room::kept(&folder, &scene.workspace, &dependencies).unwrap();
    fs::remove_file(scene.workspace.join("vendor")).unwrap();
    let told = scene.run(&mut room, &["pwd; cat src/a.txt node_modules/lib/index.js", "echo again"]);
    let first = format!("{}\nchoseninstalled", folder.tree().display());
    assert_eq!((room.kind(), told), ("copy", vec![first, "again\n".into()]));
}

fn a_room_that_was_used_at_its_own_path_can_be_mounted(scene: &Scene) {
    where_mounts_are_refused_the_room_is_used_at_its_own_path(scene);
    commands_see_the_room_at_the_path_of_the_workspace(scene);
}
