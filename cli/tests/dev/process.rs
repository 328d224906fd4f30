use std::path::Path;
use std::process::{ExitStatus, Stdio};

use ackbox::demo::destination::{Behaviour, Destination};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::{SECRET, accepted, config, post, send};

/// `ackbox dev`, running.
struct Dev {
    child: Child,
    /// Where it receives.
    url: String,
    /// What it wrote to standard output, up to its last line of the start.
    said: String,
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackbox"));
    command
        .args(["dev", "--sweep-every", "200ms", "--log", "json"])
        .current_dir(folder)
        .env_clear()
        .env("REPO_SECRET", SECRET)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

impl Dev {
    async fn start(folder: &Path) -> Self {
        let mut command = command(folder);
        command.args(["--port", "0"]).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            said.push_str(&line);
            said.push('\n');
            if line.contains("Ctrl-C") {
                break;
            }
        }
        let first = said.lines().next().unwrap_or_default();
        let (_, url) = first.rsplit_once(' ').unwrap_or_default();
        assert!(url.starts_with("http://127.0.0.1:"), "{said}");
        Self {
            child,
            url: url.to_owned(),
            said,
        }
    }

    async fn terminate(&mut self) -> ExitStatus {
        let pid = self.child.id().unwrap().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status().await;
        assert!(told.unwrap().success());
        self.child.wait().await.unwrap()
    }
}

/// Runs it to its end; gives its exit code and what it said on standard error.
async fn failed(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

async fn folder(destination: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ackbox.toml"), config(destination)).unwrap();
    folder
}

#[tokio::test]
async fn it_says_what_it_serves_and_how_to_try_it_and_never_a_secret() {
    let folder = folder("http://127.0.0.1:9/in?key=hidden").await;
    let mut dev = Dev::start(folder.path()).await;
    let said = &dev.said;
    assert!(said.contains("source repo"), "{said}");
    assert!(
        said.contains(&format!("ackbox send repo --url {}", dev.url)),
        "{said}"
    );
    assert!(said.contains("curl -i"), "{said}");
    assert!(!said.contains(SECRET) && !said.contains("hidden"), "{said}");
    assert!(dev.terminate().await.success());
}

#[tokio::test]
async fn the_previous_paths_of_a_source_are_told_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let renamed = config("http://127.0.0.1:9/in").replace(
        "[source.repo]",
        "[source.repo]\npreviously = [\"hub\", \"forge\"]",
    );
    std::fs::write(folder.path().join("ackbox.toml"), renamed).unwrap();
    let mut dev = Dev::start(folder.path()).await;
    let (said, url) = (&dev.said, &dev.url);
    for previous in ["hub", "forge"] {
        let line = format!("  and   {url}/hooks/{previous}, its path before");
        assert!(said.contains(&line), "{said}");
        let (status, outcome) = post(url, &format!("/hooks/{previous}"), "", "{}").await;
        assert_eq!((status, outcome.as_str()), (401, "refused"));
    }
    assert!(dev.terminate().await.success());
}

#[tokio::test]
async fn what_was_accepted_outlives_a_kill_in_the_middle_of_an_attempt() {
    let destination = Destination::start(|request| match request.seen {
        1 => Behaviour::Stall,
        _ => Behaviour::status(200),
    });
    let destination = destination.await.unwrap();
    let folder = folder(&destination.url("/in")).await;
    let mut dev = Dev::start(folder.path()).await;
    assert_eq!(send(&dev.url, "{\"id\":1}").await, accepted());
    destination.until(|received| received.len() == 1).await;
    // SIGKILL.
    dev.child.kill().await.unwrap();

    let mut dev = Dev::start(folder.path()).await;
    destination.until(|received| received.len() == 2).await;
    let received = destination.received();
    assert_eq!(received[0].key, received[1].key);
    assert_eq!(send(&dev.url, "{\"id\":1}").await.1, "duplicate");
    assert!(dev.terminate().await.success());
}

#[tokio::test]
async fn stopped_in_order_it_ends_well_and_leaves_no_announcement() {
    let folder = folder("http://127.0.0.1:9/in").await;
    let announcement = folder.path().join(".ackbox/dev.db.endpoint");
    let mut dev = Dev::start(folder.path()).await;
    assert!(announcement.is_file());
    assert!(dev.terminate().await.success());
    assert!(!announcement.exists());
    let mut again = Dev::start(folder.path()).await;
    assert!(again.terminate().await.success());
}

#[tokio::test]
async fn a_taken_port_is_told_with_the_option_that_chooses_another() {
    let folder = folder("http://127.0.0.1:9/in").await;
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = command(folder.path());
    command.args(["--port", &port]);
    let (code, said) = failed(command).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&port) && said.contains("--port"), "{said}");
}

#[tokio::test]
async fn a_table_file_in_use_is_told_with_who_uses_it() {
    let folder = folder("http://127.0.0.1:9/in").await;
    let _dev = Dev::start(folder.path()).await;
    let mut command = command(folder.path());
    command.args(["--port", "0"]);
    let (code, said) = failed(command).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("in use") && said.contains("--db"), "{said}");
}

#[tokio::test]
async fn a_wrong_configuration_is_told_with_its_place_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said) = failed(command(folder.path())).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("ackbox.toml"), "{said}");
    std::fs::write(
        folder.path().join("ackbox.toml"),
        "[source.x]\nshceme = 1\n",
    )
    .unwrap();
    let (code, said) = failed(command(folder.path())).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("ackbox.toml:2:1"), "{said}");
    assert!(!folder.path().join(".ackbox").exists());
}

#[tokio::test]
async fn a_secret_that_is_wanting_is_told_with_what_to_export() {
    let folder = folder("http://127.0.0.1:9/in").await;
    let mut command = command(folder.path());
    command
        .args(["--port", "0"])
        .env_remove("REPO_SECRET")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let mut said = String::new();
    while !said.contains("export REPO_SECRET=") {
        let mut some = [0; 256];
        let count = errors.read(&mut some).await.unwrap();
        assert_ne!(count, 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&some[..count]));
    }
    assert!(said.contains("source repo"), "{said}");
}

#[tokio::test]
async fn the_registrar_answers_who_has_the_token_also_where_no_source_has_jobs() {
    let folder = folder("http://127.0.0.1:9/in").await;
    let mut dev = Dev::start(folder.path()).await;
    let file = folder.path().join(".ackbox/token");
    let token = std::fs::read_to_string(&file).unwrap();
    let token = token.trim();
    assert!(!dev.said.contains(token), "{}", dev.said);
    assert!(
        dev.said.contains("Bearer $(cat .ackbox/token)"),
        "{}",
        dev.said
    );
    let job = r#"{"space":"repo","job_id":"1","tenant":"t","attempt":1,"steps":[{"step":"s","on":["x"],"destination":"app"}]}"#;
    assert_eq!(post(&dev.url, "/jobs", "", job).await.0, 401);
    let shown = format!("authorization: Bearer {token}\r\n");
    let answer = post(&dev.url, "/jobs", &shown, job).await;
    assert_eq!(answer, (400, "unknown-space".to_owned()));
    assert!(dev.terminate().await.success());
    // It is the same after a restart.
    Dev::start(folder.path()).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), token);
}
