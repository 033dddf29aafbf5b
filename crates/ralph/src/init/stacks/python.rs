//! Python: uv, Poetry, PDM, Pipenv or a plain interpreter; pytest where the project names it, else unittest.

use crate::env::Env;
use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;

/// What a Python project is recognised by.
const MARKS: [&str; 9] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "manage.py",
    "pytest.ini",
    "tox.ini",
    "requirements-dev.txt",
];

/// A package, an application, or scripts with tests.
pub fn find(look: &Look, env: &Env) -> Option<Found> {
    let scripts = look.ending(&[".py"]).next().is_some() && !unit_tests(look).is_empty();
    let by = look.first(&MARKS).or(scripts.then_some("*.py"))?;
    let project = look.text("pyproject.toml");
    let (with, run) = runner(look, env, &project);
    let named =
        look.ending(&[".txt"]).filter(|name| name.starts_with("requirements")).map(|name| look.text(name));
    let config = project + &look.text("setup.cfg") + &look.text("tox.ini");
    let config = config + &look.text("setup.py") + &look.text("Pipfile") + &named.collect::<String>();
    let tool = |name: &str| match run.strip_suffix("python ") {
        Some(managed) => format!("{managed}{name}"),
        None => format!("{run}-m {name}"),
    };
    let tests = look.has_dir("tests").then(|| Look::at(&look.path().join("tests")));
    let conftest = look.has("conftest.py") || tests.as_ref().is_some_and(|t| t.has("conftest.py"));
    let test = if look.has("pytest.ini") || conftest || config.contains("pytest") {
        Some(tool("pytest"))
    } else if look.has("manage.py") {
        Some(format!("{run}manage.py test"))
    } else if plain_functions(look) {
        Some(tool("pytest"))
    } else {
        unit_tests(look).first().map(|args| format!("{run}-m unittest discover{args}"))
    };
    let ruff = look.has("ruff.toml") || look.has(".ruff.toml") || config.contains("ruff");
    let mypy = look.has("mypy.ini") || config.contains("mypy");
    let found = Found { with, ..Found::new(Stack::Python, by) }.check(Use::Test, test);
    let found = found
        .check(Use::Lint, ruff.then(|| tool("ruff check")))
        .check(Use::Lint, mypy.then(|| tool("mypy .")));
    Some(found.check(Use::Lint, look.has(".flake8").then(|| tool("flake8"))))
}

/// Who manages the project, and how its interpreter is called, with a space at the end.
fn runner(look: &Look, env: &Env, project: &str) -> (String, String) {
    let managed = |name: &str| (name.to_string(), format!("{name} run python "));
    let owns = |lock: &str, table: &str| look.has(lock) || project.contains(table);
    if owns("uv.lock", "[tool.uv") {
        return managed("uv");
    }
    if owns("poetry.lock", "[tool.poetry") {
        return managed("poetry");
    }
    if owns("pdm.lock", "[tool.pdm") {
        return managed("pdm");
    }
    if look.has("Pipfile") {
        return managed("pipenv");
    }
    let own = [".venv/bin/python", "venv/bin/python"].iter().find(|own| look.path().join(own).exists());
    let installed = ["python3", "python"].iter().find(|name| env.which(name, look.path()).is_some());
    let python = own.or(installed).unwrap_or(&"python3");
    ("pip".into(), format!("{python} "))
}

/// Tests that are plain functions: nothing of the standard library would find them.
fn plain_functions(look: &Look) -> bool {
    let dirs = ["tests", "test"].map(|dir| look.has_dir(dir).then(|| Look::at(&look.path().join(dir))));
    let texts = |look: &Look| -> String {
        let files =
            look.ending(&[".py"]).filter(|name| name.starts_with("test") || name.ends_with("_test.py"));
        files.take(20).map(|name| look.text(name)).collect()
    };
    let all = dirs.iter().flatten().fold(texts(look), |all, dir| all + &texts(dir));
    all.lines().any(|line| line.starts_with("def test")) && !all.contains("unittest")
}

/// The arguments of `unittest discover`, where there are files for it: it enters a directory only as a package.
fn unit_tests(look: &Look) -> Vec<&'static str> {
    let tests = |look: &Look| look.ending(&[".py"]).any(|name| name.starts_with("test"));
    let below = |dir: &str| {
        let inner = look.has_dir(dir).then(|| Look::at(&look.path().join(dir)));
        inner.filter(|inner| tests(inner)).map(|inner| inner.has("__init__.py"))
    };
    let top = tests(look).then_some("");
    let package = |dir: &str, args| below(dir).map(|is_package| if is_package { "" } else { args });
    [top, package("tests", " -s tests"), package("test", " -s test")].into_iter().flatten().collect()
}
