//! Plays attacks: those of a family in as few boxes as they need, and controls one by one.

use crate::attack::{Attack, Control, Who};
use crate::attack_box::{Asked, AttackBox};
use crate::outcome::Outcome;
use crate::scene::{Scene, is_root};
use ralph_sandbox::{Backend, Plan};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Boxes of one test at a time: some attacks wait.
const AT_ONCE: usize = 3;

/// What stands between an attack and the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Around {
    Nothing,
    /// Mounts alone, in a user namespace whose capabilities are kept.
    WeakBox,
    Box(Backend),
}

/// bubblewrap of this machine. Without it the backend was not tested, which must be seen.
pub fn bwrap() -> Backend {
    Backend::Bwrap(ralph_sandbox::system_bwrap().expect("bubblewrap is installed"))
}

/// Waits for it to end; one that does not is killed and `None`.
pub fn wait(child: &mut Child, most: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if start.elapsed() > most {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Plays each attack as this user; all that went wrong is told at once. `RALPH_ATTACK` selects by name.
pub fn all(attacks: Vec<Attack>, who: Who, around: &Around) {
    if who != Who::User && !is_root() {
        return ralph_testkit::skip("only root can attack as root");
    }
    let only = std::env::var("RALPH_ATTACK").unwrap_or_default();
    assert!(!attacks.is_empty());
    let attacks = attacks.into_iter().filter(|attack| attack.name.contains(&only)).collect();
    let wrong = wrong(attacks, who, around);
    assert!(wrong.is_empty(), "{who:?}, {around:?}:\n{}", wrong.join("\n"));
}

/// Plays each attack as this user; what went wrong.
pub fn wrong(attacks: Vec<Attack>, who: Who, around: &Around) -> Vec<String> {
    let attacks = attacks.into_iter().filter(|attack| (attack.only)(who)).collect();
    let groups = Mutex::new(VecDeque::from(groups(attacks, around)));
    let wrong = Mutex::new(Vec::new());
    let play = || {
        loop {
            let Some(group) = groups.lock().unwrap().pop_front() else { break };
            let found: Vec<String> = match around {
                Around::Box(_) => held(group, who, around),
                _ => group.iter().filter_map(|attack| works(attack, who).err()).collect(),
            };
            wrong.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(play))));
    wrong.into_inner().unwrap()
}

/// Those that share a box; without one each does its damage alone.
fn groups(attacks: Vec<Attack>, around: &Around) -> Vec<VecDeque<Attack>> {
    let mut groups: Vec<VecDeque<Attack>> = Vec::new();
    for attack in attacks {
        match groups.last_mut() {
            Some(group)
                if matches!(around, Around::Box(_)) && group.iter().all(|it| it.goes_with(&attack)) =>
            {
                group.push_back(attack);
            }
            _ => groups.push(VecDeque::from([attack])),
        }
    }
    groups
}

/// The sandbox must hold them all. Each error names its attack.
fn held(mut group: VecDeque<Attack>, who: Who, around: &Around) -> Vec<String> {
    let mut wrong = Vec::new();
    while let Some(first) = group.front() {
        let mut game = AttackBox::new(first, who, around);
        let mut played: Vec<(Attack, Outcome)> = Vec::new();
        while let Some(attack) = group.pop_front() {
            match game.play(&attack) {
                Asked::Played(outcome) => {
                    let go_on = outcome.left_all_as_it_was();
                    played.push((attack, outcome));
                    if !go_on {
                        break;
                    }
                    game.restore();
                }
                Asked::Stale => {
                    group.push_front(attack);
                    break;
                }
            }
        }
        let (left, said) = game.end();
        let names = || played.iter().map(|(attack, _)| attack.name).collect::<Vec<_>>().join(", ");
        wrong.extend(left.into_iter().map(|left| format!("{}: NOT HELD: {left}", names())));
        for (attack, outcome) in &played {
            let judged = outcome.was_held(attack, who).err();
            wrong.extend(judged.map(|why| format!("{}: {why} ({said})", attack.name)));
        }
    }
    wrong
}

/// Every control as every user, as long campaigns have it.
fn full() -> bool {
    std::env::var_os("RALPH_ATTACKS").is_some_and(|value| value == "full")
}

/// It must do damage where nothing holds it. What works for a user works for root as well, so root plays only what users
/// cannot do.
fn works(attack: &Attack, who: Who) -> Result<(), String> {
    let shown_as_user = (attack.only)(Who::User) && attack.control != Control::BareRoot;
    let around = match attack.control {
        _ if who != Who::User && shown_as_user && !full() => return Ok(()),
        Control::Bare => Around::Nothing,
        Control::BareRoot if who != Who::User => Around::Nothing,
        Control::WeakBox => Around::WeakBox,
        Control::BareRoot | Control::None(_) => return Ok(()),
    };
    let mut game = AttackBox::new(attack, who, &around);
    let Asked::Played(mut outcome) = game.play(attack) else {
        return Err(format!("{}: the world changed before it was played", attack.name));
    };
    let (left, said) = game.end();
    outcome.damage.extend(left);
    outcome.worked().map_err(|why| format!("{}: {why} ({said})", attack.name))
}

/// Writes the plan where the runner reads it.
pub fn write_plan(scene: &Scene, plan: &Plan) -> PathBuf {
    let path = scene.base().join("plan.json");
    scene.write(&path, &serde_json::to_string(plan).unwrap());
    scene.give(&path);
    path
}

/// What protects by mounts alone, as a shell script that then runs its arguments.
pub fn weak_box(scene: &Scene) -> String {
    let plan = scene.plan(Backend::Namespaces);
    let lines = plan.mounts.iter().map(|mount| match mount {
        ralph_sandbox::Mount::Protect(path) => {
            let path = path.display();
            format!("mount --bind {path} {path}; mount -o remount,bind,ro {path}; ")
        }
        ralph_sandbox::Mount::Hide(path) if path.is_dir() => {
            format!("mount -t tmpfs none {}; ", path.display())
        }
        ralph_sandbox::Mount::Hide(path) => format!("mount --bind /dev/null {}; ", path.display()),
        _ => String::new(),
    });
    format!("set -e; {} exec \"$@\"", lines.collect::<String>())
}
