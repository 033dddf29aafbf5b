//! The price table: what a model's tokens cost, where each row was read and when, and how the many spellings of one
//! model find their row. The user's own prices come first. `money.rs` has the arithmetic; the agents'
//! readers price running calls with it, the engine prices finished ones.

use crate::money::{Micro, Price, Usage};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The table ralph comes with.
static TABLE: LazyLock<Prices> = LazyLock::new(|| {
    let rows = read(include_str!("prices.tsv"));
    Prices(Arc::new(rows.into_iter().map(|row| (normal(&row.model), row)).collect()))
});

/// All prices that hold: the table, and over it what the user set. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices(Arc<BTreeMap<String, Row>>);

/// The price of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub model: String,
    /// Per million tokens.
    pub price: Price,
    /// Above so many tokens of one prompt another price holds for all of that turn.
    pub long: Option<(u64, Price)>,
    /// Where the numbers are from: a page, or the user's file.
    pub source: String,
    /// When they were read; none where the user set them.
    pub as_of: Option<String>,
}

impl Row {
    /// What one model turn costs.
    pub fn turn(&self, usage: &Usage) -> Option<Micro> {
        let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        match self.long {
            Some((above, price)) if prompt > above => price.of(usage),
            _ => self.price.of(usage),
        }
    }

    /// What several turns cost whose tokens are known only together: each is taken for one of usual length.
    pub fn sum(&self, usage: &Usage) -> Option<Micro> {
        self.price.of(usage)
    }
}

impl Default for Prices {
    fn default() -> Prices {
        TABLE.clone()
    }
}

impl Prices {
    /// These prices and this row over them.
    #[must_use]
    pub fn with(mut self, row: Row) -> Prices {
        Arc::make_mut(&mut self.0).insert(normal(&row.model), row);
        self
    }

    /// The row of a model, however its name is spelt.
    pub fn find(&self, model: &str) -> Option<&Row> {
        self.0.get(&normal(model))
    }

    /// The cost of one turn, and whether it is a guess: an unknown model is priced as the most expensive one.
    pub fn live(&self, model: Option<&str>, usage: &Usage) -> Option<(Micro, bool)> {
        match model.and_then(|model| self.find(model)) {
            Some(row) => row.turn(usage).map(|cost| (cost, false)),
            None => self.dearest().of(usage).map(|cost| (cost, true)),
        }
    }

    /// The highest price, used for an unknown model during a call.
    pub fn dearest(&self) -> Price {
        let all = self.0.values().map(|row| row.price);
        all.max_by_key(|price| price.output).unwrap_or(Price::NOTHING)
    }

    /// Every row, by name.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.values()
    }
}

/// The rows of the table. Invalid lines are skipped; a test checks that there are none.
fn read(text: &str) -> Vec<Row> {
    let (mut rows, mut source, mut as_of) = (Vec::new(), "", "");
    for line in text.lines() {
        if let Some((date, from)) = line.strip_prefix("= ").and_then(|rest| rest.split_once(' ')) {
            (as_of, source) = (date, from);
            continue;
        }
        rows.extend(row(line, source, as_of));
    }
    rows
}

fn row(line: &str, source: &str, as_of: &str) -> Option<Row> {
    let mut fields = line.split('\t');
    let model = fields.next()?.to_owned();
    let price = price(&mut fields)?;
    let long = fields.next().and_then(|above| Some((above.parse().ok()?, self::price(&mut fields)?)));
    Some(Row { model, price, long, source: source.into(), as_of: Some(as_of.into()) })
}

fn price<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<Price> {
    let mut next = || Micro::from_usd(fields.next()?.parse().ok()?).map(|micro| micro.0);
    Some(Price { input: next()?, output: next()?, cache_read: next()?, cache_write: next()? })
}

/// One name for all spellings of a model: without the provider in front, the date or version behind, and with dashes
/// for dots. `us.anthropic.claude-sonnet-4-5-20250929-v1:0` and `openrouter/anthropic/claude-sonnet-4.5` are one model.
pub fn normal(model: &str) -> String {
    let mut name = model.trim().to_ascii_lowercase();
    if let Some((_, last)) = name.rsplit_once('/') {
        name = last.to_owned();
    }
    for end in ['[', '@', ':'] {
        name.truncate(name.find(end).unwrap_or(name.len()));
    }
    while let Some((_, rest)) = name.split_once('.').filter(|(first, _)| REGIONS.contains(first)) {
        name = rest.to_owned();
    }
    let name = name.replace(['.', '_', ' '], "-");
    let mut name = name.as_str();
    while let Some(shorter) = without_suffix(name) {
        name = shorter;
    }
    name.to_owned()
}

