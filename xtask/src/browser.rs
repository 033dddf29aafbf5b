//! The page of `ralph serve` in Debian's Chromium, by its driver: installs both and axe-core, and runs
//! `crates/ralph-web/tests/browser`, which starts the release binary with scripted runs.

use crate::shell::{Done, need, root, target};
use crate::summary::Summary;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds what people with other eyes and hands stumble over.
const AXE: &str = "axe-core@4.14.0";

/// Runs the tests of the page.
pub fn browser(summary: &mut Summary, binary: &Path) -> Done {
    need(summary, "chromium", "chromium")?;
    need(summary, "chromedriver", "chromium-driver")?;
    let axe = axe(summary)?;
    let mut tests = Command::new("python3");
    tests.arg("crates/ralph-web/tests/browser/run.py").current_dir(root());
    summary.tests("page in a browser", tests.env("RALPH_BIN", binary).env("RALPH_AXE", axe))
}

fn axe(summary: &mut Summary) -> Result<PathBuf, String> {
    let folder = target().join("axe");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.is_file() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).arg(AXE);
        summary.run("install axe-core", &mut install)?;
    }
    Ok(script)
}
