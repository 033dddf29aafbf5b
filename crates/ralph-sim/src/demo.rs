//! The built-in demonstration: a throwaway project with a real failing test, and the script of an agent that
//! claims too early, then reports that it is not done, then fixes it. Needs nothing but `sh`.

/// The project's files: path and content.
pub const FILES: [(&str, &str); 3] = [
    ("PROMPT.md", PROMPT),
    ("slug.sh", include_str!("demo/slug.sh")),
    ("test.sh", include_str!("demo/test.sh")),
];

/// What the agent is asked to do.
pub const PROMPT: &str = include_str!("demo/PROMPT.md");

/// The command that proves the work.
pub const VERIFY: &str = "sh test.sh";

/// The agent's script, for `--script` or `--do`.
pub const SCRIPT: &str = include_str!("demo/agent.sim");
