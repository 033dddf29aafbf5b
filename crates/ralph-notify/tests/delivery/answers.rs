//! What a receiver answers, and what becomes of the note.

use crate::child;
use crate::receiver::{Behaviour, Receiver, nobody};
use crate::scene::{Scene, webhook};
use ralph_engine::clock::utc;
use ralph_engine::redact::Secret;
use ralph_notify::{Address, Kind, Target, Traces, Webhook, ended, flush, revive, try_now};
use ralph_store::{OutboxRow, OutboxState, Store};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn a_note_arrives_once_with_its_id_and_is_settled() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(204, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let delivery = scene.delivery("a");
    let attempt = delivery.next(&target, None).unwrap().unwrap();
    assert_eq!((attempt.delivered, attempt.answer.as_str()), (true, "answered 204"));
    assert_eq!(delivery.next(&target, None).unwrap(), None);
    let received = receiver.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].path, "/hook");
    assert!(received[0].header("webhook-id").starts_with("msg_"));
    assert_eq!(received[0].header("webhook-signature"), "");
    assert_eq!(received[0].header("user-agent"), concat!("ralph/", env!("CARGO_PKG_VERSION")));
    assert_eq!(received[0].json()["type"], "run.completed");
    assert_eq!(scene.states(), [OutboxState::Sent]);
}

#[test]
fn whatever_is_wrong_with_an_answer_the_note_is_kept_for_another_attempt() {
    let table: [(&str, Option<Behaviour>); 8] = [
        ("answered 500", Some(Behaviour::Status(500, ""))),
        ("answered 404", Some(Behaviour::Status(404, ""))),
        ("redirects are not followed", Some(Behaviour::Status(302, "location: http://127.0.0.1:1/\r\n"))),
        ("redirects are not followed", Some(Behaviour::Status(308, "location: https://example.org/\r\n"))),
        ("", Some(Behaviour::Closes)),
        ("", Some(Behaviour::Nonsense)),
        ("the answer", Some(Behaviour::EndlessHead)),
        ("the connection failed", None),
    ];
    for (words, behaviour) in table {
        let scene = Scene::new();
        let receiver = behaviour.clone().map(Receiver::plain);
        let target = webhook(&receiver.as_ref().map_or_else(nobody, Receiver::url));
        scene.note(&target, 1);
        let before = utc();
        let attempt = scene.delivery("a").next(&target, None).unwrap().unwrap();
        assert!(!attempt.delivered && attempt.answer.contains(words), "{behaviour:?}: {attempt:?}");
        assert!(!attempt.answer.contains("127.0.0.1"), "no address is stored: {attempt:?}");
        let row = &scene.rows()[0];
        assert_eq!((row.state, row.attempts), (OutboxState::Pending, 1), "{behaviour:?}");
        assert!(row.row.due >= before + 5_000 && row.row.due <= utc() + 5_000, "{behaviour:?}");
        assert_eq!(row.leased_until, None);
    }
}

