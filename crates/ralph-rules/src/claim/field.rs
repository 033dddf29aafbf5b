//! The fields of a block: which line is one, what its value means, which rules it breaks. A block without a
//! readable shape (template values, no EXIT_SIGNAL line) yields no status. `block.rs` brings the lines.

use super::lint::{Code, FieldLines, Lint, contradictions};
use super::status::{Progress, Status, Tests, WorkType};

/// The seven fields, in their order.
const FIELDS: [&str; 7] = [
    "STATUS",
    "TASKS_COMPLETED_THIS_LOOP",
    "FILES_MODIFIED",
    "TESTS_STATUS",
    "WORK_TYPE",
    "EXIT_SIGNAL",
    "RECOMMENDATION",
];
const RECOMMENDATION: usize = 6;

/// Placeholders of the templates, ralph's own and older ones, for RECOMMENDATION.
const PLACEHOLDERS: [&str; 7] = [
    "<one line>",
    "<one line summary>",
    "<one-line summary>",
    "<summary>",
    "<string>",
    "[one line summary]",
    "[one-line summary of next action or completion state]",
];

/// A line of the form `KEY: value`.
pub(super) struct Pair<'a> {
    key: &'a str,
    value: &'a str,
    bold: bool,
}

/// Reads a line as `KEY: value`, bold marks allowed around the key, the value or both.
pub(super) fn pair(text: &str) -> Option<Pair<'_>> {
    let (left, right) = text.split_once(':')?;
    let key = left.trim_matches(['*', '_', ' ', '\t']);
    let named = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.len() <= 40
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let mut value = right.trim();
    let mark = ["**", "__"].into_iter().find(|mark| left.starts_with(mark));
    if let Some(mark) = mark.filter(|mark| !left.trim_end().ends_with(mark)) {
        value = value.strip_prefix(mark).or_else(|| value.strip_suffix(mark)).unwrap_or(value).trim();
    }
    named.then_some(Pair { key, value, bold: left.trim() != key })
}

/// Is this one of the seven fields, spelled exactly? Such a line outside a block is a piece of a broken one.
pub(super) fn is_exact_field(text: &str) -> bool {
    pair(text).is_some_and(|pair| FIELDS.contains(&pair.key))
}

/// Is this one of the seven fields, in any case?
pub(super) fn is_field(text: &str) -> bool {
    pair(text).is_some_and(|pair| field_index(pair.key).is_some())
}

/// Is this an EXIT_SIGNAL line, spelled exactly?
pub(super) fn is_exact_exit(text: &str) -> bool {
    pair(text).is_some_and(|pair| pair.key == "EXIT_SIGNAL")
}

fn field_index(key: &str) -> Option<usize> {
    FIELDS.iter().position(|field| field.eq_ignore_ascii_case(key))
}

/// The values given for one field, each with the number of its line.
type Values<'a> = Vec<(usize, &'a str)>;

/// Everything a block's lines said, before it is judged.
#[derive(Default)]
struct Body<'a> {
    values: [Values<'a>; 7],
    last: Option<usize>,
    lints: Vec<Lint>,
}

/// Reads the lines between the delimiters. `head` is the number of the block's first line.
pub(super) fn read<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    head: usize,
) -> (Option<Status>, Vec<Lint>) {
    let mut body = Body::default();
    for (number, text) in lines {
        body.take(number, text);
    }
    body.judge(head)
}

impl<'a> Body<'a> {
    fn lint(&mut self, code: Code, line: usize, detail: &str) {
        // A block of a million broken lines needs no million lints.
        if self.lints.len() < 32 {
            self.lints.push(Lint::new(code, line, detail));
        }
    }

    fn take(&mut self, number: usize, text: &'a str) {
        let Some(pair) = pair(text) else {
            let code = match self.last {
                Some(RECOMMENDATION) => Code::MultiLineRecommendation,
                _ => Code::StrayText,
            };
            return self.lint(code, number, text);
        };
        let Some(index) = field_index(pair.key) else {
            return self.lint(Code::ExtraField, number, pair.key);
        };
        if pair.bold || FIELDS.get(index) != Some(&pair.key) {
            self.lint(Code::LooseFormat, number, text);
        }
        let seen = self.values.get(index).is_some_and(|values| !values.is_empty());
        if seen {
            self.lint(Code::DuplicateField, number, pair.key);
        } else if self.last.is_some_and(|last| last > index) {
            self.lint(Code::FieldOrder, number, pair.key);
        }
        if let Some(values) = self.values.get_mut(index) {
            values.push((number, pair.value));
        }
        self.last = Some(index);
    }

