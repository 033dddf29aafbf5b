//! Every key of the configuration, in one table: what it is, what it may hold, what holds without it. `ralph config
//! explain`, the JSON Schema and the reference in docs/ are made from it; a test keeps it and `file.rs` of one mind.

/// What a key may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number above zero.
    Count,
    /// A whole number; zero is off or none.
    Number,
    /// Dollars above zero.
    Dollars,
    /// Dollars per million tokens; zero is free.
    Rate,
    /// A time that may be zero.
    Time,
    /// A time above zero.
    Span,
    /// A text.
    Text,
    /// The inner text of a promise: one line.
    Promise,
    /// A JSON file within the workspace.
    JsonFile,
    /// Texts.
    Texts,
    /// True or false.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Names with texts.
    Names,
    /// Not settled yet; refused by this version.
    Open,
}

/// Who may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everybody; the nearest wins.
    Nearest,
    /// Only the user's and the system's own file.
    Own,
    /// Everybody; what all say adds up, and a project cannot take anything back.
    Adds,
    /// Everybody, but a project may only make it stricter.
    Tightens,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// With its section: `run.max_iterations`. `*` stands for an agent's name.
    pub name: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// What holds without it, as it would be written; empty for nothing.
    pub default: &'static str,
    /// The flag of `ralph run` that sets it; empty for none.
    pub flag: &'static str,
    /// Who may set it.
    pub who: Who,
    /// What it does.
    pub doc: &'static str,
}

impl Key {
    /// The variable that sets it: the flag's name in capitals.
    pub fn variable(&self) -> Option<String> {
        let flag = self.flag.strip_prefix("--")?;
        Some(format!("RALPH_{}", flag.replace('-', "_").to_uppercase()))
    }

    /// Its section and its own name.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.rsplit_once('.').unwrap_or(("", self.name))
    }

    /// What it may hold, in words.
    pub fn holds(&self) -> String {
        match self.kind {
            Kind::Count => "a whole number above 0".into(),
            Kind::Number => "a whole number; 0 is off".into(),
            Kind::Dollars => "dollars above 0, like 5.0".into(),
            Kind::Rate => "dollars per million tokens, like 3.0; 0 is free".into(),
            Kind::Time => "a time, like \"90s\", \"15m\" or \"1h30m\"; \"0s\" is allowed".into(),
            Kind::Span => "a time above 0, like \"90s\", \"15m\" or \"1h30m\"".into(),
            Kind::Text => "a text".into(),
            Kind::Promise => "one line of text without < and >".into(),
            Kind::JsonFile => "a path within the workspace that ends in .json".into(),
            Kind::Texts => "a list of texts, like [\"a\", \"b\"]".into(),
            Kind::Switch => "true or false".into(),
            Kind::OneOf(words) => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
            }
            Kind::Names => "names with texts".into(),
            Kind::Open => "not supported by this version".into(),
        }
    }

    /// A value that is accepted, as it is written.
    pub fn example(&self) -> String {
        match self.kind {
            Kind::Count | Kind::Number => "7".into(),
            Kind::Dollars | Kind::Rate => "2.5".into(),
            Kind::Time | Kind::Span => "\"90s\"".into(),
            Kind::Text | Kind::Promise => "\"word\"".into(),
            Kind::JsonFile => "\"seen/view.json\"".into(),
            Kind::Texts => "[\"word\"]".into(),
            Kind::Switch => "false".into(),
            Kind::OneOf(words) => format!("\"{}\"", words.first().unwrap_or(&"")),
            Kind::Names => "{ NAME = \"word\" }".into(),
            Kind::Open => "\"word\"".into(),
        }
    }
}

const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    flag: &'static str,
    doc: &'static str,
) -> Key {
    Key { name, kind, default, flag, who: Who::Nearest, doc }
}

const fn by(who: Who, key: Key) -> Key {
    Key { who, ..key }
}

