//! One delivery: lease the next rows of a target, deliver them, say what became of it.
//!
//! A webhook is settled after it was answered: a process that dies in between leaves the lease to expire, and somebody else
//! sends it again, with the same id. A program is settled just before it is started: a process that dies in between has
//! started it or has not, and nobody does it again. Until the program has ended, the note is not called confirmed.

use crate::ended;
use crate::message::{Body, Message};
use crate::program::{self, Prepared, Started};
use crate::retry::next_attempt;
use crate::secret_file::secrets;
use crate::sender::{Answer, Sender};
use crate::signature::sign;
use crate::start_gate::StartGate;
use crate::target::{Kind, Target, Traces, Webhook};
use crate::upkeep::REMOVED;
use ralph_engine::clock::utc;
use ralph_engine::redact::Secret;
use ralph_rules::record::Ms;
use ralph_store::{Delivery as Settled, Lease, OutboxEntry, Store, StoreError};
use ralph_view::note::Note;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long nobody else delivers what was leased. Longer than any delivery takes.
pub(crate) const LEASE: Ms = 60_000;
/// The same for a trace, which may take many requests. A lease cannot be renewed, so no request of a trace begins later
/// than `TRACE_BEGINS` after it was taken: the last one has ended when the lease does.
const TRACE_LEASE: Ms = 5 * 60_000;
const TRACE_BEGINS: Duration = Duration::from_secs(4 * 60);

/// What is said of a program that was handed a note and was not seen to end.
const NOT_CONFIRMED: &str = "not confirmed: it may not have been started";

/// Makes the trace of a run from its journal, when it is delivered: the bodies of OTLP requests, as JSON. The number is that
/// of the record with which the run ended or crashed: if there is none after it, nobody has resumed the run.
pub type TraceMaker = Arc<dyn Fn(&dyn Store, &str, u64) -> Result<Vec<Vec<u8>>, String> + Send + Sync>;

/// Delivers rows of the outbox.
#[derive(Clone)]
pub struct Delivery {
    /// Where the rows are.
    pub store: Arc<dyn Store>,
    /// Names this deliverer; no other has the same name.
    pub owner: String,
    /// Sends requests.
    pub sender: Arc<Sender>,
    /// Makes traces, if anything does.
    pub traces: Option<TraceMaker>,
    /// Closed before the process ends.
    pub gate: StartGate,
}

/// What became of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// How many notes it delivers.
    pub notes: usize,
    /// Whether they were delivered.
    pub delivered: bool,
    /// What was answered.
    pub answer: String,
}

impl Delivery {
    /// Delivers the next rows of a target, if there are any. With `not_tried_since`, also those that wait for another
    /// attempt or for the end of quiet hours, unless they were tried at that moment or later.
    pub fn next(&self, target: &Target, not_tried_since: Option<Ms>) -> Result<Option<Attempt>, StoreError> {
        let (id, now, began) = (target.id(), utc(), Instant::now());
        let longest = if matches!(target.kind, Kind::Traces(_)) { TRACE_LEASE } else { LEASE };
        let (owner, until) = (self.owner.as_str(), now + longest);
        let lease = Lease { owner, target: &id, now, until, not_tried_since };
        let leased = self.store.outbox_lease(&lease)?;
        if leased.is_empty() {
            return Ok(None);
        }
        if ended::ended(&*self.store, &id)?.is_some() {
            return self.settled(&leased, &Settled::Dropped, "the receiver answered 410 before").map(Some);
        }
        match (&target.kind, Message::of(&leased)) {
            (Kind::Traces(traces), _) => self.trace((traces, began), &id, &leased),
            (_, None) => self.settled(&leased, &Settled::Dropped, "a newer ralph wrote it"),
            (Kind::Webhook(webhook), Some(message)) => {
                let answer = post(&self.sender, webhook, &message, now);
                self.answered(&id, &leased, &answer)
            }
            (Kind::Desktop, Some(message)) => self.start(&leased, &program::desktop(&message)),
            (Kind::Command(argv), Some(message)) => self.start(&leased, &program::command(argv, &message)),
        }
        .map(Some)
    }

