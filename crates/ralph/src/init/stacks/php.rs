//! PHP: Composer's scripts first, then the tools it installed.

use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;
use serde_json::Value;

/// A Composer project.
pub fn find(look: &Look) -> Option<Found> {
    if !look.has("composer.json") {
        return None;
    }
    let text = look.text("composer.json");
    let composer: Value = serde_json::from_str(&text).unwrap_or_default();
    let script =
        |name: &str| composer.get("scripts")?.get(name).map(|_| format!("composer run-script {name}"));
    let needs = |package: &str| {
        ["require", "require-dev"]
            .iter()
            .any(|part| composer.get(*part).and_then(|needed| needed.get(package)).is_some())
    };
    let tool = |on: bool, command: &str| on.then(|| command.to_string());
    let phpunit = look.first(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]).is_some();
    let test = script("test")
        .or_else(|| tool(look.has("artisan"), "php artisan test"))
        .or_else(|| tool(needs("pestphp/pest"), "vendor/bin/pest"))
        .or_else(|| tool(phpunit || needs("phpunit/phpunit"), "vendor/bin/phpunit"));
    let phpstan = look.first(&["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"]).is_some();
    let lint = script("lint").or_else(|| tool(phpstan, "vendor/bin/phpstan analyse --no-progress"));
    let found = Found { with: "composer".into(), ..Found::new(Stack::Php, "composer.json") };
    Some(found.check(Use::Test, test).check(Use::Lint, lint).check(Use::Build, script("build")))
}
