//! The same attacks where home is not simply read-only: behind a layer, as by default, and empty, as for strict runs. In
//! both the workspace lies in a directory that is not the real one.

use crate::attack::{Attack, Who};
use crate::play::{Around, all, bwrap};
use crate::{git_files, layers, protected, read_hidden, write_outside};
use ralph_sandbox::{Backend, Mount, Plan};

fn attacks() -> impl Iterator<Item = Attack> {
    let families =
        [write_outside::attacks(), read_hidden::attacks(), protected::attacks(), git_files::attacks()];
    families.into_iter().flatten()
}

fn behind_a_layer(plan: &mut Plan) {
    layers::add(plan, &[""]);
}

fn empty(plan: &mut Plan) {
    let home = plan.workspace.parent().unwrap().to_path_buf();
    let shown = [".gitconfig", ".local/bin", ".cargo"].map(|name| Mount::Show(home.join(name)));
    let first = std::iter::once(Mount::Empty(home)).chain(shown).collect::<Vec<_>>();
    plan.mounts.splice(0..0, first);
}

fn held(plan: fn(&mut Plan), who: Who, backend: Backend) {
    all(attacks().map(|attack| attack.plan(plan)).collect(), who, &Around::Box(backend));
}

#[test]
fn behind_a_layer_in_namespaces_as_root() {
    held(behind_a_layer, Who::Root, Backend::Namespaces);
}

#[test]
fn behind_a_layer_in_namespaces_as_a_user() {
    held(behind_a_layer, Who::User, Backend::Namespaces);
}

#[test]
fn behind_a_layer_in_bwrap_as_a_user() {
    held(behind_a_layer, Who::User, bwrap());
}

#[test]
fn empty_in_namespaces_as_a_user() {
    held(empty, Who::User, Backend::Namespaces);
}

#[test]
fn empty_in_bwrap_as_root() {
    held(empty, Who::Root, bwrap());
}
