//! Where one case runs: a repository, a home with the CLI's configuration as a user would have it, the model server, and
//! the user who runs it all.

use crate::cli::{Cli, Setup};
use crate::left::left;
use crate::run::{Done, Live, until};
use crate::server::{LOOPBACK, Server, free_port};
use ralph_testkit::{Refused, Scratch, on_older_kernel};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    setup: Setup,
    env: Vec<(&'static str, String)>,
    ralph: PathBuf,
    drops: bool,
    refused: Option<Refused>,
    host: &'static str,
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
        Place::without_server_at(LOOPBACK, cli, scenario, user)
    }

    /// The same, for a server at another address of loopback.
    pub fn without_server_at(host: &'static str, cli: &'static Cli, scenario: &str, user: User) -> Place {
        let scratch = Scratch::git_repo();
        let port = free_port();
        let at = |name: &str| scratch.root().join(name);
        // Codex does not work with a home below the directory for temporary files, so that one is the case's own too.
        for name in ["tmp", "cache", "data"] {
            fs::create_dir(at(name)).unwrap();
        }
        let setup =
            Setup { home: at("home"), config: at("config"), url: format!("http://{host}:{port}/{scenario}") };
        let mut env = (cli.configure)(&setup);
        for (name, dir) in [("TMPDIR", "tmp"), ("XDG_CACHE_HOME", "cache"), ("XDG_DATA_HOME", "data")] {
            env.push((name, at(dir).display().to_string()));
        }
        env.push(("PATH", cli.path()));
        let drops = user == User::Ordinary && can_become(NOBODY);
        let ralph = if drops { reachable(&scratch) } else { env!("CARGO_BIN_EXE_ralph").into() };
        let place = Place { scratch, cli, setup, env, ralph, drops, refused: None, host, port, server: None };
        place.give_away();
        place
    }

    /// Everything of the case belongs to the user who runs ralph.
    fn give_away(&self) {
        if self.drops {
            let owner = format!("{NOBODY}:{NOBODY}");
            let done = Command::new("chown").args(["-R", &owner]).arg(self.scratch.root()).status();
            assert!(done.unwrap().success());
        }
    }

    /// Another CLI that the user has as well.
    pub fn add(&mut self, cli: &Cli) {
        self.env.extend((cli.configure)(&self.setup));
        let both = std::env::join_paths(
            cli.directories().into_iter().chain(std::env::split_paths(&self.variable("PATH"))),
        );
        self.env.push(("PATH", both.unwrap().into_string().unwrap()));
        self.give_away();
    }

    /// The user's settings of ralph.
    pub fn config(&self, text: &str) {
        self.setup.write(&self.setup.config.join("ralph/config.toml"), text);
        self.give_away();
    }

    /// A file of the user's home directory.
    pub fn home_file(&self, name: &str, text: &str) {
        self.setup.write(&self.setup.home.join(name), text);
        self.give_away();
    }

    /// ralph runs where the kernel refuses this.
    pub fn refuse(&mut self, refused: Option<Refused>) {
        self.refused = refused;
    }

    /// Somebody listens now.
    pub fn start_server(&mut self) {
        self.server = Some(Server::start_at(self.host, self.port, self.root(), &self.scratch.workspace()));
    }

    /// The model server.
    pub fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Everything that was sent to the model server.
    pub fn requests(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.scratch.root().join("bodies")).unwrap()).into_owned()
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
        let mut command = self.ralph(&["run", TASK, "--agent", self.cli.info.name, "--json"]);
        command.args(["--verify", VERIFY, "--timeout", "4m"]);
        for (flag, value) in [("--max-iterations", "4"), ("--max-cost", "5")] {
            if !flags.contains(&flag) {
                command.args([flag, value]);
            }
        }
        command.args(flags);
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

    /// Where everything of the case is.
    pub fn root(&self) -> &Path {
        self.scratch.root()
    }

    /// A program with the case's environment, such as the CLI itself, from the case's own path.
    pub fn program(&self, program: &str, args: &[&str]) -> Command {
        let path = self.variable("PATH");
        let found = std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.exists());
        let mut command = self.scratch.command(found.unwrap_or_else(|| program.into()));
        command.args(args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The variable as the case has it.
    pub fn variable(&self, name: &str) -> String {
        self.env
            .iter()
            .rev()
            .find(|(set, _)| *set == name)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    }

    /// Any command of ralph's.
    pub fn ralph(&self, args: &[&str]) -> Command {
        let mut program = Command::new(&self.ralph);
        if self.drops {
            program = as_user(NOBODY, Command::new("setpriv"));
            program.arg(&self.ralph);
        }
        if let Some(refused) = self.refused {
            // Before the user changes, who may not be allowed to run this python.
            let mut older = on_older_kernel(refused, program.get_program());
            older.args(program.get_args());
            program = older;
        }
        let mut command = self.scratch.command(program.get_program());
        command.args(program.get_args());
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

/// Only root can, and not in a user namespace of its own. Who cannot is an ordinary user.
fn can_become(user: u32) -> bool {
    as_user(user, Command::new("setpriv"))
        .arg("true")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// `setpriv` as another user; what it is to run comes next.
fn as_user(user: u32, mut setpriv: Command) -> Command {
    setpriv.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).args(["--clear-groups", "--"]);
    setpriv
}

/// A copy of the binary where every user can start it; the build's may lie below a private directory.
fn reachable(scratch: &Scratch) -> PathBuf {
    let copy = scratch.root().join("ralph");
    fs::copy(Path::new(env!("CARGO_BIN_EXE_ralph")), &copy).unwrap();
    copy
}
