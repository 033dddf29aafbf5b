//! The same verification once more, when no process of the session is left that could have helped it: what passes now
//! passes because of the files.

use crate::cli::resolve::Resolved;
use crate::cli::{Here, agent, runs, sandbox};
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::git_checkout;
use ralph_engine::outcome::Outcome;
use ralph_engine::receipt::Receipt;
use ralph_engine::redact::Redactor;
use ralph_engine::verification::standalone::{self, StandaloneVerify};
use ralph_rules::ending::Status;
use ralph_rules::grade::Grade;
use ralph_rules::record::SandboxGiven;
use std::path::PathBuf;
use std::sync::Arc;

/// Beside the run's own receipt.
const FILE: &str = "receipt-after-session.json";
/// Why a run whose journal says COMPLETED is not.
const REASON: &str = "VERIFY_FAILED_AFTER_SESSION";

/// What it takes, gathered before the run takes the rest.
pub struct Again {
    request: Option<StandaloneVerify>,
    redactor: Arc<Redactor>,
    require: Grade,
}

impl Again {
    /// The verification of this run; none if it has no commands.
    pub fn of(resolved: &Resolved, here: &Here) -> Result<Again, Problem> {
        let (plan, home) = (&resolved.plan, here.home()?);
        let (contained, given) = match &resolved.deps.sandbox {
            Some(request) => sandbox::of_verification(request, &plan.protect, here)?,
            None => (None, SandboxGiven::none("")),
        };
        let request = StandaloneVerify {
            workspace: here.workspace.clone(),
            base: git_checkout::named(&here.workspace, "HEAD"),
            commit: None,
            commands: plan.verify.clone(),
            timeout: plan.policy.verify_timeout,
            oracle: plan.policy.oracle,
            oracle_paths: plan.oracle_paths.clone(),
            work_paths: plan.work_paths.clone(),
            setup: plan.setup.clone(),
            rooms: home.rooms(&here.workspace),
            own_dir: home.within(&here.workspace),
            places: agent::places(here),
            scratch: home.dir().join("verify").join(std::process::id().to_string()),
            supervisor: agent::own_program()?,
            sandbox: (contained, given),
            map: None,
        };
        let request = (!plan.verify.is_empty()).then_some(request);
        let (redactor, require) = (Arc::clone(&resolved.deps.redactor), plan.policy.gate.require);
        Ok(Again { request, redactor, require })
    }

    /// Verifies completed work, and says in the result if it does not pass any more.
    pub fn verify(self, result: &mut Outcome, id: &str, here: &Here) {
        let Some(request) = self.request.as_ref().filter(|_| result.status == Status::Completed) else {
            return;
        };
        match self.receipt(request, id, here) {
            Ok((receipt, file)) => {
                let passed = receipt.exit_code(self.require) == 0;
                let how = if passed { "passed" } else { "it does not pass any more" };
                say(&format!(
                    "Verified again with no process of the session left: {how} (receipt: {}).\n",
                    file.display()
                ));
                if !passed {
                    not_proven(result, receipt.proof, &receipt.reasons.join("; "), id);
                }
            }
            Err(problem) => {
                let cause = problem.causes.first().map(|cause| format!(": {cause}")).unwrap_or_default();
                not_proven(result, None, &format!("{}{cause}", problem.message), id);
            }
        }
    }

    fn receipt(
        &self,
        request: &StandaloneVerify,
        id: &str,
        here: &Here,
    ) -> Result<(Receipt, PathBuf), Problem> {
        let receipt = standalone::verify(request, &self.redactor, |_| {}).map_err(|error| {
            Problem::new(Code::Busy, "cannot verify again without the session").cause(&error)
        })?;
        let file = here.home()?.run(id).join(FILE);
        let text = serde_json::to_vec_pretty(&receipt).unwrap_or_default();
        std::fs::write(&file, text).map_err(|error| {
            Problem::new(Code::Busy, format!("cannot write {}", file.display())).cause(&error)
        })?;
        Ok((receipt, file))
    }
}

/// The result of a run whose work was proven only while its session lived. Its journal was closed in the session by the
/// last hook, and no record follows an end.
fn not_proven(result: &mut Outcome, proof: Option<Grade>, why: &str, id: &str) {
    result.status = Status::Aborted;
    result.reason = REASON.into();
    result.exit_code = Code::Person as u8;
    result.verification_passed = false;
    result.proof = proof;
    result.last_output = result.output.take();
    let words = format!(
        "the work passed while the session lived, and not when no process of it was left: {why}. The journal still says \
         COMPLETED, as it was judged in the session (`ralph explain {}`)",
        runs::short(id)
    );
    if let Some(details) = result.details.as_object_mut() {
        details.insert("why".into(), words.into());
    }
}
