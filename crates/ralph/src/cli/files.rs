//! The files ralph reads and writes: for `ralph help files` and the FILES section of the man pages.

use std::fmt::Write;

/// Path and content.
type File = (&'static str, &'static str);

/// Below the workspace.
const WORKSPACE: &[File] = &[
    ("ralph.toml", "settings of this project; commit it"),
    ("ralph.local.toml", "your settings for this project; not committed"),
    ("PROMPT.md", "the task, if none is given on the command line"),
    (
        ".ralph/skills/NAME/SKILL.md",
        "a skill; also in .claude/skills, .agents/skills and the same in your home directory",
    ),
    (".ralph/", "state for other programs to read; rewritten often, never read back, ignored by git"),
];

/// The user's and the system's settings.
const CONFIG: &[File] = &[
    ("$XDG_CONFIG_HOME/ralph/config.toml", "your settings (usually ~/.config/ralph/config.toml)"),
    ("/etc/ralph/config.toml", "system-wide settings"),
];

/// Below the state directory.
const STATE: &[File] = &[
    ("ralph.db", "journals of all runs, the cost ledger, the list of runs"),
    (
        "runs/ID/",
        "prompts, transcripts (003.a1.prompt.md, 003.a1.out.jsonl; 003.a1.times: when its bytes came), debug.log",
    ),
    ("keep/", "snapshots of the workspace's files, for `ralph undo`"),
    ("rooms/", "clean copies of the files, in which verification is repeated for the proof"),
    (
        "quarantine/",
        "changes that were removed from protected paths, rejected work, what `undo --newer-too` replaced",
    ),
    ("locks/", "one lock per workspace, so that only one run is active in it"),
    ("copies/", "daily backups of the database"),
];

/// Where the state directory is.
const STATE_DIR: &str = "$XDG_STATE_HOME/ralph/";

/// The text of `ralph help files`.
pub fn topic() -> String {
    let mut text = String::new();
    section(&mut text, "In the workspace:", WORKSPACE);
    section(&mut text, "\nConfiguration:", CONFIG);
    let head = format!(
        "\nState, in {STATE_DIR} (usually ~/.local/state/ralph/), readable only by you. It is outside the workspace, so\n\
         an agent that cleans up does not delete it:"
    );
    section(&mut text, &head, STATE);
    text.push_str("\nSecrets are redacted from everything an agent prints before it is written to disk.\n");
    text
}

fn section(text: &mut String, head: &str, files: &[File]) {
    let _ = writeln!(text, "{head}");
    let width = files.iter().map(|(path, _)| path.len()).max().unwrap_or_default();
    for (path, what) in files {
        let _ = writeln!(text, "  {path:<width$}  {what}");
    }
}

/// Every file with its whole path.
pub fn all() -> Vec<(String, &'static str)> {
    let own = WORKSPACE.iter().chain(CONFIG).map(|(path, what)| ((*path).to_string(), *what));
    own.chain(STATE.iter().map(|(path, what)| (format!("{STATE_DIR}{path}"), *what))).collect()
}
