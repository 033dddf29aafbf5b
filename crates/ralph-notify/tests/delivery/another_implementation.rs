//! Signatures, checked by the `standardwebhooks` package of PyPI on what a receiver really got.

use crate::receiver::{Behaviour, Receiver};
use crate::scene::{SECRET, Scene, webhook};
use ralph_notify::{Kind, Target, Webhook};
use std::io::Write;
use std::process::{Command, Stdio};

const CHECK: &str = "
import json, sys
from standardwebhooks.webhooks import Webhook
given = json.load(sys.stdin)
Webhook(given['secret']).verify(given['body'], given['headers'])
try:
    Webhook(given['secret']).verify(given['body'] + ' ', given['headers'])
except Exception:
    print('verified')
";

/// A Python that has the package: the system's, or one in a virtual environment made for this test.
fn python(scene: &Scene) -> Option<String> {
    let has = |python: &str| {
        let check =
            Command::new(python).args(["-c", "import standardwebhooks"]).stderr(Stdio::null()).status();
        check.is_ok_and(|status| status.success())
    };
    if has("python3") {
        return Some("python3".into());
    }
    let environment = scene.dir.path().join("venv");
    let quiet = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let status = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let own = environment.join("bin/python").to_string_lossy().into_owned();
    let made = quiet("python3", &["-m", "venv", &environment.to_string_lossy()]);
    let installed = made && quiet(&own, &["-m", "pip", "install", "--quiet", "standardwebhooks"]);
    (installed && has(&own)).then_some(own)
}

#[test]
fn another_implementation_accepts_what_a_receiver_got() {
    let scene = Scene::new();
    let Some(python) = python(&scene) else {
        return ralph_testkit::skip_outside_ci(
            "the Python package standardwebhooks cannot be installed here",
        );
    };
    let receiver = Receiver::plain(Behaviour::Status(204, ""));
    let Kind::Webhook(plain) = webhook(&receiver.url()).kind else { unreachable!() };
    let target = Target { kind: Kind::Webhook(Webhook { secret_file: Some(scene.secret_file()), ..plain }) };
    // Its tolerance is five minutes: what is signed is the time of sending, not that of the note.
    scene.note(&target, 1);
    assert!(scene.delivery("a").next(&target, None).unwrap().unwrap().delivered);
    let received = receiver.received().pop().unwrap();
    let headers: serde_json::Map<String, serde_json::Value> =
        received.headers.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let body = String::from_utf8(received.body).unwrap();
    let given = serde_json::json!({ "secret": SECRET, "headers": headers, "body": body });
    let mut child = Command::new(python)
        .args(["-c", CHECK])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "verified");
}
