//! The facts as written in, checked: header names, JSON pointers, and whether the signature covers what they name.

use std::time::Duration;

use super::Compiler;
use crate::facts::{Acknowledge, Facts, Locator, Manual, Redelivery, Repeats};
use crate::spec::{LocatorSpec, RedeliverySpec, RepeatsSpec, SchemeSpec};
use crate::template::Part;

impl Compiler {
    pub(super) fn facts(
        &mut self,
        slug: &str,
        spec: &SchemeSpec,
        parts: &[Part],
        covered: &[String],
        tolerance: Option<Duration>,
    ) -> Facts {
        let acknowledge = spec.acknowledge.clone().unwrap_or_default();
        if let Some(pointer) = &spec.each {
            self.pointer("each".into(), pointer);
        }
        Facts {
            title: spec.title.clone().unwrap_or_else(|| slug.to_owned()),
            docs: spec.docs.clone(),
            id: self.locators("id", &spec.id, covered),
            event: self.locators("event", &spec.event, covered),
            subject: self.locators("subject", &spec.subject, covered),
            account: self.locators("account", &spec.account, covered),
            test_events: spec.test_events.clone(),
            progress_events: spec.progress_events.clone(),
            covers_body: parts.contains(&Part::Body),
            redelivery: self.redelivery(spec.redelivery.as_ref()),
            repeats: self.repeats(spec.repeats.as_ref()),
            form_field: spec.form_field.clone(),
            acknowledge: Acknowledge {
                within: acknowledge
                    .within
                    .map(|text| self.duration("acknowledge.within", &text)),
                note: acknowledge.note,
            },
            tolerance,
            each: spec.each.clone(),
            job: spec.job.as_ref().map(|job| self.job(job)),
        }
    }

    fn locators(&mut self, name: &str, specs: &[LocatorSpec], covered: &[String]) -> Vec<Locator> {
        let mut locators = Vec::new();
        for (n, spec) in specs.iter().enumerate() {
            match (&spec.header, &spec.body) {
                (Some(header), None) => {
                    self.header(format!("{name}[{n}].header"), header);
                    let covered = covered.iter().any(|have| have.eq_ignore_ascii_case(header));
                    locators.push(Locator::Header { name: header.clone(), covered });
                }
                (None, Some(pointer)) => {
                    self.pointer(format!("{name}[{n}].body"), pointer);
                    locators.push(Locator::Body { pointer: pointer.clone() });
                }
                _ => self.wrong(format!("{name}[{n}]"), "needs exactly one of `header` (a name) and `body` (a JSON pointer, as \"/id\")"),
            }
        }
        locators
    }

    fn repeats(&mut self, spec: Option<&RepeatsSpec>) -> Repeats {
        let Some(RepeatsSpec { automatic, manual }) = spec else {
            return Repeats::default();
        };
        if automatic.is_none() && manual.is_none() {
            self.wrong(
                "repeats",
                "says nothing: write automatic = \"3d\", manual = \"30d\" or manual = \"unbounded\"",
            );
        }
        Repeats {
            automatic: automatic
                .as_deref()
                .map(|text| self.duration("repeats.automatic", text)),
            manual: manual.as_deref().map(|text| match text {
                "unbounded" => Manual::Unbounded,
                text => Manual::For(self.duration("repeats.manual", text)),
            }),
        }
    }

    fn redelivery(&mut self, spec: Option<&RedeliverySpec>) -> Redelivery {
        match spec {
            None => Redelivery::SameBytes,
            Some(RedeliverySpec::Word(word)) => {
                if word != "same-bytes" {
                    self.wrong(
                        "redelivery",
                        format!(
                            "`{word}` is unknown: write \"same-bytes\", or a list of JSON pointers"
                        ),
                    );
                }
                Redelivery::SameBytes
            }
            Some(RedeliverySpec::Pointers(pointers)) => {
                if pointers.is_empty() {
                    self.wrong("redelivery", "compares nothing, so that every message would be equal: name the values that stay");
                }
                for (n, pointer) in pointers.iter().enumerate() {
                    self.pointer(format!("redelivery[{n}]"), pointer);
                }
                Redelivery::Pointers(pointers.clone())
            }
        }
    }

    /// RFC 6901, section 3, without the pointer to the whole document.
    pub(super) fn pointer(&mut self, field: String, pointer: &str) {
        let escapes_are_known = pointer
            .split('~')
            .skip(1)
            .all(|rest| rest.starts_with('0') || rest.starts_with('1'));
        if !pointer.starts_with('/') || !escapes_are_known {
            self.wrong(field, format!("`{}` is not a JSON pointer: write one as \"/data/id\" (`~1` for `/`, `~0` for `~`)", pointer.escape_debug()));
        }
    }
}