    fn judge(mut self, head: usize) -> (Option<Status>, Vec<Lint>) {
        for (field, values) in FIELDS.iter().zip(&self.values) {
            if values.is_empty() {
                self.lints.push(Lint::new(Code::MissingField, head, field));
            }
        }
        let [status, tasks, files, tests, work, exit, recommendation] = std::mem::take(&mut self.values);
        let fields = [&status, &tasks, &files, &tests, &work, &exit, &recommendation];
        let template = fields.iter().zip(FIELDS).find(|(values, field)| is_template(values, field));
        if let Some((values, field)) = template {
            self.lints.push(Lint::new(Code::TemplateValues, line_of(values, head), field));
            return (None, self.lints);
        }
        if exit.is_empty() {
            return (None, self.lints);
        }
        let lines = FieldLines {
            status: line_of(&status, head),
            exit: line_of(&exit, head),
            recommendation: line_of(&recommendation, head),
        };
        let progress = self.agreed("STATUS", &status, progress);
        let failing = tests.iter().any(|(_, value)| tests_status(value) == Some(Tests::Failing));
        let tests = self.agreed("TESTS_STATUS", &tests, tests_status);
        let status = Status {
            status: Some(progress.unwrap_or(Progress::InProgress)),
            tasks_completed: self.agreed("TASKS_COMPLETED_THIS_LOOP", &tasks, count),
            files_modified: self.agreed("FILES_MODIFIED", &files, count),
            tests: Some(if failing { Tests::Failing } else { tests.unwrap_or(Tests::NotRun) }),
            work_type: self.agreed("WORK_TYPE", &work, work_type),
            exit_signal: Some(self.agreed("EXIT_SIGNAL", &exit, flag).unwrap_or(false)),
            recommendation: recommendation.first().map_or_else(String::new, |(_, text)| (*text).to_owned()),
        };
        if let Some((line, _)) = recommendation.first().filter(|(_, text)| text.is_empty()) {
            self.lints.push(Lint::new(Code::EmptyRecommendation, *line, "RECOMMENDATION"));
        }
        self.lints.extend(contradictions(&status, progress, lines));
        (Some(status), self.lints)
    }

    /// The value all lines of one field agree on. Where they differ nothing was said.
    fn agreed<T: PartialEq>(
        &mut self,
        field: &str,
        values: &[(usize, &str)],
        read: fn(&str) -> Option<T>,
    ) -> Option<T> {
        let mut agreed = None;
        for (nth, (line, value)) in values.iter().enumerate() {
            let meant = read(value);
            if meant.is_none() {
                self.lint(Code::BadValue, *line, &format!("{field}: {value}"));
            }
            if nth > 0 && meant != agreed {
                return None;
            }
            agreed = meant;
        }
        agreed
    }
}

/// The line of a field, or of the block's head where the field is missing.
fn line_of(values: &[(usize, &str)], head: usize) -> usize {
    values.first().map_or(head, |(line, _)| *line)
}

/// Are these the template's own words, left as they were?
fn is_template(values: &[(usize, &str)], field: &str) -> bool {
    values.iter().any(|(_, value)| {
        if FIELDS.get(RECOMMENDATION) == Some(&field) {
            return PLACEHOLDERS.iter().any(|words| words.eq_ignore_ascii_case(value));
        }
        let plain = plain(value);
        let wrapped = (plain.starts_with('<') && plain.ends_with('>'))
            || (plain.starts_with('[') && plain.ends_with(']'));
        // Two kinds of work on one line are a bad value; only the whole list is the template.
        let choices = if field == "WORK_TYPE" { 4 } else { 2 };
        wrapped || plain.split('|').count() >= choices
    })
}

/// A value without bold marks.
fn plain(value: &str) -> &str {
    value.trim_matches(['*', '_', ' ', '\t'])
}

/// The value among the words of one enumeration; case, and space or hyphen for `_`, do not matter.
fn word<T: Copy>(value: &str, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
    let value = plain(value);
    let same = |word: &str| {
        word.len() == value.len()
            && word
                .bytes()
                .zip(value.bytes())
                .all(|(a, b)| a.eq_ignore_ascii_case(&b) || (a == b'_' && matches!(b, b' ' | b'-')))
    };
    all.iter().copied().find(|item| same(name(*item)))
}

pub(super) fn progress(value: &str) -> Option<Progress> {
    word(value, &[Progress::InProgress, Progress::Complete, Progress::Blocked], Progress::word)
}

pub(super) fn tests_status(value: &str) -> Option<Tests> {
    word(value, &[Tests::Passing, Tests::Failing, Tests::NotRun], Tests::word)
}

pub(super) fn work_type(value: &str) -> Option<WorkType> {
    let all = [WorkType::Implementation, WorkType::Testing, WorkType::Documentation, WorkType::Refactoring];
    word(value, &all, WorkType::word)
}

pub(super) fn count(value: &str) -> Option<u64> {
    let digits = plain(value);
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

pub(super) fn flag(value: &str) -> Option<bool> {
    match plain(value) {
        value if value.eq_ignore_ascii_case("true") => Some(true),
        value if value.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
