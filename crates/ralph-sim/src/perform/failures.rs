//! The failures of the contract, each in the shape and words in which Claude Code 2.1.325 really shows it.

use super::Performer;
use crate::clock;
use crate::object::Object;
use crate::output::{Block, Ending, Last, Output};
use crate::script::{Class, Fail, Reset};

/// An API failure: what the API said, what the client made of it.
struct Shape {
    status: Option<u16>,
    kind: Option<&'static str>,
    code: Option<&'static str>,
    /// The client's word in the `assistant` event.
    error: &'static str,
    /// The client's word for it when it tries again; `None` if it does not.
    retried: Option<&'static str>,
    text: String,
}

impl Performer<'_> {
    /// Ends the call with this failure.
    pub fn fail(&mut self, fail: &Fail) -> u8 {
        match fail.class {
            Class::MaxTurns => {
                let turns = self.output.turns().max(1);
                let errors = (
                    format!("Reached maximum number of turns ({turns})"),
                    format!("Reached max turns ({turns})"),
                );
                self.stopped("error_max_turns", "max_turns", errors, 1)
            }
            Class::Budget => {
                let error = format!("Reached maximum budget (${})", dollars(self.output.spent()));
                self.stopped("error_max_budget_usd", "budget_exhausted", (error.clone(), error), 1)
            }
            Class::Aborted => {
                let error =
                    "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use".to_owned();
                // Interrupted, Claude exits with 0 all the same.
                self.stopped(
                    "error_during_execution",
                    "aborted_tools",
                    (error, "Execution error".to_owned()),
                    0,
                )
            }
            Class::Refusal => {
                self.output.turn(&[Block::Text("I can't help with that.")], "refusal", self.cost);
                self.api_failure(fail)
            }
            Class::Truncated => {
                self.output.turn(
                    &[Block::Text("This answer was cut off in the mid")],
                    "max_tokens",
                    self.cost,
                );
                self.api_failure(fail)
            }
            _ => self.api_failure(fail),
        }
    }

    /// The client stopped by itself: errors instead of a final message.
    fn stopped(
        &mut self,
        subtype: &'static str,
        why: &'static str,
        (error, text): (String, String),
        code: u8,
    ) -> u8 {
        let ending = Ending {
            subtype,
            is_error: true,
            stop_reason: "tool_use",
            terminal_reason: why,
            last: Last::Error(error, format!("Error: {text}")),
            ..Ending::finished(String::new())
        };
        self.close(&ending, code)
    }

    /// The API failed: the error text stands as the result, with `subtype: success` and `is_error: true`.
    fn api_failure(&mut self, fail: &Fail) -> u8 {
        let reset = fail.reset.map(|reset| match reset {
            Reset::After(time) => (clock::now() + time).as_secs() + u64::from(time.subsec_nanos() > 0),
            Reset::At(epoch) => epoch,
        });
        let shape = shape(fail, reset, &self.output.info().model);
        if let Some(error) = shape.retried {
            let event = Output::system("api_retry").put("attempt", 1).put("max_retries", 1);
            let event =
                event.put("retry_delay_ms", 581).put("error_status", shape.status).put("error", error);
            let event = self.output.sign(event);
            self.output.event(&event);
        }
        if fail.class == Class::UsageLimit {
            self.rate_limit_event(fail.weekly, reset);
        }
        let stop_reason = if fail.class == Class::Refusal { "refusal" } else { "stop_sequence" };
        self.synthetic(&shape, stop_reason);
        let terminal_reason =
            if fail.class == Class::ContextTooLong { "prompt_too_long" } else { "api_error" };
        let Shape { status, kind, code, text, .. } = shape;
        let last = Last::Text(text);
        self.close(
            &Ending {
                subtype: "success",
                is_error: true,
                stop_reason,
                terminal_reason,
                status,
                kind,
                code,
                last,
            },
            1,
        )
    }

    fn rate_limit_event(&mut self, weekly: bool, reset: Option<u64>) {
        let window = if weekly { "seven_day" } else { "five_hour" };
        let mut info = Object::new().put("status", "rejected").maybe("resetsAt", reset);
        info = info.maybe("rateLimitType", reset.map(|_| window)).put("isUsingOverage", false);
        if let Some(at) = reset {
            let state = Object::new().put("utilization", 1).put("resetsAt", at).put("status", "rejected");
            info = info.put("unifiedWindows", Object::new().put(window, state));
        }
        let event =
            self.output.sign(Object::new().put("type", "rate_limit_event").put("rate_limit_info", info));
        self.output.event(&event);
    }

    /// The client puts the error into the model's mouth.
    fn synthetic(&mut self, shape: &Shape, stop_reason: &str) {
        let content = Object::new().put("type", "text").put("text", &shape.text);
        let usage = Object::new().put("input_tokens", 0).put("output_tokens", 0);
        let message = Object::new()
            .put("id", self.output.ids.uuid())
            .put("model", "<synthetic>")
            .put("role", "assistant")
            .put("stop_reason", stop_reason)
            .put("stop_sequence", "")
            .put("type", "message")
            .put("usage", usage)
            .put("content", [content]);
        let event = Object::new()
            .put("type", "assistant")
            .put("message", message)
            .put("parent_tool_use_id", None::<u8>);
        let event =
            self.output.sign(event).put("timestamp", clock::stamp(clock::now())).put("error", shape.error);
        let event = event.put("is_api_error_message", true).maybe("api_error_status", shape.status);
        let event = event.maybe("api_error", shape.code).maybe("api_error_type", shape.kind);
        self.output.event(&event);
    }
}

