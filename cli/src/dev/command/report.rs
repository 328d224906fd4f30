//! What `dev` tells: at the start what it serves and how each source is tried, later which events no
//! rule wants. No secret is in it.

use std::collections::BTreeMap;
use std::time::Duration;

use ackbox_config::{Config, SourceConfig};
use ackbox_domain::{EventPattern, Name};
use ackbox_receiver::Receiver;
use ackbox_secrets::Secrets;

use super::curl;
use crate::cli::ConfigOption;
use crate::output::{self, Terminal, Tone, Unwritten, escaped, quoted};

/// What is served.
pub(super) struct Serving<'c> {
    pub config: &'c Config,
    pub secrets: &'c Secrets,
    pub option: &'c ConfigOption,
    /// Where the receiver answers.
    pub url: String,
    /// Where the table is, in words.
    pub table: String,
    pub sweep_every: Duration,
    /// How a shell gets the registrar's token.
    pub token: &'c str,
}

impl Serving<'_> {
    /// Writes it.
    pub(super) async fn tell(&self, terminal: &Terminal) -> Result<(), Unwritten> {
        let dim = |text: &str| terminal.paint(Tone::Dim, text);
        let title = terminal.paint(Tone::Bold, "ackbox dev");
        terminal.line(format!("{title} at {}", self.url))?;
        let file = self.option.path();
        terminal.line(dim(&format!(
            "configuration {}; table {}; due entries are swept every {}",
            escaped(&file.display().to_string()),
            escaped(&self.table),
            humantime::format_duration(self.sweep_every),
        )))?;
        for (name, source) in &self.config.sources {
            terminal.line("")?;
            let name = terminal.paint(Tone::Bold, name.as_str());
            terminal.line(format!("source {name}  {}", dim(source.scheme.slug())))?;
            for line in self.source(source).await {
                terminal.line(line)?;
            }
        }
        terminal.line("")?;
        for line in self.registrar() {
            terminal.line(line)?;
        }
        terminal.line("")?;
        for (name, destination) in &self.config.destinations {
            let name = terminal.paint(Tone::Bold, name.as_str());
            let to = escaped(&destination.to.to_string());
            terminal.line(format!("destination {name}  {}", dim(&to)))?;
        }
        if let Some(notify) = &self.config.notify {
            let on: Vec<&str> = notify.on.iter().map(|trouble| trouble.as_str()).collect();
            let to = dim(&format!("-> {}", notify.destination));
            terminal.line(format!("trouble {}  {to}", on.join(", ")))?;
        }
        terminal.line("")?;
        terminal.line(dim(
            "curl's requests are signed as of now, and good while their timestamps are; `ackbox send` signs anew",
        ))?;
        terminal.line(dim("`ackbox list` shows what is open; Ctrl-C stops"))
    }

    /// Where jobs are bound, and how it is tried.
    fn registrar(&self) -> [String; 3] {
        let spaces = self.config.spaces();
        let spaces: Vec<&str> = spaces.iter().map(Name::as_str).collect();
        let spaces = match spaces.as_slice() {
            [] => "none: no source has a [source.NAME.job]".to_owned(),
            some => format!("job spaces {}", some.join(", ")),
        };
        let Self { url, token, .. } = self;
        [
            format!("jobs  {spaces}"),
            format!("  POST {url}/jobs, GET {url}/jobs/SPACE/ID, POST {url}/observations"),
            format!(
                "  try   curl -i {url}/jobs -H \"Authorization: Bearer {token}\" --data-binary @job.json"
            ),
        ]
    }

    async fn source(&self, source: &SourceConfig) -> Vec<String> {
        let name = &source.source.name;
        let url = format!("{}/hooks/{name}", self.url);
        let mut lines = vec![format!("  POST {url}")];
        for before in &source.source.previously {
            lines.push(format!(
                "  and   {}/hooks/{before}, its path before",
                self.url
            ));
        }
        for rule in &source.source.rules {
            let on: Vec<String> = rule.on.iter().map(pattern).collect();
            lines.push(format!(
                "    {} -> {} ({})",
                escaped(&on.join(", ")),
                rule.destination,
                rule.name
            ));
        }
        lines.push(format!("  try   ackbox send {name}{}", self.flags(&url)));
        if let Some(command) = curl::command(source, self.secrets, &url).await {
            lines.push(format!("  or    {command}"));
        }
        lines
    }

    /// What `send` needs to find the same configuration and this port.
    fn flags(&self, url: &str) -> String {
        let mut flags = String::new();
        if let Some(file) = &self.option.config {
            flags.push_str(" --config ");
            flags.push_str(&quoted(&file.display().to_string()));
        }
        let default = format!("http://127.0.0.1:{}/", crate::cli::DEFAULT_PORT);
        if !url.starts_with(&default) {
            flags.push_str(" --url ");
            flags.push_str(url);
        }
        flags
    }
}

fn pattern(pattern: &EventPattern) -> String {
    match pattern {
        EventPattern::Any => "*".to_owned(),
        EventPattern::Prefix(start) => format!("{start}*"),
        EventPattern::Exact(event) => event.clone(),
    }
}

/// The events that no rule wanted, as far as they were told.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    told: BTreeMap<(Name, String), u64>,
}

impl Ignored {
    /// Tells what came since it was told last; nothing where nothing did.
    pub(super) fn tell(&mut self, receiver: &Receiver) {
        for line in self.news(receiver.ignored()) {
            output::note(&line);
        }
    }

    fn news(&mut self, counts: Vec<(Name, String, u64)>) -> Vec<String> {
        let mut lines = Vec::new();
        for (source, event, count) in counts {
            let line = if event.is_empty() {
                format!("ignored so far: {count} without a type from {source}; no rule takes them")
            } else {
                let event = escaped(&event);
                format!("ignored so far: {count} of \"{event}\" from {source}; no rule names it")
            };
            if self.told.insert((source, event), count) != Some(count) {
                lines.push(line);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_events_are_told_by_type_and_only_once() {
        let mut ignored = Ignored::default();
        let github: Name = "github".parse().unwrap();
        let count = |event: &str, count| (github.clone(), event.to_owned(), count);
        let first = ignored.news(vec![count("ping", 1), count("", 2)]);
        assert_eq!(
            first,
            [
                "ignored so far: 1 of \"ping\" from github; no rule names it",
                "ignored so far: 2 without a type from github; no rule takes them",
            ]
        );
        assert!(
            ignored
                .news(vec![count("ping", 1), count("", 2)])
                .is_empty()
        );
        let next = ignored.news(vec![count("pi\u{1b}ng", 1), count("", 2)]);
        assert_eq!(next.len(), 1);
        assert!(!next[0].contains('\u{1b}'));
    }
}
