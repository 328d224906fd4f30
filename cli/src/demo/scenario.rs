//! What happens in a demo, a function for each step, in order. Each step ends when what it is about can
//! be seen from outside; none waits for a time to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use futures_util::future;

use ackbox_domain::settlement::Word;

use super::destination::{Answered, Received};
use super::parcel::{self, Parcel};
use super::setting::{CANNOT_SAY, HAS_IT, HAS_IT_NOT, IS_PAUSED, STALLS};
use super::stage::{Stage, StageError};
use super::verdict::{Counts, Expected, Trouble};

mod jobs;

/// How often each new event comes again.
const REDELIVERIES: usize = 2;
/// How many senders tell the same event at once.
const AT_ONCE: usize = 32;

/// What a run must come to.
pub fn expected() -> Expected {
    use Answered::{Dropped, Stalled, Status};
    use Word::{Applied, NotApplied, StillUnknown};
    let trouble = |fact, attempts: &[Answered], words: &[Word]| Trouble {
        fact,
        attempts: attempts.to_vec(),
        words: words.to_vec(),
    };
    Expected {
        counts: Counts {
            requests: 5 + 10 + 32 + 1 + 2 + 3 + 1 + 2 * jobs::TELLINGS + 2 + 2 + 4 + 2 + 3 + 1,
            accepted: 16 + 3,
            duplicates: 10 + 31 + (2 * jobs::TELLINGS - 1) + 1 + 1,
            conflicts: 2 + 1,
            refused: 3,
            ignored: 1,
            delivered: 14 + 3,
            held: 2,
            too_large: 1,
            asked: 3,
            parked: 1,
            polled: 1,
            workflow_actions: 5,
            ..Counts::default()
        },
        trouble: vec![
            trouble("batch_completed 550e8400", &[Stalled, Status(200)], &[]),
            trouble("deployment", &[Status(503), Status(503), Status(200)], &[]),
            trouble(
                "issue opened",
                &[Status(503), Status(503), Status(200)],
                &[],
            ),
            trouble("issue closed", &[Status(200)], &[]),
            trouble("job_failed 550e8400", &[Dropped, Status(200)], &[]),
            trouble("avatar_video.ready avv_01", &[Dropped], &[]),
            trouble("video completed abc123", &[Dropped], &[Applied]),
            trouble(
                "order 820982911946154508",
                &[Dropped, Status(200)],
                &[NotApplied],
            ),
            trouble("test 2432232314", &[Dropped], &[StillUnknown]),
        ],
    }
}

/// A step that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was done.
    pub title: &'static str,
    /// What came of it.
    pub came: String,
}

/// Which step runs; for whoever has to say where it all stopped.
#[derive(Debug, Default)]
pub struct Place(Mutex<&'static str>);

impl Place {
    /// The step's title.
    pub fn title(&self) -> &'static str {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, title: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = title;
    }
}

/// Plays every step; `tell` hears of each when it has ended.
///
/// # Errors
///
/// The table cannot be read. What goes wrong with a message or a delivery is for the verdict to find.
pub async fn play(stage: &Stage, place: &Place, tell: impl Fn(Step)) -> Result<(), StageError> {
    macro_rules! step {
        ($title:literal, $step:expr) => {{
            place.enter($title);
            let before = stage.senders.ledger.pages().len();
            let came: Option<String> = $step.await?;
            let came = came.unwrap_or_else(|| answers_since(stage, before));
            let title = $title;
            tell(Step { title, came });
        }};
    }
    step!(
        "a job is bound, and nobody tells of it",
        jobs::silent(stage)
    );
    step!("5 new events, one of each sender", news(stage));
    step!("10 redeliveries, each signed afresh", redeliveries(stage));
    step!("one event, told by 32 senders at once", at_once(stage));
    step!(
        "a known job with another body",
        send(stage, parcel::other_body())
    );
    step!("one forged, one stale, one too large", unwanted(stage));
    step!("a webhook.test", send(stage, parcel::test()));
    step!(
        "the dispatcher is stopped after it has sent",
        stopped(stage)
    );
    step!("one destination is down, and is paused", paused(stage));
    step!("one destination is down, two hang up", trouble(stage));
    step!("three that can be asked hang up", to_be_asked(stage));
    step!("one inbox, one id, other white space", jobs::inbox(stage));
    step!(
        "a job of two steps, told by two endpoints",
        jobs::by_two_endpoints(stage)
    );
    step!(
        "a callback comes before its job is bound",
        jobs::bound_late(stage)
    );
    step!(
        "a job completes, then is told as failed",
        jobs::contradicted(stage)
    );
    step!(
        "the silent job is asked about, then told",
        jobs::asked(stage)
    );
    step!("they are asked what became of it", asked(stage));
    step!("the pause ends by a probe", probed(stage));
    step!("repeat what may be repeated, hold the rest", settled(stage));
    Ok(())
}

type Came = Result<Option<String>, StageError>;

async fn send(stage: &Stage, parcel: Parcel) -> Came {
    stage.senders.send(parcel).await;
    Ok(None)
}

