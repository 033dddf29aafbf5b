//! What is seen of which path.

use crate::surroundings::Seen::{Dropped, Gone, Hidden, Kept, ReadOnly, Written};
use crate::surroundings::{Seen, claude, entries, entry, facts, paths, seen, strings};
use ralph_sandbox::policy::{
    AgentNeeds, Facts, HomeView, Mode, Settings, plan_for_agent, plan_for_verification,
};
use ralph_sandbox::{Ids, Mount};
use std::path::Path;

/// Path below home; what is seen of it with tools, all, none.
const HOME: &[(&str, [Seen; 3])] = &[
    (".bashrc", [Dropped, Dropped, Gone]),
    (".config/tool/settings", [Dropped, Dropped, Gone]),
    ("new-file", [Dropped, Dropped, Gone]),
    ("Documents/letter", [Hidden, Dropped, Gone]),
    ("notes.txt", [Hidden, Dropped, Gone]),
    ("projects/other/src", [Hidden, Dropped, Gone]),
    ("projects/todo.txt", [Hidden, Dropped, Gone]),
    ("projects/shop/src/main.rs", [Written, Written, Written]),
    ("everything/x", [Dropped, Dropped, Gone]),
    ("bin/tool", [Dropped, Dropped, ReadOnly]),
    (".cargo/bin/cargo", [Dropped, Dropped, ReadOnly]),
    (".rustup/toolchains", [Dropped, Dropped, ReadOnly]),
    (".local/bin/claude", [Dropped, Dropped, ReadOnly]),
    (".local/share/pipx/venvs", [Dropped, Dropped, ReadOnly]),
    (".local/share/Trash", [Dropped, Dropped, Gone]),
    ("go/bin/gopls", [Dropped, Dropped, ReadOnly]),
    ("go/src/example.org/x", [Hidden, Dropped, Gone]),
    ("miniconda3/lib/python3", [Dropped, Dropped, ReadOnly]),
    ("tools/bin/x", [Dropped, Dropped, ReadOnly]),
    ("tools/private/x", [Hidden, Dropped, Gone]),
    ("pyenv/libexec/pyenv", [Dropped, Dropped, ReadOnly]),
    (".gitconfig", [Dropped, Dropped, ReadOnly]),
    (".ssh/id_ed25519", [Hidden, Hidden, Gone]),
    (".gnupg/trustdb", [Hidden, Hidden, Gone]),
    (".aws/credentials", [Hidden, Hidden, Gone]),
    (".netrc", [Hidden, Hidden, Gone]),
    (".npmrc", [Hidden, Hidden, Hidden]),
    (".docker/config.json", [Hidden, Hidden, Gone]),
    (".docker/daemon.json", [Dropped, Dropped, Gone]),
    (".config/gh/hosts.yml", [Hidden, Hidden, Gone]),
    (".config/google-chrome/Default/Cookies", [Hidden, Hidden, Gone]),
    (".mozilla/firefox/x/cookies.sqlite", [Hidden, Hidden, Gone]),
    (".local/share/keyrings/login.keyring", [Hidden, Hidden, Gone]),
    (".bash_history", [Hidden, Hidden, Gone]),
    (".python_history", [Hidden, Hidden, Gone]),
    (".cargo/credentials.toml", [Hidden, Hidden, Hidden]),
    (".codex/auth.json", [Hidden, Hidden, Gone]),
    (".claude/settings.json", [Kept, Kept, Kept]),
    (".claude.json", [Dropped, Dropped, Gone]),
    (".local/state/ralph/ralph.db", [Hidden, Hidden, Hidden]),
    (".local/state/ralph/runs/1/call/prompt.md", [Written, Written, Written]),
    (".config/ralph/config.toml", [Hidden, Hidden, Gone]),
    (".cargo/registry/cache", [Kept, Kept, Kept]),
    (".cargo/git/db", [Kept, Kept, Kept]),
    (".npm/_cacache/x", [Kept, Kept, Kept]),
    (".npm/_npx/x", [Dropped, Dropped, Gone]),
    (".cache/pip/x", [Kept, Kept, Kept]),
    (".cache/go-build/x", [Kept, Kept, Kept]),
    ("go/pkg/mod/x", [Kept, Kept, Kept]),
    (".m2/repository/x", [Kept, Kept, Kept]),
    (".m2/settings.xml", [Dropped, Dropped, Gone]),
];