    /// Closes rows of a target that was removed from the configuration, until one is younger than `before`. How many.
    pub(crate) fn drop_target(&self, id: &str, before: Ms) -> Result<usize, StoreError> {
        let mut dropped = 0;
        loop {
            let now = utc();
            let (owner, until) = (self.owner.as_str(), now + LEASE);
            let lease = Lease { owner, target: id, now, until, not_tried_since: Some(now) };
            let leased = self.store.outbox_lease(&lease)?;
            // A row that was written meanwhile stays; its lease ends by itself.
            if leased.is_empty() || leased.iter().any(|entry| entry.row.at >= before) {
                return Ok(dropped);
            }
            dropped += self.settled(&leased, &Settled::Dropped, REMOVED)?.notes;
        }
    }

    /// Started once, whatever happens: settled first.
    fn start(&self, leased: &[OutboxEntry], program: &Prepared) -> Result<Attempt, StoreError> {
        let ids: Vec<String> = leased.iter().map(|entry| entry.row.id.clone()).collect();
        let mark = || self.store.outbox_settle((&ids, &self.owner, utc()), &Settled::Sent, NOT_CONFIRMED);
        let mark_and_start = || mark().map(|mine| (mine == ids.len()).then(|| program.start()));
        let others = |answer: &str| Attempt { notes: ids.len(), delivered: false, answer: answer.into() };
        match self.gate.pass(mark_and_start).transpose()? {
            // The lease ends by itself.
            None => Ok(others("left to the next process: this one is ending")),
            Some(None) => Ok(others("somebody else delivers it")),
            Some(Some(started)) => match started.and_then(Started::wait) {
                Ok(answer) => self.settled(leased, &Settled::Sent, &answer),
                Err(why) => self.settled(leased, &Settled::Failed, &why),
            },
        }
    }

    fn trace(
        &self,
        (traces, began): (&Traces, Instant),
        id: &str,
        leased: &[OutboxEntry],
    ) -> Result<Attempt, StoreError> {
        let (run, seq) = leased.first().map_or(("", 0), |entry| (entry.row.run.as_str(), entry.row.seq));
        let Some(make) = &self.traces else {
            return self.answered(id, leased, &Answer::Failed("trace export is not available".into(), None));
        };
        let answer = match (make(&*self.store, run, seq), traces.url()) {
            (Ok(bodies), Ok(url)) => self.post_traces((traces, began), &url, bodies),
            (Err(why), _) | (_, Err(why)) => Answer::Failed(why, None),
        };
        self.answered(id, leased, &answer)
    }

    /// Sends all parts of a trace. Their ids come from the journal, so a collector that gets one again has it once.
    fn post_traces(&self, (traces, began): (&Traces, Instant), url: &Secret, bodies: Vec<Vec<u8>>) -> Answer {
        let text = |value: &Secret| value.expose_text().map(str::to_owned);
        let own = traces.headers.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?)));
        let json = ("content-type".to_owned(), "application/json".to_owned());
        let headers: Vec<(String, String)> = [json].into_iter().chain(own).collect();
        let mut answer = Answer::Accepted(200);
        for bytes in bodies {
            if began.elapsed() > TRACE_BEGINS {
                return Answer::Failed("the trace could not be sent in time".into(), None);
            }
            answer = self.sender.post(url, true, &Body { headers: headers.clone(), bytes }, utc());
            if !matches!(answer, Answer::Accepted(_)) {
                break;
            }
        }
        answer
    }

    fn answered(&self, id: &str, leased: &[OutboxEntry], answer: &Answer) -> Result<Attempt, StoreError> {
        let now = utc();
        let settled = match answer {
            Answer::Accepted(_) => Settled::Sent,
            Answer::Gone => {
                ended::end(&*self.store, id, now)?;
                Settled::Dropped
            }
            Answer::Failed(_, asked) => {
                let failed = leased.iter().map(|entry| entry.attempts).max().unwrap_or(0) + 1;
                next_attempt(failed, now, *asked).map_or(Settled::Failed, Settled::Retry)
            }
        };
        self.settled(leased, &settled, &answer.words())
    }

    fn settled(&self, leased: &[OutboxEntry], to: &Settled, answer: &str) -> Result<Attempt, StoreError> {
        let ids: Vec<String> = leased.iter().map(|entry| entry.row.id.clone()).collect();
        self.store.outbox_settle((&ids, &self.owner, utc()), to, answer)?;
        Ok(Attempt { notes: ids.len(), delivered: *to == Settled::Sent, answer: answer.into() })
    }
}

