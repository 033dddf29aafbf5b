//! A receipt as Markdown, for people.

use super::{Receipt, ReceiptMap, ReceiptNoSnapshot, ReceiptSkill, session_words};
use ralph_rules::counting::counted;
use ralph_rules::record::SignSeen;
use ralph_rules::suite::Counts;
use std::fmt::Write;

type Row = (&'static str, String);

impl Receipt {
    /// For people.
    pub fn markdown(&self) -> String {
        let mut text = format!("# Receipt: {}\n\n", self.verdict.replace('_', " "));
        let rows = self.files().into_iter().chain(self.judgements()).chain(self.circumstances());
        for (name, value) in rows {
            let _ = writeln!(text, "- **{name}**: {value}");
        }
        text.push_str(&self.verifications());
        text.extend(self.map.iter().map(ReceiptMap::markdown));
        text
    }

    /// What was verified, and why it has this verdict.
    fn files(&self) -> Vec<Row> {
        let some = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".into());
        let mut rows: Vec<Row> = self.reason.iter().map(|reason| ("ended", reason.clone())).collect();
        rows.extend([("base", some(&self.base)), ("head", some(&self.head)), ("tree", self.tree.clone())]);
        let diff = format!("{} ({})", some(&self.diff_hash), counted(self.files_changed, "file"));
        rows.push(("diff", diff));
        rows.extend(self.reasons.iter().map(|reason| ("why", reason.clone())));
        let sets = [
            ("work", &self.changes.work),
            ("checks", &self.changes.oracle),
            ("either", &self.changes.ambiguous),
            ("outside", &self.changes.outside),
            ("around", &self.changes.around),
        ];
        let sets = sets.into_iter().filter(|(_, files)| !files.is_empty());
        rows.extend(sets.map(|(set, files)| (set, files.join(", "))));
        rows
    }

    /// What was found in the work, by ralph, its stories and reviewers.
    fn judgements(&self) -> Vec<Row> {
        let sign = |sign: &SignSeen| {
            ("look at", format!("{}:{}: the work {}: `{}`", sign.path, sign.line, sign.what, sign.text))
        };
        let mut rows: Vec<Row> = self.signs.iter().map(sign).collect();
        rows.extend(self.skill.iter().flat_map(ReceiptSkill::rows));
        rows.extend(self.stories.iter().map(|story| {
            let state = story.proof.map_or_else(|| story.state.replace('_', " "), |grade| grade.to_string());
            ("story", format!("{}: {state}", story.title))
        }));
        for review in &self.reviews {
            let said = review.verdict.clone().unwrap_or_else(|| format!("no verdict, {}", review.why));
            rows.push(("review", format!("{}: {said}, ${:.4}", review.agent, review.cost_usd)));
            rows.extend(review.findings.iter().map(|finding| ("finding", finding.clone())));
        }
        rows
    }

    /// What the run cost, what contained it, and what it stands on.
    fn circumstances(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        // Without a run there is nothing to pay for.
        if self.reason.is_some() {
            let unknown = if self.cost_is_complete { "" } else { ", a part of it unknown" };
            let iterations = counted(self.iterations.len(), "iteration");
            rows.push(("cost", format!("${:.4}{unknown}, {iterations}", self.cost_usd)));
        }
        rows.extend(self.no_snapshot.iter().map(|ReceiptNoSnapshot { iteration, why }| {
            ("undo", format!("no snapshot before iteration {iteration}: {why}"))
        }));
        rows.push(("sandbox", self.sandbox.clone()));
        rows.extend(self.not_held.iter().map(|note| ("not held", note.clone())));
        rows.extend(self.hosts_refused.iter().map(|host| ("refused", host.clone())));
        if !self.obeyed.is_empty() {
            rows.push(("read first", obeyed_words(&self.obeyed.join(", "))));
        }
        rows.extend(self.session.iter().map(|client| ("session", session_words(client))));
        let chain = self.chain.iter();
        rows.extend(
            chain
                .map(|chain| ("journal", format!("run {}, record {}, {}", chain.run, chain.seq, chain.hash))),
        );
        rows
    }
}

/// What is to be known of files by which other programs run something.
pub fn obeyed_words(files: &str) -> String {
    format!("{files}: other programs run what these files say")
}

impl Receipt {
    /// A table of every verification.
    fn verifications(&self) -> String {
        let mut text = String::from("\n| command | check | passed | exit | seconds | tests |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        for ran in &self.commands {
            let exit = ran.exit.map_or_else(|| "–".into(), |code| code.to_string());
            let tests = tests_of(ran.counts);
            let command = ran.command.replace('|', "\\|");
            let (check, passed) = (&ran.check, if ran.passed { "yes" } else { "no" });
            let _ = writeln!(
                text,
                "| `{command}` | {check} | {passed} | {exit} | {}.{} | {tests} |",
                ran.ms / 1000,
                ran.ms % 1000 / 100
            );
        }
        for room in &self.rooms {
            let (passed, tests) = (if room.passed { "yes" } else { "no" }, tests_of(room.counts));
            let (what, ms) = (room.sets.words(), room.ms);
            let _ = writeln!(
                text,
                "| all | {what} | {passed} | – | {}.{} | {tests} |",
                ms / 1000,
                ms % 1000 / 100
            );
        }
        text
    }
}

fn tests_of(counts: Option<Counts>) -> String {
    counts.map_or_else(|| "–".into(), |c| format!("{} of {}", c.passed, c.total))
}
