//! `ralph analyze`: read one agent response, from a file or stdin, and print what it comes to. Exit 0 whenever an
//! analysis was printed, whatever it says, for empty input too.

use super::{Here, agent};
use crate::print::print_json;
use crate::problem::{Code, Problem};
use crate::values;
use ralph_agents::{Exit, Reply, detect, registry};
use ralph_engine::clock::utc;
use ralph_engine::reset::resolve;
use ralph_rules::claim::{self, Claim, Status};
use ralph_rules::fingerprint::Fingerprint;
use ralph_rules::gate::indicators;
use ralph_rules::prompt::tail;
use serde_json::{Value, json};
use std::io::Read;
use std::path::PathBuf;

/// What the analysis prints of the final message.
const TEXT: usize = 1 << 20;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The response; `-` or nothing is stdin.
    file: Option<PathBuf>,
    /// Whose reader to use (default: found out from the input).
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The completion promise.
    #[arg(long, value_name = "TEXT", default_value = "COMPLETE", value_parser = values::promise)]
    promise: String,
    /// As JSON; the analysis always is.
    #[arg(long, hide = true)]
    json: bool,
}

/// Prints the analysis.
pub fn analyze(args: &Args, _here: &Here) -> Result<u8, Problem> {
    if let Some(name) = &args.agent {
        registry::find(name).map_err(|e| agent::unknown(&e))?;
    }
    let bytes = input(args)?;
    let reply = detect::read_all(&bytes, args.agent.as_deref(), Exit::default());
    let claim = match reply.failure {
        Some(_) => Claim::default(),
        None => claim::read(&reply.text, &args.promise),
    };
    print_json(&analysis(&reply, &claim, args))?;
    Ok(0)
}

fn input(args: &Args) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let read = match args.file.as_ref().filter(|f| f.as_os_str() != "-") {
        Some(file) => {
            std::fs::read(file).map(|read| bytes = read).map_err(|e| (file.display().to_string(), e))
        }
        None => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ()).map_err(|e| ("stdin".into(), e)),
    };
    read.map_err(|(what, e)| {
        Problem::new(Code::Input, format!("{what} cannot be read"))
            .cause(&e)
            .hint("name a readable file, or - for stdin")
    })?;
    Ok(bytes)
}

fn analysis(reply: &Reply, claim: &Claim, args: &Args) -> Value {
    let zone = jiff::tz::TimeZone::system();
    let zone = zone.iana_name().unwrap_or("UTC");
    let failure = reply.failure.as_ref().map(|f| {
        let reset = f.reset.as_ref().and_then(|r| resolve(r, utc(), zone));
        let reset = reset.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()).map(|t| t.to_string());
        json!({"class": f.class, "message": f.message, "reset_at": reset})
    });
    json!({
        "timestamp": jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
        "format": reply.format,
        "ralph_status": status(claim.block.as_ref()),
        "promise": claim.promise,
        "exit_signal": match claim.exit {
            claim::Exit::True => Some(true),
            claim::Exit::False => Some(false),
            claim::Exit::Absent => None,
        },
        "completion_indicators": indicators(claim, false, None),
        "evidence": claim.evidence,
        "lints": claim.lints,
        "errors": reply.failure.iter().map(|f| error(&f.message)).collect::<Vec<_>>(),
        "work_type": claim.block.as_ref().map(|b| b.work_type),
        "asking_questions": claim.asks,
        "permission_denials": reply.denials,
        "session_id": reply.session,
        "model": reply.model,
        "usage": reply.usage,
        "cost_usd": reply.cost.map(|c| c.usd()),
        "failure": failure,
        "warnings": warnings(reply, claim, args),
        "text": tail(&reply.text, TEXT),
        "text_bytes": reply.text_bytes,
    })
}

/// An error comes from the agent's own error result; words in its message are none.
fn error(message: &str) -> Value {
    let Fingerprint { hash, head } = Fingerprint::of(message);
    json!({"fingerprint": hash, "text": head})
}

fn status(block: Option<&Status>) -> Value {
    json!({
        "found": block.is_some(),
        "status": block.map(|b| b.status),
        "tasks_completed": block.map(|b| b.tasks_completed),
        "files_modified": block.map(|b| b.files_modified),
        "tests_status": block.map(|b| b.tests),
        "work_type": block.map(|b| b.work_type),
        "exit_signal": block.map(|b| b.exit_signal),
        "recommendation": block.map(|b| &b.recommendation),
    })
}

fn warnings(reply: &Reply, claim: &Claim, args: &Args) -> Vec<String> {
    let mut warnings = Vec::new();
    if reply.garbled > 0 {
        warnings.push(format!("{} lines could not be read as the agent's protocol", reply.garbled));
    }
    if reply.failure.is_none() && claim.block.is_none() && !claim.promise {
        warnings.push(format!(
            "no status block and no <promise>{}</promise>: only phrases were read",
            args.promise
        ));
    }
    warnings
}
