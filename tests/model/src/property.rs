//! What must always hold, in every state; what must be seen somewhere, so that none of it holds for
//! want of trying.

use ackbox_domain::EntryState;
use stateright::Property;

use crate::Protocol;
use crate::bounds::Bounds;
use crate::state::{Broken, Place, State, Word};

/// Delivered only what the destination carried out; dead only what it did not.
pub const NOT_LOST: &str = "no accepted action is lost";
/// A destination without keys.
pub const NOT_REPEATED: &str =
    "without keys, nothing is sent after what may have arrived but on a word since then";
/// Leases.
pub const INSIDE_LEASE: &str = "a request begins only inside its lease";
/// Windows.
pub const INSIDE_WINDOW: &str = "a repeated request begins only inside the window";
/// Effects.
pub const ONE_EFFECT: &str = "with keys or asked, the action is carried out once";
/// Requests at once.
pub const ONE_AT_ONCE: &str = "no two requests are on their way at once";
/// Closing.
pub const STAYS_CLOSED: &str = "a closed entry reopens only by an operator";
/// Successes.
pub const REMEMBERED: &str = "a settled success is delivered, whoever held the claim";
/// Marks.
pub const KNOWN: &str = "what is known not to have arrived is not marked as uncertain";
/// Words.
pub const NOT_PASSED_OVER: &str = "what a word permits is not held for the doubt that it answered";
/// Doubt.
pub const NOT_GIVEN_UP: &str = "what is unknown becomes delivered, pending or held, and never dead";
/// Asking.
pub const QUIET: &str = "while an entry is unknown, no request is on its way";
/// Operators.
pub const NOT_SPOKEN_OVER: &str = "no operator's word is written while a request is on its way";
/// The end.
pub const COMES_TO_REST: &str = "a run ends only with the entry closed or held";
/// Progress.
pub const NO_ENDLESS_RUN: &str = "every step comes nearer to an end";

pub(crate) fn properties(bounds: &Bounds) -> Vec<Property<Protocol>> {
    let mut properties = always();
    properties.extend(sometimes());
    if bounds.keeps_keys() {
        properties.push(Property::sometimes(
            "seen: an operator has it sent again inside the window",
            |_, state| is_sent_inside_window(state),
        ));
    }
    if bounds.is_asked() {
        properties.extend(sometimes_of_asking());
    }
    properties
}

fn always() -> Vec<Property<Protocol>> {
    vec![
        Property::always(NOT_LOST, |_, state| is_not_lost(state)),
        Property::always(NOT_REPEATED, |_, state| is_free_of(state, Broken::REPEATED)),
        Property::always(INSIDE_LEASE, |_, state| {
            is_free_of(state, Broken::PAST_LEASE)
        }),
        Property::always(INSIDE_WINDOW, |_, state| {
            is_free_of(state, Broken::PAST_WINDOW)
        }),
        Property::always(ONE_EFFECT, |_, state| is_free_of(state, Broken::TWICE)),
        Property::always(ONE_AT_ONCE, |_, state: &State| state.in_flight() <= 1),
        Property::always(STAYS_CLOSED, |_, state| is_free_of(state, Broken::REOPENED)),
        Property::always(REMEMBERED, |_, state| is_free_of(state, Broken::FORGOTTEN)),
        Property::always(KNOWN, |_, state| is_free_of(state, Broken::MARKED)),
        Property::always(NOT_PASSED_OVER, |_, state| {
            is_free_of(state, Broken::PASSED_OVER)
        }),
        Property::always(NOT_GIVEN_UP, |_, state| is_free_of(state, Broken::GIVEN_UP)),
        Property::always(QUIET, |_, state: &State| {
            state.entry.state != EntryState::Unknown || state.in_flight() == 0
        }),
        Property::always(NOT_SPOKEN_OVER, |_, state| {
            is_free_of(state, Broken::SPOKEN_OVER)
        }),
        Property::always(COMES_TO_REST, comes_to_rest),
        Property::always(NO_ENDLESS_RUN, |_, state| {
            is_free_of(state, Broken::BACKWARDS)
        }),
    ]
}

fn sometimes() -> Vec<Property<Protocol>> {
    vec![
        Property::sometimes("seen: a third claim is taken", |model, state: &State| {
            state.entry.fence >= 3 && model.is_untouched(state)
        }),
        Property::sometimes(
            "seen: a success comes after another's claim",
            |_, state: &State| state.entry.state == EntryState::Delivered && has_open_claim(state),
        ),
        Property::sometimes("seen: an entry is held", |_, state: &State| {
            state.entry.state == EntryState::Held
        }),
        Property::sometimes(
            "seen: an entry is dead by itself",
            |model, state: &State| {
                state.entry.state == EntryState::Dead && model.is_untouched(state)
            },
        ),
        Property::sometimes(
            "seen: an operator has it carried out twice",
            |_, state: &State| state.truth.effects == 2,
        ),
    ]
}

fn sometimes_of_asking() -> Vec<Property<Protocol>> {
    vec![
        Property::sometimes("seen: two answers are on their way", |_, state: &State| {
            state.reconcilers.iter().all(Option::is_some)
        }),
        Property::sometimes(
            "seen: a request leaves on a word",
            |model, state: &State| model.is_untouched(state) && is_sent_on_word(state, 2),
        ),
        Property::sometimes(
            "seen: another one leaves on a word of its own",
            |model, state: &State| model.is_untouched(state) && is_sent_on_word(state, 3),
        ),
    ]
}

fn is_free_of(state: &State, what: Broken) -> bool {
    !state.truth.broken.has(what)
}

/// Delivered: carried out at least once. Dead: never carried out. Else it is open, and on the table.
/// An operator's word counts for either.
fn is_not_lost(state: &State) -> bool {
    match state.entry.state {
        EntryState::Delivered => state.truth.effects > 0 || state.truth.word == Some(Word::Applied),
        EntryState::Dead => state.truth.effects == 0 || state.truth.word == Some(Word::Dead),
        _ => true,
    }
}

/// A state after which nothing happens is one of rest.
fn comes_to_rest(model: &Protocol, state: &State) -> bool {
    state.is_at_rest() || model.goes_on(state)
}

fn is_sent_on_word(state: &State, fence: u8) -> bool {
    let is_so = |at| matches!(at, Place::Sent(a, _) if a.on_word && a.fence >= fence);
    state.dispatchers.iter().any(|d| is_so(d.at))
}

/// Redriven after an attempt that may have arrived, and no word answered that doubt.
fn is_sent_inside_window(state: &State) -> bool {
    let is_so = |at| matches!(at, Place::Sent(a, _) if a.after_uncertain && !a.on_word);
    state.entry.redriven_at.is_some() && state.dispatchers.iter().any(|d| is_so(d.at))
}

fn has_open_claim(state: &State) -> bool {
    state
        .dispatchers
        .iter()
        .any(|d| matches!(d.at, Place::Claimed(_) | Place::Sent(..)))
}
