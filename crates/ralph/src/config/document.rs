//! A config file, read against the declarations: what it sets, and everything that is wrong with it.

use super::instances;
use super::key::{Combine, Key, Section, Shape};
use super::kind::Mismatch;
use super::mistake;
use super::origin::{Entry, Layer, Origin};
use super::sections::{SECTIONS, keys, list_within, section};
use crate::nearest::nearest;
use crate::problem::Problem;
use ralph_rules::prices::normal;
use std::path::Path;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// A key or a value as it stands in the file, and where.
type Name<'i> = Spanned<std::borrow::Cow<'i, str>>;
type Place<'i> = Spanned<DeValue<'i>>;

/// What a file sets, and its problems in the order of the lines.
pub fn read(origin: Origin, text: &str) -> (Layer, Vec<Problem>) {
    let path = origin.path().unwrap_or(Path::new("")).to_path_buf();
    let mut reader = Reader { origin: &origin, path: &path, text, entries: Vec::new(), problems: Vec::new() };
    match (DeTable::parse(text), text.parse::<Table>()) {
        (Ok(places), Ok(table)) => reader.whole(&table, places.get_ref()),
        (Err(error), _) | (_, Err(error)) => reader.problems.push((0, mistake::syntax(&path, text, &error))),
    }
    let Reader { entries, mut problems, .. } = reader;
    problems.sort_by_key(|(offset, _)| *offset);
    (Layer { origin, entries }, problems.into_iter().map(|(_, problem)| problem).collect())
}

/// The same for a file that holds the keys of one table alone.
pub fn read_table(
    origin: Origin,
    path: &Path,
    text: &str,
    section: &'static Section,
) -> (Layer, Vec<Problem>) {
    let mut reader = Reader { origin: &origin, path, text, entries: Vec::new(), problems: Vec::new() };
    match (DeTable::parse(text), text.parse::<Table>()) {
        (Ok(places), Ok(table)) => {
            reader.table(&Within { section, instance: "" }, &table, places.get_ref());
        }
        (Err(error), _) | (_, Err(error)) => reader.problems.push((0, mistake::syntax(path, text, &error))),
    }
    let Reader { entries, mut problems, .. } = reader;
    problems.sort_by_key(|(offset, _)| *offset);
    (Layer { origin, entries }, problems.into_iter().map(|(_, problem)| problem).collect())
}

struct Reader<'a> {
    origin: &'a Origin,
    path: &'a Path,
    text: &'a str,
    entries: Vec<Entry>,
    problems: Vec<(usize, Problem)>,
}

/// The table in which keys stand.
struct Within<'a> {
    section: &'static Section,
    /// The agent, the model or the number of the rung.
    instance: &'a str,
}

