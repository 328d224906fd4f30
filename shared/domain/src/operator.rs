//! Decides what an operator's word means for an entry: how it stands, the word and `now` come in, what the
//! table is to say goes out, or why it is refused. What must never happen: an action that may have arrived is
//! sent again, where the destination would carry it out again, without the operator having said that this risk
//! is theirs.
//!
//! Each word takes a number of its own in the entry's count of claims, so that nothing that was decided before
//! it, and is written after it, still fits.

mod anew;

use std::time::Duration;

pub use anew::Content;

use crate::outbox::{EntryState, Origin};
use crate::settlement::{
    ClaimDecision, Idempotency, Reason, Settled, Settlement, Standing, Terms, Timing, expiry,
};
use crate::time::Timestamp;

/// What an operator says has happened to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// The destination has it.
    Applied,
    /// The destination does not have it, whatever was sent so far: send it.
    NotApplied,
    /// It is not to be sent any more.
    Dead,
}

/// The risk that an operator takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Risk {
    /// It may be carried out again: the destination does not know its key any more, or never did.
    pub past_window: bool,
    /// It may be carried out a second time elsewhere: whoever answers there now never saw the earlier attempts.
    pub elsewhere: bool,
}

/// Where an action that is sent again goes.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// That destination's terms.
    pub terms: Terms<'a>,
    /// Who answers there.
    pub origin: Origin,
    /// Whether it is another destination than before.
    pub is_other: bool,
}

/// What is known of an earlier attempt when an action is to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// None may have arrived.
    None,
    /// One may have arrived, and the destination still keeps the key: it is not carried out again.
    Kept {
        /// Until when.
        until: Timestamp,
    },
    /// One may have arrived, and the destination keeps no key, or not any more.
    Forgotten {
        /// When that attempt began.
        since: Timestamp,
        /// For how long it keeps a key.
        window: Option<Duration>,
    },
    /// One may have arrived, and not where the next one goes.
    Elsewhere {
        /// When that attempt began.
        since: Timestamp,
    },
}

/// Why an operator's word does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// An attempt has a claim.
    #[error("an attempt is under way until {until}")]
    UnderWay {
        /// Until when.
        until: Timestamp,
    },
    /// It is due.
    #[error("it is pending and due: the next sweep sends it")]
    IsDue,
    /// It stands so already.
    #[error("it is {0} already")]
    StandsSo(EntryState),
    /// The destination has it.
    #[error("it is delivered")]
    Delivered,
    /// A new action stands for it.
    #[error("a new action was made of it")]
    Replaced,
    /// It was given up.
    #[error("it is dead, and nothing of it is in doubt")]
    IsDead,
    /// It waits for its next attempt, and none before may have arrived.
    #[error("it is pending, and no attempt of it is in doubt: there is nothing to say of it")]
    NoDoubt,
    /// It is still to be sent.
    #[error("it is {0}: it may still be sent as it is")]
    StillOpen(EntryState),
    /// [`Doubt::Forgotten`].
    #[error("{}, and the destination {}: to send it now may carry it out twice", arrived(*.since), keeps(*.window))]
    PastWindow {
        /// When that attempt began.
        since: Timestamp,
        /// For how long the destination keeps a key.
        window: Option<Duration>,
    },
    /// An earlier attempt may have arrived, under another key than the new action's.
    #[error("{}, and the destination does not know a new key: to send it may carry it out twice", arrived(*.since))]
    NewKey {
        /// When that attempt began.
        since: Timestamp,
    },
    /// [`Doubt::Elsewhere`].
    #[error("{} at another address than the one where this goes now: to send it may carry it out twice", arrived(*.since))]
    Elsewhere {
        /// When that attempt began.
        since: Timestamp,
    },
}

fn arrived(since: Timestamp) -> String {
    format!("an attempt of {since} may have arrived")
}

fn keeps(window: Option<Duration>) -> String {
    match window {
        Some(window) => {
            let seconds = Duration::from_secs(window.as_secs());
            format!("keeps a key for {seconds:?} only")
        }
        None => "keeps no keys".to_owned(),
    }
}

/// What is known of earlier attempts when an action goes this way at `now`.
pub fn doubt(standing: &Standing, way: &Way<'_>, now: Timestamp) -> Doubt {
    let Some(since) = in_doubt(standing) else {
        return Doubt::None;
    };
    if way.is_other || standing.origin.is_some_and(|last| last != way.origin) {
        return Doubt::Elsewhere { since };
    }
    match way.terms.policy.idempotency {
        // Where an operator has vouched before, it may have gone elsewhere meanwhile: whose window it is, is not
        // known any more.
        Idempotency::Window(window)
            if !standing.is_vouched && way.terms.inside_window(since, now) =>
        {
            Doubt::Kept {
                until: since.plus(window),
            }
        }
        Idempotency::Window(window) => Doubt::Forgotten {
            since,
            window: Some(window),
        },
        Idempotency::None => Doubt::Forgotten {
            since,
            window: None,
        },
    }
}

/// Since when an attempt may have arrived. An operator's word answers that for the attempt that it allows, and for
/// no other word of an operator: a risk that was taken is not taken once more by somebody who does not say so.
fn in_doubt(standing: &Standing) -> Option<Timestamp> {
    if standing.is_vouched {
        standing.first_uncertain_at
    } else {
        standing.doubt()
    }
}

