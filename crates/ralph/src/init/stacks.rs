//! One file a stack: how it is recognised, and which of its commands really exist.

mod dotnet;
mod go;
mod jvm;
mod make;
mod node;
mod php;
mod python;
mod ruby;
mod rust;

use super::found::Found;
use super::look::Look;
use crate::env::Env;

/// Every stack of one directory. `manager` is the Node package manager of a directory above.
pub fn all(look: &Look, env: &Env, manager: Option<&str>) -> Vec<Found> {
    [
        rust::find(look, env),
        node::find(look, manager),
        python::find(look, env),
        go::find(look),
        jvm::maven(look),
        jvm::gradle(look),
        dotnet::find(look),
        ruby::find(look),
        php::find(look),
        make::just(look),
        make::make(look),
    ]
    .into_iter()
    .flatten()
    .collect()
}
