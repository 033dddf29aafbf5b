//! That the tests themselves see a hole, also among attacks that share a box.

use crate::attack::Who;
use crate::play::{Around, bwrap, wrong};
use crate::protected;
use ralph_sandbox::{Backend, Mount, Plan};

/// Leaves one of the protected paths open.
fn with_a_hole(plan: &mut Plan) {
    let open = Mount::Protect(plan.workspace.join(".env"));
    plan.mounts.retain(|mount| *mount != open);
}

#[test]
fn a_hole_is_seen_among_others_and_only_there() {
    for backend in [Backend::Namespaces, bwrap()] {
        let attacks = protected::attacks().into_iter().map(|attack| attack.plan(with_a_hole)).collect();
        let found = wrong(attacks, Who::User, &Around::Box(backend));
        let is_found = |name: &str| found.iter().any(|line| line.starts_with(&format!("{name}: NOT HELD")));
        for through in ["edit a file", "truncate", "write by mapping", "delete a file", "chmod a file"] {
            assert!(is_found(through), "{through} was not found: {found:#?}");
        }
        for held in ["edit a file deep below", "edit a file in a directory", "rename the directory above"] {
            assert!(!is_found(held), "{held} was held: {found:#?}");
        }
    }
}
