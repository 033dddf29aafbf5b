//! No room for what ralph writes: a file size limit, a full disk, a file system without inodes. Whatever command meets
//! it, and whenever: exit code 74 and the reason, never a signal's code and never another one.

use super::scene::{Answer, Scene, sim};
use ralph_testkit::skip;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Types a command that may write files of at most so many KiB.
fn limited(scene: &Scene, kib: u32, args: &[&str]) -> Answer {
    let typed = scene.command(args);
    let mut shell = scene.scratch.command("bash");
    shell.args(["-c", &format!("ulimit -f {kib}; exec \"$@\""), "bash"]).arg(typed.get_program());
    shell.args(typed.get_args()).stdin(std::process::Stdio::null());
    Answer::from(shell.output().unwrap())
}

fn said_why(answer: &Answer, what: &str, reason: &str) {
    assert_eq!(answer.code, 74, "{what}: {}{}", answer.out, answer.err);
    let all = format!("{}{}", answer.out, answer.err);
    assert!(all.contains(reason), "{what} does not say `{reason}`: {all}");
}

#[test]
fn a_file_size_limit_ends_a_first_run_with_its_reason() {
    for kib in [0, 1, 8, 40, 100] {
        let scene = Scene::new();
        let answer = limited(&scene, kib, &sim("x", &["--verify", "true"], "write a x; claim complete"));
        said_why(&answer, &format!("run below {kib} KiB"), "ulimit -f");
    }
}

#[test]
fn a_file_size_limit_ends_every_other_command_with_its_reason() {
    let scene = Scene::new();
    assert_eq!(scene.sim("x", &[], "write a x; say more").code, 3);
    let commands: [&[&str]; 10] = [
        &["run", "y", "--agent", "sim", "--max-iterations", "2", "--max-cost", "1", "--", "--do", "say hi"],
        &["resume", "--max-iterations", "5"],
        &["hint", "look again"],
        &["stop"],
        &["undo", "--yes"],
        &["prune", "--yes"],
        &["redact"],
        &["circuit", "reset"],
        &["list"],
        &["status"],
    ];
    for command in commands {
        said_why(&limited(&scene, 0, command), &command.join(" "), "ulimit -f");
    }
    for kib in [16, 64, 512] {
        for command in commands {
            let answer = limited(&scene, kib, command);
            let name = format!("{} below {kib} KiB: {}", command.join(" "), answer.err);
            assert!(answer.code < 128 && ![69, 70, 73].contains(&answer.code), "{name} {}", answer.code);
            assert!(
                answer.code != 74 || format!("{}{}", answer.out, answer.err).contains("ulimit -f"),
                "{name}"
            );
        }
    }
    let after = scene.sim("z", &["--fresh"], "write b x; say more");
    assert_eq!(after.code, 3, "without the limit it works again: {}", after.err);
}

#[test]
fn output_that_cannot_be_saved_stops_the_run_before_the_next_call() {
    let scene = Scene::new();
    scene.scratch.files(&[("agent.sh", "head -c 4000000 /dev/zero | tr '\\0' x; echo; date +%N > note\n")]);
    let run = ["run", "x", "--agent", "command", "--max-iterations", "3", "--max-cost", "5"];
    let run: Vec<&str> = run.into_iter().chain(["--", "bash", "agent.sh"]).collect();
    let answer = limited(&scene, 3000, &run);
    said_why(&answer, "a long transcript", "could not all be saved");
    assert!(answer.err.contains("File too large"), "{}", answer.err);
}

#[test]
fn the_agent_keeps_the_signals_default() {
    let scene = Scene::new();
    let script =
        "ulimit -f 0\n(echo x > big) 2>/dev/null\nstatus=$?\nulimit -f 100 2>/dev/null\nprintf $status\n";
    scene.scratch.files(&[("agent.sh", script)]);
    let run = ["run", "x", "--agent", "command", "--max-iterations", "1", "--max-cost", "5", "--quiet"];
    let run: Vec<&str> = run.into_iter().chain(["--", "bash", "agent.sh"]).collect();
    assert_eq!(scene.ralph(&run).code, 3);
    let logs = scene.ralph(&["logs"]);
    assert!(logs.out.contains("153"), "killed by SIGXFSZ, as without ralph: {}", logs.out);
}

/// A small file system for state, gone when dropped.
struct SmallDisk {
    dir: tempfile::TempDir,
}

