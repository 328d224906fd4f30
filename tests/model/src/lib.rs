//! The delivery protocol as a model that is explored state by state: one accepted action, three
//! dispatchers, two reconcilers, a destination, two operators, and everything that can go wrong between
//! them. The decisions are not modelled: every one is the function itself that decides (`may_claim`,
//! `may_begin`, `settle`, `settle_expired`, `may_ask` and `settle_asked` of
//! `ackbox_domain::settlement`, `redrive` and `resolve` of `ackbox_domain::operator`). What is modelled is what surrounds them: the table, the clocks, the
//! network, death.
//!
//! # What is modelled
//!
//! - **The table** ([`state::Entry`]): the outbox item with the fields that conditions and decisions
//!   read, and the store's conditional writes, which happen whole or not at all. A claim demands
//!   `pending` and the fence that was read. A settlement demands the state and the fence that it was
//!   decided on; a success settles under any fence and in any state; an attempt's own settlement
//!   that is refused still leaves its mark (and clears nothing), that of an expired claim and that of an
//!   answer leave nothing. An operator's word demands the state and the fence that it was decided on,
//!   and takes a fence of its own. Write conditions are mirrored here by hand (`table`), since the store's are
//!   expressions.
//! - **Dispatchers** ([`state::Place`]): woken by the stream's record (which may come twice, late, and
//!   shows the entry as it was accepted) or by a sweep; they decide, claim, check, send, learn of an
//!   end and settle, and any time may pass between any two of these. A claim's answer may be lost; the
//!   claim is then sent again and recognised by its id. A settlement's answer may be lost: nothing
//!   follows from it. A dispatcher may die at any step, its request living on; giving up a write that
//!   never reached the table counts as dying. A settlement may come long after the lease.
//! - **Reconcilers** ([`Answer`]), where the destination is asked: one reads the entry, asks, and has an
//!   answer; it settles that at any later time, or never, since it may die. Two may have answers on their
//!   way at once.
//! - **Time** in steps, without an end: points in time are kept relative to now, and those so far back
//!   that no comparison tells them apart are one. Each invocation has its own clock, exact or one step
//!   ahead, so that any two are up to one step apart, either way (two steps in one more run, without
//!   keys).
//! - **The destination**, with keys, without, and asked: carries out or not, answers success, a final
//!   no, a no for now, busy, or nothing; a connection may fail. With keys it forgets them as early as its
//!   word allows. Asked (it keeps no keys), it says whether it has carried the action out, or that it
//!   cannot tell.
//! - **Operators** ([`Unwritten`]), who may say anything at any time, and of any entry; what does not fit is
//!   refused by the decision itself. They redrive, with the risk or without it; they resolve as applied, as not
//!   applied, as dead. Each reads and decides by a clock of its own, and writes at any later time, or never. A
//!   redrive inside the window permits nothing; one that takes the risk where there is one, and "not applied",
//!   permit one attempt.
//!
//! # What is left together
//!
//! A reading and the decision on it are one step; so are a settlement's decision and its write. A later
//! decision on an older reading only matters where its write still commits, and it commits only where
//! the reading still holds: then it is the decision of a later reading. The time between a claim's
//! decision and its write is modelled, since the lease counts from the decision.
//!
//! A reconciler's reading and its question are one step for the same reason: while an entry stays unknown
//! under one fence nothing arrives, so a later question hears the same. An answer's decision is one step
//! with its write.
//!
//! An operator's reading and write are two steps in full, and one where states are simplified: `operating` says
//! why that is enough, and a test compares the two.
//!
//! A write that can only be refused is refused at once, and what nobody will read any more is dropped
//! (`simplify`). [`Protocol::in_full`] leaves that out; a test compares what the two show, `make model`
//! checks smaller bounds in full as well, and every run with a missing guard is in full.
//!
//! # What is assumed
//!
//! - Two clocks differ by no more than `timing.clock_skew`, and clocks do not jump.
//! - `may_begin` and the first byte of the request are one step: nothing stops a process between them.
//! - A request ends within its timeout, also when its sender has died: nothing is carried out later. That
//!   is what a question counts on: an entry that is unknown then has no request on its way, which is a
//!   property here ([`QUIET`]). A destination that is still at work when it has let the timeout pass must
//!   not say "not applied" of it, or be done before it is asked: within the first wait of `backoff`.
//! - A destination with keys carries nothing out again inside its window. `busy`, a rejection and a
//!   request that never left say truly that this request was not carried out; a success says truly
//!   that the action was. A destination that is asked says the truth, of this action and whatever was
//!   sent so far, or that it cannot tell.
//! - A sweep comes again and again, and a step that stays possible is taken at some time: so no run
//!   stops where it could go on.
//!
//! # What is not shown
//!
//! Acceptance and its transaction; several actions at once; the index's lag (a sweep reads the entry
//! itself before it decides); unknown or moved destinations, and policies that change; a destination that
//! keeps keys and is asked as well; `Retry-After` and jitter (waits are constant, those between questions
//! too); an operator who sends to another destination, or makes a new action; the payload; that the store's expressions are the conditions mirrored here; more than the bounds
//! ([`Bounds::full`], [`Bounds::operated`]): one action, three dispatchers and two reconcilers at a time, two crashes, two
//! records, one operator's act, and two where the destination keeps no keys or, with two dispatchers and no crash,
//! keeps them. Runs with operators have shorter times ([`Bounds::shorter`]), since a redrive begins them anew.
//!
//! # How liveness is shown
//!
//! Every step grows a measure that is bounded (`simplify`), operators acting so often and no more: so no run is
//! endless; and a state after
//! which nothing can happen is closed or held. So every run ends closed or held, whatever the order, and
//! however often the destination cannot tell.

mod after;
mod asking;
mod bounds;
pub mod clock;
mod decide;
mod destination;
mod explore;
mod operating;
pub mod pausing;
mod property;
mod protocol;
mod simplify;
pub mod state;
mod step;
mod story;
mod table;

pub use asking::Answer;
pub use bounds::{Bounds, Destination, Guards};
pub use explore::{Explored, Verdict, explore, shortest_violation};
pub use operating::Unwritten;
pub use property::{
    COMES_TO_REST, INSIDE_LEASE, INSIDE_WINDOW, KNOWN, NO_ENDLESS_RUN, NOT_GIVEN_UP, NOT_LOST,
    NOT_PASSED_OVER, NOT_REPEATED, NOT_SPOKEN_OVER, ONE_AT_ONCE, ONE_EFFECT, QUIET, REMEMBERED,
    STAYS_CLOSED,
};
pub use protocol::Protocol;
pub use step::Step;
