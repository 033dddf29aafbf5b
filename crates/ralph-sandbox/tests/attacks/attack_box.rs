//! A world with a box in it, or without one, in which attacks are played one after the other. Building a world, a box and a
//! Python costs more than any attack, so those that do not disturb each other share them: each is judged when it is over, and
//! the workspace is restored before the next one.

use crate::attack::{Attack, Who};
use crate::judge::{end_processes_of, processes_of, remove_left, workspace_damage, written_elsewhere};
use crate::look::{Tree, differences, look, restore};
use crate::outcome::Outcome;
use crate::play::{Around, wait, weak_box, write_plan};
use crate::scene::{Scene, runner};
use crate::victim::Victim;
use serde_json::json;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// An attack that is not over after this long is ended.
const LONGEST: Duration = Duration::from_secs(90);

/// The victim is dropped before the scene: it writes into it.
pub struct AttackBox {
    victim: Option<Victim>,
    scene: Scene,
    who: Who,
    child: Child,
    names: Option<ChildStdin>,
    answers: Receiver<String>,
    /// The workspace before any attack.
    workspace: Tree,
    played: usize,
    /// How often the list of processes is looked at in the end.
    looks: u32,
    /// How long whoever is left in the end may take to die.
    patience: Duration,
}

/// What came of asking for an attack.
pub enum Asked {
    /// It was played.
    Played(Outcome),
    /// An earlier one changed this world, so that it must be played in another.
    Stale,
}

impl AttackBox {
    /// A new world, for this attack and those that go with it.
    pub fn new(attack: &Attack, who: Who, around: &Around) -> AttackBox {
        let scene = Scene::new(who);
        let victim = attack.victim.then(|| Victim::start(&scene));
        scene.write(&scene.evidence("prelude.py"), include_str!("prelude.py"));
        let facts = json!({
            "id": scene.id,
            "base": scene.base(),
            "home": scene.home(),
            "workspace": scene.workspace(),
            "pid_namespace": fs::read_link("/proc/self/ns/pid").unwrap(),
            "victim": victim.as_ref().map(|victim| victim.facts.clone()),
        });
        scene.write(&scene.evidence("facts.json"), &facts.to_string());
        scene.give(&scene.workspace().join("attack"));
        if let Some(before) = attack.before {
            before(&scene);
        }
        let stderr = File::create(scene.base().join("notes/stderr")).unwrap();
        let mut command = command(&scene, attack, around);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut workspace = Tree::new();
        look(&scene.workspace(), &[scene.evidence("")], &mut workspace);
        let mut child = command.spawn().unwrap();
        let (names, answers) = (child.stdin.take(), lines(child.stdout.take().unwrap()));
        // With a sandbox they are dead when the runner has ended; the wait is for a machine under load.
        let patience = Duration::from_millis(if matches!(around, Around::Box(_)) { 2000 } else { 100 });
        AttackBox { victim, scene, who, child, names, answers, workspace, played: 0, looks: 1, patience }
    }

    /// Plays an attack.
    pub fn play(&mut self, attack: &Attack) -> Asked {
        self.played += 1;
        self.looks = self.looks.max(attack.looks);
        let name = self.played.to_string();
        let dir = self.scene.evidence(&name);
        self.scene.write(&dir.join("attack.py"), attack.code);
        self.scene.give(&dir);
        let before = self.scene.look();
        // Nobody reads it where the one who played the earlier attacks is gone.
        let _ = self.names.as_mut().unwrap().write_all(format!("{name}\n").as_bytes());
        let answer = self.answers.recv_timeout(LONGEST);
        if answer.as_deref() == Ok("stale") {
            return Asked::Stale;
        }
        let mut outcome = Outcome::read(&dir, answer.is_ok());
        outcome.damage.extend(differences(&before, &self.scene.look()));
        outcome.damage.extend(workspace_damage(&self.scene));
        outcome.damage.extend(written_elsewhere(&self.scene));
        outcome.damage.extend(self.victim.as_mut().into_iter().flat_map(Victim::damage));
        remove_left(&self.scene);
        Asked::Played(outcome)
    }

    /// Makes the workspace what it was before the last attack.
    pub fn restore(&mut self) {
        let _ = fs::remove_dir_all(self.scene.evidence(&self.played.to_string()));
        let (workspace, skip) = (self.scene.workspace(), [self.scene.evidence("")]);
        self.workspace = restore(&workspace, &skip, std::mem::take(&mut self.workspace));
    }

    /// Lets it end; whoever outlived it is damage, and ended. What the runner said comes second.
    pub fn end(mut self) -> (Vec<String>, String) {
        drop(self.names.take());
        let status = wait(&mut self.child, LONGEST);
        let damage = self.survivors();
        let said = fs::read_to_string(self.scene.base().join("notes/stderr")).unwrap_or_default();
        let status = status.map_or("it did not end".to_string(), |status| status.to_string());
        (damage, format!("{:?}: {status}; {}", self.who, said.trim()))
    }

    /// Whoever was left running, after some time for the kernel to end them. They are ended.
    fn survivors(&self) -> Vec<String> {
        let start = Instant::now();
        let token = token(&self.scene);
        loop {
            if (0..self.looks).all(|_| processes_of(&token).is_empty()) {
                return Vec::new();
            }
            if start.elapsed() > self.patience {
                return vec![format!("{} processes were left", end_processes_of(&token))];
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// In the arguments of the runner, the attack and whatever it forks.
fn token(scene: &Scene) -> String {
    format!("survivor-{}", scene.id)
}

/// The lines of a stream as they come; it ends with the stream.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (to, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| to.send(line))
    });
    lines
}

fn command(scene: &Scene, attack: &Attack, around: &Around) -> Command {
    let mut line: Vec<PathBuf> = match around {
        Around::Nothing => Vec::new(),
        Around::WeakBox => ["unshare", "-Urm", "sh", "-c"].map(PathBuf::from).to_vec(),
        Around::Box(backend) => {
            let mut plan = scene.plan(backend.clone());
            (attack.plan)(&mut plan);
            vec![runner().into(), "run".into(), write_plan(scene, &plan), scene.workspace()]
        }
    };
    if *around == Around::WeakBox {
        line.extend([weak_box(scene).into(), "sh".into()]);
    }
    line.extend([Path::new("python3"), Path::new("-IS")].map(PathBuf::from));
    line.extend([scene.evidence("prelude.py"), token(scene).into()]);
    let mut command = scene.command("sh");
    // Descriptors of a hidden directory and of a start file, left open for whoever comes next.
    let opened =
        if attack.descriptors { "exec 5<\"$HOME/.ssh\" 6>>\"$HOME/.bashrc\" 7<\"$HOME\"; " } else { "" };
    command.args(["-c", &format!("{opened}exec \"$@\""), "sh"]).args(line);
    command
}
