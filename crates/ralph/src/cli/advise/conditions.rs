//! The four conditions of a loop, with what decided each: verifiable, scoped, risk, loop-ready skill.

use super::skill;
use crate::cli::{Here, runs};
use crate::init::detect;
use crate::init::found::Use;
use crate::problem::{Code, Problem};
use ralph_engine::metrics::with_unsettled;
use ralph_rules::advice::{Kind, Reading, Risk, Scope, UsualLimits, Verdict, read, verdict};
use ralph_rules::money::Micro;
use ralph_rules::policy::Ceilings;
use ralph_rules::state::State;
use ralph_store::{AccountFilter, RunFilter, Store};
use ralph_tree::Protect;
use serde::Serialize;

/// Limits of a first run, unless something better is known.
const LIMITS: (u32, Micro) = (10, Micro(5_000_000));
/// How many earlier runs are searched for a verification with the same commands.
const SEARCHED: u32 = 5;

/// What is asked about.
pub struct Asked<'a> {
    /// The task.
    pub task: &'a str,
    /// The verify commands.
    pub verify: &'a [String],
    /// The protected paths.
    pub protect: &'a [String],
    /// The limits that are set, and the ceilings.
    pub limits: (Option<u32>, Option<Micro>, Ceilings),
    /// What the verify commands showed just now, if they were run.
    pub checked: Option<CheckState>,
}

/// The advice, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    v: u32,
    pub verdict: Verdict,
    /// Why, in sentences.
    pub why: Vec<String>,
    pub verifiable: Verifiable,
    pub scoped: Scoped,
    pub risk: RiskFound,
    pub skill: SkillFound,
    /// Limits for the run; none where a person is needed.
    pub limits: Option<Limits>,
}

/// Whether a command can tell that the work is done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verifiable {
    pub met: bool,
    pub commands: Vec<String>,
    /// `red` or `green`, if that is known.
    pub state: Option<&'static str>,
    /// The run that showed it; none if the commands were run just now.
    pub seen_in: Option<String>,
    /// Commands that `ralph init` would choose, where none is configured.
    pub detected: Vec<String>,
}

/// Whether it can be told what belongs to the task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scoped {
    pub met: bool,
    pub kind: Kind,
    pub kind_words: Vec<String>,
    pub targets: Vec<String>,
    pub vague: Vec<String>,
}

/// How much could go wrong.
#[derive(Debug, Serialize)]
pub struct RiskFound {
    pub met: bool,
    #[serde(flatten)]
    pub risk: Risk,
}

/// The skill that fits.
#[derive(Debug, Serialize)]
pub struct SkillFound {
    pub met: bool,
    pub name: Option<String>,
}

/// Limits and where they are from: `history`, `config` or `default`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub max_iterations: u32,
    #[serde(rename = "maxCostUSD")]
    pub max_cost: f64,
    pub from: &'static str,
    /// Completed runs behind them.
    pub runs: u32,
}

/// What the verify commands showed last.
#[derive(Clone, Debug)]
pub struct CheckState {
    /// They passed.
    pub green: bool,
    /// The run that showed it.
    pub seen: Option<String>,
}

impl Advice {
    /// The advice on a task in this workspace.
    pub fn of(asked: &Asked<'_>, here: &Here) -> Result<Advice, Problem> {
        let protect = Protect::new(asked.protect).map_err(|e| Problem::new(Code::Usage, e.to_string()))?;
        let protects = |path: &str| {
            let path = path.trim_start_matches("./");
            let is_dir = path.ends_with('/') || here.workspace.join(path).is_dir();
            protect.protects(path.trim_end_matches('/').as_bytes(), is_dir)
        };
        let reading = read(asked.task, &protects);
        let verdict = verdict(&reading, !asked.verify.is_empty());
        let verifiable = verifiable(asked, here);
        let why = why(&reading, &verifiable);
        let limits = (verdict != Verdict::Person).then(|| limits(asked, reading.kind, verdict, here));
        let skill = skill::loop_ready(reading.kind, asked.verify, here);
        let Reading { kind, kind_words, scope: Scope { scoped, targets, vague }, risk } = reading;
        let met = scoped && !matches!(kind, Kind::Question | Kind::Subjective);
        Ok(Advice {
            v: 1,
            verdict,
            why,
            verifiable,
            scoped: Scoped { met, kind, kind_words, targets, vague },
            risk: RiskFound { met: risk.level < ralph_rules::advice::Level::High, risk },
            skill: SkillFound { met: skill.is_some(), name: skill },
            limits,
        })
    }
}

