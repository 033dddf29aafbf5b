//! Whether Codex runs the plugin's hooks: it tells through its app server, which knows what its user trusted and what
//! changed since.

use super::ask::{command, wait};
use super::{Found, Hooks};
use crate::cli::hook::plugin::ID;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

/// How long it may take; it answers within a second.
const PATIENCE: Duration = Duration::from_secs(15);
const QUESTION: u64 = 2;

/// What it says.
pub fn hooks(client: &Found) -> Hooks {
    match list(client) {
        Some(list) => judged(&list),
        None => Hooks::Unknown("this version of Codex does not tell which hooks it trusts"),
    }
}

fn judged(list: &Value) -> Hooks {
    let places = list["data"].as_array().into_iter().flatten();
    let hooks = places.flat_map(|place| place["hooks"].as_array().into_iter().flatten());
    let ours: Vec<&Value> = hooks.filter(|hook| hook["pluginId"] == ID).collect();
    if ours.is_empty() {
        return Hooks::Off("features.hooks or features.plugins in Codex's config.toml".to_owned());
    }
    if ours.iter().any(|hook| hook["enabled"] == false) {
        return Hooks::Off("/hooks in Codex".to_owned());
    }
    match ours.iter().all(|hook| hook["trustStatus"] == "trusted" || hook["isManaged"] == true) {
        true => Hooks::Run,
        false => Hooks::Untrusted,
    }
}

/// Asks for the hooks of the workspace. It stops answering once nobody can ask any more, so its input stays open.
fn list(client: &Found) -> Option<Value> {
    let mut child = command(&client.program, &client.dir, &["app-server"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (sender, answers) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = output.into_iter().flat_map(|pipe| BufReader::new(pipe).lines().map_while(Result::ok));
        let answers = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        if let Some(answer) = answers.into_iter().find(|answer| answer["id"] == QUESTION) {
            let _ = sender.send(answer);
        }
    });
    let asked = input.and_then(|mut input| {
        let words = [
            json!({"id": 1, "method": "initialize",
                "params": {"clientInfo": {"name": "ralph", "version": env!("CARGO_PKG_VERSION")}}}),
            json!({"method": "initialized"}),
            json!({"id": QUESTION, "method": "hooks/list", "params": {"cwds": [client.dir]}}),
        ];
        let text: String = words.iter().map(|line| format!("{line}\n")).collect();
        input.write_all(text.as_bytes()).ok().map(|()| input)
    });
    let answer = asked.as_ref().and_then(|_| answers.recv_timeout(PATIENCE).ok());
    drop(asked);
    let _ = wait(&mut child, Duration::from_secs(1));
    answer?.get("result").filter(|result| result.is_object()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hooks: &Value) -> Hooks {
        judged(&json!({"data": [{"cwd": "w", "hooks": hooks}]}))
    }

    #[test]
    fn hooks_run_only_where_codex_trusts_all_of_ours() {
        let hook =
            |status: &str, enabled: bool| json!({"pluginId": ID, "trustStatus": status, "enabled": enabled});
        let foreign = json!({"pluginId": "other@other", "trustStatus": "untrusted", "enabled": false});
        assert_eq!(of(&json!([hook("trusted", true), hook("trusted", true), foreign])), Hooks::Run);
        assert_eq!(of(&json!([hook("trusted", true), hook("untrusted", true)])), Hooks::Untrusted);
        assert_eq!(of(&json!([hook("trusted", true), hook("modified", true)])), Hooks::Untrusted);
        assert!(matches!(of(&json!([hook("trusted", true), hook("trusted", false)])), Hooks::Off(_)));
        assert!(matches!(of(&json!([foreign])), Hooks::Off(_)));
        assert!(matches!(judged(&Value::Null), Hooks::Off(_)));
    }
}
