//! `ralph undo`, `accept`, `reject` and `prune`, killed right before what they write, sometimes once more while they are
//! repeated. In the end the same command leads to the same state, and nothing that anybody wrote is lost.

use crate::scene::{cleared, ralph};
use crate::tracer::{Point, When, trace};
use ralph_store::{RunFilter, Store};
use ralph_testkit::Scratch;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places that are used at a time.
const AT_ONCE: usize = 4;
/// Most kills, unless every one is asked for.
const MOST: usize = 150;
/// One kill in so many is followed by a second one.
const SAMPLE: usize = 4;

/// By path: kind, permissions and content.
type Files = BTreeMap<String, (char, u32, String)>;
type Found<T> = Result<T, String>;

/// A workspace after a run; each case begins with what it and ralph's state were then.
struct Place {
    scratch: Scratch,
    before: Files,
    after: Files,
}

impl Place {
    /// Runs this script on these files.
    fn new(scratch: Scratch, script: &str, flags: &[&str], ends: i32) -> Place {
        let place = Place::after_run(scratch, script, flags, ends);
        place.copy_to("kept", &["workspace", "state"]);
        place
    }

    fn after_run(scratch: Scratch, script: &str, flags: &[&str], ends: i32) -> Place {
        let before = files(&scratch.workspace());
        fs::write(scratch.root().join("agent.sim"), script).unwrap();
        let mut run = scratch.command(ralph());
        run.args(["run", "Work", "--agent", "sim", "--max-cost", "5"]).args(flags);
        run.args(["--", "--no-partial-messages", "--script"]).arg(scratch.root().join("agent.sim"));
        let output = run.output().unwrap();
        assert_eq!(output.status.code(), Some(ends), "{}", String::from_utf8_lossy(&output.stderr));
        let after = files(&scratch.workspace());
        Place { scratch, before, after }
    }

    /// Everything is as it was right after the run.
    fn back(&self) {
        for name in ["workspace", "state"] {
            fs::remove_dir_all(self.scratch.root().join(name)).unwrap();
        }
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.scratch.root().join("kept/."))
            .arg(self.scratch.root())
            .status();
        assert!(copied.unwrap().success());
    }

    fn copy_to(&self, to: &str, names: &[&str]) {
        let to = self.scratch.root().join(to);
        fs::create_dir(&to).unwrap();
        let all = names.iter().map(|name| self.scratch.root().join(name));
        assert!(Command::new("cp").arg("-a").args(all).arg(&to).status().unwrap().success());
    }

    fn ralph(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.command(ralph());
        command.args(args);
        command
    }

    fn ends_well(&self, args: &[&str]) -> Found<()> {
        let output = self.ralph(args).output().map_err(|e| e.to_string())?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        output
            .status
            .success()
            .then_some(())
            .ok_or_else(|| format!("{args:?} ended with {}: {}", output.status, said()))
    }

    fn killed(&self, args: &[&str], when: &When) -> Found<Vec<Point>> {
        let root = self.scratch.root();
        let traced = trace(&self.ralph(args), &root.join("out"), &root.join("err"), when);
        cleared(&self.scratch)?;
        Ok(traced.points)
    }

    /// Nothing half-written is left in ralph's own directories.
    fn is_tidy(&self) -> Found<()> {
        let mut open: Vec<_> =
            ["restores", "trees", "runs"].map(|name| self.scratch.state().join("ralph").join(name)).into();
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                match entry.path().is_dir() {
                    true => open.push(entry.path()),
                    false if entry.file_name().to_string_lossy().ends_with(".tmp") => {
                        return Err(format!("{} is left", entry.path().display()));
                    }
                    false => {}
                }
            }
        }
        Ok(())
    }
}

