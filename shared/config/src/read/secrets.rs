//! Lists of references to secrets. A value that is no reference is refused without being repeated.

use super::locator::{all, repeated};
use super::report::{Read, Report, Span};
use super::table::Table;
use crate::reference::SecretRef;

/// The most secrets that sign one delivery side by side: receivers read a limited number of signatures.
const SIGNING_MAX: usize = 8;

/// The references of a list that may be left out, and is not empty where it is there.
pub(crate) fn optional(table: &Table<'_>, name: &'static str) -> Read<Vec<SecretRef>> {
    let references = list(table, name, false)?.unwrap_or_default();
    if references.len() <= SIGNING_MAX {
        return Ok(references);
    }
    let message = format!("`{name}` names {} secrets", references.len());
    let help = format!(
        "name at most {SIGNING_MAX}: the one in use, and beside it the next while it is exchanged"
    );
    Err(table.report.mistake(&table.place(name), message, help))
}

/// The references of a list that must be there.
pub(crate) fn required(table: &Table<'_>, name: &'static str) -> Read<Vec<SecretRef>> {
    table.required(name, list(table, name, true))
}

fn list(table: &Table<'_>, name: &'static str, is_required: bool) -> Read<Option<Vec<SecretRef>>> {
    let Some(texts) = table.texts(name)? else {
        return Ok(None);
    };
    let (span, texts) = (texts.span(), texts.into_inner());
    if texts.is_empty() {
        let optional = if is_required { "" } else { ", or leave it out" };
        let help = format!("write {}{optional}", table.example(name));
        return Err(table
            .report
            .mistake(&span, format!("`{name}` is empty"), help));
    }
    let what = format!("an entry of `{name}`");
    let references = all(texts
        .iter()
        .map(|text| one(table.report, &text.span(), text.get_ref(), &what)))?;
    if let Some((_, span)) = repeated(&texts) {
        table.report.warn(
            &span,
            format!("`{name}` names one secret twice"),
            "remove one of the two",
        );
    }
    Ok(Some(references))
}

/// One reference. `what` names the place for the message; the text never stands in it.
pub(crate) fn one(report: &Report<'_>, span: &Span, text: &str, what: &str) -> Read<SecretRef> {
    text.parse::<SecretRef>()
        .map_err(|why| report.mistake(span, format!("{what} {why}"), why.help()))
}