/// The same where a new action goes, with a key that nobody knows. `None`: it is delivered, and carried out once
/// more.
pub fn doubt_of_new(standing: &Standing) -> Option<Doubt> {
    let doubt = in_doubt(standing).map_or(Doubt::None, |since| Doubt::Forgotten {
        since,
        window: None,
    });
    (standing.state != EntryState::Delivered).then_some(doubt)
}

/// Decides whether an action is sent again under its own key, at once and with its whole time for retries
/// before it. Inside the destination's window that is safe, and stays so: where the window ends before the
/// next attempt, that attempt is not made. Past it, `risk` must say so, and covers one attempt.
///
/// # Errors
/// Why it is not.
pub fn redrive(
    standing: &Standing,
    way: &Way<'_>,
    risk: Risk,
    now: Timestamp,
) -> Result<Settled, Refusal> {
    is_free(standing, way.terms.timing, now)?;
    match standing.state {
        EntryState::Delivered => return Err(Refusal::Delivered),
        EntryState::Pending
            if standing.due_at.is_some_and(|due_at| due_at <= now) && !way.is_other =>
        {
            return Err(Refusal::IsDue);
        }
        _ => {}
    }
    let settled = again(standing, now);
    match doubt(standing, way, now) {
        Doubt::Elsewhere { since } if !risk.elsewhere => Err(Refusal::Elsewhere { since }),
        Doubt::Forgotten { since, window } if !risk.past_window => {
            Err(Refusal::PastWindow { since, window })
        }
        Doubt::Elsewhere { .. } | Doubt::Forgotten { .. } => Ok(vouched(standing, settled)),
        Doubt::Kept { .. } => Ok(settled),
        // Where the doubt was answered before, that answer is for the next attempt.
        Doubt::None if standing.first_uncertain_at.is_some() => Ok(cleared(standing, settled)),
        Doubt::None => Ok(settled),
    }
}

/// Decides what an operator's knowledge of what happened makes of an entry.
///
/// # Errors
/// Why nothing.
pub fn resolve(
    standing: &Standing,
    resolution: Resolution,
    timing: &Timing,
    now: Timestamp,
) -> Result<Settled, Refusal> {
    is_free(standing, timing, now)?;
    let as_it_is = |settlement| Ok(Settled::new(settlement, standing.first_uncertain_at));
    match (resolution, standing.state) {
        (Resolution::Applied, EntryState::Delivered) | (Resolution::Dead, EntryState::Dead) => {
            Err(Refusal::StandsSo(standing.state))
        }
        (_, EntryState::Delivered) => Err(Refusal::Delivered),
        (Resolution::Applied, _) => as_it_is(Settlement::Delivered),
        (Resolution::Dead, _) => as_it_is(Settlement::Dead(Reason::Operator)),
        (Resolution::NotApplied, EntryState::Dead) if in_doubt(standing).is_none() => {
            Err(Refusal::IsDead)
        }
        (Resolution::NotApplied, EntryState::Pending) if standing.doubt().is_none() => {
            Err(Refusal::NoDoubt)
        }
        (Resolution::NotApplied, _) => Ok(vouched(standing, again(standing, now))),
    }
}

/// Decides what becomes of an entry in whose place a new action, with a key of its own, is sent: it is closed,
/// where it is not. `None`: it stays delivered. No window holds for a new key: where an attempt may have arrived,
/// `risk` must say so.
///
/// # Errors
/// It may still be sent itself, or may have arrived.
pub fn replace(
    standing: &Standing,
    timing: &Timing,
    risk: Risk,
    now: Timestamp,
) -> Result<Option<Settled>, Refusal> {
    is_free(standing, timing, now)?;
    match (standing.state, in_doubt(standing)) {
        (EntryState::Delivered, _) => Ok(None),
        (EntryState::Pending, _) => Err(Refusal::StillOpen(standing.state)),
        (_, Some(since)) if !risk.past_window => Err(Refusal::NewKey { since }),
        _ => {
            let replaced = Settlement::Dead(Reason::Replaced);
            Ok(Some(Settled::new(replaced, standing.first_uncertain_at)))
        }
    }
}

/// Whether an operator may speak of the entry: nobody has it in hand, and no new action stands for it. A claim
/// that ran out is the sweep's: it knows what that means.
fn is_free(standing: &Standing, timing: &Timing, now: Timestamp) -> Result<(), Refusal> {
    if standing.is_replaced {
        return Err(Refusal::Replaced);
    }
    if standing.state != EntryState::Claimed {
        return Ok(());
    }
    let until = match expiry(standing, timing, now) {
        ClaimDecision::InProgress { until } => until.plus(timing.clock_skew),
        _ => now.plus(timing.first_due),
    };
    Err(Refusal::UnderWay { until })
}

fn again(standing: &Standing, now: Timestamp) -> Settled {
    Settled::new(
        Settlement::Retry { due_at: now },
        standing.first_uncertain_at,
    )
}

/// The same, on the operator's word alone. That proves nothing of what came before.
fn vouched(standing: &Standing, settled: Settled) -> Settled {
    Settled {
        is_vouched: standing.first_uncertain_at.is_some(),
        ..cleared(standing, settled)
    }
}

/// The number that this word takes covers itself and all before it.
fn cleared(standing: &Standing, settled: Settled) -> Settled {
    Settled {
        cleared_fence: Some(standing.fence.saturating_add(1)),
        ..settled
    }
}

#[cfg(test)]
mod tests;
