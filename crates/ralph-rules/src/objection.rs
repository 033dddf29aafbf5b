//! Why something was or was not accepted: a code and its facts. The same object goes into the journal, the screen, the
//! next prompt and `explain`; `say`, in `text`, is the only place that words it. Journals hold the code and the facts, so a
//! sentence can be reworded without changing a decision.

mod text;

pub use self::text::span;
use crate::claim::{Claim, Code, Lint, Means, MisplacedPromise};
use crate::failure::Class;
use crate::grade::Grade;
use crate::money::Micro;
use crate::record::{CheckOutcome, MissingProgram, Ms, RoomSets, Violation};
use crate::state::State;
use crate::suite::Counts;
use serde::{Deserialize, Serialize};

/// Every reason the rules give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "facts", rename_all = "snake_case")]
#[allow(missing_docs)] // `say` explains each; fields added after 0.1 are optional
pub enum Objection {
    FirstIteration,
    BaselineWanted { commands: u32 },
    CallClosed { iteration: u32 },
    InspectionClean { files: u32, progress: bool, seen_at: Option<u32> },
    ClaimAndProof { indicators: u32 },
    ClaimUnverified { indicators: u32 },
    SignalsRunning { iterations: u32, verified: bool },
    SignalAgain { running: u32, needed: u32 },
    ProofAlone,
    GreenBefore,
    PlanComplete { done: u32 },
    NothingToDo,
    SeeItTwice,
    ExplicitContinue,
    UnreadableBlock { lint: Code },
    NoClaim,
    PromiseNotAlone { form: MisplacedPromise, promise: String, accepted: bool },
    VerificationFailed { command: String, how: CheckOutcome, exit: Option<i32>, claimed: bool },
    ClaimWithoutEvidence { indicators: u32, needed: u32, block_as_one: Option<bool> },
    ContradictoryClaim { what: String },
    Blocked { recommendation: String },
    ProhibitedPath { paths: Vec<Violation> },
    RestoreLimit { times: u32 },
    ToolChanged { paths: Vec<Violation> },
    OracleChanged { files: Vec<String> },
    OracleFlagged { files: Vec<String> },
    FewerTests { before: Counts, now: Option<Counts> },
    FailuresInOutput { failed: u32 },
    Flaky,
    CompareWanted,
    RoomWanted { sets: RoomSets },
    MapWanted { time: Ms },
    RoomLacks,
    RoomFailed { why: String },
    ProvenByWork { commands: Vec<String>, with: Vec<String> },
    TestsShowWork { tests: Vec<String>, earlier: Option<u32> },
    NothingShowsWork,
    NothingToShow { documentation: bool, checks: bool },
    GreenWithoutWork,
    EarlierTestsFail { tests: Vec<String>, files: Vec<String> },
    OnlyAmbiguous { files: Vec<String> },
    NothingDiffers,
    GreenOutsideRoom,
    OutsideChanged { files: Vec<String> },
    FilesKeepChanging { files: Vec<String> },
    AroundChanged { files: Vec<String> },
    AroundCutShort,
    PackagesEdited { packages: Vec<String> },
    PackagesInstalled { packages: Vec<String> },
    OracleRewritten { files: Vec<String> },
    CanarySurvived { kinds: Vec<String> },
    BaselineLost { why: String },
    SignsFound { signs: u32, what: String, path: String },
    AskForTest,
    GradeBelow { grade: Grade, required: Grade },
    AcceptedByPerson,
    ReviewWanted { agent: String, round: u32, of: u32 },
    ReviewShips { agent: String, round: u32, of: u32 },
    ReviewObjects { agent: String, round: u32, of: u32, findings: Vec<String> },
    ReviewUnanswered { agent: String, round: u32, of: u32, why: String },
    NotReviewed { why: String },
    NoProgress { running: u32, limit: u32 },
    HalfOpen { running: u32, limit: Option<u32> },
    ProgressAgain,
    SeenBefore { iteration: u32 },
    Escalated { rung: u32, of: u32, agent: String, model: Option<String> },
    Deescalated { rung: u32, of: u32, agent: String, model: Option<String> },
    SameError { running: u32, limit: u32, error: String, fingerprint: Option<String> },
    TestOnly { running: u32, limit: u32 },
    OutputDecline { percent: u32, of_mean: u32, below: Option<u32> },
    Denied { running: u32, limit: u32, tools: Vec<String>, allow: Option<String> },
    Lint { lint: Code, line: u32, detail: String },
    AsksPerson,
    CallFailed { class: Class, message: String, running: u32 },
    Backoff { until: Ms, class: Class },
    WaitTooLong { until: Ms, max_wait: Ms },
    NoWait { until: Option<Ms> },
    RateWindow { used: i64, cap: i64, until: Option<Ms> },
    ProviderHeld { class: Class, what: String, until: Option<Ms> },
    CostReached { spent: Micro, cap: Micro },
    CostNearly { spent: Micro, cap: Micro },
    DayReached { spent: Micro, cap: Micro },
    DayNearly { date: String, spent: Micro, cap: Micro },
    IterationsReached { used: u32, max: u32 },
    IterationsNearly { used: u32, max: u32 },
    TimeReached { ran: Ms, max: Ms },
    CallTooLong { ms: Ms, limit: Ms },
    TooSilent { ms: Ms, limit: Ms },
    UsageAhead { seen: Micro, dearest: Micro, reserved: Micro },
    PersonAsked { request: String },
    CallWasOpen { attempt: String },
    BaselineTimedOut { command: String },
    VerifyCannotRun { command: String, missing: MissingProgram },
    StoreUnsafe { what: String },
    WorkspaceLost { what: String },
    WorkspaceUnwritable { what: String },
    SessionStopped { attempt: String },
    SessionGone { attempt: String },
    PatternObjects { name: String, phrase: String },
    PatternNoted { name: String, phrase: String },
    AnalyzerObjects { name: String, objection: String, text: String },
    AnalyzerNoted { name: String, text: String },
    AnalyzerFailed { name: String, why: String, required: bool },
    AnalysisWanted { analyzers: u32 },
    StoryGranted { story: String, grade: Grade },
    StorySetAside { story: String, attempts: u32 },
    StoriesLeft { stories: Vec<String> },
    StoriesComplete { stories: u32 },
    PlanUnusable { file: String, problem: String },
}

