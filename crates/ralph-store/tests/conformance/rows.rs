//! The inbox, the read model, memos, and noticing that something changed.

use crate::common::*;
use ralph_store::{AccountFilter, AccountRow, Batch, IterationRow, RequestId, Row, RunFilter, RunRow};

pub fn the_inbox_is_answered_with_the_record_that_answers_it(place: &dyn Place) {
    let store = place.open();
    let first = place.open().ask("a", r#"{"stop":1}"#, 5).unwrap();
    let second = store.ask("a", r#"{"hint":"x"}"#, 6).unwrap();
    store.ask("b", "{}", 7).unwrap();
    let waiting = store.requests("a").unwrap();
    assert_eq!(waiting.iter().map(|r| r.id).collect::<Vec<_>>(), [first, second]);
    assert_eq!((waiting[0].body.as_str(), waiting[0].at), (r#"{"stop":1}"#, 5));
    let stale = Batch { done: vec![first], ..puts(vec![put("run/a", 3, "{}")]) };
    store.commit(&stale).unwrap_err();
    assert_eq!(store.requests("a").unwrap().len(), 2);
    let answer = Batch { done: vec![first, second, RequestId(999)], ..puts(vec![put("run/a", 0, "{}")]) };
    store.commit(&answer).unwrap();
    assert!(place.open().requests("a").unwrap().is_empty());
    assert_eq!(store.requests("b").unwrap().len(), 1);
    let fourth = store.ask("a", "{}", 8).unwrap();
    assert!(fourth > second, "ids are never used twice");
}

pub fn the_read_model_is_written_with_the_records(place: &dyn Place) {
    let store = place.open();
    let run = |id: &str, workspace: &str, resumable| RunRow {
        id: id.into(),
        workspace: workspace.into(),
        task: "make it so".into(),
        exit_code: Some(-1),
        cost_micro: 5,
        verified: Some(false),
        proof: Some("revised".into()),
        pid: Some(7),
        head: 9,
        reason: Some("why".into()),
        resumable,
        model: Some("opus".into()),
        max_iterations: 10,
        max_cost_micro: 5_000_000,
        max_ms: Some(60_000),
        until: Some(77),
        breaker: Some("CLOSED".into()),
        live_micro: 3,
        why: Some("because".into()),
        failing_before: Some(14),
        ..RunRow::default()
    };
    let iteration =
        |n, attempt| IterationRow { run: "a1".into(), n, attempt, files: 3, ..IterationRow::default() };
    let rows = vec![
        Row::Run(Box::new(run("a1", "/w", true))),
        Row::Run(Box::new(run("b1", "/w", false))),
        Row::Run(Box::new(run("b2", "/x", true))),
        Row::Iteration(iteration(2, 1)),
        Row::Iteration(iteration(1, 2)),
        Row::Iteration(iteration(1, 1)),
    ];
    store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    assert_eq!(store.run("a1").unwrap(), Some(run("a1", "/w", true)));
    assert_eq!(store.run("zz").unwrap(), None);
    let ids = |filter: RunFilter| store.runs(&filter).unwrap().into_iter().map(|r| r.id).collect::<Vec<_>>();
    assert_eq!(ids(RunFilter::default()), ["b2", "b1", "a1"]);
    assert_eq!(ids(RunFilter { workspace: Some("/w".into()), ..Default::default() }), ["b1", "a1"]);
    assert_eq!(ids(RunFilter { prefix: Some("b".into()), ..Default::default() }), ["b2", "b1"]);
    assert_eq!(ids(RunFilter { resumable: Some(true), limit: Some(1), ..Default::default() }), ["b2"]);
    let order: Vec<_> = store.iterations("a1").unwrap().iter().map(|i| (i.n, i.attempt)).collect();
    assert_eq!(order, [(1, 1), (1, 2), (2, 1)]);
    let changed = RunRow { status: "done".into(), pid: None, ..run("a1", "/w", false) };
    let it = IterationRow {
        decision: "go on".into(),
        verified: Some(true),
        progress: Some(true),
        failing: Some(2),
        rung: 1,
        error: Some("e5".into()),
        cost_unknown: true,
        ..iteration(1, 2)
    };
    let rows = vec![Row::Run(Box::new(changed.clone())), Row::Iteration(it.clone())];
    store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    assert_eq!(place.open().run("a1").unwrap(), Some(changed));
    assert_eq!(store.iterations("a1").unwrap()[1], it);
    assert!(store.iterations("b1").unwrap().is_empty());
}

/// Ids begin with the time of day: after the clock was set back a later run has a smaller one.
pub fn the_newest_run_is_the_one_that_was_started_last(place: &dyn Place) {
    let store = place.open();
    for (id, started) in [("0199-later-clock", 9_000), ("0001-earlier-clock", 10), ("0100-between", 500)] {
        let run = RunRow { id: id.into(), workspace: "/w".into(), started, ..RunRow::default() };
        let (run_id, workspace, key) = (id.to_owned(), "/w".to_owned(), "k".to_owned());
        let account = AccountRow { run: run_id, workspace, started, key, body: "{}".into() };
        let rows = vec![Row::Run(Box::new(run)), Row::Account(account)];
        store.commit(&Batch { rows, ..puts(vec![put(&format!("run/{id}"), 0, "{}")]) }).unwrap();
    }
    // A later record of an older run does not make it newer.
    store.commit(&puts(vec![put("run/0199-later-clock", 1, "{}")])).unwrap();
    let newest_first = ["0100-between", "0001-earlier-clock", "0199-later-clock"];
    let store = place.open();
    let ids = |filter: &RunFilter| store.runs(filter).unwrap().into_iter().map(|r| r.id).collect::<Vec<_>>();
    assert_eq!(ids(&RunFilter::default()), newest_first);
    let here = RunFilter { workspace: Some("/w".into()), limit: Some(1), ..Default::default() };
    assert_eq!(ids(&here), ["0100-between"]);
    let accounts = store.accounts(&AccountFilter { limit: Some(2), ..Default::default() }).unwrap();
    assert_eq!(accounts.iter().map(|a| a.run.as_str()).collect::<Vec<_>>(), &newest_first[..2]);
}

pub fn runs_are_found_by_what_is_asked_for(place: &dyn Place) {
    let store = place.open();
    let run = |id: &str, status: &str, agent: &str, task: &str| RunRow {
        id: id.into(),
        workspace: "/home/ada/Parser".into(),
        status: status.into(),
        exit_code: (status != "RUNNING").then_some(0),
        reason: (status == "ABORTED").then(|| "BLOCKED".into()),
        agent: agent.into(),
        task: task.into(),
        model: (agent == "codex").then(|| "GPT-5".into()),
        ..RunRow::default()
    };
    let all = [
        run("c", "COMPLETED", "claude", "Round invoices"),
        run("a", "ABORTED", "codex", "100 % of the lexer"),
        run("d", "RUNNING", "claude", "Fix the Lexer"),
        run("b", "RUNNING", "codex", "Write docs"),
    ];
    for run in all {
        let record = put(&format!("run/{}", run.id), 0, "{}");
        store.commit(&Batch { rows: vec![Row::Run(Box::new(run))], ..puts(vec![record]) }).unwrap();
    }
    let ids = |filter: &RunFilter| store.runs(filter).unwrap().into_iter().map(|r| r.id).collect::<String>();
    let text = |text: &str| ids(&RunFilter { text: Some(text.into()), ..Default::default() });
    let states = |names: &[&str]| {
        ids(&RunFilter { states: names.iter().map(|n| (*n).into()).collect(), ..Default::default() })
    };
    let before = |id: &str| ids(&RunFilter { before: Some(id.into()), ..Default::default() });
    assert_eq!(ids(&RunFilter::default()), "bdac");
    let found = [("LEXER", "da"), ("gpt", "ba"), ("parser", "bdac"), ("100 %", "a"), ("_", ""), ("", "bdac")];
    for (wanted, ids) in found {
        assert_eq!(text(wanted), ids, "{wanted}");
    }
    assert_eq!(states(&["RUNNING"]), "bd");
    assert_eq!(states(&["BLOCKED", "COMPLETED"]), "ac");
    assert_eq!([before("d"), before("c"), before("nobody")], ["ac", "", ""]);
    let open = |open, agent: &str| {
        ids(&RunFilter { open: Some(open), agent: Some(agent.into()), ..Default::default() })
    };
    assert_eq!([open(true, "claude"), open(false, "claude"), open(true, "sim")], ["d", "c", ""]);
    let page = RunFilter { before: Some("b".into()), limit: Some(2), ..Default::default() };
    assert_eq!(ids(&page), "da");
}

pub fn iterations_are_found_by_age_and_by_error(place: &dyn Place) {
    let store = place.open();
    // In the order in which they are started, which neither ids nor clocks follow.
    for (id, workspace) in [("d", "/w"), ("a", "/w"), ("c", "/x"), ("b", "/w"), ("e", "/w")] {
        let run = RunRow { id: id.into(), workspace: workspace.into(), ..RunRow::default() };
        let record = put(&format!("run/{id}"), 0, "{}");
        store.commit(&Batch { rows: vec![Row::Run(Box::new(run))], ..puts(vec![record]) }).unwrap();
    }
    let row = |run: &str, n, attempt, at, error: Option<&str>| {
        let error = error.map(str::to_owned);
        Row::Iteration(IterationRow { run: run.into(), n, attempt, at, error, ..IterationRow::default() })
    };
    let rows = [
        row("a", 1, 1, 1, Some("e")),
        row("a", 2, 1, 2, Some("e")),
        row("a", 3, 1, 3, None),
        row("a", 3, 2, 4, Some("f")),
        row("b", 1, 1, 5, Some("e")),
        row("c", 1, 1, 6, Some("e")),
        row("d", 1, 1, 9, Some("e")),
        row("d", 1, 2, 9, Some("e")),
        row("e", 1, 1, 7, Some("e")),
    ];
    store.commit(&Batch { rows: rows.to_vec(), ..Batch::default() }).unwrap();
    let which = |rows: Vec<IterationRow>| {
        rows.into_iter().map(|row| format!("{}{}.{}", row.run, row.n, row.attempt)).collect::<Vec<_>>()
    };
    assert_eq!(which(store.latest_iterations("a", 2).unwrap()), ["a2.1", "a3.1", "a3.2"]);
    assert_eq!(which(store.latest_iterations("a", 9).unwrap()).len(), 4);
    assert!(store.latest_iterations("nobody", 9).unwrap().is_empty());
    assert_eq!(store.latest_iteration("a").unwrap().map(|row| (row.n, row.attempt)), Some((3, 2)));
    let with = |error: &str, before: &str, most| {
        which(store.iterations_with_error("/w", error, before, most).unwrap())
    };
    // What, before which run, how many at most, and what is found.
    let table: [(&str, &str, u32, &[&str]); 7] = [
        ("e", "e", 9, &["b1.1", "a2.1", "a1.1", "d1.2", "d1.1"]),
        ("e", "e", 1, &["b1.1"]),
        ("e", "b", 9, &["a2.1", "a1.1", "d1.2", "d1.1"]),
        ("e", "a", 9, &["d1.2", "d1.1"]),
        ("e", "d", 9, &[]),
        ("e", "nobody", 9, &[]),
        ("other", "e", 9, &[]),
    ];
    for (error, before, most, found) in table {
        assert_eq!(with(error, before, most), found, "{error} before {before}");
    }
}

pub fn accounts_are_found_by_what_runs_have_in_common(place: &dyn Place) {
    let store = place.open();
    let account = |run: &str, workspace: &str, started, key: &str| AccountRow {
        run: run.into(),
        workspace: workspace.into(),
        started,
        key: key.into(),
        body: format!("{{{run}}}"),
    };
    let rows = [
        account("a", "/w", 10, "claude"),
        account("b", "/w", 20, "codex"),
        account("c", "/x", 30, "claude"),
        account("d", "/w", 40, "claude"),
    ];
    store.commit(&Batch { rows: rows.map(Row::Account).to_vec(), ..Batch::default() }).unwrap();
    let found = |filter: AccountFilter| {
        place.open().accounts(&filter).unwrap().into_iter().map(|a| a.run).collect::<Vec<_>>()
    };
    let all = AccountFilter::default();
    let (w, claude) = (Some("/w".to_owned()), Some("claude".to_owned()));
    assert_eq!(found(all.clone()), ["d", "c", "b", "a"]);
    assert_eq!(found(AccountFilter { workspace: w.clone(), ..all.clone() }), ["d", "b", "a"]);
    assert_eq!(found(AccountFilter { workspace: w, key: claude, limit: Some(1), ..all.clone() }), ["d"]);
    assert_eq!(found(AccountFilter { from: Some(20), before: Some(40), ..all.clone() }), ["c", "b"]);
    assert_eq!(found(AccountFilter { run: Some("c".into()), ..all.clone() }), ["c"]);
    let changed = AccountRow { body: "new".into(), ..account("a", "/w", 10, "claude") };
    store.commit(&Batch { rows: vec![Row::Account(changed.clone())], ..Batch::default() }).unwrap();
    assert_eq!(store.accounts(&AccountFilter { run: Some("a".into()), ..all }).unwrap(), [changed]);
}

pub fn memos_are_kept_and_forgotten(place: &dyn Place) {
    let store = place.open();
    let memo = |k: &str, v: Option<&str>| (k.to_owned(), v.map(str::to_owned));
    let write = |memo| store.commit(&Batch { memo, ..Batch::default() }).unwrap();
    assert_eq!(store.memo("breaker//w").unwrap(), None);
    write(vec![memo("breaker//w", Some("open")), memo("other", Some("1"))]);
    write(vec![memo("breaker//w", Some("half"))]);
    assert_eq!(place.open().memo("breaker//w").unwrap().as_deref(), Some("half"));
    write(vec![memo("away/b", Some("2")), memo("away/a", Some("1")), memo("away", Some("0"))]);
    let away = [("away/a".to_owned(), "1".to_owned()), ("away/b".to_owned(), "2".to_owned())];
    assert_eq!(store.memos("away/").unwrap(), away);
    assert!(store.memos("nothing").unwrap().is_empty());
    write(vec![memo("breaker//w", None), memo("never", None)]);
    assert_eq!(store.memo("breaker//w").unwrap(), None);
    assert_eq!(store.memo("other").unwrap().as_deref(), Some("1"));
}

pub fn changes_are_noticed(place: &dyn Place) {
    let (store, other) = (place.open(), place.open());
    assert_eq!(store.position().unwrap(), 0);
    let before = store.changed().unwrap();
    assert_eq!(store.changed().unwrap(), before);
    store.read("run/a", 0).unwrap();
    assert_eq!(store.changed().unwrap(), before, "reading changes nothing");
    store.commit(&puts(vec![put("run/a", 0, "{}")])).unwrap();
    assert_eq!(other.position().unwrap(), store.since("", 0, 9).unwrap().next);
    let own = store.changed().unwrap();
    assert_ne!(own, before, "one's own commits count too");
    other.ask("a", "{}", 0).unwrap();
    assert_ne!(store.changed().unwrap(), own);
}
