//! Numbers, times and sizes of a table, each within its bounds.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::Spanned;

use super::{Given, Table};
use crate::read::report::Read;
use crate::read::value::{self, Wrong};

impl Table<'_> {
    /// A whole number within bounds.
    pub(crate) fn count(
        &self,
        name: &'static str,
        bounds: RangeInclusive<usize>,
    ) -> Read<Option<usize>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let Some(integer) = value.get_ref().as_integer() else {
            return Err(self.not_a(name, value, "", "a whole number"));
        };
        let number = usize::from_str_radix(integer.as_str(), integer.radix()).ok();
        match number.filter(|number| bounds.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                let message = format!("`{name}` is {integer}");
                let help = format!("write a number from {} to {}", bounds.start(), bounds.end());
                Err(self.report.mistake(&value.span(), message, help))
            }
        }
    }

    /// A length of time within bounds.
    pub(crate) fn duration(
        &self,
        name: &'static str,
        bounds: RangeInclusive<Duration>,
    ) -> Read<Option<Spanned<Duration>>> {
        self.measure(name, value::duration, bounds, value::time)
    }

    /// A length of time within bounds, with its default.
    pub(crate) fn duration_or(
        &self,
        name: &'static str,
        default: Duration,
        bounds: RangeInclusive<Duration>,
    ) -> Read<Given<Duration>> {
        Ok(match self.duration(name, bounds)? {
            Some(found) => Given {
                value: *found.get_ref(),
                span: Some(found.span()),
            },
            None => Given {
                value: default,
                span: None,
            },
        })
    }

    /// A size in bytes within bounds.
    pub(crate) fn size(
        &self,
        name: &'static str,
        bounds: RangeInclusive<u64>,
    ) -> Read<Option<Spanned<u64>>> {
        self.measure(name, value::size, bounds, value::bytes)
    }

    fn measure<T: PartialOrd + Copy>(
        &self,
        name: &'static str,
        parse: fn(&str) -> Result<T, Wrong>,
        bounds: RangeInclusive<T>,
        show: fn(T) -> String,
    ) -> Read<Option<Spanned<T>>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let (message, help) = match parse(text.get_ref().trim()) {
            Ok(found) if bounds.contains(&found) => {
                return Ok(Some(Spanned::new(text.span(), found)));
            }
            Ok(found) => (
                format!("`{name}` is {}", show(found)),
                format!(
                    "write between \"{}\" and \"{}\"",
                    show(*bounds.start()),
                    show(*bounds.end())
                ),
            ),
            Err((what, help)) => (format!("`{name}`: {what}"), help),
        };
        Err(self.report.mistake(&text.span(), message, help))
    }
}
