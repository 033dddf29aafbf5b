//! What a call inside ralph's sandbox needs besides the rest of an agent's table entry. The sandbox decides there what the
//! agent may do, so the agent's own prompts and its own sandbox are switched off: Codex's, built inside another one, runs
//! no tool and still ends with success.

use crate::agent_info::AgentInfo;
use crate::provider_settings::ProviderFile;

/// How an agent is started inside ralph's sandbox.
#[derive(Clone, Copy, Debug)]
pub struct Contained {
    /// Arguments in place of those that give permissions.
    pub args: &'static [&'static str],
    /// The user's arguments that decide instead: the agent then gets what it gets outside a sandbox.
    pub unless: &'static [&'static str],
    /// Its own mode for looking only does not work inside another sandbox, so such a call gets `args` as well.
    pub no_read_only_mode: bool,
    /// Environment variables to set.
    pub env: &'static [(&'static str, &'static str)],
    /// Variables passed on although they look secret, besides those of its credentials.
    pub passed: &'static [PassedEnv],
    /// How the names of its own variables begin.
    pub env_prefixes: &'static [&'static str],
    /// Variables with the address of its model's service. A port of this machine's loopback in one of them is forwarded, and
    /// another host in one of them may be reached.
    pub base_url_env: &'static [&'static str],
    /// Files of the user's settings that name services of its model. Their hosts count as those of the variables above, and the
    /// variables with keys that they name are passed on.
    pub provider_files: &'static [ProviderFile],
    /// The variable that moves its state, and the usual directory below the home directory; where the record of its
    /// conversations says so, it need not stand here.
    pub moved_by: Option<(&'static str, &'static str)>,
    /// Files below the home directory that a call may renew and that are copied back to the real state: credentials only,
    /// because settings can name programs to run.
    pub brought_back: &'static [&'static str],
}

/// Variables that an agent needs in some set-ups.
#[derive(Clone, Copy, Debug)]
pub struct PassedEnv {
    /// Needed only where this variable is set; empty for always.
    pub with: &'static str,
    /// Their names.
    pub names: &'static [&'static str],
}

/// Nothing is different inside a sandbox; entries name only what is.
pub const AS_OUTSIDE: Contained = Contained {
    args: &[],
    unless: &[],
    no_read_only_mode: false,
    env: &[],
    passed: &[],
    env_prefixes: &[],
    base_url_env: &[],
    provider_files: &[],
    moved_by: None,
    brought_back: &[],
};

impl AgentInfo {
    /// The variables that are passed on to a contained call although they look secret; `is_set` says which are set.
    pub fn contained_env(&self, is_set: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let wanted = |passed: &&PassedEnv| passed.with.is_empty() || is_set(passed.with);
        let passed = self.contained.passed.iter().filter(wanted).flat_map(|passed| passed.names);
        let mut names: Vec<&'static str> = self.credentials.env.iter().chain(passed).copied().collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The keys of the providers that clients without one of their own are used with.
pub(crate) const PROVIDER_KEYS: PassedEnv = PassedEnv {
    with: "",
    names: &[
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "DEEPSEEK_API_KEY",
        "XAI_API_KEY",
        "AZURE_OPENAI_API_KEY",
        "AZURE_API_KEY",
    ],
};

/// The addresses of the same providers, as different clients name them.
pub(crate) const PROVIDER_URLS: &[&str] = &[
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_BASE",
    "ANTHROPIC_HOST",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_HOST",
    "OLLAMA_HOST",
    "OLLAMA_API_BASE",
];

#[cfg(test)]
mod tests {
    use crate::registry::find;

    #[test]
    fn keys_of_a_cloud_are_passed_only_where_the_agent_uses_it() {
        let names =
            |agent: &str, set: &[&str]| find(agent).unwrap().contained_env(|name| set.contains(&name));
        assert!(names("claude", &[]).contains(&"ANTHROPIC_API_KEY"));
        assert!(!names("claude", &[]).contains(&"AWS_SECRET_ACCESS_KEY"));
        assert!(names("claude", &["CLAUDE_CODE_USE_BEDROCK"]).contains(&"AWS_SECRET_ACCESS_KEY"));
        assert!(names("goose", &[]).contains(&"OPENAI_API_KEY"));
        assert!(names("command", &[]).is_empty());
    }
}
