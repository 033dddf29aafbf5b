//! `[prompt]`, `[plan]` and `[views]`: files that a run reads and writes.

use crate::config::key::{Key, Section, Shape};
use crate::config::kind::Kind;

pub const PROMPT: Section = Section {
    name: "prompt",
    about: "What the agent is told.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "prompt.file",
            Kind::Text(|s, _, file| s.prompt_file = file),
            "File with the task, used when no task is typed.",
        )
        .default("\"PROMPT.md\"")
        .flag("--prompt", "FILE"),
        Key::new(
            "prompt.templates",
            Kind::Text(|s, _, dir| s.templates = Some(dir)),
            "Directory with your own prompt templates (docs/prompt-templates.md).",
        ),
        Key::new(
            "prompt.context",
            Kind::Switch(|s, _, on| s.context = on),
            "Whether prompts summarize, from the second iteration on, what happened before.",
        )
        .default("true"),
    ],
};

pub const PLAN: Section = Section {
    name: "plan",
    about: "A task list that must be completed.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "plan.file",
            Kind::Text(|s, _, file| s.plan = Some(file)),
            "Plan to complete: a Markdown file with checkboxes or a prd.json. Open items contradict a claim to be done.",
        )
        .flag("--plan", "FILE"),
        Key::new(
            "plan.stories",
            Kind::Switch(|s, _, on| s.stories = on),
            "Whether the plan is taken story by story: each is proven by itself, and ralph ticks it (docs/plans.md).",
        )
        .default("false"),
        Key::new(
            "plan.attempts",
            Kind::Count(|s, _, n| s.story_attempts = n),
            "Iterations a story gets before it is set aside.",
        )
        .default("5"),
    ],
};

pub const VIEWS: Section = Section {
    name: "views",
    about: "Files in the workspace in which other programs can follow runs.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "views.status",
            Kind::JsonFile(|s, _, path| s.views.status = path),
            "File with the state of the run.",
        )
        .default("\".ralph/status.json\""),
        Key::new(
            "views.progress",
            Kind::JsonFile(|s, _, path| s.views.progress = path),
            "File with what the run is doing now.",
        )
        .default("\".ralph/progress.json\""),
        Key::new(
            "views.session",
            Kind::JsonFile(|s, _, path| s.views.session = path),
            "File with the iterations of the run.",
        )
        .default("\".ralph/session.json\""),
        Key::new(
            "views.analysis",
            Kind::JsonFile(|s, _, path| s.views.analysis = path),
            "File with the analysis of the latest response.",
        )
        .default("\".ralph/analysis.json\""),
        Key::new(
            "views.metrics",
            Kind::JsonLinesFile(|s, _, path| s.views.metrics.lines = path),
            "File with one line of JSON per run.",
        )
        .default("\".ralph/metrics/ralph-loops.jsonl\""),
        Key::new(
            "views.report",
            Kind::WorkspaceDir(|s, _, path| s.views.metrics.reports = path),
            "Directory of the daily reports, ralph-report-DATE.md.",
        )
        .default("\".ralph/metrics\""),
    ],
};
