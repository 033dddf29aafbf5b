use super::*;
use crate::account::Share;
use crate::claim::WorkType;
use serde_json::Value;

fn run(id: &str, reason: Option<Reason>, costs: &[i64]) -> RunAccount {
    let status = reason.map(|r| crate::ending::Ending::new(r, false).status());
    let cost = Micro(costs.iter().sum());
    RunAccount {
        run: format!("0199-{id}"),
        ended: reason.map(|_| 1),
        status,
        reason,
        verified: reason == Some(Reason::GatePassed),
        costs: costs.iter().map(|c| Micro(*c)).collect(),
        shares: vec![Share { agent: "claude".into(), calls: 1, cost, ..Share::default() }],
        max_cost: Micro(10_000_000),
        max_iterations: 50,
        ..RunAccount::default()
    }
}

fn span() -> Span {
    Span { from: "2026-02-20".into(), to: "2026-02-20".into(), day: None }
}

#[test]
fn a_day_in_numbers() {
    let mut runs = vec![
        run("aaaaaaaa", Some(Reason::GatePassed), &[1_000_000, 500_000]),
        run("bbbbbbbb", Some(Reason::CompletionSignals), &[250_000]),
        run("cccccccc", Some(Reason::Stall), &[100_000, 100_000, 100_000, 100_000]),
        run("dddddddd", None, &[]),
    ];
    runs[2].idle = 4;
    runs[2].idle_cost = Micro(400_000);
    runs[0].idle = 1;
    let report = report(&runs, &span());
    let all = &report.overall;
    assert_eq!((all.loops, all.completed, all.verified, all.open), (4, 2, 1, 1));
    assert_eq!((all.completion_rate, all.stall_rate), (50.0, 25.0));
    assert!(!all.completion_on_target && !all.stall_on_target);
    // The open one says nothing yet.
    assert_eq!(report.by_skill[0].completed, Rate::of(2, 3));
    // The mean of one and two: the run that stalled after four, and the open one, do not count.
    assert_eq!((all.typical.avg_iterations, all.typical.p95_iterations), (Some(1.5), Some(2)));
    assert_eq!((all.typical.avg_cost, all.typical.p95_cost), (Some(0.875), Some(1.5)));
    let others = &all.not_completed;
    assert_eq!((others.loops, others.typical.avg_iterations), (1, Some(4.0)));
    assert_eq!((others.typical.avg_cost, others.typical.p95_cost), (Some(0.4), Some(0.4)));
    let text = report.markdown();
    assert!(text.contains("- Avg iterations: 1.5 (p95: 2)\n- Avg cost: $0.8750 (p95: $1.50)\n"), "{text}");
    let apart = "- Not completed: 1, avg iterations 4.0 (p95: 4), avg cost $0.40 (p95: $0.40)\n";
    assert!(text.contains(apart), "{text}");
    assert_eq!(all.cost_per_verified, Some(2.15));
    assert_eq!((report.waste.idle_iterations, report.waste.idle_cost), (4, 0.4), "proven work is no waste");
    assert_eq!(report.abort_reasons, BTreeMap::from([("STALL", 1)]));
    assert_eq!(report.alerts.len(), 2, "{:?}", report.alerts);
}

