//! Every body is decoded by another implementation: the messages of PyPI's `opentelemetry-proto`. (The crate of that name
//! needs older versions of packages that ralph already has.) The package is installed beside the test's other temporary
//! files; without Python or the registry the test is skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // traces know no files; their tests write bodies

mod golden;
#[path = "../../ralph-rules/tests/journal/mod.rs"]
mod journal;
mod trace_checks;

use golden::journals;
use journal::{Journal, done, more};
use ralph_otel::export;
use ralph_rules::failure::Class;
use ralph_rules::record::{CheckOutcome, Record, Refuser, Request};
use ralph_testkit::skip_outside_ci;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace_checks::check;

/// What the bodies are decoded with.
const PACKAGES: [&str; 2] = ["opentelemetry-proto==1.45.2", "protobuf==7.36.2"];

/// The directory with the packages, installed if they are not there; or why they are not.
fn packages() -> Result<PathBuf, String> {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ready = tmp.join(format!("python-{}", PACKAGES.join("-").replace("==", "-")));
    if ready.join("opentelemetry").is_dir() {
        return Ok(ready);
    }
    let making = tempfile::tempdir_in(tmp).map_err(|error| error.to_string())?;
    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(making.path().join("packages"))
        .args(PACKAGES)
        .output();
    let pip = pip.map_err(|error| format!("python3 cannot be run: {error}"))?;
    if !pip.status.success() {
        let why = String::from_utf8_lossy(&pip.stderr);
        return Err(format!(
            "pip cannot install {}: {}",
            PACKAGES.join(" "),
            why.lines().last().unwrap_or("")
        ));
    }
    // Another test program may have been faster.
    let _ = std::fs::rename(making.path().join("packages"), &ready);
    Ok(ready)
}

/// Journals that are made here: every kind of wait and failure, iterations by chance.
fn simulated() -> Vec<Vec<Record>> {
    (0..40).map(simulate).collect()
}

fn simulate(seed: u64) -> Vec<Record> {
    let mut dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = |sides: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % sides
    };
    let mut journal = Journal::after_baseline(false, |start| {
        start.policy.max_iterations = 20;
        start.policy.pause_between = if seed.is_multiple_of(4) { 30_000 } else { 0 };
        start.agent.model = Some("some-model".into());
    });
    for _ in 0..12 {
        if !matches!(journal.answer.next, ralph_rules::next::Next::Do(ralph_rules::step::Step::Admit { .. }))
        {
            // It waits, or it is over.
            journal.later(7_200_000).see(ralph_rules::record::Seen::Woke);
        }
        if !matches!(journal.answer.next, ralph_rules::next::Next::Do(ralph_rules::step::Step::Admit { .. }))
        {
            break;
        }
        match roll(8) {
            0 => {
                journal.refuse(Refuser::CallsPerHour, Some(60_000));
                continue;
            }
            1 => {
                journal.later(1_000).admit();
                journal.later(1_000).fails(Class::UsageLimit, Some(3_600_000));
                journal.inspected(false);
                continue;
            }
            2 => {
                journal.later(1_000).admit();
                journal.later(1_000).ask(Request::Hint { text: "a hint".into() });
                journal.asleep(5_000).resume();
                let lost = ralph_rules::record::CallLost {
                    id: journal.state.calls.id,
                    charged: ralph_rules::money::Micro(500_000),
                    usage: ralph_rules::money::Usage::default(),
                    outlived: 0,
                    transcript: ralph_rules::record::FileRef::default(),
                };
                journal.see(ralph_rules::record::Seen::CallLost(lost));
                journal.inspected(true);
                journal.later(1_000).verified(CheckOutcome::Failed);
            }
            n => {
                let text = if n == 3 { done() } else { more() };
                let how = if n == 4 { CheckOutcome::TimedOut } else { CheckOutcome::Failed };
                journal.iteration(&text, n != 5, Some(how));
            }
        }
    }
    journal.records.clone()
}

#[test]
fn another_implementation_decodes_every_body() {
    let packages = match packages() {
        Ok(packages) => packages,
        Err(why) => return skip_outside_ci(&why),
    };
    let golden = journals().into_iter().map(|(_, records)| records);
    let dir = tempfile::tempdir().unwrap();
    let (mut files, mut spans) = (Vec::new(), 0);
    for records in golden.chain(simulated()) {
        spans += check(&records).len();
        for body in export(&records, true) {
            let file = dir.path().join(format!("{}.json", files.len()));
            std::fs::write(&file, body).unwrap();
            files.push(file);
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decode_otlp.py");
    let ran = Command::new("python3").arg(script).args(&files).env("PYTHONPATH", packages).output().unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    let total: Value = serde_json::from_slice(&ran.stdout).unwrap();
    println!("{total}");
    assert_eq!(
        (total["requests"].as_u64(), total["spans"].as_u64()),
        (Some(files.len() as u64), Some(spans as u64))
    );
    assert!(spans > 1_000, "{spans}");
}
