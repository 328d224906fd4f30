//! Changes of pauses, one destination after the other: what stands is read, what is to stand instead is said and
//! agreed to, and then written where it still stands so. Ended at any point, each destination is as it was or as
//! it was to be; doing it again does the rest.

use std::process::ExitCode;
use std::time::Duration;

use ackbox_domain::causes::in_one_line;
use ackbox_domain::{Name, OperatorPause, PauseRecord, Timestamp};
use ackbox_store::{PauseChange, Store, StoreError};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Names, now};
use crate::cli::ConfigOption;
use crate::commands::CommandError;
use crate::commands::operator::Operator;
use crate::commands::paused::Paused;
use crate::commands::table::{self, Opened};
use crate::output::{self, Terminal, Tone, escaped};

/// How long one change may take.
const WITHIN: Duration = Duration::from_secs(10);

/// How often a change is made anew because a breaker changed the record in between.
const TRIES: u32 = 5;

/// What is done to a destination.
pub(in crate::commands) trait Change {
    /// The word for the record.
    fn did(&self) -> &'static str;
    /// What is agreed to, of so many.
    fn question(&self, many: usize) -> String;
    /// What is to become of what stands.
    fn plan(&self, name: &Name, seen: &PauseRecord, by: &str, now: Timestamp) -> Plan;
}

/// What is to become of one destination.
pub(in crate::commands) enum Plan {
    /// Nothing: it stands so already, in words.
    Nothing(String),
    /// This is to stand, in words.
    Write {
        next: Option<OperatorPause>,
        words: String,
    },
}

/// What became of it.
enum Done {
    Nothing(String),
    Changed {
        words: String,
        stands: PauseRecord,
    },
    WouldChange(String),
    Overtaken(PauseRecord),
    Failed(StoreError),
    /// After one that failed.
    NotTried,
}

/// Several changes at once.
pub(in crate::commands) struct Changes<'c> {
    pub(in crate::commands) what: &'c dyn Change,
    pub(in crate::commands) names: &'c Names,
    pub(in crate::commands) operator: &'c Operator,
    pub(in crate::commands) config: &'c ConfigOption,
    pub(in crate::commands) json: bool,
}

impl Changes<'_> {
    /// Makes them.
    ///
    /// # Errors
    ///
    /// Nothing was done: a destination is not known, the table cannot be read, or it was not agreed to.
    pub(in crate::commands) async fn run(
        &self,
        opened: &Opened,
        terminal: &Terminal,
    ) -> Result<ExitCode, CommandError> {
        let store = &opened.store;
        let names = self.names.find(store, self.config).await?;
        let by = self.operator.who(opened).await?;
        let (mut seen, mut done) = (Vec::new(), Vec::new());
        for name in names {
            match store.pause_now(&name).await {
                Ok(record) => seen.push((name, record)),
                // One that cannot be read must not stand in the way of the others.
                Err(error @ StoreError::Item(_)) => done.push((name, Done::Failed(error))),
                Err(error) => return Err(table::unread(error)),
            }
        }
        let plan = |(name, record): &(Name, PauseRecord)| self.what.plan(name, record, &by, now());
        let plans: Vec<Plan> = seen.iter().map(plan).collect();
        let many = plans.iter().filter(|p| matches!(p, Plan::Write { .. }));
        let many = many.count();
        if many > 0 && !self.operator.dry_run {
            self.say(&seen, &plans);
            let question = self.what.question(many);
            if !self.operator.confirm(self.names.chosen(), &question)? {
                output::note("nothing was changed");
                return Ok(ExitCode::FAILURE);
            }
        }
        let mut has_failed = false;
        for ((name, record), plan) in seen.into_iter().zip(plans) {
            let became = match plan {
                Plan::Nothing(words) => Done::Nothing(words),
                Plan::Write { words, .. } if self.operator.dry_run => Done::WouldChange(words),
                Plan::Write { .. } if has_failed => Done::NotTried,
                Plan::Write { .. } => self.change(store, &name, record, &by).await,
            };
            has_failed |= matches!(became, Done::Failed(_));
            done.push((name, became));
        }
        self.tell(&done, terminal)
    }

    /// What will be done, before it is asked for.
    fn say(&self, seen: &[(Name, PauseRecord)], plans: &[Plan]) {
        if self.json || self.operator.yes {
            return;
        }
        for ((name, _), plan) in seen.iter().zip(plans) {
            if let Plan::Write { words, .. } = plan {
                output::note(&format!("{name}: to be {words}"));
            }
        }
    }

    /// One destination. What a breaker does in between changes nothing of what the operator wants; what another
    /// operator does may.
    async fn change(&self, store: &Store, name: &Name, mut seen: PauseRecord, by: &str) -> Done {
        for _ in 0..TRIES {
            let at = now();
            let (next, words) = match self.what.plan(name, &seen, by, at) {
                Plan::Nothing(words) => return Done::Nothing(words),
                Plan::Write { next, words } => (next, words),
            };
            let did = self.what.did();
            let record = self.operator.record(by, did, Some(words.clone()), at);
            let deadline = Instant::now() + WITHIN;
            let changed = store.operate_pause(name, &seen, next.as_ref(), &record, deadline);
            match changed.await {
                Ok(PauseChange::Written(stands)) => return Done::Changed { words, stands },
                Ok(PauseChange::Moved(stands)) if is_of_operators(&seen, &stands) => {
                    return Done::Overtaken(stands);
                }
                Ok(PauseChange::Moved(stands)) => seen = stands,
                Err(error) => return Done::Failed(error),
            }
        }
        Done::Overtaken(seen)
    }

    fn tell(&self, done: &[(Name, Done)], terminal: &Terminal) -> Result<ExitCode, CommandError> {
        let now = now();
        if self.json {
            let destinations: Vec<Value> = done
                .iter()
                .map(|(name, became)| became.json(name, now))
                .collect();
            let object = json!({
                "did": self.what.did(),
                "dry_run": self.operator.dry_run,
                "destinations": destinations,
            });
            terminal.line(object.to_string())?;
        } else {
            if done.is_empty() {
                terminal.line("no destination is known")?;
            }
            for (name, became) in done {
                terminal.line(format!("{name}: {}", became.line(terminal, name, now)))?;
            }
        }
        let is_done = |(_, became): &(Name, Done)| became.is_as_wanted();
        Ok(match done.iter().all(is_done) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }
}

