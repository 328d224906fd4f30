//! Who changes something, and why: the options that all changing commands share, what the table's place
//! says of who it is, and the question before it is done. What must never happen: a change of many things
//! that nobody has agreed to, or one of which the record does not say who made it.

use std::io::{self, BufRead, IsTerminal as _, Write};
use std::time::Duration;

use ackbox_domain::Timestamp;
use ackbox_store::OperatorRecord;
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;

use crate::commands::CommandError;
use crate::commands::table::{Opened, Place};
use crate::edge;
use crate::output::escaped;

/// The longest name, and the longest reason, in bytes: both stand beside what they are about.
const NAME_MAX: usize = 128;
const REASON_MAX: usize = 1024;

/// How long AWS may take to say who is calling.
const ASKING: Duration = Duration::from_secs(10);

/// What every command that changes something is told.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Operator {
    /// Who does it, for the record [default: the caller identity in AWS, else the user of this machine]
    #[arg(long, help_heading = "Operator", value_name = "NAME", value_parser = name)]
    pub by: Option<String>,
    /// Why, for the record
    #[arg(long, help_heading = "Operator", value_name = "TEXT", value_parser = reason)]
    pub reason: Option<String>,
    /// Say what would be done, and do nothing
    #[arg(long, help_heading = "Operator")]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, help_heading = "Operator")]
    pub yes: bool,
}

/// How it is said what is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Each by its name or key.
    ByName,
    /// Whatever a filter finds.
    ByFilter,
}

/// Where a question is asked, and its answer read.
pub struct Prompt<'a> {
    /// Whether somebody is there to answer.
    pub is_terminal: bool,
    /// What is answered.
    pub input: &'a mut dyn BufRead,
    /// What is asked.
    pub output: &'a mut dyn Write,
}

impl Operator {
    /// Who does it: as they say, else as AWS knows them where the table is there, else the user of this machine.
    ///
    /// # Errors
    ///
    /// Nobody knows. The message asks for `--by`.
    pub async fn who(&self, opened: &Opened) -> Result<String, CommandError> {
        if let Some(by) = &self.by {
            return Ok(by.clone());
        }
        match &opened.place {
            Place::Aws(sdk) => caller(sdk).await,
            Place::File(_) | Place::Endpoint(_) => user(edge::environment),
        }
    }

    /// Whether it is to be done. On a terminal it is asked for on standard error; elsewhere what is named is
    /// done, and what a filter finds only with `--yes`. Never in a dry run, which is not asked about.
    ///
    /// # Errors
    ///
    /// Nobody is there to be asked, or the question cannot be put.
    pub fn confirm(&self, chosen: Chosen, question: &str) -> Result<bool, CommandError> {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let prompt = Prompt {
            is_terminal,
            input: &mut io::stdin().lock(),
            output: &mut io::stderr(),
        };
        self.confirm_on(prompt, chosen, question)
    }

    /// [`Operator::confirm`], there.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn confirm_on(
        &self,
        prompt: Prompt<'_>,
        chosen: Chosen,
        question: &str,
    ) -> Result<bool, CommandError> {
        if self.dry_run {
            return Ok(false);
        }
        if self.yes {
            return Ok(true);
        }
        match (prompt.is_terminal, chosen) {
            (false, Chosen::ByName) => Ok(true),
            (false, Chosen::ByFilter) => Err(CommandError::Usage(format!(
                "nothing was done, for nobody is there to be asked: say --yes. What would be done: {question}"
            ))),
            (true, _) => prompt
                .ask(question)
                .map_err(|error| CommandError::failed("cannot ask on the terminal", error)),
        }
    }

    /// What stands on the record of something that was done.
    pub fn record(
        &self,
        by: &str,
        did: impl Into<String>,
        detail: Option<String>,
        at: Timestamp,
    ) -> OperatorRecord {
        OperatorRecord {
            at,
            by: by.to_owned(),
            did: did.into(),
            detail,
            number: None,
            reason: self.reason.clone(),
        }
    }
}

impl Prompt<'_> {
    /// Whether it is agreed to: only "y" and "yes" are.
    fn ask(self, question: &str) -> io::Result<bool> {
        write!(self.output, "{question} Do it? [y/N] ")?;
        self.output.flush()?;
        let mut answer = String::new();
        if self.input.read_line(&mut answer)? == 0 {
            // The end of the input leaves the question's line open.
            writeln!(self.output)?;
        }
        let answer = answer.trim();
        Ok(["y", "yes"]
            .iter()
            .any(|yes| answer.eq_ignore_ascii_case(yes)))
    }
}

