//! Tools: file edits and commands that really happen, each reported as a tool use and its result. A failed
//! tool is reported to the model, as with a real agent, and the call continues.

use super::Performer;
use super::shell;
use crate::object::Object;
use crate::output::{Answer, Block};
use crate::script::Action;
use std::fs;
use std::io::Write;
use std::path::Path;

impl Performer<'_> {
    /// Performs an action that is a tool use; gives any other back.
    pub fn use_tool(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::Write { path, text } => {
                let input = self.file(&path).put("content", &text);
                self.edit("Write", input, &path, || write(&path, &text));
            }
            Action::Append { path, text } => {
                let input = self.file(&path).put("old_string", "").put("new_string", &text);
                self.edit("Edit", input, &path, || append(&path, &text));
            }
            Action::Replace { path, old, new } => {
                let input = self.file(&path).put("old_string", &old).put("new_string", &new);
                self.edit("Edit", input.put("replace_all", false), &path, || replace(&path, &old, &new));
            }
            Action::Delete(path) => {
                self.edit("Bash", bash(&format!("rm -r {path}")), &path, || delete(&path));
            }
            Action::Mkdir(path) => {
                self.tool("Bash", bash(&format!("mkdir -p {path}")), || {
                    answer(fs::create_dir_all(&path), "")
                });
            }
            Action::Run(command) => {
                self.tests = Some(!self.tool("Bash", bash(&command), || shell::run(&command)).failed);
            }
            Action::Commit(message) => {
                let shown = format!("git add -A && git commit -m \"{message}\"");
                self.tool("Bash", bash(&shown), || shell::commit(&message));
            }
            Action::Deny { tool, detail } => self.denied(&tool, &detail),
            Action::Secret(names) => {
                let found = self.secrets(&names);
                self.tool("Bash", bash(&format!("printenv {}", names.join(" "))), || Answer::good(found));
            }
            other => return Some(other),
        }
        None
    }

    /// Says the tool use, with the words that waited for it, does the work, says the answer.
    pub fn tool(&mut self, name: &str, input: Object, work: impl FnOnce() -> Answer) -> Answer {
        let id = self.ask(name, input);
        let answer = work();
        self.output.answer(&id, &answer);
        answer
    }

    /// The tool use alone; returns its id.
    pub fn ask(&mut self, name: &str, input: Object) -> String {
        let id = self.output.ids.named("toolu");
        let words = self.pending.take();
        let mut blocks: Vec<Block<'_>> = words.as_deref().map(Block::Text).into_iter().collect();
        blocks.push(Block::Tool { id: &id, name, input });
        self.output.turn(&blocks, "tool_use", self.cost);
        id
    }

    fn edit(&mut self, name: &str, input: Object, path: &str, work: impl FnOnce() -> Answer) {
        if !self.tool(name, input, work).failed {
            self.changed.insert(path.to_owned());
        }
    }

    fn denied(&mut self, tool: &str, detail: &str) {
        let input = match tool {
            "Bash" => bash(detail),
            _ => self.file(detail),
        };
        let id = self.ask(tool, input.clone());
        self.output.refuse(&id, tool, &input);
    }

    fn secrets(&self, names: &[String]) -> String {
        let line = |name: &String| match (self.given.env)(name) {
            Some(value) => format!("{name}={}", value.to_string_lossy()),
            None => format!("{name} is not set"),
        };
        names.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The input of a file tool. Claude names files by their whole path.
    fn file(&self, path: &str) -> Object {
        Object::new().put("file_path", Path::new(&self.output.info().cwd).join(path).to_string_lossy())
    }
}

/// The input of the shell tool.
pub fn bash(command: &str) -> Object {
    Object::new().put("command", command)
}

fn write(path: &str, text: &str) -> Answer {
    let parent = Path::new(path).parent().map_or(Ok(()), fs::create_dir_all);
    answer(parent.and_then(|()| fs::write(path, text)), &format!("File created successfully at: {path}"))
}

fn append(path: &str, text: &str) -> Answer {
    let file = fs::File::options().append(true).create(true).open(path);
    answer(
        file.and_then(|mut file| file.write_all(text.as_bytes())),
        &format!("The file {path} has been updated."),
    )
}

fn replace(path: &str, old: &str, new: &str) -> Answer {
    match fs::read_to_string(path) {
        Ok(text) if text.contains(old) => {
            answer(fs::write(path, text.replacen(old, new, 1)), &format!("The file {path} has been updated."))
        }
        Ok(_) => Answer::bad(format!("String to replace not found in file.\nString: {old}")),
        Err(error) => Answer::bad(format!("{path}: {error}")),
    }
}

fn delete(path: &str) -> Answer {
    let directory = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    answer(if directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }, "")
}

fn answer(done: std::io::Result<()>, good: &str) -> Answer {
    match done {
        Ok(()) => Answer::good(good),
        Err(error) => Answer::bad(error.to_string()),
    }
}