impl SmallDisk {
    #[track_caller]
    fn new(options: &str) -> Option<SmallDisk> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(dir.path());
        if !mount.output().is_ok_and(|done| done.status.success()) {
            skip("no tmpfs can be mounted here (needs root), so no disk was really full");
            return None;
        }
        Some(SmallDisk { dir })
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Takes every free byte.
    fn fill(&self) {
        fill(&self.dir.path().join("filler"));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.dir.path()).status();
    }
}

fn fill(path: &Path) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    while file.write_all(&[7; 4096]).is_ok() {}
}

/// A scene whose state lies on this disk.
fn on(disk: &SmallDisk) -> Scene {
    let mut scene = Scene::new();
    scene.set("XDG_STATE_HOME", disk.state().to_str().unwrap());
    scene
}

#[test]
fn a_file_system_without_inodes_ends_a_run_with_its_reason() {
    for inodes in 2..=40 {
        let Some(disk) = SmallDisk::new(&format!("size=64m,nr_inodes={inodes}")) else { return };
        let answer = on(&disk).sim("x", &["--verify", "true"], "write a x; say more");
        assert_eq!(answer.code, 74, "{inodes} inodes: {}", answer.err);
        let reason = ["inode", "No space left"].iter().any(|words| answer.err.contains(words));
        assert!(reason, "{inodes} inodes: {}", answer.err);
    }
}

#[test]
fn a_full_disk_ends_a_first_run_with_its_reason() {
    for size in ["16k", "64k", "128k", "256k", "384k"] {
        let Some(disk) = SmallDisk::new(&format!("size={size}")) else { return };
        let answer = on(&disk).sim("x", &["--verify", "true"], "write a x; say more");
        said_why(&answer, size, "no room left on its disk");
    }
}

#[test]
fn a_disk_that_fills_up_ends_every_command_with_its_reason() {
    let Some(disk) = SmallDisk::new("size=16m") else { return };
    let scene = on(&disk);
    assert_eq!(scene.sim("x", &[], "write a x; say more").code, 3);
    disk.fill();
    let run = scene.sim("y", &[], "say hi");
    assert_eq!(run.code, 74, "{}", run.err);
    assert!(run.err.contains("is nearly full: 0 B free, 335.5 kB needed\n"), "{}", run.err);
    let doctor = scene.ralph(&["doctor"]);
    assert!(doctor.code == 74 && doctor.out.contains("0 B of 16.7 MB free (0 %)"), "{}", doctor.out);
    let resumed = scene.ralph(&["resume", "--max-iterations", "5"]);
    assert_eq!(resumed.code, 74, "{}", resumed.err);
    // The reserve for the last records is used up: nothing can be written at all.
    let _ = std::fs::remove_file(disk.state().join("ralph/ralph.ballast"));
    fill(&disk.dir.path().join("more"));
    for command in
        [&["resume"][..], &["circuit", "reset"], &["prune", "--yes"], &["undo", "--yes"], &["redact"]]
    {
        let answer = scene.ralph(command);
        assert!([0, 64, 74].contains(&answer.code), "{command:?}: {} {}", answer.code, answer.err);
    }
    std::fs::remove_file(disk.dir.path().join("filler")).unwrap();
    std::fs::remove_file(disk.dir.path().join("more")).unwrap();
    assert_eq!(scene.ralph(&["circuit", "reset"]).code, 0);
    let after = scene.sim("z", &["--fresh"], "write b x; say more");
    assert_eq!(after.code, 3, "with room it works again: {}", after.err);
}

#[test]
fn a_disk_that_an_agent_fills_in_mid_run_ends_it_with_its_reason() {
    let Some(disk) = SmallDisk::new("size=16m") else { return };
    let scene = on(&disk);
    let filler = disk.dir.path().join("filler");
    let script = format!("head -c 30000000 /dev/zero > {} 2>/dev/null; date +%N > note\n", filler.display());
    scene.scratch.files(&[("agent.sh", &script)]);
    let run = ["run", "x", "--agent", "command", "--max-iterations", "3", "--max-cost", "5"];
    let run: Vec<&str> = run.into_iter().chain(["--", "bash", "agent.sh"]).collect();
    let answer = scene.ralph(&run);
    assert_eq!(answer.code, 74, "{}", answer.err);
    assert!(answer.err.contains("nearly full") || answer.err.contains("no room left"), "{}", answer.err);
}
