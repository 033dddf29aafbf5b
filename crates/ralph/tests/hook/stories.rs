//! A plan taken story by story in a session: what the agent does to the plan between two hooks is not the person's.

use crate::session::{DONE, Session};

const PLAN: &str = "- [ ] A: First\n  - verify: test -f a.txt\n- [ ] B: Second\n  - verify: test -f b.txt\n";
const LOOP: &str = "/ralph:loop Follow the plan --plan plan.md --stories --max-iterations 6 --max-cost 5";

#[test]
fn ticks_and_weakened_stories_of_a_session_do_not_count() {
    for attack in [
        PLAN.replace("[ ] B", "[x] B"),
        PLAN.replace("[ ]", "[x]"),
        PLAN.replace("test -f b.txt", "true"),
        PLAN.split("- [ ] B").next().unwrap().to_owned(),
    ] {
        let mut session = Session::new();
        session.scratch.files(&[("plan.md", PLAN)]);
        assert!(session.prompt(LOOP).context().contains("A: First"), "{attack}");
        session.scratch.files(&[("a.txt", "x\n"), ("plan.md", &attack)]);
        let next = session.stop(DONE);
        assert!(next.context().contains("B: Second"), "{attack}: {next:?}");
        let again = session.stop(DONE);
        assert!(again.context().contains("`test -f b.txt` failed"), "{attack}: {again:?}");
        session.scratch.files(&[("b.txt", "x\n")]);
        assert!(session.stop(DONE).line().contains("completed (proven)"), "{attack}");
        session.replays();
    }
}
