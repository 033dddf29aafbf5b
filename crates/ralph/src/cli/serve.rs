//! `ralph serve`: the page that shows every run. `ralph-web` is the server; here is what the command line says about it.

mod browser;

use super::{Here, board, notify, secrets};
use crate::print::{print_as_is, say};
use crate::problem::{Code, Problem};
use ralph_web::{ServeError, Server, ServerSettings, Token, TokenError};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The port that is listened on unless another is named.
const PORT: u16 = 7257;

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
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7257", value_parser = listen_address)]
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
    let token = token.map_err(|error| {
        let code = if matches!(error, TokenError::Create { .. }) { Code::Busy } else { Code::Input };
        Problem::new(code, error.to_string())
    })?;
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
        ServeError::NeedsHost(_) | ServeError::WrongHost(..) => Code::Usage,
        ServeError::Taken(..)
        | ServeError::NotLocal(..)
        | ServeError::Reserved(..)
        | ServeError::Address(..)
        | ServeError::Start(_) => Code::Busy,
    };
    Problem::new(code, error.to_string())
}

/// An address with a port, or what is missing.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    Err(match (text.trim_matches(['[', ']']).parse::<IpAddr>(), host) {
        (Ok(ip), _) => format!("the port is missing; use {}", SocketAddr::new(ip, PORT)),
        (_, "") if is_port(port) => format!("the address is missing; use 127.0.0.1:{port}"),
        _ if is_port(text) => format!("the address is missing; use 127.0.0.1:{text}"),
        (_, "localhost") => "a name is not an address; use 127.0.0.1:7257 or [::1]:7257".into(),
        _ => "use an IP address and a port, such as 127.0.0.1:7257".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_read_is_refused_with_one_that_can() {
        for good in ["127.0.0.1:0", "[::1]:7257", "0.0.0.0:80"] {
            assert!(listen_address(good).is_ok(), "{good}");
        }
        let table = [
            ("127.0.0.1", "the port is missing; use 127.0.0.1:7257"),
            ("::1", "the port is missing; use [::1]:7257"),
            ("[::1]", "the port is missing; use [::1]:7257"),
            (":8080", "the address is missing; use 127.0.0.1:8080"),
            ("8080", "the address is missing; use 127.0.0.1:8080"),
            ("localhost", "use 127.0.0.1:7257 or [::1]:7257"),
            ("localhost:8080", "use 127.0.0.1:7257 or [::1]:7257"),
            ("127.0.0.1:99999", "use an IP address and a port"),
            ("http://127.0.0.1:80", "use an IP address and a port"),
            ("", "use an IP address and a port"),
        ];
        for (text, words) in table {
            let why = listen_address(text).unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
    }
}
