//! A table of repositories: what lies in them, and which commands come of it.

use super::detect::detect;
use super::found::Use;
use crate::env::Env;
use std::fs;
use std::path::Path;

/// A directory with these files; the first word of a line is the path, the rest its content (`\n` written out).
fn lay(dir: &Path, files: &str) {
    for line in files.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (path, text) = line.split_once(' ').unwrap_or((line, ""));
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("\\n", "\n")).unwrap();
    }
}

/// The commands, in order: `t` test, `l` lint, `b` build.
fn commands(files: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    lay(dir.path(), files);
    let of = |what| match what {
        Use::Test => 't',
        Use::Lint => 'l',
        Use::Build => 'b',
    };
    let found = detect(dir.path(), &Env::default());
    found
        .iter()
        .flat_map(|f| f.checks.iter().map(move |c| format!("{} {}", of(c.what), f.at_top(c))))
        .collect()
}

fn tests(files: &str) -> Vec<String> {
    commands(files).into_iter().filter_map(|c| c.strip_prefix("t ").map(ToString::to_string)).collect()
}

#[test]
fn each_stack_is_tested_as_its_people_do() {
    let table: &[(&str, &[&str])] = &[
        ("Cargo.toml [package]\\nname='a'", &["cargo test"]),
        ("Cargo.toml [workspace]\\nmembers=['a']\n a/Cargo.toml [package]", &["cargo test --workspace"]),
        ("go.mod module a", &["go test ./..."]),
        (
            "go.work go 1.22\n a/go.mod module a\n b/go.mod module b",
            &["cd a && go test ./...", "cd b && go test ./..."],
        ),
        ("pom.xml <project/>", &["mvn -B -q test"]),
        ("pom.xml <project/>\n mvnw #!/bin/sh", &["sh ./mvnw -B -q test"]),
        ("build.gradle.kts plugins{}", &["gradle test"]),
        ("settings.gradle x\n gradlew #!/bin/sh\n app/build.gradle x", &["sh ./gradlew test"]),
        ("a.csproj <Project/>", &["dotnet test"]),
        ("App.sln x\n a.csproj x", &["dotnet test App.sln"]),
        ("App.sln x\n src/App/App.csproj x", &["dotnet test"]),
        ("Gemfile gem 'rspec'\n spec/a_spec.rb x", &["bundle exec rspec"]),
        ("Gemfile gem 'rake'\n Rakefile Rake::TestTask.new", &["bundle exec rake test"]),
        ("Gemfile gem 'rails'\n bin/rails x\n test/a_test.rb x", &["bin/rails test"]),
        ("Rakefile task :default", &[]),
        (
            "Gemfile gem 'minitest'\n test/a_test.rb x",
            &[
                r#"bundle exec ruby -Ilib -Itest -e 'Dir["test/**/{*_test,test_*}.rb"].each { |file| require "./#{file}" }'"#,
            ],
        ),
        ("composer.json {\"scripts\":{\"test\":\"phpunit\"}}", &["composer run-script test"]),
        ("composer.json {\"require-dev\":{\"phpunit/phpunit\":\"*\"}}", &["vendor/bin/phpunit"]),
        ("composer.json {\"require-dev\":{\"pestphp/pest\":\"*\"}}", &["vendor/bin/pest"]),
        ("composer.json {}\n artisan x", &["php artisan test"]),
        ("Makefile test:\\n\\ttrue", &["make test"]),
        ("Makefile check: all\\n\\ttrue", &["make check"]),
        ("Makefile TEST = 1\\nall:\\n\\ttrue", &[]),
        ("justfile test:\\n  true", &["just test"]),
        ("justfile test:\\n  true\n Makefile test:\\n\\ttrue", &["just test"]),
        ("Makefile test:\\n\\ttrue\n web/package.json {\"scripts\":{\"test\":\"x\"}}", &["make test"]),
        ("justfile test arg:\\n  true", &[]),
        ("Makefile test:\\n\\tcargo test\n Cargo.toml [package]", &["cargo test"]),
        ("README.md x", &[]),
        ("", &[]),
    ];
    for (files, wanted) in table {
        assert_eq!(tests(files), *wanted, "{files}");
    }
}

