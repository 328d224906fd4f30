//! A destination's URL: https, and nothing in it that is a secret, or that only looks like an address.
//! Refused texts are not repeated: a user, a password or a query can be a secret.

use std::net::IpAddr;

use ackbox_domain::address::is_public;
use toml::Spanned;
use url::{Host, ParseError, Url};

use super::report::Read;
use super::table::Table;

const URL_MAX: usize = 2048;

/// Reads the URL.
pub(crate) fn url(table: &Table<'_>, allow_private: bool) -> Read<Url> {
    let text = table.required("url", table.text("url"))?;
    checked(table, &text, text.get_ref(), allow_private)
}

/// Checks a URL with places in it, by an example whose places are filled.
pub(crate) fn template(
    table: &Table<'_>,
    text: &Spanned<&str>,
    example: &str,
    allow_private: bool,
) -> Read<()> {
    checked(table, text, example, allow_private).map(|_| ())
}

fn checked(table: &Table<'_>, text: &Spanned<&str>, value: &str, allow_private: bool) -> Read<Url> {
    let wrong = |(message, help): (String, String)| {
        let help = if help.is_empty() {
            format!("write {}", table.example("url"))
        } else {
            help
        };
        table.report.mistake(&text.span(), message, help)
    };
    let url = parse(value).map_err(wrong)?;
    if let Some((message, help)) = flaw(&url) {
        return Err(wrong((message.to_owned(), help.to_owned())));
    }
    reach(table, text, &url, allow_private)?;
    Ok(url)
}

/// An empty help means: show an example.
fn parse(text: &str) -> Result<Url, (String, String)> {
    if text.len() > URL_MAX {
        let help = format!("write at most {URL_MAX} characters");
        return Err(("`url` is too long".to_owned(), help));
    }
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err((
            "`url` has space or control characters in it".to_owned(),
            "remove them, or write them as %20 and the like".to_owned(),
        ));
    }
    if !names_its_host(text) {
        let message = "`url` does not begin with https:// and a host";
        return Err((message.to_owned(), String::new()));
    }
    Url::parse(text).map_err(|error| {
        let message = match error {
            ParseError::RelativeUrlWithoutBase => "`url` does not begin with https://".to_owned(),
            error => format!("`url` cannot be read: {error}"),
        };
        (message, String::new())
    })
}

/// A URL of these schemes has a host behind any number of slashes, also turned ones. Written otherwise
/// than with two, its host is not where whoever reads it looks.
fn names_its_host(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return true;
    };
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let host = rest.strip_prefix("//");
    !is_http || host.is_some_and(|host| !host.starts_with(['/', '\\']))
}

/// What no destination's URL may have. An empty help means: show an example.
fn flaw(url: &Url) -> Option<(&'static str, &'static str)> {
    if !matches!(url.scheme(), "http" | "https") {
        Some(("`url` is neither https nor http", ""))
    } else if !url.username().is_empty() || url.password().is_some() {
        Some((
            "`url` has a user or password in it",
            "remove it, replace it at the destination if it was a real one, and send it as headers = { Authorization = \"env:NAME\" }",
        ))
    } else if url.fragment().is_some() {
        Some((
            "`url` has a fragment (#..), which is never sent",
            "remove it",
        ))
    } else if url.port() == Some(0) {
        Some((
            "`url` has the port 0",
            "write a port from 1 to 65535, or none",
        ))
    } else {
        None
    }
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
            Some(Host::Ipv4(address)) => Self::of_address(address.into()),
            Some(Host::Ipv6(address)) => Self::of_address(address.into()),
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

    /// As the guard of every connection sees it.
    fn of_address(address: IpAddr) -> Self {
        if address.to_canonical().is_loopback() {
            Self::Loopback
        } else if is_public(address) {
            Self::Public
        } else {
            Self::Private
        }
    }
}
