//! What the monitor costs: a frame at each size, beside one that changes nothing; and a look at the board with 1,000 runs of
//! 100 iterations each, beside the store's mark alone. Sizes take turns, so that other programs of the machine hit all alike.
//!
//! `cargo run --release -p ralph-monitor --example monitor_bench`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs,
    clippy::indexing_slicing
)]

#[path = "../tests/fake/mod.rs"]
mod fake;

use ralph_engine::home::Home;
use ralph_monitor::draw::draw;
use ralph_monitor::model::Model;
use ralph_monitor::paint::Painter;
use ralph_store::{Batch, IterationRow, Row, RunRow, Store};
use ralph_view::board::{Board, BoardSettings};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::time::{Duration, Instant};

const SIZES: [(u16, u16); 5] = [(120, 40), (100, 30), (80, 24), (22, 3), (400, 100)];
const ROUNDS: usize = 500;

fn main() {
    frames();
    board();
}

/// Microseconds of drawing, and of writing what changed.
fn frames() {
    let models: Vec<Model> = SIZES.iter().map(|size| fake::model(*size)).collect();
    let mut times: Vec<[Vec<Duration>; 2]> = SIZES.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    let mut painters: Vec<Painter> = SIZES.iter().map(|_| Painter::default()).collect();
    for _ in 0..ROUNDS {
        for (at, (model, size)) in models.iter().zip(SIZES).enumerate() {
            let since = Instant::now();
            let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            draw(model, &mut buffer, true);
            times[at][0].push(since.elapsed());
            let since = Instant::now();
            std::hint::black_box(painters[at].frame(buffer));
            times[at][1].push(since.elapsed());
        }
    }
    for ((columns, rows), [drawn, compared]) in SIZES.into_iter().zip(&mut times) {
        let (drawn, compared) = (p50(drawn), p50(compared));
        println!(
            "{columns}x{rows}: draw {} us, compare with the last frame {} us",
            micros(drawn),
            micros(compared)
        );
    }
}

/// Microseconds of a look at the board when nothing changed, and of reading the first screen.
fn board() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path());
    let store = home.store().unwrap();
    for n in 0..1_000 {
        let id = format!("0199f1c2-7a3b-7cde-8f01-{n:012}");
        let row = RunRow {
            id: id.clone(),
            workspace: format!("/home/ada/project{}", n % 50),
            task: "Make the parser accept nested quotes".into(),
            agent: "claude".into(),
            status: "COMPLETED".into(),
            exit_code: Some(0),
            iterations: 100,
            max_iterations: 100,
            started: n,
            updated: n,
            ..RunRow::default()
        };
        let one = |i: u32| IterationRow { run: id.clone(), n: i, attempt: 1, ..IterationRow::default() };
        let rows = (1..=100).map(|i| Row::Iteration(one(i)));
        let rows = std::iter::once(Row::Run(Box::new(row))).chain(rows).collect();
        store.commit(&Batch { rows, now: n, ..Batch::default() }).unwrap();
    }
    let mut board = Board::new(&home, BoardSettings { zone: "UTC".into(), ..BoardSettings::default() });
    let since = Instant::now();
    board.poll(0);
    println!("1,000 runs, 100,000 iterations: first look {} us", micros(since.elapsed()));
    let (mut polls, mut marks, mut overviews) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..ROUNDS {
        let since = Instant::now();
        std::hint::black_box(store.changed().unwrap());
        marks.push(since.elapsed());
        let since = Instant::now();
        std::hint::black_box(board.poll(i64::try_from(n).unwrap() * 50));
        polls.push(since.elapsed());
        if n % 40 == 0 {
            let since = Instant::now();
            std::hint::black_box(board.overview(0).unwrap());
            overviews.push(since.elapsed());
        }
    }
    println!(
        "look at the board, nothing new: {} us (the mark alone {} us); first screen: {} us",
        micros(p50(&mut polls)),
        micros(p50(&mut marks)),
        micros(p50(&mut overviews))
    );
}

fn p50(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}
