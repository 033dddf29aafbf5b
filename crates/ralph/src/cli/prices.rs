//! `ralph prices`: model prices with their source and date.

use super::Here;
use crate::config;
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::{Code, Problem};
use crate::style::Style;
use ralph_rules::money::Micro;
use ralph_rules::prices::{Prices, Row, normal};
use serde::Serialize;
use std::fmt::Write;

/// Arguments of `ralph prices`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Model to show, in any spelling (default: all).
    model: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The answer of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceList {
    v: u32,
    unit: &'static str,
    prices: Vec<PriceRow>,
}

/// One model's price, in dollars per million tokens.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceRow {
    model: String,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    long_prompt: Option<LongPrompt>,
    source: String,
    as_of: Option<String>,
}

/// The price of a prompt above so many tokens.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LongPrompt {
    above_tokens: u64,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// Shows the prices.
pub fn prices(args: &Args, here: &Here) -> Result<u8, Problem> {
    let prices = config::load_files(&here.workspace, &here.env)?.settings.prices();
    let rows: Vec<&Row> = match &args.model {
        Some(model) => vec![prices.find(model).ok_or_else(|| unknown(model, &prices))?],
        None => prices.rows().collect(),
    };
    if args.json {
        let list = rows.iter().map(|row| price_row(row)).collect();
        return print_json(&PriceList { v: 1, unit: "USD per million tokens", prices: list }).map(|()| 0);
    }
    print(&table(&rows, here.out_style()));
    say(
        "\nDollars per million tokens. To set your own, add [prices.\"MODEL\"] to your config.toml (see docs/money.md).\n",
    );
    Ok(0)
}

fn unknown(model: &str, prices: &Prices) -> Problem {
    let near = prices.rows().map(|row| row.model.as_str());
    let near = near.max_by(|a, b| alike(a, model).total_cmp(&alike(b, model)));
    let problem = Problem::new(Code::Usage, format!("no price is known for `{model}`"));
    let problem = match near.filter(|near| alike(near, model) > 0.8) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    };
    problem
        .hint("unless the agent reports its cost, each call counts as its estimate and is marked with ~")
        .hint(format!(
            "to set its price, add this to your config.toml (dollars per million tokens):\n\n      \
             [prices.\"{}\"]\n      input = 3.0\n      output = 15.0",
            plain(model)
        ))
}

fn alike(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&normal(a), &normal(b))
}

fn price_row(row: &Row) -> PriceRow {
    let usd = |micro: i64| Micro(micro).usd();
    let long_prompt = row.long.map(|(above_tokens, price)| LongPrompt {
        above_tokens,
        input: usd(price.input),
        output: usd(price.output),
        cache_read: usd(price.cache_read),
        cache_write: usd(price.cache_write),
    });
    PriceRow {
        model: row.model.clone(),
        input: usd(row.price.input),
        output: usd(row.price.output),
        cache_read: usd(row.price.cache_read),
        cache_write: usd(row.price.cache_write),
        long_prompt,
        source: row.source.clone(),
        as_of: row.as_of.clone(),
    }
}

/// One line a model, and below a heading for each source.
fn table(rows: &[&Row], style: Style) -> String {
    let mut text = String::new();
    let mut sources: Vec<(&str, Option<&str>)> =
        rows.iter().map(|row| (row.source.as_str(), row.as_of.as_deref())).collect();
    sources.sort_unstable();
    sources.dedup();
    let head = format!(
        "{:<22}  {:>7}  {:>7}  {:>10}  {:>11}",
        "MODEL", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"
    );
    for (n, (source, as_of)) in sources.iter().enumerate() {
        let gap = if n > 0 { "\n" } else { "" };
        let from = match as_of {
            Some(date) => format!("{source}, as of {date}"),
            None => format!("yours, from {source}"),
        };
        let _ = writeln!(text, "{gap}{}\n{}", plain(&from), style.faint(&head));
        for row in rows.iter().filter(|row| (row.source.as_str(), row.as_of.as_deref()) == (source, *as_of)) {
            let _ = writeln!(text, "{}", line(&plain(&row.model), &row.price));
            if let Some((above, price)) = &row.long {
                let name = format!("  prompt > {}K", above / 1000);
                let _ = writeln!(text, "{}", style.faint(line(&name, price)));
            }
        }
    }
    text
}

fn line(name: &str, price: &ralph_rules::money::Price) -> String {
    format!(
        "{name:<22}  {:>7}  {:>7}  {:>10}  {:>11}",
        dollars(price.input),
        dollars(price.output),
        dollars(price.cache_read),
        dollars(price.cache_write)
    )
}

/// Two digits behind the point, more where they say something.
fn dollars(micro: i64) -> String {
    let text = format!("{:.6}", Micro(micro).usd());
    let short = text.trim_end_matches('0');
    let least = text.len().saturating_sub(4);
    text.get(..short.len().max(least)).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_two_digits_or_as_many_as_it_needs() {
        for (micro, text) in
            [(10_000_000, "10.00"), (12_500_000, "12.50"), (125_000, "0.125"), (0, "0.00"), (1, "0.000001")]
        {
            assert_eq!(dollars(micro), text);
        }
    }
}
