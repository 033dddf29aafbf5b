//! What plans mean for a container.

use super::*;
use crate::plan::{Backend, Ids, Network};

fn plan(mounts: Vec<Mount>) -> Plan {
    Plan {
        backend: Backend::Landlock,
        workspace: "/home/u/w".into(),
        tmp: "/state/tmp".into(),
        mounts,
        network: Network::Open,
        processes: 0,
        memory: 0,
        nested: false,
        ids: Ids::Own,
    }
}

/// Names with a dot in the middle are files, those that begin with `no` do not exist, those with `link` are links.
fn looked(path: &Path) -> Option<Kind> {
    let name = path.file_name()?.to_str()?;
    match name {
        name if name.starts_with("no") => None,
        name if name.contains("link") => Some(Kind::Link),
        name if name.get(1..)?.contains('.') => Some(Kind::File),
        _ => Some(Kind::Directory),
    }
}

fn layer(at: &str, fallback: LayerFallback) -> Mount {
    Mount::Layer { at: at.into(), upper: "/state/up".into(), work: "/state/work".into(), fallback }
}

fn shown(mounts: &Mounts) -> Vec<String> {
    let line = |mount: &EngineMount| {
        let from = match &mount.from {
            From::Path(path) => path.display().to_string(),
            From::Layer { upper, .. } => format!("layer {}", upper.display()),
        };
        format!("{} <- {from}{}", mount.at.display(), if mount.writable { "" } else { " ro" })
    };
    mounts.list.iter().map(line).collect()
}

#[test]
fn only_what_is_named_is_mounted() {
    let mounts = plan(vec![
        Mount::Hide("/home/u/.ssh".into()),
        Mount::Show("/opt/tools".into()),
        Mount::Write("/run/db.sock".into()),
        Mount::Write("/none".into()),
        Mount::Replace { from: "/state/resolv.conf".into(), at: "/etc/resolv.conf".into() },
    ]);
    let mounts = Mounts::of(&mounts, true, &looked);
    assert_eq!(
        shown(&mounts),
        [
            "/tmp <- /state/tmp",
            "/var/tmp <- /state/tmp",
            "/opt/tools <- /opt/tools ro",
            "/run/db.sock <- /run/db.sock",
            "/etc/resolv.conf <- /state/resolv.conf ro",
            "/home/u/w <- /home/u/w",
        ]
    );
    assert!(mounts.directories.is_empty() && mounts.files.is_empty());
}

#[test]
fn a_later_mount_covers_earlier_ones_and_never_the_workspace() {
    let mounts = plan(vec![
        Mount::Protect("/home/u/w/src/auth".into()),
        Mount::Show("/home/u/.cargo".into()),
        Mount::Empty("/home/u".into()),
        Mount::Show("/home/u/.npm".into()),
        Mount::Show("/home/u/.npm".into()),
        Mount::Hide("/home/u/.npm/_auth".into()),
        Mount::Hide("/home/u/.ssh".into()),
        layer("/home/u/.agent", LayerFallback::Upper),
    ]);
    let mounts = Mounts::of(&mounts, true, &looked);
    assert_eq!(
        shown(&mounts),
        [
            "/tmp <- /state/tmp",
            "/var/tmp <- /state/tmp",
            "/home/u <- /state/tmp/.ralph-empty-0",
            "/home/u/.npm <- /home/u/.npm ro",
            "/home/u/.npm/_auth <- /state/tmp/.ralph-hidden ro",
            "/home/u/.agent <- layer /state/up",
            "/home/u/w <- /home/u/w",
            "/home/u/w/src/auth <- /home/u/w/src/auth ro",
            "/run/ralph-pins <- /home/u/w ro",
            "/run/ralph-pins/src <- /home/u/w/src ro",
        ]
    );
    let made: Vec<_> = mounts.directories.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        made,
        [
            "/state/tmp/.ralph-empty-0",
            "/state/tmp/.ralph-empty-0/.agent",
            "/state/tmp/.ralph-empty-0/.npm",
            "/state/tmp/.ralph-empty-0/w",
            "/state/tmp/.ralph-hidden",
        ]
    );
}

