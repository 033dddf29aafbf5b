//! A first hour: a page of docs/first-hours, typed by somebody who has nothing but a home directory, git's configuration,
//! one agent's CLI and its account. The account's model is scripted.

use super::steady::steady;
use super::transcript::{Transcript, printed};
use crate::cli::{Cli, Setup};
use crate::left::left;
use crate::run::Live;
use crate::server::{Server, free_port};
use ralph_testkit::Scratch;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where readers' homes are, on the pages.
const HOME: &str = "/home/ada";
const GIT: &str = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";

/// A page and who types it.
pub struct Hour {
    /// The page's name.
    pub page: &'static str,
    /// The agent.
    pub cli: &'static Cli,
    /// The directory that the page makes in the home directory.
    pub folder: &'static str,
    /// Whether the agent's user has a subscription, which is limited in its own way, and not a key.
    pub subscriber: bool,
}

impl Hour {
    /// Types the page and compares what is printed. `RALPH_BLESS=1` writes it into the page instead.
    pub fn passes(&self) {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/first-hours/{}.md", self.page));
        let page = std::fs::read_to_string(&path).unwrap();
        let transcript = Transcript::read(&page);
        let now = self.typed(&transcript);
        let (commands, before): (Vec<&str>, Vec<&str>) = transcript.commands().into_iter().unzip();
        assert_eq!(now.len(), commands.len(), "the shell ended early\n{}", now.join(""));
        let (says, prints) = (steady(&before), steady(&now));
        if says == prints {
            return;
        }
        if std::env::var_os("RALPH_BLESS").is_some() {
            return std::fs::write(path, transcript.with_printed(&now)).unwrap();
        }
        let wrong = commands.iter().zip(says.iter().zip(&prints)).find(|(_, (says, prints))| says != prints);
        let (command, (says, prints)) = wrong.expect("a difference");
        let lines = says.lines().zip(prints.lines()).find(|(says, prints)| says != prints);
        panic!(
            "{}: `{command}` should print\n{says}\nbut prints\n{prints}\nThe first difference: {lines:#?}\n\
             RALPH_BLESS=1 writes what is printed into the page",
            self.page
        );
    }

    /// What each command of the page prints. Nothing is left running afterwards.
    fn typed(&self, transcript: &Transcript) -> Vec<String> {
        let scratch = Scratch::new();
        let (home, port) = (scratch.root().join("home"), free_port());
        let _server = Server::start(scratch.root(), &home.join(self.folder), port);
        let scenario = self.page.split_once('-').unwrap().1;
        let url = format!("http://127.0.0.1:{port}/{scenario}");
        let setup = Setup { config: home.join(".config"), home, url };
        let script = scratch.root().join("script");
        std::fs::write(&script, transcript.script()).unwrap();
        let mut shell = self.shell(&scratch, &setup);
        shell.arg(&script);
        let done = Live::of(shell, scratch.root()).end();
        let left = left(scratch.root(), &setup.home.join(".local/state"));
        assert!(left.is_empty(), "left running: {left:#?}\n{}", done.out());
        printed(&self.as_ada_sees_it(done.out(), &setup.home))
    }

    fn shell(&self, scratch: &Scratch, setup: &Setup) -> Command {
        setup.write(&setup.home.join(".gitconfig"), GIT);
        let bin = scratch.root().join("bin");
        for dir in [&bin, &scratch.root().join("tmp")] {
            std::fs::create_dir(dir).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_ralph"), bin.join("ralph")).unwrap();
        let mut shell = scratch.command("bash");
        // Readers have the sandbox that every run has.
        shell.env_remove("RALPH_SANDBOX");
        shell.current_dir(&setup.home).envs((self.cli.configure)(setup));
        shell.env("PATH", format!("{}:{}", bin.display(), self.cli.path()));
        shell.env("TMPDIR", scratch.root().join("tmp"));
        for (name, dir) in
            [("CONFIG", ".config"), ("CACHE", ".cache"), ("DATA", ".local/share"), ("STATE", ".local/state")]
        {
            shell.env(format!("XDG_{name}_HOME"), setup.home.join(dir));
        }
        if let (true, Some((key, token))) = (self.subscriber, self.cli.limited.instead) {
            shell.env_remove(key).env(token, "test-token-0123456789");
        }
        shell.env("CARGO_NET_OFFLINE", "true").envs(rust());
        shell
    }

    /// The paths of this test are those of the reader's machine.
    fn as_ada_sees_it(&self, text: &str, home: &Path) -> String {
        let text = text.replace(&home.display().to_string(), HOME);
        let bin = PathBuf::from(self.cli.path().split(':').next().unwrap());
        text.replace(&bin.display().to_string(), "/usr/local/bin")
    }
}

/// Where rustup and cargo are, which they look for in the home directory otherwise.
fn rust() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let own = std::env::home_dir().unwrap_or_default();
    [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")]
        .into_iter()
        .map(move |(name, dir)| (name, std::env::var_os(name).map_or_else(|| own.join(dir), PathBuf::from)))
}
