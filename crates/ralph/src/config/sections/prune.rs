//! `[prune]`: how long the files of runs are kept.

use crate::config::key::{Key, Section, Shape};
use crate::config::kind::Kind;

pub const PRUNE: Section = Section {
    name: "prune",
    about: "How long the files of runs are kept.",
    shape: Shape::Table,
    keys: &[Key::new(
        "prune.keep",
        Kind::Retention(|s, _, keep| s.keep_runs = keep),
        "How long transcripts, prompts and snapshots of a run are kept. The end of a run deletes older ones of its own \
         workspace, or of all workspaces if your own config.toml sets this key. The latest run of a workspace, runs that \
         can be resumed or await review, journals and costs are always kept.",
    )
    .default("\"30d\"")],
};