impl Done {
    const fn word(&self) -> &'static str {
        match self {
            Self::Nothing(_) => "nothing",
            Self::Changed { .. } => "changed",
            Self::WouldChange(_) => "would-change",
            Self::Overtaken(_) => "overtaken",
            Self::Failed(_) => "failed",
            Self::NotTried => "not-tried",
        }
    }

    const fn is_as_wanted(&self) -> bool {
        matches!(
            self,
            Self::Nothing(_) | Self::Changed { .. } | Self::WouldChange(_)
        )
    }

    fn line(&self, terminal: &Terminal, name: &Name, now: Timestamp) -> String {
        match self {
            Self::Nothing(words) => words.clone(),
            Self::Changed { words, .. } => terminal.paint(Tone::Good, words),
            Self::WouldChange(words) => format!("would be {words}"),
            other => terminal.paint(Tone::Bad, &other.trouble(name, now)),
        }
    }

    fn trouble(&self, name: &Name, now: Timestamp) -> String {
        match self {
            Self::Overtaken(stands) => {
                let how = match Paused::of(name, stands, now) {
                    Some(paused) => paused.words(now),
                    None => "not paused".to_owned(),
                };
                format!("somebody else changed it meanwhile, and nothing was done; it is {how}")
            }
            Self::Failed(error @ StoreError::Unavailable { .. }) => format!(
                "{}; it may have been done: `ackbox list` says how it stands",
                escaped(&error.to_string())
            ),
            Self::Failed(error) => escaped(&in_one_line(error)),
            _ => "not tried after what failed before".to_owned(),
        }
    }

    fn json(&self, name: &Name, now: Timestamp) -> Value {
        let stands = match self {
            Self::Changed { stands, .. } | Self::Overtaken(stands) => {
                Paused::of(name, stands, now).map(|paused| paused.json(now))
            }
            _ => None,
        };
        let told = match self {
            Self::Nothing(words) | Self::WouldChange(words) | Self::Changed { words, .. } => {
                words.clone()
            }
            other => other.trouble(name, now),
        };
        json!({
            "destination": name,
            "result": self.word(),
            "detail": told,
            "paused": stands,
        })
    }
}

/// Whether the difference is an operator's doing, as far as can be seen.
fn is_of_operators(seen: &PauseRecord, stands: &PauseRecord) -> bool {
    seen.operator != stands.operator
}

#[cfg(test)]
mod tests {
    use ackbox_domain::Pause;

    use super::*;
    use crate::dev::Engine;

    struct Pausing;

    impl Change for Pausing {
        fn did(&self) -> &'static str {
            "pause"
        }

        fn question(&self, _: usize) -> String {
            String::new()
        }

        fn plan(&self, _: &Name, seen: &PauseRecord, by: &str, now: Timestamp) -> Plan {
            let next = OperatorPause {
                since: now,
                until: None,
                by: by.to_owned(),
                why: None,
            };
            Plan::Write {
                next: Some(next),
                words: format!("paused over {}", seen.fence),
            }
        }
    }

    #[tokio::test]
    async fn a_change_is_made_anew_over_a_breakers_and_never_over_another_operators() {
        #[derive(Debug, Default, clap::Parser)]
        struct Line {
            #[command(flatten)]
            names: Option<Names>,
        }
        let engine = Engine::memory().await.unwrap();
        let store = Store::new(engine.clients().await.dynamodb, "ackbox");
        store.create_table().await.unwrap();
        let line = <Line as clap::Parser>::parse_from(["pause", "mailer"]);
        let changes = Changes {
            what: &Pausing,
            names: &line.names.unwrap(),
            operator: &Operator::default(),
            config: &ConfigOption { config: None },
            json: false,
        };
        let mailer: Name = "mailer".parse().unwrap();
        let unseen = PauseRecord::default();
        let breakers = Pause {
            since: now(),
            until: now().plus(WITHIN),
            number: 1,
            is_probing: false,
            why: "busy (503)".to_owned(),
        };
        let by = Instant::now() + WITHIN;
        let begun = store.change_pause(&mailer, &unseen, Some(&breakers), "b", by);
        begun.await.unwrap();
        match changes.change(&store, &mailer, unseen.clone(), "ada").await {
            Done::Changed { words, stands } => {
                assert_eq!(words, "paused over 1", "it is told what it replaced");
                assert_eq!(stands.operator.unwrap().by, "ada");
            }
            other => panic!("{}", other.word()),
        }
        match changes.change(&store, &mailer, unseen, "bob").await {
            Done::Overtaken(stands) => assert_eq!(stands.operator.unwrap().by, "ada"),
            other => panic!("{}", other.word()),
        }
        let stands = store.pause_now(&mailer).await.unwrap();
        assert_eq!(
            (stands.fence, stands.operator.unwrap().by.as_str()),
            (2, "ada")
        );
        engine.stop().await;
    }
}