#[test]
fn a_huge_body_is_not_read() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::HugeBody);
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let began = Instant::now();
    assert!(scene.delivery("a").next(&target, None).unwrap().unwrap().delivered);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn a_receiver_that_hangs_or_drips_is_given_up_after_its_time() {
    let waits = [Behaviour::Hangs, Behaviour::Drips].map(|behaviour| {
        std::thread::spawn(move || {
            let scene = Scene::new();
            let receiver = Receiver::plain(behaviour.clone());
            let target = webhook(&receiver.url());
            scene.note(&target, 1);
            let began = Instant::now();
            let attempt = scene.delivery("a").next(&target, None).unwrap().unwrap();
            assert_eq!(attempt.answer, "no answer within 20 seconds", "{behaviour:?}");
            // Less than the lease, so that nobody else sends it meanwhile.
            assert!(began.elapsed() < Duration::from_secs(50), "{behaviour:?} took {:?}", began.elapsed());
            assert_eq!(scene.states(), [OutboxState::Pending]);
        })
    });
    waits.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn ten_retries_then_it_is_given_up_and_said() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(503, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let delivery = scene.delivery("a");
    for _ in 0..11 {
        assert!(delivery.next(&target, None).unwrap().is_some());
        scene.retries_are_due();
    }
    assert_eq!(delivery.next(&target, None).unwrap(), None);
    let row = &scene.rows()[0];
    assert_eq!(
        (row.state, row.attempts, row.answer.as_deref()),
        (OutboxState::Failed, 11, Some("answered 503"))
    );
    let ids: Vec<String> = receiver.received().iter().map(|r| r.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 11);
    assert!(ids.iter().all(|id| *id == ids[0]), "the same message at every attempt");
}

#[test]
fn retry_after_is_obeyed_within_a_day() {
    for (head, least, most) in [
        ("retry-after: 3600\r\n", 3_600_000, 3_700_000),
        ("retry-after: 1\r\n", 5_000, 60_000),
        ("retry-after: 99999999\r\n", 86_400_000, 86_500_000),
        ("retry-after: whenever\r\n", 5_000, 60_000),
    ] {
        let scene = Scene::new();
        let receiver = Receiver::plain(Behaviour::Status(429, head));
        let target = webhook(&receiver.url());
        scene.note(&target, 1);
        let before = utc();
        scene.delivery("a").next(&target, None).unwrap().unwrap();
        let wait = scene.rows()[0].row.due - before;
        assert!((least..=most).contains(&wait), "{head}: {wait}");
    }
}

#[test]
fn a_receiver_that_is_gone_gets_nothing_more_until_a_test_revives_it() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(410, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    scene.note(&target, 2);
    let delivery = scene.delivery("a");
    while delivery.next(&target, None).unwrap().is_some() {}
    assert_eq!(receiver.received().len(), 1, "only the first was sent");
    assert_eq!(scene.states(), [OutboxState::Dropped, OutboxState::Dropped]);
    assert!(ended(&*delivery.store, &target.id()).unwrap().is_some());
    scene.note(&target, 3);
    scene.delivery("another process").next(&target, None).unwrap();
    assert_eq!(receiver.received().len(), 1);
    let answer = try_now(&delivery, &target);
    assert!(!answer.delivered && ended(&*delivery.store, &target.id()).unwrap().is_some());
    receiver.becomes(Behaviour::Status(200, ""));
    assert!(try_now(&delivery, &target).delivered);
    assert_eq!(ended(&*delivery.store, &target.id()).unwrap(), None);
    revive(&*delivery.store, &target.id()).unwrap();
    scene.note(&target, 4);
    assert!(delivery.next(&target, None).unwrap().unwrap().delivered);
}

#[test]
fn a_private_address_is_refused_before_anything_is_sent() {
    let receiver = Receiver::tls(Behaviour::Status(200, ""));
    let plain = Receiver::plain(Behaviour::Status(200, ""));
    let port = receiver.address.port();
    for (url, words) in [
        (format!("https://localhost:{port}/"), "private network"),
        (format!("https://127.0.0.1:{port}/"), "private network"),
        (format!("https://[::ffff:127.0.0.1]:{port}/"), "private network"),
        (format!("https://0.0.0.0:{port}/"), "private network"),
        (format!("https://2130706433:{port}/"), ""),
        (plain.url(), "https://"),
    ] {
        let scene = Scene::new();
        let address = Address::Url(Secret::new(url.clone()));
        let Kind::Webhook(open) = webhook(&url).kind else { unreachable!() };
        let target = Target { kind: Kind::Webhook(Webhook { address, allow_private: false, ..open }) };
        scene.note(&target, 1);
        let attempt = scene.delivery("a").next(&target, None).unwrap().unwrap();
        assert!(!attempt.delivered && attempt.answer.contains(words), "{url}: {attempt:?}");
    }
    assert!(receiver.received().is_empty() && plain.received().is_empty());
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let scene = Scene::new();
    let receiver = Receiver::tls(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let attempt = scene.delivery("a").next(&target, None).unwrap().unwrap();
    assert!(!attempt.delivered && attempt.answer.contains("certificate"), "{attempt:?}");
    assert!(receiver.received().is_empty());
}

/// In a process of its own: which certificates the system trusts is part of the environment.
#[test]
fn a_certificate_that_the_system_trusts_is_accepted() {
    let scene = Scene::new();
    let receiver = Receiver::tls(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    let trusted = scene.dir.path().join("trusted.pem");
    std::fs::write(&trusted, receiver.certificate.as_ref().unwrap()).unwrap();
    let mut command = child::command(&scene.home(), Some(&receiver.url()), None, "none");
    assert!(command.env("SSL_CERT_FILE", &trusted).env_remove("SSL_CERT_DIR").status().unwrap().success());
    assert_eq!(scene.states(), [OutboxState::Sent], "{:?}", scene.rows()[0].answer);
    assert_eq!(receiver.received().len(), 1);
}

#[test]
fn a_digest_is_one_request() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(500, ""));
    let target = webhook(&receiver.url());
    let held: Vec<OutboxRow> = (1..=3)
        .map(|n| {
            let row = Scene::new().note(&target, n);
            OutboxRow { digest: Some("night".into()), due: 5, ..row }
        })
        .collect();
    scene.add(held);
    let delivery = scene.delivery("a");
    assert_eq!(delivery.next(&target, None).unwrap().unwrap().notes, 3);
    receiver.becomes(Behaviour::Status(200, ""));
    next_millisecond();
    let attempts = flush(&delivery, &target).unwrap();
    assert_eq!(attempts.iter().map(|a| (a.notes, a.delivered)).collect::<Vec<_>>(), [(3, true)]);
    let received = receiver.received();
    assert_eq!((received.len(), received[0].header("webhook-id")), (2, received[1].header("webhook-id")));
    assert_eq!(received[1].json()["data"]["notes"].as_array().unwrap().len(), 3);
}

/// What was tried in the millisecond in which a flush begins counts as tried by it.
fn next_millisecond() {
    std::thread::sleep(std::time::Duration::from_millis(5));
}

#[test]
fn flushing_tries_each_note_once() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(500, ""));
    let target = webhook(&receiver.url());
    scene.note(&target, 1);
    scene.note(&target, 2);
    let delivery = scene.delivery("a");
    assert_eq!(flush(&delivery, &target).unwrap().len(), 2);
    next_millisecond();
    assert_eq!(flush(&delivery, &target).unwrap().len(), 2, "also what waits for another attempt");
    assert_eq!(receiver.received().len(), 4);
}