fn with_home(home: HomeView) -> Settings {
    Settings { home, ..Settings::default() }
}

#[test]
fn what_is_seen_of_a_home_directory() {
    let views = [HomeView::Tools, HomeView::All, HomeView::None];
    let planned = views.map(|view| plan_for_agent(&facts(), &with_home(view), &claude()));
    for (path, expected) in HOME {
        let found = planned.each_ref().map(|planned| seen(planned, &format!("/home/u/{path}")));
        assert_eq!(found, *expected, "{path}");
    }
    for planned in &planned {
        assert_eq!(seen(planned, "/home/v/x"), Hidden);
        assert_eq!(seen(planned, "/etc/passwd"), ReadOnly);
        assert_eq!(seen(planned, "/etc/shadow"), ReadOnly, "unreadable for a user anyway");
    }
}

#[test]
fn what_a_verification_sees() {
    let planned = plan_for_verification(&facts(), &Settings::default());
    for (path, expected) in [
        ("/home/u/.claude/settings.json", Hidden),
        ("/home/u/.claude.json", Hidden),
        ("/home/u/.codex/config.toml", Hidden),
        ("/home/u/.cargo/registry/x", Kept),
        ("/home/u/.bashrc", Dropped),
        ("/home/u/.ssh/id", Hidden),
        ("/home/u/projects/shop/target", Written),
        ("/home/u/projects/shop/src/auth/login.rs", ReadOnly),
    ] {
        assert_eq!(seen(&planned, path), expected, "{path}");
    }
    assert!(planned.brought_back.is_empty() && planned.seeds.is_empty());
}

#[test]
fn what_is_read_only_in_the_workspace() {
    let planned = plan_for_agent(&facts(), &Settings::default(), &claude());
    for (path, expected) in [
        ("src/auth/login.rs", ReadOnly),
        (".env", ReadOnly),
        (".git/config", ReadOnly),
        (".git/hooks/pre-commit", ReadOnly),
        (".git/info/attributes", ReadOnly),
        (".git/commondir", ReadOnly),
        (".git/gitdir", ReadOnly),
        (".git/config.worktree", ReadOnly),
        (".git/modules/a/config", ReadOnly),
        (".git/modules/a/hooks/x", ReadOnly),
        ("a/.git", ReadOnly),
        ("ralph.toml", ReadOnly),
        (".claude/settings.json", ReadOnly),
        (".envrc", ReadOnly),
        (".git/index", Written),
        (".git/objects/ab", Written),
        (".vscode/tasks.json", Written),
        ("src/main.rs", Written),
    ] {
        assert_eq!(seen(&planned, &format!("/home/u/projects/shop/{path}")), expected, "{path}");
    }
    let protected = |mount: &&Mount| matches!(mount, Mount::Protect(_));
    let deep = Mount::Protect("/home/u/projects/shop/src/auth/deep".into());
    assert!(
        !planned.plan.mounts.contains(&deep),
        "what lies in a protected directory needs no mount of its own"
    );
    assert_eq!(planned.plan.mounts.iter().filter(protected).count(), 18);
}

#[test]
fn a_plan_among_ralphs_own_files_can_be_ticked_and_nothing_else_there() {
    let mut facts = facts();
    facts.workspace_entries.push(".ralph".into());
    facts.plan_file = Some("/home/u/projects/shop/.ralph/plan.md".into());
    let planned = plan_for_agent(&facts, &Settings::default(), &claude());
    assert_eq!(seen(&planned, "/home/u/projects/shop/.ralph/plan.md"), Written);
    assert_eq!(seen(&planned, "/home/u/projects/shop/.ralph/status.json"), ReadOnly);
    facts.protected.push("/home/u/projects/shop/.ralph/plan.md".into());
    let planned = plan_for_agent(&facts, &Settings::default(), &claude());
    assert_eq!(seen(&planned, "/home/u/projects/shop/.ralph/plan.md"), ReadOnly, "it is protected by name");
}

