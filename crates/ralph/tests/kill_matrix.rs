//! The kill matrix: the unmodified binary is killed right before every write, sync, rename, removal and start that any
//! of its threads makes, and for a sample again while it recovers. Afterwards nothing that was acknowledged is lost,
//! nothing is charged twice, nobody is left alive, the workspace is as the agent left it, and going on leads to the same
//! outcome.
//!
//! `RALPH_BIN` names the binary (the test command gives the release build). `RALPH_KILL_MATRIX=full` follows every
//! first crash by a second one. Each case is made of `scene` (what is run), `tracer` (the kill) and `evidence`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "kill_matrix/after_the_run.rs"]
mod after_the_run;
#[path = "kill_matrix/evidence.rs"]
mod evidence;
#[path = "kill_matrix/hook.rs"]
mod hook;
#[path = "kill_matrix/overspent.rs"]
mod overspent;
#[path = "kill_matrix/ptrace.rs"]
mod ptrace;
#[path = "kill_matrix/scene.rs"]
mod scene;
#[path = "kill_matrix/tracer.rs"]
mod tracer;

use evidence::Evidence;
use scene::Scene;
use std::collections::HashSet;
use std::io::Write;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracer::{Point, When, trace};

/// Cases at a time: most of a case's time is spent waiting for the disk and for pauses.
const AT_ONCE: usize = 8;
/// One first crash in so many is followed by a second one.
const SAMPLE: usize = 8;
/// Failures that are told in full.
const SHOWN: usize = 12;

/// What the cases came to.
#[derive(Default)]
struct Tally {
    first: AtomicUsize,
    second: AtomicUsize,
    missed: AtomicUsize,
    lost: AtomicUsize,
    found: AtomicUsize,
    restored: AtomicUsize,
    slowest: Mutex<Duration>,
    failures: Mutex<Vec<String>>,
}

#[test]
fn killed_at_every_point_it_recovers_to_the_same_outcome() {
    let points = every_point();
    let (tally, next) = (Tally::default(), AtomicUsize::new(0));
    let sample = if std::env::var("RALPH_KILL_MATRIX").is_ok_and(|v| v == "full") { 1 } else { SAMPLE };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((n, point)) =
                    points.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed))
                {
                    // The second crash's place differs from case to case and is the same each time.
                    let again = n.is_multiple_of(sample).then_some(1 + n * 37 % 120);
                    if let Err(why) = case(n, point, again, &tally) {
                        let again = again
                            .map(|nth| format!(", then at point {nth} of the recovery"))
                            .unwrap_or_default();
                        tally.failures.lock().unwrap().push(format!("killed at {point}{again}: {why}"));
                    }
                }
            });
        }
    });
    report(&points, &tally);
}

