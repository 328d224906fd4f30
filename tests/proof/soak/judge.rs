//! Accounts for every event: the ledger, the destinations' logs and the table go in, what does not
//! agree comes out in words.

use std::collections::HashMap;

use ackbox_domain::{ActionKey, EntryState, OutboxEntry, OutcomeKind, Scalar};
use ackbox_store::schema::{self, kind};
use ackbox_tests::engine::Table;

use super::destination::{Destinations, Log, Request};
use super::ledger::{Event, Ledger};

/// What is found.
#[derive(Debug, Default)]
struct Found {
    delivered: usize,
    held: usize,
    dead: usize,
    lost: usize,
    requests: usize,
    repeated: usize,
    wrong: Vec<String>,
}

/// What the table says.
struct Told {
    entries: HashMap<ActionKey, OutboxEntry>,
    conflicts: HashMap<String, usize>,
}

/// Whether everything is accounted for.
pub(crate) async fn judge(ledger: &Ledger, destinations: &Destinations, table: &Table) -> bool {
    let counts = ledger.counts();
    println!(
        "answers: {} accepted, {} duplicates, {} conflicts; {} sent again for want of a 2xx",
        counts.accepted, counts.duplicates, counts.conflicts, counts.repeated
    );
    let mut found = Found {
        wrong: counts.wrong,
        ..Found::default()
    };
    let told = read(table).await;
    let (kept, none) = (destinations.keeps_keys(), destinations.keeps_none());
    for event in ledger.events() {
        let log = if event.keeps_keys { &kept } else { &none };
        found.event(&event, &told, log);
    }
    found.report()
}

async fn read(table: &Table) -> Told {
    let mut told = Told {
        entries: HashMap::new(),
        conflicts: HashMap::new(),
    };
    for item in table.items().await {
        if item.sk() == kind::OUTBOX {
            let entry = item.entry();
            told.entries.insert(entry.key.clone(), entry);
        } else if item.sk().starts_with(kind::CONFLICT) {
            *told.conflicts.entry(item.pk().to_owned()).or_default() += 1;
        }
    }
    told
}

impl Found {
    fn event(&mut self, event: &Event, told: &Told, log: &Log) {
        let rule = if event.keeps_keys {
            "warehouse"
        } else {
            "printer"
        };
        let parts = [Scalar::Text(event.id.clone())];
        let key = ActionKey::new(&format!("orders/{rule}"), &parts);
        let requests = log.get(key.as_str()).map_or(&[][..], Vec::as_slice);
        self.requests += requests.len();
        self.repeated += requests.len().saturating_sub(1);
        let Some(entry) = told.entries.get(&key) else {
            if event.acknowledged {
                self.lost += 1;
                self.wrong
                    .push(format!("{}: acknowledged, and not on the table", event.id));
            }
            return;
        };
        let mut wrong = vec![
            self.ended(entry, requests),
            unexplained(entry, requests),
            requests
                .iter()
                .any(|r| r.body != event.body.as_bytes())
                .then_some("other bytes"),
        ];
        if !event.keeps_keys {
            wrong.push(repeated_in_doubt(requests));
        }
        let conflicts = told.conflicts.get(&schema::action_pk(&key)).copied();
        if conflicts.unwrap_or_default() != event.conflicts {
            wrong.push(Some("not every conflict is on the record"));
        }
        for why in wrong.into_iter().flatten() {
            self.wrong
                .push(format!("{}: {why}: {entry:?} {requests:?}", event.id));
        }
    }

    fn ended(&mut self, entry: &OutboxEntry, requests: &[Request]) -> Option<&'static str> {
        let answered = |status| requests.iter().any(|r| r.status == Some(status));
        match entry.state {
            EntryState::Delivered => {
                self.delivered += 1;
                (!answered(200)).then_some("delivered, and the destination never took it")
            }
            EntryState::Held => {
                self.held += 1;
                entry
                    .first_uncertain_at
                    .is_none()
                    .then_some("held, and certain")
            }
            EntryState::Dead => {
                self.dead += 1;
                (!answered(422)).then_some("dead, and never refused")
            }
            EntryState::Pending | EntryState::Claimed | EntryState::Unknown => {
                self.lost += 1;
                Some("still open")
            }
        }
    }

    fn report(&self) -> bool {
        /// How many lines of what is wrong are shown.
        const SHOWN: usize = 20;
        println!(
            "entries: {} delivered, {} held, {} dead by the destination's own no, {} lost",
            self.delivered, self.held, self.dead, self.lost
        );
        println!(
            "requests: {}, of which {} were repetitions, each explained but {}",
            self.requests,
            self.repeated,
            self.wrong.len()
        );
        for wrong in self.wrong.iter().take(SHOWN) {
            println!("VIOLATION  {wrong}");
        }
        self.wrong.is_empty()
    }
}

/// A repetition needs an attempt on the record that did not surely succeed.
fn unexplained(entry: &OutboxEntry, requests: &[Request]) -> Option<&'static str> {
    if requests.len() as u64 > entry.fence {
        return Some("more requests than claims");
    }
    let failed = entry
        .attempts
        .iter()
        .filter(|a| a.kind != OutcomeKind::Succeeded);
    let reasons = failed.count();
    // Only the last attempts are on the record.
    let is_whole = entry.fence as usize <= OutboxEntry::ATTEMPTS_KEPT;
    (is_whole && requests.len() > reasons + 1).then_some("a repetition without a reason")
}

/// A destination that keeps no keys gets nothing more after anything but a clear "later".
fn repeated_in_doubt(requests: &[Request]) -> Option<&'static str> {
    let last = requests.len().saturating_sub(1);
    let clear = |request: &Request| request.status == Some(429);
    (!requests[..last].iter().all(clear)).then_some("repeated in doubt to one that keeps no keys")
}