#[test]
fn flushing_delivers_what_waits_for_the_end_of_quiet_hours() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(200, ""));
    let target = webhook(&receiver.url());
    let due = utc() + 3_600_000;
    let kept = |n| OutboxRow { digest: Some("night".into()), due, ..Scene::new().note(&target, n) };
    scene.add(vec![kept(1), kept(2)]);
    let delivery = scene.delivery("a");
    assert_eq!(delivery.next(&target, None).unwrap(), None, "nobody is disturbed");
    let attempts = flush(&delivery, &target).unwrap();
    assert_eq!(attempts.iter().map(|a| (a.notes, a.delivered)).collect::<Vec<_>>(), [(2, true)]);
    assert_eq!(scene.states(), [OutboxState::Sent; 2]);
}

#[test]
fn a_trace_is_made_when_it_is_delivered_and_kept_until_it_arrives() {
    let scene = Scene::new();
    let receiver = Receiver::plain(Behaviour::Status(500, ""));
    let traces = Traces {
        endpoint: Secret::new(receiver.url()),
        headers: vec![("authorization".into(), Secret::new("Bearer key"))],
        problem: None,
    };
    let target = Target { kind: Kind::Traces(traces) };
    let row = OutboxRow { body: String::new(), event: "trace".into(), ..scene.note(&target, 1) };
    scene.add(vec![OutboxRow { id: "trace".into(), ..row }]);
    let mut delivery = scene.delivery("a");
    let make = |_: &dyn Store, run: &str, seq: u64| {
        Ok(vec![b"{}".to_vec(), format!("{{\"of\":\"{run}\",\"to\":{seq}}}").into_bytes()])
    };
    delivery.traces = Some(Arc::new(make));
    assert!(!delivery.next(&target, None).unwrap().unwrap().delivered);
    receiver.becomes(Behaviour::Status(200, ""));
    next_millisecond();
    let attempts = flush(&delivery, &target).unwrap();
    assert!(attempts.iter().all(|attempt| attempt.delivered), "{attempts:?}");
    let received = receiver.received().pop().unwrap();
    assert_eq!(received.header("authorization"), "Bearer key");
    assert_eq!(received.json()["of"], "0198c1d2-aaaa-7bbb-8ccc-000000000001");
    assert_eq!(received.json()["to"], 1);
}
