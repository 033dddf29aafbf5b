//! ralph's state in the workspace itself: the home directory as the workspace, a container with a single volume. Nothing
//! of it is taken for work, and undo does not destroy what it restores from.

use crate::bed::{Bed, Done};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// Does nothing, then everything: changes, removes and adds.
const SCRIPT: &str = "[1]\nclaim progress\n[*]\nrun echo agent > old.txt; rm gone.txt; mkdir -p deep/er; \
                      echo new > deep/er/new.txt\nwrite done.txt yes\nclaim complete";
const BEFORE: [(&str, &str); 2] = [("old.txt", "user\n"), ("gone.txt", "still needed\n")];

/// How the state comes to lie in the workspace.
#[derive(Clone, Copy, Debug)]
enum Inside {
    StateHome,
    Home,
    ThroughLink,
}

impl Inside {
    fn command(self, bed: &Bed, mut command: Command) -> Command {
        let workspace = bed.scratch.workspace();
        match self {
            Inside::StateHome => command.env("XDG_STATE_HOME", workspace.join(".state")),
            Inside::Home => {
                command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").env("HOME", workspace)
            }
            Inside::ThroughLink => {
                let link = bed.scratch.root().join("link");
                if !link.exists() {
                    fs::create_dir(workspace.join(".state")).unwrap();
                    symlink(workspace.join(".state"), &link).unwrap();
                }
                command.env("XDG_STATE_HOME", link)
            }
        };
        command
    }

    fn ralph(self, bed: &Bed, args: &[&str]) -> Done {
        Done::of(&mut self.command(bed, bed.ralph(args)))
    }

    fn at(self) -> &'static str {
        if matches!(self, Inside::Home) { ".local/state/ralph" } else { ".state/ralph" }
    }
}

#[test]
fn state_in_the_workspace_is_nobodys_work_and_survives_an_undo() {
    for inside in [Inside::StateHome, Inside::Home, Inside::ThroughLink] {
        let bed = Bed::git(SCRIPT);
        bed.scratch.files(&BEFORE);
        bed.scratch.git(&["add", "-A"]);
        bed.scratch.git(&["commit", "-qm", "Before"]);
        let done = Done::of(&mut inside.command(&bed, bed.run(&["--verify", "test -f done.txt"])));
        assert_eq!(done.ends(0, "gate_passed")["proof"], "proven", "{inside:?}: {}", done.err);
        assert!(done.err.contains(&format!("ralph's state is in this workspace, in {}", inside.at())));
        let seen = done.records("inspected");
        assert_eq!(seen[0]["files"], 0, "{inside:?}: {}", seen[0]);
        assert_eq!(seen[1]["files"], 4, "{inside:?}: {}", seen[1]);
        let kept = bed.scratch.workspace().join(inside.at()).join("keep");
        let content = |path: &str| fs::read_to_string(bed.scratch.workspace().join(path)).ok();
        for (to, old, new) in [("0", "user\n", None), ("2", "agent\n", Some("new\n")), ("0", "user\n", None)]
        {
            let undone = inside.ralph(&bed, &["undo", "--to", to, "--newer-too", "--yes"]);
            assert_eq!(undone.code, 0, "{inside:?}: {}", undone.err);
            assert!(!undone.err.contains("ralph/"), "{inside:?}: {}", undone.err);
            assert_eq!(content("old.txt").as_deref(), Some(old), "{inside:?}");
            assert_eq!(content("deep/er/new.txt").as_deref(), new, "{inside:?}");
            assert_eq!(content("gone.txt").is_some(), to == "0", "{inside:?}");
            assert!(kept.is_dir(), "{inside:?}");
        }
        let doctor = inside.ralph(&bed, &["doctor"]);
        let words = format!("{} is in this workspace", inside.at());
        assert!(doctor.out.contains(&words), "{inside:?}: {}", doctor.out);
    }
}

#[test]
fn verify_leaves_the_state_out_and_its_receipt_stays_valid() {
    let (bed, inside) = (Bed::git(""), Inside::StateHome);
    bed.scratch.files(&[("check.sh", "test -f done.py\n")]);
    bed.scratch.git(&["add", "-A"]);
    bed.scratch.git(&["commit", "-qm", "Before"]);
    bed.scratch.files(&[("done.py", "yes = 1\n")]);
    let verified = inside.ralph(&bed, &["verify", "--base", "HEAD", "--verify", "sh check.sh", "--json"]);
    assert_eq!(verified.code, 0, "{}", verified.err);
    let receipt: serde_json::Value = serde_json::from_str(&verified.out).unwrap();
    assert_eq!((&receipt["filesChanged"], &receipt["verdict"]), (&1.into(), &"proven".into()), "{receipt}");
    let path = bed.scratch.root().join("receipt.json");
    fs::write(&path, &verified.out).unwrap();
    let checked = inside.ralph(&bed, &["verify", "--check", path.to_str().unwrap()]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
}

#[test]
fn a_run_in_the_state_directory_itself_is_refused() {
    let bed = Bed::plain("claim complete");
    let state = bed.scratch.root().join("here/ralph");
    fs::create_dir_all(&state).unwrap();
    let mut command = bed.run(&[]);
    command.current_dir(&state).env("XDG_STATE_HOME", bed.scratch.root().join("here"));
    let done = Done::of(&mut command);
    assert_eq!(done.code, 64, "{}", done.err);
    assert!(done.err.contains("ralph's own state directory"), "{}", done.err);
}
