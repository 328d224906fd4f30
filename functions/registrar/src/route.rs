//! A request becomes what is asked for, or the answer that says why not. A body over the limit goes no
//! further.

use ackbox_domain::Name;
use ackbox_domain::job::identity;
use ackbox_edge::http;
use lambda_http::Request;
use lambda_http::http::Method;
use percent_encoding::percent_decode_str;

use crate::BODY_MAX;
use crate::answer::Answer;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `POST /jobs`.
    Register,
    /// `GET /jobs/{space}/{job_id}`.
    Look {
        space: Name,
        id: String,
        account: Option<String>,
    },
    /// `POST /observations`.
    Hear,
}

impl Route {
    /// What a request's path and method ask for.
    pub(crate) fn of(request: &Request) -> Result<Self, Answer> {
        let path = http::path(request);
        let method = request.method();
        match path.strip_suffix('/').unwrap_or(path) {
            "/jobs" => only(&Method::POST, method).map(|()| Self::Register),
            "/observations" => only(&Method::POST, method).map(|()| Self::Hear),
            _ => {
                let job = path
                    .strip_prefix("/jobs/")
                    .and_then(|rest| rest.split_once('/'))
                    .ok_or_else(Answer::no_such_path)?;
                only(&Method::GET, method)?;
                look(job.0, job.1, request.uri().query().unwrap_or_default())
            }
        }
    }

    /// Its name in the log.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Look { .. } => "look",
            Self::Hear => "hear",
        }
    }
}

fn only(allowed: &'static Method, method: &Method) -> Result<(), Answer> {
    if method == allowed {
        Ok(())
    } else {
        Err(Answer::method(allowed.as_str()))
    }
}

/// Everything behind the space is the id: some hosts decode a path before they hand it over, and an id may
/// have a slash in it.
fn look(space: &str, id: &str, query: &str) -> Result<Route, Answer> {
    let space = space
        .parse()
        .map_err(|_| Answer::malformed("the job space in the path is no name"))?;
    let id = percent_decode_str(id)
        .decode_utf8()
        .map_err(|_| Answer::malformed("the job's id in the path is no UTF-8"))?;
    let id = identity("the job's id in the path", &id).map_err(|wrong| Answer::unread(&wrong))?;
    let mut account = None;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name == "account" {
            let read = identity("the account in the query", &value);
            account = Some(read.map_err(|wrong| Answer::unread(&wrong))?);
        }
    }
    Ok(Route::Look { space, id, account })
}

/// The body of a request, within the limit.
pub(crate) fn body(request: Request) -> Result<Vec<u8>, Answer> {
    let bytes = http::bytes(request.into_body()).ok_or_else(Answer::defect)?;
    if bytes.len() > BODY_MAX {
        let problem = format!("the body has more than {BODY_MAX} bytes");
        return Err(Answer::too_large(problem));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use lambda_http::{Body, http};

    use super::*;

    fn route(method: &str, path: &str) -> Result<Route, u16> {
        let request = http::Request::builder().method(method).uri(path);
        let request = request.body(Body::Empty).unwrap();
        Route::of(&request).map_err(|answer| answer.status.as_u16())
    }

    fn job(id: &str, account: Option<&str>) -> Result<Route, u16> {
        Ok(Route::Look {
            space: "tornado".parse().unwrap(),
            id: id.to_owned(),
            account: account.map(ToOwned::to_owned),
        })
    }

    #[test]
    fn a_path_and_a_method_say_what_is_asked_for() {
        assert_eq!(route("POST", "/jobs"), Ok(Route::Register));
        assert_eq!(route("POST", "/jobs/?x=y"), Ok(Route::Register));
        assert_eq!(route("POST", "/observations"), Ok(Route::Hear));
        assert_eq!(route("GET", "/jobs/tornado/j-1"), job("j-1", None));
        for (method, path, status) in [
            ("GET", "/jobs", 405),
            ("GET", "/jobs/", 405),
            ("PUT", "/observations", 405),
            ("POST", "/jobs/tornado/j-1", 405),
            ("GET", "/jobs/tornado", 404),
            ("GET", "/jobs/tornado/", 400),
            ("GET", "/jobs//j-1", 400),
            ("GET", "/jobs/Tornado/j-1", 400),
            ("GET", "/jobs/tornado/%20", 400),
            ("GET", "/jobs/tornado/%ff", 400),
            ("GET", "/jobs/tornado/j-1?account=", 400),
            ("POST", "/", 404),
            ("POST", "/job", 404),
            ("POST", "/jobsx", 404),
            ("POST", "/hooks/tornado", 404),
        ] {
            assert_eq!(route(method, path), Err(status), "{method} {path}");
        }
        let long = format!("/jobs/tornado/{}", "x".repeat(257));
        assert_eq!(route("GET", &long), Err(400));
    }

    #[test]
    fn an_id_and_an_account_are_read_as_they_were_meant() {
        let cases = [
            ("/jobs/tornado/a%2Fb%20c%25", "a/b c%", None),
            ("/jobs/tornado/a/b/", "a/b/", None),
            ("/jobs/tornado/a+b", "a+b", None),
            ("/jobs/tornado/%C3%A4?account=a+b%2B&x", "ä", Some("a b+")),
        ];
        for (path, id, account) in cases {
            assert_eq!(route("GET", path), job(id, account), "{path}");
        }
    }
}
