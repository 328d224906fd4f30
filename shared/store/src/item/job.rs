//! The job item: the application's own record of a job. An application may write it in a transaction of its
//! own, so it asks for nothing that only this code could compute.

use ackbox_domain::Name;
use ackbox_domain::Timestamp;
use ackbox_domain::job::{Binding, Ids, JobRef, binding};
use serde::{Deserialize, Serialize};

use super::broken;
use crate::ItemError;
use crate::job::{Ended, JobRecord};
use crate::schema::{self, Class, SCHEMA_VERSION, kind};

/// The job item as it stands in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobItem {
    pk: String,
    sk: String,
    v: u32,
    /// When it was registered.
    accepted_at: Timestamp,
    /// What [`binding`] reads.
    binding: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    /// Who told of the end first.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    silent_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Absent: the job is never looked at by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    work_shard: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
}

impl JobItem {
    /// The item of a binding, whose JSON is `text`.
    pub(crate) fn new(binding: &Binding, text: &str, now: Timestamp) -> Self {
        let due_at = binding.first_look().map(|wait| now.plus(wait));
        let shard = || schema::job_shard(Class::Job, &binding.job.space, &binding.job);
        Self {
            pk: schema::job_pk(&binding.job),
            sk: kind::JOB.to_owned(),
            v: SCHEMA_VERSION,
            accepted_at: now,
            binding: text.to_owned(),
            outcome: None,
            ended_at: None,
            source: None,
            silent_at: None,
            asked: None,
            detail: None,
            work_shard: due_at.is_some().then(shard),
            due_at,
        }
    }

    /// The record, if the binding reads and is of the job under which it stands.
    pub(crate) fn into_record(self, job: &JobRef) -> Result<JobRecord, ItemError> {
        let ids = match job.account {
            None => Ids::Shared,
            Some(_) => Ids::PerAccount,
        };
        let binding = binding(self.binding.as_bytes())
            .map_err(|why| broken(format!("its binding: {why}")))?;
        let binding = binding.within(ids);
        if binding.job != *job {
            return Err(broken(format!("its binding is of the job {}", binding.job)));
        }
        let ended = self.outcome.map(|outcome| Ended {
            outcome,
            at: self.ended_at.unwrap_or(self.accepted_at),
            by: self.source,
        });
        Ok(JobRecord {
            binding,
            registered_at: self.accepted_at,
            ended,
            silent_at: self.silent_at,
            asked: self.asked.unwrap_or_default(),
            detail: self.detail,
            due_at: self.due_at,
            text: self.binding,
        })
    }
}
