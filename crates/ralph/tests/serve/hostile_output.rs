//! What agents, repositories and checks say is inert in every answer: no control character, no mark that reorders text, and
//! nothing that ends a frame or a string early.

use super::client::{Client, SOON};
use super::scene::Scene;
use super::served::Served;
use serde_json::Value;
use std::process::Stdio;
use std::time::Instant;

/// Texts that would do something on a terminal, in a page or in a stream.
const HOSTILE: &[&str] = &[
    "\x1b[31mred\x1b[0m",
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1bP1$r\x1b\\",
    "\u{9b}31m",
    "\u{9d}0;t\u{9c}",
    "\x08\x08\x08over",
    "bell\x07",
    "\x7fdelete",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</pre></main><iframe src=//evil.example>",
    "javascript:alert(1)",
    "&lt;b&gt; &#x202e;",
    "evil\u{202e}txt.exe",
    "\u{2066}isolated\u{2069}\u{200f}",
    "\u{feff}zero\u{200b}width",
    "line\u{2028}separator\u{2029}",
    "event: reset\\ndata: {}",
    "data: {\"run\":\"x\"}",
    "\"},\"injected\":{\"a\":\"",
    "\\u0000 \\x00 \\",
    "{{7*7}} ${7*7} <%= 7 %>",
    "'; DROP TABLE runs; --",
    "nul\0byte",
];

/// One run whose task, words, files, names, checks and final message are hostile.
fn hostile_run(scene: &Scene) {
    let script = scene.scratch.root().join("hostile.sim");
    let mut text = String::new();
    for (n, hostile) in HOSTILE.iter().enumerate() {
        text.push_str(&format!("say {hostile}\nwrite file{n}.txt <<END\n{hostile}\nEND\n"));
    }
    text.push_str("run touch \"$(printf 'evil\\033[31m\\n\\342\\200\\256name')\"\nlongline 3MB\ngarble\n");
    text.push_str("stderr \x1b[31mon stderr\u{202e}\n");
    text.push_str(&format!("message {}\nclaim blocked\nrecommendation {}\n", HOSTILE.join(" "), HOSTILE[16]));
    std::fs::write(&script, text).unwrap();
    std::fs::write(scene.scratch.root().join("out.txt"), HOSTILE.join("\n")).unwrap();
    let verify = format!("cat '{}'; false", scene.scratch.root().join("out.txt").display());
    let task = format!(
        "Task {}",
        HOSTILE.iter().filter(|text| !text.contains('\0')).copied().collect::<Vec<_>>().join(" ")
    );
    let args =
        ["run", &task, "--agent", "sim", "--max-iterations", "2", "--max-cost", "1", "--verify", &verify];
    let args = [&args[..], &["--", "--script", script.to_str().unwrap()]].concat();
    let answer = scene.ralph(&args);
    assert_ne!(answer.code, 64, "{}", answer.err);
}

fn inert(text: &str, place: &str) {
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if let Some(at) = text.find(bad) {
        panic!("{place} has {:?}: {}", text[at..].chars().next(), text.chars().take(300).collect::<String>());
    }
}

fn all_texts(value: &Value, place: &str) {
    match value {
        Value::String(text) => inert(text, place),
        Value::Array(items) => items.iter().for_each(|item| all_texts(item, place)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| {
            inert(name, place);
            assert_ne!(name, "injected");
            all_texts(field, &format!("{place} {name}"));
        }),
        _ => {}
    }
}

fn answer(served: &Client, path: &str) -> Value {
    let got = served.get(path);
    assert_eq!(got.status, 200, "{path}: {}", got.body);
    assert!(got.body.len() <= 256 * 1024, "{path}: {} bytes", got.body.len());
    assert!(got.headers.contains("content-type: application/json"), "{path}");
    let value = got.json();
    all_texts(&value, path);
    value
}

