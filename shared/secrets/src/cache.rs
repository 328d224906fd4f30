//! References in, values out, read at most once per age. Values of one call may differ in age;
//! an error never throws a good value away.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ackbox_config::SecretRef;
use tokio::time::Instant;

use crate::error::SecretError;
use crate::read::{self, Environment};
use crate::value::SecretValue;

/// How long a value is used before it is read again.
const AGE_MAX: Duration = Duration::from_secs(300);
/// How long a value is used past its age while it cannot be read again.
const STALE_MAX: Duration = Duration::from_secs(3600);
/// How long a failed reading is not repeated while there is an older value to use.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// How often refused signatures may cause a reading, per set of references.
const REFUSAL_PAUSE: Duration = Duration::from_secs(60);

/// The values of secret references. Cloning shares the cache.
///
/// A value is used for 5 minutes and then read again. Where that fails in a way that may pass by
/// itself (a file that is being replaced), the last value is used for up to an hour more, with a
/// warning in the log; a value that is wrong (empty, not text) is an error at once.
#[derive(Clone)]
pub struct Secrets(Arc<Shared>);

struct Shared {
    environment: Box<Environment>,
    cache: Mutex<HashMap<SecretRef, Cached>>,
    /// When each set of references was last forgotten for a refusal. As many sets as the
    /// configuration has.
    refusals: Mutex<HashMap<BTreeSet<SecretRef>, Instant>>,
    /// Held while reading, so that a burst of requests causes one reading.
    reading: tokio::sync::Mutex<()>,
}

struct Cached {
    value: SecretValue,
    read_at: Instant,
    fresh_until: Instant,
}

impl Secrets {
    /// A cache that holds nothing yet. `environment` gives the value of a variable, for `env:`
    /// references.
    pub fn new(environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            environment: Box::new(environment),
            cache: Mutex::default(),
            refusals: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
        }))
    }

    /// One value per reference, in the order given.
    ///
    /// # Errors
    /// The first reference that has no value. The others that were read stay cached.
    pub async fn resolve(&self, references: &[SecretRef]) -> Result<Vec<SecretValue>, SecretError> {
        let mut values = Vec::with_capacity(references.len());
        for reference in references {
            values.push(self.resolve_one(reference).await?);
        }
        Ok(values)
    }

    /// Every reference with its value, or with why there is none, in the order given: one that is
    /// gone does not take the others with it.
    pub async fn resolve_each<'r>(
        &self,
        references: &'r [SecretRef],
    ) -> Vec<(&'r SecretRef, Result<SecretValue, SecretError>)> {
        let mut values = Vec::with_capacity(references.len());
        for reference in references {
            values.push((reference, self.resolve_one(reference).await));
        }
        values
    }

    /// The value of one reference.
    ///
    /// # Errors
    /// It has none.
    pub async fn resolve_one(&self, reference: &SecretRef) -> Result<SecretValue, SecretError> {
        match self.fresh(reference) {
            Some(value) => Ok(value),
            None => self.refresh(reference).await,
        }
    }

    /// Has the values of these references read again by the next [`resolve`](Self::resolve): for a
    /// signature that no secret fits, which may be the first of a rotated secret.
    ///
    /// True if it did. At most once a minute per set of references, so that forged requests cannot
    /// make us read without end. A value that cannot be read again is still used as a stale one is,
    /// so that they cannot take a working secret away either.
    pub fn refresh_after_refusal(&self, references: &[SecretRef]) -> bool {
        let set: BTreeSet<SecretRef> = references.iter().cloned().collect();
        if set.is_empty() {
            return false;
        }
        let now = Instant::now();
        let mut refusals = locked(&self.0.refusals);
        if refusals
            .get(&set)
            .is_some_and(|last| now.duration_since(*last) < REFUSAL_PAUSE)
        {
            return false;
        }
        let mut cache = locked(&self.0.cache);
        for reference in &set {
            if let Some(cached) = cache.get_mut(reference) {
                cached.fresh_until = now;
            }
        }
        refusals.insert(set, now);
        true
    }

    fn fresh(&self, reference: &SecretRef) -> Option<SecretValue> {
        let cache = locked(&self.0.cache);
        let cached = cache.get(reference)?;
        (Instant::now() < cached.fresh_until).then(|| cached.value.clone())
    }

    async fn refresh(&self, reference: &SecretRef) -> Result<SecretValue, SecretError> {
        let _reading = self.0.reading.lock().await;
        // Another call may have read it while this one waited.
        if let Some(value) = self.fresh(reference) {
            return Ok(value);
        }
        match read::read(&*self.0.environment, reference).await {
            Ok(value) => {
                let now = Instant::now();
                let cached = Cached {
                    value: value.clone(),
                    read_at: now,
                    fresh_until: now + AGE_MAX,
                };
                locked(&self.0.cache).insert(reference.clone(), cached);
                Ok(value)
            }
            Err(error) if error.is_transient() => self.stale(reference).ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// The last value, if it is not too old to be used in place of one that cannot be read.
    fn stale(&self, reference: &SecretRef) -> Option<SecretValue> {
        let now = Instant::now();
        let mut cache = locked(&self.0.cache);
        let cached = cache.get_mut(reference)?;
        let until = cached.read_at + AGE_MAX + STALE_MAX;
        if now >= until {
            return None;
        }
        cached.fresh_until = until.min(now + RETRY_AFTER);
        tracing::warn!(
            secret.reference = %reference,
            secret.age_s = now.duration_since(cached.read_at).as_secs(),
            "a secret cannot be read again; its last value is used meanwhile"
        );
        Some(cached.value.clone())
    }
}

/// Shows how many values are cached, and none of them.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets")
            .field("cached", &locked(&self.0.cache).len())
            .finish_non_exhaustive()
    }
}

/// The maps are consistent after every statement, so a panic elsewhere while they were locked
/// does no harm.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
