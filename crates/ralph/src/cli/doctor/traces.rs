//! Whether traces can be sent: the headers must have values. A run does not need a collector, so nothing here is worse than
//! a warning, and nothing is sent.

use super::Row;
use crate::cli::Here;
use crate::config::{self, OtelSettings};
use crate::env::Env;

/// One row, if `[otel]` says anything.
pub fn rows(here: &Here) -> Vec<Row> {
    let Ok(config) = config::load(&here.workspace, &here.env) else { return Vec::new() };
    row(&config.settings.otel).into_iter().collect()
}

fn row(otel: &OtelSettings) -> Option<Row> {
    let Some(url) = &otel.traces_url else {
        let fact = "otel.headers is set, but otel.endpoint is not: no traces are sent";
        let remedy = "set otel.endpoint in your own config.toml (`ralph config edit --user`)";
        return (!otel.headers.is_empty()).then(|| Row::warn("traces", fact, remedy));
    };
    let unread = |(name, value): (&String, &config::HeaderValue)| {
        Some(format!("the header {name} has no value: {}", value.read(Env::variable).err()?))
    };
    if let Some(fact) = otel.headers.iter().find_map(unread) {
        return Some(Row::warn(
            "traces",
            fact,
            "correct otel.headers in your own config.toml, or what it names",
        ));
    }
    if !otel.headers.is_empty() && is_readable_on_the_way(url) {
        let fact = format!("otel.headers are sent to {url} without encryption");
        return Some(Row::warn("traces", fact, "use https, or a collector on this machine"));
    }
    Some(Row::ok("traces", format!("sent to {url}")))
}

/// Whether others on the network can read what is sent.
fn is_readable_on_the_way(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let here = ["localhost", "127.0.0.1", "[::1]"];
    let host = here.iter().find_map(|host| rest.strip_prefix(host));
    !host.is_some_and(|after| after.is_empty() || after.starts_with([':', '/']))
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;
    use config::HeaderValue;

    fn told(url: Option<&str>, header: Option<HeaderValue>) -> Option<(Health, String)> {
        let headers = header.into_iter().map(|value| ("Authorization".to_owned(), value)).collect();
        let row = row(&OtelSettings { traces_url: url.map(Into::into), headers })?;
        assert_eq!(row.remedy.is_some(), row.state != Health::Ok);
        Some((row.state, row.fact))
    }

    #[test]
    fn what_keeps_traces_from_arriving_is_told() {
        let (near, far) = ("http://localhost:4318/v1/traces", "http://collector:4318/v1/traces");
        let unset = HeaderValue::Variable("NO_SUCH_VARIABLE_HERE".into());
        let text = HeaderValue::Text(ralph_engine::redact::Secret::new("sesame"));
        assert_eq!(told(None, None), None);
        assert_eq!(told(Some(far), None), Some((Health::Ok, format!("sent to {far}"))));
        assert_eq!(told(Some(near), Some(text.clone())), Some((Health::Ok, format!("sent to {near}"))));
        for (url, header, part) in [
            (None, text.clone(), "otel.endpoint is not"),
            (Some(near), unset, "the variable NO_SUCH_VARIABLE_HERE is not set"),
            (Some(far), text, "without encryption"),
        ] {
            let (state, fact) = told(url, Some(header)).unwrap();
            assert!(state == Health::Warn && fact.contains(part) && !fact.contains("sesame"), "{fact}");
        }
    }

    #[test]
    fn only_this_machine_is_safe_without_encryption() {
        for url in [
            "http://localhost:4318/v1/traces",
            "http://127.0.0.1/v1/traces",
            "http://[::1]:1/v1/traces",
            "https://a/",
        ] {
            assert!(!is_readable_on_the_way(url), "{url}");
        }
        for url in [
            "http://localhost.example.org/v1/traces",
            "http://127.0.0.1.example.org/",
            "http://collector:4318/v1/traces",
        ] {
            assert!(is_readable_on_the_way(url), "{url}");
        }
    }
}
