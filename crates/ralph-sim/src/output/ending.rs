//! The last event, `result`. Its first key is `duration_api_ms` and its type comes late, as in the original;
//! an API failure has `subtype: success` with `is_error: true`.

use super::{Format, Output};
use crate::object::Object;
use crate::price::Tokens;
use crate::script::CostSays;

/// What the result says.
#[derive(Clone, Debug)]
pub struct Ending {
    /// `success`, `error_max_turns`, …
    pub subtype: &'static str,
    /// Whether the call failed.
    pub is_error: bool,
    /// The last message's `stop_reason`.
    pub stop_reason: &'static str,
    /// Why the client stopped.
    pub terminal_reason: &'static str,
    /// HTTP status of an API failure.
    pub status: Option<u16>,
    /// The API's name for the failure.
    pub kind: Option<&'static str>,
    /// The client's name for the failure.
    pub code: Option<&'static str>,
    /// What it says in the end.
    pub last: Last,
}

/// The words of a result.
#[derive(Clone, Debug)]
pub enum Last {
    /// The final message, or the API's error text.
    Text(String),
    /// The client's own errors: there is no final message then. The second is what text mode prints.
    Error(String, String),
}

impl Ending {
    /// The agent finished and said this.
    pub fn finished(text: String) -> Ending {
        Ending {
            subtype: "success",
            is_error: false,
            stop_reason: "end_turn",
            terminal_reason: "completed",
            status: None,
            kind: None,
            code: None,
            last: Last::Text(text),
        }
    }
}

impl Output {
    /// Prints the result, in the shape of the format.
    pub fn end(&mut self, ending: &Ending) {
        if self.info.format == Format::Text {
            match &ending.last {
                Last::Text(text) | Last::Error(_, text) => self.line(text),
            }
            return;
        }
        let event = self.result(ending);
        self.line(&event.text());
    }

    fn result(&mut self, ending: &Ending) -> Object {
        let elapsed = self.started.elapsed().as_millis();
        let head = Object::new()
            .put("duration_api_ms", if self.turns == 0 { 0 } else { elapsed })
            .put("stop_reason", ending.stop_reason)
            .put("session_id", &self.info.session)
            .maybe("total_cost_usd", self.cost())
            .put("usage", usage(self.used))
            .put("modelUsage", self.model_usage())
            .put("permission_denials", &self.denials)
            .put("terminal_reason", ending.terminal_reason)
            .put("fast_mode_state", "off")
            .put("fast_mode_disabled_reason", "sdk_opt_in_required")
            .put("subagent_stats", Object::new().put("spawned", 0).put("completed", 0).put("failed", 0))
            .put("safety_stops", 0)
            .put("is_error", ending.is_error)
            .put("num_turns", self.turns.max(1) + u32::from(ending.subtype == "error_max_turns"))
            .put("subtype", ending.subtype);
        let said = match &ending.last {
            Last::Text(text) => head
                .put("api_error_status", ending.status)
                .maybe("api_error_type", ending.kind)
                .maybe("api_error", ending.code)
                .put("result", text),
            Last::Error(error, _) => head.put("errors", [error]),
        };
        said.put("type", "result")
            .put("duration_ms", elapsed)
            .put("uuid", self.ids.uuid())
            .put("queued_turn_count", 0)
            .put("result_index", 0)
            .put("model_usage_since_last_result", self.model_usage())
    }

    /// What the result says it cost; `None` leaves the key out.
    fn cost(&self) -> Option<f64> {
        match self.cost_says {
            #[allow(clippy::cast_precision_loss)] // dollars for display; below 2^53 micro-dollars it is exact
            CostSays::Truth => Some(self.micro as f64 / 1e6),
            CostSays::Nan => Some(f64::NAN),
            CostSays::Nothing => None,
            CostSays::Amount(usd) => Some(usd),
        }
    }

    fn model_usage(&self) -> Object {
        if self.turns == 0 {
            return Object::new();
        }
        let Tokens { input, output, cache_read, cache_write } = self.used;
        let usage = Object::new()
            .put("inputTokens", input)
            .put("outputTokens", output)
            .put("cacheReadInputTokens", cache_read)
            .put("cacheCreationInputTokens", cache_write)
            .put("webSearchRequests", 0)
            .maybe("costUSD", self.cost())
            .put("contextWindow", 200_000)
            .put("maxOutputTokens", 64_000)
            .put("canonicalModel", &self.info.model)
            .put("provider", "firstParty")
            .put("costBasis", "list");
        Object::new().put(&self.info.model, usage)
    }
}

/// Usage as the result reports it.
fn usage(tokens: Tokens) -> Object {
    let web = Object::new().put("web_search_requests", 0).put("web_fetch_requests", 0);
    let cache = Object::new().put("ephemeral_1h_input_tokens", 0).put("ephemeral_5m_input_tokens", 0);
    Object::new()
        .put("input_tokens", tokens.input)
        .put("cache_creation_input_tokens", tokens.cache_write)
        .put("cache_read_input_tokens", tokens.cache_read)
        .put("output_tokens", tokens.output)
        .put("output_tokens_details", Object::new().put("thinking_tokens", 0))
        .put("server_tool_use", web)
        .put("service_tier", "standard")
        .put("cache_creation", cache)
        .put("inference_geo", "")
        .put("iterations", [(); 0])
        .put("speed", "standard")
        .put("fallback_credit", None::<u8>)
}
