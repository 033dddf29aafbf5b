//! `ralph serve`: the page that shows every run. `ralph-web` is the server; here is what the command line says about it.

mod browser;

use super::{Here, board, notify, secrets};
use crate::print::{print_as_is, say};
use crate::problem::{Code, Problem};
use ralph_web::{ServeError, Server, ServerSettings, Token};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// Let the page pause, continue and stop runs, send hints and put runs away.
    #[arg(long)]
    allow_control: bool,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7257")]
    listen: SocketAddr,
    /// Further name under which browsers may reach it, with or without a port (can be repeated).
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Keep the token in this file, which is created if it is missing (default: a new token at every start).
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Serves until a signal ends the command.
pub fn serve(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let token = match &args.token_file {
        Some(path) => Token::in_file(&here.typed_in.join(path)),
        None => Token::new(),
    };
    let token = token.map_err(|error| Problem::new(Code::Input, error.to_string()))?;
    let of_secrets = here.clone();
    let server = Server::bind(ServerSettings {
        home: home.clone(),
        board: board::settings(here),
        listen: args.listen,
        hosts: args.host.clone(),
        allow_control: args.allow_control,
        token,
        redactor: Arc::new(move |workspace: &Path| secrets::redactor_anyway(workspace, &of_secrets)),
    });
    let server = server.map_err(|error| unusable(&error))?;
    announce(&server, args);
    browser::remove_old(&home);
    // Kept until the server ends: the file that leads to the page goes away with it.
    let _file = args.open.then(|| browser::open(&server.url(), &home)).flatten();
    // Notes that runs left, and crashes that nobody noted, go out for as long as it serves.
    let _notes = notify::background(&home, here);
    server.run().map_err(|error| unusable(&error))?;
    Ok(0)
}

/// The address goes to stdout, for scripts; what there is to know about it to stderr.
fn announce(server: &Server, args: &Args) {
    print_as_is(&format!("{}\n", server.url()));
    let control = match args.allow_control {
        true => "Whoever has this address can see and control your runs.",
        false => "Whoever has this address can see your runs. --allow-control lets the page control them.",
    };
    say(&format!("{control} Ctrl-C ends it.\n"));
    if server.is_open_to_others() {
        say("Nothing is encrypted: anyone on the network can read it. `ssh -L` is the safer way.\n");
    }
}

fn unusable(error: &ServeError) -> Problem {
    let code = match error {
        ServeError::NeedsHost(_) => Code::Usage,
        ServeError::Taken(..) | ServeError::Address(..) | ServeError::Start(_) => Code::Busy,
    };
    Problem::new(code, error.to_string())
}
