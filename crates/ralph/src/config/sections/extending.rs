//! `[[pattern]]` and `[[analyzer]]`: the user's own phrases and checks beside those of ralph.

use crate::config::key::{Key, Section, Shape};
use crate::config::kind::Kind;

pub const PATTERN: Section = Section {
    name: "pattern",
    about: "Phrases of yours in the agent's final message. They obey the rules of the built-in phrases: quotations, code \
            and denied or doubted phrases do not count. The nearest file's list replaces all others.",
    shape: Shape::List,
    keys: &[
        Key::new(
            "pattern.name",
            Kind::Text(|s, at, name| s.pattern_mut(at).name = name),
            "Name of the pattern, for reasons and reports.",
        ),
        Key::new(
            "pattern.phrases",
            Kind::Phrases(|s, at, phrases| s.pattern_mut(at).phrases = phrases),
            "Phrases, any of which counts; upper and lower case are the same.",
        ),
        Key::new(
            "pattern.means",
            Kind::Means(|s, at, means| s.pattern_mut(at).means = means),
            "What a phrase means. \"done\" is one completion indicator, whatever the number of phrases, and never proof; \
             \"object\" delays the end of the run and is in the next prompt; \"note\" is only mentioned.",
        ),
    ],
};

pub const ANALYZER: Section = Section {
    name: "analyzer",
    about: "Checks of yours, asked after each verification. Each gets JSON on stdin and answers with JSON: \
            {\"objections\":[{\"code\",\"text\"}],\"notes\":[]}. The nearest file's list replaces all others.",
    shape: Shape::List,
    keys: &[
        Key::new(
            "analyzer.name",
            Kind::Text(|s, at, name| s.analyzer_mut(at).name = name),
            "Name of the analyzer, for reasons and reports.",
        ),
        Key::new(
            "analyzer.command",
            Kind::Text(|s, at, command| s.analyzer_mut(at).command = command),
            "Shell command to run in the workspace; what it writes there is thrown away.",
        ),
        Key::new(
            "analyzer.timeout",
            Kind::Limit(|s, at, ms| s.analyzer_mut(at).timeout = ms),
            "Maximum time for one answer (default: 30s).",
        ),
        Key::new(
            "analyzer.required",
            Kind::Switch(|s, at, required| s.analyzer_mut(at).required = required),
            "Whether the work is not accepted while the analyzer has no answer (default: false).",
        ),
    ],
};
