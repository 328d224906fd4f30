//! The senders: a parcel comes in, is signed as its provider signs, goes out over real HTTP on a
//! connection of its own, and what it was answered goes into the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ackbox_config::Config;
use ackbox_secrets::{SecretError, Secrets};
use ackbox_signature::{Scheme, Secret, SecretFormError, SignError, SignRequest};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use url::Url;

use super::ledger::{Answer, Ledger, Sent};
use super::parcel::{Parcel, Signed};
use super::setting::random_secret;
use super::wire;
use crate::edge::Clock;

/// Everyone who sends.
pub struct Senders {
    receiver: Url,
    clock: Clock,
    signers: BTreeMap<String, Signer>,
    turn: AtomicUsize,
    /// What was sent, and what was answered.
    pub ledger: Ledger,
}

struct Signer {
    scheme: Arc<Scheme>,
    secrets: Vec<Secret>,
    stranger: Secret,
}

/// Why nobody can send.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    /// The receiver's address is none.
    #[error("the receiver's address cannot be read")]
    Address(#[from] url::ParseError),
    /// A source's secret cannot be had.
    #[error("a sender has no secret")]
    Secret(#[from] SecretError),
    /// A source's secret has not the form that its scheme wants.
    #[error("a sender cannot use its secret")]
    Form(#[from] SecretFormError),
}

/// Why one exchange broke off.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("there is no sender for it")]
    NoSender,
    #[error("it cannot be signed: {0}")]
    Sign(#[from] SignError),
    #[error("it makes no request: {0}")]
    Request(#[from] http::Error),
    #[error("the receiver: {0}")]
    Wire(#[from] wire::Broken),
}

impl Senders {
    /// A sender for every source, with the source's own secrets.
    ///
    /// # Errors
    ///
    /// A secret cannot be had or used, or `receiver` is no URL.
    pub async fn new(
        receiver: &str,
        config: &Config,
        secrets: &Secrets,
        clock: Clock,
    ) -> Result<Self, SenderError> {
        let mut signers = BTreeMap::new();
        for (name, source) in &config.sources {
            let scheme = Arc::clone(&source.scheme);
            let mut keys = Vec::new();
            for (reference, value) in source
                .secrets
                .iter()
                .zip(secrets.resolve(&source.secrets).await?)
            {
                keys.push(scheme.secret(&reference.to_string(), value.expose())?);
            }
            let stranger = scheme.secret("a stranger's", &random_secret())?;
            let signer = Signer {
                scheme,
                secrets: keys,
                stranger,
            };
            signers.insert(name.as_str().to_owned(), signer);
        }
        Ok(Self {
            receiver: receiver.parse()?,
            clock,
            signers,
            turn: AtomicUsize::new(0),
            ledger: Ledger::default(),
        })
    }

    /// Signs and sends. The answer goes into the ledger; so does a broken exchange.
    pub async fn send(&self, parcel: Parcel) {
        let answer = self.exchange(&parcel).await;
        self.ledger.note(Sent {
            kind: parcel.kind,
            source: parcel.source,
            fact: parcel.fact,
            body: parcel.body,
            answer: answer.map_err(|broken| broken.to_string()),
        });
    }

    async fn exchange(&self, parcel: &Parcel) -> Result<Answer, Broken> {
        let request = self.request(parcel)?;
        let reply = wire::exchange(&self.receiver, request).await?;
        Ok(Answer {
            status: reply.status,
            outcome: reply.outcome,
        })
    }

    fn request(&self, parcel: &Parcel) -> Result<Request<Full<Bytes>>, Broken> {
        const AN_HOUR: Duration = Duration::from_secs(3600);
        let signer = self.signers.get(parcel.source).ok_or(Broken::NoSender)?;
        let now = (self.clock)();
        let (at, secret) = match parcel.signed {
            Signed::Rightly => (now, self.next_of(&signer.secrets)?),
            Signed::LongAgo => (now.minus(AN_HOUR), self.next_of(&signer.secrets)?),
            Signed::Wrongly => (now, &signer.stranger),
        };
        let path = format!("/hooks/{}", parcel.source);
        let url = self.receiver.join(&path).map_or(path.clone(), String::from);
        let request = SignRequest {
            method: "POST",
            url: &url,
            body: &parcel.body,
            now_ms: at.unix_ms(),
            id: &parcel.id,
            event: parcel.event,
        };
        let headers = signer.scheme.sign(&request, secret)?;
        let mut request = Request::post(path)
            .header(header::HOST, self.receiver.authority())
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        Ok(request.body(Full::new(Bytes::from(parcel.body.clone())))?)
    }

    /// A source may have several secrets, while one replaces another: each has its turn.
    fn next_of<'s>(&self, secrets: &'s [Secret]) -> Result<&'s Secret, Broken> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let at = turn.checked_rem(secrets.len());
        at.and_then(|at| secrets.get(at)).ok_or(Broken::NoSender)
    }
}
