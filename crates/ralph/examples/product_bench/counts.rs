//! What one iteration does, counted by strace between the first agent's start and the last one's: durable commits,
//! tree walks, git processes.

use crate::gap::{AGENT, FILES};
use crate::place::Place;
use ralph_testkit::{Limit, Table};
use std::path::Path;
use std::process::{Command, Stdio};

const ITERATIONS: u32 = 20;
const TRACED: &str = "trace=fdatasync,fsync,sync_file_range,syncfs,execve,openat";

/// Counts, with a verification.
pub fn measure(binary: &Path, table: &mut Table) {
    let there = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        table.note("nothing is counted: strace is not installed");
        return;
    }
    let place = Place::new(binary, FILES);
    let agent = place.script("agent.sh", AGENT);
    let (log, trace) = (place.beside("times"), place.beside("trace"));
    let (log, shown) = (log.display().to_string(), trace.display().to_string());
    let strace = ["strace", "-f", "-y", "-q", "-s", "512", "-e", TRACED, "-o", &shown];
    let run = place.run(&strace, ITERATIONS, &["true"], &["bash", &agent, &log]);
    place.finish(run, ITERATIONS);
    let trace = std::fs::read_to_string(trace).unwrap();
    let workspace = place.scratch.workspace().canonicalize().unwrap();
    let counted = Counted::of(&trace, &agent, &workspace.display().to_string());
    table.note(&format!(
        "counted over {ITERATIONS} iterations with a verification (a checkpoint syncs the log once more):"
    ));
    table.row("durable commits an iteration", counted.each(counted.commits), &Limit::Count(5.0), "");
    table.row("tree walks an iteration", counted.each(counted.walks), &Limit::Count(2.0), "");
    table.row("git processes an iteration", counted.each(counted.gits), &Limit::Count(0.0), "");
    table.row("other syncs an iteration: database", counted.each(counted.database), &Limit::Beside(0.0), "");
    table.row("other syncs an iteration: files", counted.each(counted.files), &Limit::Beside(0.0), "");
    table.row("programs started an iteration", counted.each(counted.programs), &Limit::Beside(4.0), "");
}

/// Counts between the first and the last start of the agent.
#[derive(Default)]
struct Counted {
    iterations: u32,
    commits: u32,
    database: u32,
    files: u32,
    walks: u32,
    gits: u32,
    programs: u32,
}

impl Counted {
    fn of(trace: &str, agent: &str, workspace: &str) -> Counted {
        let started = format!("bash\", \"{agent}\"");
        // The supervisor is started with the same words.
        let is_agent = |line: &&str| {
            line.contains(" execve(") && line.contains(&started) && !line.contains("__supervise")
        };
        let starts = trace.lines().filter(is_agent).count();
        let root = format!("\"{workspace}\", ");
        let mut counted = Counted { iterations: u32::try_from(starts).unwrap() - 1, ..Counted::default() };
        let lines = trace.lines().skip_while(|line| !is_agent(line)).skip(1);
        let mut seen = 1;
        for line in lines {
            seen += usize::from(is_agent(&line));
            if seen == starts {
                break;
            }
            counted.line(line, &root);
        }
        counted
    }

    fn line(&mut self, line: &str, root: &str) {
        let call = line.split_once(' ').map_or("", |(_, call)| call.trim_start());
        if call.starts_with("execve(") && !call.contains(" ENOENT ") {
            self.programs += 1;
            self.gits += u32::from(call.starts_with("execve(\"git\"") || call.contains("/git\", ["));
        } else if call.starts_with("openat(") {
            self.walks += u32::from(call.contains(root) && call.contains("O_DIRECTORY"));
        } else if call.contains("sync") && !call.starts_with("<...") {
            match call {
                _ if call.contains(".db-wal>") => self.commits += 1,
                _ if call.contains(".db") => self.database += 1,
                _ => self.files += 1,
            }
        }
    }

    fn each(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.iterations)
    }
}