#[test]
fn node_is_worked_with_as_its_lockfile_says_and_only_by_scripts_that_are_there() {
    let default = "echo \\\"Error: no test specified\\\" && exit 1";
    let script = |text: &str| format!("package.json {{\"scripts\":{{\"test\":\"{text}\"}}}}");
    let table: Vec<(String, &[&str])> = vec![
        (script("jest"), &["npm test"]),
        (script("jest") + "\n pnpm-lock.yaml x", &["pnpm test"]),
        (script("jest") + "\n yarn.lock x", &["yarn test"]),
        (script("jest") + "\n bun.lock x", &["bun run test"]),
        (script("jest") + "\n package-lock.json {}\n yarn.lock x", &["yarn test"]),
        ("package.json {\"packageManager\":\"pnpm@9.1.0+sha512.x\",\"scripts\":{\"test\":\"x\"}}\n yarn.lock x".into(), &["pnpm test"]),
        (script(default), &[]),
        (script(default) + "\n test/a.js x", &["node --test"]),
        (script("jest --watch"), &[]),
        ("package.json {\"scripts\":{\"test\":\"vitest --watch\",\"test:ci\":\"vitest run\"}}".into(), &["npm run test:ci"]),
        ("package.json {}\n a.test.mjs x".into(), &["node --test"]),
        ("package.json {}\n bun.lockb x\n src/a.test.ts x".into(), &["bun test"]),
        ("package.json {\"devDependencies\":{\"vitest\":\"1\"}}".into(), &["npx --no vitest run"]),
        ("package.json {\"devDependencies\":{\"jest\":\"1\"}}\n pnpm-lock.yaml x".into(), &["pnpm exec jest"]),
        ("package.json {}".into(), &[]),
        ("package.json not json".into(), &[]),
        ("package.json {\"workspaces\":[\"packages/*\"]}\n pnpm-lock.yaml x\n packages/a/package.json {\"scripts\":{\"test\":\"x\"}}".into(), &["cd packages/a && pnpm test"]),
        (script("x") + "\n packages/a/package.json {\"scripts\":{\"test\":\"x\"}}", &["npm test"]),
        ("node_modules/a/package.json {\"scripts\":{\"test\":\"x\"}}".into(), &[]),
    ];
    for (files, wanted) in table {
        assert_eq!(tests(&files), wanted, "{files}");
    }
    let all = commands(
        "package.json {\"scripts\":{\"test\":\"x\",\"lint\":\"x\",\"typecheck\":\"x\",\"build\":\"x\"}}",
    );
    assert_eq!(all, ["t npm test", "l npm run lint", "l npm run typecheck", "b npm run build"]);
}

#[test]
fn python_is_run_by_whoever_manages_it_and_tested_by_what_is_there() {
    let table: &[(&str, &[&str])] = &[
        ("pyproject.toml [tool.pytest.ini_options]", &["python3 -m pytest"]),
        ("pyproject.toml [project]\\ndependencies=['pytest']\n uv.lock x", &["uv run pytest"]),
        (
            "pyproject.toml [tool.poetry]\\n[tool.poetry.dev-dependencies]\\npytest='*'",
            &["poetry run pytest"],
        ),
        ("Pipfile [dev-packages]\\npytest='*'", &["pipenv run pytest"]),
        ("requirements-dev.txt pytest==8", &["python3 -m pytest"]),
        ("setup.py x\n tests/test_a.py x", &["python3 -m unittest discover -s tests"]),
        ("setup.py x\n tests/__init__.py\n tests/test_a.py x", &["python3 -m unittest discover"]),
        ("a.py x\n test_a.py x", &["python3 -m unittest discover"]),
        ("pyproject.toml [project]\n uv.lock x\n test_a.py x", &["uv run python -m unittest discover"]),
        ("pyproject.toml [project]\n tests/test_a.py def test_it():\\n  assert 1", &["python3 -m pytest"]),
        ("manage.py x\n requirements.txt django", &["python3 manage.py test"]),
        ("tests/conftest.py x\n requirements.txt x", &["python3 -m pytest"]),
        ("pyproject.toml [project]", &[]),
        ("a.py x", &[]),
    ];
    for (files, wanted) in table {
        assert_eq!(tests(files), *wanted, "{files}");
    }
    let lint = commands("pyproject.toml [tool.ruff]\\n[tool.mypy]\n uv.lock x");
    assert_eq!(lint, ["l uv run ruff check", "l uv run mypy ."]);
}

#[test]
fn several_stacks_in_one_repository_are_all_found() {
    let both = "Cargo.toml [package]\n package.json {\"scripts\":{\"test\":\"x\"}}";
    assert_eq!(tests(both), ["cargo test", "npm test"]);
    let apart = "api/go.mod module a\n web app/package.json {\"scripts\":{\"test\":\"x\"}}\n docs/package.json {\"scripts\":{\"test\":\"x\"}}";
    let apart = apart.replace("web app", "web-app");
    assert_eq!(tests(&apart), ["cd api && go test ./...", "cd web-app && npm test"]);
    let root = "package.json {\"private\":true}\n server/pyproject.toml [tool.pytest.ini_options]\n client/package.json {\"scripts\":{\"test\":\"x\"}}";
    assert_eq!(tests(root), ["cd client && npm test", "cd server && python3 -m pytest"]);
}

#[test]
fn a_name_that_the_shell_would_take_apart_is_quoted() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("it's here")).unwrap();
    fs::write(dir.path().join("it's here/go.mod"), "module a").unwrap();
    let found = detect(dir.path(), &Env::default());
    assert_eq!(found[0].at_top(&found[0].checks[0]), r"cd 'it'\''s here' && go test ./...");
}
