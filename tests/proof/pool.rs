//! Environments of one function, as Lambda keeps them: as many as are asked for at once, each taking
//! one invocation at a time, a dead one replaced by a new one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ackbox_tests::function::{Function, Invoked, Setting};
use serde_json::Value;
use tokio::sync::Semaphore;

/// The environments of one function.
#[derive(Debug)]
pub(crate) struct Pool {
    program: PathBuf,
    setting: Arc<Setting>,
    endpoint: String,
    slots: Semaphore,
    environments: Mutex<Environments>,
}

#[derive(Debug, Default)]
struct Environments {
    idle: Vec<Arc<Function>>,
    all: Vec<Arc<Function>>,
    started: usize,
}

impl Pool {
    /// At most `slots` environments at once; the first is started now.
    pub(crate) async fn start(
        program: PathBuf,
        setting: Arc<Setting>,
        endpoint: &str,
        slots: usize,
    ) -> Result<Self, String> {
        let pool = Self {
            program,
            setting,
            endpoint: endpoint.to_owned(),
            slots: Semaphore::new(slots),
            environments: Mutex::default(),
        };
        let first = pool.environment().await?;
        pool.locked().idle.push(first);
        Ok(pool)
    }

    /// One invocation, in whichever environment is free.
    pub(crate) async fn invoke(
        &self,
        event: &Value,
        remaining: Duration,
    ) -> Result<Invoked, String> {
        let _slot = self.slots.acquire().await.map_err(|e| e.to_string())?;
        let idle = self.locked().take_idle();
        let environment = match idle {
            Some(environment) => environment,
            None => self.environment().await?,
        };
        let invoked = environment.invoke(event, remaining).await;
        if !environment.has_ended() {
            self.locked().idle.push(environment);
        }
        Ok(invoked)
    }

    async fn environment(&self) -> Result<Arc<Function>, String> {
        let started = Function::start(&self.program, &self.setting, &self.endpoint).await?;
        let started = Arc::new(started);
        let mut environments = self.locked();
        environments.all.retain(|one| !one.has_ended());
        environments.all.push(Arc::clone(&started));
        environments.started += 1;
        Ok(started)
    }

    /// The oldest environment.
    pub(crate) fn oldest(&self) -> Option<Arc<Function>> {
        let environments = self.locked();
        environments
            .all
            .iter()
            .find(|one| !one.has_ended())
            .cloned()
    }

    /// How many environments there have been.
    pub(crate) fn started(&self) -> usize {
        self.locked().started
    }

    /// Kills any environment but the `spared` oldest, wherever it stands. Whether there was one.
    pub(crate) async fn kill_one(&self, spared: usize) -> bool {
        let victim = {
            let environments = self.locked();
            let living = environments.all.iter().filter(|one| !one.has_ended());
            let living: Vec<_> = living.skip(spared).collect();
            (!living.is_empty()).then(|| Arc::clone(living[fastrand::usize(..living.len())]))
        };
        match victim {
            Some(victim) => {
                victim.kill().await;
                true
            }
            None => false,
        }
    }

    fn locked(&self) -> MutexGuard<'_, Environments> {
        self.environments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Environments {
    /// Any idle one, so that all of them work.
    fn take_idle(&mut self) -> Option<Arc<Function>> {
        self.idle.retain(|one| !one.has_ended());
        if self.idle.is_empty() {
            return None;
        }
        Some(self.idle.swap_remove(fastrand::usize(..self.idle.len())))
    }
}
