//! Make files: the rules that a verify command asks for, what speaks of tests, and what changes how every recipe runs
//! belong to the oracle; other rules and lists of files do not.

use std::collections::BTreeSet;

use super::build_lines::speaks_of_tests;
use super::manifest::ManifestSplit;

/// A rule with its recipe, an assignment, or another line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its lines as they are in the file, each with its end.
    pub text: String,
    /// What it is.
    pub kind: BlockKind,
}

/// What a block of a make file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// `targets: prerequisites` and its recipe, without `@`, `-` and `+`.
    Rule {
        /// What it makes.
        targets: Vec<String>,
        /// What it needs.
        prerequisites: Vec<String>,
        /// What it runs.
        recipe: Vec<String>,
    },
    /// `NAME = value`
    Variable {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// `include files`
    Include(Vec<String>),
    /// A blank line or a comment.
    Blank,
    /// Anything else: conditionals, `export`, `define`.
    Other,
}

/// The blocks of a make file, in order. Their texts together are the file.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    for line in logical_lines(text) {
        let in_recipe = line.starts_with(['\t', ' ']) && !line.trim().is_empty();
        if in_recipe && let Some(Block { text, kind: BlockKind::Rule { recipe, .. } }) = found.last_mut() {
            text.push_str(line);
            recipe.push(command(line));
            continue;
        }
        found.push(Block { text: line.to_owned(), kind: kind(line) });
    }
    found
}

/// A recipe's line as a shell gets it.
fn command(line: &str) -> String {
    line.replace("\\\n", " ").trim().trim_start_matches(['@', '-', '+']).trim_start().to_owned()
}

/// Lines with those that a backslash continues.
fn logical_lines(text: &str) -> Vec<&str> {
    let (mut lines, mut from) = (Vec::new(), 0);
    for (at, _) in text.match_indices('\n') {
        let line = text.get(from..=at).unwrap_or_default();
        let continued = line.trim_end_matches(['\n', '\r']).ends_with('\\');
        if !continued {
            lines.push(line);
            from = at + 1;
        }
    }
    lines.extend(text.get(from..).filter(|line| !line.is_empty()));
    lines
}

fn kind(line: &str) -> BlockKind {
    let plain = line.replace("\\\n", " ");
    let plain = plain.trim();
    if plain.is_empty() || plain.starts_with('#') {
        return BlockKind::Blank;
    }
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let first = plain.split_whitespace().next().unwrap_or_default();
    if matches!(first, "include" | "-include" | "sinclude" | "import" | "mod") {
        return BlockKind::Include(words(plain).split_off(1));
    }
    let equals = plain.find('=');
    let colon = plain.find(':');
    let assigns = equals.is_some_and(|equals| {
        colon.is_none_or(|colon| {
            colon > equals
                || plain.get(colon..equals).is_some_and(|between| between.chars().all(|c| c == ':'))
        })
    });
    if let (true, Some(equals)) = (assigns, equals) {
        let (name, value) = plain.split_at(equals);
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        let simple = name.split_whitespace().count() == 1;
        let value = value.trim_start_matches('=').trim().to_owned();
        return if simple { BlockKind::Variable { name: name.to_owned(), value } } else { BlockKind::Other };
    }
    let Some((targets, rest)) = plain.split_once(':').filter(|_| !line.starts_with(['\t', ' '])) else {
        return BlockKind::Other;
    };
    let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
    let recipe = Some(inline.trim().to_owned()).filter(|inline| !inline.is_empty());
    let prerequisites = words(needs.trim_start_matches(':'));
    BlockKind::Rule {
        targets: words(targets.trim_start_matches('@')),
        prerequisites,
        recipe: recipe.into_iter().collect(),
    }
}

/// The first rule's target, which make takes if none is named.
pub fn default_target(blocks: &[Block]) -> Option<&str> {
    blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Rule { targets, .. } => {
            targets.iter().map(String::as_str).find(|target| !target.starts_with('.'))
        }
        _ => None,
    })
}

