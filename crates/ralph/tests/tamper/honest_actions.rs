//! Honest actions (`honest_actions.txt`): what agents and their tools do without meaning harm. Each is done by the scripted
//! agent in a whole run, which must not end for it.

use crate::place::{Place, Who};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const TABLE: &str = include_str!("honest_actions.txt");

#[derive(Debug, Default)]
struct Row {
    name: &'static str,
    /// The directory the run is started in.
    inside: Option<&'static str>,
    needs: Option<&'static str>,
    given: Vec<&'static str>,
    does: Vec<&'static str>,
    /// What is restored: path and tool. A `*` at the end of the path stands for the rest of it.
    restored: Vec<(&'static str, &'static str)>,
}

fn rows() -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("## ") {
            all.push(Row { name, ..Row::default() });
            continue;
        }
        let (Some(row), Some((word, rest))) = (all.last_mut(), line.split_once(' ')) else { continue };
        match word {
            "in" => row.inside = Some(rest),
            "needs" => row.needs = Some(rest),
            "given" => row.given.push(rest),
            "does" => row.does.push(rest),
            "restored" => row.restored.push(rest.split_once(" by ").unwrap()),
            other => panic!("what is `{other}`?"),
        }
    }
    all
}

impl Row {
    /// False where a program is missing.
    fn play(&self, who: Who) -> Result<bool, String> {
        let place = Place::new(who);
        if self.needs.is_some_and(|program| place.sh(&format!("{program} --version > /dev/null")).is_err()) {
            return Ok(false);
        }
        place.begin()?;
        for given in &self.given {
            place.sh(&format!("set -e; {given}"))?;
        }
        let before = place.protected();
        let agent = place.agent(&format!("set -e\n{}\n", self.does.join("\n")));
        let script = place.root().join("agent.sim");
        let marks = place.root().join("home");
        let done = format!(
            "run sh {} > {1}/said 2>&1 && touch {1}/did\nclaim complete\n",
            agent.display(),
            marks.display()
        );
        std::fs::write(&script, done).unwrap();
        let output = place
            .ralph()
            .args(["-C", self.inside.unwrap_or(".")])
            .args(["run", "Work", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1", "--json"])
            .args(["--verify", "true", "--", "--script"])
            .arg(&script)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let result: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
            .map_err(|_| format!("no result: {}", String::from_utf8_lossy(&output.stderr)))?;
        if !marks.join("did").exists() {
            let said = std::fs::read_to_string(marks.join("said")).unwrap_or_default();
            return Err(format!("the action failed: {said}"));
        }
        self.judged(&result)?;
        let after = place.protected();
        let differ: Vec<_> = before.symmetric_difference(&after).map(|(path, ..)| path).collect();
        if differ.is_empty() { Ok(true) } else { Err(format!("different afterwards: {differ:?}")) }
    }

    fn judged(&self, result: &Value) -> Result<(), String> {
        let details = &result["details"];
        if !details["files"].is_null() || result["exitCode"] == 4 {
            return Err(format!("{}: {}", result["reason"], details["files"]));
        }
        let restored = details["restored"].as_array().cloned().unwrap_or_default();
        let found: BTreeSet<(String, String)> = restored
            .iter()
            .map(|v| (v["path"].as_str().unwrap().to_owned(), v["tool"].as_str().unwrap().to_owned()))
            .collect();
        let fits = |(path, tool): &(&str, &str), (is, by): &(String, String)| {
            by == tool && path.strip_suffix('*').map_or(is == path, |start| is.starts_with(start))
        };
        let all_named = found.iter().all(|found| self.restored.iter().any(|row| fits(row, found)));
        let all_found = self.restored.iter().all(|row| found.iter().any(|found| fits(row, found)));
        if all_named && all_found { Ok(()) } else { Err(format!("restored: {found:?}")) }
    }
}

/// Every row, several at a time; all that went wrong is told at once.
pub fn all(who: Who) {
    let only = std::env::var("RALPH_SCENARIO").unwrap_or_default();
    let rows: Vec<Row> = rows().into_iter().filter(|row| row.name.contains(&only)).collect();
    let (next, wrong, missing) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match row.play(who) {
                        Ok(true) => {}
                        Ok(false) => drop(missing.lock().unwrap().insert(row.needs)),
                        Err(why) => wrong.lock().unwrap().push(format!("{}: {why}", row.name)),
                    }
                }
            });
        }
    });
    for program in missing.into_inner().unwrap().into_iter().flatten() {
        ralph_testkit::skip(&format!("honest actions of {program}: it is not installed"));
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// How many there are.
pub fn count() -> usize {
    rows().into_iter().map(|row| row.name).collect::<BTreeSet<_>>().len()
}
