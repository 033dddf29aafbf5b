//! Where one case runs: a repository, a home with the CLI's configuration as a user would have it, the model server, and
//! the user who runs it all.

use crate::cli::{Cli, Setup};
use crate::left::left;
use crate::run::{Done, Live, until};
use crate::server::{Server, free_port};
use ralph_testkit::Scratch;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The task; the scripted model knows what to do.
const TASK: &str = "Write hello into greeting.txt.";
/// What proves it.
const VERIFY: &str = "grep -qx hello greeting.txt";
/// The ordinary user that stands in where the tests run as root.
const NOBODY: u32 = 65534;

/// Who runs ralph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// Whoever runs the tests.
    Ours,
    /// Somebody without privileges.
    Ordinary,
}

/// A case's surroundings.
pub struct Place {
    scratch: Scratch,
    cli: &'static Cli,
    env: Vec<(&'static str, String)>,
    ralph: PathBuf,
    drops: bool,
    port: u16,
    server: Option<Server>,
}

impl Place {
    /// With a server that plays this scenario.
    pub fn new(cli: &'static Cli, scenario: &str) -> Place {
        Place::of(cli, scenario, User::Ours)
    }

    /// The same, for this user.
    pub fn of(cli: &'static Cli, scenario: &str, user: User) -> Place {
        let mut place = Place::without_server(cli, scenario, user);
        place.start_server();
        place
    }

    /// Where nobody listens.
    pub fn without_server(cli: &'static Cli, scenario: &str, user: User) -> Place {
        let scratch = Scratch::git_repo();
        let port = free_port();
        let at = |name: &str| scratch.root().join(name);
        // Codex does not work with a home below the directory for temporary files, so that one is the case's own too.
        for name in ["tmp", "cache", "data"] {
            fs::create_dir(at(name)).unwrap();
        }
        let setup = Setup {
            home: at("home"),
            config: at("config"),
            url: format!("http://127.0.0.1:{port}/{scenario}"),
        };
        let mut env = (cli.configure)(&setup);
        for (name, dir) in [("TMPDIR", "tmp"), ("XDG_CACHE_HOME", "cache"), ("XDG_DATA_HOME", "data")] {
            env.push((name, at(dir).display().to_string()));
        }
        env.push(("PATH", cli.path()));
        let drops = user == User::Ordinary && is_root();
        let ralph = if drops { reachable(&scratch) } else { env!("CARGO_BIN_EXE_ralph").into() };
        let place = Place { scratch, cli, env, ralph, drops, port, server: None };
        if drops {
            let owner = format!("{NOBODY}:{NOBODY}");
            let done = Command::new("chown").args(["-R", &owner]).arg(place.scratch.root()).status();
            assert!(done.unwrap().success());
        }
        place
    }

    /// Somebody listens now.
    pub fn start_server(&mut self) {
        self.server = Some(Server::start(self.scratch.root(), &self.scratch.workspace(), self.port));
    }

    /// The model server.
    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Another variable for the CLI, as a user would export it.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.env.push((name, value.to_owned()));
    }

    /// And one that is not exported.
    pub fn unset(&mut self, name: &str) {
        self.env.retain(|(set, _)| *set != name);
    }

    /// `ralph run` with this CLI.
    pub fn start(&self, flags: &[&str]) -> Live {
        let mut command = self.ralph(&["run", TASK, "--agent", self.cli.name, "--json"]);
        command.args(["--verify", VERIFY, "--timeout", "4m"]).args(flags);
        for (flag, value) in [("--max-iterations", "4"), ("--max-cost", "5")] {
            if !flags.contains(&flag) {
                command.args([flag, value]);
            }
        }
        Live::of(command, self.scratch.root())
    }

    /// The same, to its end; nothing is left running then.
    pub fn run(&self, flags: &[&str]) -> Done {
        let done = self.start(flags).end();
        self.nobody_is_left(&done);
        done
    }

    /// `ralph resume`, to its end.
    pub fn resume(&self) -> Done {
        let done = Live::of(self.ralph(&["resume", "--json"]), self.scratch.root()).end();
        self.nobody_is_left(&done);
        done
    }

    /// `ralph replay`: the journal decides the same again.
    #[track_caller]
    pub fn replays(&self) {
        let done = Live::of(self.ralph(&["replay"]), self.scratch.root()).end();
        assert_eq!(done.code, 0, "replay\n{}", done.story());
    }

    fn ralph(&self, args: &[&str]) -> Command {
        let mut command = if self.drops {
            let mut command = self.scratch.command("setpriv");
            let (uid, gid) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
            command.args([&uid, &gid, "--clear-groups", "--"]).arg(&self.ralph);
            command
        } else {
            self.scratch.command(&self.ralph)
        };
        command.args(args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// When ralph has ended by itself, nobody whom it started is alive any more.
    #[track_caller]
    pub fn nobody_is_left(&self, done: &Done) {
        let left = left(self.scratch.root(), &self.scratch.state());
        assert!(left.is_empty(), "left running: {left:#?}\n{}", done.story());
    }

    /// When ralph was killed, the same soon.
    pub fn nobody_will_be_left(&self) {
        until("the end of everything ralph started", || {
            left(self.scratch.root(), &self.scratch.state()).is_empty().then_some(())
        });
    }

    /// A process with these words in its command line is at work for the case.
    pub fn somebody_runs(&self, words: &str) {
        until(words, || {
            let running = left(self.scratch.root(), &self.scratch.state());
            running.iter().any(|line| line.contains(words)).then_some(())
        });
    }

    /// The file is owned by the user who was to run ralph.
    pub fn is_its_users(&self, name: &str) -> bool {
        let ours = rustix::process::geteuid().as_raw();
        self.file(name).metadata().unwrap().uid() == if self.drops { NOBODY } else { ours }
    }

    /// A path in the workspace.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.workspace().join(name)
    }

    /// The content of a file of the workspace.
    pub fn read(&self, name: &str) -> String {
        self.scratch.read(name)
    }

    /// The repository.
    pub fn git(&self, args: &[&str]) -> String {
        self.scratch.git(args)
    }
}

/// Root of the whole machine; in a user namespace of one user nobody else can be stood in for.
fn is_root() -> bool {
    let everybody = fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| map.contains("4294967295"));
    rustix::process::geteuid().is_root() && everybody
}

/// A copy of the binary where every user can start it; the build's may lie below a private directory.
fn reachable(scratch: &Scratch) -> PathBuf {
    let copy = scratch.root().join("ralph");
    fs::copy(Path::new(env!("CARGO_BIN_EXE_ralph")), &copy).unwrap();
    copy
}
