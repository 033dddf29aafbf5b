//! A run that is under way, seen and controlled from the page's side of the server.

use super::client::SOON;
use super::scene::{Scene, sim};
use super::served::Served;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Instant;

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + SOON;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_seen_from_start_to_end_and_does_what_it_is_asked() {
    let scene = Scene::new();
    let served = Served::start(&scene, &["--allow-control"]);
    let mut events = served.events("", Some("0"));
    let door = scene.scratch.root().join("door");
    let script = format!(
        "say Looking around; run while [ ! -e '{0}' ]\\; do sleep 0.05\\; done\\; rm '{0}'; write a x; claim progress",
        door.display()
    );
    let args = sim("Wait for it", &["--verify", "false"], &script);
    let mut run = scene.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let card = wait_for("the run", || {
        let overview = served.get("/api/v1/overview").json();
        let card = overview["cards"].get(0)?.clone();
        (card["group"] == "working" && card["strip"]["bars"].get(0).is_some()).then_some(card)
    });
    let id = card["id"].as_str().unwrap().to_owned();
    assert_eq!(served.get("/api/v1/overview").json()["control"], true);
    let detail = served.get(&format!("/api/v1/runs/{id}")).json();
    assert_eq!(detail["card"]["task"], "Wait for it");
    assert_eq!(detail["verify"], json!(["false"]));
    wait_for("the agent's words", || {
        let detail = served.get(&format!("/api/v1/runs/{id}")).json();
        detail["lines"].as_array().unwrap().iter().any(|line| line["text"] == "Looking around").then_some(())
    });
    let ask = |body: Value| served.post(&format!("/api/v1/runs/{id}/requests"), &body.to_string());
    let hint = ask(json!({"request": "hint", "text": "Use the door"}));
    assert_eq!((hint.status, hint.json()), (202, json!({"recorded": true})));
    assert_eq!(ask(json!({"request": "pause"})).json(), json!({"recorded": true}));
    let away = ask(json!({"request": "put_away"}));
    assert_eq!((away.status, &away.json()["error"]["code"]), (409, &json!("active")), "{away:?}");
    assert!(away.json()["error"]["message"].as_str().unwrap().contains("once it has ended"));
    std::fs::write(&door, "").unwrap();
    wait_for("the pause", || {
        (served.get("/api/v1/overview").json()["cards"][0]["status"] == "PAUSED").then_some(())
    });
    let mut lines = served.events(&format!("?run={id}"), None);
    assert_eq!(ask(json!({"request": "continue"})).status, 202);
    let said = wait_for("what the agent says", || {
        let event = lines.next().unwrap();
        event.data["lines"].as_array().into_iter().flatten().find(|line| line["kind"] == "said").cloned()
    });
    assert_eq!(said["text"], "Looking around");
    let prompt = wait_for("the second prompt", || {
        let got = served.get(&format!("/api/v1/runs/{id}/iterations/2/prompt"));
        (got.status == 200).then(|| got.json())
    });
    assert!(prompt["text"].as_str().unwrap().contains("Use the door"), "{prompt}");
    ask(json!({"request": "stop"}));
    run.wait().unwrap();
    let ended = wait_for("the end", || {
        let event = events.next().unwrap();
        (event.name == "run" && !event.data["exit_code"].is_null()).then_some(event)
    });
    assert_eq!(ended.data["id"], id.as_str());
    assert_eq!(ask(json!({"request": "pause"})).status, 409);
    assert_eq!(ask(json!({"request": "put_away"})).status, 202);
}

#[test]
fn without_control_nothing_is_asked_of_a_run() {
    let scene = Scene::new();
    scene.sim("x", &["--verify", "false"], "write a x; claim blocked");
    let served = Served::start(&scene, &[]);
    let id = served.get("/api/v1/overview").json()["cards"][0]["id"].as_str().unwrap().to_owned();
    for request in ["pause", "continue", "stop", "stop_after", "hint", "put_away", "take_back"] {
        let got =
            served.post(&format!("/api/v1/runs/{id}/requests"), &json!({"request": request}).to_string());
        assert_eq!(got.status, 403, "{request}");
        assert_eq!(got.json()["error"]["code"], "read_only");
    }
}
