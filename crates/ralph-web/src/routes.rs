//! Every address of the server, and what each answers. `assets/openapi.json` describes those of the API; a test compares.

use crate::access::{self, Names};
use crate::answer::{Answer, Fault, of_kind};
use crate::assets::ASSETS;
use crate::feed::Feed;
use crate::query::Query;
use crate::reader::Reader;
use crate::run_address::is_id;
use crate::server::RedactorOf;
use crate::stream::EventStream;
use crate::token::Token;
use crate::{activity, control, metrics, run_parts, runs, security_headers, statistics};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Streams at most.
pub const STREAMS: usize = 256;
/// How long a stream may take to begin: the database may not answer.
const JOIN: Duration = Duration::from_secs(10);

/// The description of the API.
pub const OPENAPI: &str = include_str!("../assets/openapi.json");

/// What every answer may need.
#[derive(Clone)]
pub struct App {
    /// The names it answers to.
    pub names: Names,
    /// What readers must send.
    pub token: Token,
    /// Reads for requests.
    pub reader: Reader,
    /// Follows for streams.
    pub feed: Feed,
    /// How many streams may still begin.
    pub streams: Arc<Semaphore>,
    /// Runs may be asked for something.
    pub allow_control: bool,
    /// Knows the secrets of a workspace.
    pub redactor: RedactorOf,
}

/// An address of the API.
struct Route {
    path: &'static str,
    /// The parameters that it takes in a query; any other is refused.
    parameters: &'static [&'static str],
    answers: MethodRouter<App>,
}

impl Route {
    const fn of(
        path: &'static str,
        parameters: &'static [&'static str],
        answers: MethodRouter<App>,
    ) -> Route {
        Route { path, parameters, answers }
    }
}

/// Every address of the API, the parameters it takes and what answers it, in the order of the description.
fn api() -> Vec<Route> {
    let list = &["state", "agent", "text", "workspace", "group", "before", "limit"];
    vec![
        Route::of("/api/v1/overview", &[], get(runs::overview)),
        Route::of("/api/v1/runs", list, get(runs::list)),
        Route::of("/api/v1/runs/{id}", &[], get(run_parts::detail)),
        Route::of("/api/v1/runs/{id}/iterations/{n}", &[], get(run_parts::iteration)),
        Route::of(
            "/api/v1/runs/{id}/iterations/{n}/activity",
            &["attempt", "after", "limit"],
            get(activity::activity),
        ),
        Route::of("/api/v1/runs/{id}/iterations/{n}/diff", &[], get(run_parts::diff)),
        Route::of("/api/v1/runs/{id}/iterations/{n}/verification", &[], get(run_parts::verification)),
        Route::of("/api/v1/runs/{id}/iterations/{n}/prompt", &[], get(run_parts::prompt)),
        Route::of("/api/v1/stats", &["workspace", "days"], get(statistics::statistics)),
        Route::of("/api/v1/events", &["run"], get(events)),
        Route::of("/api/v1/runs/{id}/requests", &[], post(control::request)),
        Route::of("/api/v1/openapi.json", &[], get(openapi)),
        Route::of("/metrics", &[], get(metrics::metrics)),
        Route::of("/healthz", &[], get(health)),
    ]
}

/// Answers every request.
pub fn router(app: App) -> Router {
    let mut router = Router::new().fallback(nothing);
    for asset in &ASSETS {
        router = router
            .route(asset.path, get(move |request: Request| async move { asset.answer(request.headers()) }));
    }
    for Route { path, parameters, answers } in api() {
        let known = move |request: Request, next: Next| async move {
            match Query::of(request.uri().query()).and_then(|query| query.check(parameters)) {
                Ok(()) => next.run(request).await,
                Err(fault) => fault.into_response(),
            }
        };
        router = router.route(path, answers.route_layer(from_fn(known)));
    }
    router
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// Looks at every request before anything else does, and at every answer after.
async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut answer = match access::check(&head, &app.names, &app.token) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(refusal) => Fault::from(refusal).into_response(),
    };
    security_headers::complete(answer.headers_mut());
    answer
}

