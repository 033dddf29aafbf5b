//! `ralph report`: a day's runs in numbers, as Markdown, for scripts, or as one HTML file (`report/html.rs`), which can
//! also be about one run.

mod html;

use super::{Here, resolve, runs};
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use jiff::ToSpan;
use jiff::civil::Date;
use ralph_engine::clock::utc;
use ralph_engine::metrics::calendar::{Days, today};
use ralph_engine::metrics::day_report;
use ralph_rules::report::{Report, Span, report as empty};

/// Arguments of `ralph report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Day to report: a date such as 2026-02-20, today or yesterday (default: today); with --html also a run id.
    #[arg(value_name = "DATE")]
    date: Option<String>,
    /// First day of a range that ends with DATE.
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Include runs in all workspaces.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print one HTML file without scripts, to print or attach: of the days, or of one run.
    #[arg(long, conflicts_with = "json")]
    html: bool,
}

/// Prints the report.
pub fn report(args: &Args, here: &Here) -> Result<u8, Problem> {
    let zone = resolve::zone(here);
    let now = today(utc(), &zone)
        .ok_or_else(|| Problem::new(Code::Bug, "cannot tell the date from the system clock"))?;
    let last = args.date.as_deref().map_or(Ok(now), |text| day(text, now));
    if let (true, Some(text), Err(_)) = (args.html, args.date.as_deref(), &last) {
        if args.all || args.since.is_some() {
            return Err(Problem::new(
                Code::Usage,
                format!("`{text}` is not a date, and --all and --since need one"),
            )
            .hint("omit them for the report of one run: ralph report --html RUN"));
        }
        return html::of_run(text, here);
    }
    let last = last?;
    let first = args.since.as_deref().map_or(Ok(last), |text| day(text, now))?;
    if first > last {
        return Err(Problem::new(Code::Usage, format!("--since {first} is after the last day, {last}"))
            .hint("give the earlier day with --since, such as: ralph report 2026-02-20 --since 2026-02-14"));
    }
    let days = Days::span(first, last, &zone);
    let found = found(args, here, days)?;
    match (args.html, args.json) {
        (true, _) => return html::of_days(&found, &days, args.all, here),
        (_, true) => print_json(&found)?,
        _ => print(&found.markdown()),
    }
    Ok(0)
}

fn found(args: &Args, here: &Here, days: Days) -> Result<Report, Problem> {
    let workspace = here.workspace.to_string_lossy();
    match here.home()?.store_if_any().map_err(|e| runs::broken(&e))? {
        Some(store) => {
            let workspace = (!args.all).then_some(workspace.as_ref());
            day_report(&store, workspace, days).map_err(|e| runs::broken(&e))
        }
        None => {
            let span = Span { from: days.first.to_string(), to: days.last.to_string(), day: None };
            Ok(empty(&[], &span))
        }
    }
}

/// Parses a day.
fn day(text: &str, now: Date) -> Result<Date, Problem> {
    let bad = || {
        Problem::new(Code::Usage, format!("`{text}` is not a valid date"))
            .hint("use a date such as 2026-02-20, or today or yesterday")
    };
    match text {
        "today" => Ok(now),
        "yesterday" => now.checked_sub(1.day()).map_err(|_| bad()),
        // The parser also takes times and shorter forms; a day is ten characters.
        _ if text.len() == 10 => text.parse().map_err(|_| bad()),
        _ => Err(bad()),
    }
}
