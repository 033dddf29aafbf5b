//! What a person wants to know of each agent before using it: how to get it, how ralph talks to it, and with which
//! versions it was tried. `ralph agents` prints it beside what each adapter can do (`seam::Abilities`).

/// One agent's card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The name users type.
    pub name: &'static str,
    /// The program it is looked for as; none for those that name their own.
    pub program: Option<&'static str>,
    /// What is known to people as.
    pub title: &'static str,
    /// How ralph talks to it: the prompt's way in, the answer's way out.
    pub transport: &'static str,
    /// How to install it.
    pub install: &'static str,
    /// The versions whose output the tests hold.
    pub tried: &'static str,
}

/// Everybody, in the order of `registry::NAMES`.
pub const CARDS: &[Card] = &[
    Card {
        name: "claude",
        program: Some("claude"),
        title: "Claude Code",
        transport: "stdin, JSON events",
        install: "npm install -g @anthropic-ai/claude-code, then log in with `claude`",
        tried: "1.0.60 to 2.1.325",
    },
    Card {
        name: "codex",
        program: Some("codex"),
        title: "Codex",
        transport: "stdin, JSON events",
        install: "npm install -g @openai/codex, then log in with `codex login`",
        tried: "0.36 to 0.166",
    },
    Card {
        name: "opencode",
        program: Some("opencode"),
        title: "opencode",
        transport: "stdin, JSON events",
        install: "npm install -g opencode-ai, then log in with `opencode auth login`",
        tried: "1.2 to 1.18",
    },
    Card {
        name: "gemini",
        program: Some("gemini"),
        title: "Gemini CLI",
        transport: "stdin, JSON events",
        install: "npm install -g @google/gemini-cli, then log in with `gemini`",
        tried: "0.11 to 0.61",
    },
    Card {
        name: "qwen",
        program: Some("qwen"),
        title: "Qwen Code",
        transport: "stdin, JSON events",
        install: "npm install -g @qwen-code/qwen-code, then log in with `qwen`",
        tried: "0.24",
    },
    Card {
        name: "goose",
        program: Some("goose"),
        title: "Goose",
        transport: "stdin, JSON events",
        install: "npm install -g @aaif/goose, then `goose configure`",
        tried: "1.34",
    },
    Card {
        name: "copilot",
        program: Some("copilot"),
        title: "GitHub Copilot CLI",
        transport: "stdin, JSON events",
        install: "npm install -g @github/copilot, then log in with `copilot`",
        tried: "1.0.102",
    },
    Card {
        name: "kimi",
        program: Some("kimi"),
        title: "Kimi Code",
        transport: "argument or file, JSON events",
        install: "npm install -g @moonshot-ai/kimi-code, then log in with `kimi`",
        tried: "2.1",
    },
    Card {
        name: "grok",
        program: Some("grok"),
        title: "Grok Build",
        transport: "file, JSON events",
        install: "npm install -g @xai-official/grok, then log in with `grok`",
        tried: "1.0.41",
    },
    Card {
        name: "pi",
        program: Some("pi"),
        title: "pi",
        transport: "stdin, JSON events",
        install: "npm install -g @mariozechner/pi-coding-agent",
        tried: "0.73",
    },
    Card {
        name: "aider",
        program: Some("aider"),
        title: "Aider",
        transport: "file, text",
        install: "pip install aider-chat",
        tried: "0.86",
    },
    Card {
        name: "mini",
        program: Some("mini"),
        title: "mini-swe-agent",
        transport: "argument or file, trajectory",
        install: "pip install mini-swe-agent",
        tried: "2.4",
    },
    Card {
        name: "command",
        program: None,
        title: "any program",
        transport: "stdin, text or a known format",
        install: "name it after --: ralph run --agent command … -- ./my-agent",
        tried: "-",
    },
    Card {
        name: "sim",
        program: None,
        title: "the scripted agent for tests and demos",
        transport: "stdin, JSON events",
        install: "comes with ralph",
        tried: "-",
    },
];

/// The card of an agent.
pub fn card(name: &str) -> Option<&'static Card> {
    CARDS.iter().find(|card| card.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::NAMES;

    #[test]
    fn everybody_has_a_card() {
        let cards: Vec<&str> = CARDS.iter().map(|card| card.name).collect();
        assert_eq!(cards, NAMES);
    }
}
