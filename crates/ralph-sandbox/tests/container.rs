//! Programs in real containers: podman, with this machine's own root as the image.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use ralph_sandbox::container::{self, RUN_LABEL, Unusable, WORKSPACE_LABEL};
use ralph_sandbox::{
    Backend, Container, ContainerEngine, ContainerUser, Ids, LayerFallback, Mount, Network, Plan, Promise,
};
use ralph_testkit::{PODMAN_SETTINGS, Scratch, podman_settings};
use rustix::process::{Pid, Signal};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SECRET: &str = "CONTAINER_TEST_TOKEN";

/// A workspace with protected paths, and the plan of a container for it.
struct Scene {
    scratch: Scratch,
    plan: Plan,
    settings: PathBuf,
}

fn container(plan: &Plan) -> &Container {
    let Backend::Container(container) = &plan.backend else { panic!("{:?}", plan.backend) };
    container
}

fn executable(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

impl Scene {
    fn new() -> Scene {
        let scratch = Scratch::new();
        scratch.files(&[("src/auth/key.rs", "auth\n"), ("ralph.toml", "[run]\n"), ("lib/a.rs", "a\n")]);
        let workspace = scratch.workspace();
        let tmp = scratch.root().join("tmp");
        std::fs::create_dir(&tmp).unwrap();
        let settings = podman_settings(scratch.root());
        let path = std::env::var_os("PATH").unwrap();
        let found = container::check(ContainerEngine::Podman, "/", &path, &workspace).expect("podman works");
        let label = workspace.display().to_string();
        let container = Container {
            env: container::passed_variables(["HOME", "PATH", "LANG", "PASSED"], &[]),
            labels: vec![(RUN_LABEL.into(), label.clone()), (WORKSPACE_LABEL.into(), label)],
            ..found
        };
        let protect = ["src/auth", "ralph.toml"].map(|path| Mount::Protect(workspace.join(path)));
        let plan = Plan {
            backend: Backend::Container(container),
            workspace,
            tmp,
            mounts: protect.to_vec(),
            network: Network::Off,
            processes: 256,
            memory: 1 << 30,
            nested: false,
            ids: Ids::Own,
        };
        Scene { scratch, plan, settings }
    }

    /// A box of this plan, below a supervisor, to be started.
    fn boxed(&self, script: &str) -> Command {
        std::fs::write(self.file("plan"), serde_json::to_vec(&self.plan).unwrap()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ralph-sandbox-test"));
        command.arg("run").arg(self.file("plan")).arg(&self.plan.workspace).args(["/bin/sh", "-c", script]);
        command.env(PODMAN_SETTINGS, &self.settings).env(SECRET, "swordfish").env("PASSED", "on");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a script in a container: its output and the report.
    fn run(&self, script: &str, stdin: &str) -> (String, Vec<String>) {
        let mut child = self.boxed(script).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let report = text.lines().filter_map(|line| line.strip_prefix("report: ").map(str::to_owned));
        (text.clone(), report.collect())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.root().join(name)
    }

    fn podman(&self, args: &[&str]) -> String {
        let output = Command::new("podman").args(args).env(PODMAN_SETTINGS, &self.settings).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Containers of this scene that are there, in whatever state.
    fn left(&self) -> usize {
        let filter = format!("label={WORKSPACE_LABEL}={}", self.plan.workspace.display());
        self.podman(&["ps", "--all", "--quiet", "--filter", &filter]).lines().count()
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(30), "{what} takes too long");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_program_works_in_the_workspace_as_the_user() {
    let scene = Scene::new();
    let script = "read line; echo \"read $line\"; echo made >made; mv lib/a.rs src/; pwd; exit 7";
    let (output, report) = scene.run(script, "hello\n");
    assert!(output.contains("read hello\n"), "{output}");
    assert!(output.contains(&format!("{}\n", scene.plan.workspace.display())), "{output}");
    assert_eq!(report, ["started 3", "ended code 7"], "{output}");
    let made = std::fs::metadata(scene.plan.workspace.join("made")).unwrap();
    assert_eq!(made.uid(), rustix::process::getuid().as_raw());
    assert_eq!(scene.scratch.read("src/a.rs"), "a\n");
    assert_eq!(scene.left(), 0);
}

#[test]
fn codes_and_signals_are_the_programs_own() {
    let scene = Scene::new();
    for (script, last) in [
        ("exit 0", "ended code 0"),
        ("exit 125", "ended code 125"),
        ("exit 127", "ended code 127"),
        ("kill -KILL $$", "ended signal 9"),
        ("kill -TERM $$", "ended signal 15"),
    ] {
        let (output, report) = scene.run(script, "");
        assert_eq!(report, ["started 3", last], "{script}: {output}");
    }
}

#[test]
fn a_container_that_cannot_be_made_is_no_program_that_failed() {
    let mut scene = Scene::new();
    scene.plan.workspace = scene.file("gone");
    let (output, report) = scene.run("exit 0", "");
    assert_eq!(report.len(), 1, "{report:?} {output}");
    assert!(report[0].starts_with("failed sandbox 0 podman: "), "{report:?}");
    assert_eq!(scene.left(), 0);
}

/// One line for each attack that succeeded, judged inside; the files are judged outside.
const ATTACKS: &str = r#"
exec 2>/dev/null
(echo x >src/auth/key.rs) && echo HELD-NOT write
rm src/auth/key.rs && echo HELD-NOT delete
mv src/auth src/other && echo HELD-NOT rename
mv src other && echo HELD-NOT rename parent
ln src/auth/key.rs here && (echo x >here) && echo HELD-NOT hard link
(echo x >/run/ralph-pins/src/auth/key.rs) && echo HELD-NOT pins
chmod 777 ralph.toml && echo HELD-NOT chmod
mv lib/a.rs ralph.toml && echo HELD-NOT replace
(echo x >>ralph.toml) && echo HELD-NOT append
(echo x >../outside); (echo x >/etc/ralph-container-test); (echo x >"$HOME/ralph-container-test"); (echo x >/tmp/left)
mount -o remount,rw,bind src/auth && echo HELD-NOT remount
umount src/auth && echo HELD-NOT unmount
unshare -Urm mount -t tmpfs none /mnt && echo HELD-NOT nested mount
(echo x >/proc/sys/kernel/core_pattern) && echo HELD-NOT core pattern
(echo h >/proc/sysrq-trigger) && echo HELD-NOT sysrq
mknod /tmp/disk b 254 0 && echo HELD-NOT device
[ -n "$CONTAINER_TEST_TOKEN" ] && echo HELD-NOT variable
[ "$PASSED" = on ] || echo HELD-NOT passed variable
kill -0 $OUTSIDE && echo HELD-NOT kill
[ -d /proc/$OUTSIDE ] && echo HELD-NOT see
[ "$(tail -n +3 /proc/net/dev | wc -l)" = 1 ] || echo HELD-NOT network
echo ATTACKED
"#;

#[test]
fn attacks_are_held() {
    let scene = Scene::new();
    std::fs::write(scene.file("outside"), "mine\n").unwrap();
    let script = format!("OUTSIDE={}\n{ATTACKS}", std::process::id());
    let (output, report) = scene.run(&script, "");
    assert!(output.contains("ATTACKED") && !output.contains("HELD-NOT"), "{output}");
    assert_eq!(report.last().map(String::as_str), Some("ended code 0"));
    assert_eq!(scene.scratch.read("src/auth/key.rs"), "auth\n");
    assert_eq!(scene.scratch.read("ralph.toml"), "[run]\n");
    assert_eq!(std::fs::read_to_string(scene.file("outside")).unwrap(), "mine\n");
    assert!(!Path::new("/etc/ralph-container-test").exists());
    assert!(!Path::new("/tmp/left").exists(), "the real /tmp");
    let home = std::env::var_os("HOME").unwrap_or_default();
    assert!(!Path::new(&home).join("ralph-container-test").exists());
}

/// Makes a mount namespace of its own, lets go of the whole tree of mounts, and renames what is pinned only in that tree.
const LET_GO: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
here = os.open(".", os.O_RDONLY)
if libc.unshare(0x10020000) != 0: print("MOUNT NAMESPACE REFUSED")
if libc.unshare(0x10000000) != 0: print("NAMESPACE REFUSED")
if libc.mount(b"none", b"/mnt", b"tmpfs", 0, None) != 0: print("MOUNT REFUSED")
os.chdir("/mnt")
libc.syscall(155, b".", b".")
libc.umount2(b".", 2)
try: os.rename("src", "other", src_dir_fd=here, dst_dir_fd=here)
except OSError as error: print("HELD", error.errno)
"#;

#[test]
fn nobody_lets_go_of_the_mounts() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("let_go.py", LET_GO)]);
    for nested in [false, true] {
        scene.plan.nested = nested;
        let (output, _) = scene.run("python3 let_go.py", "");
        for expected in ["MOUNT NAMESPACE REFUSED\n", "MOUNT REFUSED\n", "HELD 16\n"] {
            assert!(output.contains(expected), "{output}");
        }
        assert_eq!(output.contains("\nNAMESPACE REFUSED\n"), !nested, "{output}");
        assert_eq!(scene.scratch.read("src/auth/key.rs"), "auth\n");
    }
}

#[test]
fn mounts_of_the_plan_are_seen() {
    let mut scene = Scene::new();
    for dir in ["shown", "written", "emptied/sub", "layered", "upper", "work", "hidden"] {
        std::fs::create_dir_all(scene.file(dir)).unwrap();
        std::fs::write(scene.file(dir).join("file"), dir).unwrap();
    }
    std::fs::remove_file(scene.file("work/file")).unwrap();
    scene.plan.mounts.extend([
        Mount::Show(scene.file("shown")),
        Mount::Write(scene.file("written")),
        Mount::Empty(scene.file("emptied")),
        Mount::Show(scene.file("emptied/sub")),
        Mount::Layer {
            at: scene.file("layered"),
            upper: scene.file("upper"),
            work: scene.file("work"),
            fallback: LayerFallback::Upper,
        },
        Mount::Show(scene.file("hidden")),
        Mount::Hide(scene.file("hidden/file")),
    ]);
    let script = "cd ..; cat shown/file hidden/file emptied/sub/file layered/file; ls -A emptied; \
                  for it in shown written emptied layered hidden; do \
                  (echo new >$it/new) 2>/dev/null && echo wrote $it; done; echo changed >layered/file";
    let (output, report) = scene.run(script, "");
    assert_eq!(report.last().map(String::as_str), Some("ended code 0"), "{output}");
    assert!(output.contains("shownemptied/subupper"), "{output}");
    assert!(output.contains("sub\nwrote written\nwrote emptied\nwrote layered\n"), "{output}");
    let there = |path: &str| scene.file(path).exists();
    assert!(there("written/new") && there("upper/new") && !there("layered/new") && !there("emptied/new"));
    assert_eq!(std::fs::read_to_string(scene.file("layered/file")).unwrap(), "layered");
}

#[test]
fn a_container_ends_with_its_supervisor() {
    let scene = Scene::new();
    let script = "trap '' TERM; echo >running; sleep 1000 & wait; sleep 1000";
    let mut supervisor = scene.boxed(script).stdin(Stdio::null()).spawn().unwrap();
    wait_until("the start", || scene.plan.workspace.join("running").exists());
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    wait_until("the end", || scene.left() == 0);
}

#[test]
fn a_container_that_was_left_is_found_by_its_label() {
    let scene = Scene::new();
    let mut supervisor = scene.boxed("trap '' TERM; echo >running; sleep 1000").spawn().unwrap();
    wait_until("the start", || scene.plan.workspace.join("running").exists());
    // The box first, so that it does not see its supervisor gone.
    for child in ralph_os::children(Pid::from_child(&supervisor)) {
        rustix::process::kill_process(child.pid, Signal::KILL).unwrap();
    }
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    assert_eq!(scene.left(), 1, "nobody was there to end it");
    let label = scene.plan.workspace.display().to_string();
    let program = &container(&scene.plan).program;
    let of_workspace = (WORKSPACE_LABEL, label.as_str());
    assert_eq!(container::labelled(program, of_workspace, RUN_LABEL), Ok(vec![label.clone()]));
    assert_eq!(container::remove_left(program, RUN_LABEL, &label), Ok(1));
    assert_eq!(container::labelled(program, of_workspace, RUN_LABEL), Ok(vec![]));
    assert_eq!((scene.left(), container::remove_left(program, RUN_LABEL, &label)), (0, Ok(0)));
}

#[test]
fn a_container_is_tried_out_before_it_is_used() {
    let mut scene = Scene::new();
    // The engine's environment is this process's own here, which lacks the settings.
    let wrapper = scene.file("podman");
    let settings = scene.settings.display();
    executable(&wrapper, &format!("#!/bin/sh\n{PODMAN_SETTINGS}={settings} exec podman \"$@\"\n"));
    let Backend::Container(container) = &mut scene.plan.backend else { unreachable!() };
    container.program = wrapper;
    let tried = |plan: &Plan, programs: &[&OsStr]| container::try_out(plan, self::container(plan), programs);
    assert_eq!(tried(&scene.plan, &[OsStr::new("sh")]), Ok(vec![]));
    let own = Path::new(env!("CARGO_BIN_EXE_ralph-sandbox-test"));
    let held = ralph_sandbox::probe(own, &scene.plan).unwrap();
    let all = [Promise::Files, Promise::ProtectedPaths, Promise::Processes, Promise::Network];
    assert_eq!((held.promises.as_slice(), held.notes), (&all[..], vec![]));
    let missing = tried(&scene.plan, &[OsStr::new("no-such-agent")]).unwrap_err().to_string();
    assert!(missing.contains("it has no program no-such-agent"), "{missing}");
    let hosts = Plan { network: Network::Gate { forward: vec![] }, ..scene.plan.clone() };
    assert_eq!(tried(&hosts, &[]), Err(Unusable::Hosts));
    assert_eq!(scene.left(), 0);
}

#[test]
fn what_is_missing_is_said_before_the_start() {
    let scene = Scene::new();
    let path = std::env::var_os("PATH").unwrap();
    let check = |engine, image, path: &OsStr| {
        container::check(engine, image, path, &scene.plan.workspace).unwrap_err().to_string()
    };
    let podman = ContainerEngine::Podman;
    assert!(check(podman, "", &path).contains("sandbox.container.image is not set"));
    assert!(check(podman, "localhost/none:1", &path).contains("run `podman pull localhost/none:1`"));
    assert!(check(podman, "/none", &path).contains("is not a directory"));
    assert!(check(podman, "x", OsStr::new("/none:relative")).contains("podman was not found on PATH"));
    // A program that the agent could have written is not taken.
    executable(&scene.plan.workspace.join("podman"), "#!/bin/sh\n");
    assert_eq!(container::find(podman, scene.plan.workspace.as_os_str(), &scene.plan.workspace), None);
    // An engine whose daemon is not there.
    let text = "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2; exit 1\n";
    executable(&scene.file("docker"), text);
    let said = check(ContainerEngine::Docker, "x", scene.scratch.root().as_os_str());
    let expected = "docker does not answer: Cannot connect to the Docker daemon; `docker info`";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_image_that_is_there_is_found() {
    let scene = Scene::new();
    let (archive, image) = (scene.file("image.tar"), format!("localhost/ralph-test-{}", std::process::id()));
    let tar = Command::new("tar").arg("cf").arg(&archive).args(["-C", "/etc", "hostname"]).status().unwrap();
    assert!(tar.success());
    scene.podman(&["import", "--quiet", archive.to_str().unwrap(), &image]);
    let path = std::env::var_os("PATH").unwrap();
    let found = container::check(ContainerEngine::Podman, &image, &path, &scene.plan.workspace);
    scene.podman(&["rmi", &image]);
    let user = found.unwrap().user;
    let is_root = rustix::process::getuid().is_root();
    assert_eq!(user, if is_root { ContainerUser::Ids { uid: 0, gid: 0 } } else { ContainerUser::KeepId });
}
