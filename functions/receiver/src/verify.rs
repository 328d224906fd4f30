//! Proves the sender of a message, before anything in it is parsed. A secret that cannot be had is
//! our fault (503), never the sender's (401).

use ackbox_config::{SecretRef, SourceConfig};
use ackbox_domain::Timestamp;
use ackbox_domain::causes::in_one_line;
use ackbox_signature::{Refusal, Secret, Verified};

use crate::Receiver;
use crate::message::Inbound;
use crate::record::Record;
use crate::response::Outcome;

/// The secrets that a message was verified against: as they were cached, and, after a refusal, fresh
/// ones. They outlive the proof, which names the one that matched.
#[derive(Default)]
pub(crate) struct Keyring {
    cached: Keys,
    fresh: Keys,
}

/// The usable secrets of one source, and whether others could not be had.
#[derive(Default)]
struct Keys {
    secrets: Vec<Secret>,
    incomplete: bool,
}

impl Receiver {
    /// Verifies against every secret of the source; after a refusal once more with fresh ones, where
    /// a refresh is allowed now, so that a rotation needs no deployment.
    pub(crate) async fn verify<'i>(
        &self,
        inbound: &'i Inbound<'_>,
        keyring: &'i mut Keyring,
        now: Timestamp,
        record: &mut Record,
    ) -> Result<Verified<'i>, Outcome> {
        let source = inbound.source;
        let Keyring { cached, fresh } = keyring;
        *cached = self.keys(source, record).await;
        let mut keys: &'i Keys = cached;
        let mut refusal = match check(source, inbound, keys, now) {
            Ok(verified) => return Ok(record.verified(verified)),
            Err(refusal) => refusal,
        };
        // Another secret might have proven it; every other refusal is the message's own.
        let may_be_rotated = matches!(
            refusal,
            Refusal::NoSecretMatched { .. } | Refusal::NoUsableSecret { .. }
        );
        if may_be_rotated && self.0.secrets.refresh_after_refusal(&source.secrets) {
            *fresh = self.keys(source, record).await;
            keys = fresh;
            match check(source, inbound, keys, now) {
                Ok(verified) => return Ok(record.verified(verified)),
                Err(second) => refusal = second,
            }
        }
        if keys.incomplete && may_be_rotated {
            // The secret that would have matched may be the one that we do not have.
            return Err(Outcome::Unavailable);
        }
        Err(record.refused(&refusal))
    }

    async fn keys(&self, source: &SourceConfig, record: &mut Record) -> Keys {
        let mut keys = Keys::default();
        for (reference, value) in self.0.secrets.resolve_each(&source.secrets).await {
            match value {
                Ok(value) => keys.add(source, reference, value.expose(), record),
                Err(error) => keys.lacks(record, &in_one_line(&error)),
            }
        }
        keys
    }
}

impl Keys {
    fn add(&mut self, source: &SourceConfig, label: &SecretRef, text: &str, record: &mut Record) {
        match source.scheme.secret(&label.to_string(), text) {
            Ok(secret) => self.secrets.push(secret),
            Err(error) => self.lacks(record, &in_one_line(&error)),
        }
    }

    fn lacks(&mut self, record: &mut Record, why: &str) {
        self.incomplete = true;
        record.trouble(why);
    }
}

fn check<'i>(
    source: &SourceConfig,
    inbound: &'i Inbound<'_>,
    keys: &'i Keys,
    now: Timestamp,
) -> Result<Verified<'i>, Refusal> {
    let message = inbound.message();
    source
        .scheme
        .verify(&message, &keys.secrets, now.unix_ms(), source.tolerance)
}
