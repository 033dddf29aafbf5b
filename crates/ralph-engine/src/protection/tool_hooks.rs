//! Hooks that tools install. A hook counts as a tool's only if every line of it is one that the tool writes, in any version
//! that is known here: a single line more could run anything.

use ralph_tree::hash_bytes;

/// The lines of each tool's hooks, without the space around them, below `## name | what all its hooks contain`. `*` stands
/// for a part of a path or a word, `**` for words, and `…` for a text between quotes that the shell leaves as it is. The
/// commands of simple-git-hooks are the project's choice; those there run its own scripts.
const LINES: &str = include_str!("tool_hooks/lines.txt");

/// What starts lefthook where it is not on the path, also as a condition.
const BEFORE_LEFTHOOK: &str =
    "bundle exec|yarn|pnpm|npx|bunx|go tool|uv run|mise exec --|devbox run|pixi run|poetry run";

const SHELLS: [&str; 4] = ["#!/bin/sh", "#!/usr/bin/env sh", "#!/bin/bash", "#!/usr/bin/env bash"];

/// The script that all hooks of husky 4 read, versions 4.1 to 4.3: what tells its lines apart.
const HUSKY_SCRIPTS: [u128; 6] = [
    0x8179_b02a_962f_e0b6_2132_f378_52d3_8c11,
    0x06a1_d0f6_04db_199d_9b3e_4f4b_1d2c_f0b1,
    0x8276_d486_790d_8835_27d6_00fc_1c91_92bc,
    0x0b0c_d1d9_e55d_6b30_8ea4_92eb_81fe_8a1f,
    0xe709_0453_6695_ddde_42ec_8159_2aac_103a,
    0xc2f4_187a_f441_9aa0_81cb_3eb4_2f6f_023a,
];

/// No tool writes a longer hook.
const LARGEST: usize = 1 << 14;

/// The tool that writes a hook with this content.
pub fn of_hook(content: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(content).ok().filter(|text| text.len() <= LARGEST)?;
    if text.lines().next().is_some_and(|line| line.starts_with("#!") && !SHELLS.contains(&line)) {
        return None;
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_husky = HUSKY_SCRIPTS.contains(&without_version(lines()));
    let wrote = |tool: &Tool| text.contains(tool.mark) && lines().all(|line| tool.writes(line));
    Tool::all().find(wrote).map(|tool| tool.name).or(is_husky.then_some("husky"))
}

fn without_version<'a>(lines: impl Iterator<Item = &'a str>) -> u128 {
    let rest: Vec<&str> = lines.filter(|line| !fits(line, "huskyVersion=\"*\"")).collect();
    hash_bytes(rest.join("\n").as_bytes())
}

struct Tool {
    name: &'static str,
    /// What all its hooks contain.
    mark: &'static str,
    lines: &'static str,
}

impl Tool {
    fn all() -> impl Iterator<Item = Tool> {
        LINES.split("## ").filter_map(|part| {
            let (head, lines) = part.split_once('\n')?;
            let (name, mark) = head.split_once(" | ")?;
            Some(Tool { name, mark, lines })
        })
    }

    fn writes(&self, line: &str) -> bool {
        let known = |line: &str| self.lines.lines().any(|pattern| fits(line, pattern));
        known(line)
            || self.name == "lefthook" && known(&without_runner(line))
            || line.contains(" && ") && line.split(" && ").all(known)
    }
}

/// A line of lefthook's without what differs only in where lefthook is.
fn without_runner(line: &str) -> String {
    let line = line.replace("${osArch}", "x").replace("${cpuArch}", "x");
    let line = line.strip_prefix("elif ").or(line.strip_prefix("if ")).unwrap_or(&line);
    let rest = BEFORE_LEFTHOOK.split('|').find_map(|runner| line.strip_prefix(runner)?.strip_prefix(' '));
    rest.filter(|rest| rest.starts_with("lefthook")).unwrap_or(line).to_owned()
}

/// Whether a line is like a pattern.
fn fits(line: &str, pattern: &str) -> bool {
    let Some(at) = pattern.find(['*', '…']) else { return line == pattern };
    let (start, rest) = pattern.split_at(at);
    let Some(line) = line.strip_prefix(start) else { return false };
    let (allowed, rest): (fn(char) -> bool, &str) = match rest.strip_prefix("**") {
        Some(rest) => (|letter| letter == ' ' || of_word(letter), rest),
        None => match rest.strip_prefix('*') {
            Some(rest) => (of_word, rest),
            None => (|letter| !matches!(letter, '"' | '$' | '`'), rest.strip_prefix('…').unwrap_or(rest)),
        },
    };
    let run = line.find(|letter| !allowed(letter)).unwrap_or(line.len());
    // No way out of a directory.
    let run = line.find("..").map_or(run, |up| run.min(up + 1));
    let ends = line.char_indices().map(|(end, _)| end).chain([line.len()]).take_while(|end| *end <= run);
    ends.map(|end| line.split_at(end)).any(|(part, left)| !part.ends_with('\\') && fits(left, rest))
}

fn of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./@:+,=".contains(letter)
}

#[cfg(test)]
mod tests;
