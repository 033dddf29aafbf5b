//! The clients whose sessions can do the work of a run: they call hooks, and tell them what the agent said last.

/// A client whose session works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Qwen Code.
    Qwen,
}

impl Client {
    /// Every client.
    pub const ALL: [Client; 3] = [Client::Claude, Client::Codex, Client::Qwen];

    /// The name of its agent.
    pub fn agent(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Codex => "codex",
            Client::Qwen => "qwen",
        }
    }

    /// The name that its users know.
    pub fn title(self) -> &'static str {
        match self {
            Client::Claude => "Claude Code",
            Client::Codex => "Codex",
            Client::Qwen => "Qwen Code",
        }
    }

    /// The client whose agent has this name.
    pub fn of_agent(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.agent() == name)
    }

    /// The first version known to tell a hook what the agent said last.
    pub fn needs_version(self) -> &'static str {
        match self {
            Client::Claude => "2.1.47",
            Client::Codex => "0.115",
            Client::Qwen => "0.12",
        }
    }
}
