//! What links of the home directory lead to.

use crate::surroundings::Seen::{Dropped, Gone, Hidden, ReadOnly, Written};
use crate::surroundings::{Seen, claude, entries, facts, followed, link, paths, seen, strings};
use ralph_sandbox::Backend;
use ralph_sandbox::policy::{Facts, HomeView, Link, Settings, plan_for_agent, plan_for_verification};

/// Dot files that lie in `~/dotfiles`, of which only `tool` has a directory of its own.
fn linked() -> Vec<Link> {
    vec![
        link(".gitconfig", "dotfiles/gitconfig"),
        link(".config/nvim", "dotfiles/nvim"),
        link(".config/tool", "dotfiles/tool"),
        link(".netrc", "dotfiles/netrc"),
        link(".npmrc", "dotfiles/npmrc"),
        link(".ssh", "dotfiles/ssh"),
        link(".ssh/config", "dotfiles/ssh/config"),
        link(".ssh/id", "keys/id"),
        link(".codex", "dotfiles/codex"),
        link(".odd", "dotfiles/copy/.aws/credentials"),
        link(".log", "dotfiles/.zsh_history"),
        link(".alias", "dotfiles/ssh/config"),
        link(".work", "projects/shop/src"),
        link(".all", "projects"),
        link(".other", "../v/notes"),
        link("bin/mytool", "opt/real/mytool"),
        link("bin/other", "opt/app/bin/other"),
        link("bin/secret", "dotfiles/ssh/id"),
    ]
}

fn with_links() -> Facts {
    let mut facts = Facts { links: linked(), ..facts() };
    let home = facts.listings.get_mut(std::path::Path::new("/home/u")).unwrap();
    home.extend(entries(&["dotfiles/", "keys/", "opt/"]));
    facts
        .listings
        .insert("/home/u/dotfiles/tool".into(), entries(&[".env", ".aws/", "settings", ".sh_history"]));
    facts.links.iter_mut().find(|link| link.to.ends_with("v/notes")).unwrap().to = "/home/v/notes".into();
    facts
}

const ROWS: &[(&str, [Seen; 3])] = &[
    ("dotfiles/gitconfig", [ReadOnly, Dropped, ReadOnly]),
    ("dotfiles/nvim/init.lua", [ReadOnly, Dropped, Gone]),
    ("dotfiles/other", [Hidden, Dropped, Gone]),
    ("dotfiles/tool/settings", [ReadOnly, Dropped, Gone]),
    ("dotfiles/tool/.env", [Hidden, Dropped, Gone]),
    ("dotfiles/tool/.aws/credentials", [Hidden, Dropped, Gone]),
    ("dotfiles/tool/.sh_history", [Hidden, Dropped, Gone]),
    ("dotfiles/netrc", [Hidden, Hidden, Gone]),
    ("dotfiles/npmrc", [Hidden, Hidden, Hidden]),
    ("dotfiles/ssh/id", [Hidden, Hidden, Gone]),
    ("keys/id", [Hidden, Hidden, Gone]),
    ("dotfiles/codex/auth.json", [Hidden, Hidden, Gone]),
    ("dotfiles/copy/.aws/credentials", [Hidden, Dropped, Gone]),
    ("dotfiles/.zsh_history", [Hidden, Dropped, Gone]),
    ("projects/todo.txt", [Hidden, Dropped, Gone]),
    ("projects/shop/src/main.rs", [Written, Written, Written]),
    ("opt/real/mytool", [ReadOnly, Dropped, ReadOnly]),
    ("opt/real/other", [Hidden, Dropped, Gone]),
    ("opt/app/bin/other", [ReadOnly, Dropped, ReadOnly]),
    ("opt/app/lib/other.so", [ReadOnly, Dropped, ReadOnly]),
];

#[test]
fn what_links_lead_to_is_seen_and_nothing_beside_it() {
    let facts = with_links();
    let planned = [HomeView::Tools, HomeView::All, HomeView::None].map(|home| {
        let planned = plan_for_agent(&facts, &Settings { home, ..Settings::default() }, &claude());
        followed(&planned, &facts.links)
    });
    for (path, expected) in ROWS {
        let found = planned.each_ref().map(|planned| seen(planned, &format!("/home/u/{path}")));
        assert_eq!(found, *expected, "{path}");
    }
    let other = [ReadOnly, ReadOnly, Hidden];
    assert_eq!(planned.each_ref().map(|planned| seen(planned, "/home/v/notes")), other);
}

