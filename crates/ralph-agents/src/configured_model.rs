//! Which model an agent uses that does not report it: its arguments, its settings, and the record it keeps of a
//! conversation. Prices depend on it. Nothing is read here: the caller reads, this file knows what to look for.

use crate::agent_info::AgentInfo;
use serde_json::Value;

/// What an agent's model can be found in.
pub struct ModelSources<'a> {
    /// The user's own arguments for it.
    pub args: &'a [String],
    /// A variable it is started with.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The text of a file, relative to the home directory or absolute.
    pub file: &'a dyn Fn(&str) -> Option<String>,
}

/// Where an agent records its conversations.
#[derive(Debug)]
pub struct SessionLog {
    /// The variable that moves its directory.
    pub variable: &'static str,
    /// Its directory, relative to the home directory.
    pub directory: &'static str,
    /// Where the records are below it, in directories by year, month and day; a name ends with the conversation's id.
    pub below: &'static str,
    /// How a name ends after the id.
    pub ends: &'static str,
    /// The model that a line of a record names.
    pub model: fn(&str) -> Option<String>,
}

/// The model that the user's arguments or the agent's own settings choose.
pub fn configured_model(info: &AgentInfo, sources: &ModelSources<'_>) -> Option<String> {
    let typed = info.model.flags.iter().find_map(|flag| value_of(sources.args, flag));
    let named = typed.or_else(|| info.model.configured?(sources))?;
    Some(named.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Codex: `-c model=…`, then the profile's model, then that of the file.
pub(crate) fn codex(sources: &ModelSources<'_>) -> Option<String> {
    let set = |key: &str| {
        let settings = sources.args.iter().filter_map(|arg| arg.split_once('='));
        let found = settings.rev().find(|(name, _)| *name == key);
        found.map(|(_, value)| value.trim_matches(['"', '\'']).to_owned())
    };
    let directory = (sources.variable)("CODEX_HOME").unwrap_or_else(|| ".codex".into());
    let text = (sources.file)(&format!("{directory}/config.toml")).unwrap_or_default();
    let profile = value_of(sources.args, "--profile").or_else(|| value_of(sources.args, "-p"));
    let profile = profile.or_else(|| toml_text(&text, "", "profile"));
    let of_profile = |name: String| toml_text(&text, &format!("profiles.{name}"), "model");
    set("model").or_else(|| profile.and_then(of_profile)).or_else(|| toml_text(&text, "", "model"))
}

/// The record of a conversation that Codex keeps.
pub(crate) static CODEX_LOG: SessionLog = SessionLog {
    variable: "CODEX_HOME",
    directory: ".codex",
    below: "sessions",
    ends: ".jsonl",
    model: |line| {
        if !line.contains("\"turn_context\"") {
            return None;
        }
        let line: Value = serde_json::from_str(line).ok()?;
        let context = line.get("type").is_some_and(|kind| kind == "turn_context");
        line.get("payload").filter(|_| context)?.get("model")?.as_str().map(str::to_owned)
    },
};

/// Kimi: the default model names a table with the provider's own name for it.
pub(crate) fn kimi(sources: &ModelSources<'_>) -> Option<String> {
    let text = (sources.file)(".kimi-code/config.toml")?;
    let name = toml_text(&text, "", "default_model")?;
    toml_text(&text, &format!("models.{name}"), "model").or(Some(name))
}

/// Goose: a variable, then a line of its YAML file.
pub(crate) fn goose(sources: &ModelSources<'_>) -> Option<String> {
    let line = |text: String| {
        let values = text.lines().filter_map(|line| line.strip_prefix("GOOSE_MODEL:").map(str::to_owned));
        values.map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).next()
    };
    let file = || (sources.file)(&format!("{}/goose/config.yaml", config_home(sources)));
    (sources.variable)("GOOSE_MODEL").or_else(|| file().and_then(line))
}

/// opencode: its JSON file, where the name has the provider in front.
pub(crate) fn opencode(sources: &ModelSources<'_>) -> Option<String> {
    let text = (sources.file)(&format!("{}/opencode/opencode.json", config_home(sources)))?;
    let settings: Value = serde_json::from_str(&text).ok()?;
    settings.get("model")?.as_str().map(str::to_owned)
}

fn config_home(sources: &ModelSources<'_>) -> String {
    (sources.variable)("XDG_CONFIG_HOME").unwrap_or_else(|| ".config".into())
}

/// The value of an argument, behind it or after `=`.
fn value_of(args: &[String], flag: &str) -> Option<String> {
    let at = args.iter().position(|arg| arg == flag);
    let behind = at.and_then(|at| args.get(at + 1)).cloned();
    behind
        .or_else(|| args.iter().find_map(|arg| arg.strip_prefix(flag)?.strip_prefix('=').map(str::to_owned)))
}

/// A text of a TOML file, where it stands on one line; the section is empty for what stands before all.
fn toml_text(text: &str, section: &str, key: &str) -> Option<String> {
    let mut current = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            current = name.trim().replace('"', "");
        } else if current == section
            && let Some(value) = line.strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix('='))
        {
            let value = value.trim();
            let quote = value.chars().next().filter(|first| ['"', '\''].contains(first))?;
            return value.get(1..)?.split(quote).next().map(str::to_owned);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    /// The model of an agent with these arguments, variables and files.
    fn model(
        agent: &str,
        args: &[&str],
        variables: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Option<String> {
        let of = |known: &[(&str, &str)], name: &str| {
            known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let (variable, file) = (|name: &str| of(variables, name), |name: &str| of(files, name));
        let sources = ModelSources { args: &args, variable: &variable, file: &file };
        configured_model(registry::find(agent).unwrap(), &sources)
    }

    const CODEX: &str =
        "# mine\nmodel = \"gpt-5.5\" # best\nmodel_provider = 'x'\n[profiles.cheap]\nmodel = 'gpt-5-mini'\n";

    #[test]
    fn arguments_then_settings() {
        let file = &[(".codex/config.toml", CODEX)][..];
        assert_eq!(model("codex", &[], &[], file).as_deref(), Some("gpt-5.5"));
        assert_eq!(model("codex", &["-m", "o3"], &[], file).as_deref(), Some("o3"));
        assert_eq!(model("codex", &["--model=o3"], &[], file).as_deref(), Some("o3"));
        assert_eq!(model("codex", &["-c", "model=\"o4\""], &[], file).as_deref(), Some("o4"));
        assert_eq!(model("codex", &["--profile", "cheap"], &[], file).as_deref(), Some("gpt-5-mini"));
        assert_eq!(model("codex", &["-c", "model_provider=\"y\""], &[], &[]), None);
        let moved = &[("/c/config.toml", "model = \"gpt-5\"\n")][..];
        assert_eq!(model("codex", &[], &[("CODEX_HOME", "/c")], moved).as_deref(), Some("gpt-5"));
        assert_eq!(model("claude", &["--model", "opus"], &[], &[]).as_deref(), Some("opus"));
    }

    #[test]
    fn the_settings_of_the_others() {
        let kimi = "default_model = \"k\"\n[models.k]\nprovider = \"p\"\nmodel = \"kimi-k2\"\n";
        assert_eq!(model("kimi", &[], &[], &[(".kimi-code/config.toml", kimi)]).as_deref(), Some("kimi-k2"));
        let goose = "GOOSE_PROVIDER: openai\nGOOSE_MODEL: gpt-4.1\n";
        let file = &[(".config/goose/config.yaml", goose)][..];
        assert_eq!(model("goose", &[], &[], file).as_deref(), Some("gpt-4.1"));
        assert_eq!(model("goose", &[], &[("GOOSE_MODEL", "gpt-5")], file).as_deref(), Some("gpt-5"));
        let opencode = r#"{"model": "anthropic/claude-sonnet-4-6"}"#;
        let file = &[(".config/opencode/opencode.json", opencode)][..];
        assert_eq!(model("opencode", &[], &[], file).as_deref(), Some("anthropic/claude-sonnet-4-6"));
        for torn in ["", "{", "model", "model =", "model = \"", "[", "model = 5"] {
            let files = [".codex/config.toml", ".config/opencode/opencode.json", ".kimi-code/config.toml"];
            for (agent, file) in ["codex", "opencode", "kimi"].into_iter().zip(files) {
                let _ = model(agent, &[], &[], &[(file, torn)]);
            }
        }
    }

    #[test]
    fn codex_records_the_model_of_a_turn() {
        let line = r#"{"timestamp":"2026-11-16T12:24:47.100Z","ordinal":9,"type":"turn_context","payload":{"turn_id":"t","cwd":"/w","approval_policy":"never","model":"gpt-6.1-sol","effort":"low"}}"#;
        assert_eq!((CODEX_LOG.model)(line).as_deref(), Some("gpt-6.1-sol"));
        let quoted = r#"{"type":"response_item","payload":{"text":"\"turn_context\"","model":"cheap"}}"#;
        assert_eq!((CODEX_LOG.model)(quoted), None);
        assert_eq!((CODEX_LOG.model)("{\"turn_context\""), None);
    }
}