/// Regions and providers, as written before a dot.
const REGIONS: &[&str] =
    &["us", "eu", "apac", "jp", "au", "global", "us-gov", "anthropic", "openai", "google", "xai", "moonshot"];

/// The name without a last part that says nothing about the price.
fn without_suffix(name: &str) -> Option<&str> {
    for suffix in ["-latest", "-preview", "-exp", "-v1", "-v2"] {
        if let Some(rest) = name.strip_suffix(suffix).filter(|rest| !rest.is_empty()) {
            return Some(rest);
        }
    }
    // A date: eight digits, four-two-two, or two-two behind `-preview`.
    let (rest, last) = name.rsplit_once('-')?;
    let digits = |part: &str, n: usize| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
    if digits(last, 8) {
        return Some(rest);
    }
    let (before, month) = rest.rsplit_once('-')?;
    if !digits(last, 2) || !digits(month, 2) {
        return None;
    }
    if before.ends_with("-preview") {
        return Some(before);
    }
    before.rsplit_once('-').filter(|(_, year)| digits(year, 4)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_row_with_a_date_and_a_source() {
        let text = include_str!("prices.tsv");
        let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with(['#', '=']));
        let rows = read(text);
        assert_eq!(rows.len(), lines.count());
        for row in &rows {
            let date = row.as_of.as_deref().unwrap();
            assert!(date.len() == 10 && date.starts_with("20") && !row.source.is_empty(), "{row:?}");
            let Price { input, output, cache_read, cache_write } = row.price;
            assert!(cache_read <= input && input <= output && cache_write >= input, "{row:?}");
            assert!(row.long.is_none_or(|(above, long)| above > 0 && long.input > input), "{row:?}");
        }
        assert_eq!(Prices::default().rows().count(), rows.len(), "two rows have one name");
    }

    #[test]
    fn all_spellings_of_a_model_find_its_row() {
        let prices = Prices::default();
        for (spelt, model) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4.5"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4.5"),
            ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4.5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4.5"),
            ("claude-opus-5-5[1m]", "claude-opus-5.5"),
            ("claude-3-5-haiku-latest", "claude-3.5-haiku"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("openai/gpt-5.4", "gpt-5.4"),
            ("models/gemini-3.1-pro-preview", "gemini-3.1-pro"),
            ("gemini-3.1-pro-preview-05-06", "gemini-3.1-pro"),
            ("GPT-5-Codex", "gpt-5-codex"),
            ("Opus", "opus"),
        ] {
            assert_eq!(prices.find(spelt).map(|r| r.model.as_str()), Some(model), "{spelt}");
        }
        for unknown in
            ["", "gpt-5.9", "gpt-5-pro", "claude", "claude-opus-9", "my-model", "-", "20250929", "/"]
        {
            assert_eq!(prices.find(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_users_price_comes_first_and_an_unknown_model_is_the_dearest() {
        let price = Price { input: 1, output: 2, cache_read: 3, cache_write: 4 };
        let row = Row { model: "azure/GPT-5".into(), price, long: None, source: "mine".into(), as_of: None };
        let prices = Prices::default().with(row);
        assert_eq!(prices.find("gpt-5-2025-08-07").map(|r| r.price), Some(price));
        let usage = Usage { input: 1_000_000, ..Usage::default() };
        assert_eq!(prices.live(Some("gpt-5"), &usage), Some((Micro(1), false)));
        let (cost, guessed) = prices.live(Some("nobody"), &usage).unwrap();
        assert!(guessed && cost == prices.dearest().of(&usage).unwrap());
    }

    #[test]
    fn a_long_prompt_costs_more_for_its_own_turn_only() {
        let prices = Prices::default();
        let row = prices.find("gpt-5.4").unwrap();
        let usage = Usage { input: 100_000, cache_read: 200_000, output: 1000, ..Usage::default() };
        assert_eq!(row.turn(&usage), Some(Micro(500_000 + 100_000 + 22_500)));
        assert_eq!(row.sum(&usage), Some(Micro(250_000 + 50_000 + 15_000)));
    }
}
