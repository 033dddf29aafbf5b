//! Java and its relatives: Maven and Gradle, by their wrapper where there is one.

use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;

/// A Maven project.
pub fn maven(look: &Look) -> Option<Found> {
    if !look.has("pom.xml") {
        return None;
    }
    let tool = wrapper(look, "mvnw", "mvn");
    Some(
        Found { with: tool.clone(), ..Found::new(Stack::Maven, "pom.xml") }
            .check(Use::Test, Some(format!("{tool} -B -q test")))
            .check(Use::Lint, Some(format!("{tool} -B -q verify")))
            .check(Use::Build, Some(format!("{tool} -B -q compile"))),
    )
}

/// A Gradle project.
pub fn gradle(look: &Look) -> Option<Found> {
    let names = ["settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"];
    let by = look.first(&names)?;
    let tool = wrapper(look, "gradlew", "gradle");
    Some(
        Found { with: tool.clone(), ..Found::new(Stack::Gradle, by) }
            .check(Use::Test, Some(format!("{tool} test")))
            .check(Use::Lint, Some(format!("{tool} check")))
            .check(Use::Build, Some(format!("{tool} assemble"))),
    )
}

/// The wrapper brings its own version along. One that lost its mark as a program still is a script.
fn wrapper(look: &Look, own: &str, installed: &str) -> String {
    match (look.has(own), look.is_program(own)) {
        (true, true) => format!("./{own}"),
        (true, false) => format!("sh ./{own}"),
        _ => installed.to_string(),
    }
}
