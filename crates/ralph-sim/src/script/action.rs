//! Everything the simulated agent can be told to do. One variant per word of the script language; `help.txt`
//! describes them, `play` performs them.

use crate::claim::Claim;
use crate::price::Tokens;
use std::time::Duration;

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Say something before going on.
    Say(String),
    /// Say the prompt back; or put it into the final message.
    EchoPrompt {
        /// Into the final message.
        last: bool,
    },
    /// Say the appended system prompt back.
    EchoSystem,
    /// Write a file.
    Write {
        /// Which file.
        path: String,
        /// Its whole content.
        text: String,
    },
    /// Add text at the end of a file.
    Append {
        /// Which file.
        path: String,
        /// What to add.
        text: String,
    },
    /// Replace the first occurrence of a text.
    Replace {
        /// Which file.
        path: String,
        /// What to look for.
        old: String,
        /// What to put there.
        new: String,
    },
    /// Delete a file or directory.
    Delete(String),
    /// Make a directory.
    Mkdir(String),
    /// Run a shell command.
    Run(String),
    /// Commit everything.
    Commit(String),
    /// Model turns that cost this much each.
    Spend {
        /// Micro-dollars of one turn.
        micro: u64,
        /// How many turns.
        times: u32,
        /// Pause after each.
        every: Duration,
    },
    /// What every following turn uses.
    Tokens(Tokens),
    /// Wait.
    Sleep(Duration),
    /// What the final message claims.
    Claim(Claim),
    /// The block's RECOMMENDATION.
    Recommendation(String),
    /// The final message, without the block.
    Message(String),
    /// Print this line as it is.
    Raw(String),
    /// Print this line on stderr.
    Stderr(String),
    /// Be silent, for this long or for ever.
    Hang(Option<Duration>),
    /// Print this many bytes of tool results.
    Flood(u64),
    /// Print one tool result of this many bytes.
    LongLine(u64),
    /// Stay alive after the result.
    Linger(Duration),
    /// Start a command by double fork, in its own session, holding stdout.
    Daemonise(String),
    /// Start a command in its own session, as a child.
    SetsidChild(String),
    /// Ignore SIGTERM, SIGINT and SIGHUP from here on.
    IgnoreTerm,
    /// Do not read the prompt.
    IgnoreStdin,
    /// Claim what was not done.
    Lie,
    /// Print broken lines.
    Garble,
    /// Die by SIGKILL.
    Crash,
    /// End at once, without a result.
    Exit(u8),
    /// Exit code after the result.
    ExitCode(u8),
    /// End with a failure.
    Fail(Fail),
    /// Be refused a tool.
    Deny {
        /// The tool's name.
        tool: String,
        /// What it wanted to do.
        detail: String,
    },
    /// What the result says it cost.
    Cost(CostSays),
    /// Print these environment variables.
    Secret(Vec<String>),
}

/// What `total_cost_usd` says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CostSays {
    /// What was spent.
    #[default]
    Truth,
    /// `null`: what JavaScript prints for NaN.
    Nan,
    /// The key is left out.
    Nothing,
    /// This amount: negative, absurd, anything.
    Amount(f64),
}

/// A failure, as Claude would show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fail {
    /// Its class.
    pub class: Class,
    /// When a usage limit ends.
    pub reset: Option<Reset>,
    /// The limit of the week instead of the five hours.
    pub weekly: bool,
    /// The HTTP status, where the class knows several.
    pub status: Option<u16>,
}

/// When a usage limit ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reset {
    /// So long after the message.
    After(Duration),
    /// Seconds since 1970.
    At(u64),
}

/// The failure classes, by the names of ralph's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the contract's, explained there
pub enum Class {
    UsageLimit,
    RateLimited,
    Outage,
    Auth,
    Billing,
    Network,
    ContextTooLong,
    BadRequest,
    MaxTurns,
    Budget,
    Refusal,
    Truncated,
    Aborted,
    Unknown,
}

impl Class {
    /// Every class with its name.
    pub const ALL: [(&'static str, Class); 14] = [
        ("usage_limit", Class::UsageLimit),
        ("rate_limited", Class::RateLimited),
        ("outage", Class::Outage),
        ("auth", Class::Auth),
        ("billing", Class::Billing),
        ("network", Class::Network),
        ("context_too_long", Class::ContextTooLong),
        ("bad_request", Class::BadRequest),
        ("max_turns", Class::MaxTurns),
        ("budget", Class::Budget),
        ("refusal", Class::Refusal),
        ("truncated", Class::Truncated),
        ("aborted", Class::Aborted),
        ("unknown", Class::Unknown),
    ];
}