/// All of them, section by section.
pub const KEYS: &[Key] = &[
    key(
        "preset",
        Kind::OneOf(&["strict", "classic", "analyzer", "wrapper"]),
        "\"strict\"",
        "--preset",
        "Which numbers hold where none is set: ralph's own, or those of one of the older tools.",
    ),
    key(
        "run.max_iterations",
        Kind::Count,
        "",
        "--max-iterations",
        "Iterations at most. It has no default: `ralph run` refuses to start without it.",
    ),
    key(
        "run.max_cost_usd",
        Kind::Dollars,
        "",
        "--max-cost",
        "Dollars at most for one run. It has no default: `ralph run` refuses to start without it.",
    ),
    key("run.max_time", Kind::Span, "", "--max-time", "A deadline for the whole run; waits count."),
    key("run.timeout", Kind::Span, "\"15m\"", "--timeout", "How long one call of the agent may take."),
    key(
        "run.idle_timeout",
        Kind::Span,
        "\"5m\"",
        "--idle-timeout",
        "How long the agent may be silent. A tool that runs is not silence.",
    ),
    key(
        "run.max_wait",
        Kind::Time,
        "\"6h\"",
        "",
        "How long to wait for a provider's limit or outage, in all.",
    ),
    key("run.pause_between", Kind::Time, "\"0s\"", "", "A pause between two iterations."),
    key(
        "run.calls_per_hour",
        Kind::Number,
        "100",
        "--calls-per-hour",
        "Calls in any hour over all your runs; 0 is no limit.",
    ),
    key(
        "run.tokens_per_hour",
        Kind::Number,
        "0",
        "",
        "Tokens in any hour over all your runs; 0 is no limit.",
    ),
    key("agent.name", Kind::Text, "\"claude\"", "--agent", "Who works. `ralph agents` lists the names."),
    key("agent.model", Kind::Text, "", "--model", "The agent's model; without it the agent's own default."),
    key("agents.*.command", Kind::Text, "", "", "The agent's program, where it is not the usual one."),
    key("agents.*.args", Kind::Texts, "[]", "", "Further arguments for the agent, before what follows `--`."),
    key("agents.*.model", Kind::Text, "", "", "The model when this agent works; wins over agent.model."),
    key(
        "agents.*.env",
        Kind::Names,
        "{}",
        "",
        "Variables this agent gets. Names beginning RALPH_ are ralph's own.",
    ),
    key("agents.*.timeout", Kind::Span, "", "", "How long one call of this agent may take."),
    key("ladder.agent", Kind::Text, "", "", "The agent of this rung; without it the run's own."),
    key("ladder.model", Kind::Text, "", "", "The model of this rung."),
    key("ladder.args", Kind::Texts, "[]", "", "Further arguments on this rung."),
    key(
        "verify.commands",
        Kind::Texts,
        "[]",
        "--verify",
        "Commands that prove the work. ralph runs them by `sh -c` in the workspace, after the agent's processes are dead; all must pass.",
    ),
    key("verify.timeout", Kind::Span, "\"10m\"", "", "How long one of them may take."),
    key(
        "verify.oracle",
        Kind::OneOf(&["guard", "flag", "allow"]),
        "\"guard\"",
        "",
        "What changed tests or runner files lead to: completion must pass with the old ones too, a report, or nothing.",
    ),
    key(
        "verify.oracle_paths",
        Kind::Texts,
        "[]",
        "",
        "Further files that belong to the oracle, in gitignore syntax.",
    ),
    key(
        "gate.until",
        Kind::OneOf(&["claimed", "verified"]),
        "\"claimed\"",
        "",
        "What ends a run: a claim that was proven, or a passing verification whatever the agent says.",
    ),
    key(
        "gate.indicators",
        Kind::Number,
        "2",
        "",
        "Distinct signs of completion needed where nothing verifies; 0 believes an explicit signal alone.",
    ),
    key("gate.exit_signals", Kind::Count, "1", "", "Explicit signals running that it takes."),
    key(
        "gate.done_signals",
        Kind::Count,
        "2",
        "",
        "Iterations running with enough signs and no explicit signal.",
    ),
    key(
        "gate.promise",
        Kind::Promise,
        "\"COMPLETE\"",
        "--promise",
        "The inner text of the completion promise.",
    ),
    key(
        "gate.marker_file",
        Kind::Text,
        "",
        "",
        "A file within the workspace that counts as an explicit signal.",
    ),
    key(
        "breaker.half_open_after",
        Kind::Count,
        "3",
        "",
        "Iterations without progress before another approach is asked for.",
    ),
    key(
        "breaker.open_after",
        Kind::Number,
        "1",
        "",
        "Further ones before the run ends as a stall; 0 is at once.",
    ),
    key("breaker.same_error", Kind::Count, "5", "", "The same error so often ends the run."),
    key(
        "breaker.saturation",
        Kind::Number,
        "3",
        "",
        "Iterations running that only touch tests end the run; 0 is off.",
    ),
    key(
        "breaker.denials",
        Kind::Number,
        "3",
        "",
        "Iterations running with refused tools and no progress end the run; 0 is off.",
    ),
    key("breaker.decline", Kind::OneOf(&["warn", "open"]), "\"warn\"", "", "What shrinking answers lead to."),
    key(
        "breaker.cooldown",
        Kind::Span,
        "",
        "",
        "After this long an open breaker closes by itself; without it only `ralph circuit reset` does.",
    ),
    by(
        Who::Adds,
        key(
            "protect.paths",
            Kind::Texts,
            "[]",
            "--protect",
            "Paths no agent may touch, in gitignore syntax, besides the built-in ones. A leading ! exempts, in your own file only.",
        ),
    ),
    by(
        Who::Tightens,
        key(
            "protect.on_violation",
            Kind::OneOf(&["abort", "restore"]),
            "\"abort\"",
            "",
            "What a touched protected path leads to: the end, or the path is put back and the run may go on, three times at most.",
        ),
    ),
    by(
        Who::Adds,
        key(
            "redact.files",
            Kind::Texts,
            "[]",
            "",
            "Files whose values are secret, besides .env: NAME=value lines, JSON or plain keys. Every value in them is hidden from all that ralph writes and prints.",
        ),
    ),
    by(
        Who::Adds,
        key(
            "redact.env",
            Kind::Texts,
            "[]",
            "",
            "Variables whose values are secret though their names do not say so (KEY, TOKEN, SECRET, PASSWORD and their like do).",
        ),
    ),
    by(
        Who::Tightens,
        key(
            "sandbox.mode",
            Kind::OneOf(&["auto", "off", "require"]),
            "\"auto\"",
            "--sandbox",
            "Whether the agent is contained: where possible, never, or else the run does not start.",
        ),
    ),
    by(Who::Tightens, key("sandbox.network", Kind::Open, "", "", "What the agent may reach.")),
    by(
        Who::Tightens,
        key("sandbox.writable", Kind::Open, "", "", "Further directories the agent may write to."),
    ),
    key(
        "prompt.file",
        Kind::Text,
        "\"PROMPT.md\"",
        "--prompt",
        "The file with the task, where none is typed.",
    ),
    key(
        "prompt.templates",
        Kind::Text,
        "",
        "",
        "A directory with your own prompt templates (docs/prompt-templates.md).",
    ),
    key(
        "prompt.context",
        Kind::Switch,
        "true",
        "",
        "Whether prompts tell from the second iteration on what happened before.",
    ),
    key("plan.file", Kind::Text, "", "--plan", "A plan that binds: Markdown with checkboxes, or a prd.json."),
    key(
        "views.status",
        Kind::JsonFile,
        "\".ralph/status.json\"",
        "",
        "Where programs read how the run stands.",
    ),
    key(
        "views.progress",
        Kind::JsonFile,
        "\".ralph/progress.json\"",
        "",
        "Where programs read what it does now.",
    ),
    key(
        "views.session",
        Kind::JsonFile,
        "\".ralph/session.json\"",
        "",
        "Where programs read its iterations.",
    ),
    key(
        "views.analysis",
        Kind::JsonFile,
        "\".ralph/analysis.json\"",
        "",
        "Where programs read the latest response.",
    ),
    key("notify", Kind::Open, "", "", "Whom to tell when a run ends."),
    by(
        Who::Own,
        key(
            "ceilings.max_iterations",
            Kind::Count,
            "50",
            "",
            "No run gets more iterations, whoever asks for them.",
        ),
    ),
    by(Who::Own, key("ceilings.max_cost_usd", Kind::Dollars, "10.0", "", "No run gets more dollars.")),
    by(
        Who::Own,
        key("ceilings.daily_cost_usd", Kind::Dollars, "50.0", "", "Dollars a day over all your runs."),
    ),
    by(Who::Own, key("prices.*.input", Kind::Rate, "", "", "What fresh input of this model costs.")),
    by(Who::Own, key("prices.*.output", Kind::Rate, "", "", "What its output costs.")),
    by(
        Who::Own,
        key(
            "prices.*.cache_read",
            Kind::Rate,
            "",
            "",
            "What reading from its cache costs; without it as fresh input.",
        ),
    ),
    by(
        Who::Own,
        key(
            "prices.*.cache_write",
            Kind::Rate,
            "",
            "",
            "What writing to its cache costs; without it as fresh input.",
        ),
    ),
];

/// The key of this name; agents' names fit `*`.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name || fits(key.name, name))
}

fn fits(pattern: &str, name: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('.'), name.split('.'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some("*"), Some(word)) if !word.is_empty() => {}
            (Some(a), Some(b)) if a == b => {}
            _ => return false,
        }
    }
}
