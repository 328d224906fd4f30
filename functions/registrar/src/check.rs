//! A record of a job, or an observation, comes in with the configuration; out goes what in it can never
//! come true: a space, a destination, an outcome or a value that nobody knows, or an action that its
//! destination cannot carry.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ackbox_config::Config;
use ackbox_domain::job::{
    Binding, Expected, JobObservation, LookupMeaning, NormalForm, SILENT, Step, qualify,
};
use ackbox_domain::{Name, RenderedBody, Timestamp};

/// What does not go with the configuration. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What it is, in one word: `unknown-space`, `unknown-source`, `unknown-destination`, `unknown-outcome`,
    /// `unknown-value`, `unfit`.
    pub word: &'static str,
    /// Where, and what is wrong.
    pub problem: String,
    /// What is known instead.
    pub known: Option<Vec<Name>>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        match self.known.as_deref() {
            None => Ok(()),
            Some([]) => f.write_str("; there is none"),
            Some(known) => {
                let known: Vec<&str> = known.iter().map(Name::as_str).collect();
                write!(f, "; known: {}", known.join(", "))
            }
        }
    }
}

impl std::error::Error for Refused {}

impl Refused {
    pub(crate) fn unknown<'n>(
        word: &'static str,
        problem: String,
        known: impl IntoIterator<Item = &'n Name>,
    ) -> Self {
        Self {
            word,
            problem,
            known: Some(known.into_iter().cloned().collect()),
        }
    }
}

/// What the sources of a job space can tell.
pub(crate) struct Vocabulary<'c> {
    space: &'c Name,
    outcomes: BTreeSet<&'c Name>,
    values: BTreeSet<&'c Name>,
}

impl<'c> Vocabulary<'c> {
    /// Of a space that a source has.
    pub(crate) fn of(config: &'c Config, space: &'c Name) -> Result<Self, Refused> {
        let mut all = Self {
            space,
            outcomes: BTreeSet::new(),
            values: BTreeSet::new(),
        };
        let mut is_known = false;
        for (source, jobs) in config.sources_of(space) {
            is_known = true;
            all.outcomes.extend(jobs.outcomes.values());
            all.values.extend(jobs.values.keys());
            let rules = source.lookup.iter().flat_map(|lookup| &lookup.answers);
            all.outcomes
                .extend(rules.filter_map(|rule| match &rule.means {
                    LookupMeaning::Outcome(outcome) => Some(outcome),
                    _ => None,
                }));
        }
        if is_known {
            return Ok(all);
        }
        let problem = format!("/space is {space}, and no source is of that job space");
        Err(Refused::unknown("unknown-space", problem, &config.spaces()))
    }

    fn outcome(&self, place: &str, outcome: &Name) -> Result<(), Refused> {
        if self.outcomes.contains(outcome) {
            return Ok(());
        }
        let space = self.space;
        let problem =
            format!("{place} is {outcome}, and no source of {space} tells of such an end");
        let known = self.outcomes.iter().copied();
        Err(Refused::unknown("unknown-outcome", problem, known))
    }

    fn value(&self, place: &str, value: &Name) -> Result<(), Refused> {
        if self.values.contains(value) {
            return Ok(());
        }
        let space = self.space;
        let problem = format!("{place} is {value}, and no source of {space} tells such a value");
        let known = self.values.iter().copied();
        Err(Refused::unknown("unknown-value", problem, known))
    }
}

/// Whether everything in a record can come true.
pub(crate) fn check(config: &Config, binding: &Binding, now: Timestamp) -> Result<(), Refused> {
    let vocabulary = Vocabulary::of(config, &binding.job.space)?;
    for (at, step) in binding.steps.iter().enumerate() {
        let place = format!("/steps/{at}");
        for outcome in &step.on {
            if outcome.as_str() != SILENT {
                vocabulary.outcome(&format!("{place}/on"), outcome)?;
            } else if binding.end_of_waiting().is_none() {
                let problem = format!(
                    "{place}/on is {SILENT}, and the job is never given up; say poll_after or give_up_after"
                );
                return Err(Refused {
                    word: "unknown-outcome",
                    problem,
                    known: None,
                });
            }
        }
        for value in &step.values {
            vocabulary.value(&format!("{place}/values"), value)?;
        }
        fits(config, binding, step, &place, now)?;
    }
    for expected in binding.expected.keys() {
        if let Expected::Value(value) = expected {
            vocabulary.value("a name in /expected", value)?;
        }
    }
    Ok(())
}

/// Whether an observation in the normal form speaks as the sources of its space do.
pub(crate) fn check_normal_form(
    vocabulary: &Vocabulary<'_>,
    told: &NormalForm,
) -> Result<(), Refused> {
    vocabulary.outcome("/outcome", told.outcome())?;
    let mut values = told.values();
    values.try_for_each(|value| vocabulary.value("a name in /values", value))
}

/// Whether the way to a step's destination carries what the step makes. Of the values only the smallest
/// are known here: they are looked at again when they are sent.
fn fits(
    config: &Config,
    binding: &Binding,
    step: &Step,
    place: &str,
    now: Timestamp,
) -> Result<(), Refused> {
    let Some(destination) = config.destinations.get(&step.destination) else {
        let problem = format!(
            "{place}/destination is {}, which is no destination",
            step.destination
        );
        let known = config.destinations.keys();
        return Err(Refused::unknown("unknown-destination", problem, known));
    };
    let mut carriage = destination.to.carriage();
    // What groups messages may be a value that nobody knows yet.
    carriage
        .group
        .take_if(|group| group.as_str().starts_with("/values/"));
    let Some(body) = example(binding, step, now) else {
        return Ok(());
    };
    carriage.check(&body).map_err(|unfit| Refused {
        word: "unfit",
        problem: format!("what {place} would send to {} {unfit}", step.destination),
        known: None,
    })
}

/// What a step would send, with the longest outcome and short values.
fn example(binding: &Binding, step: &Step, now: Timestamp) -> Option<RenderedBody> {
    let outcome = step.on.iter().max_by_key(|on| on.as_str().len())?.clone();
    let alone = Binding {
        steps: vec![step.clone()],
        expected: BTreeMap::new(),
        ..binding.clone()
    };
    let value = |name: &Name| (name.clone(), "\"x\"".to_owned());
    let end = JobObservation {
        job: binding.job.clone(),
        source: binding.job.space.clone(),
        account: binding.account.clone(),
        outcome,
        event: None,
        message_id: None,
        values: step.values.iter().map(value).collect(),
        body: RenderedBody {
            bytes: Vec::new(),
            content_type: None,
            content_encoding: None,
        },
        digest: [0; 32],
        seen_at: now,
    };
    let actions = qualify(&alone, &end, now).ok()?;
    actions.into_iter().next().map(|action| action.body)
}
