//! What others' programs think: Schemathesis of the API, promtool of the metrics. `tools/install-checkers` installs both.

use super::scene::{Scene, claude};
use super::served::Served;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A checker that was installed, or is on the path.
fn checker(name: &str) -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/checkers/bin").join(name);
    let all = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&all).map(|dir| dir.join(name));
    std::iter::once(installed).chain(on_path).find(|path| path.is_file())
}

fn scene_with_runs() -> Scene {
    let scene = Scene::new();
    scene.sim("Make a", &["--verify", "test -e a"], "say Looking; write a x; claim complete");
    scene.sim("Never ends", &["--fresh", "--verify", "false"], "write b x; claim progress");
    scene
}

/// What the scripted agent did, and as much by one that ralph takes for real.
fn scene_with_real_runs() -> Scene {
    let scene = Scene::with_claude();
    scene.ralph(&claude("Make a", &["--verify", "test -e a"], "write a x; spend 0.04; claim complete"));
    scene.ralph(&claude("Never ends", &["--fresh", "--verify", "false"], "write b x; claim progress"));
    scene.sim("Make c", &["--fresh", "--verify", "test -e c"], "write c x; claim complete");
    scene
}

#[test]
fn metrics_leave_scripted_runs_out() {
    let metrics = Served::start(&scene_with_real_runs(), &[]).get("/metrics").body;
    for line in
        ["ralph_runs_started_total 2", "ralph_runs{state=\"completed\"} 1", "ralph_iterations_total 4"]
    {
        assert!(metrics.lines().any(|one| one == line), "{line}\n{metrics}");
    }
    assert!(
        metrics.contains("ralph_calls_total{agent=\"claude\"") && !metrics.contains("=\"sim\""),
        "{metrics}"
    );
    let scripted = Served::start(&scene_with_runs(), &[]).get("/metrics").body;
    for line in ["ralph_runs_started_total 0", "ralph_iterations_total 0", "ralph_runs_needing_attention 0"] {
        assert!(scripted.lines().any(|one| one == line), "{line}\n{scripted}");
    }
    assert!(!scripted.contains("ralph_runs{") && !scripted.contains("ralph_calls_total"), "{scripted}");
}

#[test]
fn promtool_takes_the_metrics() {
    let Some(promtool) = checker("promtool") else {
        return ralph_testkit::skip_outside_ci("promtool is not installed (tools/install-checkers)");
    };
    let metrics = Served::start(&scene_with_real_runs(), &[]).get("/metrics").body;
    let mut check = Command::new(promtool);
    check.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut check = check.spawn().unwrap();
    check.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let said = check.wait_with_output().unwrap();
    let said_text =
        String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && said_text.trim().is_empty(), "{said_text}\n{metrics}");
}

#[test]
fn schemathesis_finds_nothing() {
    let Some(schemathesis) = checker("schemathesis") else {
        return ralph_testkit::skip_outside_ci("Schemathesis is not installed (tools/install-checkers)");
    };
    let scene = scene_with_runs();
    let served = Served::start(&scene, &["--allow-control"]);
    let file = scene.scratch.root().join("openapi.json");
    std::fs::write(&file, ralph_web::OPENAPI).unwrap();
    let config = scene.scratch.root().join("schemathesis.toml");
    let refusals = "[checks.negative_data_rejection]\nexpected-statuses = [\"4xx\", \"5xx\"]\n";
    std::fs::write(&config, refusals).unwrap();
    let mut check = Command::new(schemathesis);
    check.arg("--config-file").arg(&config);
    check.arg("run").arg(&file).arg("--url").arg(format!("http://{}", served.address));
    check.arg("--header").arg(format!("Authorization: Bearer {}", served.token));
    // Events never end.
    check.args([
        "--exclude-path",
        "/api/v1/events",
        "--checks",
        "all",
        "--exclude-checks",
        "ignored_auth,positive_data_acceptance",
    ]);
    check.args([
        "--max-examples",
        "25",
        "--max-time",
        "40",
        "--seed",
        "1",
        "--request-timeout",
        "15",
        "--no-color",
    ]);
    let said = check.current_dir(scene.scratch.root()).output().unwrap();
    let said_text =
        String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{said_text}");
    assert_eq!(served.get("/healthz").status, 200);
}
