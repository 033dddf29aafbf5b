//! The threads that deliver while a command runs: nobody waits for long, targets come and go, crashes are noted once.

use crate::receiver::{Behaviour, Receiver};
use crate::scene::{Scene, appends, webhook};
use ralph_notify::{
    Address, Config, Deliverer, Delivery, Kind, Notes, Quiet, Target, TraceMaker, Traces, Webhook, apply,
    note_crashes, prune,
};
use ralph_rules::notice::Event;
use ralph_store::{Batch, Lease, Memory, OutboxFilter, OutboxRow, OutboxState, Row, RunRow, Store};
use ralph_view::note::Note;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn config(targets: Vec<Target>) -> Config {
    Config { on: Event::ALL.to_vec(), quiet: None, zone: "UTC".into(), targets }
}

/// Starts with a configuration that reads so the first time and otherwise from then on.
fn start_then(scene: &Scene, first: Option<Config>, then: Config) -> Deliverer {
    let answers = Mutex::new(vec![Some(then), first]);
    let load = move || {
        let mut answers = answers.lock().unwrap();
        if answers.len() > 1 { answers.pop().flatten() } else { answers[0].clone() }
    };
    Deliverer::start(&scene.home(), Arc::new(load), None)
}

fn start(scene: &Scene, config: &Arc<Mutex<Config>>) -> Deliverer {
    let config = Arc::clone(config);
    Deliverer::start(&scene.home(), Arc::new(move || Some(config.lock().unwrap().clone())), None)
}

/// Waits until the rows are in these states.
fn until(scene: &Scene, wanted: &[OutboxState]) {
    for _ in 0..3_000 {
        if scene.states() == wanted {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{:?}", scene.rows());
}

#[test]
fn a_target_that_hangs_holds_up_neither_the_others_nor_the_end() {
    let scene = Scene::new();
    let hangs = Receiver::plain(Behaviour::Hangs);
    let works = Receiver::plain(Behaviour::Status(200, ""));
    let targets = vec![webhook(&hangs.url()), webhook(&works.url())];
    targets.iter().for_each(|target| drop(scene.note(target, 1)));
    let deliverer = start(&scene, &Arc::new(Mutex::new(config(targets))));
    works.wait_for(1);
    hangs.wait_for(1);
    let began = Instant::now();
    deliverer.finish(Duration::from_secs(2));
    // Half a second of its time is for a program that is being marked.
    assert!(began.elapsed() >= Duration::from_millis(1_500), "it waits for what is due");
    assert!(began.elapsed() < Duration::from_secs(10), "but not for long: {:?}", began.elapsed());
    let states: Vec<OutboxState> = scene.states();
    assert!(states.contains(&OutboxState::Sent) && states.contains(&OutboxState::Pending), "{states:?}");
}

#[test]
fn what_is_due_at_the_end_is_delivered_before_it() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Late(200, Duration::from_millis(200)));
    let target = webhook(&receiver.url());
    scene.store();
    let deliverer = start(&scene, &Arc::new(Mutex::new(config(vec![target.clone()]))));
    scene.note(&target, 1);
    until(&scene, &[OutboxState::Sent]);
    scene.note(&target, 2);
    deliverer.finish(Duration::from_secs(60));
    assert_eq!(scene.states(), [OutboxState::Sent; 2]);
}

#[test]
fn the_end_waits_for_a_program_whose_row_is_closed_already() {
    let scene = Scene::new();
    let argv = ["sh", "-c", "sleep 1; exit 3"].map(str::to_owned);
    let target = Target { kind: Kind::Command(argv.to_vec()) };
    scene.note(&target, 1);
    start(&scene, &Arc::new(Mutex::new(config(vec![target])))).finish(Duration::from_secs(60));
    let row = &scene.rows()[0];
    assert_eq!((row.state, row.answer.as_deref()), (OutboxState::Failed, Some("sh failed with exit code 3")));
}

#[test]
fn a_program_is_not_marked_by_a_process_that_is_ending() {
    let scene = Scene::new();
    let file = scene.dir.path().join("started");
    let target = appends(&file.to_string_lossy());
    scene.note(&target, 1);
    let ending = scene.delivery("a");
    ending.gate.close(Instant::now());
    assert!(!ending.next(&target, None).unwrap().unwrap().delivered);
    assert_eq!((scene.states(), file.exists()), (vec![OutboxState::Pending], false));
    scene.leases_end();
    assert!(scene.delivery("b").next(&target, None).unwrap().unwrap().delivered);
    assert_eq!((scene.rows()[0].answer.as_deref(), file.exists()), (Some("done"), true));
}

