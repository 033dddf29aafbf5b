//! Where skills are: `.ralph/skills`, `.claude/skills` and `.agents/skills` of the workspace, then those of the home
//! directory, then ralph's own. The first of a name wins, even if it is broken: another one in its place would be a
//! surprise.

use super::built_in::{BUILT_IN, built_in};
use super::document::is_name;
use super::skill::Skill;
use crate::config::read_text;
use crate::env::Env;
use crate::nearest::nearest;
use crate::problem::{Code, Problem};
use std::path::{Path, PathBuf};

/// Where skills are in a workspace or a home directory, the first first.
pub const DIRECTORIES: [&str; 3] = [".ralph/skills", ".claude/skills", ".agents/skills"];
/// The file of a skill.
pub const FILE: &str = "SKILL.md";
/// Skills of one directory, at most: more are somebody's mistake.
const MOST: usize = 1_000;

/// Whose skill it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The workspace's.
    Project,
    /// The user's.
    User,
    /// Ralph's.
    BuiltIn,
}

impl Source {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Source::Project => "project",
            Source::User => "user",
            Source::BuiltIn => "built-in",
        }
    }
}

/// A skill that was found, not read yet.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name of its directory.
    pub name: String,
    /// Whose it is.
    pub source: Source,
    /// Its file; none for ralph's own.
    pub path: Option<PathBuf>,
}

impl Found {
    /// Its SKILL.md.
    pub fn text(&self) -> Result<String, Problem> {
        let Some(path) = &self.path else {
            let own = built_in(&self.name).map(|skill| skill.text.to_owned());
            return own.ok_or_else(|| Problem::new(Code::Bug, format!("no built-in skill {}", self.name)));
        };
        let input = |problem| Problem { code: Code::Input, ..problem };
        let gone = || Problem::new(Code::Input, format!("{} does not exist any more", path.display()));
        read_text(path).map_err(input)?.ok_or_else(gone)
    }

    /// Its file as messages name it.
    pub fn shown(&self) -> PathBuf {
        self.path.clone().unwrap_or_else(|| PathBuf::from(format!("built-in/{}/{FILE}", self.name)))
    }
}

/// The directories that are searched, in order.
pub fn directories(workspace: &Path, home: Option<&Path>) -> Vec<(Source, PathBuf)> {
    let below = |source: Source, top: &Path| DIRECTORIES.map(|dir| (source, top.join(dir)));
    let users = home.filter(|home| *home != workspace).map(|home| below(Source::User, home));
    below(Source::Project, workspace).into_iter().chain(users.into_iter().flatten()).collect()
}

/// Every skill, in the order of precedence: the first of a name is in force, the others are shadowed.
pub fn all(workspace: &Path, env: &Env) -> Vec<Found> {
    let mut found = Vec::new();
    for (source, dir) in directories(workspace, env.home.as_deref()) {
        let mut names: Vec<String> = std::fs::read_dir(&dir)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.') && exists(&dir.join(name).join(FILE)))
            .take(MOST)
            .collect();
        names.sort();
        let path = |name: &str| Some(dir.join(name).join(FILE));
        found.extend(names.into_iter().map(|name| Found { path: path(&name), source, name }));
    }
    let own = |name: &str| Found { name: name.into(), source: Source::BuiltIn, path: None };
    found.extend(BUILT_IN.iter().map(|skill| own(skill.name)));
    found
}

/// The skill of this name that is in force, not read yet.
pub fn locate(name: &str, workspace: &Path, env: &Env) -> Option<Found> {
    if !is_name(name) {
        return all(workspace, env).into_iter().find(|found| found.name == name);
    }
    let mut places = directories(workspace, env.home.as_deref()).into_iter();
    let placed = places.find_map(|(source, dir)| {
        let path = dir.join(name).join(FILE);
        exists(&path).then(|| Found { name: name.into(), source, path: Some(path) })
    });
    let own = || Found { name: name.into(), source: Source::BuiltIn, path: None };
    placed.or_else(|| built_in(name).map(|_| own()))
}

/// The skill of this name: in force, read and valid. An error has the nearest name, or the first thing that is wrong.
pub fn find(name: &str, workspace: &Path, env: &Env) -> Result<Skill, Problem> {
    let found = locate(name, workspace, env).ok_or_else(|| unknown(name, workspace, env))?;
    Skill::read(&found).map_err(|problems| {
        let count = problems.len();
        let first = problems.into_iter().next();
        let first = first.unwrap_or_else(|| Problem::new(Code::Bug, format!("cannot read the skill {name}")));
        match count {
            0 | 1 => first,
            _ => first.hint(format!("`ralph skills check {name}` lists all {count} problems")),
        }
    })
}

/// There is no skill of this name.
pub fn unknown(name: &str, workspace: &Path, env: &Env) -> Problem {
    let all = all(workspace, env);
    let problem = Problem::new(Code::Usage, format!("unknown skill `{name}`"));
    let problem = match nearest(name, all.iter().map(|found| found.name.as_str())) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    };
    let hint =
        format!("`ralph skills list` shows all skills; to add one, write {}/NAME/{FILE}", DIRECTORIES[0]);
    problem.hint(hint)
}

/// A link that leads nowhere is somebody's skill, too, and is reported when it is read.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