#[test]
fn a_link_is_not_protected_and_a_file_is() {
    let inside = |path: &str| PathBuf::from("/home/u/w").join(path);
    let mounts = Mounts::of(
        &plan(vec![
            Mount::Protect(inside("link")),
            Mount::Protect(inside("none")),
            Mount::Protect(inside("ralph.toml")),
            Mount::Hide(inside("a.key")),
        ]),
        true,
        &looked,
    );
    let link = ["/home/u/w/link: passed over, because /home/u/w/link is a link"];
    assert_eq!(mounts.notes, link.map(str::to_owned));
    let last = [
        "/home/u/w <- /home/u/w",
        "/home/u/w/ralph.toml <- /home/u/w/ralph.toml ro",
        "/home/u/w/a.key <- /state/tmp/.ralph-hidden-file ro",
    ];
    assert_eq!(shown(&mounts).get(2..), Some(&last.map(str::to_owned)[..]));
    assert_eq!(mounts.files, BTreeSet::from(["/state/tmp/.ralph-hidden-file".into()]));
}

#[test]
fn mount_points_in_the_own_tmp_are_made_before() {
    let plan = Plan { workspace: "/tmp/w".into(), ..plan(vec![Mount::Show("/tmp/a.sock".into())]) };
    let mounts = Mounts::of(&plan, true, &looked);
    assert_eq!(mounts.directories, BTreeSet::from(["/state/tmp/w".into()]));
    assert_eq!(mounts.files, BTreeSet::from(["/state/tmp/a.sock".into()]));
}
#[test]
fn a_link_that_the_program_could_have_made_is_not_followed() {
    let mounts = plan(vec![
        Mount::Show("/opt/link".into()),
        Mount::Protect("/home/u/w/link/id".into()),
        Mount::Hide("/home/u/w/link/key.pem".into()),
    ]);
    let mounts = Mounts::of(&mounts, true, &looked);
    let last = ["/opt/link <- /opt/link ro", "/home/u/w <- /home/u/w"].map(str::to_owned);
    assert_eq!(shown(&mounts).get(2..), Some(&last[..]));
    assert_eq!(mounts.notes.len(), 2);
}

#[test]
fn something_takes_the_place_of_a_layer_that_cannot_be_made() {
    let layers = |at: &str| {
        let fallbacks = [LayerFallback::ReadOnly, LayerFallback::Write, LayerFallback::Upper];
        fallbacks.map(|fallback| layer(&format!("{at}{fallback:?}"), fallback)).to_vec()
    };
    for (can, at) in [(false, "/c/"), (true, "/c:/")] {
        let mounts = Mounts::of(&plan(layers(at)), can, &looked);
        let expected = [
            format!("{at}ReadOnly <- {at}ReadOnly ro"),
            format!("{at}Write <- {at}Write"),
            format!("{at}Upper <- /state/up"),
        ];
        assert_eq!(shown(&mounts).get(2..5), Some(&expected[..]));
        assert_eq!(mounts.notes.len(), 3);
    }
}

/// A name that begins with `no` does not exist.
#[test]
fn a_layer_over_a_missing_directory_is_mounted_where_no_directory_of_the_users_has_to_take_it() {
    let mounts = plan(vec![
        layer("/home/u/none", LayerFallback::Upper),
        Mount::Empty("/home/u".into()),
        Mount::Show("/home/u/.npm".into()),
        layer("/home/u/.cache/none", LayerFallback::Upper),
        layer("/home/u/.npm/none", LayerFallback::Upper),
        layer("/home/u/link/none", LayerFallback::Upper),
        layer("/data/none", LayerFallback::Upper),
    ]);
    let mounts = Mounts::of(&mounts, true, &looked);
    let last = [
        "/home/u <- /state/tmp/.ralph-empty-0",
        "/home/u/.npm <- /home/u/.npm ro",
        "/home/u/.cache/none <- /state/up",
        "/data/none <- /state/up",
    ];
    assert_eq!(shown(&mounts).get(2..6), Some(&last.map(str::to_owned)[..]));
    assert!(mounts.directories.contains(Path::new("/state/tmp/.ralph-empty-0/.cache/none")));
    assert_eq!(mounts.notes, [""; 0]);
}