#[test]
fn a_configuration_that_cannot_be_read_at_first_is_read_again() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let deliverer = start_then(&scene, None, config(vec![target]));
    until(&scene, &[OutboxState::Sent]);
    drop(deliverer);
}

#[test]
fn a_known_target_gets_its_new_settings() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let allowed = webhook(&receiver.url());
    let Kind::Webhook(plain) = allowed.kind.clone() else { unreachable!() };
    let refused = Target { kind: Kind::Webhook(Webhook { allow_private: false, ..plain }) };
    assert_eq!(refused.id(), allowed.id());
    scene.note(&allowed, 1);
    let deliverer = start_then(&scene, Some(config(vec![refused])), config(vec![allowed]));
    until(&scene, &[OutboxState::Sent]);
    drop(deliverer);
}

#[test]
fn a_note_from_before_the_clock_was_set_back_does_not_wait() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    let ahead = ralph_engine::clock::utc() + 3_600_000;
    let row = OutboxRow { at: ahead, due: ahead, ..scene.note(&webhook("https://example.org/other"), 1) };
    let row = OutboxRow { id: "fresh".into(), target: target.id(), ..row };
    let held = OutboxRow { id: "held".into(), digest: Some("night".into()), ..row.clone() };
    let in_memory = Delivery { store: Arc::new(Memory::new()), ..scene.delivery("b") };
    for delivery in [scene.delivery("a"), in_memory] {
        let outbox = vec![row.clone(), held.clone()];
        delivery.store.commit(&Batch { outbox, ..Batch::default() }).unwrap();
        assert!(delivery.next(&target, None).unwrap().is_some_and(|attempt| attempt.delivered));
        assert_eq!(delivery.next(&target, None).unwrap(), None, "quiet hours last");
        let filter = OutboxFilter { target: Some(target.id()), ..OutboxFilter::default() };
        let mut left = delivery.store.outbox(&filter).unwrap();
        left.retain(|entry| entry.state == OutboxState::Pending);
        assert_eq!(left.iter().map(|entry| entry.row.id.as_str()).collect::<Vec<_>>(), ["held"]);
    }
}

#[test]
fn a_target_without_its_address_keeps_its_notes_for_a_process_that_has_it() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let Kind::Webhook(plain) = webhook(&receiver.url()).kind else { unreachable!() };
    let of = |value: Option<&str>| {
        let address = Address::Variable("HOOK".into(), value.map(ralph_engine::redact::Secret::new));
        Target { kind: Kind::Webhook(Webhook { address, ..plain.clone() }) }
    };
    let url = receiver.url();
    let (without, with) = (of(None), of(Some(&url)));
    assert_eq!(without.id(), with.id());
    scene.note(&without, 1);
    let began = Instant::now();
    let deliverer = start(&scene, &Arc::new(Mutex::new(config(vec![without]))));
    std::thread::sleep(Duration::from_millis(300));
    deliverer.finish(Duration::from_secs(60));
    assert!(began.elapsed() < Duration::from_secs(30), "nobody waits for what cannot be delivered here");
    assert_eq!((scene.states(), scene.rows()[0].attempts), (vec![OutboxState::Pending], 0));
    let deliverer = start(&scene, &Arc::new(Mutex::new(config(vec![with]))));
    until(&scene, &[OutboxState::Sent]);
    drop(deliverer);
}

/// A note that waits since an hour for a target, or for the end of quiet hours in an hour.
fn waiting(id: &str, target: &str, for_quiet_hours: bool) -> OutboxRow {
    let (now, hour) = (ralph_engine::clock::utc(), 3_600_000);
    let note = Note { run: "12345678".into(), ..Note::default() };
    OutboxRow {
        id: id.into(),
        target: target.into(),
        at: now - hour,
        due: if for_quiet_hours { now + hour } else { now - hour },
        digest: for_quiet_hours.then(|| (now + hour).to_string()),
        body: serde_json::to_string(&note).unwrap(),
        ..OutboxRow::default()
    }
}

/// Quiet hours that began an hour ago.
fn quiet_now() -> Option<Quiet> {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let of = |hours: i64| (&now + jiff::SignedDuration::from_hours(hours)).strftime("%H:%M").to_string();
    Quiet::of(&format!("{}-{}", of(-1), of(2)))
}

