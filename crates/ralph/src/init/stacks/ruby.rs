//! Ruby: RSpec, Rails, Rake, through Bundler where there is a Gemfile.

use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;

/// A gem or an application.
pub fn find(look: &Look) -> Option<Found> {
    let gemspec = look.ending(&[".gemspec"]).next();
    let by = look.first(&["Gemfile", "gems.rb"]).or(gemspec).or(look.first(&["Rakefile"]))?;
    let bundle = if look.first(&["Gemfile", "gems.rb"]).is_some() { "bundle exec " } else { "" };
    let gems =
        look.text("Gemfile") + &look.text("gems.rb") + &gemspec.map(|g| look.text(g)).unwrap_or_default();
    let rake = look.text("Rakefile");
    let rubocop = look.has(".rubocop.yml") || gems.contains("rubocop");
    let test = if look.has(".rspec") || look.has_dir("spec") && gems.contains("rspec") {
        Some(format!("{bundle}rspec"))
    } else if Look::at(&look.path().join("bin")).has("rails") && look.has_dir("test") {
        Some("bin/rails test".into())
    } else if ["TestTask", ":test", "\"test\"", "'test'"].iter().any(|task| rake.contains(task)) {
        Some(format!("{bundle}rake test"))
    } else {
        plain_tests(look).then(|| format!("{bundle}ruby -Ilib -Itest -e '{REQUIRE_ALL}'"))
    };
    let found =
        Found { with: if bundle.is_empty() { "" } else { "bundler" }.into(), ..Found::new(Stack::Ruby, by) };
    Some(found.check(Use::Test, test).check(Use::Lint, rubocop.then(|| format!("{bundle}rubocop"))))
}

/// Without Rake the test files have to be named; each is loaded into one process.
const REQUIRE_ALL: &str = r#"Dir["test/**/{*_test,test_*}.rb"].each { |file| require "./#{file}" }"#;

fn plain_tests(look: &Look) -> bool {
    let test = Look::at(&look.path().join("test"));
    test.ending(&["_test.rb"]).next().is_some() || test.ending(&[".rb"]).any(|name| name.starts_with("test_"))
}
