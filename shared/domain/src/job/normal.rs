//! The end of a job as the application itself tells it: JSON in one normal form comes in, the observation
//! goes out, or what in it cannot be one and where.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::facts::{is_null, value};
use super::read::{Read, name, text, wrong};
use super::{Binding, DEFAULT_ACCOUNT, Ids, JobObservation, JobRef, Jobs, NotABinding, SILENT};
use crate::action::RenderedBody;
use crate::json::Object;
use crate::name::Name;
use crate::time::Timestamp;

/// The end of a job, told in the normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalForm {
    /// The job space.
    pub space: Name,
    job_id: String,
    account: String,
    outcome: Name,
    values: BTreeMap<Name, String>,
    body: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    space: String,
    job_id: String,
    account: Option<String>,
    outcome: String,
    #[serde(default, borrow)]
    values: BTreeMap<String, &'a RawValue>,
}

/// Reads an object with `space`, `job_id` and `outcome`, and, as wanted, `account` and `values` (names and
/// any JSON).
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn normal_form(json: &[u8]) -> Read<NormalForm> {
    let Object(written): Object<Written<'_>> =
        serde_json::from_slice(json).map_err(|error| NotABinding::Shape(error.to_string()))?;
    let outcome = name("/outcome", &written.outcome)?;
    if outcome.as_str() == SILENT {
        return Err(wrong("/outcome", "is the word for a job that was given up"));
    }
    let told = written.values.iter().filter(|(_, raw)| !is_null(raw.get()));
    let told = told.map(|(key, raw)| {
        let place = format!("/values/{key}");
        let kept = value(raw.get()).ok_or_else(|| {
            let problem = format!("has more than {} bytes", Jobs::VALUE_MAX);
            wrong(&place, problem)
        });
        Ok((name(&place, key)?, kept?))
    });
    let values = told.collect::<Read<_>>()?;
    Ok(NormalForm {
        space: name("/space", &written.space)?,
        job_id: text("/job_id", &written.job_id, JobRef::ID_MAX)?,
        account: text(
            "/account",
            written.account.as_deref().unwrap_or(DEFAULT_ACCOUNT),
            Binding::TEXT_MAX,
        )?,
        outcome,
        values,
        body: json.to_vec(),
    })
}

impl NormalForm {
    /// Whose job it is.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// How the job ended.
    pub fn outcome(&self) -> &Name {
        &self.outcome
    }

    /// The names of the values that it tells.
    pub fn values(&self) -> impl Iterator<Item = &Name> {
        self.values.keys()
    }

    /// The observation that it is, in a space whose ids are unique so, by this source of the space.
    pub fn observation(self, ids: Ids, source: Name, now: Timestamp) -> JobObservation {
        JobObservation {
            job: JobRef::new(self.space, self.job_id, &self.account, ids),
            source,
            account: self.account,
            outcome: self.outcome,
            event: None,
            message_id: None,
            values: self.values,
            digest: Sha256::digest(&self.body).into(),
            body: RenderedBody {
                bytes: self.body,
                content_type: Some("application/json".to_owned()),
                content_encoding: None,
            },
            seen_at: now,
        }
    }
}