#[test]
fn the_user_opens_and_hides_paths() {
    let settings = Settings {
        readable: strings(&[
            "~/Documents/spec",
            "~/.aws",
            "~/.ssh/known_hosts",
            "~/.config",
            "/run/postgresql/.s.PGSQL.5432",
        ]),
        writable: strings(&["~/out", "~/.m2"]),
        hide: strings(&["~/.config/tool", "/opt/secret", "~/projects", "/home/u/projects/shop/private"]),
        ..Settings::default()
    };
    let mut facts = facts();
    facts.listings.insert("/home/u/Documents".into(), entries(&["spec/", "letters/"]));
    let planned = plan_for_agent(&facts, &settings, &claude());
    for (path, expected) in [
        ("/home/u/Documents/spec/a.md", ReadOnly),
        ("/home/u/Documents/letters/a", Hidden),
        ("/home/u/.aws/credentials", ReadOnly),
        ("/home/u/.ssh/known_hosts", ReadOnly),
        ("/home/u/.ssh/id_ed25519", Hidden),
        ("/home/u/.config/other", ReadOnly),
        ("/home/u/.config/gh/hosts.yml", Hidden),
        ("/home/u/.config/tool/x", Hidden),
        ("/run/postgresql/.s.PGSQL.5432", ReadOnly),
        ("/home/u/out/x", Written),
        ("/home/u/.m2/repository/x", Written),
        ("/opt/secret/x", Hidden),
        ("/home/u/projects/shop/private/x", Hidden),
        ("/home/u/projects/shop/src", Written),
    ] {
        assert_eq!(seen(&planned, path), expected, "{path}");
    }
    assert_eq!(planned.notes.len(), 1);
    assert!(planned.notes[0].contains("~/projects"), "{:?}", planned.notes);
}

#[test]
fn unusual_homes() {
    let needs = claude();
    let plan = |change: &dyn Fn(&mut Facts)| {
        let mut facts = facts();
        change(&mut facts);
        plan_for_agent(&facts, &Settings::default(), &needs)
    };
    let is_home = |mount: &&Mount| matches!(mount, Mount::Layer { at, .. } if at == Path::new("/home/u"));
    let itself = plan(&|facts| facts.workspace = "/home/u".into());
    assert_eq!(itself.plan.mounts.iter().filter(is_home).count(), 0, "a repository of dot files");
    assert_eq!(seen(&itself, "/home/u/.ssh/id"), Hidden);
    assert_eq!(seen(&itself, "/home/u/notes.txt"), Written);
    let disk = plan(&|facts| facts.home = "/".into());
    assert!(
        !disk
            .plan
            .mounts
            .iter()
            .any(|mount| matches!(mount, Mount::Layer { at, .. } if at == Path::new("/")))
    );
    let elsewhere = plan(&|facts| facts.workspace = "/srv/shop".into());
    assert_eq!(seen(&elsewhere, "/home/u/projects/other"), Hidden);
    assert_eq!(seen(&elsewhere, "/srv/shop/x"), Written);
    let unlisted = plan(&|facts| {
        facts.listings.remove(Path::new("/home/u/projects"));
    });
    assert_eq!(seen(&unlisted, "/home/u/projects/other"), Hidden);
    assert_eq!(seen(&unlisted, "/home/u/projects/shop/x"), Written);
    let whole = plan(&|facts| {
        facts.env.insert("VIRTUAL_ENV".into(), "/home/u".into());
        facts.path.push("/home/u".into());
        facts.env.insert("HISTFILE".into(), "/dev/null".into());
    });
    assert_eq!(seen(&whole, "/home/u/notes.txt"), Hidden, "no variable opens the whole home");
    assert_eq!(seen(&whole, "/dev/null"), ReadOnly);
    let moved = plan(&|facts| {
        facts.env.insert("CARGO_HOME".into(), "/data/cargo".into());
        facts.env.insert("GNUPGHOME".into(), "/data/keys".into());
        facts.env.insert("KUBECONFIG".into(), "/data/one:/data/two".into());
        facts.env.insert("XDG_CONFIG_HOME".into(), "/data/config".into());
        facts.env.insert("AWS_WEB_IDENTITY_TOKEN_FILE".into(), "/data/token".into());
    });
    for hidden in ["cargo/credentials.toml", "one", "two", "config/gh/hosts.yml", "token"] {
        assert_eq!(seen(&moved, &format!("/data/{hidden}")), Hidden, "{hidden}");
    }
    assert_eq!(seen(&moved, "/data/config/tool"), ReadOnly);
    assert_eq!(seen(&moved, "/data/cargo/registry/x"), Kept);
    assert_eq!(seen(&moved, "/data/keys/x"), Hidden);
}

