//! The cells of trouble that somebody is told of: the write that holds trouble and its notice is disturbed,
//! and in the end there is one notice for each trouble, delivered, and none without.

use ackbox_domain::notice::SOURCE;
use ackbox_domain::{EntryState, OutboxEntry};
use ackbox_store::schema::kind;
use ackbox_tests::faults::Rule;

use super::case::Case;
use super::cell::{Disturbance, Troubled};
use super::disturb::disturbed;
use super::judge::Seen;
use super::run;

/// What a destination says to whatever comes, notices apart.
pub(super) fn replies(body: &[u8]) -> u16 {
    let notice = format!("\"source\":\"{SOURCE}\"");
    let is_notice = body
        .windows(notice.len())
        .any(|window| window == notice.as_bytes());
    if is_notice { 200 } else { 422 }
}

/// The call that writes the trouble and its notice.
pub(super) fn rule(troubled: Troubled) -> Rule {
    let write = Rule::operation("TransactWriteItems");
    match troubled {
        Troubled::Dead => write.containing("action.dead"),
        Troubled::Conflict => write.containing(kind::CONFLICT),
    }
}

/// One refused action, whose settlement is disturbed; or one with a conflict, whose write is.
pub(super) async fn play(
    case: &Case,
    troubled: Troubled,
    disturbance: &Disturbance,
    seen: &mut Seen,
) -> Result<(), String> {
    match troubled {
        Troubled::Conflict => run::conflicting(case, rule(troubled), disturbance, seen).await,
        Troubled::Dead => {
            run::accept(case, 1, seen).await?;
            let (dispatcher, event) = (case.dispatcher().await?, case.batch().await);
            let call = rule(troubled);
            if !disturbed(case, &dispatcher, &event, call, disturbance).await? {
                return Err("it never came to this step".to_owned());
            }
            case.repair().await
        }
    }
}

/// What is wrong with the notices: each trouble has one, delivered, and there is no other.
pub(super) fn violations(seen: &Seen) -> Vec<String> {
    let (notices, actions): (Vec<&OutboxEntry>, Vec<&OutboxEntry>) = seen
        .entries
        .iter()
        .partition(|entry| entry.source.as_str() == SOURCE);
    let mut violations: Vec<String> = Vec::new();
    let in_trouble =
        |entry: &&&OutboxEntry| matches!(entry.state, EntryState::Dead | EntryState::Held);
    let troubled = actions.iter().filter(in_trouble).count();
    if troubled != actions.len() {
        violations.push("an action that was refused is neither dead nor held".to_owned());
    }
    let trouble = troubled + seen.conflicts;
    if notices.len() != trouble {
        violations.push(format!("{} notices of {trouble} troubles", notices.len()));
    }
    let open = notices
        .iter()
        .filter(|notice| notice.state != EntryState::Delivered);
    violations.extend(open.map(|notice| format!("a notice ends {}", notice.state)));
    violations
}
