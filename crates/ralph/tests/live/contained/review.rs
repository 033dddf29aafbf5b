//! A second agent, contained like the first, reads the work with its own tools, and its verdict counts.

use super::*;

fn reviews(reviewer: &'static Cli, worker: &'static Cli, backend: Backend, network: &str) {
    let mut place = place(worker, "reviewed", backend, network, User::Ordinary);
    place.add(reviewer);
    place.config(&format!("[review]\nagent = \"{}\"\n", reviewer.info.name));
    let done = place.run(&[]);
    let result = done.ends(0, "gate_passed");
    was_contained(&result, backend, network, &done);
    let why = result["details"]["why"].as_str().unwrap();
    assert!(why.ends_with(&format!("by {}: SHIP", reviewer.info.name)), "{why}");
    let charged: Vec<Value> = done.calls().iter().map(|call| call["charged"].clone()).collect();
    // A tool and an answer each.
    assert_eq!(charged, [worker.price.1 * 2, reviewer.price.1 * 2], "{}", done.story());
}

tests! {
    by_codex_in_namespaces_with_hosts => reviews(&CODEX, &CLAUDE, Backend::Namespaces, "hosts");
    by_claude_in_namespaces_with_hosts => reviews(&CLAUDE, &CODEX, Backend::Namespaces, "hosts");
    by_codex_in_bwrap_with_hosts => reviews(&CODEX, &CLAUDE, Backend::Bwrap, "hosts");
    by_claude_in_bwrap_with_hosts => reviews(&CLAUDE, &CODEX, Backend::Bwrap, "hosts");
    by_codex_in_landlock => reviews(&CODEX, &CLAUDE, Backend::Landlock, "open");
    by_claude_in_landlock => reviews(&CLAUDE, &CODEX, Backend::Landlock, "open");
}
