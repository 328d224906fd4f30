//! Questions: a request that asks what became of an action, and delivers nothing. It is logged apart from
//! the deliveries, with how many of those of its action had been read by then.

use ackbox_domain::ActionKey;
use ackbox_domain::settlement::Word;
use bytes::Bytes;
use http::Response;
use http_body_util::Full;

use super::{Answered, Dropped, Shared};

/// One question, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The key that is asked about: the first in path or query; empty where none is.
    pub key: String,
    /// The path, with its query.
    pub path: String,
    /// How many deliveries of this key had been read here when it was asked.
    pub after: usize,
    /// How many questions about this key there have been here, this one included.
    pub seen: usize,
}

/// What a destination replies to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Answers.
    Says {
        /// What it means by it; whoever asked sees only the rest.
        means: Word,
        /// The status.
        status: u16,
        /// The body.
        body: &'static str,
    },
    /// Reads the question, logs it, and closes the connection without an answer.
    Nothing,
}

/// A question and its reply, as they were logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The reply.
    pub reply: Reply,
}

impl Reply {
    /// An answer that means this.
    pub const fn says(means: Word, status: u16, body: &'static str) -> Self {
        Self::Says {
            means,
            status,
            body,
        }
    }

    /// What the destination meant by it. Nothing means nothing.
    pub const fn means(&self) -> Word {
        match self {
            Self::Says { means, .. } => *means,
            Self::Nothing => Word::StillUnknown,
        }
    }

    /// As a delivery would have been answered.
    pub const fn answered(&self) -> Answered {
        match self {
            Self::Says { status, .. } => Answered::Status(*status),
            Self::Nothing => Answered::Dropped,
        }
    }

    /// The body; of no reply: none.
    pub const fn body(&self) -> &'static str {
        match self {
            Self::Says { body, .. } => body,
            Self::Nothing => "",
        }
    }

    pub(super) fn response(self) -> Result<Response<Full<Bytes>>, Dropped> {
        let Self::Says { status, body, .. } = self else {
            return Err(Dropped);
        };
        let body = Full::new(Bytes::from_static(body.as_bytes()));
        let response = Response::builder().status(status);
        response.body(body).map_err(|_| Dropped)
    }
}

impl Shared {
    /// Logs the question together with its reply, before anybody hears it: what follows from the reply
    /// stands behind it in the log.
    pub(super) fn asked(
        &self,
        path: String,
        replies: &(dyn Fn(&Question) -> Reply + Send + Sync),
    ) -> Reply {
        let key = key(&path);
        let mut reply = Reply::Nothing;
        self.log.send_modify(|log| {
            let own = |asked: &&Asked| asked.question.key == key;
            let question = Question {
                after: log.received.iter().filter(|r| r.key == key).count(),
                seen: 1 + log.asked.iter().filter(own).count(),
                key,
                path,
            };
            reply = replies(&question);
            log.asked.push(Asked { question, reply });
        });
        reply
    }
}

fn key(path: &str) -> String {
    let mut words = path.split(['/', '?', '=', '&']);
    let key = words.find(|word| word.parse::<ActionKey>().is_ok());
    key.unwrap_or_default().to_owned()
}
