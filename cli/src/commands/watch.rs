//! The same again and again on a terminal: a drawing comes in, and stands in the place of the one before until
//! Ctrl-C. Nothing of the terminal is changed that would have to be changed back.

use std::process::ExitCode;
use std::time::Duration;

use console::Term;
use tokio::time::sleep;

use crate::commands::CommandError;
use crate::output::{Terminal, Tone, Unwritten};

/// Whether, and how often.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Watch {
    /// Show it again every so many seconds, on a terminal, until Ctrl-C
    #[arg(
        long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", conflicts_with = "json",
        value_parser = clap::value_parser!(u16).range(1..=3600)
    )]
    watch: Option<u16>,
}

impl Watch {
    /// Whether it is to be shown again and again.
    ///
    /// # Errors
    ///
    /// Standard output is no terminal.
    pub fn is_wanted(self) -> Result<bool, CommandError> {
        if self.watch.is_some() && !Term::stdout().is_term() {
            return Err(CommandError::Usage(
                "--watch draws on a terminal, and standard output is none: leave it away"
                    .to_owned(),
            ));
        }
        Ok(self.watch.is_some())
    }

    /// Draws until Ctrl-C. What fails later than the first time is shown, and tried again.
    ///
    /// # Errors
    ///
    /// It cannot be drawn the first time, or the terminal cannot be written to.
    pub async fn draw(
        self,
        terminal: &Terminal,
        mut text: impl AsyncFnMut() -> Result<String, CommandError>,
    ) -> Result<ExitCode, CommandError> {
        let every = self.watch.unwrap_or(2);
        let screen = Term::stdout();
        let mut is_first = true;
        // One for all: a signal between two waits is not lost.
        let mut stop = std::pin::pin!(interrupted());
        loop {
            let drawn = tokio::select! {
                drawn = text() => drawn,
                () = &mut stop => return Ok(ExitCode::SUCCESS),
            };
            let text = match drawn {
                Ok(text) => text,
                Err(error) if is_first => return Err(error),
                Err(error) => terminal.paint(Tone::Bad, &format!("{error}; trying again")),
            };
            is_first = false;
            let head = format!("every {every}s; Ctrl-C ends it");
            let text = fitting(&text, usize::from(screen.size().0).saturating_sub(2));
            let text = format!("{}\n{text}", terminal.paint(Tone::Dim, &head));
            screen
                .clear_screen()
                .and_then(|()| screen.write_line(&text))
                .map_err(Unwritten::from)?;
            tokio::select! {
                () = sleep(Duration::from_secs(every.into())) => {}
                () = &mut stop => return Ok(ExitCode::SUCCESS),
            }
        }
    }
}

/// Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// As many lines as there is room for; the rest would push the first ones away.
fn fitting(text: &str, room: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if room == 0 || lines.len() <= room {
        return text.to_owned();
    }
    let shown = room - 1;
    let more = format!(".. {} lines more", lines.len() - shown);
    let shown = lines.into_iter().take(shown);
    let shown: Vec<&str> = shown.chain([more.as_str()]).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_counted() {
        assert_eq!(fitting("a\nb\nc", 3), "a\nb\nc");
        assert_eq!(fitting("a\nb\nc\nd", 3), "a\nb\n.. 2 lines more");
        assert_eq!(fitting("a\nb", 0), "a\nb");
    }
}
