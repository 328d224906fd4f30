//! A folder of its own for each test, and the binary run in it with an environment of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) const CONFIG: &str = r#"
[source.shop]
scheme = "stripe"
secrets = ["env:SHOP_NEXT", "env:SHOP"]

[[source.shop.rule]]
name = "paid"
on = ["invoice.paid"]
key = ["message:id"]
destination = "mailer"

[source.reports]
scheme = "standard-webhooks"
secrets = ["env:REPORTS"]

[[source.reports.rule]]
name = "ready"
on = ["report.*"]
key = ["/data/report/number"]
destination = "mailer"

[destination.mailer]
url = "http://127.0.0.1:9/actions"
allow_private = true
idempotency = "none"
"#;

pub(crate) const SHOP: &str = "whsec_shop_current_0123456789";
pub(crate) const SHOP_NEXT: &str = "whsec_shop_next_0123456789abc";
pub(crate) const REPORTS: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A folder, and the environment of commands in it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Place {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    /// A folder with a configuration, and its secrets in the environment.
    pub(crate) fn configured() -> Self {
        let place = Self::empty()
            .with("SHOP", SHOP)
            .with("SHOP_NEXT", SHOP_NEXT)
            .with("REPORTS", REPORTS);
        place.file("ackbox.toml", CONFIG);
        place
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(have, _)| have != name);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ackbox"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments).output().unwrap())
    }

    #[track_caller]
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ended {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        ended(child.wait_with_output().unwrap())
    }
}

#[track_caller]
fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
