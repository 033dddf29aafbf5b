//! `[agents.NAME]`: the program, arguments and variables of one agent; and the files an agent gets and leaves.

use crate::bed::{Bed, Done};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A program in the workspace's parent that is no agent but acts like one.
fn program(bed: &Bed, name: &str, script: &str) -> String {
    let path = bed.scratch.root().join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn an_agent_gets_its_variables_and_their_secrets_are_kept_nowhere() {
    let bed = Bed::git("unused");
    let key = "tail-of-a-key-4f9c2b7a1e";
    let agent = program(
        &bed,
        "agent",
        "cat > /dev/null; echo \"$MODE $MY_API_KEY\" > seen.txt; echo \"the key is $MY_API_KEY\"",
    );
    let config = format!(
        "[agents.command]\ncommand = \"{agent}\"\n[agents.command.env]\nMODE = \"calm\"\nMY_API_KEY = \"{key}\"\n"
    );
    bed.scratch.files(&[("ralph.toml", &config)]);
    let flags = ["run", "Do it", "--agent", "command", "--max-iterations", "1", "--max-cost", "1", "--json"];
    let done = Done::of(&mut bed.ralph(&flags));
    assert_eq!(done.result()["iterations"], 1, "{}", done.err);
    assert_eq!(
        fs::read_to_string(bed.scratch.workspace().join("seen.txt")).unwrap(),
        format!("calm {key}\n")
    );
    // What lay in the workspace is kept as it was, or `ralph undo` could not bring it back.
    let told = bed.state_files().into_iter().filter(|file| !file.starts_with(bed.kept()));
    for file in told {
        let bytes = fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(key), "{}", file.display());
    }
    assert!(!done.out.contains(key) && !done.err.contains(key));
}

#[test]
fn variables_of_ralphs_own_cannot_be_given() {
    let bed = Bed::git("claim complete");
    for name in ["RALPH_RUN", "A=B", ""] {
        bed.scratch.files(&[("ralph.toml", &format!("[agents.sim.env]\n\"{name}\" = \"x\"\n"))]);
        let done = bed.done(&[]);
        assert_eq!(done.code, 78, "{name}: {}", done.err);
        assert!(done.err.contains("ralph.toml"), "{}", done.err);
    }
}

#[test]
fn an_agent_without_stdin_is_given_its_prompt_in_a_file_that_is_gone_afterwards() {
    let bed = Bed::git("unused");
    let agent = program(
        &bed,
        "grok",
        "while [ $# -gt 0 ]; do case $1 in --prompt-file) cp \"$2\" prompt.seen; echo \"$2\" > path.seen;; esac; shift; done; \
         echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\"}'",
    );
    bed.scratch.files(&[("ralph.toml", &format!("[agents.grok]\ncommand = \"{agent}\"\n"))]);
    let long = "Do it well. ".repeat(30_000);
    let task = bed.scratch.root().join("long.md");
    fs::write(&task, &long).unwrap();
    let mut command = bed.ralph(&["run", "--agent", "grok", "--max-iterations", "1", "--max-cost", "1"]);
    let done = Done::of(command.arg("--prompt").arg(&task));
    let seen = fs::read_to_string(bed.scratch.workspace().join("prompt.seen"))
        .unwrap_or_else(|_| panic!("{} {}", done.out, done.err));
    assert!(seen.contains(long.trim()), "{} of {} bytes", seen.len(), long.len());
    let path = fs::read_to_string(bed.scratch.workspace().join("path.seen")).unwrap();
    assert!(!fs::exists(path.trim()).unwrap(), "{path}");
}
