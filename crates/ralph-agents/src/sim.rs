//! The scripted agent that ships with ralph (`ralph agent-sim`): it prints Claude's format, so Claude's reader
//! reads it. For demos and tests; it costs nothing and needs no key.

use crate::agent_info::{
    Abilities, AgentInfo, Credentials, Detect, ModelInfo, NO_ABILITIES, Package, Permissions, PromptVia,
    Tier, event_reader,
};
use crate::claude::reader::ClaudeReader;
use crate::contained::AS_OUTSIDE;

/// What ralph knows about it.
pub static INFO: AgentInfo = AgentInfo {
    name: "sim",
    title: "the scripted agent for tests and demos",
    program: None,
    package: Package::None("comes with ralph"),
    setup: "",
    tier: Tier::BuiltIn,
    tried: "-",
    version_args: &["--version"],
    prompt: PromptVia::Stdin,
    output: "JSON events",
    env: &[],
    env_remove: &[],
    format_flags: &[],
    resume_flags: &[],
    permissions: Permissions {
        defaults: &[],
        read_only: &[],
        summary: "what its script says",
        allow_more: None,
    },
    contained: AS_OUTSIDE,
    credentials: Credentials { env: &[], files: &[] },
    hosts: &[],
    any_provider: false,
    state_dirs: &[],
    model: ModelInfo { flags: &[], reported: "its first event", configured: None, session_log: None },
    abilities: Abilities { live_usage: true, cost: true, shows_tool_start: true, ..NO_ABILITIES },
    launch: |line| {
        line.default_program("ralph");
        line.args(&["agent-sim"]);
    },
    reader: event_reader::<ClaudeReader>,
    // Its output is Claude's.
    detect: Detect::Never,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;

    #[test]
    fn it_is_started_from_ralph_itself() {
        let call = Call { program: Some("/bin/ralph".into()), args: vec!["--lie".into()], ..Call::default() };
        let launch = INFO.launch(&call);
        assert_eq!(
            (launch.program.as_str(), launch.args),
            ("/bin/ralph", vec!["agent-sim".into(), "--lie".into()])
        );
    }
}
