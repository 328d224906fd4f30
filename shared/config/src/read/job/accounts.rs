//! Whose jobs a source tells of: an account of its own, or one for each secret that may sign.

use std::collections::BTreeMap;

use ackbox_domain::job::Binding;
use toml::Spanned;
use toml::de::DeValue;

use crate::read::report::{Read, Reported, Span};
use crate::read::secrets;
use crate::read::table::{Table, Value};
use crate::reference::SecretRef;

/// `account`: of all that comes by the source.
pub(crate) fn own(table: &Table<'_>) -> Read<Option<String>> {
    let Some(text) = table.text("account")? else {
        return Ok(None);
    };
    account(table, "`account`", &text.span(), text.get_ref()).map(Some)
}

/// `accounts`: of what a secret proves, by the secret's reference.
pub(crate) fn of_secrets(
    table: &Table<'_>,
    known: Option<&[SecretRef]>,
) -> Read<BTreeMap<String, String>> {
    let Some(value) = table.get("accounts") else {
        return Ok(BTreeMap::new());
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.not_a("accounts", value, "", "a table of secrets and accounts"));
    };
    let mut accounts = BTreeMap::new();
    let mut failed: Option<Reported> = None;
    for (name, value) in entries.iter() {
        let text = Spanned::new(name.span(), name.get_ref().as_ref());
        match (secret(table, &text, known), of_one(table, value)) {
            (Ok(secret), Ok(account)) => {
                accounts.insert(secret.to_string(), account);
            }
            (Err(reported), _) | (_, Err(reported)) => failed = Some(reported),
        }
    }
    failed.map_or(Ok(accounts), Err)
}

fn secret(table: &Table<'_>, text: &Spanned<&str>, known: Option<&[SecretRef]>) -> Read<SecretRef> {
    let secret = secrets::one(
        table.report,
        &text.span(),
        text.get_ref(),
        "a secret of `accounts`",
    )?;
    if known.is_none_or(|known| known.contains(&secret)) {
        return Ok(secret);
    }
    let message = format!("`accounts` names {secret}, which is none of the source's `secrets`");
    let help = "write it in `secrets` too, or remove it here";
    Err(table.report.mistake(&text.span(), message, help))
}

fn of_one(table: &Table<'_>, value: &Value<'_>) -> Read<String> {
    match value.get_ref().as_str() {
        Some(text) => account(table, "an account of `accounts`", &value.span(), text),
        None => Err(table.not_a("accounts", value, "an account that is", "a text")),
    }
}

fn account(table: &Table<'_>, what: &str, span: &Span, text: &str) -> Read<String> {
    let flaw = if text.trim().is_empty() {
        "is empty or blank".to_owned()
    } else if text.len() > Binding::TEXT_MAX {
        format!("has {} bytes; at most {}", text.len(), Binding::TEXT_MAX)
    } else {
        return Ok(text.to_owned());
    };
    let help = "write the account as the jobs' bindings name it";
    Err(table.report.mistake(span, format!("{what} {flaw}"), help))
}
