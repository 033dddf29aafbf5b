//! Streams: no record is missed or comes twice, however often they break; whoever is too slow is told to read again.

use super::bed::{Bed, row, write};
use super::client::{Event, SOON};
use ralph_store::{RunFilter, RunRow, Store};
use ralph_view::put_away::put_away;
use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const RUNS: u64 = 50;

/// What a client knows from events alone: the newest record of each run, and every id that came.
#[derive(Default)]
struct Known {
    heads: BTreeMap<String, u64>,
    ids: HashSet<u64>,
    last: Option<u64>,
    resets: u32,
}

impl Known {
    fn hear(&mut self, event: &Event) {
        match event.name.as_str() {
            "reset" => self.resets += 1,
            "run" => {
                let (run, head) = (event.data["id"].as_str().unwrap(), event.data["head"].as_u64().unwrap());
                let before = self.heads.insert(run.to_owned(), head);
                assert!(
                    before.is_none_or(|before| before <= head),
                    "{run} went back from {before:?} to {head}"
                );
                if let Some(id) = event.id {
                    assert!(self.ids.insert(id), "event {id} came twice");
                    assert!(self.last.is_none_or(|last| last < id), "event {id} came after {:?}", self.last);
                }
            }
            _ => {}
        }
        self.last = event.id.or(self.last);
    }
}

/// Fifty runs, each in a thread of its own, write until they are told to stop.
fn writers(bed: &Bed, stop: &Arc<AtomicBool>, pause: Duration) -> Vec<std::thread::JoinHandle<()>> {
    let store = Arc::new(bed.store());
    let writer = |n: u64| {
        let (store, stop) = (Arc::clone(&store), Arc::clone(stop));
        std::thread::spawn(move || {
            let id = format!("0199-{n:04}");
            let mut head = 1;
            while !stop.load(Ordering::Relaxed) || head < 3 {
                head += 1;
                write(&*store, row(&id, head));
                std::thread::sleep(pause);
            }
        })
    };
    (0..RUNS).for_each(|n| write(&*store, row(&format!("0199-{n:04}"), 1)));
    (0..RUNS).map(writer).collect()
}

fn heads(bed: &Bed) -> BTreeMap<String, u64> {
    bed.store().runs(&RunFilter::default()).unwrap().into_iter().map(|row| (row.id, row.head)).collect()
}

/// Reads until the client knows what the store has.
fn catch_up(bed: &Bed, known: &mut Known) {
    let want = heads(bed);
    let until = Instant::now() + SOON;
    let last = known.last.map(|last| last.to_string());
    let mut events = bed.events("", last.as_deref());
    while known.heads != want {
        assert!(Instant::now() < until, "some runs were missed");
        known.hear(&events.next().expect("the stream goes on"));
    }
}

