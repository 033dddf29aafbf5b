//! The transcript that a client keeps of a session: what its model messages used and cost, and what it said last. For runs
//! whose agent is a session that somebody else started; the engine reads the files, from where it stopped the last time.
//! `claude.rs` and `codex.rs` read the lines of one client each.

mod claude;
mod codex;
mod spend;

pub use spend::SessionSpend;

use crate::client::Client;
use crate::text::{Tail, short};
use ralph_rules::money::Usage;
use ralph_rules::prices::Prices;

/// How much of an id or a model's name is kept.
const NAME: usize = 200;

/// Reads the lines of one transcript. Memory stays small, however many come.
pub struct SessionTranscript {
    client: Client,
    claude: claude::ClaudeMessages,
    totals: Option<Usage>,
    model: Option<String>,
    last: Tail,
    /// The prompt that is being answered, if the client names it.
    prompt: Option<String>,
    spend: SessionSpend,
    prices: Prices,
}

impl SessionTranscript {
    /// Of this client's session; `totals` were reported before the first line, and `model` works unless a line says
    /// otherwise.
    pub fn new(
        client: Client,
        prices: Prices,
        totals: Option<Usage>,
        model: Option<String>,
    ) -> SessionTranscript {
        SessionTranscript {
            client,
            claude: claude::ClaudeMessages::default(),
            totals,
            model,
            last: Tail::default(),
            prompt: None,
            spend: SessionSpend::default(),
            prices,
        }
    }

    /// One line, without its line end.
    pub fn read(&mut self, line: &[u8]) {
        match self.client {
            Client::Claude => claude::read(self, line),
            Client::Codex => codex::read(self, line),
            // Its transcript is not read: the estimate of a call is counted.
            Client::Qwen => {}
        }
    }

    /// Whether this is what the session said last, in answer to the prompt with this id; nothing at all is said at any
    /// time. The same words in answer to an earlier prompt are not it.
    pub fn ends_with(&self, message: &str, prompt: Option<&str>) -> bool {
        if self.prompt.as_deref().zip(prompt).is_some_and(|(answered, asked)| answered != asked) {
            return false;
        }
        let last = self.last.text();
        let (last, message) = (last.trim(), message.trim());
        message.is_empty() || (!last.is_empty() && message.ends_with(last))
    }

    /// What was used, and the totals that were reported last.
    pub fn close(mut self) -> (SessionSpend, Option<Usage>) {
        self.claude.settle_all(&mut self.spend, &self.prices);
        self.spend.model = self.model;
        (self.spend, self.totals)
    }

    fn set_model(&mut self, model: &str) {
        if !model.is_empty() && self.model.as_deref() != Some(model) {
            self.model = Some(short(model, NAME));
        }
    }
}

/// Whether a line is one of those that a client's transcript shows of the agent's work, in the form of its output.
pub fn shows_work(client: Client, line: &[u8]) -> bool {
    client == Client::Claude && claude::shows_work(line)
}
