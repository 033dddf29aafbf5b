//! What is left on systems that have less: where only bubblewrap may make namespaces, in containers, and on older kernels.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use ralph_sandbox::{Backend, Ids, Network, Plan};
use ralph_testkit::{Refused, Scratch, on_older_kernel};
use std::path::PathBuf;
use std::process::Output;

const HELD_BY_NAMESPACES: &str = "held: files, protected paths, processes\n";

fn backends() -> [Backend; 3] {
    [Backend::Namespaces, Backend::Bwrap(PathBuf::from("/usr/bin/bwrap")), Backend::Landlock]
}

/// Runs the test program with a plan of this backend where this is refused.
fn on(refused: Refused, backend: Backend, command: &str, program: &[&str]) -> Output {
    let scratch = Scratch::new();
    let (workspace, tmp) = (scratch.workspace(), scratch.root().join("tmp"));
    std::fs::create_dir(&tmp).unwrap();
    let file = scratch.root().join("plan");
    let plan = Plan {
        backend,
        workspace: workspace.clone(),
        tmp,
        mounts: vec![],
        network: Network::Open,
        processes: 0,
        memory: 0,
        nested: false,
        ids: Ids::Own,
    };
    std::fs::write(&file, serde_json::to_vec(&plan).unwrap()).unwrap();
    let mut box_program = on_older_kernel(refused, env!("CARGO_BIN_EXE_ralph-sandbox-test"));
    box_program.arg(command).arg(&file);
    if !program.is_empty() {
        box_program.arg(&workspace).args(program);
    }
    box_program.output().unwrap()
}

/// How many of the backends fail before one works, and what the probe of that one says.
fn first_that_holds(refused: Refused) -> (usize, String) {
    let probes = backends().map(|backend| on(refused, backend, "probe", &[]));
    let held = probes.iter().position(|probe| probe.status.success());
    let text = |at: usize| String::from_utf8_lossy(&probes[at].stdout).into_owned();
    (held.unwrap_or(probes.len()), held.map(text).unwrap_or_default())
}

#[test]
fn where_only_bubblewrap_may_it_holds_the_same() {
    assert_eq!(first_that_holds(Refused::Unshare), (1, HELD_BY_NAMESPACES.to_owned()));
}

#[test]
fn in_a_container_landlock_holds_files_and_not_what_require_needs() {
    let (failed, said) = first_that_holds(Refused::Namespaces);
    assert_eq!(failed, 2, "{said}");
    assert!(said.starts_with("held: files") && !said.contains("protected paths"), "{said}");
}

#[test]
fn on_an_older_kernel_nothing_holds_and_every_backend_says_why() {
    assert_eq!(first_that_holds(Refused::NamespacesAndLandlock).0, 3);
    for backend in backends() {
        let probe = on(Refused::NamespacesAndLandlock, backend.clone(), "probe", &[]);
        let said = String::from_utf8_lossy(&probe.stdout).into_owned();
        assert!(said.starts_with("not held: ") && said.len() > 20, "{backend:?}: {said}");
        // A program is not started without what was planned.
        let run = on(Refused::NamespacesAndLandlock, backend.clone(), "run", &["sh", "-c", "echo RAN"]);
        let report = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(report.contains("report: failed sandbox ") && run.stdout.is_empty(), "{backend:?}: {report}");
        assert_eq!(run.status.code(), Some(125));
    }
}
