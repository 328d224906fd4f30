//! What can be known of a run, gathered for the verdict: the ledger, the logs of destinations and status
//! service, and where the table says that things stand.

use std::collections::BTreeSet;
use std::sync::Arc;

use ackbox_config::DestinationConfig;
use ackbox_domain::{ActionKey, Idempotency, StoredBody};
use ackbox_signature::{Headers, Message, Scheme, Secret};
use ackbox_store::{Class, StoreError};
use futures_util::future;

use super::{Stage, StageError};
use crate::demo::destination::Received;
use crate::demo::evidence::{Attempt, Evidence, JobSeen, Lookup, Question, Standing};
use crate::demo::job;
use crate::edge;

impl Stage {
    /// Gathers what the verdict looks at.
    ///
    /// # Errors
    ///
    /// The table cannot be read.
    pub async fn evidence(&self) -> Result<Evidence, StageError> {
        Ok(Evidence {
            sent: self.senders.ledger.pages(),
            attempts: self.attempts().await?,
            questions: self.questions(),
            standing: self.standing().await?,
            jobs: self.jobs().await,
            lookups: self.lookups().await?,
        })
    }

    async fn jobs(&self) -> Vec<JobSeen> {
        let seen = job::ALL.map(|job| async move {
            JobSeen {
                job,
                filed: self.application.filed(job),
                stands: self.application.look(job).await,
            }
        });
        future::join_all(seen).await
    }

    async fn lookups(&self) -> Result<Vec<Lookup>, StageError> {
        let sources = self.setting.config.sources.values();
        let wanted: Vec<_> = sources.filter_map(|one| one.lookup.as_ref()).collect();
        let wanted = wanted.iter().flat_map(|lookup| &lookup.headers);
        let mut shown = Vec::new();
        for (name, reference) in wanted {
            let values = self
                .secrets
                .resolve(std::slice::from_ref(reference))
                .await?;
            let values = values.into_iter();
            shown.extend(values.map(|value| (name.clone(), value.expose().to_owned())));
        }
        let asked = self.setting.status.asked().into_iter();
        let lookups = asked.map(|(question, said)| Lookup {
            id: question.path.rsplit('/').next().unwrap_or_default().into(),
            said,
            shows_secret: !shown.is_empty()
                && shown.iter().all(|line| question.headers.contains(line)),
        });
        Ok(lookups.collect())
    }

    async fn attempts(&self) -> Result<Vec<Attempt>, StageError> {
        let mut attempts = Vec::new();
        for (name, destination) in &self.setting.destinations {
            let Some(configured) = self.setting.config.destinations.get(name) else {
                continue;
            };
            let verifier = self.verifier(configured).await?;
            let read_at = destination.read_at();
            for ((received, answered), at) in destination.exchanges().into_iter().zip(read_at) {
                attempts.push(Attempt {
                    destination: name.as_str().to_owned(),
                    at,
                    breaker: configured.breaker,
                    keeps_keys: configured.policy.idempotency != Idempotency::None,
                    genuine: verifier
                        .as_ref()
                        .map(|verifier| verifier.accepts(&received)),
                    key: received.key,
                    body: received.body,
                    answered,
                });
            }
        }
        Ok(attempts)
    }

    fn questions(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        for (name, destination) in &self.setting.destinations {
            questions.extend(destination.asked().into_iter().map(|asked| Question {
                destination: name.as_str().to_owned(),
                key: asked.question.key,
                after: asked.question.after,
                reply: asked.reply,
            }));
        }
        questions
    }

    async fn verifier(&self, of: &DestinationConfig) -> Result<Option<Verifier>, StageError> {
        let Some(scheme) = Scheme::builtin("standard-webhooks") else {
            return Ok(None);
        };
        let mut secrets = Vec::new();
        let Some(http) = of.to.http() else {
            return Ok(None);
        };
        for value in self.secrets.resolve(&http.signing).await? {
            secrets.push(scheme.secret(of.name.as_str(), value.expose())?);
        }
        Ok((!secrets.is_empty()).then_some(Verifier { scheme, secrets }))
    }

    /// Every key that the table lists as waiting, or as given up: for actions that no destination saw.
    async fn keys_kept(&self) -> Result<BTreeSet<ActionKey>, StoreError> {
        /// Far more than a demo has.
        const ALL: usize = 1000;
        const CLASSES: [Class; 4] = [Class::Open, Class::Unknown, Class::Held, Class::Dead];
        let store = self.runtime.store();
        let names = self.setting.destinations.keys();
        let lists = names.flat_map(|name| CLASSES.map(|class| store.list(class, name, ALL)));
        let listed = future::try_join_all(lists).await?;
        Ok(listed
            .into_iter()
            .flatten()
            .map(|listed| listed.key)
            .collect())
    }

    /// How many actions there must be: one for each accepted message, but that the end of a job makes those
    /// of its steps, whoever told it.
    fn actions_promised(&self) -> usize {
        let is_end = |fact: &str| job::ALL.iter().any(|job| job.fact == fact);
        let pages = self.senders.ledger.pages();
        let accepted = pages.iter().filter(|sent| {
            let answer = sent.answer.as_ref();
            answer.is_ok_and(|answer| answer.accepts()) && !is_end(sent.fact)
        });
        let steps = job::ALL.iter().map(|job| job.due().count());
        accepted.count() + steps.sum::<usize>()
    }

    async fn standing(&self) -> Result<Vec<Standing>, StoreError> {
        let store = self.runtime.store();
        let mut keys = self.keys_seen();
        if keys.len() < self.actions_promised() {
            keys.extend(self.keys_kept().await?);
        }
        let mut standing = Vec::new();
        for key in keys {
            let Some(entry) = store.entry(&key).await? else {
                continue;
            };
            let body = match entry.body {
                StoredBody::Inline(body) => Some(body),
                StoredBody::Payload => store.payload(&key).await?,
            };
            standing.push(Standing {
                key: key.as_str().to_owned(),
                state: entry.state,
                body: body.map(|body| body.bytes).unwrap_or_default(),
            });
        }
        Ok(standing)
    }
}

/// A destination that looks at signatures.
struct Verifier {
    scheme: Arc<Scheme>,
    secrets: Vec<Secret>,
}

impl Verifier {
    fn accepts(&self, received: &Received) -> bool {
        let lines = received.headers.iter();
        let headers: Headers = lines.map(|(name, value)| (name, value)).collect();
        let message = Message {
            method: "POST",
            url: &received.path,
            headers: &headers,
            body: &received.body,
        };
        let now = edge::now().unix_ms();
        let verified = self.scheme.verify(&message, &self.secrets, now, None);
        verified.is_ok()
    }
}