/// Takes a changed make file apart; the commands ask for these targets.
pub fn split(before: &str, now: &str, asked: &BTreeSet<String>) -> ManifestSplit {
    let (old, new) = (blocks(before), blocks(now));
    let mut wanted = asked.clone();
    wanted.extend(["all", "default", "check", "ci", "verify"].map(str::to_owned));
    wanted.extend([&old, &new].into_iter().filter_map(|side| default_target(side)).map(str::to_owned));
    let is_oracle = |block: &Block| is_oracle(block, &wanted);
    let part = |side: &[Block], oracle: bool| -> Vec<String> {
        let fits = |block: &&Block| block.kind != BlockKind::Blank && is_oracle(block) == oracle;
        side.iter().filter(fits).map(|block| compared(block, &old)).collect()
    };
    if part(&old, true) == part(&new, true) {
        return ManifestSplit::Rest;
    }
    if part(&old, false) == part(&new, false) {
        return ManifestSplit::Oracle;
    }
    ManifestSplit::Both {
        without_oracle: mixed(&new, &old, is_oracle),
        oracle_only: mixed(&old, &new, is_oracle),
    }
}

fn is_oracle(block: &Block, wanted: &BTreeSet<String>) -> bool {
    match &block.kind {
        BlockKind::Blank => false,
        BlockKind::Include(_) | BlockKind::Other => true,
        // A phony target without a rule is always made: it goes with its rule.
        BlockKind::Rule { targets, prerequisites, .. } if targets.iter().any(|target| target == ".PHONY") => {
            prerequisites.iter().any(|target| wanted.contains(target))
        }
        BlockKind::Rule { targets, .. } => {
            targets.iter().any(|target| wanted.contains(target) || target.starts_with('.'))
                || speaks_of_tests(&block.text)
        }
        BlockKind::Variable { name, value } => {
            !lists_files(name) || speaks_of_tests(value) || speaks_of_tests(name)
        }
    }
}

