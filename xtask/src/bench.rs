//! The figures, each beside its floor from the same run: machines are shared and noisy, so compare within one run.

use crate::live;
use crate::shell::{Done, cargo, need, target};
use crate::summary::Summary;

/// Runs every benchmark.
pub fn bench(summary: &mut Summary) -> Done {
    need(summary, "strace", "strace")?;
    need(summary, "bwrap", "bubblewrap")?;
    for (what, package, example) in [
        ("tree walk", "ralph-tree", "walk_bench"),
        ("snapshots and undo", "ralph-snapshots", "snapshot_bench"),
        ("commit", "ralph-store", "store_bench"),
        ("fifty processes", "ralph-store", "race_bench"),
        ("supervisor", "ralph-supervisor", "supervisor_bench"),
        ("sandbox", "ralph-sandbox", "sandbox_bench"),
        ("gate of the sandbox", "ralph-sandbox", "gate_bench"),
        ("reader", "ralph-agents", "reader_bench"),
        ("redaction", "ralph-engine", "redact_bench"),
        ("monitor", "ralph-monitor", "monitor_bench"),
        ("whole product", "ralph", "product_bench"),
    ] {
        let which = ["run", "--quiet", "--release", "--package", package, "--example", example];
        summary.run(what, &mut cargo(&which))?;
    }
    summary.run("release build", &mut cargo(&["build", "--release", "--package", "ralph"]))?;
    let server = ["run", "--quiet", "--release", "--package", "ralph-web", "--example", "serve_bench", "--"];
    summary.run("server", cargo(&server).arg(target().join("release/ralph")))?;
    let hooks =
        ["test", "--release", "--package", "ralph", "--test", "hook_speed", "--", "--ignored", "--nocapture"];
    summary.run("hooks of a session", &mut cargo(&hooks))?;
    live::bench(summary)
}
