//! `[notify]` → who gets notes. Files are relative to the file that names them.

use crate::config::{NotifyTarget, OtelSettings, Settings};
use crate::env::Env;
use ralph_engine::redact::Secret;
use ralph_notify::{Address, Config, Kind, Target, Traces, Webhook};
use std::path::{Path, PathBuf};

/// Who gets notes of what.
pub fn config(settings: &Settings, zone: String) -> Config {
    let notify = &settings.notify;
    Config {
        on: notify.on.clone(),
        quiet: notify.quiet,
        zone,
        targets: notify.to.values().filter_map(target).chain(traces(&settings.otel)).collect(),
    }
}

fn target(own: &NotifyTarget) -> Option<Target> {
    let file = |name: &String| beside(&own.said_in, name);
    let variable = |name: &String| Address::Variable(name.clone(), Env::variable(name).map(Secret::new));
    let address = own.webhook.clone().map(Address::Url);
    let address = address.or_else(|| own.url_env.as_ref().map(variable));
    let address = address.or_else(|| own.url_file.as_ref().map(|name| Address::File(file(name))));
    let kind = match address {
        Some(address) => Kind::Webhook(Webhook {
            address,
            secret_file: own.secret_file.as_ref().map(file),
            format: own.format,
            allow_private: own.allow_private,
        }),
        None if !own.command.is_empty() => Kind::Command(own.command.clone()),
        None if own.desktop => Kind::Desktop,
        None => return None,
    };
    Some(Target { kind })
}

/// Where traces are sent, if anywhere.
fn traces(otel: &OtelSettings) -> Option<Target> {
    let endpoint = Secret::new(otel.traces_url.as_deref()?);
    let (mut headers, mut problem) = (Vec::new(), None);
    for (name, value) in &otel.headers {
        match value.read(Env::variable) {
            Ok(value) => headers.push((name.clone(), value)),
            Err(why) => problem = Some(format!("the header {name} has no value: {why}")),
        }
    }
    Some(Target { kind: Kind::Traces(Traces { endpoint, headers, problem }) })
}

fn beside(said_in: &Path, name: &str) -> PathBuf {
    said_in.parent().unwrap_or(Path::new("/")).join(name)
}
