//! What watching costs: a server at rest, 200 streams, ten watchers beside commits, and how long a line of an agent takes to
//! the page. `cargo run --release -p ralph-web --example serve_bench -- RALPH [directory]`, where RALPH is the program
//! whose server is measured.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::indexing_slicing
)]

use ralph_store::{Batch, Database, IterationRow, Put, Row, RunFilter, RunRow, Store};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const RUNS: u64 = 1_000;
const ITERATIONS: u32 = 100;
const STREAMS: usize = 200;
const WATCHED: Duration = Duration::from_secs(10);
const ROUNDS: usize = 20;
const COMMITS: usize = 50;
const SAID: usize = 150;

fn main() {
    let ralph =
        PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| panic!("name the program `ralph`")));
    let base = std::env::args_os().nth(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("ralph-serve-bench-{}", std::process::id()));
    fs::create_dir_all(dir.join("workspace")).unwrap();
    let store = ralph_store::open(&dir.join("state/ralph")).unwrap();
    fill(&store);
    at_rest(&ralph, &dir);
    many_streams(&ralph, &dir, &store);
    ten_watchers(&ralph, &dir, &store);
    line_to_page(&ralph, &dir);
    fs::remove_dir_all(&dir).unwrap();
}

/// A server of the program.
struct Served {
    process: Child,
    address: String,
    token: String,
}

impl Served {
    fn start(ralph: &Path, dir: &Path) -> Served {
        let mut command = in_place(ralph, dir);
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().trim_start_matches("http://").split_once("/#token=").unwrap();
        Served { address: address.into(), token: token.into(), process }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, token) = (&self.address, &self.token);
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> usize {
        self.ask(path).read_to_end(&mut Vec::new()).unwrap()
    }

    /// Processor time so far, in clock ticks of a hundredth of a second.
    fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// Memory in use, and how much of it is not the program's own file.
    fn memory(&self) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let mb = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
        };
        format!("{:.0} MB ({:.0} MB without its file)", mb("VmRSS:"), mb("RssAnon:"))
    }

    /// Percent of a core while `work` is done.
    fn cpu_percent(&self, work: impl FnOnce()) -> f64 {
        let (began, before) = (Instant::now(), self.ticks());
        work();
        (self.ticks() - before) as f64 / began.elapsed().as_secs_f64()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn in_place(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir.join("workspace")).env("XDG_STATE_HOME", dir.join("state")).env("HOME", dir);
    command.stdin(Stdio::null());
    command
}

fn row(run: u64, head: u64) -> RunRow {
    RunRow {
        id: format!("0199aaaa-0000-7000-8000-{run:012}"),
        workspace: format!("/work/{run}"),
        task: "Make the tests of the parser pass, then the others".into(),
        agent: "claude".into(),
        started: 1_700_000_000_000,
        status: if head > 1 { "RUNNING" } else { "COMPLETED" }.into(),
        exit_code: (head == 1).then_some(0),
        iterations: ITERATIONS,
        head,
        max_iterations: 200,
        max_cost_micro: 50_000_000,
        ..RunRow::default()
    }
}

fn write(store: &dyn Store, row: &RunRow, iterations: u32) {
    let put = Put {
        stream: format!("run/{}", row.id),
        expect: row.head - 1,
        v: 1,
        kind: "note".into(),
        body: "{}".into(),
        ..Put::default()
    };
    let attempt = |n| {
        let files = 3;
        Row::Iteration(IterationRow {
            run: row.id.clone(),
            n,
            attempt: 1,
            cost_micro: 10_000,
            files,
            ..IterationRow::default()
        })
    };
    let rows = (1..=iterations).map(attempt).chain([Row::Run(Box::new(row.clone()))]).collect();
    store.commit(&Batch { put: vec![put], rows, ..Batch::default() }).unwrap();
}

fn fill(store: &Database) {
    for run in 0..RUNS {
        write(store, &row(run, 1), ITERATIONS);
    }
    println!("{RUNS} runs with {ITERATIONS} iterations each");
}

fn at_rest(ralph: &Path, dir: &Path) {
    let served = Served::start(ralph, dir);
    let began = Instant::now();
    let bytes = served.get("/api/v1/overview");
    let first = began.elapsed();
    let again = Instant::now();
    served.get("/api/v1/overview");
    println!(
        "overview: {:.0} ms the first time, {:.0} ms again, {} kB",
        first.as_secs_f64() * 1e3,
        again.elapsed().as_secs_f64() * 1e3,
        bytes / 1000
    );
    let rest = served.cpu_percent(|| sleep(WATCHED));
    println!("at rest, no stream:   {rest:.1} % of a core, {}", served.memory());
    let _stream = served.ask("/api/v1/events");
    sleep(Duration::from_millis(500));
    let watched = served.cpu_percent(|| sleep(WATCHED));
    println!("at rest, one stream:  {watched:.1} % of a core, {}", served.memory());
}

/// Reads streams on one thread, counting events.
fn count_events(streams: Vec<TcpStream>, heard: &Arc<AtomicU64>) {
    for mut stream in streams {
        let heard = Arc::clone(heard);
        std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(move || {
                let mut piece = [0; 16 * 1024];
                while let Ok(n) = stream.read(&mut piece) {
                    if n == 0 {
                        return;
                    }
                    let events = piece[..n].windows(6).filter(|six| *six == b"event:").count();
                    heard.fetch_add(events as u64, Ordering::Relaxed);
                }
            })
            .unwrap();
    }
}

