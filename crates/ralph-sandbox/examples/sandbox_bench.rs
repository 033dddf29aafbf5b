//! How long a contained program takes from start to end, beside bare bubblewrap, and how soon everybody is dead after a kill.
//!
//! `cargo run --release -p ralph-sandbox --example sandbox_bench [ROUNDS [DIR]]`. It works in DIR, or else beside itself, which
//! must not be below `/tmp` or `/var/tmp`. The programs run one after the other in every
//! round, so that whatever else the machine does meets all of them; the figure is the median.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::ffi::OsString;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ralph_sandbox::{Backend, Ids, LayerFallback, Mount, Network, Plan};
use ralph_testkit::{Limit, Table};

const BWRAP: &str = "/usr/bin/bwrap";
const CACHES: [&str; 6] =
    [".cargo/registry", ".cargo/git", ".npm/_cacache", ".cache/pip", ".cache/go-build", ".cache/yarn"];
/// Protected paths of an ordinary plan, and of the large one.
const FEW: usize = 12;
const MANY: usize = 200;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    match first.as_ref().and_then(|word| word.to_str()) {
        Some("__box") => return ralph_sandbox::run_box(args),
        Some("__init") => return ralph_sandbox::run_init(args),
        Some("__parent") => return parent(args),
        _ => {}
    }
    let rounds = first.and_then(|word| word.to_str()?.parse().ok()).unwrap_or(40);
    let beside = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let scene = Scene::new(&args.next().map_or(beside, PathBuf::from));
    let mut table = Table::start();
    measure_starts(&scene, rounds, &mut table);
    measure_kills(&scene, &mut table);
    ExitCode::SUCCESS
}

/// Plays the supervisor: starts the box and waits.
fn parent(args: impl Iterator<Item = OsString>) -> ExitCode {
    let (_reader, writer) = rustix::pipe::pipe().unwrap();
    let mut args: Vec<OsString> = args.collect();
    let plan = args.remove(0);
    let me = std::env::current_exe().unwrap();
    let report = writer.as_raw_fd().to_string();
    Command::new(me).arg("__box").arg(plan).arg(report).arg("-").args(args).status().unwrap();
    ExitCode::SUCCESS
}

struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    fn new(place: &Path) -> Scene {
        let dir = tempfile::tempdir_in(place).unwrap();
        let make = |path: String| fs::create_dir_all(dir.path().join(path)).unwrap();
        for number in 0..30 {
            make(format!("home/.dot{number}/below"));
        }
        for name in CACHES {
            make(format!("home/{name}"));
            make(format!("layers/caches/upper/{name}"));
            make(format!("layers/caches/work/{name}"));
        }
        for name in
            ["layers/home/upper", "layers/home/work", "layers/state/upper", "layers/state/work", "tmp"]
        {
            make(name.to_owned());
        }
        for number in 0..MANY {
            make(format!("home/work/part{}/protected{number}", number % 20));
        }
        Scene { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A plan as for an agent: a home under a layer, some of it hidden, caches and the agent's state under layers that are
    /// kept.
    fn plan(&self, backend: Backend, protected: usize) -> Plan {
        let layer = |at: &str, upper: &str, work: &str, fallback| {
            let [at, upper, work] = [at, upper, work].map(|name| self.path(name));
            Mount::Layer { at, upper, work, fallback }
        };
        let mut mounts =
            vec![layer("home", "layers/home/upper", "layers/home/work", LayerFallback::ReadOnly)];
        mounts.extend((0..15).map(|number| Mount::Hide(self.path(&format!("home/.dot{number}")))));
        mounts.extend(CACHES.map(|name| {
            let (upper, work) = (format!("layers/caches/upper/{name}"), format!("layers/caches/work/{name}"));
            layer(&format!("home/{name}"), &upper, &work, LayerFallback::Write)
        }));
        mounts.push(layer("home/.dot20", "layers/state/upper", "layers/state/work", LayerFallback::Upper));
        let path = |number| self.path(&format!("home/work/part{}/protected{number}", number % 20));
        mounts.extend((0..protected).map(|number| Mount::Protect(path(number))));
        Plan {
            backend,
            workspace: self.path("home/work"),
            tmp: self.path("tmp"),
            mounts,
            network: Network::Open,
            processes: 4096,
            memory: 8 << 30,
            nested: true,
            ids: Ids::Own,
        }
    }

    /// The layer over home is new for every call.
    fn renew_home_layer(&self) {
        make_removable(&self.path("layers/home"));
        fs::remove_dir_all(self.path("layers/home")).unwrap();
        for name in ["layers/home/upper", "layers/home/work"] {
            fs::create_dir_all(self.path(name)).unwrap();
        }
    }

    fn write(&self, name: &str, plan: &Plan) -> PathBuf {
        let file = self.path(name);
        fs::write(&file, serde_json::to_vec(plan).unwrap()).unwrap();
        file
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        make_removable(self.dir.path());
    }
}

/// The kernel makes directories that only root can look into.
fn make_removable(dir: &Path) {
    let status = Command::new("chmod").args(["-R", "u+rwx"]).arg(dir).status().unwrap();
    assert!(status.success());
}

/// Runs a box until its program has ended.
fn run_box(plan: &Path, program: &[&str]) {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    rustix::io::fcntl_setfd(&writer, rustix::io::FdFlags::empty()).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("__box").arg(plan).arg(writer.as_raw_fd().to_string()).args(["-", "/"]).args(program);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    drop(writer);
    assert!(status.success(), "{}", std::io::read_to_string(fs::File::from(reader)).unwrap());
}

fn bare_bwrap(workspace: &Path) {
    let mut command = Command::new(BWRAP);
    command.args(["--unshare-all", "--share-net", "--die-with-parent"]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind"]);
    command.arg(workspace).arg(workspace).arg("true");
    assert!(command.stdin(Stdio::null()).status().unwrap().success());
}

type Run<'a> = Box<dyn Fn() + 'a>;

fn measure_starts(scene: &Scene, rounds: usize, table: &mut Table) {
    let plans = [
        ("namespaces, whole plan", Backend::Namespaces, FEW, 2.0),
        ("namespaces, 200 protected", Backend::Namespaces, MANY, 3.0),
        ("bwrap, whole plan", Backend::Bwrap(BWRAP.into()), FEW, 4.0),
        ("landlock", Backend::Landlock, FEW, 1.5),
    ];
    let workspace = scene.path("home/work");
    let mut runs: Vec<(&str, Option<f64>, Run<'_>)> = vec![
        ("no sandbox", None, Box::new(|| assert!(Command::new("true").status().unwrap().success()))),
        ("bare bwrap", None, Box::new(|| bare_bwrap(&workspace))),
    ];
    for (name, backend, protected, bar) in plans {
        let file = scene.write(&format!("{}.json", name.replace(' ', "-")), &scene.plan(backend, protected));
        runs.push((name, Some(bar), Box::new(move || run_box(&file, &["true"]))));
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); runs.len()];
    for round in 0..rounds + 2 {
        for (run, times) in runs.iter().zip(&mut times) {
            scene.renew_home_layer();
            let began = Instant::now();
            (run.2)();
            if round >= 2 {
                times.push(began.elapsed());
            }
        }
    }
    let bare = millis(percentile(&mut times[1], 50));
    for ((name, bar, _), times) in runs.iter().zip(&mut times) {
        let (p50, p95) = (millis(percentile(times, 50)), millis(percentile(times, 95)));
        let limit = bar.map_or(Limit::Beside(bare), |bar| Limit::Most(bare * bar));
        table.row(&format!("{name}, p50"), p50, &limit, "ms");
        table.note(&format!("{:.2} times bare bwrap; p95 {p95:.2} ms", p50 / bare));
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[(times.len() - 1) * percent / 100]
}

/// From the kill of the supervisor until nobody of its tree is left.
fn measure_kills(scene: &Scene, table: &mut Table) {
    // Every process of the tree has the number in its arguments.
    let tag = format!("1000.{}", std::process::id());
    let script = format!("for i in 1 2 3 4 5 6 7 8 9 10; do setsid sleep {tag} & done; wait");
    for (name, backend) in [("namespaces", Backend::Namespaces), ("bwrap", Backend::Bwrap(BWRAP.into()))] {
        let plan = scene.write("kill.json", &scene.plan(backend, FEW));
        let mut times = Vec::new();
        for _ in 0..10 {
            scene.renew_home_layer();
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.arg("__parent").arg(&plan).args(["/", "sh", "-c", &script]);
            let mut parent = command.spawn().unwrap();
            while tagged(&tag) < 14 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let began = Instant::now();
            parent.kill().unwrap();
            parent.wait().unwrap();
            while tagged(&tag) > 0 {
                std::thread::sleep(Duration::from_micros(200));
            }
            times.push(began.elapsed());
        }
        let most = times.iter().max().copied().unwrap_or_default();
        let what = format!("last process after a kill, {name}");
        table.row(&format!("{what}, p50"), millis(percentile(&mut times, 50)), &Limit::Beside(100.0), "ms");
        table.row(&format!("{what}, most"), millis(most), &Limit::Most(100.0), "ms");
    }
}

/// Processes with the tag in their arguments.
fn tagged(tag: &str) -> usize {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let has_tag = |arguments: Vec<u8>| String::from_utf8_lossy(&arguments).contains(tag);
    pids.filter(|pid| fs::read(pid.path().join("cmdline")).is_ok_and(has_tag)).count()
}
