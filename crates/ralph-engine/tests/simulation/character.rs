//! What a run is like: the numbers it obeys, what its agent can and tends to do, what proves its work.

use super::dice::Dice;
use ralph_rules::RULES;
use ralph_rules::grade::Grade;
use ralph_rules::money::Micro;
use ralph_rules::policy::{Decline, MINUTE, MapTime, OnViolation, Oracle, Policy, SECOND, Until};
use ralph_rules::record::{
    AgentChoice, HOUR, Ms, PlanGiven, PlanSeen, Prompting, ReviewGiven, RunStarted, StoriesGiven,
};

/// What the agent of a run tends to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temper {
    /// Works, and mostly says what is so.
    Honest,
    /// Changes nothing.
    Idle,
    /// Runs into the same error.
    Stubborn,
    /// Touches tests only.
    Tester,
    /// Asks for tools it may not use.
    Denied,
    /// Says less and less.
    Shrinking,
    /// Says it is done when it is not.
    Liar,
    /// Touches protected paths.
    Vandal,
    /// Bends the tests.
    Bender,
    /// Never gives an explicit signal.
    Chatty,
    /// Fails in every way an agent can.
    Fragile,
    /// There is nothing to do.
    Finished,
    /// Works on and on; only the weather stops it.
    Steady,
}

const TEMPERS: [Temper; 14] = [
    Temper::Honest,
    Temper::Honest,
    Temper::Honest,
    Temper::Idle,
    Temper::Stubborn,
    Temper::Tester,
    Temper::Denied,
    Temper::Shrinking,
    Temper::Liar,
    Temper::Vandal,
    Temper::Bender,
    Temper::Chatty,
    Temper::Fragile,
    Temper::Finished,
];

/// What a run is like.
#[derive(Clone, Debug)]
pub struct Character {
    pub temper: Temper,
    pub start: RunStarted,
    /// Shows usage while it works.
    pub live: bool,
    /// Says what it cost.
    pub priced: bool,
    /// Its first turn is its dearest one, so that ralph can foresee the rest.
    pub even: bool,
    /// The dearest turn.
    pub turn: i64,
    /// Turns of a call.
    pub turns: i64,
    /// How often a person meddles, once in so many times heard; 0 is never.
    pub meddled: u64,
}

/// Most runs have the default.
const REQUIRED: [Grade; 6] =
    [Grade::Unbroken, Grade::Unbroken, Grade::Unbroken, Grade::Revised, Grade::Tested, Grade::Proven];

/// What both runs share: the user's own limits.
#[derive(Clone, Copy)]
pub struct Shared {
    daily: Micro,
    calls: Option<u32>,
    tokens: Option<u64>,
}

impl Shared {
    pub fn new(dice: &mut Dice) -> Shared {
        let calls = if dice.one_in(4) { dice.between(1, 6) as u32 } else { 100 };
        let tokens = dice.one_in(6).then(|| dice.between(2_000, 40_000) as u64);
        let daily = if dice.one_in(3) { dice.between(300_000, 3_000_000) } else { 50_000_000 };
        Shared { daily: Micro(daily), calls: Some(calls), tokens }
    }
}

impl Character {
    pub fn new(run: String, shared: Shared, dice: &mut Dice) -> Character {
        let temper = dice.pick(&TEMPERS);
        let commands = if temper == Temper::Finished { 1 } else { dice.pick(&[0, 1, 1, 2]) };
        let policy = policy(shared, temper, commands, dice);
        let estimate = policy.estimate.0;
        let live = !dice.one_in(4);
        // One agent in eight spends ten times its estimate in a single call.
        let dear = dice.one_in(8);
        let turn = if dice.one_in(5) {
            dice.between(estimate / 4, estimate)
        } else {
            dice.between(1, estimate / 10)
        };
        let turns = if dear { (10 * estimate / turn).clamp(2, 60) } else { dice.between(1, 6) };
        Character {
            temper,
            live,
            priced: live || !dice.one_in(3),
            even: !dice.one_in(4),
            turn,
            turns,
            meddled: if dice.one_in(2) { 0 } else { dice.pick(&[15, 60, 200]) },
            start: by_stories(reviewed(start(run, policy, live, commands, dice), live)),
        }
    }
}

fn start(run: String, policy: Policy, live: bool, commands: usize, dice: &mut Dice) -> RunStarted {
    RunStarted {
        rules: RULES,
        version: "0.1.0".into(),
        workspace: format!("/w/{run}"),
        run,
        prompt: "Mend the parser.".into(),
        prompt_from: "argument".into(),
        agent: agent("claude", live),
        ladder: ladder(live, dice),
        prompting: prompting(dice),
        history: None,
        own_files: Vec::new(),
        policy,
        verify: ["make test", "make lint"].iter().take(commands).map(ToString::to_string).collect(),
        protect: vec![".env".into()],
        zone: "UTC".into(),
        sandbox: "none".into(),
        base: None,
        review: None,
        tree: dice.tree(),
        plan: plan(dice),
        marker_before: None,
        oracle_paths: Vec::new(),
        scripts: Vec::new(),
        work_paths: Vec::new(),
        setup: Vec::new(),
        clock_behind: None,
        session: None,
        skill: None,
        unrecorded: false,
        analyzers: Vec::new(),
        rotate: false,
        stories: None,
        contained: None,
    }
}