impl Reader<'_> {
    fn whole(&mut self, table: &Table, places: &DeTable<'_>) {
        let Some(top) = section("") else { return };
        for (name, place) in places {
            let Some(value) = table.get(name.get_ref().as_ref()) else { continue };
            match section(name.get_ref()).filter(|section| !section.name.is_empty()) {
                Some(section) => self.section(section, value, name, place),
                None => self.key(&Within { section: top, instance: "" }, value, name, place),
            }
        }
    }

    fn section(&mut self, section: &'static Section, value: &Value, name: &Name<'_>, place: &Place<'_>) {
        match (section.shape, value, place.get_ref()) {
            (Shape::Table, Value::Table(table), DeValue::Table(places)) => {
                self.table(&Within { section, instance: "" }, table, places);
            }
            (Shape::PerAgent | Shape::PerModel, Value::Table(table), DeValue::Table(places)) => {
                for (name, place) in places {
                    let Some(value) = table.get(name.get_ref().as_ref()) else { continue };
                    self.instance(section, value, name, place);
                }
            }
            (Shape::List, Value::Array(rows), DeValue::Array(places)) => {
                self.count(section, rows.len(), name);
                for (n, (value, place)) in rows.iter().zip(places.iter()).enumerate() {
                    self.entry(section, n + 1, value, place);
                }
            }
            _ => {
                let what = format!("`{}` must be a table, written {}", section.name, section.heading());
                self.problem(place.span().start, &what, None);
            }
        }
    }

    /// `[agents.NAME]` or `[prices."MODEL"]`.
    fn instance(&mut self, section: &'static Section, value: &Value, name: &Name<'_>, place: &Place<'_>) {
        let instance = name.get_ref().as_ref();
        let at = name.span().start;
        if let Some(Mismatch { what, hint }) = instances::wrong_name(section, instance) {
            return self.problem(at, &what, hint);
        }
        let (Value::Table(table), DeValue::Table(places)) = (value, place.get_ref()) else {
            let what = format!("`{}.{instance}` must be a table", section.name);
            return self.problem(place.span().start, &what, None);
        };
        if let Some(what) = instances::incomplete(section, instance, table) {
            self.problem(at, &what, None);
        }
        self.table(&Within { section, instance }, table, places);
    }

    /// One entry of a list such as `[[ladder]]`.
    fn entry(&mut self, section: &'static Section, number: usize, value: &Value, place: &Place<'_>) {
        let at = place.span().start;
        let number = number.to_string();
        let (Value::Table(table), DeValue::Table(places)) = (value, place.get_ref()) else {
            let what = format!("`{}` must be a list of tables, written {}", section.name, section.heading());
            return self.problem(at, &what, None);
        };
        if let Some(what) = instances::incomplete(section, &number, table) {
            let hint = (section.name == "ladder").then(|| "set an agent, a model or args".to_owned());
            self.problem(at, &what, hint);
        }
        self.table(&Within { section, instance: &number }, table, places);
    }

    fn count(&mut self, section: &'static Section, rows: usize, name: &Name<'_>) {
        let most = instances::most_entries(section);
        if rows > most {
            let what = format!("`{}` has {rows} entries; at most {most} are allowed", section.name);
            self.problem(name.span().start, &what, None);
        }
    }

    fn table(&mut self, within: &Within<'_>, table: &Table, places: &DeTable<'_>) {
        for (name, place) in places {
            let Some(value) = table.get(name.get_ref().as_ref()) else { continue };
            self.key(within, value, name, place);
        }
    }

    fn key(&mut self, within: &Within<'_>, value: &Value, name: &Name<'_>, place: &Place<'_>) {
        let at = name.span().start;
        if let Some(list) = list_within(within.section, name.get_ref()) {
            return self.section(list, value, name, place);
        }
        let Some(key) = within.section.key(name.get_ref()) else {
            return self.unknown(within.section, name.get_ref(), at);
        };
        let full = full_name(key, within);
        match key.kind.change(value) {
            Err(Mismatch { what, hint }) => {
                // A table's value begins at its heading; its last name is nearer to the mistake.
                let at = if value.is_table() { at } else { place.span().start };
                let example =
                    || format!("for example: {} = {}", key.parts().1, key.kind.example(key.default));
                self.problem(at, &format!("`{full}` {what}"), Some(hint.unwrap_or_else(example)));
            }
            Ok(_) => match self.not_here(key, value) {
                Some(what) => {
                    let hint = "set it in your own config.toml (`ralph config edit --user`)";
                    self.problem(at, &format!("`{full}` {what}"), Some(hint.into()));
                }
                None => {
                    let line = Some(mistake::line_and_column(self.text, at).0);
                    let (value, instance) = (value.clone(), within.instance.to_string());
                    self.entries.push(Entry { key, name: full, instance, value, line });
                }
            },
        }
    }

    /// Why this file may not set this, where it may not: an agent could have written a project's file.
    fn not_here(&self, key: &Key, value: &Value) -> Option<String> {
        match key.combine {
            _ if !self.origin.is_project() => None,
            Combine::OwnOnly => Some("cannot be set in a project's file".into()),
            _ => key.kind.own_only(value),
        }
    }

    fn unknown(&mut self, section: &Section, name: &str, at: usize) {
        if matches!(self.origin, Origin::Skill(_)) {
            let own = section.own_names().collect::<Vec<_>>();
            let hint = match nearest(name, own.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("a skill can set {}; everything else belongs in ralph.toml", own.join(", ")),
            };
            return self.problem(at, &format!("unknown key `{name}` in a skill"), Some(hint));
        }
        let here = section.own_names().chain(
            SECTIONS
                .iter()
                .map(|other| other.name)
                .filter(|other| section.name.is_empty() && !other.is_empty()),
        );
        // A key that is known elsewhere is in the wrong table, or below one where it should be above.
        let elsewhere = keys().find(|key| key.parts().1 == name).map(|key| key.name);
        let hint = match (nearest(name, here), elsewhere) {
            (Some(meant), _) => Some(format!("did you mean `{meant}`?")),
            (None, Some(other)) => Some(format!("did you mean `{other}`? It belongs in another table")),
            (None, None) => Some("`ralph config explain` lists every key".into()),
        };
        let table =
            if section.name.is_empty() { String::new() } else { format!(" in {}", section.heading()) };
        self.problem(at, &format!("unknown key `{name}`{table}"), hint);
    }

    fn problem(&mut self, at: usize, what: &str, hint: Option<String>) {
        let problem = mistake::at(self.path, self.text, at, what);
        self.problems.push((at, problem.hint(hint.unwrap_or_else(|| mistake::CHECK.into()))));
    }
}

/// The key's name with the agent, the model or the number of the rung in it.
fn full_name(key: &Key, within: &Within<'_>) -> String {
    let (section, own) = (within.section.name, key.parts().1);
    match within.section.shape {
        Shape::Table => key.name.into(),
        Shape::PerModel => format!("{section}.{}.{own}", normal(within.instance)),
        Shape::PerAgent | Shape::List => format!("{section}.{}.{own}", within.instance),
    }
}