/// As AWS knows whoever calls. Needs no permission.
async fn caller(sdk: &SdkConfig) -> Result<String, CommandError> {
    let timeouts = TimeoutConfig::builder().operation_timeout(ASKING).build();
    let config = aws_sdk_sts::config::Builder::from(sdk)
        .timeout_config(timeouts)
        .build();
    let asked = aws_sdk_sts::Client::from_conf(config)
        .get_caller_identity()
        .send()
        .await;
    let unknown = "AWS does not say who is calling: say who you are with --by NAME";
    match asked {
        Ok(identity) => match identity.arn.as_deref().map(name) {
            Some(Ok(arn)) => Ok(arn),
            _ => Err(CommandError::Usage(unknown.to_owned())),
        },
        Err(error) => Err(CommandError::failed(
            unknown,
            aws_sdk_sts::Error::from(error),
        )),
    }
}

/// The user of this machine.
fn user(environment: impl Fn(&str) -> Option<String>) -> Result<String, CommandError> {
    let user = ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(environment);
    user.and_then(|user| name(&user).ok()).ok_or_else(|| {
        CommandError::Usage("nobody says who you are: say it with --by NAME".to_owned())
    })
}

fn name(text: &str) -> Result<String, String> {
    plain(text, NAME_MAX)
}

fn reason(text: &str) -> Result<String, String> {
    plain(text, REASON_MAX)
}

/// A text for the record: one line, nothing that steers a terminal.
fn plain(text: &str, max: usize) -> Result<String, String> {
    let text = text.trim();
    if escaped(text) != text {
        return Err("it has control characters: write it in one line of plain text".to_owned());
    }
    match text.len() {
        0 => Err("it is empty".to_owned()),
        length if length > max => Err(format!("it has {length} bytes; at most {max} are kept")),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(
        operator: &Operator,
        is_terminal: bool,
        chosen: Chosen,
        answer: &str,
    ) -> (Result<bool, ()>, String) {
        let mut output = Vec::new();
        let prompt = Prompt {
            is_terminal,
            input: &mut answer.as_bytes(),
            output: &mut output,
        };
        let agreed = operator.confirm_on(prompt, chosen, "2 entries are sent again.");
        (agreed.map_err(drop), String::from_utf8(output).unwrap())
    }

    #[test]
    fn on_a_terminal_only_a_yes_is_one() {
        let operator = Operator::default();
        for (answer, agreed) in [
            ("y\n", true),
            ("YES\n", true),
            (" y \r\n", true),
            ("\n", false),
            ("yess\n", false),
            ("n\n", false),
            ("", false),
        ] {
            for chosen in [Chosen::ByName, Chosen::ByFilter] {
                let (got, said) = asked(&operator, true, chosen, answer);
                assert_eq!(got, Ok(agreed), "{answer:?}");
                assert!(said.starts_with("2 entries are sent again. Do it? [y/N] "));
            }
        }
    }

    #[test]
    fn where_nobody_is_asked_what_is_named_is_done_and_what_a_filter_finds_is_not() {
        let operator = Operator::default();
        let (named, said) = asked(&operator, false, Chosen::ByName, "");
        assert_eq!((named, said.as_str()), (Ok(true), ""));
        let (filtered, said) = asked(&operator, false, Chosen::ByFilter, "y\n");
        assert_eq!((filtered, said.as_str()), (Err(()), ""));
        let yes = Operator {
            yes: true,
            ..Operator::default()
        };
        let (filtered, said) = asked(&yes, false, Chosen::ByFilter, "");
        assert_eq!((filtered, said.as_str()), (Ok(true), ""));
    }

    #[test]
    fn a_dry_run_asks_nothing_and_agrees_to_nothing() {
        let dry = Operator {
            dry_run: true,
            yes: true,
            ..Operator::default()
        };
        for is_terminal in [false, true] {
            let (agreed, said) = asked(&dry, is_terminal, Chosen::ByName, "y\n");
            assert_eq!((agreed, said.as_str()), (Ok(false), ""));
        }
    }

    #[test]
    fn a_name_is_one_line_of_plain_text_of_a_bounded_length() {
        assert_eq!(name("  Zoë (on call) ").as_deref(), Ok("Zoë (on call)"));
        assert!(name(&"x".repeat(128)).is_ok() && name(&"x".repeat(129)).is_err());
        for wrong in ["", "  ", "a\nb", "a\u{1b}[2Jb", "a\u{202e}b", "a\u{7f}b"] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_user_of_the_machine_is_who_the_environment_says() {
        let of = |have: &'static str| move |name: &str| (name == have).then(|| "ada".to_owned());
        assert_eq!(user(of("USER")).unwrap(), "ada");
        assert_eq!(user(of("USERNAME")).unwrap(), "ada");
        let nobody = user(of("HOME")).unwrap_err().to_string();
        assert!(nobody.contains("--by"), "{nobody}");
        assert!(user(|_| Some("\u{1b}".to_owned())).is_err());
    }
}
