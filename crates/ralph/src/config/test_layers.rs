//! A workspace, a user's config home, a system's file, variables and flags, for tests of all layers.

use super::{Checked, Config, Flags, Key, Section, Sources, find};
use crate::config::key::Shape;
use crate::env::Env;
use crate::problem::Problem;
use clap::{Args, Command, FromArgMatches};
use std::path::{Path, PathBuf};

/// Every layer that a key can be set in, the furthest first.
pub const LAYERS: [&str; 6] = ["system", "user", "project", "local", "environment", "flag"];

/// All layers, empty at first.
pub struct Layers {
    dir: tempfile::TempDir,
    env: Env,
    flags: Vec<String>,
}

impl Layers {
    /// Nothing is set.
    pub fn new() -> Layers {
        let layers =
            Layers { dir: tempfile::tempdir().unwrap(), env: Env::default(), flags: vec!["run".into()] };
        std::fs::create_dir_all(layers.workspace()).unwrap();
        std::fs::create_dir_all(layers.dir.path().join("home/ralph")).unwrap();
        layers
    }

    /// With these files.
    pub fn with(files: &[(&str, &str)]) -> Layers {
        let layers = Layers::new();
        for (layer, text) in files {
            std::fs::write(layers.path(layer), text).unwrap();
        }
        layers
    }

    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    fn path(&self, layer: &str) -> PathBuf {
        match layer {
            "system" => self.dir.path().join("system.toml"),
            "user" => self.dir.path().join("home/ralph/config.toml"),
            "project" => self.workspace().join("ralph.toml"),
            "local" => self.workspace().join("ralph.local.toml"),
            other => panic!("{other} is not a file"),
        }
    }

    /// Sets a key in a layer; false where the layer has no way to set it.
    pub fn set(&mut self, layer: &str, key: &'static Key, value: &str) -> bool {
        match (layer, key.flag) {
            ("environment" | "flag", None) => return false,
            ("environment", _) => {
                self.env.settings.insert(key.variable().unwrap(), typed(value));
            }
            ("flag", Some(flag)) => self.flags.extend([flag.name.to_string(), typed(value)]),
            (file, _) => std::fs::write(self.path(file), in_file(key, value)).unwrap(),
        }
        true
    }

    pub fn flag(&mut self, name: &str, value: &str) {
        self.flags.extend([name.to_string(), value.to_string()]);
    }

    pub fn load(&self) -> Result<Config, Problem> {
        self.sources(&self.parsed(), |sources| sources.load())
    }

    /// As `ralph resume` loads it.
    pub fn load_resumed(&self) -> Result<Config, Problem> {
        let (workspace, home) = (self.workspace(), self.dir.path().join("home"));
        let system: &Path = &self.path("system");
        Sources::at(&workspace, system, Some(&home)).sandbox_variables(&self.env).load()
    }

    pub fn check(&self) -> Checked {
        self.sources(&self.parsed(), |sources| sources.check())
    }

    fn parsed(&self) -> Flags {
        let matches = Flags::augment_args(Command::new("run")).try_get_matches_from(&self.flags);
        Flags::from_arg_matches(&matches.unwrap_or_else(|e| panic!("{:?}: {e}", self.flags))).unwrap()
    }

    fn sources<T>(&self, flags: &Flags, then: impl Fn(Sources<'_>) -> T) -> T {
        let (workspace, home) = (self.workspace(), self.dir.path().join("home"));
        let system: &Path = &self.path("system");
        then(Sources::at(&workspace, system, Some(&home)).variables(&self.env).flags(flags))
    }
}

/// A value as it is typed: without quotes, a list of one as its item.
fn typed(value: &str) -> String {
    value.trim_matches(['[', ']', '"']).to_string()
}

/// The section of a key.
pub fn section_of(key: &Key) -> &'static Section {
    let name = key.section();
    super::SECTIONS.iter().find(|section| section.name == name).unwrap()
}

/// The name of the row that a key has in these tests.
pub fn row_name(key: &Key) -> String {
    match section_of(key).shape {
        Shape::Table => key.name.into(),
        Shape::List => format!("{}.1.{}", key.parts().0, key.parts().1),
        Shape::PerAgent => key.name.replace('*', "claude"),
        Shape::PerModel => key.name.replace('*', "sonnet"),
    }
}

/// A file that sets this key, and what must be set with it. The key is on line 3, or 2 at the top level.
pub fn in_file(key: &Key, value: &str) -> String {
    let section = section_of(key);
    let own = key.parts().1;
    let heading = section.heading().replace("NAME", "claude").replace("MODEL", "sonnet");
    let others = match (section.shape, own) {
        (Shape::List, "secret_file" | "format" | "allow_private") => {
            "webhook = \"https://example.org/ralph\"\n"
        }
        (Shape::List, "command") if section.name == "notify.to" => "",
        (Shape::PerModel, "input") => "output = 1\n",
        (Shape::PerModel, "output") => "input = 1\n",
        (Shape::PerModel, _) => "input = 1\noutput = 1\n",
        (Shape::List, "name") if section.name == "pattern" => "phrases = [\"a\"]\nmeans = \"done\"\n",
        (Shape::List, "phrases") => "name = \"a\"\nmeans = \"done\"\n",
        (Shape::List, "means") => "name = \"a\"\nphrases = [\"a\"]\n",
        (Shape::List, "name") if section.name == "analyzer" => "command = \"true\"\n",
        (Shape::List, "command") => "name = \"a\"\n",
        (Shape::List, _) if section.name == "analyzer" => "name = \"a\"\ncommand = \"true\"\n",
        _ => "",
    };
    let heading = if section.name.is_empty() { String::new() } else { format!("{heading}\n") };
    assert!(find(key.name).is_some());
    format!("# a comment\n{heading}{own} = {value}\n{others}")
}