/// Ten changes a second to everybody.
fn many_streams(ralph: &Path, dir: &Path, store: &Database) {
    let served = Served::start(ralph, dir);
    let heard = Arc::new(AtomicU64::new(0));
    count_events((0..STREAMS).map(|_| served.ask("/api/v1/events")).collect(), &heard);
    sleep(Duration::from_secs(1));
    let (began, before) = (Instant::now(), heard.load(Ordering::Relaxed));
    let cpu = served.cpu_percent(|| {
        for head in 2..=101 {
            write(store, &row(0, head), 0);
            sleep(Duration::from_millis(100).saturating_sub(Duration::from_millis(1)));
        }
    });
    let rate = (heard.load(Ordering::Relaxed) - before) as f64 / began.elapsed().as_secs_f64();
    println!("{STREAMS} streams, {rate:.0} deliveries a second: {cpu:.1} % of a core, {}", served.memory());
}

fn p50(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Commits with ten servers that each have a stream, turn by turn with none.
fn ten_watchers(ralph: &Path, dir: &Path, store: &Database) {
    let mut head = 1;
    let mut commits = |times: &mut Vec<Duration>| {
        for _ in 0..COMMITS {
            head += 1;
            let began = Instant::now();
            write(store, &row(1, head), 0);
            times.push(began.elapsed());
            sleep(Duration::from_millis(5));
        }
    };
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    let watchers: Vec<Served> = (0..10).map(|_| Served::start(ralph, dir)).collect();
    for _ in 0..ROUNDS {
        commits(&mut alone);
        let streams: Vec<TcpStream> = watchers.iter().map(|served| served.ask("/api/v1/events")).collect();
        count_events(streams.iter().map(|stream| stream.try_clone().unwrap()).collect(), &Arc::default());
        sleep(Duration::from_millis(300));
        commits(&mut watched);
        streams.iter().for_each(|stream| stream.shutdown(std::net::Shutdown::Both).unwrap());
        sleep(Duration::from_millis(300));
    }
    let (alone, watched) = (p50(alone), p50(watched));
    println!("commit p50: {alone:.0} us alone, {watched:.0} us with ten watchers ({:.2})", watched / alone);
}

/// A scripted agent says something now and then: from when a line lies in the transcript to when the stream brings it.
fn line_to_page(ralph: &Path, dir: &Path) {
    let served = Served::start(ralph, dir);
    let script = dir.join("agent.sim");
    let says: String = (0..SAID).map(|n| format!("say Line {n:04} of it\nrun true\nsleep 37ms\n")).collect();
    fs::write(&script, format!("{says}claim blocked\n")).unwrap();
    let mut run = in_place(ralph, dir);
    run.args([
        "run",
        "Say something",
        "--agent",
        "sim",
        "--max-iterations",
        "1",
        "--max-cost",
        "1",
        "--verify",
        "true",
    ]);
    run.args(["--", "--script"]).arg(&script).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let store = ralph_store::open_existing(&dir.join("state/ralph")).unwrap().unwrap();
    let filter = RunFilter { text: Some("Say something".into()), ..RunFilter::default() };
    let id = loop {
        match store.runs(&filter).unwrap().first() {
            Some(row) => break row.id.clone(),
            None => sleep(Duration::from_millis(20)),
        }
    };
    let transcript = dir.join("state/ralph/runs").join(&id).join("001.a1.out.jsonl");
    let written = std::thread::spawn(move || when_written(&transcript));
    let mut arrived = BTreeMap::new();
    for line in BufReader::new(served.ask(&format!("/api/v1/events?run={id}"))).lines().map_while(Result::ok)
    {
        note_lines(&line, &mut arrived);
        if arrived.len() == SAID {
            break;
        }
    }
    run.wait().unwrap();
    let written = written.join().unwrap();
    let delay =
        |(n, at): (&String, &Instant)| Some(at.saturating_duration_since(*written.get(n)?).as_millis());
    let mut times: Vec<u128> = arrived.iter().filter_map(delay).collect();
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100];
    println!("agent's line to the page: p50 {} ms, p95 {} ms of {} lines", at(50), at(95), times.len());
}

/// When each line of the agent was first seen in this text.
fn note_lines(text: &str, seen: &mut BTreeMap<String, Instant>) {
    for part in text.split("Line ").skip(1) {
        if let Some(n) =
            part.get(..4).filter(|_| part.get(4..).is_some_and(|rest| rest.starts_with(" of it")))
        {
            seen.entry(n.to_owned()).or_insert_with(Instant::now);
        }
    }
}

/// Looks into the transcript a thousand times a second.
fn when_written(transcript: &Path) -> BTreeMap<String, Instant> {
    let (mut seen, mut read) = (BTreeMap::new(), 0);
    while seen.len() < SAID {
        sleep(Duration::from_millis(1));
        let Ok(bytes) = fs::read(transcript) else { continue };
        // From a little before what was new: a line may have come in two pieces.
        let from = read.min(bytes.len()).saturating_sub(64);
        note_lines(&String::from_utf8_lossy(&bytes[from..]), &mut seen);
        read = bytes.len();
    }
    seen
}