fn verifiable(asked: &Asked<'_>, here: &Here) -> Verifiable {
    let known = asked.checked.clone().or_else(|| seen_before(asked.verify, here));
    let detected = match asked.verify.is_empty() {
        true => detect::detect(&here.workspace, &here.env)
            .iter()
            .flat_map(|found| found.checks.iter().filter(|c| c.what == Use::Test).map(|c| found.at_top(c)))
            .collect(),
        false => Vec::new(),
    };
    Verifiable {
        met: !asked.verify.is_empty(),
        commands: asked.verify.to_vec(),
        state: known.as_ref().map(|known| if known.green { "green" } else { "red" }),
        seen_in: known.and_then(|known| known.seen),
        detected,
    }
}

/// What the same commands showed in an earlier run here.
fn seen_before(verify: &[String], here: &Here) -> Option<CheckState> {
    let store = here.home().ok()?.store_if_any().ok()??;
    let workspace = Some(here.workspace.to_string_lossy().into_owned());
    let rows = store.runs(&RunFilter { workspace, limit: Some(SEARCHED), ..RunFilter::default() }).ok()?;
    rows.iter().filter(|_| !verify.is_empty()).find_map(|row| {
        let state = State::of(&runs::records(&store, &row.id).ok()?);
        let same = state.start.as_ref().is_some_and(|start| start.verify == verify);
        let shown = state.checks.shown().filter(|_| same)?;
        Some(CheckState { green: shown.passed(), seen: Some(row.id.clone()) })
    })
}

/// What decided, the most important first; what holds for a loop if all is well.
fn why(reading: &Reading, verifiable: &Verifiable) -> Vec<String> {
    let Reading { kind, scope, risk, .. } = reading;
    let mut why = Vec::new();
    if risk.level >= ralph_rules::advice::Level::High {
        let named = |what: &str, these: &[String]| match these {
            [] => String::new(),
            these => format!("{what} {}", these.join(", ")),
        };
        let words: Vec<String> = risk.words.iter().map(|word| format!("\"{word}\"")).collect();
        let parts = [named("it says", &words), named("it names protected", &risk.paths)];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        why.push(format!("the risk is {}: {}", risk.level.name(), parts.join("; ")));
    }
    match kind {
        Kind::Question => why.push("it is a question: an answer needs one call".into()),
        Kind::Subjective => why.push("it is a matter of taste: no command can check it".into()),
        _ => {}
    }
    if !scope.scoped {
        let vague: Vec<String> = scope.vague.iter().map(|word| format!("\"{word}\"")).collect();
        why.push(match vague.as_slice() {
            [] => "it does not say what is to be done".into(),
            vague => format!("it does not say when it is done: {}", vague.join(", ")),
        });
    }
    if !verifiable.met {
        why.push("no verify command can tell when it is done".into());
    }
    if why.is_empty() {
        why.push(format!("it can be verified, its scope is clear, and the risk is {}", risk.level.name()));
    }
    why
}

fn limits(asked: &Asked<'_>, kind: Kind, verdict: Verdict, here: &Here) -> Limits {
    let (iterations, cost, ceilings) = &asked.limits;
    let configured = iterations.is_some() || cost.is_some();
    let set = (iterations.unwrap_or(LIMITS.0), cost.unwrap_or(LIMITS.1));
    let usual = usual(kind, here);
    let (most, dearest, from) = match &usual {
        Some(usual) => (usual.iterations, usual.cost, "history"),
        None => (set.0, set.1, if configured { "config" } else { "default" }),
    };
    // What is set, and the ceilings, hold whatever earlier runs took.
    let most = most.min(iterations.unwrap_or(u32::MAX)).min(ceilings.max_iterations);
    let dearest = cost.map_or(dearest, |cost| dearest.min(cost)).min(ceilings.max_cost);
    Limits {
        max_iterations: if verdict == Verdict::Once { 1 } else { most },
        max_cost: dearest.usd(),
        from,
        runs: usual.map_or(0, |usual| usual.runs),
    }
}

fn usual(kind: Kind, here: &Here) -> Option<UsualLimits> {
    let store = here.home().ok()?.store_if_any().ok()??;
    let workspace = Some(here.workspace.to_string_lossy().into_owned());
    let filter = AccountFilter { workspace, ..AccountFilter::default() };
    UsualLimits::of(&with_unsettled(&store, &filter).ok()?, kind)
}