#[test]
fn nothing_is_missed_or_twice_while_fifty_runs_write_and_the_stream_and_the_server_break() {
    let mut bed = Bed::new();
    let stop = Arc::new(AtomicBool::new(false));
    let threads = writers(&bed, &stop, Duration::from_millis(40));
    let overview = bed.get("/api/v1/overview").json();
    let mut known = Known { last: overview["position"].as_u64(), ..Known::default() };
    for card in overview["cards"].as_array().unwrap() {
        known.heads.insert(card["id"].as_str().unwrap().into(), card["head"].as_u64().unwrap());
    }
    for round in 0..30 {
        if round % 10 == 9 {
            bed.restart();
        }
        let mut events = bed.events("", known.last.map(|last| last.to_string()).as_deref());
        for _ in 0..(round * 7 % 40) {
            known.hear(&events.next().expect("the stream goes on"));
        }
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    catch_up(&bed, &mut known);
    assert_eq!(known.resets, 0, "nobody was ever too far behind");
    // A slow machine makes fewer: what several records change is one event.
    assert!(known.ids.len() > usize::try_from(RUNS).unwrap(), "{} events came", known.ids.len());
}

#[test]
fn whoever_is_too_far_behind_reads_everything_again() {
    let mut bed = Bed::new();
    let store = bed.store();
    for head in 1..=2_500 {
        write(&store, row("0199-a", head));
    }
    bed.restart();
    let first = bed.events("", Some("1")).next().unwrap();
    assert_eq!((first.name.as_str(), first.id), ("reset", Some(store.position().unwrap())));
    // One that comes from another store, or from the future.
    assert_eq!(bed.events("", Some("999999999")).next().unwrap().name, "reset");
    // A little behind is caught up with.
    let near = store.position().unwrap() - 100;
    let caught = bed.events("", Some(&near.to_string())).next().unwrap();
    assert_eq!((caught.name.as_str(), caught.data["head"].as_u64()), ("run", Some(2_500)));
}

#[test]
fn whoever_put_very_many_runs_away_reads_everything_after_a_restart() {
    let mut bed = Bed::new();
    let store = bed.store();
    let put = |n: u64| {
        let run = RunRow { status: "COMPLETED".into(), ..row(&format!("0199-{n:04}"), 1) };
        write(&store, run.clone());
        put_away(&store, &run, true).unwrap();
    };
    (0..100).for_each(put);
    let before = (store.position().unwrap() - 1).to_string();
    bed.restart();
    assert_eq!(bed.events("", Some(&before)).next().unwrap().name, "run");
    put(100);
    bed.restart();
    assert_eq!(bed.events("", Some(&before)).next().unwrap().name, "reset");
}

#[test]
fn a_slow_client_is_told_to_read_again_and_others_hear_everything() {
    let bed = Bed::new();
    write(&bed.store(), row("0199-a", 1));
    let mut slow = bed.narrow_events();
    let mut quick = bed.events("", None);
    let stop = Arc::new(AtomicBool::new(false));
    let writing = {
        let (stop, store) = (Arc::clone(&stop), bed.store());
        std::thread::spawn(move || {
            for head in 1.. {
                // Twenty runs with long tasks: each is an event of its own.
                for n in 0..20 {
                    write(&store, RunRow { task: "x".repeat(5_000), ..row(&format!("0199-b{n}"), head) });
                }
                if stop.load(Ordering::Relaxed) {
                    return;
                }
            }
        })
    };
    let mut last = 0;
    for _ in 0..2_000 {
        let event = quick.next().unwrap();
        assert_eq!(event.name, "run", "the quick one misses nothing");
        assert!(event.id.unwrap() > last);
        last = event.id.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    writing.join().unwrap();
    let told = std::iter::from_fn(|| slow.next()).find(|event| event.name == "reset");
    assert!(told.is_some_and(|reset| reset.id.is_some()));
}

#[test]
fn two_hundred_streams_hear_the_same() {
    let bed = Bed::new();
    let store = bed.store();
    write(&store, row("0199-a", 1));
    let mut streams: Vec<_> = (0..200).map(|_| bed.events("", None)).collect();
    for head in 2..=20 {
        write(&store, row("0199-a", head));
    }
    for stream in &mut streams {
        let mut head = 0;
        while head < 20 {
            let event = stream.next().unwrap();
            assert_eq!(event.name, "run");
            let now = event.data["head"].as_u64().unwrap();
            assert!(now > head);
            head = now;
        }
    }
    let metrics = bed.get("/metrics").body;
    assert!(metrics.contains("\nralph_event_streams 200\n"), "{metrics}");
    drop(streams);
    // Those that are gone make room.
    let until = Instant::now() + SOON;
    while !bed.get("/metrics").body.contains("\nralph_event_streams 0\n") {
        assert!(Instant::now() < until);
        write(&store, row("0199-a", store.run("0199-a").unwrap().unwrap().head + 1));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_stream_that_nobody_listens_to_is_let_go() {
    let bed = Bed::new();
    let mut stream = bed.connect();
    stream.write_all(format!("{}\r\n", bed.head("GET", "/api/v1/events")).as_bytes()).unwrap();
    let until = Instant::now() + SOON;
    while !bed.get("/metrics").body.contains("\nralph_event_streams 1\n") {
        assert!(Instant::now() < until);
    }
    drop(stream);
    while !bed.get("/metrics").body.contains("\nralph_event_streams 0\n") {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
}
