//! The first event: session, directory, model and tools.

use super::Output;
use crate::object::Object;

const TOOLS: [&str; 12] = [
    "Task",
    "Bash",
    "Edit",
    "Monitor",
    "NotebookEdit",
    "Read",
    "Skill",
    "TaskStop",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];
const SKILLS: [&str; 4] = ["verify", "debug", "code-review", "simplify"];

/// The version whose output is imitated.
pub const VERSION: &str = "2.1.325";

impl Output {
    /// `system/init`.
    pub fn introduce(&mut self) {
        let info = self.info.clone();
        let event = Output::system("init")
            .put("cwd", &info.cwd)
            .put("session_id", &info.session)
            .put("tools", TOOLS)
            .put("mcp_servers", [(); 0])
            .put("model", &info.model)
            .put("permissionMode", &info.permission_mode)
            .put("slash_commands", SKILLS)
            .put("apiKeySource", "ANTHROPIC_API_KEY")
            .put("claude_code_version", VERSION)
            .put("output_style", "default")
            .put("agents", ["claude", "Explore", "general-purpose", "Plan"])
            .put("skills", SKILLS)
            .put("plugins", [(); 0])
            .put("analytics_disabled", true)
            .put("uuid", self.ids.uuid())
            .put("memory_paths", Object::new())
            .put("original_cwd", &info.cwd)
            .put("additional_directories", [(); 0])
            .put("fast_mode_state", "off")
            .put("view_mode", "default");
        self.event(&event);
    }
}
