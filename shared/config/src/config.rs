//! What a configuration says, once it is known to be free of mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ackbox_domain::job::{Ids, Jobs};
use ackbox_domain::outbox::Origin;
use ackbox_domain::{Breaker, DeliveryPolicy, Name, Notify, Retention, Retentions, Source, Timing};
use ackbox_signature::Scheme;
use sha2::{Digest, Sha256};
use url::Url;

use crate::kind::Kind;
use crate::lookup::Lookup;
use crate::mistake::{Mistake, Mistakes};
use crate::read::read;
use crate::reconcile::Reconcile;
use crate::reference::SecretRef;

/// One `ackbox.toml`, free of mistakes.
#[derive(Clone, Debug)]
pub struct Config {
    /// The senders, by the name in their path.
    pub sources: BTreeMap<Name, SourceConfig>,
    /// Where actions go.
    pub destinations: BTreeMap<Name, DestinationConfig>,
    /// How deliveries are claimed and timed.
    pub delivery: DeliverySettings,
    /// Who is told of trouble.
    pub notify: Option<Notify>,
    /// What is allowed and probably not meant, in the order of the file.
    pub warnings: Vec<Mistake>,
}

/// `[source.NAME]`: one sender.
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// Where its facts stand, and its rules.
    pub source: Source,
    /// How it signs.
    pub scheme: Arc<Scheme>,
    /// Its secrets, one or more; any of them may have signed.
    pub secrets: Vec<SecretRef>,
    /// How far the signed timestamp may be from now, in both directions; `None`: as the scheme says.
    pub tolerance: Option<Duration>,
    /// How it is asked about jobs that stay silent; `None`: it is not.
    pub lookup: Option<Lookup>,
    /// What a conflict is answered with.
    pub on_conflict: OnConflict,
    /// For how long what is closed is kept.
    pub retention: Retention,
}

/// What the sender is told of a conflict. It is on the record in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// 200: repeating it would change nothing.
    #[default]
    Acknowledge,
    /// 409: the sender's own alarms are to see it.
    Refuse,
}

/// `[destination.NAME]`: where actions go.
#[derive(Clone, Debug)]
pub struct DestinationConfig {
    /// Its name.
    pub name: Name,
    /// When it is tried, and what happens where the outcome is unknown.
    pub policy: DeliveryPolicy,
    /// How it is spoken to.
    pub to: Kind,
    /// How it is asked what became of an action, where `on_unknown` says so.
    pub reconcile: Option<Reconcile>,
    /// How many attempts one invocation runs at a time for it; `None`: as many as for all.
    pub concurrency: Option<usize>,
    /// When it is paused; `None`: never.
    pub breaker: Option<Breaker>,
}

impl DestinationConfig {
    /// The identity of who answers there: the first 8 bytes of SHA-256 over [`Kind::identity`].
    ///
    /// An origin that changed after an attempt that may have arrived proves nothing about the action
    /// any more.
    pub fn origin(&self) -> Origin {
        let full: [u8; 32] = Sha256::digest(self.to.identity().as_bytes()).into();
        let mut origin = Origin::default();
        let length = origin.len();
        origin.copy_from_slice(&full[..length]);
        origin
    }
}

/// An HTTP destination: every attempt is one `POST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpDestination {
    /// Where to. `https`, or `http` where `allow_private` says so; no user, no password, no fragment.
    pub url: Url,
    /// The destination's own headers: lower-case names, none of them one of ours, in the order of the file.
    pub headers: Vec<(String, SecretRef)>,
    /// The header that carries the action's key, lower-case. It is sent also where the destination keeps no keys.
    pub idempotency_header: String,
    /// Secrets by which deliveries are signed (Standard Webhooks), all side by side; none: unsigned.
    pub signing: Vec<SecretRef>,
    /// Whether private addresses and plain `http` are allowed.
    pub allow_private: bool,
}

/// Method, origin and path. The query is left out: some put tokens there.
impl fmt::Display for HttpDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        write!(f, "POST {origin}{}", self.url.path())?;
        if self.url.query().is_some() {
            f.write_str("?..")?;
        }
        Ok(())
    }
}

/// `[delivery]`: what holds for every destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// The time relations of claims.
    pub timing: Timing,
    /// How many attempts one invocation runs at a time.
    pub concurrency: usize,
    /// How long an invocation by the stream begins attempts; the rest is the sweep's.
    pub stream_budget: Duration,
    /// How long an invocation of the dispatcher may run.
    pub function_timeout: Duration,
    /// How long the receiver may take to accept one message.
    pub accept_budget: Duration,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            timing: Timing {
                lease: Duration::from_secs(45),
                settle_margin: Duration::from_secs(5),
                clock_skew: Duration::from_secs(5),
                first_due: Duration::from_secs(60),
                no_destination_hold: Duration::from_secs(3600),
            },
            concurrency: 64,
            stream_budget: Duration::from_secs(5),
            function_timeout: Duration::from_secs(60),
            accept_budget: Duration::from_secs(8),
        }
    }
}

impl Config {
    /// The source that answers at a path: the one of this name, or that had it before.
    pub fn source_called(&self, name: &str) -> Option<&SourceConfig> {
        self.sources.get(name).or_else(|| {
            let name = name.parse().ok()?;
            let mut sources = self.sources.values();
            sources.find(|source| source.source.is_called(&name))
        })
    }

    /// For how long what is closed is kept, by source; of what came in under a previous name, too.
    pub fn retentions(&self) -> Retentions {
        let sources = self.sources.values();
        let of_each = sources.flat_map(
            |SourceConfig {
                 source, retention, ..
             }| {
                let names = source.previously.iter().chain([&source.name]);
                names.map(|name| (name.clone(), *retention))
            },
        );
        of_each.collect()
    }

    /// The sources whose facts are about jobs of this space, in the order of their names.
    pub fn sources_of<'c>(
        &'c self,
        space: &Name,
    ) -> impl Iterator<Item = (&'c SourceConfig, &'c Jobs)> {
        let with_jobs = |source: &'c SourceConfig| Some((source, source.source.jobs.as_ref()?));
        let all = self.sources.values().filter_map(with_jobs);
        all.filter(move |(_, jobs)| jobs.space == *space)
    }

    /// The source that speaks for jobs of this account in this space: the first whose own the account is, or one
    /// of its secrets'; else the space's first. `None`: no source has the space.
    pub fn source_of<'c>(
        &'c self,
        space: &Name,
        account: &str,
    ) -> Option<(&'c SourceConfig, &'c Jobs)> {
        let mut sources = self.sources_of(space);
        let of_account = sources.find(|(_, jobs)| {
            let mut of_secrets = jobs.accounts.values();
            jobs.own_account() == account || of_secrets.any(|of_secret| of_secret == account)
        });
        of_account.or_else(|| self.sources_of(space).next())
    }

    /// Within what ids of this job space are unique; `None`: no source has it. Its sources agree.
    pub fn ids_of(&self, space: &Name) -> Option<Ids> {
        self.sources_of(space).next().map(|(_, jobs)| jobs.ids)
    }

    /// Every job space.
    pub fn spaces(&self) -> BTreeSet<Name> {
        let jobs = self
            .sources
            .values()
            .filter_map(|source| source.source.jobs.as_ref());
        jobs.map(|jobs| jobs.space.clone()).collect()
    }

    /// Reads a configuration, or gives every mistake in it. `file` is only for messages.
    pub fn parse(file: &str, text: &str) -> Result<Config, Mistakes> {
        read(file, text)
    }
}