fn files(dir: &Path) -> Files {
    let (mut all, mut open) = (Files::new(), vec![dir.to_owned()]);
    while let Some(at) = open.pop() {
        for path in fs::read_dir(at).unwrap().flatten().map(|entry| entry.path()) {
            let meta = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
            let mode = meta.permissions().mode() & 0o7777;
            if name == ".git" || name == ".ralph" {
                continue;
            }
            if meta.is_symlink() {
                all.insert(name, ('l', 0, fs::read_link(&path).unwrap().to_string_lossy().into_owned()));
            } else if meta.is_dir() {
                all.insert(name, ('d', mode, String::new()));
                open.push(path);
            } else {
                all.insert(name, ('f', mode, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    all
}

/// Kills this command at its points, in places of this kind, and checks what the same command then leads to.
fn matrix(make: fn() -> Place, args: &[&str], comes_right: fn(&Place) -> Found<()>) {
    let first = make();
    let points = first.killed(args, &When::Never).unwrap();
    comes_right(&first).unwrap();
    let full = std::env::var("RALPH_KILL_MATRIX").is_ok_and(|v| v == "full");
    let step = if full { 1 } else { points.len().div_ceil(MOST) };
    let chosen: Vec<&Point> = points.iter().step_by(step).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let place = make();
                while let Some((n, point)) =
                    chosen.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
                {
                    if let Err(why) = case(&place, args, n, point, comes_right) {
                        failures.lock().unwrap().push(format!("killed at {point}: {why}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let (kills, all, failed) = (chosen.len(), points.len(), failures.len());
    let _ =
        writeln!(std::io::stderr(), "{}: killed at {kills} of {all} points, {failed} failed", args.join(" "));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn case(
    place: &Place,
    args: &[&str],
    n: usize,
    point: &Point,
    comes_right: fn(&Place) -> Found<()>,
) -> Found<()> {
    place.back();
    place.killed(args, &When::At(point.clone()))?;
    if n.is_multiple_of(SAMPLE) {
        place.killed(args, &When::Nth(1 + n * 37 % 80))?;
    }
    comes_right(place)
}

/// An agent that changes every kind of thing into another one.
fn changed_in_every_way() -> Place {
    let scratch = Scratch::git_repo();
    scratch.files(&[
        ("file", "a file\n"),
        ("dir/a", "in a directory\n"),
        ("dir/deep/b", "deeper\n"),
        ("becomes-link", "no link\n"),
        ("gone/c", "gone\n"),
        ("edited", "as it was\n"),
        ("run.sh", "true\n"),
    ]);
    symlink("file", scratch.workspace().join("link")).unwrap();
    let mode = |path: &str, mode| {
        fs::set_permissions(scratch.workspace().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("run.sh", 0o755);
    mode("dir/deep", 0o750);
    let script = "run rm -rf file dir gone link becomes-link; mkdir -p file/inside new; echo x > file/inside/x; \
                  echo y > dir; echo z > link; ln -s new becomes-link; echo w > new/w; echo other > edited; \
                  chmod 600 run.sh\nclaim progress";
    Place::new(scratch, script, &["--max-iterations", "1"], 3)
}

/// The files are as before the run, and what the agent wrote can be had back.
fn is_undone(place: &Place) -> Found<()> {
    place.ends_well(&["undo", "--yes"])?;
    let now = files(&place.scratch.workspace());
    if now != place.before {
        return Err(format!("it is not undone: {now:?}"));
    }
    place.is_tidy()?;
    place.ends_well(&["undo", "--to", "1", "--yes"])?;
    let now = files(&place.scratch.workspace());
    (now == place.after).then_some(()).ok_or_else(|| format!("the agent's work is lost: {now:?}"))
}

#[test]
fn an_undo_that_was_killed_anywhere_is_completed_by_the_next_one() {
    matrix(changed_in_every_way, &["undo", "--yes"], is_undone);
}

/// The files are as before the run, the quarantine has all that the agent wrote, and it can be had back.
fn is_rejected(place: &Place) -> Found<()> {
    place.ends_well(&["reject", "--yes"])?;
    let output = place.ralph(&["quarantine", "list", "--json"]).output().map_err(|e| e.to_string())?;
    let cases: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    let mut kept = BTreeMap::new();
    for case in cases.as_array().into_iter().flatten() {
        for found in case["found"].as_array().into_iter().flatten().filter(|found| found["file"].is_string())
        {
            let file = Path::new(case["folder"].as_str().unwrap()).join(found["file"].as_str().unwrap());
            let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
            kept.insert(found["path"].as_str().unwrap().to_owned(), text);
        }
    }
    for (path, (_, _, text)) in
        place.after.iter().filter(|(path, is)| is.0 != 'd' && place.before.get(*path) != Some(*is))
    {
        if kept.get(path) != Some(text) {
            return Err(format!("{path} is not in the quarantine: {kept:?}"));
        }
    }
    is_undone(place)?;
    place.ends_well(&["undo", "--yes"])?;
    let newest = cases.as_array().and_then(|cases| cases.last()).and_then(|case| case["case"].as_str());
    place.ends_well(&["quarantine", "restore", newest.unwrap_or_default(), "--yes"])?;
    let now = files(&place.scratch.workspace());
    (now == place.after).then_some(()).ok_or_else(|| format!("the case does not have all of it: {now:?}"))
}

#[test]
fn a_rejection_that_was_killed_anywhere_is_completed_by_the_next_one() {
    matrix(changed_in_every_way, &["reject", "--yes"], is_rejected);
}

/// What the user does after the run: changes, a new file, a deletion, an empty directory.
fn changed_again_by_the_user() -> Place {
    let scratch = Scratch::git_repo();
    scratch.files(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    let script = "run echo agent > a; echo agent > new\nclaim progress";
    let mut place = Place::after_run(scratch, script, &["--max-iterations", "1"], 3);
    place.scratch.files(&[("a", "mine\n"), ("b", "mine\n"), ("later/deep", "mine\n")]);
    fs::remove_file(place.scratch.workspace().join("c")).unwrap();
    fs::create_dir(place.scratch.workspace().join("empty")).unwrap();
    place.after = files(&place.scratch.workspace());
    place.copy_to("kept", &["workspace", "state"]);
    place
}

/// The files are as before the run, and the oldest case has all that the user did since.
fn is_undone_with_newer(place: &Place) -> Found<()> {
    place.ends_well(&["undo", "--newer-too", "--yes"])?;
    let now = files(&place.scratch.workspace());
    if now != place.before {
        return Err(format!("it is not undone: {now:?}"));
    }
    place.is_tidy()?;
    let output = place.ralph(&["quarantine", "list", "--json"]).output().map_err(|e| e.to_string())?;
    let cases: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    if cases.as_array().is_none_or(|cases| cases.len() != 1) {
        return Err(format!("there should be one case: {cases}"));
    }
    place.ends_well(&["quarantine", "restore", cases[0]["case"].as_str().unwrap_or_default(), "--yes"])?;
    // The agent's own file is no change of the user's.
    let mut mine = place.after.clone();
    mine.remove("new");
    let now = files(&place.scratch.workspace());
    (now == mine).then_some(()).ok_or_else(|| format!("the user's work is lost: {now:?}"))
}

#[test]
fn what_an_undo_takes_from_the_user_is_kept_wherever_it_is_killed() {
    matrix(changed_again_by_the_user, &["undo", "--newer-too", "--yes"], is_undone_with_newer);
}

/// A run's change among the user's own: staged, changed, untracked, and in a file that the run changed too.
fn among_other_changes() -> Place {
    let scratch = Scratch::git_repo();
    let lines: String = (1..=10).map(|n| format!("line {n}\n")).collect();
    scratch.files(&[("both", &lines), ("staged", "s\n"), ("dirty", "d\n"), ("gone", "g\n")]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "Before"]);
    scratch.files(&[
        ("both", &lines.replace("line 2", "mine")),
        ("staged", "staged\n"),
        ("dirty", "dirty\n"),
        ("untracked", "u\n"),
    ]);
    scratch.git(&["add", "staged"]);
    let script = "run sed -i 's/line 9/agent/' both; rm gone; mkdir new; echo new > new/file\nclaim progress";
    Place::new(scratch, script, &["--max-iterations", "1"], 3)
}

/// The run's change is committed, once; index, files and everything else of the user's are as they were.
fn is_committed(place: &Place) -> Found<()> {
    place.ends_well(&["accept"])?;
    place.is_tidy()?;
    let git = |args: &[&str]| place.scratch.git(args);
    let subjects = git(&["log", "--format=%s"]);
    let committed = git(&["show", "--format=", "--name-status", "--no-renames", "HEAD"]);
    let both = git(&["show", "HEAD:both"]);
    let status = git(&["status", "--porcelain"]);
    let right = subjects == "Work\nBefore\nStart"
        && committed == "M\tboth\nD\tgone\nA\tnew/file"
        && both.contains("agent")
        && both.contains("line 2")
        && status == " M both\n M dirty\nM  staged\n?? untracked"
        && git(&["fsck", "--no-dangling"]).is_empty();
    let now = files(&place.scratch.workspace());
    match right && now == place.after {
        true => Ok(()),
        false => Err(format!("{subjects}\n{committed}\n{status}\n{now:?}")),
    }
}

#[test]
fn a_commit_of_a_run_that_was_killed_anywhere_is_completed_by_the_next_one() {
    matrix(among_other_changes, &["accept"], is_committed);
}

/// Work that only a person can judge.
fn left_for_review() -> Place {
    // Without git: a copy of a repository is another one, which ralph notices.
    let scratch = Scratch::new();
    scratch.files(&[("check.sh", "test -f done.txt\n")]);
    let flags = ["--verify", "sh check.sh", "--max-iterations", "3"];
    Place::new(scratch, "write done.txt yes\nclaim complete", &flags, 2)
}

/// The run is accepted, once, and the work is there.
fn is_accepted(place: &Place) -> Found<()> {
    let reason = || -> Found<Option<String>> {
        let dir = place.scratch.state().join("ralph");
        let store = ralph_store::open_existing(&dir).map_err(|e| e.to_string())?.ok_or("no database")?;
        let runs = store.runs(&RunFilter::default()).map_err(|e| e.to_string())?;
        Ok(runs.first().and_then(|run| run.reason.clone()))
    };
    if reason()?.as_deref() != Some("accepted") {
        place.ends_well(&["accept"])?;
    }
    place.ends_well(&["undo", "--dry-run"])?;
    place.is_tidy()?;
    let now = files(&place.scratch.workspace());
    match reason()?.as_deref() {
        Some("accepted") if now == place.after => Ok(()),
        other => Err(format!("it ended with {other:?}: {now:?}")),
    }
}

#[test]
fn an_acceptance_that_was_killed_anywhere_is_completed_by_the_next_one() {
    matrix(left_for_review, &["accept"], is_accepted);
}

/// What only the first of two runs has saved.
const OF_FIRST: &str = "only in the first run\n";

/// Two runs that are over, the first older than files are kept.
fn one_run_too_old() -> Place {
    // Without git: a copy of a repository is another one, which ralph notices.
    let scratch = Scratch::new();
    let script =
        format!("[1]\nwrite a.txt {OF_FIRST}claim progress\n[2]\nwrite a.txt second\nclaim complete");
    let flags = ["--verify", "true", "--max-iterations", "3"];
    let Place { scratch, .. } = Place::after_run(scratch, &script, &flags, 0);
    let place = Place::new(scratch, "write a.txt third\nclaim complete", &flags, 0);
    let config = place.scratch.root().join("config/ralph");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[prune]\nkeep = \"1ms\"\n").unwrap();
    place
}

/// The older run is gone with what only it had saved, and the latest can be undone.
fn is_pruned(place: &Place) -> Found<()> {
    place.ends_well(&["prune", "--yes"])?;
    let state = place.scratch.state().join("ralph");
    let runs = fs::read_dir(state.join("runs")).map_err(|e| e.to_string())?.count();
    let saved = is_saved(&state.join("keep"));
    if runs != 1 || saved {
        return Err(format!("{runs} runs have files; the older one's content is there: {saved}"));
    }
    is_undone(place)
}

/// Whether a file below this directory has the content.
fn is_saved(dir: &Path) -> bool {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() { is_saved(&path) } else { fs::read(&path).is_ok_and(|c| c == OF_FIRST.as_bytes()) }
    })
}

#[test]
fn a_prune_that_was_killed_anywhere_is_completed_by_the_next_one() {
    matrix(one_run_too_old, &["prune", "--yes"], is_pruned);
}
