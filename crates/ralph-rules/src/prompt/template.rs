//! Prompt templates: ralph's own, replaced by the user's where given. Strict (an unknown name is an error) and bounded in
//! work and length. Nothing is read from disk here; the sources are part of the run. `check` finds mistakes before a run begins.

use super::data::{Data, Files, Remaining, Said};
use super::head;
use super::last_error::LastError;
use super::review::ReviewFacts;
use super::verification::{Failing, TestCounts, Verification};
use crate::state::IterationSummary;
use crate::suite::Counts;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};
use std::collections::BTreeMap;

/// The section that follows the task from the second iteration on.
pub const CONTEXT: &str = "context.j2";
/// Included when the run is half-open or stuck.
pub const DEBUGGING: &str = "debugging.j2";
/// How the agent reports.
pub const PROTOCOL: &str = "protocol.j2";
/// What a reviewer is given.
pub const REVIEW: &str = "review.j2";

/// Every template and ralph's own text of it.
pub const OWN: [(&str, &str); 4] = [
    (CONTEXT, include_str!("context.j2")),
    (DEBUGGING, include_str!("debugging.j2")),
    (PROTOCOL, include_str!("protocol.j2")),
    (REVIEW, include_str!("review.j2")),
];

/// Maximum length of a rendered template, in bytes; the rest is cut.
pub const MOST: usize = 16 * 1024;
/// The same for a review, which holds the task and the change.
pub const MOST_OF_REVIEW: usize = 96 * 1024;
/// Maximum work of one template, in units of minijinja.
const FUEL: u64 = 200_000;

/// A mistake in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Which template.
    pub name: String,
    /// Its line, from 1; 0 where it is not known.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.name, self.what),
            line => write!(f, "{}:{line}: {}", self.name, self.what),
        }
    }
}

impl std::error::Error for Mistake {}

/// Renders a template: the user's if there is one, otherwise ralph's.
pub fn render(name: &str, templates: &BTreeMap<String, String>, data: &Data) -> Result<String, Mistake> {
    let mistake = |error: &Error| mistake_from(error, name);
    let environment = environment(templates)?;
    let template = environment.get_template(name).map_err(|e| mistake(&e))?;
    let text = template.render(Value::from(Serde(data))).map_err(|e| mistake(&e))?;
    Ok(head(&text, if name == REVIEW { MOST_OF_REVIEW } else { MOST }))
}

/// Renders ralph's own template.
pub fn render_own(name: &str, data: &Data) -> String {
    // Ralph's own templates are rendered by tests with everything they can meet.
    render(name, &BTreeMap::new(), data).unwrap_or_default()
}

/// Finds mistakes before a run: unknown templates, bad syntax, unknown names, too much work.
pub fn check(templates: &BTreeMap<String, String>) -> Result<(), Mistake> {
    for name in templates.keys() {
        if OWN.iter().all(|(own, _)| own != name) {
            let known: Vec<&str> = OWN.iter().map(|(own, _)| *own).collect();
            let what = format!("unknown template; the templates are {}", known.join(", "));
            return Err(Mistake { name: name.clone(), line: 0, what });
        }
        for data in examples() {
            render(name, templates, &data)?;
        }
    }
    // The context includes the others, so it must render with the user's versions of them.
    examples().iter().try_for_each(|data| render(CONTEXT, templates, data).map(drop))
}

fn environment(templates: &BTreeMap<String, String>) -> Result<Environment<'_>, Mistake> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.map_err(|e| mistake_from(&e, CONTEXT))?);
    for (name, own) in OWN {
        let source = templates.get(name).map_or(own, String::as_str);
        environment.add_template(name, source).map_err(|e| mistake_from(&e, name))?;
    }
    Ok(environment)
}

/// The innermost error: an include only wraps what went wrong inside of it.
fn mistake_from(error: &Error, name: &str) -> Mistake {
    let mut inner = error;
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        match source.downcast_ref::<Error>() {
            Some(template) => inner = template,
            None => break,
        }
        next = source.source();
    }
    let kind = inner.kind();
    let what = match inner.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None => kind.to_string(),
    };
    let name = inner.name().unwrap_or(name).to_string();
    Mistake { name, line: inner.line().unwrap_or(0), what }
}

/// Two example runs that every template must render: one with every fact, one with none.
pub fn examples() -> [Data; 2] {
    let line = |text: &str| vec![text.to_string()];
    let tests = TestCounts::new(Counts::new(12, 1, 0));
    let busy = Data {
        iteration: 3,
        max_iterations: 10,
        attempt: 1,
        files: Files { count: 14, names: line("src/parser.rs"), more: true },
        verification: Some(Verification {
            passed: false,
            tests: Some(tests.clone()),
            failing: vec![Failing {
                command: "make test".into(),
                said: "`make test` failed with exit code 2".into(),
                tests: Some(tests),
                tail: "1 test failed".into(),
                fence: "```".into(),
            }],
        }),
        last_error: Some(LastError {
            text: "1 test failed".into(),
            times: 3,
            since: Some(1),
            place: Some("tests/parser.rs:7".into()),
        }),
        commits: line("Read quoted names"),
        remaining: Remaining { file: "fix_plan.md".into(), count: 2, tasks: line("Read comments") },
        objections: vec![Said { code: "half_open".into(), text: "no progress in 3 iterations".into() }],
        asks: true,
        breaker: "HALF_OPEN",
        half_open: true,
        stuck: true,
        tried: vec![IterationSummary {
            iteration: 2,
            files: 1,
            names: line("src/parser.rs"),
            error: Some("1 test failed".into()),
            said: "Next: the lexer".into(),
        }],
        rung: 1,
        agent: "claude".into(),
        model: Some("opus".into()),
        short: false,
        promise: "COMPLETE".into(),
        review: example_review(),
    };
    let review = ReviewFacts {
        task: "Read quoted names.".into(),
        round: 2,
        of: 2,
        grade: "unbroken",
        fence: "```".into(),
        ..ReviewFacts::default()
    };
    let quiet =
        Data { iteration: 2, max_iterations: 10, attempt: 2, breaker: "CLOSED", review, ..Data::default() };
    [busy, quiet]
}

/// A review with every fact.
fn example_review() -> ReviewFacts {
    let line = |text: &str| vec![text.to_string()];
    ReviewFacts {
        task: "Read quoted names.".into(),
        round: 1,
        of: 2,
        grade: "tested",
        reasons: line("1 new test fails without this change and passes with it"),
        verification: line("`make test` passed"),
        work: line("src/parser.rs"),
        checks: line("tests/parser.rs"),
        either: line("data/names.json"),
        signs: line("src/parser.rs:7: the work ends the process: `exit(0)`"),
        diff: "+let quoted = true;".into(),
        map: "src/parser.rs: held".into(),
        fence: "```".into(),
    }
}