#[test]
fn root_in_somebody_elses_workspace() {
    let mut facts = facts();
    (facts.root, facts.owns_workspace, facts.home) = (true, false, "/root".into());
    facts.other_homes = paths(&["/home/u", "/home/v"]);
    facts.listings.insert("/root".into(), entries(&[".ssh/", ".bashrc"]));
    let planned = plan_for_agent(&facts, &Settings::default(), &AgentNeeds::default());
    assert_eq!(planned.plan.ids, Ids::All);
    for (path, expected) in [
        ("/etc/shadow", Hidden),
        ("/root/.ssh/id", Hidden),
        ("/home/v/x", Hidden),
        ("/home/u/.bashrc", Hidden),
        ("/home/u/.ssh/id", Hidden),
        ("/home/u/projects/other", Hidden),
        ("/home/u/projects/shop/x", Written),
    ] {
        assert_eq!(seen(&planned, path), expected, "{path}");
    }
    facts.owns_workspace = true;
    assert_eq!(plan_for_verification(&facts, &Settings::default()).plan.ids, Ids::Own);
}

/// `HOME` may name any directory; the keys of the account lie where the system says.
#[test]
fn the_home_of_the_account_is_hidden_where_another_one_is_set() {
    let plan = |home: &str, workspace: &str, settings: &Settings| {
        let mut facts = Facts { home: home.into(), workspace: workspace.into(), ..facts() };
        facts.account_home = Some("/home/u".into());
        facts.other_homes = paths(&["/home/v", "/home/u"]);
        facts.agent_states.extend(paths(&["/home/u/.claude"]));
        facts.listings.get_mut(Path::new("/home/u")).unwrap().push(entry("x/"));
        facts.listings.insert(home.into(), entries(&[".bashrc", "mine/"]));
        assert!(facts.to_list(settings).contains(Path::new("/home/u")), "{home}");
        plan_for_agent(&facts, settings, &AgentNeeds::default())
    };
    let all = Settings { home: HomeView::All, ..Settings::default() };
    let strict = Settings { mode: Mode::Strict, ..Settings::default() };
    for settings in [&Settings::default(), &all, &strict] {
        for home in ["/tmp/x", "/srv/shop/home", "/home/u/x"] {
            let planned = plan(home, "/srv/shop", settings);
            for hidden in
                [".ssh/id", ".aws/credentials", ".claude/x", ".bash_history", "notes.txt", ".bashrc"]
            {
                assert_eq!(seen(&planned, &format!("/home/u/{hidden}")), Hidden, "{hidden} with {home}");
            }
            assert_eq!(seen(&planned, "/home/u/.cargo/bin/cargo"), ReadOnly, "with {home}");
            assert_ne!(seen(&planned, &format!("{home}/.bashrc")), Hidden, "{home}");
        }
        let inside = plan("/home/u/x", "/home/u", settings);
        for hidden in [".ssh/id", ".aws/credentials", ".bash_history"] {
            assert_eq!(seen(&inside, &format!("/home/u/{hidden}")), Hidden, "{hidden} in the workspace");
        }
        assert_eq!(seen(&inside, "/home/u/notes.txt"), Written);
    }
}