/// What the API and the client say for each class.
fn shape(fail: &Fail, reset: Option<u64>, model: &str) -> Shape {
    let bad = Some("invalid_request_error");
    let rate = Some("rate_limit_error");
    let new = |status, kind, code, error, retried, text: &str| Shape {
        status,
        kind,
        code,
        error,
        retried,
        text: text.to_owned(),
    };
    match fail.class {
        Class::UsageLimit => {
            let text = limit_words(fail.weekly, reset);
            new(Some(429), rate, Some("usage_limit_reached"), "rate_limit", None, &text)
        }
        Class::RateLimited => new(Some(429), rate, None, "rate_limit", Some("rate_limit"), RATE_LIMITED),
        Class::Outage => outage(fail.status.unwrap_or(529)),
        Class::Auth if fail.status == Some(403) => {
            new(Some(403), Some("permission_error"), None, "authentication_failed", None, FORBIDDEN)
        }
        Class::Auth => {
            let (kind, error) = (Some("authentication_error"), "authentication_failed");
            new(Some(401), kind, None, error, Some(error), "Invalid API key · Fix external API key")
        }
        Class::Billing => new(Some(400), bad, None, "billing_error", None, "Credit balance is too low"),
        Class::Network => {
            new(None, None, Some("connection_failed"), "server_error", Some("unknown"), REFUSED)
        }
        Class::ContextTooLong => new(Some(400), bad, None, "invalid_request", None, TOO_LONG),
        Class::BadRequest if fail.status == Some(400) => {
            new(Some(400), bad, None, "invalid_request", None, "API Error: 400 messages: bad request")
        }
        Class::BadRequest => {
            let text = format!(
                "There's an issue with the selected model ({model}). It may not exist or you may not have access to it. Run --model to pick a different model."
            );
            new(Some(404), Some("not_found_error"), None, "model_not_found", None, &text)
        }
        Class::Refusal => new(None, None, None, "invalid_request", None, SAFEGUARDS),
        Class::Truncated => {
            let code = "max_output_tokens";
            new(None, None, Some(code), code, None, OUTPUT_LIMIT)
        }
        _ => new(None, None, None, "unknown", None, MALFORMED),
    }
}

fn outage(status: u16) -> Shape {
    let (kind, retried, words) = match status {
        529 => ("overloaded_error", "overloaded", "Overloaded"),
        _ => ("api_error", "server_error", "Internal server error"),
    };
    let text = format!(
        "API Error: {status} {words}. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:9)."
    );
    Shape {
        status: Some(status),
        kind: Some(kind),
        code: None,
        error: "server_error",
        retried: Some(retried),
        text,
    }
}

fn limit_words(weekly: bool, reset: Option<u64>) -> String {
    let limit = if weekly { "weekly" } else { "5-hour" };
    let when = reset.map(|at| if weekly { clock::day_and_clock(at) } else { clock::clock(at) });
    match when {
        Some(when) => format!("You've hit your {limit} limit · resets {when}"),
        None => format!("You've hit your {limit} limit"),
    }
}

/// Micro-dollars as the client writes them, without needless zeros.
fn dollars(micro: u64) -> String {
    let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

const RATE_LIMITED: &str = "API Error: Request rejected (429) · This request would exceed your organization's rate limit of 50 requests per minute";
const FORBIDDEN: &str = "Failed to authenticate. API Error: 403 Your account does not have permission";
const REFUSED: &str = "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)";
const TOO_LONG: &str = "Prompt is too long · the request is ~212345 tokens (limit 200000) but this conversation is only ~2647 tokens — the rest is system prompt, tool definitions, and attachment content. A single-exchange conversation cannot be compacted; reduce attached files/tools or start with less context.";
const SAFEGUARDS: &str = "API Error: Sonnet 4.5's safeguards flagged this message (https://www.anthropic.com/legal/aup). This sometimes happens with safe, normal conversations. Claude Code can't respond to this message with Sonnet 4.5.\n\nTry rephrasing the request in a new session or change your model.";
const OUTPUT_LIMIT: &str = "API Error: Claude's response exceeded the 64000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.";
const MALFORMED: &str = "API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the request. Response: content-type html, body is an HTML page, 41 bytes, request-id absent, server other.";
