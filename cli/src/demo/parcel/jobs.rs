//! What is told of the jobs: the senders' published shapes, under the ids of the application's jobs.

use super::{Kind, Parcel, new};
use crate::demo::job::{BOUND_LATE, CONTRADICTED, Job, SILENT, TOLD_BY_TWO};

/// The id of the job in Tornado's shapes.
const PUBLISHED: &str = "550e8400-e29b-41d4-a716-446655440000";

const COMPLETED: &[u8] = body!("tornado-callback-completed");
const FAILED: &[u8] = body!("tornado-callback-failed");
const ORGANIZATION: &[u8] = body!("tornado-organization-completed");

/// One job's end, by its own callback and by an endpoint of the organization.
pub fn by_two_endpoints() -> [Parcel; 2] {
    let told = [
        tornado("tornado-job", &TOLD_BY_TWO, COMPLETED),
        tornado("tornado-org", &TOLD_BY_TWO, ORGANIZATION),
    ];
    told.map(|parcel| of_kind(Kind::AtOnce, parcel))
}

/// A job's end, before the application has written the job down.
pub fn early() -> Parcel {
    of_kind(Kind::Early, tornado("tornado-job", &BOUND_LATE, COMPLETED))
}

/// The same, once more.
pub fn early_again() -> Parcel {
    of_kind(Kind::Redelivery, early())
}

/// The end of the job that will be contradicted.
pub fn completed() -> Parcel {
    tornado("tornado-job", &CONTRADICTED, COMPLETED)
}

/// Another end of it.
pub fn then_failed() -> Parcel {
    let mut parcel = tornado("tornado-job", &CONTRADICTED, FAILED);
    parcel.fact = CONTRADICTED.otherwise.unwrap_or(CONTRADICTED.fact);
    of_kind(Kind::OtherEnd, parcel)
}

/// The news of the job that was asked about, when it comes at last.
pub fn late() -> Parcel {
    let body = body!("openrouter-callback-completed");
    let id = "vid-abc123-completed";
    of_kind(Kind::Late, new("openrouter-job", SILENT.fact, id, body))
}

fn tornado(source: &'static str, job: &Job, shape: &[u8]) -> Parcel {
    let body = String::from_utf8_lossy(shape).replace(PUBLISHED, job.id);
    new(source, job.fact, "", body.as_bytes())
}

fn of_kind(kind: Kind, mut parcel: Parcel) -> Parcel {
    parcel.kind = kind;
    parcel
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! fixture {
        ($name:literal) => {
            include_bytes!(concat!("../../../../tests/fixtures/jobs/", $name, ".json")).as_slice()
        };
    }

    #[test]
    fn the_bodies_are_those_of_the_fixtures_byte_for_byte() {
        assert_eq!(COMPLETED, fixture!("tornado/completed"));
        assert_eq!(FAILED, fixture!("tornado/failed"));
        assert_eq!(ORGANIZATION, fixture!("tornado/organization-completed"));
        assert_eq!(late().body, fixture!("openrouter/completed"));
        let said = [
            (
                body!("openrouter-lookup-unknown"),
                fixture!("openrouter/lookup-unknown"),
            ),
            (
                body!("openrouter-lookup-pending"),
                fixture!("openrouter/lookup-pending"),
            ),
            (
                body!("openrouter-lookup-completed"),
                fixture!("openrouter/lookup-completed"),
            ),
            (body!("inbox-compact"), fixture!("inbox/compact")),
            (body!("inbox-spaced"), fixture!("inbox/spaced")),
        ];
        for (own, published) in said {
            assert_eq!(own, published);
        }
    }

    #[test]
    fn every_body_names_the_job_that_it_is_about() {
        let [callback, organization] = by_two_endpoints();
        for (parcel, job) in [
            (callback, &TOLD_BY_TWO),
            (organization, &TOLD_BY_TWO),
            (early(), &BOUND_LATE),
            (completed(), &CONTRADICTED),
            (then_failed(), &CONTRADICTED),
            (late(), &SILENT),
        ] {
            let body = String::from_utf8(parcel.body).unwrap();
            assert!(body.contains(&format!("{:?}", job.id)), "{body}");
        }
    }
}