async fn nothing() -> Fault {
    Fault::not_found("such address")
}

async fn other_method(head: Parts) -> Fault {
    Fault::method(if head.uri.path().ends_with("/requests") { "POST" } else { "GET, HEAD" })
}

/// Fine for as long as both threads that read are there.
async fn health(State(app): State<App>) -> Answer {
    match app.reader.is_running() && app.feed.is_running() {
        true => Ok(of_kind("text/plain; charset=utf-8", "ok\n")),
        false => Err(Fault::stopped()),
    }
}

async fn openapi() -> Response {
    of_kind("application/json", OPENAPI)
}

/// A stream of what happens. `Last-Event-ID` continues one that was cut off.
async fn events(State(app): State<App>, head: Parts) -> Answer {
    let run = match Query::of(head.uri.query())?.text("run")? {
        Some(run) => Some(found(&app, run).await?),
        None => None,
    };
    let after = match head.headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default()) {
        None | Some("") => None,
        Some(id) => Some(id.parse().map_err(|_| Fault::bad("`Last-Event-ID` must be the id of an event"))?),
    };
    let permit = Arc::clone(&app.streams).try_acquire_owned().map_err(|_| Fault::busy())?;
    let joined = tokio::time::timeout(JOIN, app.feed.join(run, after)).await;
    let joined = joined.ok().flatten().ok_or_else(Fault::no_answer)?;
    Ok(of_kind("text/event-stream", Body::new(EventStream::new(joined, permit))))
}

/// The whole id of a run whose lines are wanted. While the database cannot be read, nobody knows: the stream says so.
async fn found(app: &App, run: String) -> Result<String, Fault> {
    let wanted = run.clone();
    let found = match is_id(&run) {
        true => app.reader.board(move |board, _| board.find(&wanted)).await.unwrap_or(Some(run)),
        false => None,
    };
    found.ok_or_else(|| Fault::not_found("such run"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::ending::Reason;
    use ralph_view::run_state::RunState;
    use serde_json::Value;

    #[test]
    fn the_description_names_every_address_and_no_other() {
        let description: Value = serde_json::from_str(OPENAPI).unwrap();
        let described: Vec<&String> = description["paths"].as_object().unwrap().keys().collect();
        let mut served: Vec<&str> = api().into_iter().map(|route| route.path).collect();
        served.sort_unstable();
        assert_eq!(described, served);
        for (path, methods) in description["paths"].as_object().unwrap() {
            let method = if path.ends_with("/requests") { "post" } else { "get" };
            assert_eq!(methods.as_object().unwrap().keys().collect::<Vec<_>>(), [method], "{path}");
        }
    }

    #[test]
    fn the_description_has_the_parameters_that_are_taken() {
        let description: Value = serde_json::from_str(OPENAPI).unwrap();
        for route in api() {
            let method = if route.path.ends_with("/requests") { "post" } else { "get" };
            let described = description["paths"][route.path][method]["parameters"].as_array().cloned();
            let in_query: Vec<Value> =
                described.unwrap_or_default().into_iter().filter(|one| one["in"] == "query").collect();
            let names: Vec<&str> = in_query.iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(names, route.parameters, "{}", route.path);
        }
    }

    #[test]
    fn the_description_has_the_states_that_are_known() {
        let description: Value = serde_json::from_str(OPENAPI).unwrap();
        let states = RunState::ALL.map(RunState::name).into_iter();
        let known: Vec<&str> = states.chain(Reason::ALL.map(Reason::name)).collect();
        let described = description["components"]["schemas"]["StateOrReason"]["enum"].clone();
        assert_eq!(described, serde_json::json!(known));
    }

    #[test]
    fn every_reference_in_the_description_leads_somewhere() {
        let description: Value = serde_json::from_str(OPENAPI).unwrap();
        for part in OPENAPI.split("\"$ref\": \"#").skip(1) {
            let to = part.split('"').next().unwrap();
            assert!(description.pointer(to).is_some(), "{to}");
        }
    }
}
