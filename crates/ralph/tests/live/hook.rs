//! Hook mode with the real Claude Code and the real Codex: ralph's plugin in their sessions, headless and on a terminal.
//! Each case has a home of its own, so nothing is installed but there.

#[path = "hook/client.rs"]
mod client;
#[path = "hook/goal.rs"]
mod goal;
#[path = "hook/headless.rs"]
mod headless;
#[path = "hook/install.rs"]
mod install;
#[path = "hook/mode.rs"]
mod mode;
#[path = "hook/terminal.rs"]
mod terminal;
#[path = "hook/two_sessions.rs"]
mod two_sessions;
