//! The configuration, loaded: every layer read, checked and resolved.

use super::flags::Flags;
use super::key::At;
use super::origin::{Layer, Origin};
use super::preset::Preset;
use super::resolve::resolve;
use super::sections;
use super::setting::Setting;
use super::settings::Settings;
use super::skill_block::SkillValues;
use super::{document, file_text, project_hides, variables};
use crate::env::Env;
use crate::problem::{Code, Problem};
use std::path::{Path, PathBuf};

/// The system's file.
const SYSTEM: &str = "/etc/ralph/config.toml";

/// Where settings are looked for.
pub struct Sources<'a> {
    workspace: &'a Path,
    files: Vec<Origin>,
    env: Option<&'a Env>,
    /// Of the variables, only those of `[sandbox]` count.
    sandbox_only: bool,
    flags: Option<&'a Flags>,
    skill: Option<&'a SkillValues>,
}

/// What was found in all sources.
pub struct Checked {
    /// The configuration; none where it has problems.
    pub config: Option<Config>,
    /// Everything that is wrong, file by file, in the order of the lines.
    pub problems: Vec<Problem>,
    /// The files that were looked for.
    pub files: Vec<FoundFile>,
}

/// A config file that was looked for.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Its layer in one word.
    pub layer: &'static str,
    /// Where.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// The configuration of a workspace.
#[derive(Clone, Debug)]
pub struct Config {
    /// What a run is made from.
    pub settings: Settings,
    /// Every key, its value and where it comes from. The settings are these values, put where they land.
    pub rows: Vec<Setting>,
    /// The files that were looked for.
    pub files: Vec<FoundFile>,
    /// How many layers set something.
    pub layers: usize,
}

impl<'a> Sources<'a> {
    /// The config files of the system, the user and the workspace.
    pub fn files(workspace: &'a Path, config_home: Option<&Path>) -> Sources<'a> {
        Sources::at(workspace, Path::new(SYSTEM), config_home)
    }

    /// The config files of the system and the user alone.
    pub fn own_files(config_home: Option<&Path>) -> Sources<'static> {
        let mut sources = Sources::files(Path::new("/"), config_home);
        sources.files.retain(|origin| !origin.is_project());
        sources
    }

    /// The same, with another file for the system's.
    pub(super) fn at(workspace: &'a Path, system: &Path, config_home: Option<&Path>) -> Sources<'a> {
        let mut files = vec![Origin::System(system.into())];
        files.extend(config_home.map(|home| Origin::User(home.join("ralph/config.toml"))));
        files.push(Origin::Project(workspace.join("ralph.toml")));
        files.push(Origin::Local(workspace.join("ralph.local.toml")));
        Sources { workspace, files, env: None, sandbox_only: false, flags: None, skill: None }
    }

    /// With the variables above the files.
    pub fn variables(self, env: &'a Env) -> Sources<'a> {
        Sources { env: Some(env), ..self }
    }

    /// With the variables of `[sandbox]` alone above the files: for a resumed run, whose other settings are recorded.
    pub fn sandbox_variables(self, env: &'a Env) -> Sources<'a> {
        Sources { env: Some(env), sandbox_only: true, ..self }
    }

    /// With the flags above everything.
    pub fn flags(self, flags: &'a Flags) -> Sources<'a> {
        Sources { flags: Some(flags), ..self }
    }

    /// With a skill's values below the files, and its promise above everything.
    pub fn skill(self, skill: Option<&'a SkillValues>) -> Sources<'a> {
        Sources { skill, ..self }
    }

    /// The configuration, or the first problem.
    pub fn load(self) -> Result<Config, Problem> {
        let Checked { config, problems, .. } = self.check();
        let count = problems.len();
        match (config, problems.into_iter().next()) {
            (_, Some(problem)) if count > 1 => {
                Err(problem.hint(format!("`ralph config check` lists all {count} problems")))
            }
            (_, Some(problem)) => Err(problem),
            (Some(config), None) => Ok(config),
            (None, None) => Err(Problem::new(Code::Bug, "the configuration cannot be resolved")),
        }
    }

    /// The configuration and everything that is wrong with it.
    pub fn check(self) -> Checked {
        let (mut layers, mut problems, mut files) = (Vec::new(), Vec::new(), Vec::new());
        layers.extend(self.skill.map(SkillValues::below));
        for origin in &self.files {
            let Some(path) = origin.path() else { continue };
            let text = file_text::read(path);
            let exists = !matches!(text, Ok(None));
            files.push(FoundFile { layer: origin.word(), path: path.into(), exists });
            match text {
                Ok(Some(text)) => take(document::read(origin.clone(), &text), &mut layers, &mut problems),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        if let Some(env) = self.env {
            let refused = |layer: &Layer| project_hides::refused(layer, self.workspace, env.home.as_deref());
            problems.extend(layers.iter().flat_map(refused));
            take(variables::layer(env, self.sandbox_only), &mut layers, &mut problems);
        }
        if let Some(flags) = self.flags {
            take(flags.layer(), &mut layers, &mut problems);
        }
        layers.extend(self.skill.map(SkillValues::above));
        if !problems.is_empty() {
            return Checked { config: None, problems, files };
        }
        match Config::of(layers, self.workspace, files.clone()) {
            Ok(config) => Checked { config: Some(config), problems, files },
            Err(problem) => Checked { config: None, problems: vec![problem], files },
        }
    }
}

fn take((layer, wrong): (Layer, Vec<Problem>), layers: &mut Vec<Layer>, problems: &mut Vec<Problem>) {
    layers.push(layer);
    problems.extend(wrong);
}

impl Config {
    /// From layers, the furthest first. The preset that they choose comes below all of them.
    pub(super) fn of(
        mut layers: Vec<Layer>,
        workspace: &Path,
        files: Vec<FoundFile>,
    ) -> Result<Config, Problem> {
        let preset = settings(&resolve(&layers, workspace))?.preset;
        let count =
            layers.iter().filter(|layer| layer.origin.path().is_some() || !layer.entries.is_empty()).count();
        if preset != Preset::Strict {
            layers.insert(0, preset.layer()?);
        }
        let rows = resolve(&layers, workspace);
        Ok(Config { settings: settings(&rows)?, rows, files, layers: count })
    }

    /// One key as it stands.
    pub fn setting(&self, name: &str) -> Option<Setting> {
        let unset = || Some(Setting::built_in(sections::find(name)?, name.into(), String::new()));
        self.rows.iter().find(|row| row.name == name).cloned().or_else(unset)
    }

    /// Whether any layer sets this key.
    pub fn is_set(&self, name: &str) -> bool {
        self.setting(name).is_some_and(|setting| !setting.said.is_empty())
    }

    /// Whether a flag or a variable sets this key.
    pub fn is_typed(&self, name: &str) -> bool {
        self.setting(name).is_some_and(|setting| setting.typed)
    }

    /// Why less is in force than was asked for, key by key.
    pub fn warnings(&self) -> Vec<String> {
        self.rows.iter().filter_map(|row| row.note.clone()).collect()
    }
}

/// Puts every value where its declaration says.
fn settings(rows: &[Setting]) -> Result<Settings, Problem> {
    let mut settings = Settings::default();
    for row in rows {
        let Some(value) = &row.value else { continue };
        let change = row.key.kind.change(value).map_err(|wrong| {
            Problem::new(Code::Bug, format!("the value of {} was accepted but {}", row.name, wrong.what))
        })?;
        change(&mut settings, &At::of(row));
    }
    Ok(settings)
}
