//! A workspace that was changed in every way is brought back exactly, and nothing else is touched.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;
use ralph_snapshots::{HalfRestored, PendingRestore, Restore, RestoreAction, RestoreRequest, restore};
use support::Bed;

#[test]
fn every_kind_of_change_is_undone() {
    let bed = Bed::new(&[
        ("a.txt", "one"),
        ("src/main.rs", "fn main() {}"),
        ("run.sh", "#!/bin/sh"),
        ("deep/er/x", "x"),
    ]);
    bed.mode("run.sh", 0o755);
    symlink("a.txt", bed.root().join("link")).unwrap();
    let (seen, target) = (bed.see(), bed.take());

    bed.write("a.txt", "two");
    fs::remove_file(bed.root().join("run.sh")).unwrap();
    bed.write("new/file", "new");
    bed.mode("src/main.rs", 0o600);
    fs::remove_file(bed.root().join("link")).unwrap();
    bed.write("link", "a file now");
    fs::remove_dir_all(bed.root().join("deep")).unwrap();
    bed.write("deep", "a file in place of a directory");
    bed.go(&target);

    assert_eq!(bed.see(), seen);
    assert!(!bed.root().join("new").exists(), "the empty directory is gone too");
}

#[test]
fn what_somebody_changed_since_is_left_alone_and_named() {
    let bed = Bed::new(&[("agent.txt", "before"), ("user.txt", "before")]);
    let target = bed.take();
    bed.write("agent.txt", "by the agent");
    let left = bed.take();
    bed.write("user.txt", "by the user");
    bed.write("notes.txt", "by the user");

    let plan = bed.plan(&target, &left, false);
    let newer: Vec<String> = plan.newer.iter().map(ToString::to_string).collect();
    assert_eq!(newer, ["notes.txt", "user.txt"]);
    plan.apply(bed.root(), bed.keep.blobs()).unwrap();
    assert_eq!(fs::read_to_string(bed.root().join("agent.txt")).unwrap(), "before");
    assert_eq!(fs::read_to_string(bed.root().join("user.txt")).unwrap(), "by the user");
    assert!(bed.root().join("notes.txt").exists());
}

#[test]
fn going_back_can_be_taken_back() {
    let bed = Bed::new(&[("a", "1")]);
    let target = bed.take();
    bed.write("a", "2");
    bed.write("b", "precious");
    let (seen, late) = (bed.see(), bed.take());
    bed.go(&target);
    assert_ne!(bed.see(), seen);
    bed.go(&late);
    assert_eq!(bed.see(), seen);
}

#[test]
fn a_link_in_the_way_is_never_followed() {
    let bed = Bed::new(&[("src/auth/key.rs", "secret")]);
    let target = bed.take();
    let outside = bed.dir.path().join("outside");
    fs::create_dir_all(outside.join("auth")).unwrap();
    fs::write(outside.join("auth/key.rs"), "somebody else's").unwrap();
    fs::remove_dir_all(bed.root().join("src")).unwrap();
    symlink(&outside, bed.root().join("src")).unwrap();
    bed.go(&target);
    assert_eq!(fs::read_to_string(outside.join("auth/key.rs")).unwrap(), "somebody else's");
    assert_eq!(fs::read_to_string(bed.root().join("src/auth/key.rs")).unwrap(), "secret");
    assert!(!bed.root().join("src").is_symlink());
}

#[test]
fn ignored_files_and_their_directories_stay() {
    let bed = Bed::new(&[(".gitignore", "*.log\n"), ("a", "1")]);
    fs::create_dir(bed.root().join(".git")).unwrap();
    let target = bed.take();
    bed.write("made/by.log", "ignored");
    bed.write("made/x", "work");
    bed.go(&target);
    assert!(bed.root().join("made/by.log").exists() && !bed.root().join("made/x").exists());
}