/// Every other run with a plan and a command takes it story by story. Drawn from the tree, so that runs without stories
/// stay as they were.
fn by_stories(start: RunStarted) -> RunStarted {
    let wanted = start.plan.is_some() && !start.verify.is_empty() && (start.tree >> 9).is_multiple_of(2);
    // Enough for every signal and test that a run may ask for.
    let attempts = 4 + (start.tree >> 17) as u32 % 3;
    RunStarted { stories: wanted.then_some(StoriesGiven { attempts }), ..start }
}

/// One run in three has a plan; some of those are complete before it begins.
fn plan(dice: &mut Dice) -> Option<PlanGiven> {
    dice.one_in(3).then(|| {
        let (done, pending) = (dice.below(4) as u32, dice.pick(&[0, 1, 2, 5]));
        let seen = PlanSeen { done, pending, ..PlanSeen::default() };
        PlanGiven { file: "fix_plan.md".into(), path: "/w/fix_plan.md".into(), seen }
    })
}

fn agent(name: &str, live: bool) -> AgentChoice {
    AgentChoice { name: name.into(), live_usage: live, system_prompt: live, ..AgentChoice::default() }
}

/// Every other run has a ladder; an agent on it may show its usage only at the end.
fn ladder(live: bool, dice: &mut Dice) -> Vec<AgentChoice> {
    let rungs = dice.pick(&[0, 0, 1, 2, 3]);
    let name = |n: i64| if n % 2 == 0 { "codex" } else { "claude" };
    (0..rungs).map(|n| agent(name(n), live && !dice.one_in(3))).collect()
}

fn reviewed(start: RunStarted, live: bool) -> RunStarted {
    RunStarted { review: reviewer(live, start.tree), ..start }
}

/// One run in three is reviewed. Drawn from the tree, so that runs without a reviewer stay as they were.
fn reviewer(live: bool, tree: u128) -> Option<ReviewGiven> {
    let rounds = if tree.is_multiple_of(2) { 2 } else { 3 };
    tree.is_multiple_of(3).then(|| ReviewGiven { agent: agent("gemini", live), rounds })
}

/// One run in eight has a template of the user's own, which may fail.
fn prompting(dice: &mut Dice) -> Prompting {
    let mut prompting = Prompting { context: !dice.one_in(8), ..Prompting::default() };
    if dice.one_in(8) {
        let source = dice.pick(&["Call {{ iteration }}, rung {{ rung }}.", "{{ tried[1].said }}"]);
        prompting.templates.insert("context.j2".into(), source.into());
    }
    prompting
}

fn policy(shared: Shared, temper: Temper, commands: usize, dice: &mut Dice) -> Policy {
    let estimate = dice.pick(&[500_000, 100_000, 20_000]);
    let cost = dice.between(estimate / 4, estimate * 14);
    let mut policy = Policy::strict(dice.between(1, 14) as u32, Micro(cost));
    policy.estimate = Micro(estimate);
    policy.daily_cost = shared.daily;
    policy.calls_per_hour = shared.calls;
    policy.tokens_per_hour = shared.tokens;
    policy.max_time = dice.one_in(4).then(|| dice.between(MINUTE, 6 * HOUR));
    policy.timeout = dice.between(MINUTE, 15 * MINUTE);
    policy.idle_timeout = dice.between(10 * SECOND, 5 * MINUTE);
    policy.max_wait = dice.pick::<Ms>(&[6 * HOUR, HOUR, MINUTE]);
    policy.no_wait = dice.one_in(8);
    policy.pause_between = if dice.one_in(8) { dice.between(1, MINUTE) } else { 0 };
    policy.gate.until = if commands > 0 && dice.one_in(8) { Until::Verified } else { Until::Claimed };
    policy.gate.explicit_alone = dice.one_in(8);
    policy.gate.exit_signals = if dice.one_in(8) { 2 } else { 1 };
    policy.gate.ask_for_test = dice.pick(&[0, 1, 1, 2]);
    policy.gate.require = if commands == 0 { Grade::Unbroken } else { dice.pick(&REQUIRED) };
    if dice.one_in(3) {
        policy.gate.promise = "ALL-GREEN".into();
    }
    if temper == Temper::Shrinking || dice.one_in(8) {
        policy.breaker.decline = Decline::Open;
    }
    policy.on_violation = dice.pick(&[OnViolation::Abort, OnViolation::Restore, OnViolation::Restore]);
    policy.map_time = dice.pick(&[MapTime::Off, MapTime::Auto, MapTime::AtMost(MINUTE)]);
    policy.oracle = dice.pick(&[Oracle::Guard, Oracle::Guard, Oracle::Flag, Oracle::Allow]);
    policy
}
