//! A private Redis server, and clients that speak its protocol (RESP 2).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time without a reply after which an outcome counts as unknown.
const PATIENCE: Duration = Duration::from_secs(5);

/// A `redis-server` on its own port, which is killed on drop.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    folder: PathBuf,
    is_durable: bool,
}

impl Server {
    /// Starts a server; `None` if `redis-server` is not installed. A durable server acknowledges an
    /// operation only once it is on disk.
    ///
    /// # Errors
    /// If the server does not start.
    pub fn start(is_durable: bool) -> io::Result<Option<Self>> {
        if Command::new("redis-server").arg("--version").output().is_err() {
            return Ok(None);
        }
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let name = format!("snapshot-redis-{}-{}", std::process::id(), address.port());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        let child = spawn(address, &folder, is_durable)?;
        let server = Self { child, address, folder, is_durable };
        server.wait()?;
        Ok(Some(server))
    }

    /// Returns the address at which the server listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Kills the server without notice, and starts it again.
    ///
    /// # Errors
    /// If the server does not start again.
    pub fn restart(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        self.child = spawn(self.address, &self.folder, self.is_durable)?;
        self.wait()
    }

    fn wait(&self) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = Client::connect(self.address).and_then(|mut client| client.get("k0"));
            match answer {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

fn spawn(address: SocketAddr, folder: &PathBuf, is_durable: bool) -> io::Result<Child> {
    let durable = if is_durable { "yes" } else { "no" };
    Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &address.port().to_string(), "--save", ""])
        .args(["--appendonly", durable, "--appendfsync", "always"])
        .arg("--dir")
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    replies: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    /// If no server listens there.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { replies: BufReader::new(stream), request: Vec::new() })
    }

    /// `SET key value`.
    ///
    /// # Errors
    /// If no reply comes: the outcome is unknown.
    pub fn set(&mut self, key: &str, value: i64) -> io::Result<()> {
        self.send(&["SET", key, &value.to_string()])?;
        match self.line()?.as_str() {
            "+OK" => Ok(()),
            other => Err(io::Error::other(other.to_owned())),
        }
    }

    /// `GET key`; 0 if it was never set.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn get(&mut self, key: &str) -> io::Result<i64> {
        self.send(&["GET", key])?;
        self.bulk()
    }

    /// `MGET keys`: all of them at one instant.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn mget(&mut self, keys: &[&str]) -> io::Result<Vec<i64>> {
        let request: Vec<&str> = std::iter::once("MGET").chain(keys.iter().copied()).collect();
        self.send(&request)?;
        let line = self.line()?;
        if line != format!("*{}", keys.len()) {
            return Err(io::Error::other(line));
        }
        keys.iter().map(|_| self.bulk()).collect()
    }

    /// `FLUSHALL`: no key has a value.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn clear(&mut self) -> io::Result<()> {
        self.send(&["FLUSHALL"])?;
        self.line().map(drop)
    }

    fn send(&mut self, words: &[&str]) -> io::Result<()> {
        self.request.clear();
        write!(self.request, "*{}\r\n", words.len())?;
        for word in words {
            write!(self.request, "${}\r\n{word}\r\n", word.len())?;
        }
        self.replies.get_mut().write_all(&self.request)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.replies.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// Reads a number in a bulk string; 0 if it is null.
    fn bulk(&mut self) -> io::Result<i64> {
        let line = self.line()?;
        let length: i64 = line
            .strip_prefix('$')
            .and_then(|length| length.parse().ok())
            .ok_or_else(|| io::Error::other(line.clone()))?;
        let Ok(length) = usize::try_from(length) else { return Ok(0) };
        let mut bytes = vec![0; length + 2];
        self.replies.read_exact(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes[..length]);
        text.parse().map_err(|_| io::Error::other(text.into_owned()))
    }
}
