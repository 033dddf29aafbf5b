//! The provider behind an agent, by the names of the GenAI conventions. An agent that works with any provider, or with one
//! that the conventions do not name, is its own.

/// Agents that belong to a provider.
const PROVIDERS: [(&str, &str); 4] =
    [("claude", "anthropic"), ("codex", "openai"), ("gemini", "gcp.gemini"), ("grok", "x_ai")];

/// The value of `gen_ai.provider.name`.
pub fn provider(agent: &str) -> &str {
    PROVIDERS.into_iter().find(|(name, _)| *name == agent).map_or(agent, |(_, provider)| provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_of_the_table_exists() {
        let known: Vec<&str> = ralph_agents::registry::names().collect();
        for (agent, _) in PROVIDERS {
            assert!(known.contains(&agent), "{agent}");
        }
        assert_eq!(provider("claude"), "anthropic");
        assert_eq!(provider("aider"), "aider");
    }
}