#[test]
fn whatever_is_said_is_inert_in_answers_and_events() {
    assert!(HOSTILE.len() >= 20);
    let scene = Scene::new();
    let served = Served::start(&scene, &[]);
    hostile_run(&scene);
    let overview = answer(&served, "/api/v1/overview");
    let id = overview["cards"][0]["id"].as_str().unwrap().to_owned();
    assert!(overview["cards"][0]["task"].as_str().unwrap().contains("\\u{1b}[31mred"), "{overview}");
    let run = format!("/api/v1/runs/{id}");
    let iteration = format!("{run}/iterations/1");
    answer(&served, "/api/v1/runs?text=Task");
    let detail = answer(&served, &run);
    assert!(detail["result"]["lastOutput"].to_string().contains("script"), "{detail}");
    answer(&served, &iteration);
    let mut lines = Vec::new();
    let mut page = answer(&served, &format!("{iteration}/activity?limit=20"));
    loop {
        lines.extend(page["lines"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_u64() else { break };
        page = answer(&served, &format!("{iteration}/activity?limit=20&after={next}"));
    }
    assert!(lines.len() > 2 * HOSTILE.len(), "{} lines", lines.len());
    assert!(lines.iter().any(|line| line["text"] == "<script>alert(1)</script>"));
    let checks = answer(&served, &format!("{iteration}/verification"));
    assert!(
        checks["checks"][0]["results"][0]["tail"].as_str().unwrap().contains("<script>alert(1)</script>"),
        "{checks}"
    );
    let prompt = answer(&served, &format!("{iteration}/prompt"));
    assert!(prompt["text"].as_str().unwrap().contains("evil\\u{202e}txt.exe"));
    let diff = answer(&served, &format!("{iteration}/diff"));
    let diffs = diff["files"].to_string();
    assert!(diffs.contains("<img src=x onerror=alert(1)>") && diffs.contains("\\\\u{1b}[2J"), "{diffs}");
    answer(&served, "/api/v1/stats");
    inert(&served.get("/metrics").body, "metrics");
    let event = served.events("", Some("0")).next().unwrap();
    assert_eq!((event.name.as_str(), event.data["id"].as_str()), ("run", Some(id.as_str())));
    all_texts(&event.data, "event");
}

/// What becomes of the name of the tool in `waiting_script`: without its colour, the mark that reorders text made visible.
const MARKED: &str = ": '\\u{202e}<script>";

/// A script that waits, says everything, and then does something with a hostile name until it may end.
fn waiting_script(scene: &Scene) -> String {
    let wait = |door: &str| {
        format!("run while [ ! -e '{}' ]; do sleep 0.05; done", scene.scratch.root().join(door).display())
    };
    let says: String = HOSTILE.iter().map(|hostile| format!("say {hostile}\n")).collect();
    let name = "\x1b[31m\u{202e}<script>alert(1)</script>";
    // The name first: what an agent does is shown in few words.
    format!("{}\n{says}run : '{name}'; {}\nclaim blocked\n", wait("in"), &wait("out")[4..])
}

#[test]
fn what_is_said_while_a_run_works_is_inert_in_live_events() {
    let scene = Scene::new();
    let served = Served::start(&scene, &[]);
    let script = scene.scratch.root().join("waiting.sim");
    std::fs::write(&script, waiting_script(&scene)).unwrap();
    let args =
        ["run", "Wait", "--agent", "sim", "--max-iterations", "1", "--max-cost", "1", "--verify", "false"];
    let args = [&args[..], &["--", "--script", script.to_str().unwrap()]].concat();
    let mut run = scene.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + SOON;
    let id = loop {
        let overview = served.get("/api/v1/overview").json();
        let card = &overview["cards"][0];
        if card["line"].as_str().is_some_and(|line| line.contains("while")) {
            break card["id"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < until, "{card}");
    };
    let mut events = served.events(&format!("?run={id}"), None);
    std::fs::write(scene.scratch.root().join("in"), "").unwrap();
    let (mut texts, mut doing) = (String::new(), String::new());
    while !doing.contains(MARKED) {
        assert!(Instant::now() < until, "{doing}");
        let event = events.next().unwrap();
        all_texts(&event.data, &event.name);
        for line in event.data["lines"].as_array().into_iter().flatten() {
            texts.push_str(line["text"].as_str().unwrap());
        }
        doing = event.data["doing"]["text"].as_str().unwrap_or_default().to_owned();
    }
    assert!(texts.contains("<img src=x onerror=alert(1)>") && texts.contains("nul\\u{0}byte"), "{texts}");
    let card = &answer(&served, "/api/v1/overview")["cards"][0];
    assert!(card["line"].as_str().unwrap().contains(MARKED), "{card}");
    let detail = answer(&served, &format!("/api/v1/runs/{id}"));
    assert!(detail["doing"]["text"].as_str().unwrap().contains(MARKED), "{detail}");
    std::fs::write(scene.scratch.root().join("out"), "").unwrap();
    run.wait().unwrap();
}
