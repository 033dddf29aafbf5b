//! Moments cost what changed, survive a torn end, and the oldest go first.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use ralph_snapshots::{MomentLog, RunMoments, prune, stored_bytes};
use ralph_tree::{Entry, Index};
use support::Bed;

impl Bed {
    fn folder(&self, run: &str) -> PathBuf {
        let folder = self.dir.path().join(run);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn log(&self, run: &str) -> MomentLog {
        MomentLog::at(self.folder(run), self.keep.bases())
    }

    /// Takes a snapshot with this name.
    fn moment(&self, log: &MomentLog, name: &str) -> Arc<Index> {
        let index = Arc::new(self.take());
        log.add(name, &index).unwrap();
        index
    }

    fn load(&self, run: &str, name: &str) -> Option<Index> {
        MomentLog::load(&self.folder(run), |there| there == name)
    }
}

fn ended(folder: PathBuf) -> RunMoments {
    RunMoments { folder, resumable: false }
}

fn resumable(folder: PathBuf) -> RunMoments {
    RunMoments { folder, resumable: true }
}

fn entries(index: &Index) -> Vec<Entry<'_>> {
    index.entries().collect()
}

fn same(a: &Index, b: &Index) {
    assert_eq!(entries(a), entries(b));
    assert_eq!(a.id(), b.id());
}

#[test]
fn every_moment_of_every_run_is_read_back() {
    let bed = Bed::new(&[("a", "1"), ("dir/b", "2"), ("dir/c", "3")]);
    let mut all = Vec::new();
    for run in ["first", "second"] {
        let log = bed.log(run);
        for n in 0..5 {
            bed.write("a", &format!("{run} {n}"));
            bed.write(&format!("new/{run}{n}"), "x");
            let _ = fs::remove_file(bed.root().join(if n == 3 { "dir/c" } else { "none" }));
            all.push((run, format!("{n:03}"), bed.moment(&log, &format!("{n:03}"))));
        }
        bed.moment(&log, "left");
    }
    for (run, name, index) in &all {
        same(&bed.load(run, name).unwrap(), index);
    }
    assert!(bed.load("first", "005").is_none() && bed.load("none", "000").is_none());
    // Another process continues where the first one ended.
    bed.write("a", "later");
    let index = bed.moment(&bed.log("first"), "005");
    same(&bed.load("first", "005").unwrap(), &index);
    same(&bed.load("first", "002").unwrap(), &all[2].2);
    assert_eq!(MomentLog::names(&bed.folder("first")).len(), 7);
}

#[test]
fn a_state_that_has_the_name_already_costs_nothing() {
    let bed = Bed::new(&[("a", "1")]);
    let log = bed.log("run");
    let index = bed.moment(&log, "before");
    assert_eq!(log.add("before", &index).unwrap().bytes, 0);
    assert!(log.ends_with(&index, |name| name == "before") && !log.ends_with(&index, |name| name == "001"));
    assert!(log.add("001", &index).unwrap().bytes > 0);
    bed.write("a", "2");
    let later = bed.moment(&log, "002");
    assert!(!log.ends_with(&later, |name| name == "before"));
}

#[test]
fn a_torn_end_is_cut_off_and_the_rest_stays() {
    let bed = Bed::new(&[("a", "1")]);
    let log = bed.log("run");
    let first = bed.moment(&log, "001");
    let path = bed.folder("run").join("moments");
    let one = fs::read(&path).unwrap().len();
    bed.write("a", "2");
    bed.moment(&log, "002");
    let whole = fs::read(&path).unwrap();
    for at in one..whole.len() {
        let mut bad = whole.clone();
        bad[at] ^= 1;
        for torn in [&whole[..at], &bad] {
            fs::write(&path, torn).unwrap();
            same(&bed.load("run", "001").unwrap(), &first);
            assert!(bed.load("run", "002").is_none());
        }
    }
    let again = bed.moment(&bed.log("run"), "002");
    same(&bed.load("run", "002").unwrap(), &again);
    for at in 0..one {
        fs::write(&path, &whole[..at]).unwrap();
        assert!(bed.load("run", "001").is_none());
        bed.moment(&bed.log("run"), "001");
        assert!(bed.load("run", "001").is_some());
    }
}

