//! What each reason says, in one sentence for people and agents.

use super::Objection;
use crate::record::{CheckOutcome, Ms, Violation};
use serde::Serialize;
use std::collections::BTreeSet;

impl Objection {
    /// The reason as one sentence, for people and agents.
    #[allow(clippy::too_many_lines)] // one arm per reason; splitting the table would hide it
    pub fn say(&self) -> String {
        use Objection as O;
        match self {
            O::FirstIteration => "first iteration".into(),
            O::BaselineWanted { commands } => {
                format!(
                    "running the verify commands once before the agent starts ({commands} command{})",
                    plural(*commands)
                )
            }
            O::CallClosed { iteration } => format!("the agent finished iteration {iteration}"),
            O::InspectionClean { files, progress: true, .. } => {
                format!("{files} file{} changed, no protected path among them", plural(*files))
            }
            O::InspectionClean { files: 0, .. } => "no file changes".into(),
            O::InspectionClean { files, seen_at, .. } => {
                let when = seen_at.map(|n| format!(" ({})", earlier_state(n))).unwrap_or_default();
                format!("{files} file{} changed, back to an earlier state{when}", plural(*files))
            }
            O::ClaimAndProof { .. } => "the agent says it is done and verification passed".into(),
            O::ClaimUnverified { indicators } => {
                let s = plural(*indicators);
                format!(
                    "the agent says it is done, with {indicators} indicator{s}; no verify command to confirm it"
                )
            }
            O::SignalsRunning { iterations, verified } => format!(
                "{iterations} iterations in a row had enough completion indicators{}",
                if *verified { ", and verification passed" } else { "; no verify command to confirm it" }
            ),
            O::SignalAgain { running, needed } => {
                format!(
                    "{running} of {needed} completion signals in a row; if everything is done, report it again"
                )
            }
            O::ProofAlone => "verification passed".into(),
            O::GreenBefore => {
                "verification passed before the run too and no files have changed, so it proves nothing"
                    .into()
            }
            O::PlanComplete { done } => {
                format!("the plan is complete ({done} item{}) and verification already passes", plural(*done))
            }
            O::NothingToDo => "verification passed before the run and no change was needed".into(),
            O::SeeItTwice => {
                "no file changes, and verification passed before the run too; asking the agent to confirm"
                    .into()
            }
            O::ExplicitContinue => "the agent says there is more to do (EXIT_SIGNAL: false)".into(),
            O::UnreadableBlock { lint } => format!("the status block is not readable ({})", name(lint)),
            O::NoClaim => "the agent made no claim (no status block, no promise)".into(),
            O::PromiseNotAlone { form, accepted: true, .. } => {
                format!(
                    "verification passed, and the agent promised completion twice in a row, though not in the right form ({})",
                    form.words()
                )
            }
            O::PromiseNotAlone { form, promise, .. } => {
                format!(
                    "the promise does not count: {}; the last line must be <promise>{promise}</promise> and nothing else",
                    form.words()
                )
            }
            O::VerificationFailed { command, how, exit, claimed } => {
                let but = if *claimed { "the agent says it is done, but " } else { "" };
                match (how, exit) {
                    (CheckOutcome::TimedOut, _) => {
                        format!("{but}`{command}` timed out")
                    }
                    (CheckOutcome::NotRun, _) => format!("{but}`{command}` could not be run"),
                    (_, Some(code)) => format!("{but}`{command}` failed with exit code {code}"),
                    _ => format!("{but}`{command}` failed"),
                }
            }
            O::ClaimWithoutEvidence { indicators, needed, block_as_one } => format!(
                "the agent says it is done, but with {indicators} indicator{} ({needed} needed without a verify command{})",
                plural(*indicators),
                if *block_as_one == Some(true) { "; the fields of a status block count as one" } else { "" }
            ),
            O::ContradictoryClaim { what } => format!("the claim contradicts itself: {what}"),
            O::Blocked { recommendation } if recommendation.is_empty() => "the agent is blocked".into(),
            O::Blocked { recommendation } => {
                // ralph itself asks for a recommendation that begins with this word.
                let need = recommendation.strip_prefix("Blocked:").map_or(recommendation.as_str(), str::trim_start);
                format!("the agent is blocked: {need}")
            }
            O::ProhibitedPath { paths } => {
                let names: Vec<String> = paths.iter().map(Violation::named).collect();
                format!("protected paths were changed: {}", first_names(names.iter().map(String::as_str)))
            }
            O::RestoreLimit { times } => format!("protected paths have been restored {times} time{} already", plural(*times)),
            O::ToolChanged { paths } => {
                let tools: BTreeSet<&str> = paths.iter().filter_map(|v| v.tool.as_deref()).collect();
                format!(
                    "{} changed {}; restored, and the run continues",
                    tools.into_iter().collect::<Vec<_>>().join(" and "),
                    first_names(paths.iter().map(|v| v.path.as_str()))
                )
            }
            O::OracleChanged { files } => {
                format!(
                    "verification passes only with the changed tests: {}",
                    first_names(files.iter().map(String::as_str))
                )
            }
            O::OracleFlagged { files } => {
                format!(
                    "tests or test configuration changed: {}",
                    first_names(files.iter().map(String::as_str))
                )
            }
            O::FewerTests { before, now } => match now {
                Some(now) if now.total >= before.total => format!(
                    "more tests are skipped than before the run: {}, was {}",
                    now.skipped, before.skipped
                ),
                Some(now) => format!(
                    "fewer tests than before the run: {} ({} skipped), was {} ({} skipped)",
                    now.total, now.skipped, before.total, before.skipped
                ),
                None => {
                    format!("no tests found in the output; before the run there were {}", before.total)
                }
            },
            O::FailuresInOutput { failed } => format!(
                "the command passed, but its output says that {failed} test{} failed",
                plural(*failed)
            ),
            O::Flaky => "flaky: verification failed and then passed on the same files".into(),
            O::CompareWanted => {
                "verification passed; comparing the changes with the files before the run".into()
            }
            O::RoomWanted { sets } => format!("verifying {}", sets.words()),
            O::MapWanted { time } => {
                format!("checking which parts of the change a check notices, for at most {}", span(*time))
            }
            O::RoomFailed { why } => format!("the clean copy for the proof could not be prepared: {why}"),
            O::RoomLacks => {
                "the checks need something that the clean copy does not have (.git, or files that git ignores), so they ran in \
                 the workspace itself; see verify.setup"
                    .into()
            }
            O::ProvenByWork { commands, with } => {
                let commands = quoted(commands);
                let with = match with.as_slice() {
                    [] => String::new(),
                    files => format!(", together with {}", first_names(files.iter().map(String::as_str))),
                };
                format!("{commands} failed before and passes now because of the work{with}; the checks are unchanged")
            }
            O::TestsShowWork { tests, earlier } => {
                let new = match tests.len() {
                    0 => "the new tests fail without this change and pass with it".to_owned(),
                    1 => "1 new test fails without this change and passes with it".to_owned(),
                    n => format!("{n} new tests fail without this change and pass with it"),
                };
                let earlier = match earlier {
                    None | Some(0) => String::new(),
                    Some(1) => "; the earlier one still passes".to_owned(),
                    Some(n) => format!("; all {n} earlier ones still pass"),
                };
                format!("{new}{earlier}")
            }
            O::NothingShowsWork => "the checks pass without the work, too; no test shows it".into(),
            O::NothingToShow { documentation, checks } => match (documentation, checks) {
                (false, false) => "no file differs from before the run, so there is no work to show",
                (true, false) => "only documentation changed, which no test can show",
                (false, true) => "only tests or their configuration changed, so there is no work to show",
                (true, true) => "only documentation and checks changed, so there is no work to show",
            }
            .into(),
            O::GreenWithoutWork => {
                "the checks failed before the run and now pass without the work, too: something outside the files \
                 changed, or they are flaky"
                    .into()
            }
            O::EarlierTestsFail { tests, files } => {
                let (list, what) = match tests.as_slice() {
                    [] => (files, "earlier tests no longer hold and were changed"),
                    tests => (&tests.to_vec(), "earlier tests no longer hold"),
                };
                format!("{what}: {}", first_names(list.iter().map(String::as_str)))
            }
            O::OnlyAmbiguous { files } => {
                format!(
                    "the checks pass only because of files that may belong to them: {}",
                    first_names(files.iter().map(String::as_str))
                )
            }
            O::NothingDiffers => {
                "the checks failed before and pass now, but no file differs: build output or the machine changed".into()
            }
            O::GreenOutsideRoom => {
                let why = "what makes them pass is ignored by git or was built before";
                format!("the checks pass in the workspace but fail on a clean copy of the same files: {why}")
            }
            O::OutsideChanged { files } => {
                format!(
                    "tests or configuration outside the workspace changed: {}",
                    first_names(files.iter().map(String::as_str))
                )
            }
            O::FilesKeepChanging { files } => {
                let names = first_names(files.iter().map(String::as_str));
                let names = if names.is_empty() { names } else { format!(": {names}") };
                format!(
                    "files keep changing while they are verified{names}; stop what writes them, or let git ignore them"
                )
            }
            O::AroundChanged { files } => {
                format!(
                    "files around the workspace changed, which `ralph undo` does not restore: {}",
                    first_names(files.iter().map(String::as_str))
                )
            }
            O::AroundCutShort => {
                "the repository around the workspace has more than 100,000 names; the others were not compared".into()
            }
            O::PackagesEdited { packages } => {
                format!("installed packages were edited: {}", first_names(packages.iter().map(String::as_str)))
            }
            O::PackagesInstalled { packages } => {
                format!(
                    "packages were installed or updated: {}",
                    first_names(packages.iter().map(String::as_str))
                )
            }
            O::OracleRewritten { files } => {
                format!(
                    "files that decide about the work were written while the checks ran: {}",
                    first_names(files.iter().map(String::as_str))
                )
            }
            O::CanarySurvived { kinds } => {
                format!(
                    "tests that must fail do not fail together with the work ({}): the checks cannot fail any more",
                    kinds.join(", ")
                )
            }
            O::BaselineLost { why } => format!("the files before the run cannot be compared: {why}"),
            O::SignsFound { signs, what, path } => {
                let more = match signs.saturating_sub(1) {
                    0 => String::new(),
                    more => format!(" ({more} more sign{})", plural(more)),
                };
                format!("look at {path}: the work {what}{more}")
            }
            O::AskForTest => {
                let ask = "add a test that fails without the work and passes with it";
                format!("the checks pass without the work, too, so they do not show it; {ask}")
            }
            O::GradeBelow { grade, required } => {
                format!("the work is {grade}, and gate.require asks for {required}")
            }
            O::AcceptedByPerson => "accepted by a person".into(),
            O::ReviewWanted { agent, round, of } => format!("asking {agent} for review {round} of {of}"),
            O::ReviewShips { agent, round, of } => format!("review {round} of {of} by {agent}: SHIP"),
            O::ReviewObjects { agent, round, of, findings } => {
                let findings = match findings.as_slice() {
                    [] => "without findings".to_owned(),
                    findings => findings.join("; "),
                };
                format!("review {round} of {of} by {agent}: REVISE, {findings}")
            }
            O::ReviewUnanswered { agent, round, of, why } => {
                format!("review {round} of {of} by {agent} has no verdict: {why}")
            }
            O::NotReviewed { why } => format!("these files were not reviewed: {why}"),
            O::NoProgress { running, limit } => {
                format!("no progress in {running} iteration{} (limit {limit})", plural(*running))
            }
            O::HalfOpen { running, limit } => {
                let more = limit.unwrap_or(0).saturating_sub(*running).max(1);
                format!(
                    "no progress in {running} iteration{}: try another approach ({more} more before the run stops)",
                    plural(*running)
                )
            }
            O::ProgressAgain => "progress again".into(),
            O::SeenBefore { iteration } => {
                format!("the files are back in {}: no progress", earlier_state(*iteration))
            }
            O::Escalated { rung, of, agent, model } => {
                format!("escalating to rung {rung} of {of}: {}", agent_label(agent, model.as_deref()))
            }
            O::Deescalated { rung: 0, agent, model, .. } => {
                format!("progress: back to {}", agent_label(agent, model.as_deref()))
            }
            O::Deescalated { rung, of, agent, model } => {
                format!("progress: back to rung {rung} of {of}: {}", agent_label(agent, model.as_deref()))
            }
            O::SameError { running, limit, error, .. } => {
                format!("the same error {running} times in a row (limit {limit}): {error}")
            }
            O::TestOnly { running, limit } => {
                format!("only tests changed in {running} iterations in a row (limit {limit})")
            }
            O::OutputDecline { percent, of_mean, .. } => {
                format!("the final message shrank to {percent}% of the average ({of_mean} characters)")
            }
            O::Denied { running, limit, tools, allow } => {
                let allow = allow.as_ref().map(|how| format!("; to allow: {how}")).unwrap_or_default();
                format!(
                    "{} denied in {running} iteration{} without progress (limit {limit}){allow}",
                    tools.join(", "),
                    plural(*running)
                )
            }
            O::Lint { detail, lint, .. } if lint.is_about_facts() => {
                format!("the reported status is wrong ({}): {detail}", name(lint))
            }
            O::Lint { detail, lint, .. } if lint.is_about_promise() => {
                format!("the promise does not count ({}): {detail}", name(lint))
            }
            O::Lint { lint, line: 0, detail } => {
                format!("status block problem, {}: {detail}", name(lint))
            }
            O::Lint { lint, line, detail } => {
                format!("status block problem in line {line}, {}: {detail}", name(lint))
            }
            O::AsksPerson => "the agent asked a question, but nobody is there to answer".into(),
            O::CallFailed { class, message, running } => {
                let again = if *running > 1 { format!(" ({running} in a row)") } else { String::new() };
                format!("the call failed, {}{again}: {message}", class.words())
            }
            O::Backoff { class, .. } => format!("waiting: {}", class.words()),
            O::WaitTooLong { max_wait, .. } => {
                format!("the wait would exceed max_wait ({})", span(*max_wait))
            }
            O::NoWait { .. } => "--no-wait is set".into(),
            O::RateWindow { used, cap, .. } => format!("{used} of {cap} used in the last hour"),
            O::ProviderHeld { class, what, .. } if what.is_empty() => class.words().into(),
            O::ProviderHeld { class, what, .. } => format!("{} ({what})", class.words()),
            O::CostReached { spent, cap } => format!("{spent} of {cap} spent"),
            O::CostNearly { spent, cap } => format!("{spent} of {cap} spent (over 80%)"),
            O::DayReached { spent, cap } => format!("{spent} of today's {cap} spent or reserved"),
            O::DayNearly { date, spent, cap } => {
                format!("{spent} of {cap} for {date} spent or reserved by all runs (over 80%)")
            }
            O::IterationsReached { used, max } => format!("{used} of {max} iterations used"),
            O::IterationsNearly { used, max } => format!("{used} of {max} iterations used (over 90%)"),
            O::TimeReached { max, .. } => format!("time limit of {} reached", span(*max)),
            O::CallTooLong { limit, .. } => format!("the call exceeded its timeout of {}", span(*limit)),
            O::TooSilent { limit, .. } => {
                format!("no output and no running tool for {}", span(*limit))
            }
            O::UsageAhead { seen, .. } => format!("the call has used {seen} so far"),
            O::PersonAsked { request } => format!("{request} requested"),
            O::CallWasOpen { attempt } => format!("call {attempt} was still running when ralph was killed"),
            O::SessionStopped { attempt } => format!("the session has stopped: its message answers call {attempt}"),
            O::SessionGone { attempt } => format!("the session ended during call {attempt}"),
            O::BaselineTimedOut { command } => {
                format!("`{command}` timed out before the agent had done anything")
            }
            O::VerifyCannotRun { command, missing } => {
                format!("the verify command `{command}` cannot run: {}", missing.words())
            }
            O::StoreUnsafe { what } | O::WorkspaceLost { what } | O::WorkspaceUnwritable { what } => {
                what.clone()
            }
            O::PatternObjects { name, phrase } | O::PatternNoted { name, phrase } => {
                format!("the agent says \"{phrase}\" (pattern {name})")
            }
            O::AnalyzerObjects { name, objection, text } => format!("{name} objects ({objection}): {text}"),
            O::AnalyzerNoted { name, text } => format!("{name} notes: {text}"),
            O::AnalyzerFailed { name, why, required: true } => {
                format!("the required analyzer {name} has no answer: {why}")
            }
            O::AnalyzerFailed { name, why, .. } => format!("the analyzer {name} has no answer: {why}"),
            O::AnalysisWanted { analyzers } => {
                format!("asking {analyzers} analyzer{}", plural(*analyzers))
            }
            O::StoryGranted { story, grade } => format!("the story {story} is done: {grade}"),
            O::StorySetAside { story, attempts } => {
                format!("the story {story} is set aside after {attempts} iteration{}", plural(*attempts))
            }
            O::StoriesLeft { stories } => {
                format!("stories are left that cannot be finished: {}", first_names(stories.iter().map(String::as_str)))
            }
            O::StoriesComplete { stories } => {
                format!("every required story is done ({stories} in this run)")
            }
            O::PlanUnusable { file, problem } => format!("the plan {file} cannot be used: {problem}"),
        }
    }
}

/// Commands in backquotes.
fn quoted(commands: &[String]) -> String {
    match commands {
        [] => "verification".into(),
        commands => commands.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", "),
    }
}

/// The first five names and the number of the others.
fn first_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(5);
    let first: Vec<&str> = names.take(5).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

fn earlier_state(iteration: u32) -> String {
    match iteration {
        0 => "the state before the run".into(),
        n => format!("the state after iteration {n}"),
    }
}

fn agent_label(agent: &str, model: Option<&str>) -> String {
    model.map_or_else(|| agent.into(), |model| format!("{agent} with {model}"))
}

/// The name a value has in JSON.
fn name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

fn plural(n: u32) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// A duration in its largest readable unit, rounded down.
pub fn span(ms: Ms) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1_000),
        120_000..7_200_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}