#[test]
fn an_agents_own_state_behind_a_link_is_hidden_from_the_verification() {
    let mut facts = with_links();
    facts.links.push(link(".claude", "dotfiles/claude"));
    let agent = followed(&plan_for_agent(&facts, &Settings::default(), &claude()), &facts.links);
    assert_eq!(seen(&agent, "/home/u/dotfiles/claude/x"), ReadOnly);
    let check = followed(&plan_for_verification(&facts, &Settings::default()), &facts.links);
    assert_eq!(seen(&check, "/home/u/dotfiles/claude/x"), Hidden);
}

/// A link that lies where a program of an earlier call could write leads nowhere.
#[test]
fn links_that_a_contained_program_may_have_made_are_not_followed() {
    let way = |at: &str, through: &str, to: &str| Link {
        through: vec![format!("/home/u/{through}").into()],
        ..link(at, to)
    };
    let links = vec![
        way(".a", "projects/shop/planted", "letters/a"),
        way("bin/b", "out/planted", "letters/b"),
        way(".c", ".claude/planted", "letters/c"),
        way(".d", ".d", "letters/d"),
        way(".e", ".cache/pip/planted", "letters/e"),
    ];
    for (backend, state) in [(Backend::Namespaces, ReadOnly), (Backend::Landlock, Hidden)] {
        let mut facts = Facts { backend, links: links.clone(), ..facts() };
        facts
            .listings
            .get_mut(std::path::Path::new("/home/u"))
            .unwrap()
            .extend(entries(&["letters/", "out/"]));
        let settings = Settings { writable: strings(&["~/out"]), ..Settings::default() };
        let planned = followed(&plan_for_agent(&facts, &settings, &claude()), &facts.links);
        for (path, expected) in [("a", Hidden), ("b", Hidden), ("c", state), ("d", ReadOnly), ("e", state)] {
            assert_eq!(seen(&planned, &format!("/home/u/letters/{path}")), expected, "{path}");
        }
    }
}

#[test]
fn a_secret_that_a_link_leads_to_is_hidden_in_what_is_opened() {
    let mut facts = with_links();
    facts.path.extend(paths(&["/home/u/dotfiles/bin"]));
    facts.listings.insert("/home/u/dotfiles".into(), entries(&["bin/", "ssh/", "other"]));
    let settings = Settings { home: HomeView::None, ..Settings::default() };
    let planned = followed(&plan_for_agent(&facts, &settings, &claude()), &facts.links);
    assert_eq!(
        seen(&planned, "/home/u/dotfiles/other"),
        ReadOnly,
        "a directory of programs has it beside itself"
    );
    for path in ["dotfiles/ssh/id", "dotfiles/netrc", "dotfiles/npmrc"] {
        assert_eq!(seen(&planned, &format!("/home/u/{path}")), Hidden, "{path}");
    }
    let settings = Settings { readable: strings(&["~/dotfiles"]), ..Settings::default() };
    let planned = followed(&plan_for_agent(&facts, &settings, &claude()), &facts.links);
    assert_eq!(seen(&planned, "/home/u/dotfiles/ssh/id"), Hidden);
    assert_eq!(seen(&planned, "/home/u/dotfiles/other"), ReadOnly);
    let settings = Settings { readable: strings(&["~/.ssh"]), ..Settings::default() };
    let planned = followed(&plan_for_agent(&facts, &settings, &claude()), &facts.links);
    assert_eq!(seen(&planned, "/home/u/dotfiles/ssh/id"), ReadOnly, "the user opened it");
}

/// Where home is otherwise empty, a setting that is a link must not show what the link leads to, if that is everything.
#[test]
fn a_setting_that_leads_to_a_whole_home_shows_nothing() {
    for to in ["", "projects", ".ssh"] {
        let facts = Facts { links: vec![link(".config/git", to)], ..facts() };
        let settings = Settings { home: HomeView::None, ..Settings::default() };
        let planned = followed(&plan_for_agent(&facts, &settings, &claude()), &facts.links);
        for path in ["notes.txt", "projects/todo.txt", ".ssh/id"] {
            assert_eq!(seen(&planned, &format!("/home/u/{path}")), Gone, "{to}: {path}");
        }
    }
}