#[test]
fn a_worktree_commits_into_the_repository_it_belongs_to() {
    let mut facts = facts();
    facts.git_directories =
        paths(&["/home/u/projects/other/.git", "/home/u/projects/other/.git/worktrees/shop"]);
    facts.git_files = paths(&["/home/u/projects/shop/.git"]);
    facts.listings.insert("/home/u/projects/other".into(), entries(&[".git/", "src/"]));
    let planned = plan_for_agent(&facts, &Settings::default(), &claude());
    for (path, expected) in [
        ("/home/u/projects/other/.git/objects/ab", Written),
        ("/home/u/projects/other/.git/worktrees/shop/index", Written),
        ("/home/u/projects/other/.git/hooks/x", ReadOnly),
        ("/home/u/projects/other/.git/config", ReadOnly),
        ("/home/u/projects/other/src/x", Hidden),
        ("/home/u/projects/shop/.git", ReadOnly),
    ] {
        assert_eq!(seen(&planned, path), expected, "{path}");
    }
}

#[test]
fn the_caller_is_told_which_directories_to_list() {
    let facts = facts();
    let listed = facts.to_list(&Settings { readable: strings(&["~/Documents/a/b"]), ..Settings::default() });
    for dir in ["", "/projects", "/Documents", "/Documents/a", "/tools", "/miniconda3", "/go"] {
        assert!(listed.contains(Path::new(&format!("/home/u{dir}"))), "{dir}");
    }
    assert!(!listed.contains(Path::new("/home")) && !listed.contains(Path::new("/home/v")));
}

#[test]
fn of_the_temporary_directory_only_programs_and_named_paths_are_seen() {
    let mut facts = facts();
    facts.path.extend(paths(&["/tmp", "/tmp/a/bin", "/var/tmp/tools"]));
    facts.needed = paths(&["/tmp/check.sh", "/tmp", "/tmp/state/ralph/db", "/tmp/b/agent"]);
    facts.own_directories = paths(&["/tmp/state/ralph"]);
    facts.workspace = "/tmp/b/work".into();
    let plan = plan_for_verification(&facts, &Settings::default()).plan;
    let shown = plan.mounts.iter().filter_map(|mount| match mount {
        Mount::Show(path) if path.starts_with("/tmp") || path.starts_with("/var/tmp") => path.to_str(),
        _ => None,
    });
    let beside = ["lib", "lib64", "libexec", "share"].map(|name| format!("/tmp/a/{name}"));
    let mut expected = vec!["/tmp/a/bin", "/tmp/b/agent", "/tmp/check.sh", "/var/tmp/tools"];
    expected.extend(beside.iter().map(String::as_str));
    expected.sort_unstable();
    let mut shown: Vec<&str> = shown.collect();
    shown.sort_unstable();
    assert_eq!(shown, expected);
}

#[test]
fn the_rest_of_the_repository_around_a_workspace_is_seen() {
    let mut facts = facts();
    facts.workspace = "/home/u/projects/shop/web".into();
    facts.git_directories = paths(&["/home/u/projects/shop/.git"]);
    let (facts, settings) = (facts, Settings::default());
    let planned = plan_for_verification(&facts, &settings);
    let rows = [
        ("/home/u/projects/shop/web/main.js", Written),
        ("/home/u/projects/shop/package.json", Dropped),
        ("/home/u/projects/shop/.git/HEAD", Written),
        ("/home/u/projects/other/src", Hidden),
    ];
    for (path, expected) in rows {
        assert_eq!(seen(&planned, path), expected, "{path}");
    }
}

#[test]
fn start_files_are_read_only_where_home_is_the_workspace() {
    let facts = Facts { workspace: "/home/u".into(), ..facts() };
    let planned = plan_for_agent(&facts, &Settings::default(), &claude());
    assert_eq!(seen(&planned, "/home/u/.bashrc"), Seen::ReadOnly);
    assert_eq!(seen(&planned, "/home/u/.config/autostart/x.desktop"), Seen::ReadOnly);
    assert_eq!(seen(&planned, "/home/u/notes.txt"), Seen::Written);
}