/// A directory in its place is something that cannot be read, even as root.
#[test]
fn moments_that_cannot_be_read_just_now_are_not_overwritten() {
    let bed = Bed::new(&[("a", "1")]);
    let first = bed.moment(&bed.log("run"), "001");
    bed.write("a", "2");
    let second = Arc::new(bed.take());
    for entry in fs::read_dir(bed.folder("run")).unwrap() {
        let (path, aside) = (entry.unwrap().path(), bed.dir.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        fs::create_dir(&path).unwrap();
        bed.log("run").add("002", &second).unwrap_err();
        prune(&bed.keep, &[ended(bed.folder("run"))], 0).unwrap_err();
        fs::remove_dir(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        same(&bed.load("run", "001").unwrap(), &first);
        bed.go(&first);
    }
}

#[test]
fn eight_hundred_moments_cost_less_than_eight_indexes() {
    let names: Vec<String> = (0..300).map(|n| format!("dir{}/some/longer/name/file{n}.rs", n % 20)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let bed = Bed::new(&files);
    bed.take().save(&bed.dir.path().join("full")).unwrap();
    let full = fs::metadata(bed.dir.path().join("full")).unwrap().len();
    let mut index = bed.tree.walk(None).unwrap();
    let runs: Vec<RunMoments> = (0..40).map(|run| ended(bed.folder(&format!("run{run}")))).collect();
    for run in 0..40 {
        let log = bed.log(&format!("run{run}"));
        for n in 0..20 {
            fs::remove_file(bed.root().join("dir0/changes")).unwrap_or_default();
            bed.write("dir0/changes", &format!("{run} {n}"));
            index = bed.tree.walk(Some(&index)).unwrap();
            log.add(&format!("{n:03}"), &Arc::new(index.clone())).unwrap();
        }
    }
    let bytes = stored_bytes(&bed.keep, &runs).unwrap();
    let contents = names.iter().map(String::len).sum::<usize>() as u64;
    assert!(bytes < contents + 8 * full, "{bytes} bytes, an index has {full}");
}

#[test]
fn the_oldest_moments_go_first_and_the_newest_never() {
    let bed = Bed::new(&[("keep", "x")]);
    for run in ["first", "second"] {
        let log = bed.log(run);
        for n in 0..3 {
            bed.write("a", &format!("{run} {n} {}", "-".repeat(100_000)));
            bed.moment(&log, &format!("{n:03}"));
        }
    }
    let runs = [ended(bed.folder("first")), ended(bed.folder("second"))];
    let all = stored_bytes(&bed.keep, &runs).unwrap();
    let nothing = prune(&bed.keep, &runs, all).unwrap();
    assert_eq!((nothing.moments, nothing.contents, nothing.left), (0, 0, all));
    let one = prune(&bed.keep, &runs, all - 1).unwrap();
    assert_eq!((one.moments, one.contents), (1, 1));
    assert!(bed.load("first", "000").is_none() && bed.load("first", "001").is_some());
    let cut = prune(&bed.keep, &runs, 250_000).unwrap();
    assert_eq!((cut.moments, cut.contents), (3, 3));
    assert!(!runs[0].folder.join("moments").exists(), "nothing of the first run is left");
    let target = bed.load("second", "001").unwrap();
    bed.go(&target);
    let last = prune(&bed.keep, &runs, 0).unwrap();
    assert_eq!(last.moments, 1, "the newest stays");
    bed.go(&bed.load("second", "002").unwrap());
    // What was removed comes back when it is needed again.
    bed.write("a", &format!("first 0 {}", "-".repeat(100_000)));
    assert_eq!(bed.keep.take(bed.root(), &bed.tree.walk(None).unwrap()).unwrap().contents, 1);
}

#[test]
fn what_a_run_needs_to_continue_outlives_its_old_moments() {
    let bed = Bed::new(&[("keep", "x")]);
    let log = bed.log("run");
    bed.write("a", &"0".repeat(100_000));
    let baseline = bed.moment(&log, "001");
    log.add("oracle", &baseline).unwrap();
    for n in 2..5 {
        bed.write("a", &n.to_string().repeat(100_000));
        bed.moment(&log, &format!("{n:03}"));
    }
    prune(&bed.keep, &[resumable(bed.folder("run"))], 0).unwrap();
    assert_eq!(MomentLog::names(&bed.folder("run")), ["oracle", "004"]);
    same(&bed.load("run", "oracle").unwrap(), &baseline);
    bed.go(&baseline);
}

#[test]
fn what_another_run_needs_to_continue_stays_with_its_contents() {
    let bed = Bed::new(&[("keep", "x")]);
    let mut needed = Vec::new();
    for run in ["ended", "resumable"] {
        let log = bed.log(run);
        for (n, name) in ["001", "oracle", "002", "003", "seen", "left"].into_iter().enumerate() {
            bed.write("a", &format!("{run} {n} {}", "-".repeat(100_000)));
            needed.push(bed.moment(&log, name));
        }
    }
    bed.write("a", "latest");
    bed.moment(&bed.log("newest"), "001");
    let runs =
        [resumable(bed.folder("resumable")), ended(bed.folder("ended")), resumable(bed.folder("newest"))];
    for _again in 0..2 {
        prune(&bed.keep, &runs, 1000).unwrap();
        assert_eq!(MomentLog::names(&bed.folder("ended")), [""; 0]);
        assert_eq!(MomentLog::names(&bed.folder("resumable")), ["oracle", "003", "seen"]);
        for (name, then) in [("oracle", &needed[7]), ("003", &needed[9]), ("seen", &needed[10])] {
            same(&bed.load("resumable", name).unwrap(), then);
            bed.go(then);
        }
    }
    assert_eq!(prune(&bed.keep, &runs, 1000).unwrap().moments, 0);
}

#[test]
fn moments_that_cannot_be_read_do_not_take_older_ones_with_them() {
    let bed = Bed::new(&[("a", "1")]);
    let first = bed.moment(&bed.log("first"), "001");
    for run in ["without a record", "with a damaged base", "with a torn index"] {
        bed.write("a", run);
        bed.moment(&bed.log(run), "001");
    }
    let head = bed.folder("without a record").join("moments");
    fs::write(&head, &fs::read(&head).unwrap()[..44]).unwrap();
    let in_folder =
        fs::read_dir(bed.folder("with a damaged base")).unwrap().map(|entry| entry.unwrap().path());
    let base = in_folder.into_iter().find(|path| path.extension().is_some_and(|e| e == "base")).unwrap();
    fs::remove_file(&base).unwrap();
    fs::write(&base, "damaged").unwrap();
    fs::write(bed.folder("with a torn index").join("000.tree"), "torn").unwrap();
    for broken in ["without a record", "with a damaged base", "with a torn index"] {
        let pruned =
            prune(&bed.keep, &[bed.folder("first"), bed.folder(broken)].map(ended), u64::MAX).unwrap();
        assert_eq!(pruned.moments, 0, "{broken}");
        same(&bed.load("first", "001").expect(broken), &first);
    }
}

#[test]
fn indexes_of_earlier_versions_are_pruned_too() {
    let bed = Bed::new(&[("a", "1")]);
    let folder = bed.folder("old");
    for n in 0..3 {
        bed.write("a", &n.to_string().repeat(10_000));
        bed.take().save(&folder.join(format!("{n:03}.tree"))).unwrap();
    }
    let runs = [ended(folder.clone())];
    let all = stored_bytes(&bed.keep, &runs).unwrap();
    let pruned = prune(&bed.keep, &runs, all - 1).unwrap();
    assert_eq!((pruned.moments, pruned.contents), (1, 1));
    assert!(!folder.join("000.tree").exists() && folder.join("001.tree").exists());
    let last = prune(&bed.keep, &runs, 0).unwrap();
    assert_eq!((last.moments, last.contents), (1, 1), "the newest stays");
}

/// Two runs, the second of which shares nothing with the first and has a base of its own.
fn with_two_bases() -> Bed {
    let names: Vec<String> = (0..500).map(|n| format!("a/rather/long/directory/name/file{n}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let bed = Bed::new(&files);
    bed.moment(&bed.log("first"), "001");
    fs::remove_dir_all(bed.root().join("a")).unwrap();
    for n in 0..500 {
        bed.write(&format!("quite/another/place/for/files/number{n}"), "y");
    }
    bed.moment(&bed.log("second"), "001");
    assert_eq!(bases(&bed), 2);
    bed
}

fn bases(bed: &Bed) -> usize {
    fs::read_dir(bed.dir.path().join("keep/bases")).unwrap().count()
}

#[test]
fn a_base_goes_with_the_last_run_that_used_it() {
    let bed = with_two_bases();
    fs::remove_dir_all(bed.folder("first")).unwrap();
    prune(&bed.keep, &[ended(bed.folder("second"))], u64::MAX).unwrap();
    assert_eq!(bases(&bed), 1);
    assert!(bed.load("second", "001").is_some());
}

#[test]
fn a_base_goes_with_the_last_moments_that_used_it() {
    let bed = with_two_bases();
    prune(&bed.keep, &["first", "second"].map(|run| ended(bed.folder(run))), 0).unwrap();
    assert_eq!(bases(&bed), 1);
    assert_eq!(fs::read_dir(bed.folder("first")).unwrap().count(), 0);
    assert!(bed.load("second", "001").is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_sequence_of_states_is_read_back(steps in prop::collection::vec(any::<[(u8, u8); 3]>(), 1..12)) {
        const PATHS: [&str; 8] = ["a", "a.b", "a-b", "b/c", "b/d/e", "b/d.e", "c", "d/e/f/g"];
        let bed = Bed::new(&[]);
        let log = bed.log("run");
        let mut all = Vec::new();
        for (n, step) in steps.iter().enumerate() {
            for (path, text) in step {
                let name = PATHS[usize::from(*path) % PATHS.len()];
                if text % 3 == 0 { let _ = fs::remove_file(bed.root().join(name)); } else { bed.write(name, &text.to_string()); }
            }
            all.push(bed.moment(&log, &n.to_string()));
        }
        for (n, index) in all.iter().enumerate() {
            same(&bed.load("run", &n.to_string()).unwrap(), index);
        }
    }
}
