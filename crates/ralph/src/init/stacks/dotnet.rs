//! .NET: a solution or a project. Where several lie in one directory, `dotnet` wants to hear which.

use crate::init::found::{Found, Stack, Use, quoted};
use crate::init::look::Look;

/// A solution, or a single project.
pub fn find(look: &Look) -> Option<Found> {
    let solutions: Vec<&str> = look.ending(&[".sln", ".slnx"]).collect();
    let projects: Vec<&str> = look.ending(&[".csproj", ".fsproj", ".vbproj"]).collect();
    let by = *solutions.first().or(projects.first())?;
    let which = if solutions.len() + projects.len() > 1 { format!(" {}", quoted(by)) } else { String::new() };
    Some(
        Found::new(Stack::DotNet, by)
            .check(Use::Test, Some(format!("dotnet test{which}")))
            .check(Use::Lint, Some(format!("dotnet format{which} --verify-no-changes")))
            .check(Use::Build, Some(format!("dotnet build{which}"))),
    )
}
