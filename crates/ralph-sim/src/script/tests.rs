use super::*;
use crate::claim::{Block, Claim};
use crate::price::Tokens;
use std::collections::BTreeSet;
use std::time::Duration;

fn one(line: &str) -> Action {
    let script = Script::parse(line).unwrap_or_else(|m| panic!("{line}: {m:?}"));
    let mut actions = script.choose(1, 1).unwrap();
    assert_eq!(actions.len(), 1, "{line}");
    actions.remove(0)
}

fn fail(class: Class) -> Fail {
    Fail { class, reset: None, weekly: false, status: None }
}

fn honest_lines() -> Vec<(&'static str, Action)> {
    let s = |text: &str| text.to_owned();
    vec![
        ("say Looking at #12 # here", Action::Say(s("Looking at #12 # here"))),
        ("say \"two\\nlines\"", Action::Say(s("two\nlines"))),
        ("message Fixed \"it\"", Action::Message(s("Fixed \"it\""))),
        ("claim complete  # a comment", Action::Claim(Claim::Block(Block::complete()))),
        ("claim progress", Action::Claim(Claim::Block(Block::progress()))),
        ("claim none", Action::Claim(Claim::None)),
        ("claim promise", Action::Claim(Claim::Promise(s("COMPLETE")))),
        ("claim promise ALL GREEN", Action::Claim(Claim::Promise(s("ALL GREEN")))),
        ("recommendation Next: more", Action::Recommendation(s("Next: more"))),
        ("echo-prompt", Action::EchoPrompt { last: false }),
        ("echo-prompt final", Action::EchoPrompt { last: true }),
        ("echo-system", Action::EchoSystem),
        ("raw {\"type\":", Action::Raw(s("{\"type\":"))),
        ("stderr oh no", Action::Stderr(s("oh no"))),
        ("write a.txt hello", Action::Write { path: s("a.txt"), text: s("hello\n") }),
        ("write 'a b' <<END\n# x\n\n  y\nEND", Action::Write { path: s("a b"), text: s("# x\n\n  y\n") }),
        ("append a.txt \"# Title\"", Action::Append { path: s("a.txt"), text: s("# Title\n") }),
        ("replace f \"a - b\" 'a + b'", Action::Replace { path: s("f"), old: s("a - b"), new: s("a + b") }),
        ("delete f", Action::Delete(s("f"))),
        ("mkdir d/e", Action::Mkdir(s("d/e"))),
        ("run cargo test # all", Action::Run(s("cargo test # all"))),
        ("run <<END\na\nb\nEND", Action::Run(s("a\nb"))),
        ("run cat <<EOF\na\nEOF", Action::Run(s("cat <<EOF\na\nEOF"))),
        ("commit Fix it", Action::Commit(s("Fix it"))),
        ("deny Bash", Action::Deny { tool: s("Bash"), detail: s("make install") }),
        ("deny Write /etc/passwd", Action::Deny { tool: s("Write"), detail: s("/etc/passwd") }),
        ("secret HOME API_KEY", Action::Secret(vec![s("HOME"), s("API_KEY")])),
    ]
}

fn costly_and_bad_lines() -> Vec<(&'static str, Action)> {
    let s = |text: &str| text.to_owned();
    vec![
        ("spend 0.40", Action::Spend { micro: 400_000, times: 1, every: Duration::ZERO }),
        (
            "spend $12 x10 every 50ms",
            Action::Spend { micro: 12_000_000, times: 10, every: Duration::from_millis(50) },
        ),
        ("tokens in=8000 out=400", Action::Tokens(Tokens { input: 8000, output: 400, ..Tokens::default() })),
        ("cost nan", Action::Cost(CostSays::Nan)),
        ("cost none", Action::Cost(CostSays::Nothing)),
        ("cost negative", Action::Cost(CostSays::Amount(-1.5))),
        ("cost 3.25", Action::Cost(CostSays::Amount(3.25))),
        ("sleep 1.5s", Action::Sleep(Duration::from_millis(1500))),
        ("hang", Action::Hang(None)),
        ("hang 2m", Action::Hang(Some(Duration::from_secs(120)))),
        ("flood 100MB", Action::Flood(100_000_000)),
        ("longline 32KiB # wide", Action::LongLine(32 << 10)),
        ("garble", Action::Garble),
        ("lie", Action::Lie),
        ("linger 30s", Action::Linger(Duration::from_secs(30))),
        ("daemonise", Action::Daemonise(s("exec sleep 600"))),
        ("setsid-child sleep 5", Action::SetsidChild(s("sleep 5"))),
        ("ignore-term", Action::IgnoreTerm),
        ("ignore-stdin", Action::IgnoreStdin),
        ("cut", Action::Exit(0)),
        ("crash", Action::Crash),
        ("exit 3", Action::Exit(3)),
        ("exit-code 1", Action::ExitCode(1)),
        ("fail outage status=500", Action::Fail(Fail { status: Some(500), ..fail(Class::Outage) })),
        (
            "fail usage_limit reset=+5s window=week",
            Action::Fail(Fail {
                reset: Some(Reset::After(Duration::from_secs(5))),
                weekly: true,
                ..fail(Class::UsageLimit)
            }),
        ),
        (
            "fail usage_limit reset=1794726675",
            Action::Fail(Fail { reset: Some(Reset::At(1_794_726_675)), ..fail(Class::UsageLimit) }),
        ),
    ]
}

