//! A request that curl can send: a source comes in, a shell command comes out. A secret never stands in
//! it: where the request carries one (a token), the shell is told where to take it from.

use ackbox_config::{SecretRef, SourceConfig};
use ackbox_secrets::Secrets;
use http::header::{HOST, USER_AGENT};
use url::Url;

use crate::commands::send;
use crate::output::quoted;

/// The command; none where the source has no secret that signs.
pub(super) async fn command(source: &SourceConfig, secrets: &Secrets, url: &str) -> Option<String> {
    for (reference, value) in secrets.resolve_each(&source.secrets).await {
        let Ok(value) = value else {
            continue;
        };
        let text = value.expose();
        let Ok(secret) = source.scheme.secret(&reference.to_string(), text) else {
            continue;
        };
        let address = Url::parse(url).ok()?;
        // A public key only verifies: the next may sign.
        if let Ok((headers, body)) = send::sampled(source, &secret, &address) {
            let mut command = format!("curl -i {}", quoted(url));
            for (name, value) in headers.iter().filter(|(name, _)| {
                // curl says these itself.
                *name != HOST && *name != USER_AGENT
            }) {
                let value = value.to_str().ok()?;
                let line = header(name.as_str(), value, text, reference)?;
                command.push_str(&format!(" -H {line}"));
            }
            let body = String::from_utf8(body).ok()?;
            command.push_str(&format!(" --data-binary {}", quoted(&body)));
            return Some(command);
        }
    }
    None
}

/// A header as a shell word. `None`: it would show the secret, and no shell can fetch it.
fn header(name: &str, value: &str, secret: &str, reference: &SecretRef) -> Option<String> {
    let Some((before, after)) = value.split_once(secret) else {
        return Some(quoted(&format!("{name}: {value}")));
    };
    let fetched = match reference {
        SecretRef::Env(variable) => format!("\"${variable}\""),
        SecretRef::File(path) => format!("\"$(cat {})\"", quoted(&path.display().to_string())),
        SecretRef::Ssm(_) => return None,
    };
    let start = quoted(&format!("{name}: {before}"));
    let end = if after.is_empty() {
        String::new()
    } else {
        quoted(after)
    };
    Some(format!("{start}{fetched}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_fetched_by_the_shell_and_never_shown() {
        let reference: SecretRef = "env:TOKEN".parse().unwrap();
        assert_eq!(
            header("authorization", "Bearer s3cret", "s3cret", &reference).unwrap(),
            "'authorization: Bearer '\"$TOKEN\""
        );
        let reference: SecretRef = "file:/a b".parse().unwrap();
        assert_eq!(
            header("x", "s3cret", "s3cret", &reference).unwrap(),
            "'x: '\"$(cat '/a b')\""
        );
    }
}
