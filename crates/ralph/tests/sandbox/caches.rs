//! Package caches of a home directory that has none yet.

use crate::place::{HELD, Place, everybody};
use std::path::Path;
use std::process::Command;

fn tree(dir: &Path) -> Vec<String> {
    let output = Command::new("find").arg(dir).output().unwrap();
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn caches_are_kept_also_where_home_has_none() {
    let agent = "for it in .cache/uv .cargo/registry .m2/repository; do cat ~/$it/kept; echo kept-in-$it >> ~/$it/kept; done; \
         test -s seen.txt && echo work > done.txt; echo x > seen.txt";
    let check = "grep -c kept ~/.cache/uv/kept >> counts.txt; test -s done.txt";
    for who in everybody() {
        for settings in ["", "home = \"none\"\n"] {
            let place = Place::new(who);
            place.home_file(".cargo/config.toml", "[build]\n");
            place.config(&format!("[sandbox]\n{settings}"));
            let before = tree(&place.home());
            place.done(agent, &["--verify", check]);
            let done = place.finished(&mut place.ralph(&["resume", "--json", "--max-iterations", "2"]));
            let name = format!("{who:?}, {settings:?}: {}", done.agent);
            assert!(done.sandbox().contains(HELD), "{name}: {}", done.sandbox());
            for it in [".cache/uv", ".cargo/registry", ".m2/repository"] {
                assert!(done.agent.contains(&format!("kept-in-{it}")), "{name}");
            }
            // The verification before the first call, then one after each.
            assert!(place.scratch.read("counts.txt").ends_with("1\n2\n"), "{name}");
            assert_eq!(tree(&place.home()), before, "{name}");
        }
    }
}
