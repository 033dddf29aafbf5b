//! The table of wrong inputs, `wrong_inputs.txt`: each is typed for real, and what it gets is in the snapshot beside the
//! others, to be read in one sitting. Every message says what happened and what to type next, and a script gets the same
//! as one JSON object.

use super::scene::{Answer, Scene};
use serde_json::Value;

const TABLE: &str = include_str!("wrong_inputs.txt");
/// The exit codes of mistakes; none is that of a run's outcome.
const CODES: [i32; 6] = [64, 65, 69, 73, 74, 78];

/// One input: what there is before, and what is typed.
struct Case {
    scene: Scene,
    /// The short id of its run, where there is one.
    run: Option<String>,
    args: Vec<String>,
}

/// Words as a shell takes them apart; only single quotes are used.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    words.extend(any.then_some(word));
    words
}

impl Case {
    /// The lines of a case: `file`, `own` (the user's config.toml), `var` and `run` prepare, the last one is typed.
    fn read(text: &str) -> Case {
        let mut scene = Scene::new();
        let (mut args, mut run) = (Vec::new(), None);
        for line in text.lines() {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "file" => {
                    let (name, content) = rest.split_once(' ').unwrap();
                    scene.scratch.files(&[(name, &content.replace("\\n", "\n"))]);
                }
                "own" => {
                    let dir = scene.scratch.root().join("config/ralph");
                    std::fs::create_dir_all(&dir).unwrap();
                    std::fs::write(dir.join("config.toml"), rest.replace("\\n", "\n")).unwrap();
                }
                "var" => {
                    let (name, value) = rest.split_once('=').unwrap();
                    scene.set(name.to_owned().leak(), value);
                }
                "run" => {
                    assert_eq!(scene.sim("x", &["--verify", "test -f a"], rest).code, 0, "{text}");
                    let rows: Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
                    run = rows[0]["id"].as_str().map(|id| id[id.len() - 8..].to_owned());
                }
                "ralph" => args = words(rest),
                _ => panic!("{line}"),
            }
        }
        Case { scene, run, args }
    }

    /// The same, asked for JSON.
    fn as_json(&self) -> (Answer, Value) {
        let end = self.args.iter().position(|word| word == "--").unwrap_or(self.args.len());
        let mut args = self.args.clone();
        args.insert(end, "--json".into());
        let answer = self.scene.ralph(&args);
        let last = answer.out.lines().last().unwrap_or_default();
        let value = serde_json::from_str(last).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", answer.out));
        (answer, value)
    }
}

#[test]
fn every_wrong_input_gets_a_message_that_says_what_to_type_next() {
    let cases: Vec<&str> = TABLE.split("\n\n").map(str::trim).filter(|case| !case.is_empty()).collect();
    let (mut all, mut count) = (Scene::new(), 0);
    for text in cases {
        if let Some(heading) = text.strip_prefix("# ") {
            all.note(&format!("# {heading}\n"));
            continue;
        }
        let mut case = Case::read(text);
        count += 1;
        for line in text.lines().filter(|line| !line.starts_with("ralph ")) {
            all.note(line);
        }
        let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
        let answer = case.scene.show(&args);
        assert!(CODES.contains(&answer.code), "{text}: exit {}\n{}", answer.code, answer.err);
        let message = answer.err.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or_default();
        assert!(answer.out.is_empty() && !message.is_empty(), "{text}: {}{}", answer.out, answer.err);
        assert!(answer.err.contains("\nhint: "), "{text} does not say what to do:\n{}", answer.err);
        assert!(!answer.err.contains("SQL") && !answer.err.contains("panicked"), "{text}: {}", answer.err);
        if let Some(run) = &case.run {
            case.scene.hide(run, "<run>");
        }
        let (again, value) = case.as_json();
        let (code, said) = match value["type"].as_str() {
            Some("result") => (&value["exitCode"], &value["error"]),
            _ => (&value["code"], &value["message"]),
        };
        assert_eq!(code, &again.code, "{text}: {value}");
        assert!(said.as_str().is_some_and(|said| !said.is_empty()), "{text}: {value}");
        all.take(&case.scene);
    }
    assert!(count >= 60, "{count} wrong inputs");
    all.compare_exactly("wrong_inputs");
}
