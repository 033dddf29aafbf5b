//! Links of the home directory, and what they lead to: dot files that lie somewhere else, programs of `PATH` that are links, and
//! secrets behind links.

use ralph_sandbox::policy::{Facts, Link, MIXED, SECRETS, SETTINGS};
use ralph_tree::way;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// More links of a directory are not looked at.
const MOST: usize = 512;
/// Where programs keep their settings, below home.
const CONFIG: &str = ".config";

/// The links that lead into a home directory, each once.
pub(super) fn links(facts: &Facts) -> Vec<Link> {
    links_of(&facts.home, &facts.other_homes, &facts.path, &facts.workspace, &facts.agent_states)
}

fn links_of(
    own_home: &Path,
    other_homes: &[PathBuf],
    path: &[PathBuf],
    workspace: &Path,
    agent_states: &[PathBuf],
) -> Vec<Link> {
    let homes: Vec<&Path> =
        std::iter::once(own_home).chain(other_homes.iter().map(PathBuf::as_path)).collect();
    let is_in_home = |path: &Path| homes.iter().any(|home| path.starts_with(home) && path != *home);
    let home = |below: &str| own_home.join(below);
    let dots = entries(own_home).filter(|path| is_dotted(path));
    let settings =
        SETTINGS.iter().filter(|path| path.starts_with(CONFIG)).flat_map(|path| entries(&home(path)));
    let settings = settings.chain(entries(&home(CONFIG)));
    let programs = path.iter().filter(|dir| is_in_home(dir) && !dir.starts_with(workspace));
    let programs = programs.flat_map(|dir| std::iter::once(dir.clone()).chain(entries(dir)));
    // Most rows are of programs that this user does not have.
    let names = names_in(own_home);
    let is_there = |path: &&str| names.contains(path.split('/').next().unwrap_or(path));
    let secret = SECRETS.iter().map(|row| row.path).chain(MIXED.iter().map(|(path, _)| *path));
    let secret = secret.filter(is_there).map(home);
    let secret = secret.flat_map(|path| std::iter::once(path.clone()).chain(entries(&path)));
    let secret = secret.chain(agent_states.iter().cloned());
    let mut found: BTreeMap<PathBuf, Link> = BTreeMap::new();
    let may_be_shown = |link: &Link| {
        let mut on_the_way = link.through.iter().filter(|it| **it != link.at);
        !on_the_way.any(|it| is_in_a_workspace(it, own_home)) && !is_whole_repository(link, own_home)
    };
    let shown = dots.chain(settings).chain(programs).filter_map(|at| link(&at).filter(may_be_shown));
    // What a secret link leads to stays hidden, whoever made it.
    for link in shown.chain(secret.filter_map(|at| link(&at))) {
        if is_in_home(&link.to) {
            found.entry(link.at.clone()).or_insert(link);
        }
    }
    found.into_values().collect()
}

/// The link at a path, or above it, if it leads to something that exists.
fn link(at: &Path) -> Option<Link> {
    let mut through = way(at);
    let to =
        through.pop().filter(|to| to != at && fs::symlink_metadata(to).is_ok_and(|it| !it.is_symlink()))?;
    Some(Link { at: at.to_path_buf(), to, through })
}

/// Whether an agent of another run may have made a link: it lies in a repository, or where ralph has worked.
fn is_in_a_workspace(link: &Path, home: &Path) -> bool {
    let above = link.ancestors().skip(1).take_while(|dir| *dir != home && dir.starts_with(home));
    above
        .into_iter()
        .any(|dir| [".git", ".ralph"].iter().any(|name| dir.join(name).symlink_metadata().is_ok()))
}

/// Whether all of a repository would be seen: `~/.dotfiles` may have keys under other names in it.
fn is_whole_repository(link: &Link, home: &Path) -> bool {
    link.at.parent() == Some(home) && link.to.join(".git").symlink_metadata().is_ok()
}

fn names_in(dir: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(dir).into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The entries of a directory that are links.
fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let all = fs::read_dir(dir).into_iter().flatten().flatten();
    let links = all.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.take(MOST).map(|entry| entry.path())
}

fn is_dotted(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_their_end_and_only_into_homes() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for made in [".config", ".ssh", "bin", "dotfiles/v2/nvim", "keys", "work/bin", "tools"] {
            fs::create_dir_all(home.join(made)).unwrap();
        }
        for file in ["dotfiles/v2/gitconfig", "keys/id", "tools/real", "work/planted"] {
            fs::write(home.join(file), "").unwrap();
        }
        for (to, at) in [
            ("v2", "dotfiles/current"),
            ("dotfiles/current/gitconfig", ".gitconfig"),
            ("../dotfiles/v2/nvim", ".config/nvim"),
            ("../keys/id", ".ssh/id"),
            ("../tools/real", "bin/tool"),
            ("../../keys/id", "work/bin/planted"),
            ("/etc/hostname", ".elsewhere"),
            ("missing", ".dangling"),
            (".round", ".round"),
            ("tools", "plain"),
        ] {
            symlink(to, home.join(at)).unwrap();
        }
        let path = ["bin", "work/bin"].map(|dir| home.join(dir));
        let found = links_of(&home, &[], &path, &home.join("work"), &[]);
        let below = |path: &Path| path.strip_prefix(&home).unwrap().display().to_string();
        let found: Vec<(String, String, usize)> =
            found.iter().map(|link| (below(&link.at), below(&link.to), link.through.len())).collect();
        let expected = [
            (".config/nvim", "dotfiles/v2/nvim", 1),
            (".gitconfig", "dotfiles/v2/gitconfig", 2),
            (".ssh/id", "keys/id", 1),
            ("bin/tool", "tools/real", 1),
        ];
        assert_eq!(found, expected.map(|(at, to, links)| (at.to_owned(), to.to_owned(), links)));
    }
}
