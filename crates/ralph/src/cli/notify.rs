//! `ralph notify`: who hears about runs, what waits to be delivered, and a test of both. What a run leaves for others to
//! deliver, and delivering it in the background of a command, is in `notify/background.rs`.

mod background;
mod crashes;
mod list;
mod targets;

pub use background::{background, maker};
pub use crashes::saw;

use super::{Here, examples, resolve, runs};
use crate::config;
use crate::plain::plain;
use crate::print::{print, say};
use crate::problem::{Code, Problem};
use ralph_diagnostics::Discard;
use ralph_engine::clock::utc;
use ralph_notify::{
    Attempt, Config, Delivery, Notes, Sender, StartGate, Target, apply, flush, note_crashes, try_now,
};
use ralph_rules::record::Ms;
use ralph_store::{Memory, Store, StoreError};
use std::sync::Arc;

/// Arguments of `ralph notify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Send a test note to every target now and show what each answered.
    #[command(before_help = examples::NOTIFY)]
    Test,
    /// List targets, and notes that wait, failed or were sent last.
    #[command(before_help = examples::NOTIFY)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Deliver everything that waits now, also during quiet hours.
    #[command(before_help = examples::NOTIFY)]
    Flush,
}

impl Args {
    /// The command's name, where it is for people only: a test revives a receiver that wanted nothing more.
    pub fn for_people_only(&self) -> Option<&'static str> {
        matches!(self.what, What::Test).then_some("notify test")
    }
}

/// Tests, lists or delivers.
pub fn notify(args: &Args, here: &Here) -> Result<u8, Problem> {
    let read_at = utc();
    let settings = config::load_own(&here.env)?.settings;
    let wanted = targets::config(&settings, resolve::zone(here));
    match args.what {
        What::List { json } => {
            let delivery = delivery(here)?;
            apply(&wanted, read_at, &delivery).discard("apply the configuration to notes that wait");
            list::list(&wanted, json, &*delivery.store)
        }
        What::Test => {
            let delivery = delivery(here)?;
            let attempts = each_at_once(needed(&wanted)?, |target| Ok(vec![try_now(&delivery, target)]));
            report(&attempts?, "No notification target was tested.")
        }
        What::Flush => deliver_all(needed(&wanted)?, read_at, here),
    }
}

fn needed(config: &Config) -> Result<&Config, Problem> {
    if config.targets.is_empty() {
        return Err(Problem::new(Code::Config, "no notification targets: add [[notify.to]] to your config.toml")
            .hint("add a target to your own config.toml (`ralph config edit --user`), such as\n  [[notify.to]]\n  desktop = true")
            .hint("docs/notifications.md shows the others"));
    }
    Ok(config)
}

fn deliver_all(config: &Config, read_at: Ms, here: &Here) -> Result<u8, Problem> {
    let delivery = delivery(here)?;
    let broken = |error: StoreError| runs::broken(&error);
    apply(config, read_at, &delivery).map_err(broken)?;
    if let Some(notes) = Notes::of(config) {
        note_crashes(&*delivery.store, &here.home()?, &notes, utc()).map_err(broken)?;
    }
    let attempts = each_at_once(config, |target| match target.problem() {
        // The rows stay for a process that has what is missing here.
        Some(why) => Ok(vec![Attempt { notes: 0, delivered: false, answer: why }]),
        None => flush(&delivery, target),
    })?;
    report(&attempts, "Nothing to deliver.")
}

/// The store is opened where there is one: a test and a list need none.
fn delivery(here: &Here) -> Result<Delivery, Problem> {
    let store: Arc<dyn Store> = match here.home()?.store_if_any().map_err(|e| runs::broken(&e))? {
        Some(store) => Arc::new(store),
        None => Arc::new(Memory::new()),
    };
    let owner = format!("{}.{}", std::process::id(), utc());
    let (sender, gate) = (Arc::new(Sender::new()), StartGate::default());
    Ok(Delivery { store, owner, sender, traces: background::traces(), gate })
}

type Attempts = Vec<(String, Vec<Attempt>)>;

/// Asks all targets at once: one that hangs does not hold up the others.
fn each_at_once(
    config: &Config,
    ask: impl Fn(&Target) -> Result<Vec<Attempt>, StoreError> + Sync,
) -> Result<Attempts, Problem> {
    let ask = &ask;
    let asked: Vec<Result<Vec<Attempt>, StoreError>> = std::thread::scope(|threads| {
        let started: Vec<_> =
            config.targets.iter().map(|target| threads.spawn(move || ask(target))).collect();
        started.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Ok(Vec::new()))).collect()
    });
    let mut attempts = Vec::new();
    for (target, answer) in config.targets.iter().zip(asked) {
        attempts.push((config.shown(target), answer.map_err(|e| runs::broken(&e))?));
    }
    Ok(attempts)
}

/// Says what became of each; the exit code is 1 if one failed.
fn report(attempts: &Attempts, nothing: &str) -> Result<u8, Problem> {
    let mut failed = false;
    for (target, attempt) in
        attempts.iter().flat_map(|(target, all)| all.iter().map(move |one| (target, one)))
    {
        failed |= !attempt.delivered;
        let word = if attempt.delivered { "ok" } else { "failed" };
        let notes = if attempt.notes > 1 { format!(" ({} notes)", attempt.notes) } else { String::new() };
        print(&format!("{word:<7} {}{notes}: {}\n", plain(target), plain(&attempt.answer)));
    }
    if attempts.iter().all(|(_, all)| all.is_empty()) {
        say(&format!("{nothing}\n"));
    }
    Ok(u8::from(failed))
}