/// The text of a block for comparing. Sources of the work that a compiler gets besides those of the baseline say nothing
/// about the check; one that it gets no more does.
fn compared(block: &Block, before: &[Block]) -> String {
    let text = block.text.trim();
    let compiles = |line: &String| {
        let first = line.split_whitespace().next().unwrap_or_default();
        matches!(first, "$(CC)" | "$(CXX)" | "${CC}" | "cc" | "gcc" | "g++" | "c++" | "clang" | "clang++")
    };
    match &block.kind {
        BlockKind::Rule { targets, recipe, .. } if !recipe.is_empty() && recipe.iter().all(compiles) => {
            let same_rule = |other: &&Block| matches!(&other.kind, BlockKind::Rule { targets: others, .. } if others == targets);
            let known: BTreeSet<&str> =
                before.iter().filter(same_rule).flat_map(|other| other.text.split_whitespace()).collect();
            let added = |word: &&str| {
                let ends =
                    [".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".o"].iter().any(|end| word.ends_with(end));
                ends && !speaks_of_tests(word) && !known.contains(word)
            };
            text.split_whitespace().filter(|word| !added(word)).collect::<Vec<_>>().join(" ")
        }
        _ => text.to_owned(),
    }
}

/// Variables that say what is built, not how it is checked.
fn lists_files(name: &str) -> bool {
    let begins = [
        "SRC", "OBJ", "SOURCE", "HEADER", "VERSION", "LIB", "LDLIBS", "LDFLAGS", "CFLAGS", "CXXFLAGS",
        "CPPFLAGS", "INC", "DEPS", "NAME", "BIN", "PREFIX", "TARGET",
    ];
    begins.iter().any(|begin| name.starts_with(begin))
}

/// One side's blocks with the other's in place of the oracle's. A rule that the first side lacks goes to the front if it
/// stood before every other rule, because the first rule is what make does by default.
fn mixed(rest: &[Block], oracle: &[Block], is_oracle: impl Fn(&Block) -> bool) -> String {
    let key = |block: &Block| match &block.kind {
        BlockKind::Rule { targets, .. } => format!("rule {}", targets.join(" ")),
        BlockKind::Variable { name, .. } => format!("variable {name}"),
        _ => block.text.trim().to_owned(),
    };
    let mut left: Vec<(String, &Block)> =
        oracle.iter().filter(|block| is_oracle(block)).map(|block| (key(block), block)).collect();
    let mut made = String::new();
    for block in rest {
        if !is_oracle(block) {
            add(&mut made, &block.text);
        } else if let Some(at) = left.iter().position(|(other, _)| *other == key(block)) {
            add(&mut made, &left.remove(at).1.text);
        }
    }
    let first = default_target(oracle).map(|target| format!("rule {target}"));
    for (key, block) in left {
        if Some(&key) == first.as_ref() {
            made = format!("{}\n{made}", block.text.trim_end());
        } else {
            add(&mut made, &block.text);
        }
    }
    made
}

fn add(made: &mut String, text: &str) {
    made.push_str(text);
    if !text.ends_with('\n') {
        made.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "CC = gcc\nSRCS = a.c \\\n  b.c\nall: app\ntest: app\n\t@sh run.sh\n\t./app\napp: $(SRCS)\n\tcc -o app\nclean: ; rm -f app\n";

    fn parts(now: &str) -> ManifestSplit {
        split(OLD, now, &BTreeSet::from(["test".to_owned()]))
    }

    #[test]
    fn blocks_are_the_file() {
        let found = blocks(OLD);
        assert_eq!(found.iter().map(|block| block.text.as_str()).collect::<String>(), OLD);
        let BlockKind::Rule { targets, prerequisites, recipe } = &found[3].kind else { panic!("{found:?}") };
        assert_eq!((targets.join(","), prerequisites.join(",")), ("test".into(), "app".into()));
        assert_eq!(recipe, &["sh run.sh", "./app"]);
        assert_eq!(default_target(&found), Some("all"));
        for torn in ["\t", "\\", ":", "=", "a:", "::=", "include", "\\\n\\\n", "é:\n\té"] {
            assert_eq!(blocks(torn).iter().map(|block| block.text.as_str()).collect::<String>(), torn);
        }
    }

    #[test]
    fn rules_by_set() {
        assert_eq!(parts(&OLD.replace("rm -f app", "rm -rf app out")), ManifestSplit::Rest);
        assert_eq!(parts(&OLD.replace("a.c \\", "a.c c.c \\")), ManifestSplit::Rest);
        assert_eq!(parts(&format!("{OLD}\ndocs:\n\tmdbook\n")), ManifestSplit::Rest);
        for (from, to) in [
            ("sh run.sh", "true"),
            ("CC = gcc", "CC = true"),
            ("CC = gcc", "CC = gcc\nSHELL = /bin/true"),
            ("CC = gcc", "CC = gcc\ninclude x.mk"),
            ("CC = gcc", "CC = gcc\nexport X=1"),
            ("all: app", "all:"),
            ("all: app", ".IGNORE:\nall: app"),
            ("SRCS = a.c", "SRCS = -DNDEBUG a.c"),
        ] {
            assert!(parts(&OLD.replace(from, to)) != ManifestSplit::Rest, "{from} -> {to}");
        }
        assert_eq!(parts(&OLD.replace("sh run.sh", "true")), ManifestSplit::Oracle);
    }

    #[test]
    fn both_mixtures() {
        let now = OLD.replace("sh run.sh", "true").replace("rm -f", "rm -rf");
        let ManifestSplit::Both { without_oracle, oracle_only } = parts(&now) else { panic!("not both") };
        assert_eq!(without_oracle, OLD.replace("rm -f", "rm -rf"));
        assert_eq!(oracle_only, OLD.replace("sh run.sh", "true"));
        let gone = "SRCS = c.c\napp:\n\tcc\n";
        let ManifestSplit::Both { without_oracle, .. } = parts(gone) else { panic!("not both") };
        assert!(
            without_oracle.starts_with("all: app\n") && without_oracle.contains("sh run.sh"),
            "{without_oracle}"
        );
    }

    #[test]
    fn sources_of_the_work_and_phony_targets() {
        let old = "test: test_sum\n\t./test_sum\ntest_sum: test_sum.c sum.c\n\t$(CC) -o $@ test_sum.c sum.c\n.PHONY: test\n";
        let asked = BTreeSet::from(["test".to_owned()]);
        assert_eq!(split(old, &old.replace(" sum.c", " sum.c plus.c"), &asked), ManifestSplit::Rest);
        let other = split(old, &old.replace("-o $@ test_sum.c", "-o $@ test_easy.c"), &asked);
        assert_eq!(other, ManifestSplit::Oracle);
        assert_eq!(split(old, &old.replace(" sum.c", " fake.c"), &asked), ManifestSplit::Oracle);
        assert_eq!(split(old, &old.replace("-o $@", "-DNDEBUG -o $@"), &asked), ManifestSplit::Oracle);
        assert_eq!(split("", old, &asked), ManifestSplit::Oracle, "a phony target goes with its rule");
    }
}