#[test]
fn every_action_can_be_written() {
    let good = honest_lines().into_iter().chain(costly_and_bad_lines());
    let mut seen = BTreeSet::new();
    for (line, action) in good {
        assert_eq!(one(line), action, "{line}");
        seen.insert(line.split(' ').next().unwrap().to_owned());
    }
    for name in NAMES {
        assert!(seen.contains(name), "no example of {name}");
    }
    for (name, class) in Class::ALL {
        assert_eq!(one(&format!("fail {name}")), Action::Fail(fail(class)));
    }
}

#[test]
fn mistakes_say_where_and_what_would_be_right() {
    let bad = [
        ("say hi\nwirte x y", 2, "did you mean write?"),
        ("frobnicate", 1, "--help lists all"),
        ("# fine\n\nsay", 3, "text is missing"),
        ("[0]", 1, "[2.3]"),
        ("[1]\nsay a\n[1]\nsay b", 3, "twice"),
        ("[one]", 1, "is not a valid section"),
        ("[1", 1, "is not a valid section"),
        ("write x <<END\nabc", 1, "END alone on a line"),
        ("write x y <<END\nabc\nEND", 1, "either on the line or below"),
        ("sleep <<END\nabc\nEND", 1, "DURATION"),
        ("hang <<END\nabc\nEND", 1, "does not take text with <<WORD"),
        ("write", 1, "PATH TEXT"),
        ("replace f \"a", 1, "never closed"),
        ("replace f a", 1, "PATH \"old\" \"new\""),
        ("claim victory", 1, "progress, complete, blocked"),
        ("claim complete color=red", 1, "status= tasks="),
        ("spend lots", 1, "is not a valid amount"),
        ("spend -1", 1, "is not a valid amount"),
        ("spend 0.1234567", 1, "is not a valid amount"),
        ("spend 1 twice", 1, "x10"),
        ("tokens", 1, "in=8000"),
        ("tokens up=3", 1, "cache-read"),
        ("cost NaN", 1, "negative, none, huge"),
        ("sleep 5", 1, "200ms"),
        ("flood many", 1, "64KiB"),
        ("flood 99999999999GB", 1, "too large"),
        ("exit 256", 1, "0 to 255"),
        ("fail badly", 1, "usage_limit"),
        ("fail outage reset=soon", 1, "seconds since 1970"),
        ("fail outage colour=red", 1, "window=5h|week"),
        ("crash now", 1, "unexpected text"),
        ("secret", 1, "name the environment"),
    ];
    for (text, line, words) in bad {
        let mistakes = Script::parse(text).expect_err(text);
        assert_eq!(mistakes[0].line, line, "{text}: {mistakes:?}");
        assert!(mistakes[0].to_string().contains(words), "{text}: {}", mistakes[0]);
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let mistakes = Script::parse("sya a\nsay ok\nslep 1s\nwrite x <<END").unwrap_err();
    assert_eq!(mistakes.iter().map(|m| m.line).collect::<Vec<_>>(), [1, 3, 4]);
}

#[test]
fn the_section_follows_the_iteration_and_the_call() {
    let script = Script::parse("say a\n[1]\nsay one\n[3]\nsay three\n[3.2]\nsay again").unwrap();
    assert!(script.counts_calls());
    let said = |iteration, call| match script.choose(iteration, call).unwrap().as_slice() {
        [Action::Say(first), Action::Say(text)] if first == "a" => text.clone(),
        other => panic!("{other:?}"),
    };
    let table = [
        (1, 1, "one"),
        (1, 5, "one"),
        (2, 1, "one"),
        (3, 1, "three"),
        (3, 2, "again"),
        (3, 9, "again"),
        (7, 1, "again"),
    ];
    for (iteration, call, text) in table {
        assert_eq!(said(iteration, call), text, "iteration {iteration}, call {call}");
    }
}

#[test]
fn a_star_stands_for_every_iteration_without_its_own_section() {
    let script = Script::parse("[2]\nsay two\n[*]\nsay other").unwrap();
    for (iteration, text) in [(1, "other"), (2, "two"), (3, "other")] {
        assert_eq!(script.choose(iteration, 1).unwrap(), [Action::Say(text.to_owned())]);
    }
    let late = Script::parse("[2]\nsay two").unwrap();
    assert_eq!(late.choose(1, 1), None);
    assert_eq!(Script::parse("").unwrap().choose(9, 9), Some(vec![]));
}

#[test]
fn inline_text_is_cut_at_semicolons_outside_quotes() {
    assert_eq!(
        from_inline(r#"say a; write f "x; \"y;"; run a\; b"#),
        "say a\n write f \"x; \\\"y;\"\n run a; b"
    );
    assert_eq!(from_inline("say a;b\nsay c"), "say a;b\nsay c");
}
