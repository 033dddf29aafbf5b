//! Whole commands as a person or a script meets them: what is typed, the exit code, stdout and stderr. Each topic has
//! its file; what is printed is compared with `snapshots/`, what scripts read is parsed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "commands/advise.rs"]
mod advise;
#[path = "commands/agents.rs"]
mod agents;
#[path = "commands/analyze.rs"]
mod analyze;
#[path = "commands/ask.rs"]
mod ask;
#[path = "commands/auto_prune.rs"]
mod auto_prune;
#[path = "commands/block.rs"]
mod block;
#[path = "commands/config.rs"]
mod config;
#[path = "commands/demo.rs"]
mod demo;
#[path = "commands/detach.rs"]
mod detach;
#[path = "commands/diagnostics.rs"]
mod diagnostics;
#[path = "commands/doctor.rs"]
mod doctor;
#[path = "commands/fallback.rs"]
mod fallback;
#[path = "commands/help.rs"]
mod help;
#[path = "commands/hostile.rs"]
mod hostile;
#[path = "commands/init.rs"]
mod init;
#[path = "commands/json.rs"]
mod json;
#[path = "commands/logs.rs"]
mod logs;
#[path = "commands/mistakes.rs"]
mod mistakes;
#[path = "commands/moved_views.rs"]
mod moved_views;
#[path = "commands/no_room.rs"]
mod no_room;
#[path = "commands/notify.rs"]
mod notify;
#[path = "commands/prices.rs"]
mod prices;
#[path = "commands/prune.rs"]
mod prune;
#[path = "commands/redact.rs"]
mod redact;
#[path = "commands/redirected.rs"]
mod redirected;
#[path = "commands/report.rs"]
mod report;
#[path = "commands/restore.rs"]
mod restore;
#[path = "commands/runs.rs"]
mod runs;
#[path = "commands/scene.rs"]
mod scene;
#[path = "commands/session_view.rs"]
mod session_view;
#[path = "commands/settings.rs"]
mod settings;
#[path = "commands/shell_lib.rs"]
mod shell_lib;
#[path = "commands/shells.rs"]
mod shells;
#[path = "commands/skills.rs"]
mod skills;
#[path = "commands/stacks.rs"]
mod stacks;
#[path = "commands/start.rs"]
mod start;
#[path = "commands/state.rs"]
mod state;
#[path = "commands/state_of_0_1.rs"]
mod state_of_0_1;
#[path = "commands/two.rs"]
mod two;
#[path = "commands/unpriced.rs"]
mod unpriced;
#[path = "commands/unrunnable.rs"]
mod unrunnable;
#[path = "commands/views.rs"]
mod views;
#[path = "commands/wrong_inputs.rs"]
mod wrong_inputs;
