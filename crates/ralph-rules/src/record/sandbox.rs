//! What contained the programs of a run, and what it refused them.

use serde::{Deserialize, Serialize};

/// The name of a backend that contains nothing.
pub const NO_BACKEND: &str = "none";
/// The name of the backend that runs programs in a container of the user's own image.
pub const CONTAINER: &str = "container";

/// What contains the programs of a run. Chosen and tried once at the start; a resumed run keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxGiven {
    /// What builds it: `namespaces`, `bwrap`, `landlock`, [`CONTAINER`], or [`NO_BACKEND`].
    pub backend: String,
    /// The program that builds it, where that is not ralph itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The image of a container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// What it holds, as the trial at the start showed: `files`, `protected paths`, `processes`.
    pub held: Vec<String>,
    /// What it does not hold, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<NotHeld>,
    /// What of the network is reached: `open`, `hosts` or `off`; empty where it cannot be limited.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub network: String,
    /// The same for the verification, where it differs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verify_network: String,
    /// The mode is `strict`, which narrows what settings say.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Variables that the agent is not given because they look secret, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// Directories cannot be shown behind layers here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_layers: bool,
    /// What is less than was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The name of the backend without namespaces.
const LANDLOCK: &str = "landlock";
/// What Landlock has no rights for. Not a word of [`SandboxGiven::held`]: it is a part of what `files` says elsewhere.
const ATTRIBUTES: [&str; 2] = [
    "file attributes",
    "Landlock has no rules for modes, owners, times and extended attributes: they can be changed wherever your user may",
];

/// Between a limit and why nothing enforces it, in a note.
pub const NOT_LIMITED: &str = ": not limited, ";

/// Something that a sandbox does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotHeld {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What a sandbox refused, or could not do, while a program ran in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxSeen {
    /// Hosts that the program wanted to reach and was not allowed to, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts_refused: Vec<String>,
    /// What could not be done as planned, although the program ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl SandboxSeen {
    /// It, where there is something to tell.
    pub fn if_any(self) -> Option<Box<SandboxSeen>> {
        (self != SandboxSeen::default()).then(|| Box::new(self))
    }

    /// Adds what another program met.
    pub fn add(&mut self, other: &SandboxSeen) {
        for (to, from) in [(&mut self.hosts_refused, &other.hosts_refused), (&mut self.notes, &other.notes)] {
            for one in from {
                if !to.contains(one) {
                    to.push(one.clone());
                }
            }
        }
    }
}

impl SandboxGiven {
    /// Nothing is contained, for this reason.
    pub fn none(why: &str) -> SandboxGiven {
        let missing = ["files", "protected paths", "processes"];
        let missing = missing.map(|what| NotHeld { what: what.into(), why: why.into() }).to_vec();
        SandboxGiven { backend: NO_BACKEND.into(), missing, ..SandboxGiven::default() }
    }

    /// What it does not hold, with the limits that nothing enforces here and other parts that have no word at the start.
    pub fn all_missing(&self, seen: &SandboxSeen) -> Vec<NotHeld> {
        let attributes = (self.backend == LANDLOCK).then(|| ATTRIBUTES.map(str::to_owned));
        let attributes = attributes.map(|[what, why]| NotHeld { what, why });
        let limits = self.notes_with(seen).into_iter().filter_map(|note| note.split_once(NOT_LIMITED));
        let limits =
            limits.map(|(what, why)| NotHeld { what: format!("limit of {what}"), why: why.to_owned() });
        self.missing.iter().cloned().chain(attributes).chain(limits).collect()
    }

    /// The notes that are not among [`SandboxGiven::all_missing`] already.
    pub fn other_notes<'a>(&'a self, seen: &'a SandboxSeen) -> Vec<&'a str> {
        self.notes_with(seen).into_iter().filter(|note| !note.contains(NOT_LIMITED)).collect()
    }

    /// What is less than was asked for, with what turned out while programs ran; each once.
    pub fn notes_with<'a>(&'a self, seen: &'a SandboxSeen) -> Vec<&'a str> {
        let later = seen.notes.iter().filter(|note| !self.notes.contains(note));
        self.notes.iter().chain(later).map(String::as_str).collect()
    }

