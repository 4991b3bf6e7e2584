//! A page in a browser without a window: what it says, what it asks for, how wide it is.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the browser is called. Chromium as such does not do: it asks its maker for this and that at
/// every start, so that what the page asks for could not be told from that.
pub(super) const NAMES: [&str; 2] = ["chromium-headless-shell", "chrome-headless-shell"];

/// Across a phone.
const PHONE: u32 = 390;

/// The browser that is installed, if one is.
pub(super) fn installed() -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    NAMES.iter().find(is_there).copied()
}

/// All that is wrong with a page in a browser.
pub(super) fn faults(program: &str, page: &Path) -> Vec<String> {
    let (Opened { dom, said }, asked) = watched(|proxy| open(program, page, proxy));
    let mut faults: Vec<String> = said.iter().map(|line| format!("console: {line}")).collect();
    faults.extend(asked.iter().map(|line| format!("asked for something outside: {line}")));
    if !dom.contains("</html>") {
        faults.push("the browser showed nothing".to_owned());
    }
    faults.extend(sideways(program, page));
    faults
}

/// Whether a page is wider than a phone. A copy of it has a script that measures it, which needs a
/// copy without policy.
fn sideways(program: &str, page: &Path) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("measured.html");
    let html = std::fs::read_to_string(page).unwrap();
    let script = "<script>addEventListener('load', () => {\
        document.title = `measured ${innerWidth} ${document.documentElement.scrollWidth} `;\
        })</script></head>";
    let html = html.replace("Content-Security-Policy", "x-none").replacen("</head>", script, 1);
    std::fs::write(&copy, html).unwrap();
    let (opened, _) = watched(|proxy| open(program, &copy, proxy));
    let measured = opened.dom.split_once("<title>measured ").map_or("", |(_, rest)| rest);
    let mut widths = measured.split(' ').map_while(|width| width.parse::<u32>().ok());
    match (widths.next(), widths.next()) {
        (Some(PHONE), Some(width)) if width <= PHONE => None,
        (Some(PHONE), Some(width)) => {
            Some(format!("scrolls sideways: {width} px on a phone of {PHONE} px"))
        }
        (window, _) => Some(format!("could not be measured: a window of {window:?} px")),
    }
}

/// A page as the browser left it.
struct Opened {
    dom: String,
    /// What it said of the page.
    said: Vec<String>,
}

fn open(program: &str, page: &Path, proxy: SocketAddr) -> Opened {
    let profile = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--timeout=60000", "--dump-dom", "--hide-scrollbars"])
        .arg(format!("--window-size={PHONE},844"))
        .arg(format!("--proxy-server={proxy}"))
        .arg("--proxy-bypass-list=<-loopback>")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{program}: {status}\n{stderr}");
    let said = stderr.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    Opened { dom: String::from_utf8_lossy(&stdout).into_owned(), said }
}

/// Runs something with the address of a proxy that answers nothing, and gives what it was asked
/// for.
fn watched<T>(run: impl FnOnce(SocketAddr) -> T) -> (T, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let is_watched = Arc::clone(&is_over);
    let watcher = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for stream in listener.incoming() {
            if is_watched.load(Ordering::SeqCst) {
                break;
            }
            let mut line = String::new();
            let _ = BufReader::new(stream.unwrap()).read_line(&mut line);
            asked.push(line.trim_end().to_owned());
        }
        asked
    });
    let done = run(address);
    is_over.store(true, Ordering::SeqCst);
    // The watcher waits for one more.
    drop(TcpStream::connect(address).unwrap());
    (done, watcher.join().unwrap())
}