/// One that was written before them with nobody there, and one that failed before them: both came due meanwhile.
#[test]
fn nothing_but_traces_goes_out_in_quiet_hours() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    let endpoint = ralph_engine::redact::Secret::new(format!("{}/traces", receiver.url()));
    let traces = Target { kind: Kind::Traces(Traces { endpoint, headers: Vec::new(), problem: None }) };
    scene.add(vec![waiting("1 failed", &target.id(), false)]);
    let now = ralph_engine::clock::utc();
    let lease = Lease { owner: "a", target: &target.id(), now, until: now + 9, not_tried_since: None };
    let store = scene.store();
    assert_eq!(store.outbox_lease(&lease).unwrap().len(), 1);
    let retry = ralph_store::Delivery::Retry(now - 60_000);
    store.outbox_settle((&["1 failed".into()], "a", now), &retry, "answered 503").unwrap();
    scene.add(vec![waiting("2 fresh", &target.id(), false), waiting("3 trace", &traces.id(), false)]);

    let quiet = Config { quiet: quiet_now(), ..config(vec![target, traces]) };
    let make: TraceMaker = Arc::new(|_, _, _| Ok(vec![b"{}".to_vec()]));
    let load = quiet.clone();
    let deliverer = Deliverer::start(&scene.home(), Arc::new(move || Some(load.clone())), Some(make));
    deliverer.finish(Duration::from_secs(60));
    assert_eq!(scene.states(), [OutboxState::Sent, OutboxState::Pending, OutboxState::Pending]);
    assert_eq!(receiver.received().len(), 1);

    let over = Config { quiet: None, ..quiet };
    start(&scene, &Arc::new(Mutex::new(over))).finish(Duration::from_secs(60));
    assert_eq!(scene.states(), [OutboxState::Sent; 3]);
    assert_eq!(receiver.received().len(), 3, "each by itself, under the id it has had from the first");
}

#[test]
fn rows_of_a_target_that_was_removed_are_closed() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    scene.add(vec![waiting("1", "a-removed", false), waiting("2", "b-removed", true)]);
    let deliverer = start(&scene, &Arc::new(Mutex::new(config(vec![webhook(&receiver.url())]))));
    until(&scene, &[OutboxState::Dropped, OutboxState::Dropped]);
    assert!(scene.rows().iter().all(|entry| entry.answer.as_deref() == Some("target removed")));
    drop(deliverer);
    assert!(receiver.received().is_empty());
}

#[test]
fn notes_that_were_closed_a_month_ago_are_deleted() {
    let scene = Scene::new();
    let target = webhook("https://example.org/hook");
    let day = 24 * 3_600_000;
    let waits = waiting("waits", "a-removed", false);
    let old = OutboxRow { at: waits.at - 40 * day, ..waits };
    scene.add(vec![OutboxRow { id: "old".into(), ..old.clone() }]);
    apply(&config(vec![target.clone()]), ralph_engine::clock::utc(), &scene.delivery("a")).unwrap();
    assert_eq!(scene.states(), [OutboxState::Dropped]);
    // Closed just now, however old the note is.
    scene.add(vec![OutboxRow { id: "old and waits".into(), target: target.id(), due: old.at, ..old }]);
    let now = ralph_engine::clock::utc();
    assert_eq!(prune(&*scene.store(), now).unwrap(), 0);
    assert_eq!(prune(&*scene.store(), now + 31 * day).unwrap(), 1);
    assert_eq!(scene.states(), [OutboxState::Pending], "what is to be delivered stays");
    let id = scene.rows().remove(0).row.id;
    assert_eq!(id, "old and waits");
}

/// By the deliverer itself.
#[test]
fn a_deliverer_deletes_notes_that_were_closed_a_month_ago() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let store = scene.store();
    let wanted = Lease { owner: "a", target: &target.id(), now: 10, until: 20, not_tried_since: None };
    let ids = [store.outbox_lease(&wanted).unwrap().remove(0).row.id];
    store.outbox_settle((&ids, "a", 15), &ralph_store::Delivery::Sent, "answered 200").unwrap();
    let deliverer = start(&scene, &Arc::new(Mutex::new(config(vec![target]))));
    until(&scene, &[]);
    drop(deliverer);
}

#[test]
fn a_configuration_that_is_empty_for_a_moment_closes_nothing() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let (other, target) = (webhook("https://example.org/other"), webhook(&receiver.url()));
    let kept = waiting("1", &target.id(), true);
    scene.add(vec![kept]);
    // Read at the start, without the target at the first look, with it from then on.
    let complete = config(vec![other.clone(), target]);
    let answers = Mutex::new(vec![complete.clone(), config(vec![other]), complete]);
    let reads = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let load = move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let mut answers = answers.lock().unwrap();
        let quiet = Quiet::of("00:00-23:59");
        let config = if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() };
        Some(Config { quiet, ..config })
    };
    let deliverer = Deliverer::start(&scene.home(), Arc::new(load), None);
    let until = Instant::now() + Duration::from_secs(60);
    while reads.load(std::sync::atomic::Ordering::SeqCst) < 3 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_ne!(scene.states(), [OutboxState::Dropped]);
    drop(deliverer);
}

