//! A destination's URL: https, and nothing in it that is a secret, or that only looks like an address.
//! Refused texts are not repeated: a user, a password or a query can be a secret.

use std::net::{Ipv4Addr, Ipv6Addr};

use toml::Spanned;
use url::{Host, ParseError, Url};

use super::report::Read;
use super::table::Table;

const URL_MAX: usize = 2048;

/// Reads the URL.
pub(crate) fn url(table: &Table<'_>, allow_private: bool) -> Read<Url> {
    let text = table.required("url", table.text("url"))?;
    let wrong = |message: &str, help: &str| Err(table.report.mistake(&text.span(), message, help));
    let example = table.example("url");
    if text.get_ref().len() > URL_MAX {
        return wrong(
            "`url` is too long",
            &format!("write at most {URL_MAX} characters"),
        );
    }
    if text
        .get_ref()
        .contains(|c: char| c.is_control() || c.is_whitespace())
    {
        return wrong(
            "`url` has space or control characters in it",
            "remove them, or write them as %20 and the like",
        );
    }
    let url = match Url::parse(text.get_ref()) {
        Ok(url) => url,
        Err(ParseError::RelativeUrlWithoutBase) => {
            return wrong(
                "`url` does not begin with https://",
                &format!("write {example}"),
            );
        }
        Err(e) => {
            return wrong(
                &format!("`url` cannot be read: {e}"),
                &format!("write {example}"),
            );
        }
    };
    if !matches!(url.scheme(), "http" | "https") {
        return wrong(
            "`url` is neither https nor http",
            &format!("write {example}"),
        );
    }
    if !url.username().is_empty() || url.password().is_some() {
        return wrong(
            "`url` has a user or password in it",
            "remove it, replace it at the destination if it was a real one, and send it as headers = { Authorization = \"env:NAME\" }",
        );
    }
    if url.fragment().is_some() {
        return wrong(
            "`url` has a fragment (#..), which is never sent",
            "remove it",
        );
    }
    if url.port() == Some(0) {
        return wrong(
            "`url` has the port 0",
            "write a port from 1 to 65535, or none",
        );
    }
    reach(table, &text, &url, allow_private)?;
    Ok(url)
}

/// Whether the address may be spoken to, as far as the text tells; what a name resolves to is checked at every attempt.
fn reach(table: &Table<'_>, text: &Spanned<&str>, url: &Url, allow_private: bool) -> Read<()> {
    let reach = Reach::of(url);
    let is_plain = url.scheme() == "http";
    if is_plain && !allow_private {
        return Err(table.report.mistake(
            &text.span(),
            "`url` is http: actions, their keys and headers could be read and changed on the way",
            "write https, or allow_private = true if the way is your own",
        ));
    }
    if reach != Reach::Public && !allow_private {
        return Err(table.report.mistake(
            &text.span(),
            "`url` leads to a private address",
            "write a public one, or allow_private = true if that is meant",
        ));
    }
    if is_plain && reach != Reach::Loopback {
        let message =
            "`url` is http: actions, their keys and headers can be read and changed on the way";
        table.report.warn(
            &text.span(),
            message,
            "write https where the destination has it",
        );
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Loopback,
    Private,
    Public,
}

impl Reach {
    fn of(url: &Url) -> Self {
        match url.host() {
            Some(Host::Ipv4(address)) => Self::of_v4(address),
            Some(Host::Ipv6(address)) => match address.to_ipv4_mapped() {
                Some(address) => Self::of_v4(address),
                None => Self::of_v6(address),
            },
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                let is_local = name == "localhost" || name.ends_with(".localhost");
                if is_local {
                    Self::Loopback
                } else {
                    Self::Public
                }
            }
            None => Self::Public,
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_private() || address.is_link_local() || address.is_unspecified() {
            Self::Private
        } else {
            Self::Public
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_unique_local()
            || address.is_unicast_link_local()
            || address.is_unspecified()
        {
            Self::Private
        } else {
            Self::Public
        }
    }
}
