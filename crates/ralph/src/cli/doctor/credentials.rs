//! Whether an agent could log in: a variable that is set, or a file that is there. Neither is ever read.

use crate::cli::Here;
use std::path::Path;

/// What was seen.
pub enum Seen {
    /// This variable or file is there.
    There(String),
    /// None of those known.
    Nowhere,
}

/// Where an agent's credentials may be: variables, and files from the home directory.
struct Places {
    agent: &'static str,
    variables: &'static [&'static str],
    files: &'static [&'static str],
}

const PLACES: &[Places] = &[
    Places {
        agent: "claude",
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        files: &[".claude/.credentials.json"],
    },
    Places { agent: "codex", variables: &["OPENAI_API_KEY", "CODEX_API_KEY"], files: &[".codex/auth.json"] },
    Places {
        agent: "opencode",
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"],
        files: &[".local/share/opencode/auth.json"],
    },
    Places {
        agent: "gemini",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
        files: &[".gemini/oauth_creds.json"],
    },
    Places {
        agent: "qwen",
        variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        files: &[".qwen/oauth_creds.json"],
    },
    Places { agent: "goose", variables: &["GOOSE_PROVIDER"], files: &[".config/goose/config.yaml"] },
    Places {
        agent: "copilot",
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
        files: &[".copilot/config.json"],
    },
    Places {
        agent: "kimi",
        variables: &["KIMI_API_KEY", "MOONSHOT_API_KEY"],
        files: &[".kimi-code/config.toml"],
    },
    Places { agent: "grok", variables: &["XAI_API_KEY", "GROK_API_KEY"], files: &[".grok/auth.json"] },
    Places {
        agent: "pi",
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
        files: &[".pi/agent/auth.json"],
    },
    Places {
        agent: "aider",
        variables: &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "DEEPSEEK_API_KEY",
        ],
        files: &[".aider.conf.yml", ".env"],
    },
    Places {
        agent: "mini",
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
        files: &[".config/mini-swe-agent/.env"],
    },
];

/// What is seen of an agent's credentials; none where nothing is known of where they would be.
pub fn of(agent: &str, here: &Here) -> Option<Seen> {
    let places = PLACES.iter().find(|places| places.agent == agent)?;
    let variable = places.variables.iter().find(|name| here.env.is_set(name)).map(ToString::to_string);
    let there = |file: &&&str| here.env.home.as_deref().is_some_and(|home: &Path| home.join(file).exists());
    let file = || places.files.iter().find(there).map(|file| format!("~/{file}"));
    Some(variable.or_else(file).map_or(Seen::Nowhere, Seen::There))
}