#[test]
fn notes_that_wait_for_quiet_hours_are_due_when_those_are_removed() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    scene.add(vec![waiting("1", &target.id(), true), waiting("2", &target.id(), true)]);
    assert_eq!(scene.delivery("a").next(&target, None).unwrap(), None, "they wait");
    start(&scene, &Arc::new(Mutex::new(config(vec![target])))).finish(Duration::from_secs(60));
    assert_eq!(scene.states(), [OutboxState::Sent; 2]);
    assert_eq!(receiver.received().len(), 1, "one digest");
}

#[test]
fn notes_that_wait_follow_quiet_hours_that_were_changed() {
    let scene = Scene::new();
    let target = webhook("https://example.org/hook");
    let row = waiting("1", &target.id(), true);
    scene.add(vec![row.clone()]);
    let ms = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let hours = |text: &str| Config { quiet: Quiet::of(text), ..config(vec![target.clone()]) };
    let delivery = scene.delivery("a");
    let due_after = |quiet: &str, now: &str| {
        let row = OutboxRow { due: ms("2026-11-16T07:00:00Z"), id: format!("{quiet} {now}"), ..row.clone() };
        scene.add(vec![row.clone()]);
        apply(&hours(quiet), ms(now), &delivery).unwrap();
        scene.rows().into_iter().find(|entry| entry.row.id == row.id).unwrap().row.due
    };
    for (quiet, now, due) in [
        ("22:00-07:00", "2026-11-15T23:00:00Z", "2026-11-16T07:00:00Z"),
        ("22:00-09:00", "2026-11-15T23:00:00Z", "2026-11-16T09:00:00Z"),
        ("22:00-06:00", "2026-11-15T23:00:00Z", "2026-11-16T06:00:00Z"),
        ("01:00-07:00", "2026-11-15T23:00:00Z", "2026-11-15T23:00:00Z"),
    ] {
        assert_eq!(due_after(quiet, now), ms(due), "{quiet} at {now}");
    }
}

/// A run that was written as running, and that no process holds the lock of.
fn crashed(id: &str, workspace: &str, updated: i64) -> Row {
    Row::Run(Box::new(RunRow {
        id: id.into(),
        workspace: workspace.into(),
        task: "Fix it".into(),
        status: "RUNNING".into(),
        updated,
        head: 7,
        resumable: true,
        ..RunRow::default()
    }))
}

#[test]
fn a_crash_is_noted_once_whoever_sees_it() {
    let scene = Scene::new();
    let file = scene.dir.path().join("started").to_string_lossy().into_owned();
    let notes = Notes::of(&config(vec![appends(&file)])).unwrap();
    let now = ralph_engine::clock::utc();
    let store = scene.store();
    let week = 7 * 24 * 3_600_000;
    let rows = vec![
        crashed("a-crashed", "/w/a", now),
        crashed("b-crashed-long-ago", "/w/b", now - week),
        crashed("c-crashed", "/w/c", now),
        crashed("d-newer-in-c", "/w/c", now),
    ];
    store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    for _ in 0..3 {
        assert_eq!(note_crashes(&*store, &scene.home(), &notes, now).unwrap(), 2);
    }
    let noted: Vec<String> = scene.rows().iter().map(|entry| entry.row.run.clone()).collect();
    assert_eq!(noted, ["a-crashed", "d-newer-in-c"]);
    assert!(scene.rows().iter().all(|entry| entry.row.event == "crashed"));
    let more = Notes::of(&config(vec![appends(&file), webhook("https://example.org/new")])).unwrap();
    assert_eq!(note_crashes(&*store, &scene.home(), &more, now).unwrap(), 2);
    assert_eq!(scene.rows().len(), 2, "a target that is added later gets no old crash");
    let ended = RunRow {
        exit_code: Some(0),
        head: 9,
        status: "COMPLETED".into(),
        id: "a-crashed".into(),
        workspace: "/w/a".into(),
        ..RunRow::default()
    };
    store.commit(&Batch { rows: vec![Row::Run(Box::new(ended))], ..Batch::default() }).unwrap();
    assert_eq!(note_crashes(&*store, &scene.home(), &notes, now).unwrap(), 1);
}