async fn send_at_once(stage: &Stage, parcels: impl IntoIterator<Item = Parcel>) -> Came {
    let senders = &stage.senders;
    future::join_all(parcels.into_iter().map(|parcel| senders.send(parcel))).await;
    Ok(None)
}

async fn news(stage: &Stage) -> Came {
    send_at_once(stage, parcel::news()).await
}

async fn redeliveries(stage: &Stage) -> Came {
    for round in 1..=REDELIVERIES {
        let again = parcel::news().map(|parcel| parcel::again(&parcel, round));
        send_at_once(stage, again).await?;
    }
    Ok(None)
}

async fn at_once(stage: &Stage) -> Came {
    send_at_once(stage, std::iter::repeat_n(parcel::at_once(), AT_ONCE)).await
}

async fn unwanted(stage: &Stage) -> Came {
    let reports = stage.setting.config.sources.get("reports");
    let max = reports.map_or(0, |reports| reports.source.max_body);
    let parcels = [parcel::forged(), parcel::stale(), parcel::too_large(max)];
    send_at_once(stage, parcels).await
}

/// The dispatcher is stopped when its request has arrived, and before it can know or settle anything.
async fn stopped(stage: &Stage) -> Came {
    // Alone on the stage: what is stopped is to be this one attempt.
    stage.until_settled(6).await?;
    stage.senders.send(parcel::for_the_one_that_stalls()).await;
    if let Some(destination) = stage.destination(STALLS) {
        destination.until(|log| !log.is_empty()).await;
    }
    stage.runtime.kill_invocations();
    // Not before: what is stopped was to be alone.
    stage.setting.status.may_tell();
    let lease = stage.setting.config.delivery.timing.lease;
    let came = format!("1 accepted; claim lasts {:.1} s", lease.as_secs_f64());
    Ok(Some(came))
}

/// Its first failure pauses it; what comes then waits.
async fn paused(stage: &Stage) -> Came {
    let senders = &stage.senders;
    senders.send(parcel::for_the_one_that_is_paused()).await;
    stage.until_paused(IS_PAUSED).await?;
    let meanwhile = parcel::for_the_one_that_is_paused_already();
    senders.send(meanwhile).await;
    Ok(Some("1 failed, 1 waits for its end".to_owned()))
}

/// Both of its actions are there: after one that failed, how many probes, and what came behind them?
async fn probed(stage: &Stage) -> Came {
    let Some(destination) = stage.destination(IS_PAUSED) else {
        return Ok(None);
    };
    let are_both = |log: &[Received]| {
        let keys: BTreeSet<&str> = log.iter().map(|one| one.key.as_str()).collect();
        keys.len() > 1 && log.iter().any(|one| one.seen > 2)
    };
    destination.until(are_both).await;
    let requests = destination.received().len();
    Ok(Some(format!("{requests} requests there in all")))
}

async fn trouble(stage: &Stage) -> Came {
    let parcels = [
        parcel::for_the_one_that_is_down(),
        parcel::for_the_one_that_hangs_up(),
        parcel::for_the_one_without_keys(),
    ];
    send_at_once(stage, parcels).await
}

async fn to_be_asked(stage: &Stage) -> Came {
    let parcels = [
        parcel::for_the_one_that_has_it(),
        parcel::for_the_one_that_has_it_not(),
        parcel::for_the_one_that_cannot_say(),
    ];
    send_at_once(stage, parcels).await
}

async fn asked(stage: &Stage) -> Came {
    let mut words = Vec::new();
    for name in [HAS_IT, HAS_IT_NOT, CANNOT_SAY] {
        if let Some(destination) = stage.destination(name) {
            destination.until_asked(1).await;
            let first = destination.asked().into_iter().next();
            words.extend(first.map(|first| in_words(first.reply.means())));
        }
    }
    Ok(Some(words.join(", ")))
}

async fn settled(stage: &Stage) -> Came {
    if let Some(destination) = stage.destination(STALLS) {
        destination.until(|log| log.len() > 1).await;
    }
    stage.until_settled(21).await?;
    // Nothing may be left to do: whatever this sweep sends, the verdict will see.
    let swept = stage.runtime.sweep_now().await;
    Ok(Some(format!("a last sweep finds {} due", swept["found"])))
}

const fn in_words(word: Word) -> &'static str {
    match word {
        Word::Applied => "applied",
        Word::NotApplied => "not applied",
        Word::StillUnknown => "unclear",
    }
}

/// What the senders were answered since then, in words: `1 accepted, 31 duplicates`.
fn answers_since(stage: &Stage, before: usize) -> String {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    let pages = stage.senders.ledger.pages();
    for sent in pages.iter().skip(before) {
        let word = match &sent.answer {
            Ok(answer) if answer.outcome == "too-large" => "refused",
            Ok(answer) => &answer.outcome,
            Err(_) => "unanswered",
        };
        *counted.entry(word).or_default() += 1;
    }
    let words = counted.into_iter().map(|(word, count)| {
        let is_noun = matches!(word, "duplicate" | "conflict");
        let plural = if is_noun && count > 1 { "s" } else { "" };
        format!("{count} {word}{plural}")
    });
    words.collect::<Vec<_>>().join(", ")
}
