//! One thing that an operator does: what it is comes in, and is said and asked for before it is done; what became
//! of it goes out, for people and for programs.

use std::process::ExitCode;

use ackbox_domain::operator::Refusal;
use ackbox_domain::{ActionKey, OutboxEntry};
use ackbox_store::{Heard, Story};
use serde_json::{Value, json};

use crate::commands::CommandError;
use crate::commands::operator::{Chosen, Operator};
use crate::commands::table::Opened;
use crate::output::{self, Terminal, escaped};

/// What is to be done, before it is.
#[derive(Debug)]
pub struct Intent {
    /// One sentence for the question and the dry run.
    pub says: String,
    /// For programs: an object.
    pub json: Value,
}

/// What became of it.
#[derive(Debug)]
pub struct Done {
    is_done: bool,
    says: String,
    json: Value,
}

/// Whether it is agreed to.
#[derive(Debug)]
pub enum Agreed {
    /// By whom.
    By(String),
    /// It is not, or only to be said.
    Not(Done),
}

impl Done {
    /// Nothing was done, and why.
    pub fn refused(why: impl Into<String>) -> Self {
        let says = why.into();
        let json = json!({"refused": says});
        Self {
            is_done: false,
            says,
            json,
        }
    }

    /// It is done, or would be.
    pub fn written(says: impl Into<String>, json: Value) -> Self {
        Self {
            is_done: true,
            says: says.into(),
            json,
        }
    }

    /// Tells it. The exit code is 1 where it was not done.
    ///
    /// # Errors
    ///
    /// Standard output cannot be written to.
    pub fn tell(
        self,
        operator: &Operator,
        as_json: bool,
        terminal: &Terminal,
    ) -> Result<ExitCode, CommandError> {
        if as_json {
            let mut object = self.json;
            object["done"] = json!(self.is_done && !operator.dry_run);
            object["dry_run"] = json!(operator.dry_run);
            terminal.line(object.to_string())?;
        } else if self.is_done {
            terminal.line(self.says)?;
        } else {
            output::note(&self.says);
        }
        Ok(if self.is_done {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

impl Operator {
    /// Says what is to be done, and asks where somebody is there to be asked.
    ///
    /// # Errors
    ///
    /// Nobody knows who does it.
    pub async fn agreed(&self, opened: &Opened, intent: &Intent) -> Result<Agreed, CommandError> {
        let Intent { says, json } = intent;
        if self.dry_run {
            let says = format!("{says} Nothing was done: --dry-run");
            return Ok(Agreed::Not(Done::written(says, json.clone())));
        }
        let by = self.who(opened).await?;
        if !self.confirm(Chosen::ByName, says)? {
            return Ok(Agreed::Not(Done::refused("nothing was done")));
        }
        Ok(Agreed::By(by))
    }
}

/// How an entry stands: `held (outcome-unknown)`.
pub fn standing(entry: &OutboxEntry) -> String {
    match &entry.reason {
        Some(reason) => format!("{} ({})", entry.state, escaped(reason)),
        None => entry.state.to_string(),
    }
}

/// Why a word does not fit, and what to write instead.
pub fn refused(refusal: &Refusal, key: &ActionKey) -> String {
    let instead = match refusal {
        Refusal::UnderWay { .. } => "say it again when that is over".to_owned(),
        Refusal::Delivered => {
            format!("`ackbox redrive {key} --as-new` sends it once more, under a new key")
        }
        Refusal::Replaced => format!("`ackbox show {key}` names that one"),
        Refusal::IsDead => format!("`ackbox redrive {key}` sends it again"),
        Refusal::StillOpen(_) => {
            format!("say first that it is not: `ackbox resolve {key} --dead`")
        }
        Refusal::PastWindow { .. } | Refusal::NewKey { .. } => {
            "--past-window does it all the same".to_owned()
        }
        Refusal::Elsewhere { .. } => "--force does it all the same".to_owned(),
        Refusal::IsDue | Refusal::StandsSo(_) | Refusal::NoDoubt => return refusal.to_string(),
    };
    format!("{refusal}; {instead}")
}

/// Why nothing was written. `None`: it was.
pub fn unheard(heard: &Heard) -> Option<String> {
    Some(match heard {
        Heard::Written => return None,
        Heard::Moved(Some(stands)) => {
            format!("somebody was faster: it is {} now", standing(stands))
        }
        Heard::Moved(None) => {
            "somebody was faster: it is closed, has changed, or is gone".to_owned()
        }
        Heard::NoBody => NO_BODY.to_owned(),
        Heard::MadeBefore => "the new action is there already, from before".to_owned(),
    })
}

/// What cannot be sent.
pub const NO_BODY: &str = "its body is gone: there is nothing to send";

/// What is said of an action of which the table has no entry.
pub const NO_ENTRY: &str = "the table has no entry of it (a closed one expires)";

/// What of an action cannot be read, if anything.
pub fn unreadable(story: &Story) -> Option<String> {
    let (sort_key, error) = story.unreadable.first()?;
    let (sort_key, error) = (escaped(sort_key), escaped(&error.to_string()));
    Some(format!("its {sort_key} cannot be read: {error}"))
}