impl Objection {
    /// The code as scripts see it.
    pub fn code(&self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(map)) => {
                map.get("code").and_then(|c| c.as_str()).unwrap_or_default().to_string()
            }
            _ => String::new(),
        }
    }

    /// Says that a passing verification does not count.
    pub fn refuses_proof(&self) -> bool {
        matches!(
            self,
            Objection::NothingDiffers
                | Objection::GreenOutsideRoom
                | Objection::OutsideChanged { .. }
                | Objection::PackagesEdited { .. }
                | Objection::OracleRewritten { .. }
                | Objection::CanarySurvived { .. }
                | Objection::FailuresInOutput { .. }
        )
    }

    /// Says that the status block contradicts what ralph observed.
    pub fn is_lie(&self) -> bool {
        matches!(self, Objection::Lint { lint, .. } if lint.is_about_facts())
    }

    /// Comes from a pattern or an analyzer of the user's and delays an end.
    pub fn holds_back(&self) -> bool {
        matches!(
            self,
            Objection::PatternObjects { .. }
                | Objection::AnalyzerObjects { .. }
                | Objection::AnalyzerFailed { required: true, .. }
        )
    }

    /// Comes from a pattern or an analyzer of the user's and changes nothing.
    pub fn is_user_note(&self) -> bool {
        matches!(
            self,
            Objection::PatternNoted { .. }
                | Objection::AnalyzerNoted { .. }
                | Objection::AnalyzerFailed { required: false, .. }
        )
    }

    /// Warns that a limit is close; reported once per limit.
    pub fn is_alert(&self) -> bool {
        matches!(
            self,
            Objection::CostNearly { .. } | Objection::IterationsNearly { .. } | Objection::DayNearly { .. }
        )
    }
}

/// What the user's own checks say about an iteration.
pub fn of_analyzers(state: &State) -> Vec<Objection> {
    let mut said = Vec::new();
    for result in state.checks.analyzed().unwrap_or_default() {
        let name = || result.name.clone();
        said.extend(result.objections.iter().map(|objection| Objection::AnalyzerObjects {
            name: name(),
            objection: objection.code.clone(),
            text: objection.text.clone(),
        }));
        said.extend(
            result.notes.iter().map(|text| Objection::AnalyzerNoted { name: name(), text: text.clone() }),
        );
        let given = state.start.iter().flat_map(|start| &start.analyzers);
        let required = given.clone().any(|given| given.name == result.name && given.required);
        said.extend(result.failed.iter().map(|why| Objection::AnalyzerFailed {
            name: name(),
            why: why.clone(),
            required,
        }));
    }
    said
}

/// What the user's own patterns object to and note in a claim.
pub fn of_patterns(claim: &Claim) -> Vec<Objection> {
    let objects = claim
        .said(Means::Object)
        .map(|said| Objection::PatternObjects { name: said.name.clone(), phrase: said.phrase.clone() });
    let notes = claim
        .said(Means::Note)
        .map(|said| Objection::PatternNoted { name: said.name.clone(), phrase: said.phrase.clone() });
    objects.chain(notes).collect()
}

impl From<&Lint> for Objection {
    fn from(lint: &Lint) -> Objection {
        let line = u32::try_from(lint.line).unwrap_or(u32::MAX);
        Objection::Lint { lint: lint.code, line, detail: lint.detail.clone() }
    }
}
