//! A skill that is typed with `--persist` leads the run of a session.

use crate::session::Session;

fn skill(name: &str, method: &str, block: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: d\n---\n{method}\n## Completion Criteria\n- [ ] It is packed\n\
         ## Ralph Integration\n<promise>SHIPPED</promise>\n```toml ralph\nmax_iterations = 3\nmax_cost_usd = 1.0\n{block}\n```\n"
    )
}

#[test]
fn a_loop_ready_skill_brings_its_method_promise_and_limits() {
    let session = Session::new();
    let text = skill("ship", "First pack, then ship.", "verify = [\"test -e done.txt\"]");
    session.scratch.files(&[(".claude/skills/ship/SKILL.md", &text)]);
    let started = session.prompt("/ship \"Send the parcel\" --persist");
    assert!(started.line().contains("3 iterations and $1.00"), "{started:?}");
    assert!(started.line().contains("verified by `test -e done.txt`"), "{started:?}");
    let context = started.context();
    assert!(
        context.contains("First pack, then ship.") && context.contains("<promise>SHIPPED</promise>"),
        "{context}"
    );
    let list = session.ralph(&["list"]).out;
    assert!(list.contains("Send the parcel"), "{list}");
}

#[test]
fn a_skill_that_a_loop_cannot_use_is_refused_before_any_model_is_asked() {
    let session = Session::new();
    session.scratch.files(&[
        (".claude/skills/unverified/SKILL.md", &skill("unverified", "x", "")),
        (".claude/skills/broken/SKILL.md", "no front matter"),
    ]);
    for (typed, said) in [
        ("/unverified \"x\" --persist", "unverified/SKILL.md:11:1: nothing verifies its work"),
        ("/broken \"x\" --persist", "broken/SKILL.md:1:1: a skill begins with front matter"),
        ("/shipp \"x\" --persist", "unknown skill `shipp`"),
        ("/unverified \"x\" --persist --promise X", "--promise cannot be used with --skill"),
    ] {
        let refused = session.prompt(typed).refused();
        assert!(refused.contains(said), "{typed}: {refused}");
    }
    assert_eq!(session.prompt("/unverified \"x\"").out, "", "without --persist it is the client's");
    assert_eq!(session.ralph(&["list"]).out, "", "nothing was begun");
}

#[test]
fn a_method_that_is_too_long_for_a_hook_is_named_as_a_file_that_has_all_of_it() {
    let session = Session::new();
    let text =
        skill("long", &"One more line of the method.\n".repeat(600), "verify = [\"test -e done.txt\"]");
    session.scratch.files(&[(".agents/skills/long/SKILL.md", &text)]);
    let context = session.prompt("/long \"x\" --persist").context();
    assert!(context.len() <= 9_000, "{}", context.len());
    let (_, after) = context.split_once("all of it is in ").unwrap();
    let file = after.split(']').next().unwrap();
    let whole = std::fs::read_to_string(file).unwrap();
    assert_eq!(whole.matches("One more line of the method.").count(), 600);
}
