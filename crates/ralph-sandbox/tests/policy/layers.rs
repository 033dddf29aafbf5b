//! Layers, what takes their place, and what is copied around a call.

use crate::surroundings::Seen::{Kept, Written};
use crate::surroundings::{claude, facts, seen};
use ralph_sandbox::policy::{BroughtBack, Copied, Facts, Planned, Settings, plan_for_agent};
use ralph_sandbox::{Backend, LayerFallback, Mount};
use std::path::Path;

fn fallback_at(planned: &Planned, path: &str) -> Option<LayerFallback> {
    planned.plan.mounts.iter().find_map(|mount| match mount {
        Mount::Layer { at, fallback, .. } if at == Path::new(path) => Some(*fallback),
        _ => None,
    })
}

#[test]
fn what_takes_the_place_of_a_layer() {
    use LayerFallback::{ReadOnly, Upper, Write};
    for (backend, overlay, said) in [
        (Backend::Namespaces, true, false),
        (Backend::Namespaces, false, true),
        (Backend::Bwrap("/usr/bin/bwrap".into()), false, true),
        (Backend::Landlock, false, true),
    ] {
        let landlock = backend == Backend::Landlock;
        let planned = plan_for_agent(&Facts { backend, overlay, ..facts() }, &Settings::default(), &claude());
        assert_eq!(fallback_at(&planned, "/home/u"), Some(ReadOnly));
        let cache = if landlock { Write } else { Upper };
        assert_eq!(fallback_at(&planned, "/home/u/.cargo/registry"), Some(cache));
        let programs = if landlock { ReadOnly } else { Upper };
        assert_eq!(fallback_at(&planned, "/home/u/.cache/uv"), Some(programs));
        assert_eq!(fallback_at(&planned, "/home/u/.claude"), (!landlock).then_some(Upper));
        let state = seen(&planned, "/home/u/.claude/x");
        assert_eq!(state, if landlock { Written } else { Kept });
        assert_eq!(planned.notes.is_empty(), !said);
        assert_eq!(planned.seeds.is_empty(), overlay || landlock);
    }
}

#[test]
fn only_credentials_are_brought_back() {
    let planned = plan_for_agent(&Facts { overlay: false, ..facts() }, &Settings::default(), &claude());
    let credentials = BroughtBack {
        layer: "/kept/state/.claude/upper".into(),
        directory: "/home/u/.claude".into(),
        file: ".credentials.json".into(),
    };
    assert_eq!(planned.brought_back, [credentials]);
    let seed = Copied { from: "/home/u/.claude".into(), to: "/kept/state/.claude/upper".into() };
    assert_eq!(planned.seeds, [seed]);
    for dir in [
        "/call/tmp",
        "/call/home/upper",
        "/call/home/work",
        "/kept/state/.claude/work",
        "/kept/caches/home/.npm/_cacache",
        "/kept/caches/work/npm",
    ] {
        assert!(planned.directories.contains(&dir.into()), "{dir}");
    }
}

fn upper_at(planned: &Planned, path: &str) -> String {
    let found = planned.plan.mounts.iter().find_map(|mount| match mount {
        Mount::Layer { at, upper, .. } if at == Path::new(path) => Some(upper.display().to_string()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Neighbours share an overlay if their layers lie as they do; see `shared_layers.rs`.
#[test]
fn layers_of_caches_lie_as_the_caches_do() {
    let planned = plan_for_agent(&facts(), &Settings::default(), &claude());
    for below in [".cache/pip", ".cache/uv", ".cargo/registry", ".cargo/git", ".local/share/pnpm/store"] {
        assert_eq!(upper_at(&planned, &format!("/home/u/{below}")), format!("/kept/caches/home/{below}"));
    }
    let mut facts = facts();
    facts.env.insert("UV_CACHE_DIR".into(), "/data/uv".into());
    facts.env.insert("PIP_CACHE_DIR".into(), "/home/u/.cargo/registry/pip".into());
    let planned = plan_for_agent(&facts, &Settings::default(), &claude());
    assert_eq!(upper_at(&planned, "/data/uv"), "/kept/caches/others/uv");
    // One in the other: neither may write into the other's layer.
    assert_eq!(upper_at(&planned, "/home/u/.cargo/registry"), "/kept/caches/others/cargo-registry");
    assert_eq!(upper_at(&planned, "/home/u/.cargo/registry/pip"), "/kept/caches/others/pip");
}

/// Whether it is there or not: what is written to it is kept. But a directory that would lead its tool away from its settings is
/// not made.
#[test]
fn caches_that_are_not_there_have_a_layer_too() {
    let planned = plan_for_agent(&facts(), &Settings::default(), &claude());
    for (path, expected) in [
        (".gradle/caches", true),
        (".cache/uv", true),
        (".yarn/berry/cache", true),
        (".ccache", false),
        (".cabal/packages", false),
    ] {
        assert_eq!(!upper_at(&planned, &format!("/home/u/{path}")).is_empty(), expected, "{path}");
    }
    let mut facts = facts();
    facts.listings.get_mut(Path::new("/home/u")).unwrap().extend(crate::surroundings::entries(&[".cabal/"]));
    let planned = plan_for_agent(&facts, &Settings::default(), &claude());
    assert!(!upper_at(&planned, "/home/u/.cabal/packages").is_empty());
}