    /// Whether anything is contained.
    pub fn contains(&self) -> bool {
        self.backend != NO_BACKEND
    }

    /// Whether programs run in an image, which has programs of its own.
    pub fn is_container(&self) -> bool {
        self.backend == CONTAINER
    }

    /// `namespaces (files, protected paths, processes; network open)`, `landlock (files; not protected paths, processes,
    /// network)`, `none (why)`.
    pub fn words(&self) -> String {
        let why = self.missing.first().map(|missing| missing.why.as_str()).unwrap_or_default();
        match (self.contains(), why) {
            (false, "") => return NO_BACKEND.into(),
            (false, why) => return format!("{NO_BACKEND} ({why})"),
            _ => {}
        }
        let mut parts = vec![self.held.join(", ")];
        if !self.missing.is_empty() {
            let missing: Vec<&str> = self.missing.iter().map(|missing| missing.what.as_str()).collect();
            parts.push(format!("not {}", missing.join(", ")));
        }
        parts.extend(network_words(&self.network).map(str::to_owned));
        parts.extend(network_words(&self.verify_network).map(|words| format!("verification: {words}")));
        format!("{} ({})", self.backend, parts.join("; "))
    }
}

fn network_words(network: &str) -> Option<&'static str> {
    match network {
        "open" => Some("network open"),
        "hosts" => Some("network limited to hosts"),
        "off" => Some("no network"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(backend: &str, held: &[&str], missing: &[&str], network: &str) -> SandboxGiven {
        let missing = missing.iter().map(|what| NotHeld { what: (*what).into(), why: "it cannot".into() });
        SandboxGiven {
            backend: backend.into(),
            held: held.iter().map(|what| (*what).into()).collect(),
            missing: missing.collect(),
            network: network.into(),
            ..SandboxGiven::default()
        }
    }

    #[test]
    fn a_sandbox_in_words() {
        let all = ["files", "protected paths", "processes"];
        let rows = [
            (
                given("namespaces", &all, &[], "open"),
                "namespaces (files, protected paths, processes; network open)",
            ),
            (
                given("bwrap", &all, &[], "hosts"),
                "bwrap (files, protected paths, processes; network limited to hosts)",
            ),
            (
                given("namespaces", &all, &[], "off"),
                "namespaces (files, protected paths, processes; no network)",
            ),
            (
                given("landlock", &["files"], &["protected paths", "processes", "network"], ""),
                "landlock (files; not protected paths, processes, network)",
            ),
            (
                SandboxGiven { verify_network: "off".into(), ..given("namespaces", &all, &[], "hosts") },
                "namespaces (files, protected paths, processes; network limited to hosts; verification: no network)",
            ),
            (SandboxGiven::none("switched off"), "none (switched off)"),
            (given("none", &[], &[], ""), "none"),
        ];
        for (given, words) in rows {
            assert_eq!(given.words(), words);
        }
    }

    #[test]
    fn what_is_missing_is_named_once_with_its_reason() {
        let note = |what: &str| format!("{what}{NOT_LIMITED}no control group");
        let given = SandboxGiven {
            notes: vec![note("memory"), "other".into()],
            ..given("landlock", &["files"], &["processes"], "")
        };
        let seen = SandboxSeen { notes: vec![note("memory"), note("processes")], ..SandboxSeen::default() };
        let missing = given.all_missing(&seen);
        let what: Vec<&str> = missing.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(what, ["processes", "file attributes", "limit of memory", "limit of processes"]);
        assert!(missing.iter().all(|it| !it.why.is_empty()));
        assert_eq!(given.other_notes(&seen), ["other"]);
        let others = SandboxGiven { backend: "namespaces".into(), ..SandboxGiven::default() };
        assert_eq!(others.all_missing(&SandboxSeen::default()), []);
    }

    #[test]
    fn what_several_programs_met_is_told_once() {
        let seen = |hosts: &[&str]| SandboxSeen {
            hosts_refused: hosts.iter().map(|host| (*host).into()).collect(),
            ..SandboxSeen::default()
        };
        let mut all = seen(&["a.example:443"]);
        all.add(&seen(&["b.example:443", "a.example:443"]));
        assert_eq!(all, seen(&["a.example:443", "b.example:443"]));
        assert_eq!(SandboxSeen::default().if_any(), None);
    }
}