#[test]
fn too_large_a_file_is_named_and_not_touched() {
    let bed = Bed::new(&[("a", "1")]);
    let file = fs::File::create(bed.root().join("huge.bin")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let index = bed.tree.walk(None).unwrap();
    let taken = bed.keep.take(bed.root(), &index).unwrap();
    assert_eq!(taken.missed.iter().map(|m| m.path.to_string()).collect::<Vec<_>>(), ["huge.bin"]);
    file.set_len(3).unwrap();
    let now = bed.tree.walk(None).unwrap();
    let plan = restore(
        RestoreRequest {
            target: &index,
            left: &now,
            now: &now,
            newer_too: true,
            half: &HalfRestored::default(),
            recorded: &BTreeSet::new(),
        },
        bed.keep.blobs(),
    );
    assert_eq!((plan.acts.len(), plan.missing.len()), (0, 1));
}

#[test]
fn an_act_that_was_cut_short_is_done_again() {
    let bed = Bed::new(&[("a", "1"), ("b", "2")]);
    let target = bed.take();
    bed.write("a", "x");
    bed.write("b", "y");
    let plan = bed.plan(&target, &target, true);
    for cut in 0..=plan.acts.len() {
        let part = Restore { acts: plan.acts[..cut].to_vec(), ..Restore::default() };
        part.apply(bed.root(), bed.keep.blobs()).unwrap();
        // A draft that a crash left behind.
        let hash = plan
            .acts
            .iter()
            .find_map(|act| if let RestoreAction::Write { hash, .. } = act { Some(*hash) } else { None });
        fs::write(bed.root().join(format!(".ralph-{:032x}.draft", hash.unwrap())), "half").unwrap();
        plan.apply(bed.root(), bed.keep.blobs()).unwrap();
        assert_eq!(bed.see().into_keys().collect::<Vec<_>>(), ["a", "b"], "cut at {cut}");
    }
}

#[test]
fn many_files_are_written_in_batches_also_with_the_same_content() {
    let names: Vec<String> = (0..600).map(|n| format!("dir{}/file{n}", n % 7)).collect();
    let texts: Vec<String> = (0..600).map(|n| format!("text {}", n % 100)).collect();
    let files: Vec<(&str, &str)> = names.iter().zip(&texts).map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let bed = Bed::new(&files);
    let (seen, target) = (bed.see(), bed.take());
    for n in 0..7 {
        fs::remove_dir_all(bed.root().join(format!("dir{n}"))).unwrap();
    }
    bed.go(&target);
    assert_eq!(bed.see(), seen);
}

#[test]
fn a_damaged_content_is_not_put_back() {
    let bed = Bed::new(&[("a", "one")]);
    let index = bed.take();
    let hash = index.get(b"a").unwrap().hash;
    bed.write("a", "two");
    fs::write(bed.keep.blobs().path(hash), "on").unwrap();
    let plan = bed.plan(&index, &index, true);
    assert_eq!(
        (plan.acts.len(), plan.missing.len()),
        (0, 1),
        "the wrong size is seen before anything is done"
    );
    fs::write(bed.keep.blobs().path(hash), "oNe").unwrap();
    let done = bed.plan(&index, &index, true).apply(bed.root(), bed.keep.blobs()).unwrap();
    assert_eq!(done.failed.len(), 1);
    assert_eq!(fs::read_to_string(bed.root().join("a")).unwrap(), "two");
    assert_eq!(bed.see().len(), 1, "no draft is left");
}

#[test]
fn a_link_with_a_damaged_content_is_not_put_back() {
    let bed = Bed::new(&[]);
    let link = bed.root().join("link");
    symlink("one", &link).unwrap();
    let index = bed.take();
    fs::remove_file(&link).unwrap();
    symlink("two", &link).unwrap();
    fs::write(bed.keep.blobs().path(index.get(b"link").unwrap().hash), "elsewhere").unwrap();
    let done = bed.plan(&index, &index, true).apply(bed.root(), bed.keep.blobs()).unwrap();
    assert_eq!((done.acts, done.failed.len()), (0, 1));
    assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("two"));
}

