//! A server that is measured.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A server of the program.
pub struct Served {
    process: Child,
    address: String,
    token: String,
}

impl Served {
    pub fn start(ralph: &Path, dir: &Path) -> Served {
        let mut command = in_place(ralph, dir);
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().trim_start_matches("http://").split_once("/#token=").unwrap();
        Served { address: address.into(), token: token.into(), process }
    }

    pub fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (host, token) = (&self.address, &self.token);
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        stream
    }

    pub fn get(&self, path: &str) -> usize {
        self.ask(path).read_to_end(&mut Vec::new()).unwrap()
    }

    /// Processor time so far, in clock ticks of a hundredth of a second.
    fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// Memory in use, and how much of it is not the program's own file, in MB.
    pub fn memory(&self) -> (f64, f64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let mb = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
        };
        (mb("VmRSS:"), mb("RssAnon:"))
    }

    /// Percent of a core while `work` is done.
    pub fn cpu_percent(&self, work: impl FnOnce()) -> f64 {
        let (began, before) = (Instant::now(), self.ticks());
        work();
        (self.ticks() - before) as f64 / began.elapsed().as_secs_f64()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program in the workspace and state directory of this benchmark.
pub fn in_place(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir.join("workspace")).env("XDG_STATE_HOME", dir.join("state")).env("HOME", dir);
    command.stdin(Stdio::null());
    command
}
