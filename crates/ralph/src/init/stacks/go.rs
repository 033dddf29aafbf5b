//! Go: its own tool does everything.

use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;

/// A module.
pub fn find(look: &Look) -> Option<Found> {
    if !look.has("go.mod") {
        return None;
    }
    let golangci = look.first(&[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"]);
    Some(
        Found::new(Stack::Go, "go.mod")
            .check(Use::Test, Some("go test ./..."))
            .check(Use::Lint, golangci.map(|_| "golangci-lint run"))
            .check(Use::Lint, Some("go vet ./..."))
            .check(Use::Build, Some("go build ./...")),
    )
}