fn changed(bed: &Bed, changes: &[(u8, u8, u8)]) {
    const PATHS: [&str; 6] = ["a", "b", "d/a", "d/b", "d/e/f", "x/y"];
    for (path, what, text) in changes {
        let name = PATHS[usize::from(*path) % PATHS.len()];
        let path = bed.root().join(name);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        // A parent that is a file now goes, as an agent would do it.
        for parent in path.ancestors().skip(1).take_while(|p| *p != bed.root()) {
            if parent.symlink_metadata().is_ok_and(|m| !m.is_dir()) {
                fs::remove_file(parent).unwrap();
            }
        }
        let _ = fs::create_dir_all(path.parent().unwrap());
        match what % 4 {
            0 => {}
            1 => symlink(format!("to-{text}"), &path).unwrap(),
            2 => {
                fs::create_dir(&path).unwrap();
                fs::write(path.join("inner"), [*text]).unwrap();
            }
            _ => {
                fs::write(&path, [*text]).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600 | (u32::from(text % 2) * 0o111)))
                    .unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_tree_is_brought_back_from_any_other(
        first in prop::collection::vec(any::<(u8, u8, u8)>(), 0..12),
        second in prop::collection::vec(any::<(u8, u8, u8)>(), 0..12),
    ) {
        let bed = Bed::new(&[]);
        changed(&bed, &first);
        let (seen, target) = (bed.see(), bed.take());
        changed(&bed, &second);
        bed.go(&target);
        prop_assert_eq!(bed.see(), seen);
        prop_assert_eq!(bed.tree.walk(None).unwrap().id(), target.id());
    }
}

#[test]
fn actions_are_named_as_scripts_know_them() {
    let path = || ralph_tree::TreePath::from(b"a".as_slice());
    let write = |new| RestoreAction::Write { path: path(), hash: 0, mode: 0o644, new };
    let shown = [
        write(true),
        write(false),
        RestoreAction::Link { path: path(), hash: 0 },
        RestoreAction::Mode { path: path(), mode: 0o600 },
        RestoreAction::Make { path: path(), mode: 0o700 },
        RestoreAction::Remove { path: path() },
    ]
    .map(|action| action.to_string());
    let words = ["bring back", "put back", "put back", "permissions of", "bring back", "remove"];
    assert_eq!(shown, words.map(|word| format!("{word} a")));
}

#[test]
fn a_snapshot_that_is_told_to_stop_gives_up_before_the_next_content_and_can_be_taken_again() {
    let bed = Bed::new(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let index = bed.tree.walk(None).unwrap();
    let asked = std::cell::Cell::new(0);
    let stopped = || asked.replace(asked.get() + 1) == 2;
    let error = bed.keep.take_unless(bed.root(), &index, &stopped).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
    let kept = |path: &str| bed.keep.blobs().has(index.get(path.as_bytes()).unwrap().hash);
    assert_eq!(["a", "b", "c"].map(kept), [true, true, false]);
    assert!(bed.keep.take(bed.root(), &index).unwrap().missed.is_empty() && kept("c"));
}

/// Every kind of change, cut short after every action: the same restore again, without being told to overwrite newer
/// changes, brings everything back.
#[test]
fn a_restore_that_was_cut_short_is_not_taken_for_the_users_change() {
    let files = [("file", "1"), ("dir/a", "2"), ("dir/deep/b", "3"), ("link-to-be", "4"), ("gone/c", "5")];
    let bed = Bed::new(&files);
    symlink("file", bed.root().join("link")).unwrap();
    bed.mode("dir/deep", 0o750);
    let target = bed.take();
    let wanted = bed.see();
    let change = || {
        let at = |path: &str| bed.root().join(path);
        for path in ["dir", "gone"] {
            fs::remove_dir_all(at(path)).unwrap();
        }
        for path in ["file", "link", "link-to-be"] {
            fs::remove_file(at(path)).unwrap();
        }
        for (path, text) in [("file/inside/x", "6"), ("dir", "7"), ("link", "8"), ("new/y", "9")] {
            bed.write(path, text);
        }
        symlink("new", at("link-to-be")).unwrap();
    };
    let file = bed.dir.path().join("pending");
    for cut in 0..100 {
        change();
        let left = bed.take();
        let plan = bed.plan(&target, &left, false);
        assert!(plan.newer.is_empty() && plan.missing.is_empty());
        let mut pending = PendingRestore::load(&file);
        pending.begin(plan.acts.iter().map(|act| (bed.root(), act))).unwrap();
        let part = Restore { acts: plan.acts.iter().take(cut).cloned().collect(), ..Restore::default() };
        part.apply(bed.root(), bed.keep.blobs()).unwrap();
        // The draft of the action that was cut short, if it has one.
        if let Some(RestoreAction::Write { path, hash, .. }) = plan.acts.get(cut) {
            let dir = bed.root().join(path.as_path().parent().unwrap());
            if dir.is_dir() {
                fs::write(dir.join(format!(".ralph-{hash:032x}.draft")), "half").unwrap();
            }
        }
        let pending = PendingRestore::load(&file);
        let now = bed.take();
        let half = pending.half_restored(bed.root());
        let again = RestoreRequest {
            target: &target,
            left: &left,
            now: &now,
            newer_too: false,
            half: &half,
            recorded: &BTreeSet::new(),
        };
        let again = restore(again, bed.keep.blobs());
        assert!(again.newer.is_empty(), "cut at {cut}: {:?}", again.newer);
        again.apply(bed.root(), bed.keep.blobs()).unwrap();
        pending.done();
        assert_eq!(bed.see(), wanted, "cut at {cut}");
        if cut == plan.acts.len() {
            break;
        }
    }
}

#[test]
fn what_is_missing_comes_back_before_anything_else_is_removed() {
    let bed = Bed::new(&[("needed", "1"), ("swap", "2")]);
    let target = bed.take();
    fs::remove_file(bed.root().join("needed")).unwrap();
    fs::remove_file(bed.root().join("swap")).unwrap();
    bed.write("added", "3");
    bed.write("swap/inside", "4");
    let acts: Vec<String> = bed.plan(&target, &target, true).acts.iter().map(ToString::to_string).collect();
    let wanted = ["remove swap/inside", "remove swap", "bring back needed", "put back swap", "remove added"];
    assert_eq!(acts, wanted);
}
