//! Hostile places (`hostile_places.txt`): a FIFO, socket, link or directory where ralph reads a file, put there by the agent
//! during a run, or lying there before a command. Nothing may wait on it, and what is found is said.

use crate::place::{Place, Who};
use serde_json::Value;
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const TABLE: &str = include_str!("hostile_places.txt");
/// Far more than any of these commands takes on a busy machine; one that waits on a FIFO would never end.
const PATIENCE: Duration = Duration::from_secs(50);

/// One place with one kind of thing in it.
struct Row<'t> {
    place: &'t str,
    kind: &'t str,
    /// The command and its exit code; none where the agent puts the thing there during a run.
    command: Option<(&'t str, &'t str)>,
    expected: &'t str,
}

fn rows() -> Vec<Row<'static>> {
    let (mut all, mut before) = (Vec::new(), false);
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix("= ") {
            before = section == "before";
            continue;
        }
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let command = before.then(|| (columns[2], columns[3]));
        let expected = columns[if before { 4 } else { 2 }];
        let kinds = columns[1].split_whitespace();
        all.extend(kinds.map(|kind| Row { place: columns[0], kind, command, expected }));
    }
    all
}

/// The shell that puts the thing there.
fn plant(place: &str, kind: &str) -> String {
    let make = match kind {
        "fifo" => format!("mkfifo '{place}'"),
        "socket" => format!("mv ../socket '{place}'"),
        "dir" => format!("mkdir '{place}'"),
        "zero" => format!("ln -s /dev/zero '{place}'"),
        "out" => format!("ln -s \"$up/outside\" '{place}'"),
        "outdir" => format!("ln -s \"$up\" '{place}'"),
        "pipe" => format!("ln -s \"$up/pipe\" '{place}'"),
        "huge" => format!("truncate -s 3G '{place}'"),
        other => panic!("what is `{other}`?"),
    };
    let depth = place.matches('/').count() + 1;
    let up = vec![".."; depth].join("/");
    format!("up={up}; mkdir -p \"$(dirname '{place}')\"; rm -rf '{place}'; {make}")
}

/// Runs a command to its end; none where it does not end.
fn ended(mut command: Command) -> Option<Output> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |from: &mut dyn Read| {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (stdout, stderr) = (scope.spawn(move || read(&mut out)), scope.spawn(move || read(&mut err)));
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        Some(Output { status: status?, stdout, stderr })
    })
}

impl Row<'_> {
    fn play(&self, who: Who) -> Result<(), String> {
        let place = Place::new(who);
        place.begin()?;
        let _socket = UnixListener::bind(place.root().join("socket")).unwrap();
        place.sh("echo '- [ ] a' > plan.md; echo outside > ../outside; mkfifo ../pipe")?;
        place.sh("mkdir -p node_modules/a .venv/lib/python3.12/site-packages/a-1.dist-info")?;
        place.sh("touch .venv/pyvenv.cfg; echo '{\"version\":\"1\"}' > node_modules/a/package.json")?;
        match self.command {
            Some((command, code)) => self.play_before(&place, command, code),
            None => self.play_during(&place),
        }
    }

    fn play_before(&self, place: &Place, command: &str, code: &str) -> Result<(), String> {
        place.sh(&plant(self.place, self.kind))?;
        let mut ralph = place.ralph();
        ralph.args(command.split(' '));
        let output = ended(ralph).ok_or("it does not end")?;
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let exit = output.status.code().map_or("a signal".into(), |code| code.to_string());
        if code != "-" && exit != code {
            return Err(format!("exit {exit}: {said}"));
        }
        said.contains(self.expected).then_some(()).ok_or(said)
    }

    fn play_during(&self, place: &Place) -> Result<(), String> {
        let (expected, commits) = match self.expected.strip_suffix(" after a commit") {
            Some(expected) => (expected, true),
            None => (self.expected, false),
        };
        let commit = if commits { "git add -f own.log; git commit -qm own" } else { "true" };
        let script = format!("cat > /dev/null\n{commit}\n{}\necho I worked.\n", plant(self.place, self.kind));
        let agent = place.agent(&script);
        let mut ralph = place.ralph();
        ralph.args([
            "run",
            "Work",
            "--agent",
            "command",
            "--max-iterations",
            "1",
            "--max-cost",
            "1",
            "--json",
        ]);
        ralph.args(["--verify", "true", "--plan", "plan.md", "--", "sh"]).arg(agent);
        let output = ended(ralph).ok_or("it does not end")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let result: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
            .map_err(|_| format!("no result: {}", String::from_utf8_lossy(&output.stderr)))?;
        let files = result["details"]["files"].as_array().cloned().unwrap_or_default();
        let found: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
        let told = |what: &str| format!("{what}: {} {found:?}", result["reason"]);
        if expected == "touched" {
            let below = |path: &&str| {
                path.strip_prefix(self.place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let named = result["reason"] == "PROHIBITED_PATH" && found.iter().any(below);
            return named.then_some(()).ok_or_else(|| told("not found"));
        }
        if result["reason"] != "MAX_ITERATIONS" {
            return Err(told("the run did not go on"));
        }
        let says = expected.strip_prefix("says ").unwrap_or_default();
        text.contains(says).then_some(()).ok_or_else(|| format!("not said: {text}"))
    }
}

/// Every row, several at a time; all that went wrong is told at once.
pub fn all(who: Who) {
    let only = std::env::var("RALPH_SCENARIO").unwrap_or_default();
    let rows = rows();
    let named = |row: &Row<'_>| {
        format!("{} {} {}", row.place, row.kind, row.command.map_or("during", |command| command.0))
    };
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if named(row).contains(&only)
                        && let Err(why) = row.play(who)
                    {
                        wrong.lock().unwrap().push(format!("{}: {why}", named(row)));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// How many there are, and at how many places.
pub fn count() -> (usize, usize) {
    let places: std::collections::BTreeSet<&str> = rows().iter().map(|row| row.place).collect();
    (rows().len(), places.len())
}
