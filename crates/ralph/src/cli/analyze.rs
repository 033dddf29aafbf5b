//! `ralph analyze`: analyzes one agent response from a file or stdin. Exit code 0 whenever an analysis was printed,
//! whatever it says, also for empty input. Input of any size is read in pieces. The settings are those of a run here.

use super::{Here, agent, get_value};
use crate::config::{ANALYZE_FLAGS, Flags, Sources, find};
use crate::print::print_json;
use crate::problem::{Code, Problem};
use crate::values;
use clap::builder::PossibleValuesParser;
use ralph_agents::detect::OfflineReader;
use ralph_agents::{Denial, Exit, Failure, Format, Reply, registry};
use ralph_engine::clock::utc;
use ralph_engine::reset_time::resolve;
use ralph_rules::analysis::shape::{Analysis, Failed, Refusal};
use ralph_rules::analysis::{Response, Trend};
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use toml::Value;

/// How much is read at once.
const PIECE: usize = 256 << 10;

/// Arguments of `ralph analyze`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File with the response (default: stdin).
    file: Option<PathBuf>,
    /// Earlier responses, oldest first, to detect repeated errors and shrinking answers.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    history: Vec<PathBuf>,
    /// Agent that wrote the response (default: detected from the input).
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Preset to judge by: strict, classic, analyzer or wrapper (default: as configured here).
    #[arg(long, value_name = "NAME", value_parser = presets(), hide_possible_values = true)]
    preset: Option<String>,
    /// Completion promise to look for (default: gate.promise).
    #[arg(long, value_name = "TEXT", value_parser = values::promise)]
    promise: Option<String>,
    /// Print only this value of the JSON, such as exit_decision or ralph_status.status.
    #[arg(long, value_name = "KEY")]
    get: Option<String>,
    /// Accepted for scripts; the output is always JSON.
    #[arg(long, hide = true, conflicts_with = "get")]
    json: bool,
}

/// Prints the analysis.
pub fn analyze(args: &Args, here: &Here) -> Result<u8, Problem> {
    if let Some(name) = &args.agent {
        registry::find(name).map_err(|e| agent::unknown(&e))?;
    }
    let policy = policy(args, here)?;
    let mut trend = Trend::default();
    for file in &args.history {
        let reply = read(Some(file), args.agent.as_deref())?;
        trend.add(&response(&reply, &policy), &policy);
    }
    let reply = read(args.file.as_deref(), args.agent.as_deref())?;
    let response = response(&reply, &policy);
    trend.add(&response, &policy);
    let analysis = complete(Analysis::of(&response, &trend, &policy), reply, &policy);
    match &args.get {
        None => print_json(&analysis)?,
        Some(key) => {
            let value = serde_json::to_value(&analysis)
                .map_err(|e| Problem::new(Code::Bug, "the analysis cannot be written as JSON").cause(&e))?;
            get_value::print_value(&value, Some(key))?;
        }
    }
    Ok(0)
}

/// The policy of a run here. Limits do not matter, and verification cannot take place.
fn policy(args: &Args, here: &Here) -> Result<Policy, Problem> {
    let typed = ANALYZE_FLAGS.into_iter().zip([&args.preset, &args.promise]);
    let flags = Flags::of(typed.filter_map(|(key, text)| Some((key, Value::String(text.clone()?)))));
    let sources = Sources::files(&here.workspace, here.env.config_home.as_deref());
    let settings = sources.variables(&here.env).flags(&flags).load()?.settings;
    let mut policy = settings.policy(1, Micro::ZERO);
    // Every rung gets an iteration before the breaker opens.
    let rungs = u32::try_from(settings.ladder.len()).unwrap_or(u32::MAX);
    policy.breaker.open_after = policy.breaker.open_after.max(rungs);
    Ok(policy)
}

fn presets() -> PossibleValuesParser {
    PossibleValuesParser::new(find("preset").and_then(|key| key.kind.words()).unwrap_or_default())
}

fn response(reply: &Reply, policy: &Policy) -> Response {
    let failure = reply.failure.as_ref().map(|failure| failure.message.as_str());
    let mut response = Response::read_for(&reply.text, reply.status.as_ref(), &policy.gate, failure);
    response.text_bytes = reply.text_bytes;
    response.denials = reply.denials.iter().map(|denial| denial.tool.clone()).collect();
    response
}

/// Reads a file, or stdin, piece by piece.
pub fn read(file: Option<&Path>, agent: Option<&str>) -> Result<Reply, Problem> {
    let file = file.filter(|file| file.as_os_str() != "-");
    let name = file.map_or("stdin".into(), |file| file.display().to_string());
    let mut offline_reader = OfflineReader::new(agent);
    let read = match file {
        Some(file) => File::open(file).and_then(|mut file| pour(&mut file, &mut offline_reader)),
        None => pour(&mut io::stdin().lock(), &mut offline_reader),
    };
    read.map_err(|e| {
        Problem::new(Code::Input, format!("cannot read {name}"))
            .cause(&e)
            .hint("give a readable file, or - for stdin")
    })?;
    Ok(offline_reader.close(Exit::default()))
}

fn pour(source: &mut dyn Read, offline_reader: &mut OfflineReader) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => offline_reader.feed(piece.get(..read).unwrap_or_default()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Adds what the reader knows beside the final message.
fn complete(analysis: Analysis, reply: Reply, policy: &Policy) -> Analysis {
    let mut warnings = analysis.warnings;
    match reply.garbled {
        0 => {}
        1 => warnings.push("1 line is not in the agent's output format".into()),
        n => warnings.push(format!("{n} lines are not in the agent's output format")),
    }
    if reply.failure.is_none() && !analysis.ralph_status.found && !analysis.promise {
        let promise = &policy.gate.promise;
        warnings.push(format!("no status block and no <promise>{promise}</promise>: judged by phrases only"));
    }
    let denial = |denial: Denial| Refusal { tool: denial.tool, detail: denial.detail };
    Analysis {
        timestamp: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
        format: match reply.format {
            Format::Json => "json",
            Format::Jsonl => "jsonl",
            Format::Text => "text",
        },
        permission_denials: reply.denials.into_iter().map(denial).collect(),
        session_id: reply.session,
        usage: reply.usage,
        cost_usd: reply.cost.map(Micro::usd),
        failure: reply.failure.map(failed),
        warnings,
        text: reply.text,
        ..analysis
    }
}

fn failed(failure: Failure) -> Failed {
    let zone = jiff::tz::TimeZone::system();
    let zone = zone.iana_name().unwrap_or("UTC");
    let reset = failure.reset.as_ref().and_then(|reset| resolve(reset, utc(), zone));
    let reset_at = reset.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()).map(|at| at.to_string());
    Failed { class: failure.class, message: failure.message, reset_at }
}