#[test]
fn every_agent_has_how_often_its_word_was_true() {
    let mut one = run("aaaaaaaa", Some(Reason::GatePassed), &[1]);
    (one.shares[0].claims, one.shares[0].claims_held) = (9, 7);
    let other = Share { agent: "codex".into(), claims: 2, claims_held: 1, ..Share::default() };
    one.shares.push(other);
    let report = report(&[one.clone(), one], &span());
    assert_eq!((report.overall.claims, report.overall.claims_held), (22, 16));
    let text = report.markdown();
    for line in ["- Claims that held: 16 of 22", "| 14 of 18 |", "| 2 of 4 |"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn a_day_on_which_nothing_was_completed_has_no_average() {
    let mut stalled = run("aaaaaaaa", Some(Reason::Stall), &[500_000, 500_000]);
    stalled.work = BTreeMap::from([(WorkType::Testing, 2)]);
    let report = report(&[stalled], &span());
    let json = serde_json::to_value(&report.overall).unwrap();
    assert_eq!((&json["avgIterations"], &json["notCompleted"]["avgIterations"]), (&Value::Null, &2.0.into()));
    assert_eq!((&json["avgCostUSD"], &json["notCompleted"]["avgCostUSD"]), (&Value::Null, &1.0.into()));
    let text = report.markdown();
    assert!(
        text.contains("- Avg iterations: - (none completed)\n- Avg cost: - (none completed)\n"),
        "{text}"
    );
    assert!(text.contains("- Iterations by work type: TESTING 2\n"), "{text}");
}

#[test]
fn a_quiet_day_says_so_and_divides_by_nothing() {
    let report = report(&[], &span());
    assert_eq!(report.overall.completion_rate, 0.0);
    assert!(report.alerts.is_empty());
    assert!(report.markdown().contains("No runs on this day."));
}

#[test]
fn alerts_come_at_the_thresholds() {
    let mut run = run("eeeeeeee", Some(Reason::GatePassed), &[8_000_000]);
    run.max_iterations = 1;
    run.shares[0].unpriced = 1;
    let day = Some((Micro(40_000_000), Micro(50_000_000)));
    let report = report(&[run], &Span { day, ..span() });
    assert_eq!(
        report.alerts,
        [
            "~$40.00 of the daily $50.00 spent by all runs",
            "run eeeeeeee spent ~$8.00 of $10.00",
            "run eeeeeeee used 1 of 1 iterations",
            "run eeeeeeee: cost unknown for 1 call, counted as the estimate",
        ]
    );
    assert!(report.markdown().contains("~$8.00"));
}

#[test]
fn the_markdown_has_the_wrappers_words() {
    let mut runs = vec![run("aaaaaaaa", Some(Reason::GatePassed), &[1_000_000])];
    runs[0].skill = Some("systematic-debugging".into());
    runs.push(RunAccount { skill: Some("tdd".into()), ..runs[0].clone() });
    let text = report(&runs, &span()).markdown();
    for line in [
        "# Ralph Loop Performance Report - 2026-02-20",
        "## Overall Stats",
        "- Total runs: 2",
        "- Completion rate: 100% ✅ (target: >70%)",
        "- Avg iterations: 1.0 (p95: 1)",
        "- Avg cost: $1.00 (p95: $1.00)",
        "- Stall rate: 0% ✅ (target: <20%)",
        "## By Skill",
        "### Systematic Debugging",
        "### TDD",
        "- Runs: 1",
        "- Completion: 100%",
        "## Alerts",
        "⚠️ None today",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

#[test]
fn the_scripted_agent_is_told_apart_and_counts_for_nothing() {
    let mut scripted = run("aaaaaaaa", Some(Reason::Stall), &[9_000_000]);
    (scripted.agent, scripted.shares[0].agent) = ("sim".into(), "sim".into());
    let real = run("bbbbbbbb", Some(Reason::GatePassed), &[1_000_000]);
    let alone = report(&[scripted.clone(), scripted.clone()], &span());
    assert_eq!((alone.scripted_runs, alone.overall.loops, alone.overall.cost), (2, 0, 0.0));
    let words = "No runs on this day.\nNot counted: 2 runs of the scripted agent (sim).\n";
    assert!(alone.markdown().contains(words), "{}", alone.markdown());
    let both = report(&[scripted, real], &span());
    assert_eq!((both.scripted_runs, both.overall.loops, both.overall.cost), (1, 1, 1.0));
    assert!(both.abort_reasons.is_empty() && both.by_agent.len() == 1 && both.alerts.is_empty());
    assert!(both.markdown().contains("- Not counted: 1 run of the scripted agent (sim)\n"));
}

#[test]
fn an_unknown_cost_marks_every_sum_it_is_part_of() {
    let mut unknown = run("aaaaaaaa", Some(Reason::Stall), &[500_000]);
    (unknown.shares[0].unpriced, unknown.idle, unknown.idle_cost) = (1, 1, Micro(500_000));
    let text =
        report(&[unknown, run("bbbbbbbb", Some(Reason::GatePassed), &[1_000_000])], &span()).markdown();
    for line in ["- Total cost: ~$1.50", "- Iterations after the last progress: 1 (~$0.50)"] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

#[test]
fn stories_that_were_granted_are_named() {
    let mut runs = vec![run("aaaaaaaa", Some(Reason::GatePassed), &[1])];
    assert!(!report(&runs, &span()).markdown().contains("## Stories"));
    let (key, title) = ("US-1".to_owned(), "US-1: Log in".to_owned());
    runs[0].stories = vec![crate::record::StoryGrant { key, title, grade: crate::grade::Grade::Tested }];
    assert!(report(&runs, &span()).markdown().contains("\n## Stories\n- US-1: Log in: tested\n"));
}
