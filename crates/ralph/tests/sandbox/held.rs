//! What an honest agent can do in its sandbox, and what no agent can.

use crate::place::{HELD, Place, everybody};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

#[test]
fn an_honest_run_is_contained_and_proven() {
    for who in everybody() {
        let place = Place::new(who);
        let agent = "echo \"print('work')\" > app.py; git add -A; git commit -q -m Work && echo commit-made; \
             t=$(mktemp) && echo x > \"$t\" && echo tmp-ok; touch ~/.scratch && echo home-ok;";
        fs::write(place.scratch.workspace().join("check.sh"), "python3 app.py | grep work\n").unwrap();
        place.config("[gate]\nuntil = \"verified\"\n");
        let done = place.done(agent, &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        for word in ["commit-made", "tmp-ok", "home-ok"] {
            assert!(done.agent.contains(word), "{who:?}: {word} in {}", done.agent);
        }
        assert_eq!(done.result["status"], "COMPLETED", "{who:?}: {} {}", done.result, done.stderr);
        assert_eq!(done.result["proof"], "proven", "{who:?}: {}", done.result);
        assert_eq!(place.scratch.git(&["-c", "safe.directory=*", "log", "-1", "--format=%s"]), "Work");
        assert!(!place.home().join(".scratch").exists(), "the home directory is the user's");
        let details = &done.result["details"]["sandbox"];
        assert_eq!(details["held"], serde_json::json!(["files", "protected paths", "processes"]));
        assert_eq!(details["missing"], serde_json::json!([]));
        assert_eq!(details["hostsRefused"], serde_json::json!([]));
    }
}

#[test]
fn what_gits_config_includes_and_where_its_hooks_lie_cannot_be_written() {
    for who in everybody() {
        let place = Place::new(who);
        place.scratch.files(&[("team.cfg", "[log]\n\tdate = iso\n"), ("tools/hooks/README", "hooks\n")]);
        for setting in [["include.path", "../team.cfg"], ["core.hooksPath", "tools/hooks"]] {
            place.scratch.git(&["-c", "safe.directory=*", "config", setting[0], setting[1]]);
        }
        place.config("");
        let agent = "echo work > done.txt; printf '[core]\\n fsmonitor = touch ran;\\n' >> team.cfg; \
             echo 'touch ran' > tools/hooks/post-checkout; mv tools elsewhere; rm -f team.cfg; true";
        let done = place.done(agent, &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert_eq!(place.scratch.read("team.cfg"), "[log]\n\tdate = iso\n");
        assert!(!place.scratch.workspace().join("tools/hooks/post-checkout").exists(), "{who:?}");
        assert!(done.agent.contains("Read-only file system"), "{}", done.agent);
    }
}

/// A linked work tree and a submodule keep their git directory outside: a commit writes there, but not what git obeys.
#[test]
fn what_git_obeys_is_held_where_its_directory_lies_elsewhere() {
    let setup = "set -e; git init -q -b main ../lib; git -C ../lib -c user.name=L -c user.email=l@localhost commit -q --allow-empty -m l; \
        git -c protocol.file.allow=always submodule --quiet add \"$(cd ../lib; pwd)\" lib; git commit -qm lib; \
        git config extensions.worktreeConfig true; git worktree add -q ../linked; cd ../linked; \
        git -c protocol.file.allow=always submodule --quiet update --init; git config --worktree core.abbrev 9";
    let plant = "{ git config core.fsmonitor 'touch ran'; git config --worktree core.fsmonitor 'touch ran'; \
        for dir in \"$(git rev-parse --git-dir)\" $(find \"$(git rev-parse --git-common-dir)\" -name hooks -prune -exec dirname {} ';'); do \
        echo 'touch ran' > $dir/hooks/post-commit; mv $dir/hooks $dir/other; mv $dir $dir.other; \
        echo '[core] fsmonitor = touch ran' >> $dir/config; rm -f $dir/config; done; \
        common=$(git rev-parse --git-common-dir); for it in worktrees modules; do mv $common/$it $common/away; done; }; \
        git checkout -q -b work && echo work > done.txt && git add done.txt && git -c user.name=A -c user.email=a@localhost commit -qm Work && echo commit-made >&2";
    for who in everybody() {
        for within in ["../linked", "lib", "../linked/lib"] {
            let place = Place::new(who);
            let made = place.command("sh").args(["-c", setup]).output().unwrap();
            assert!(made.status.success(), "{made:?}");
            let dir = place.scratch.workspace().join(within).canonicalize().unwrap();
            fs::write(dir.join("check.sh"), "test -s done.txt\n").unwrap();
            place.config("");
            let obeyed = || {
                let list = "find ../workspace/.git \\( -path '*hooks/*' -o -name 'config*' -o -name commondir \\) -exec md5sum {} + | sort";
                place.command("sh").args(["-c", list]).output().unwrap().stdout
            };
            let before = obeyed();
            let done = place.finished(place.run(plant, &[]).current_dir(&dir));
            assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
            assert_eq!(obeyed(), before, "{who:?} {within}: {}", done.agent);
            assert!(done.agent.contains("commit-made"), "{who:?} {within}: {}", done.agent);
            // Prevented, so there is nothing to detect.
            assert!(done.result["details"].get("quarantine").is_none(), "{within}: {}", done.result);
        }
    }
}

/// A link is neither replaced nor does it lead to anything that can be written.
#[test]
fn a_protected_link_is_held_with_what_it_leads_to() {
    for who in everybody() {
        let place = Place::new(who);
        place.scratch.files(&[
            ("real.txt", "real\n"),
            ("dots/claude/settings.json", "{}\n"),
            ("deep/x", "x\n"),
        ]);
        let link =
            |to: &str, at: &str| std::os::unix::fs::symlink(to, place.scratch.workspace().join(at)).unwrap();
        link("real.txt", ".env");
        link("dots/claude", ".claude");
        link("../real.txt", "deep/.env");
        place.config("");
        let agent = "echo work > done.txt; for it in .env .claude deep/.env; do rm -f $it; ln -sfn src $it; mv $it $it.other; \
            mv -T src/a.txt $it; done; echo x > .env; echo x > real.txt; mv real.txt other; echo x > dots/claude/settings.json; \
            echo x > .claude/new; mv dots away; mv deep away; true";
        let done = place.done(agent, &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        for (at, to) in [(".env", "real.txt"), (".claude", "dots/claude"), ("deep/.env", "../real.txt")] {
            let found = fs::read_link(place.scratch.workspace().join(at));
            assert_eq!(found.ok().as_deref(), Some(std::path::Path::new(to)), "{who:?} {at}: {}", done.agent);
        }
        assert_eq!(place.scratch.read("real.txt"), "real\n", "{who:?}");
        assert_eq!(place.scratch.read("dots/claude/settings.json"), "{}\n", "{who:?}");
        assert!(!place.scratch.workspace().join("dots/claude/new").exists(), "{who:?}");
        assert!(done.result["details"].get("quarantine").is_none(), "{}", done.result);
    }
}

#[test]
fn what_lies_outside_and_what_is_protected_cannot_be_written() {
    for who in everybody() {
        let place = Place::new(who);
        let other = place.scratch.root().join("other.txt");
        fs::write(&other, "mine\n").unwrap();
        fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        let agent = format!(
            "echo work > done.txt; echo x > {other}; echo x > secrets/key; rm -rf secrets; mv secrets gone; \
             echo /tmp/evil > .git/worktrees/linked/commondir; echo x > .git/config; echo x > .git/hooks/pre-commit; mv .git elsewhere; touch /etc/ralph-was-here; \
             touch /usr/bin/ralph-was-here; echo x > /tmp/ralph-left-this; true",
            other = other.display()
        );
        place.scratch.git(&["-c", "safe.directory=*", "worktree", "add", "-q", "-b", "side", "../linked"]);
        place.config("");
        let config = place.scratch.read(".git/config");
        let done = place.done(&agent, &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n");
        assert_eq!(place.scratch.read("secrets/key"), "protected\n");
        assert_eq!(place.scratch.read(".git/config"), config);
        assert_eq!(place.scratch.read(".git/worktrees/linked/commondir"), "../..\n");
        for left in ["/etc/ralph-was-here", "/usr/bin/ralph-was-here", "/tmp/ralph-left-this"] {
            assert!(!std::path::Path::new(left).exists(), "{who:?}: {left}");
        }
        assert!(!place.scratch.workspace().join(".git/hooks/pre-commit").exists());
        // Prevented, so there is nothing to detect.
        assert!(done.result["details"].get("quarantine").is_none(), "{}", done.result);
        assert!(done.agent.contains("Read-only file system"), "{}", done.agent);
    }
}

#[test]
fn what_a_sandbox_does_not_prevent_is_still_detected() {
    let place = Place::new(everybody()[0]);
    // A protected path that is new.
    let done = place.done("echo work > done.txt; echo K=1 > .env", &[]);
    assert!(done.sandbox().contains(HELD), "{}", done.sandbox());
    assert!(!place.scratch.workspace().join(".env").exists(), "{}", done.result);
    assert!(done.result["details"]["quarantine"].is_string(), "{}", done.result);
}

/// Git deletes objects as well when it packs them, so a sandbox does not keep an agent from it.
#[test]
fn objects_of_git_that_an_agent_deletes_end_the_run() {
    for who in everybody() {
        let place = Place::new(who);
        let commit = place.scratch.git(&["-c", "safe.directory=*", "rev-parse", "HEAD"]);
        let done = place.done("echo work > done.txt; rm -rf .git/objects/??", &[]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert_eq!((done.code, &done.result["reason"]), (4, &"PROHIBITED_PATH".into()), "{}", done.stderr);
        let file = &done.result["details"]["files"][0];
        assert_eq!((&file["path"], &file["how"]), (&".git/objects".into(), &"deleted".into()), "{who:?}");
        let lost = format!("left as is  .git/objects (deleted: commit {} of branch", &commit[..10]);
        assert!(done.stderr.contains(&lost), "{who:?}: {}", done.stderr);
        assert!(done.stderr.contains("git fetch --refetch"), "{who:?}: {}", done.stderr);
    }
}

#[test]
fn secrets_are_neither_in_the_environment_nor_on_the_disk() {
    for who in everybody() {
        let place = Place::new(who)
            .with_env("DEPLOY_TOKEN", "tok-4f9a8b7c6d5e")
            .with_env("HARMLESS", "kept-4711")
            .with_env("ODDLY_CALLED", "glpat-0123456789abcdefghij")
            .with_env("SSH_AUTH_SOCK", "/run/user/0/agent");
        let key = place.home_file(".ssh/id_ed25519", "PRIVATE-KEY-TEXT\n");
        let agent = format!(
            "echo work > done.txt; env; cat {key}; cat /proc/1/root{key}; cat {state}/ralph/*.db | head -c 100; true",
            key = key.display(),
            state = place.scratch.state().display(),
        );
        let done = place.done(&agent, &[]);
        assert!(done.agent.contains("HARMLESS=kept-4711"), "{}", done.agent);
        for secret in [
            "tok-4f9a8b7c6d5e",
            "DEPLOY_TOKEN",
            "ODDLY_CALLED",
            "SSH_AUTH_SOCK",
            "PRIVATE-KEY-TEXT",
            "SQLite format",
        ] {
            assert!(!done.agent.contains(secret), "{who:?}: {secret} in {}", done.agent);
        }
        let withheld = done.result["details"]["sandbox"]["withheld"].to_string();
        assert!(withheld.contains("DEPLOY_TOKEN") && withheld.contains("SSH_AUTH_SOCK"), "{withheld}");
    }
}

#[test]
fn a_plan_in_ralphs_directory_can_be_ticked() {
    for who in everybody() {
        let place = Place::new(who);
        place.scratch.files(&[(".ralph/plan.md", "- [ ] work\n"), (".ralph/note", "mine\n")]);
        place.config("");
        let agent = "echo work > done.txt; echo '- [x] work' > .ralph/plan.md; echo x > .ralph/note; touch .ralph/new";
        let done = place.done(agent, &["--plan", ".ralph/plan.md"]);
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        assert_eq!(place.scratch.read(".ralph/plan.md"), "- [x] work\n", "{who:?}: {}", done.agent);
        assert_eq!(place.scratch.read(".ralph/note"), "mine\n", "{who:?}");
        assert!(!place.scratch.workspace().join(".ralph/new").exists(), "{who:?}");
    }
}

/// A directory that is seen read-only keeps nobody from connecting to a socket in it.
#[test]
fn a_socket_is_reached_only_if_it_is_named() {
    for who in everybody() {
        for named in [false, true] {
            let place = Place::new(who);
            // Outside of home, whose layer already keeps sockets from being reached.
            let socket = place.scratch.root().join("s");
            let _listener = UnixListener::bind(&socket).unwrap();
            fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
            let readable = if named { format!("{:?}", socket.to_str().unwrap()) } else { String::new() };
            place.config(&format!("[sandbox]\nreadable = [{readable}]\n"));
            let connect = format!("import socket; socket.socket(socket.AF_UNIX).connect({socket:?})");
            let done = place.done(
                &format!(
                    "echo work > done.txt; python3 -c '{connect}' && echo it-is-reached || echo it-is-not"
                ),
                &[],
            );
            let answer = if named { "it-is-reached" } else { "it-is-not" };
            assert!(done.agent.contains(answer), "{who:?}, named: {named}: {}", done.agent);
        }
    }
}

#[test]
fn an_agent_sees_no_process_but_its_own() {
    for who in everybody() {
        let place = Place::new(who);
        let done = place.done(
            "echo work > done.txt; ls /proc | grep -c '^[0-9]'; kill -9 1; kill -9 -1; echo still-here",
            &[],
        );
        assert!(done.agent.contains("still-here"), "{}", done.agent);
        let count: u32 = done.agent.lines().find_map(|line| line.trim().parse().ok()).expect("a number");
        assert!(count < 8, "{count} processes: {}", done.agent);
        assert_eq!(place.scratch.read("done.txt"), "work\n");
    }
}

#[test]
fn a_part_of_a_repository_in_home_has_its_history_and_what_lies_beside_it() {
    for who in everybody() {
        let place = Place::new(who);
        place.home_file(".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n");
        place.home_file("w/mono/package.json", "{\"name\": \"whole\"}\n");
        place.home_file("w/other/private.txt", "private-words\n");
        let part =
            place.home_file("w/mono/part/check.sh", "test -s done.txt\n").parent().unwrap().to_path_buf();
        let git = "git init -q ..; git add -A ..; git commit -q -m Start";
        assert!(place.command("sh").args(["-c", git]).current_dir(&part).status().unwrap().success());
        let agent = "cat ../package.json ../../other/private.txt > seen.txt; echo work > done.txt; git add done.txt; \
             git commit -q -m Work && echo commit-made >> seen.txt; echo x > ../package.json";
        let done = place.finished(place.run(agent, &[]).current_dir(&part));
        assert!(done.sandbox().contains(HELD), "{who:?}: {}", done.sandbox());
        let seen = fs::read_to_string(part.join("seen.txt")).unwrap();
        assert!(seen.contains("whole") && seen.contains("commit-made"), "{who:?}: {seen} {}", done.agent);
        assert!(!seen.contains("private-words"), "{who:?}: {seen}");
        let whole = fs::read_to_string(part.join("../package.json")).unwrap();
        assert!(whole.contains("whole"), "{who:?}: only the workspace is written");
    }
}

/// Settings that other programs obey are read-only if they were there; what the agent made itself it may correct.
#[test]
fn an_agent_may_correct_the_settings_that_it_made() {
    for who in everybody() {
        let place = Place::new(who);
        place.scratch.files(&[(".idea/old.xml", "old\n")]);
        let agent = place.scratch.root().join("agent.sh");
        let script = "cat > /dev/null; mkdir -p .vscode; echo \"$RALPH_ITERATION\" > .vscode/tasks.json || exit 1\n\
            echo evil > .idea/old.xml && exit 1; test $RALPH_ITERATION = 1 || echo work > done.txt; echo 'it works'\n";
        fs::write(&agent, script).unwrap();
        let mut command = place.ralph(&["run", "Work", "--agent", "command", "--json", "--max-cost", "5"]);
        command.args(["--max-iterations", "2", "--verify", "sh check.sh", "--", "sh"]).arg(&agent);
        let done = place.finished(&mut command);
        assert_eq!(done.result["iterations"], 2, "{who:?}: {} {}", done.result, done.agent);
        assert_eq!(place.scratch.read(".vscode/tasks.json"), "2\n", "{who:?}: {}", done.agent);
        assert_eq!(place.scratch.read(".idea/old.xml"), "old\n", "{who:?}");
    }
}
