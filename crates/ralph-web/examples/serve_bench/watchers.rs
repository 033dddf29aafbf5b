//! What ten watchers cost those who commit: five servers with a stream each, and five monitors.

use crate::monitor::Monitor;
use crate::served::Served;
use crate::{count_events, row, write};
use ralph_store::Database;
use ralph_testkit::{Limit, Table};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

const OF_EACH: usize = 5;
const ROUNDS: usize = 20;
const COMMITS: usize = 50;
/// As far apart as it takes a watcher to notice that it may look again.
const SETTLES: Duration = Duration::from_millis(300);

/// Turn by turn with nobody who watches: the servers have no stream then, and the monitors are stopped.
pub fn measure(ralph: &Path, dir: &Path, store: &Database, table: &mut Table) {
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
    let servers: Vec<Served> = (0..OF_EACH).map(|_| Served::start(ralph, dir)).collect();
    let monitors: Vec<Monitor> =
        (0..OF_EACH).map(|_| Monitor::start(ralph, dir, None, Box::new(|_| ()))).collect();
    monitors.iter().for_each(|monitor| monitor.awaits("Make the tests of the parser"));
    let hold = |held| monitors.iter().for_each(|monitor| monitor.hold(held));
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        hold(true);
        sleep(SETTLES);
        commits(&mut alone);
        hold(false);
        let streams: Vec<TcpStream> = servers.iter().map(|served| served.ask("/api/v1/events")).collect();
        count_events(streams.iter().map(|stream| stream.try_clone().unwrap()).collect(), &Arc::default());
        sleep(SETTLES);
        commits(&mut watched);
        streams.iter().for_each(|stream| stream.shutdown(Shutdown::Both).unwrap());
    }
    let (alone, watched) = (p50(alone), p50(watched));
    table.row("commit with ten watchers, p50", watched, &Limit::Most(alone * 1.1), "us");
    table.row("commit with none, p50", alone, &Limit::Beside(watched), "us");
}

fn p50(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}
