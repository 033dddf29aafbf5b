//! The same verification once more, when no process of the session is left that could have helped it: what passes now
//! passes because of the files.

use crate::cli::resolve::Resolved;
use crate::cli::{Here, agent, runs};
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::git_checkout;
use ralph_engine::redact::Redactor;
use ralph_engine::verification::standalone::{self, StandaloneVerify};
use ralph_rules::grade::Grade;
use std::sync::Arc;

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
            map: None,
        };
        let request = (!plan.verify.is_empty()).then_some(request);
        let (redactor, require) = (Arc::clone(&resolved.deps.redactor), plan.policy.gate.require);
        Ok(Again { request, redactor, require })
    }

    /// Verifies; the exit code is the worse of both.
    pub fn verify(self, id: &str, code: u8, here: &Here) -> Result<u8, Problem> {
        let Some(request) = self.request else { return Ok(code) };
        let receipt = standalone::verify(&request, &self.redactor, |_| {}).map_err(|error| {
            Problem::new(Code::Busy, "cannot verify again without the session").cause(&error)
        })?;
        let file = here.home()?.run(id).join("receipt-after-session.json");
        let text = serde_json::to_vec_pretty(&receipt).unwrap_or_default();
        std::fs::write(&file, text).map_err(|error| {
            Problem::new(Code::Busy, format!("cannot write {}", file.display())).cause(&error)
        })?;
        let again = receipt.exit_code(self.require);
        let short = runs::short(id);
        say(&match again {
            0 => format!(
                "Verified again with no process of the session left: passed (receipt: {}).\n",
                file.display()
            ),
            _ => format!(
                "Verified again with no process of the session left: it does not pass any more. Run {short} counts as \
                 not proven; see {}.\n",
                file.display()
            ),
        });
        Ok(if code == 0 { again } else { code })
    }
}
