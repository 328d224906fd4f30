//! A service said no: its status and code come in, what that proves about the action goes out. Only a code
//! whose page says that nothing was done proves that nothing was done; a failure of the service proves
//! nothing.

use std::time::Duration;

use ackbox_domain::{AttemptOutcome, OutcomeKind};

/// An answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The service's code; empty where neither the answer's head nor its body told one.
    pub(crate) code: String,
    /// What it says, scrubbed.
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

/// What a service's own codes mean, where the status alone would say something else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// The body itself is refused: another attempt with the same bytes would be, too.
    pub(crate) refuses_body: &'static [&'static str],
    /// Later, and nothing was done.
    pub(crate) later: &'static [&'static str],
    /// Nothing was done, though the status is one of the service's own failures.
    pub(crate) not_begun: &'static [&'static str],
    /// Something may have been done, though the status is one of the caller's mistakes.
    pub(crate) may_have_run: &'static [&'static str],
}

/// Codes by which services throttle. All of them are sent before anything is done.
const THROTTLING: [&str; 11] = [
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "PriorRequestNotComplete",
];

impl Refusal {
    /// What the refusal proves.
    ///
    /// | answer | outcome |
    /// | --- | --- |
    /// | throttled (a code that says so, 429) | `busy` |
    /// | the body is refused (`refuses_body`) | `rejected` |
    /// | any other 3xx or 4xx with a code: access denied, no such queue, an expired token | `not_sent` |
    /// | 408, codes of `may_have_run` | `unknown` |
    /// | a 3xx or 4xx without a code: whoever wrote it need not be the service | `unknown` |
    /// | 5xx | `unknown`, but for codes that say that nothing was done |
    ///
    /// Access denied and their like are `not_sent`, not `rejected`: the service turned the request away
    /// before anyone looked at the action, and what is wrong is our own setting. Once it is mended the
    /// same action goes through, so it must not be dead by then; `retry_for` is the time to mend it in.
    pub(crate) fn kind(&self, service: &Service) -> OutcomeKind {
        // Older codes carry their service: `AWS.SimpleQueueService.NonExistentQueue`.
        let code = self.code.rsplit('.').next().unwrap_or_default();
        if service.may_have_run.contains(&code) {
            OutcomeKind::Unknown
        } else if service.later.contains(&code) || THROTTLING.contains(&code) || self.status == 429
        {
            OutcomeKind::Busy
        } else if service.refuses_body.contains(&code) {
            OutcomeKind::Rejected
        } else if service.not_begun.contains(&code) {
            OutcomeKind::NotSent
        } else {
            match self.status {
                408 => OutcomeKind::Unknown,
                300..=499 if !code.is_empty() => OutcomeKind::NotSent,
                _ => OutcomeKind::Unknown,
            }
        }
    }

    /// The outcome of an attempt that was refused so.
    pub(crate) fn outcome(&self, service: &Service) -> AttemptOutcome {
        let kind = self.kind(service);
        AttemptOutcome::new(kind, Some(self.status), &self.words())
            .with_retry_after(self.retry_after.filter(|_| kind == OutcomeKind::Busy))
    }

    /// Status, code, message.
    pub(crate) fn words(&self) -> String {
        let Self {
            status,
            code,
            message,
            ..
        } = self;
        match (code.as_str(), message.as_str()) {
            ("", "") => format!("{status}: no reason given"),
            ("", message) => format!("{status}: {message}"),
            (code, "") => format!("{status}: {code}"),
            (code, message) => format!("{status}: {code}: {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: Service = Service {
        refuses_body: &["InvalidMessageContents"],
        later: &["OverLimit"],
        not_begun: &["InvalidRuntimeException"],
        may_have_run: &["EFSIOException"],
    };

    fn kind(status: u16, code: &str) -> OutcomeKind {
        let refusal = Refusal {
            status,
            code: code.to_owned(),
            message: String::new(),
            retry_after: None,
        };
        refusal.kind(&SERVICE)
    }

    #[test]
    fn only_what_proves_that_nothing_was_done_counts_so() {
        use OutcomeKind::{Busy, NotSent, Rejected, Unknown};
        for (status, code, expected) in [
            (400, "ThrottlingException", Busy),
            (403, "KMS.ThrottlingException", Busy),
            (403, "OverLimit", Busy),
            (429, "", Busy),
            (503, "SlowDown", Busy),
            (400, "InvalidMessageContents", Rejected),
            (403, "AccessDeniedException", NotSent),
            (403, "ExpiredTokenException", NotSent),
            (400, "AWS.SimpleQueueService.NonExistentQueue", NotSent),
            (301, "PermanentRedirect", NotSent),
            (301, "", Unknown),
            (400, "", Unknown),
            (404, "", Unknown),
            (499, "", Unknown),
            (502, "InvalidRuntimeException", NotSent),
            (410, "EFSIOException", Unknown),
            (408, "", Unknown),
            (500, "InternalFailure", Unknown),
            (503, "ServiceUnavailable", Unknown),
            (504, "", Unknown),
            (600, "", Unknown),
        ] {
            assert_eq!(kind(status, code), expected, "{status} {code}");
        }
    }
}
