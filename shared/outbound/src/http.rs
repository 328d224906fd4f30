//! The destination kind `http`: one `POST` of the stored body. An action and a destination come in,
//! what is known of the attempt goes out.

pub(crate) mod answer;
pub(crate) mod request;

use ackbox_config::{DestinationConfig, HttpDestination};
use ackbox_domain::{AttemptOutcome, OutcomeKind};

use crate::connect::{Stream, connect};
use crate::deadline::Deadline;
use crate::exchange::{EXCERPT_MAX, exchange};
use crate::http::request::{Prepared, prepare};
use crate::{Delivery, NotSent, Shared};

/// One attempt, in its stages.
pub(crate) async fn deliver(
    shared: &Shared,
    destination: &DestinationConfig,
    http: &HttpDestination,
    delivery: &Delivery<'_>,
    may_begin: impl FnOnce() -> bool + Send,
) -> AttemptOutcome {
    let deadline = Deadline::in_time(destination.policy.timeout);
    match begin(shared, http, delivery, may_begin, &deadline).await {
        Err(not_sent) => not_sent.into(),
        Ok((prepared, stream)) => {
            let Prepared { request, redactor } = prepared;
            match exchange(stream, request, EXCERPT_MAX, &deadline).await {
                Ok(answer) => answer::outcome(
                    &answer,
                    destination.policy.idempotency,
                    delivery.now.plus(deadline.elapsed()),
                    &redactor,
                ),
                Err(none) if none.may_have_left => AttemptOutcome::new(
                    OutcomeKind::Unknown,
                    None,
                    &redactor.scrub(&format!("the request may have arrived: {}", none.why)),
                ),
                Err(none) => NotSent(redactor.scrub(&none.why)).into(),
            }
        }
    }
}

/// Everything before the first byte of the request.
async fn begin(
    shared: &Shared,
    http: &HttpDestination,
    delivery: &Delivery<'_>,
    may_begin: impl FnOnce() -> bool + Send,
    deadline: &Deadline,
) -> Result<(Prepared, Stream), NotSent> {
    let prepared = deadline
        .guard(
            "resolving secrets",
            prepare(&shared.secrets, http, delivery),
        )
        .await??;
    let stream = connect(&shared.tls, &http.url, http.allow_private, deadline).await?;
    // Stages that never had to wait do not notice that the time is up.
    if deadline.remaining().is_zero() {
        return Err(NotSent(format!(
            "the time ({:?}) was up before the request",
            deadline.total()
        )));
    }
    if may_begin() {
        Ok((prepared, stream))
    } else {
        Err(NotSent("the claim no longer covers the request".to_owned()))
    }
}