/// Delivers everything of a target that is due, waits for another attempt or for the end of quiet hours, each at most once.
pub fn flush(delivery: &Delivery, target: &Target) -> Result<Vec<Attempt>, StoreError> {
    let began = utc();
    let mut attempts = Vec::new();
    while let Some(attempt) = delivery.next(target, Some(began))? {
        attempts.push(attempt);
    }
    Ok(attempts)
}

/// Sends a test note to a target now, past the outbox. A receiver that takes it is revived.
pub fn try_now(delivery: &Delivery, target: &Target) -> Attempt {
    let now = utc();
    let message = Message::single(&format!("test/{now}/{}", delivery.owner), Note::of_test(now));
    let outcome = match &target.kind {
        Kind::Desktop => program::desktop(&message).start().and_then(Started::wait),
        Kind::Command(argv) => program::command(argv, &message).start().and_then(Started::wait),
        Kind::Webhook(webhook) => revived(delivery, target, &post(&delivery.sender, webhook, &message, now)),
        Kind::Traces(traces) => traces.url().and_then(|url| {
            let nothing = vec![br#"{"resourceSpans":[]}"#.to_vec()];
            revived(delivery, target, &delivery.post_traces((traces, Instant::now()), &url, nothing))
        }),
    };
    let delivered = outcome.is_ok();
    Attempt { notes: 1, delivered, answer: outcome.unwrap_or_else(|why| why) }
}

/// What a receiver answered to a test; one that takes it gets notes again.
fn revived(delivery: &Delivery, target: &Target, answer: &Answer) -> Result<String, String> {
    match answer {
        Answer::Accepted(_) => {
            let _ = ended::revive(&*delivery.store, &target.id());
            Ok(answer.words())
        }
        // Only a note that is answered so ends the target: a test changes nothing for the worse.
        Answer::Gone => Err(match ended::ended(&*delivery.store, &target.id()) {
            Ok(Some(_)) => "answered 410 Gone; this target still gets no notes".into(),
            _ => "answered 410 Gone; if it answers a note so, nothing more is sent to this target".into(),
        }),
        Answer::Failed(why, _) => Err(why.clone()),
    }
}

fn post(sender: &Sender, webhook: &Webhook, message: &Message, now: Ms) -> Answer {
    let url = match webhook.url() {
        Ok(url) => url,
        Err(why) => return Answer::Failed(why, None),
    };
    let mut body = message.body(webhook.format);
    let seconds = now / 1_000;
    body.headers.push(("webhook-id".into(), message.id().into()));
    body.headers.push(("webhook-timestamp".into(), seconds.to_string()));
    if let Some(file) = &webhook.secret_file {
        match secrets(file) {
            Ok(secrets) => {
                let signature = sign(&secrets, message.id(), seconds, &body.bytes);
                body.headers.push(("webhook-signature".into(), signature));
            }
            Err(why) => return Answer::Failed(why, None),
        }
    }
    sender.post(&url, webhook.allow_private, &body, now)
}
