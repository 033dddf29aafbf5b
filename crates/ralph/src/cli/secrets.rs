//! What is hidden from everything ralph writes and prints: values of the environment, of agents' own variables, of the
//! files that `[redact]` names, and of every `.env`. `ralph-engine/src/redact` finds them in output.

use super::Here;
use crate::config::{self, Settings};
use crate::env::Env;
use crate::problem::{Code, Problem};
use ralph_engine::redact::{Redactor, Secret, secrets_in_env, secrets_in_env_files, secrets_in_file};
use ralph_rules::record::{RunStarted, prompt_file};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How many names are looked through for `.env` files before a run, and by a command that only shows something.
const NAMES: usize = 100_000;
const NAMES_SHOWN: usize = 10_000;

/// Knows every secret of this workspace. A file that was named but cannot be read is a mistake: its values would show.
pub fn redactor(settings: &Settings, workspace: &Path, here: &Here) -> Result<Redactor, Problem> {
    let mut all = Vec::new();
    for name in &settings.redact_files {
        let path = place(name, workspace, here);
        let found = secrets_in_file(&path, true).map_err(|error| {
            Problem::new(
                Code::Config,
                format!("cannot read {}, which is listed in redact.files", path.display()),
            )
            .cause(&error)
            .hint(
                "make it readable, or remove it from redact.files; its secrets cannot be redacted otherwise",
            )
        });
        all.extend(found?);
    }
    Ok(Redactor::new(
        all.into_iter().chain(always(settings, workspace, NAMES)).collect::<Vec<_>>().into_iter(),
    ))
}

/// As far as it goes: for commands that must work where the configuration is broken, too.
pub fn redactor_anyway(workspace: &Path, here: &Here) -> Redactor {
    let settings = config::load_files(workspace, &here.env).map(|config| config.settings).unwrap_or_default();
    let files = settings.redact_files.iter().map(|name| place(name, workspace, here));
    let named = files.flat_map(|path| secrets_in_file(&path, true).unwrap_or_default());
    Redactor::new(named.chain(always(&settings, workspace, NAMES_SHOWN)).collect::<Vec<_>>().into_iter())
}

/// A run's beginning as the user wrote it, as far as that can still be known; the journal holds it without secrets.
/// `typed` is the task where it was given once more.
pub fn whole(start: RunStarted, redactor: &Redactor, typed: Option<&str>) -> RunStarted {
    let kept = start.prompt.clone();
    let from_file = || {
        let file = Path::new(prompt_file(&start.prompt_from)?);
        super::prompt::read(Path::new(&start.workspace), file).ok()
    };
    let same = |text: &String| redactor.redact(text) == kept;
    let prompt = typed.map(ToOwned::to_owned).filter(same);
    let prompt = prompt.or_else(|| kept.contains(MARK).then(from_file).flatten().filter(same));
    let mut whole = redactor.whole(start);
    whole.prompt = prompt.unwrap_or(whole.prompt);
    whole
}

/// Whether two texts, or things made of texts, are the same but for secrets.
pub fn same<T: Serialize>(one: &T, other: &T, redactor: &Redactor) -> bool {
    let clean = |it: &T| {
        let mut value = serde_json::to_value(it).unwrap_or_default();
        redactor.value(&mut value);
        value
    };
    clean(one) == clean(other)
}

/// What to tell whoever resumes a run whose task held a key that nobody knows any more.
pub fn lost(start: &RunStarted) -> Option<String> {
    let lost = start.prompt.contains(MARK) || start.verify.iter().any(|command| command.contains(MARK));
    lost.then(|| {
        "the task or a verify command contained a secret, which ralph did not store; it now reads [redacted:…]"
            .into()
    })
}

const MARK: &str = "[redacted:";

fn always(settings: &Settings, workspace: &Path, names: usize) -> Vec<(String, Secret)> {
    let vars = Env::all().into_iter().chain(settings.agents_env());
    let mut found = secrets_in_env(vars, &settings.redact_env);
    found.extend(secrets_in_env_files(workspace, names));
    found
}

/// `~/` is the user's home; everything else is looked for from the workspace.
fn place(name: &str, workspace: &Path, here: &Here) -> PathBuf {
    match (name.strip_prefix("~/"), &here.env.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => workspace.join(name),
    }
}
