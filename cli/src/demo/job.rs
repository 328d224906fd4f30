//! The jobs that the application has submitted elsewhere: what it says of each to the registrar, and what
//! each step must send in the end. Both are written out by hand, and nothing here comes from ackbox, so
//! that the verdict can compare.

/// A job of the application's.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    /// What the ledger calls its end.
    pub fact: &'static str,
    /// What the ledger calls another end, told later; none, where nobody tells one.
    pub otherwise: Option<&'static str>,
    /// The job space.
    pub space: &'static str,
    /// The id that its system gave it.
    pub id: &'static str,
    /// For whom.
    pub tenant: &'static str,
    /// How it ends.
    pub end: &'static str,
    /// The URL of its source, where the application expects that to be told.
    pub source_url: Option<&'static str>,
    /// When its system is asked; none, where it never is.
    pub poll_after: Option<&'static str>,
    /// What is to happen then.
    pub steps: &'static [Step],
}

/// A step of a job.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name and version.
    pub name: &'static str,
    /// Which end it waits for.
    pub on: &'static str,
    /// Where its action goes.
    pub destination: &'static str,
    /// What the application gives it: JSON, sent as it stands here.
    pub input: &'static str,
    /// Whether it wants to know the URL of the source.
    pub wants_url: bool,
}

const fn step(name: &'static str, destination: &'static str, input: &'static str) -> Step {
    Step {
        name,
        on: "completed",
        destination,
        input,
        wants_url: false,
    }
}

const URL: &str = "https://video.example.com/watch?v=abc";

/// Told by its own callback and by an endpoint of the organization; two steps.
pub static TOLD_BY_TWO: Job = Job {
    fact: "job 6f9619ff",
    otherwise: None,
    space: "tornado",
    id: "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
    tenant: "north",
    end: "completed",
    source_url: Some(URL),
    poll_after: None,
    steps: &[
        Step {
            wants_url: true,
            ..step("cut-v1", "studio", r#"{ "preset": "short", "fps": 25.0 }"#)
        },
        step("file-v1", "archive", r#"{"shelf":7}"#),
    ],
};

/// Its callback comes before it is bound.
pub static BOUND_LATE: Job = Job {
    fact: "job 7c9e6679",
    otherwise: None,
    space: "tornado",
    id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    tenant: "east",
    end: "completed",
    source_url: Some(URL),
    poll_after: None,
    steps: &[step("cut-v1", "studio", r#"{"preset":"long"}"#)],
};

/// Told as completed, and then as failed, which another step waits for.
pub static CONTRADICTED: Job = Job {
    fact: "job 9b2d1c3e",
    otherwise: Some("job 9b2d1c3e (failed)"),
    space: "tornado",
    id: "9b2d1c3e-5a4f-4c6b-8d7e-0f1a2b3c4d5e",
    tenant: "south",
    end: "completed",
    source_url: Some(URL),
    poll_after: None,
    steps: &[
        step("cut-v1", "studio", r#"{"preset":"long"}"#),
        Step {
            on: "failed",
            ..step("refund-v1", "refunds", r#"{"cents":490}"#)
        },
    ],
};

/// Nobody tells of it until its system was asked.
pub static SILENT: Job = Job {
    fact: "job vid-abc123",
    otherwise: None,
    space: "openrouter",
    id: "vid-abc123",
    tenant: "west",
    end: "completed",
    source_url: None,
    poll_after: Some("300ms"),
    steps: &[step("cut-v1", "studio", r#"{"scene":"opening"}"#)],
};

/// Every job of a demo.
pub static ALL: [&Job; 4] = [&TOLD_BY_TWO, &BOUND_LATE, &CONTRADICTED, &SILENT];

/// The account of a job where nobody names one.
const ACCOUNT: &str = "default";

impl Job {
    /// The steps that wait for how it ends.
    pub fn due(&self) -> impl Iterator<Item = &'static Step> + use<> {
        let end = self.end;
        self.steps.iter().filter(move |step| step.on == end)
    }

    /// What the application says of it to the registrar.
    pub fn record(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(Step::record).collect();
        let Self {
            space, id, tenant, ..
        } = self;
        let mut record = format!(
            r#"{{"space":"{space}","job_id":"{id}","tenant":"{tenant}","attempt":1,"steps":[{}]"#,
            steps.join(",")
        );
        if let Some(url) = self.source_url {
            record.push_str(&format!(r#","expected":{{"source-url":"{url}"}}"#));
        }
        if let Some(time) = self.poll_after {
            record.push_str(&format!(r#","poll_after":"{time}""#));
        }
        record.push('}');
        record
    }

    /// What a step of it must send under this key, byte for byte, whoever has told how the job ended.
    pub fn sends(&self, step: &Step, key: &str) -> String {
        let Self {
            space,
            id,
            tenant,
            end,
            ..
        } = self;
        let Step { name, input, .. } = step;
        let job = format!(r#"{{"space":"{space}","id":"{id}","account":"{ACCOUNT}"}}"#);
        let values = match self.source_url {
            Some(url) if step.wants_url => format!(r#","values":{{"source-url":"{url}"}}"#),
            _ => String::new(),
        };
        format!(
            r#"{{"key":"{key}","tenant":"{tenant}","attempt":1,"step":"{name}","job":{job},"outcome":"{end}","input":{input}{values}}}"#
        )
    }
}

impl Step {
    fn record(&self) -> String {
        let Self {
            name,
            on,
            destination,
            input,
            ..
        } = self;
        let values = if self.wants_url {
            r#","values":["source-url"]"#
        } else {
            ""
        };
        format!(
            r#"{{"step":"{name}","on":["{on}"],"destination":"{destination}","input":{input}{values}}}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use ackbox_domain::job::binding;

    use super::*;

    #[test]
    fn every_record_is_one_and_no_two_share_an_action() {
        let mut keys = Vec::new();
        for job in ALL {
            let binding = binding(job.record().as_bytes()).unwrap();
            assert_eq!(binding.job.id, job.id);
            keys.extend(binding.steps.iter().map(|step| binding.key(step)));
        }
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn every_job_has_a_step_for_its_end() {
        assert!(ALL.iter().all(|job| job.due().count() > 0));
        assert_eq!(CONTRADICTED.due().count(), 1);
        assert_eq!(TOLD_BY_TWO.due().count(), 2);
    }
}
