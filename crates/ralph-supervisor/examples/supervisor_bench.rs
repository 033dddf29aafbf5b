//! What the supervisor costs: start to exit of /bin/true with and without it, the time to clear a tree, and the
//! speed of the pump over one gigabyte. `cargo run --release -p ralph-supervisor --example supervisor_bench`

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ralph_supervisor::{Exit, Launch, LineSplitter, Sink, StartError};

const ROUNDS: usize = 200;
const GIGABYTE: u64 = 1_000_000_000;

#[derive(Default)]
struct Counting(u64);

impl Sink for Counting {
    fn stdout(&mut self, chunk: &[u8]) {
        self.0 += chunk.len() as u64;
    }
    fn stderr(&mut self, chunk: &[u8]) {
        self.0 += chunk.len() as u64;
    }
}

fn process(script: &[&str], sink: &mut dyn Sink) -> Result<Exit, StartError> {
    let (program, args) = script.split_first().unwrap_or((&"true", &[]));
    let mut launch = Launch::new("/proc/self/exe", program, "/");
    launch.args = args.iter().map(OsString::from).collect();
    let (_tended, pump) = ralph_supervisor::start(launch)?;
    Ok(pump.run(sink))
}

fn median(
    mut round: impl FnMut() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let since = Instant::now();
        round()?;
        times.push(since.elapsed());
    }
    times.sort();
    Ok(times.get(ROUNDS / 2).copied().unwrap_or_default())
}

fn measure() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let direct = median(|| {
        let mut true_ = Command::new("/bin/true");
        true_.stdin(Stdio::null()).output()?;
        Ok(())
    })?;
    let through = median(|| {
        process(&["/bin/true"], &mut Counting::default())?;
        Ok(())
    })?;
    writeln!(
        out,
        "/bin/true, p50 of {ROUNDS}: direct {direct:?}, process {through:?}, cost {:?}",
        through.saturating_sub(direct)
    )?;

    let clearing = median(|| {
        process(&["/bin/sh", "-c", "setsid sleep 60 & sleep 60 & exit"], &mut Counting::default())?;
        Ok(())
    })?;
    writeln!(out, "sh that leaves a setsid and a plain sleep behind, p50: {clearing:?}")?;

    let (since, mut sink) = (Instant::now(), Counting::default());
    process(&["head", "-c", &GIGABYTE.to_string(), "/dev/zero"], &mut sink)?;
    let took = since.elapsed();
    writeln!(
        out,
        "pump: {} bytes in {took:?}, {:.0} MB/s",
        sink.0,
        sink.0 as f64 / 1e6 / took.as_secs_f64()
    )?;

    let chunk: Vec<u8> = (0..256 * 1024_u32).map(|at| if at % 200 == 199 { b'\n' } else { b'x' }).collect();
    for (what, chunk) in [("lines of 200 bytes", chunk), ("one line", vec![b'x'; 256 * 1024])] {
        let (since, mut splitter, mut lines) = (Instant::now(), LineSplitter::new(4 << 20), 0_u64);
        for _ in 0..GIGABYTE / chunk.len() as u64 {
            splitter.feed(std::hint::black_box(&chunk), |line| lines += u64::from(!line.bytes.is_empty()));
        }
        let speed = GIGABYTE as f64 / 1e6 / since.elapsed().as_secs_f64();
        writeln!(out, "line splitter, 1 GB, {what}: {speed:.0} MB/s ({lines} lines)")?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|word| word == "__supervise") {
        return ralph_supervisor::supervise(args);
    }
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