/// A call that spends ten times its estimate, killed at every record: what is known is never less than what was
/// really spent, the cap is passed by two turns at most, and going on ends at the limit of cost.
#[test]
fn killed_at_every_record_an_overspending_call_is_accounted_for() {
    let undisturbed = Scene::overspending();
    let never =
        trace(&undisturbed.overspend(), &undisturbed.file("out"), &undisturbed.file("err"), &When::Never);
    assert_eq!(never.status.code(), Some(3), "{}", said(&undisturbed, "err"));
    let whole = Evidence::take(&undisturbed, "copy").unwrap();
    undisturbed.is_accounted_for(&whole, "undisturbed").unwrap();
    assert!(undisturbed.real() >= 1_500_000, "two turns ahead of the third, the cap is passed: not before");
    let points: Vec<Point> = never.points.into_iter().filter(Point::is_sync).collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = overspends(point) {
                        failures.lock().unwrap().push(format!("killed at {point}: {why}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let _ = writeln!(
        std::io::stderr(),
        "overspending call: killed at {} records, {} failed",
        points.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The hooks of a session, each killed at every point; for a sample the stop after that as well.
#[test]
fn killed_at_every_point_the_hooks_of_a_session_lose_nothing() {
    let mut undisturbed = hook::Session::new();
    let starts = undisturbed.start(&When::Never);
    let stops = undisturbed.finish(&When::Never, &When::Never).unwrap();
    let cases: Vec<(bool, usize, &Point)> = starts
        .iter()
        .enumerate()
        .map(|(n, point)| (true, n, point))
        .chain(stops.iter().enumerate().map(|(n, point)| (false, n, point)))
        .collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((starting, n, point)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = When::At((*point).clone());
                    let again =
                        if n.is_multiple_of(SAMPLE) { When::Nth(1 + n * 37 % 120) } else { When::Never };
                    let mut session = hook::Session::new();
                    let (prompt, stop) = if *starting { (&at, &When::Never) } else { (&When::Never, &at) };
                    session.start(prompt);
                    if let Err(why) = session.finish(stop, &again) {
                        let which = if *starting { "prompt" } else { "stop" };
                        failures.lock().unwrap().push(format!("hook {which} killed at {point}: {why}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let _ = writeln!(
        std::io::stderr(),
        "hooks: killed at {} points of prompt and {} of stop, {} failed",
        starts.len(),
        stops.len(),
        failures.len()
    );
    let shown: Vec<_> = failures.iter().take(SHOWN).map(String::as_str).collect();
    assert!(failures.is_empty(), "{}", shown.join("\n"));
}

fn overspends(point: &Point) -> Result<(), String> {
    let scene = Scene::overspending();
    trace(&scene.overspend(), &scene.file("out"), &scene.file("err"), &When::At(point.clone()));
    scene.cleared()?;
    let killed = Evidence::take(&scene, "copy1")?;
    let spent_then = scene.real();
    let open = killed.run().is_some_and(|run| run.resumable && run.exit_code.is_none());
    if open || killed.run().is_none() {
        let mut command = if open { scene.resume() } else { scene.overspend() };
        let output = command.output().map_err(|e| e.to_string())?;
        if output.status.code() != Some(3) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("going on ended with {}: {said}", output.status));
        }
    }
    scene.cleared()?;
    let after = Evidence::take(&scene, "copy2")?;
    after.goes_on_from(&killed)?;
    scene.is_accounted_for(&after, &format!("{spent_then} spent when it was killed"))
}

fn report(points: &[Point], tally: &Tally) {
    let failures = tally.failures.lock().unwrap();
    let (first, second) = (tally.first.load(Ordering::Relaxed), tally.second.load(Ordering::Relaxed));
    let missed = tally.missed.load(Ordering::Relaxed);
    let (lost, found) = (tally.lost.load(Ordering::Relaxed), tally.found.load(Ordering::Relaxed));
    let verdict =
        if failures.is_empty() { "all recovered".into() } else { format!("{} FAILED", failures.len()) };
    let slowest = tally.slowest.lock().unwrap();
    // Not by `println`: the number is part of what this test shows, also when it passes.
    let _ = writeln!(
        std::io::stderr(),
        "kill matrix: {first} first crashes, {second} second crashes, {verdict} \
         ({lost} calls were lost, {found} found whole in their transcripts; everybody dead within {slowest:?}; \
         {missed} points did not come up again)"
    );
    let shown: Vec<_> = failures.iter().take(SHOWN).map(String::as_str).collect();
    assert!(failures.is_empty(), "{}", shown.join("\n"));
    assert!(tally.restored.load(Ordering::Relaxed) * 2 > first, "most of them put something back");
    assert!(lost > 0 && found > 0, "the kills must reach into calls: {lost} lost, {found} found");
    assert!(missed * 10 < points.len(), "{missed} of {} points did not come up again", points.len());
}

/// Undisturbed runs, which end as they should, and every point they come to. How the agent's output falls into pieces
/// differs a little, so more than one is looked at.
fn every_point() -> Vec<Point> {
    let (mut seen, mut points) = (HashSet::new(), Vec::new());
    for _ in 0..3 {
        let scene = Scene::new();
        let traced = trace(&scene.run(), &scene.file("out"), &scene.file("err"), &When::Never);
        assert!(
            traced.status.success(),
            "undisturbed it ends with {}: {}",
            traced.status,
            said(&scene, "err")
        );
        assert!(said(&scene, "out").contains("in_room"), "it is proven in a room");
        let evidence = Evidence::take(&scene, "copy").unwrap();
        evidence.is_complete().and(scene.workspace_is_right()).unwrap();
        points.extend(traced.points.into_iter().filter(|point| seen.insert(point.clone())));
    }
    points
}

/// One first crash, perhaps a second one, and the recovery.
fn case(n: usize, point: &Point, again: Option<usize>, tally: &Tally) -> Result<(), String> {
    let scene = Scene::new();
    let traced = trace(&scene.run(), &scene.file("out"), &scene.file("err"), &When::At(point.clone()));
    let count = if traced.was_killed() { &tally.first } else { &tally.missed };
    count.fetch_add(1, Ordering::Relaxed);
    let mut before = look(&scene, "1", &["out"], tally)?;
    if let (Some(nth), Some(command)) = (again, recovery(n, &scene, &before)) {
        let traced = trace(&command, &scene.file("out2"), &scene.file("err2"), &When::Nth(nth));
        tally.second.fetch_add(usize::from(traced.was_killed()), Ordering::Relaxed);
        let after = look(&scene, "2", &["out", "out2"], tally)?;
        after.goes_on_from(&before)?;
        before = after;
    }
    if let Some(mut command) = recovery(n, &scene, &before) {
        let output = command.output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("going on ended with {}: {said}", output.status));
        }
        std::fs::write(scene.file("out3"), output.stdout).unwrap();
    }
    let after = look(&scene, "3", &["out", "out2", "out3"], tally)?;
    after.goes_on_from(&before)?;
    after.is_complete()?;
    tally.restored.fetch_add(after.quarantined()?, Ordering::Relaxed);
    let (lost, found) = after.lost_and_found();
    tally.lost.fetch_add(lost, Ordering::Relaxed);
    tally.found.fetch_add(found, Ordering::Relaxed);
    scene.workspace_is_right()
}

/// How a person goes on: by `resume` or by the same command again, which is the only way where nothing was written
/// down yet; not at all where it is done.
fn recovery(n: usize, scene: &Scene, found: &Evidence) -> Option<Command> {
    match found.run() {
        Some(run) if !run.resumable => None,
        Some(_) if !n.is_multiple_of(3) => Some(scene.resume()),
        _ => Some(scene.run()),
    }
}

/// Nobody is alive, and all that these outputs acknowledged is on the disk.
fn look(scene: &Scene, name: &str, outputs: &[&str], tally: &Tally) -> Result<Evidence, String> {
    let took = scene.cleared()?;
    let mut slowest = tally.slowest.lock().unwrap();
    *slowest = took.max(*slowest);
    drop(slowest);
    let evidence = Evidence::take(scene, &format!("copy{name}"))?;
    for output in outputs.iter().map(|name| scene.file(name)).filter(|path| path.exists()) {
        evidence.holds_all_of(&output)?;
    }
    Ok(evidence)
}

fn said(scene: &Scene, name: &str) -> String {
    std::fs::read_to_string(scene.file(name)).unwrap_or_default()
}
