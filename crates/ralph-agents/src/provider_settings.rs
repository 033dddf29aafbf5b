//! Which model services the user's own settings of an agent name: their addresses, and the variables with their keys. A
//! contained call needs both, because other hosts and secret variables are kept from it. Nothing is read here: the caller
//! reads, this file knows what to look for.

use crate::agent_info::AgentInfo;
use std::path::Path;

/// A file of settings that names services.
#[derive(Clone, Copy, Debug)]
pub struct ProviderFile {
    /// The file, relative to the home directory.
    pub path: &'static str,
    /// Keys whose values are addresses.
    pub addresses: &'static [&'static str],
    /// Keys whose values are the names of variables.
    pub variables: &'static [&'static str],
}

/// Services that settings name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedProviders {
    /// Their addresses.
    pub addresses: Vec<String>,
    /// Variables with their keys.
    pub variables: Vec<String>,
}

impl AgentInfo {
    /// The services that its settings name. `variable` is the value of a variable, `file` the text of a file, relative to the
    /// home directory or absolute. Which of several services a call uses depends on its arguments, so all of them count.
    pub fn named_providers(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        file: &dyn Fn(&Path) -> Option<String>,
    ) -> NamedProviders {
        let mut found = NamedProviders::default();
        for settings in self.contained.provider_files {
            let moved = self.moved_path(settings.path, variable);
            let text = file(&moved.unwrap_or_else(|| settings.path.into())).unwrap_or_default();
            found.addresses.extend(values(&text, settings.addresses).map(str::to_owned));
            found
                .variables
                .extend(values(&text, settings.variables).filter_map(variable_name).map(str::to_owned));
        }
        found
    }
}

/// The texts that stand behind these keys, in TOML, JSON and YAML alike: `key = "text"`, `"key": "text"`, `key: text`.
fn values<'t>(text: &'t str, keys: &'static [&'static str]) -> impl Iterator<Item = &'t str> {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with('#') && !line.starts_with("//"));
    lines.flat_map(move |line| {
        keys.iter()
            .flat_map(move |key| line.match_indices(key).filter_map(move |(at, _)| value(line, at, key)))
    })
}

/// The text behind the key at this place of a line.
fn value<'t>(line: &'t str, at: usize, key: &str) -> Option<&'t str> {
    let is_longer = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if line.get(..at)?.ends_with(is_longer) {
        return None;
    }
    let behind = line.get(at + key.len()..)?.trim_start_matches(['"', '\'']).trim_start();
    let value = behind.strip_prefix(['=', ':'])?.trim_start();
    let quote = value.chars().next().filter(|first| ['"', '\''].contains(first));
    let value = match quote {
        Some(quote) => value.get(1..)?.split(quote).next()?,
        None => value.split([' ', '\t', ',', '}', '#']).next()?,
    };
    (!value.is_empty()).then_some(value)
}

/// The variable that a value names, also as `{env:NAME}`; none where it is the key itself.
fn variable_name(value: &str) -> Option<&str> {
    let name = value.strip_prefix("{env:").and_then(|rest| rest.strip_suffix('}')).unwrap_or(value);
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    (begins && name.chars().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::registry::find;
    use std::path::Path;

    /// What an agent's settings name, with these variables and files.
    fn named(agent: &str, variables: &[(&str, &str)], files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let of = |known: &[(&str, &str)], name: &str| {
            known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let (variable, file) =
            (|name: &str| of(variables, name), |path: &Path| of(files, path.to_str().unwrap()));
        let found = find(agent).unwrap().named_providers(&variable, &file);
        (found.addresses, found.variables)
    }

    fn both(addresses: &[&str], variables: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        (owned(addresses), owned(variables))
    }

    const CODEX: &str = "model = \"gpt-5\"\n# base_url = \"http://old\"\nopenai_base_url = 'https://mine/v1'\n\
        [model_providers.azure]\nbase_url = \"https://me.example.com/openai\" # ours\nenv_key = \"AZURE_KEY\"\n\
        [model_providers]\nlocal = { base_url = \"http://127.0.0.1:8080/v1\", env_key = \"LOCAL_KEY\" }\n";

    #[test]
    fn every_service_of_the_settings_counts() {
        let expected = both(
            &["https://mine/v1", "https://me.example.com/openai", "http://127.0.0.1:8080/v1"],
            &["AZURE_KEY", "LOCAL_KEY"],
        );
        assert_eq!(named("codex", &[], &[(".codex/config.toml", CODEX)]), expected);
        assert_eq!(named("codex", &[("CODEX_HOME", "/c")], &[("/c/config.toml", CODEX)]), expected);
        assert_eq!(named("codex", &[("CODEX_HOME", "/c")], &[(".codex/config.toml", CODEX)]), both(&[], &[]));
    }

    #[test]
    fn json_and_yaml_are_read_as_well() {
        let claude = r#"{"env": {"ANTHROPIC_BASE_URL" : "https://proxy.example.com", "X": "1"}}"#;
        let proxy = both(&["https://proxy.example.com"], &[]);
        assert_eq!(named("claude", &[], &[(".claude/settings.json", claude)]), proxy);
        assert_eq!(named("claude", &[("CLAUDE_CONFIG_DIR", "/c")], &[("/c/settings.json", claude)]), proxy);
        let opencode = r#"{"provider":{"a":{"options":{"baseURL":"http://a:1/v1","apiKey":"{env:A_KEY}"}},
            "b":{"options":{"apiKey":"sk-its-own-key"}}}}"#;
        let file = &[("/x/opencode/opencode.json", opencode)][..];
        assert_eq!(
            named("opencode", &[("XDG_CONFIG_HOME", "/x")], file),
            both(&["http://a:1/v1"], &["A_KEY"])
        );
        let goose = "GOOSE_MODEL: gpt-4o\nOPENAI_HOST: http://127.0.0.1:9/x\n";
        let file = &[(".config/goose/config.yaml", goose)][..];
        assert_eq!(named("goose", &[], file), both(&["http://127.0.0.1:9/x"], &[]));
    }

    #[test]
    fn torn_files_name_nothing() {
        for torn in [
            "",
            "base_url",
            "base_url =",
            "base_url = \"",
            "env_key: }",
            "xbase_url = \"http://a\"",
            "é base_url",
        ] {
            let found = named("codex", &[], &[(".codex/config.toml", torn)]);
            assert_eq!(found, both(&[], &[]), "{torn:?}");
        }
    }
}
