//! `GET /jobs/{space}/{job_id}`, and what is nobody's path.

use ackbox_store::schema::kind;

use super::*;

#[tokio::test]
async fn a_job_is_shown_with_what_is_known_of_it_and_no_body() {
    let world = world().await;
    let registrar = world.registrar().await;
    let mut waiting = record("j-1");
    waiting["poll_after"] = json!("10m");
    let bound = said(&bind(&registrar, &waiting).await);
    let answer = look(&registrar, "/jobs/tornado/j-1").await;
    assert_eq!(answer.said(), (200, "found"));
    let job = said(&answer);
    assert_eq!(job["binding"], waiting);
    assert_eq!(job["state"], "waiting");
    assert_eq!(job["registered_at"], "2026-11-29T12:00:00.000Z");
    assert_eq!(job["due_at"], "2026-11-29T12:10:00.000Z");
    for absent in ["outcome", "ended_at", "by", "detail", "silent_at"] {
        assert_eq!(job[absent], Value::Null, "{absent}");
    }
    assert_eq!((&job["asked"], &job["actions"]), (&json!(0), &json!([])));

    world.clock.advance(Duration::from_secs(1));
    hear(&registrar, &completed("j-1")).await;
    let mut failed = completed("j-1");
    failed["outcome"] = json!("failed");
    failed["values"] = json!({"key": "a secret of the sender"});
    hear(&registrar, &failed).await;
    let answer = look(&registrar, "/jobs/tornado/j-1").await;
    let job = said(&answer);
    assert_eq!(job["state"], "ended");
    assert_eq!(job["outcome"], "completed");
    assert_eq!(job["ended_at"], "2026-11-29T12:00:01.000Z");
    assert_eq!(job["by"], "tornado");
    assert_eq!(job["actions"], json!([bound["actions"][0]]));
    let kinds: Vec<&Value> = job["observations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["kind"])
        .collect();
    assert!(
        kinds.contains(&&json!("seen")) && kinds.contains(&&json!("disagrees")),
        "{job}"
    );
    assert!(!String::from_utf8(answer.body).unwrap().contains("a secret"));
}

#[tokio::test]
async fn a_job_that_was_given_up_is_silent_and_has_the_actions_of_that() {
    let world = world().await;
    let registrar = world.registrar().await;
    let mut silent = record("j-1");
    silent["steps"][1]["on"] = json!(["silent"]);
    silent["give_up_after"] = json!("1h");
    let bound = said(&bind(&registrar, &silent).await);
    let store = world.store().await;
    let job = ackbox_domain::job::JobRef {
        space: name("tornado"),
        id: "j-1".to_owned(),
        account: None,
    };
    let standing = store.job(&job).await.unwrap().unwrap();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    let timing = &world.config.delivery.timing;
    let given_up = store.give_up_job(&standing, &job.space, timing, world.clock.now(), deadline);
    assert!(given_up.await.unwrap().is_some());
    let job = said(&look(&registrar, "/jobs/tornado/j-1").await);
    assert_eq!(job["state"], "silent");
    assert_eq!(job["actions"], json!([bound["actions"][1]]));
}

#[tokio::test]
async fn an_id_of_any_characters_is_found() {
    let world = world().await;
    let registrar = world.registrar().await;
    for (id, path) in [
        ("a/b c?d#e%2F", "a%2Fb%20c%3Fd%23e%252F"),
        ("ä+\u{1f980}", "%C3%A4+%F0%9F%A6%80"),
        ("a/b/", "a/b/"),
    ] {
        assert_eq!(bind(&registrar, &record(id)).await.outcome, "bound", "{id}");
        let answer = look(&registrar, &format!("/jobs/tornado/{path}")).await;
        assert_eq!(said(&answer)["job"]["id"], id, "{answer:?}");
    }
}

#[tokio::test]
async fn a_job_that_is_not_bound_is_404_with_what_waits_for_it() {
    let world = world().await;
    let registrar = world.registrar().await;
    let answer = look(&registrar, "/jobs/tornado/j-1").await;
    assert_eq!(answer.said(), (404, "unbound"));
    assert_eq!(said(&answer)["parked"], json!([]));
    hear(&registrar, &completed("j-1")).await;
    let answer = look(&registrar, "/jobs/tornado/j-1").await;
    assert_eq!(answer.said(), (404, "unbound"));
    let parked = &said(&answer)["parked"][0];
    assert_eq!(
        (&parked["kind"], &parked["outcome"]),
        (&json!("parked"), &json!("completed"))
    );
    assert_eq!(
        look(&registrar, "/jobs/vimeo/j-1").await.said(),
        (404, "unbound")
    );
}

#[tokio::test]
async fn a_job_of_an_account_is_asked_for_with_it() {
    let world = world().await;
    let registrar = world.registrar().await;
    let mut own = record("j-1");
    own["space"] = json!("sume");
    own["account"] = json!("a b");
    bind(&registrar, &own).await;
    let answer = look(&registrar, "/jobs/sume/j-1").await;
    assert_eq!(answer.said(), (400, "malformed"));
    assert!(said(&answer)["error"].as_str().unwrap().contains("account"));
    for (account, status) in [("a+b", 200), ("a%20b", 200), ("b", 404)] {
        let answer = look(&registrar, &format!("/jobs/sume/j-1?account={account}")).await;
        assert_eq!(answer.status, status, "{account}");
    }
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_told_and_never_unbound() {
    let world = world().await;
    let registrar = world.registrar().await;
    bind(&registrar, &record("j-1")).await;
    let item = world.table.of_kind(kind::JOB).await.remove(0);
    world.table.put(vec![item.with_text("binding", "{}")]).await;
    for answer in [
        look(&registrar, "/jobs/tornado/j-1").await,
        bind(&registrar, &record("j-1")).await,
        hear(&registrar, &completed("j-1")).await,
    ] {
        assert_eq!(answer.said(), (500, "unreadable"));
        assert!(answer.header("retry-after").is_none());
    }
}

#[tokio::test]
async fn other_paths_are_404_and_other_methods_405() {
    let world = world().await;
    let registrar = world.registrar().await;
    for path in [
        "/",
        "/hooks/tornado",
        "/job",
        "/jobs/tornado",
        "/observation",
    ] {
        let answer = ask(&registrar, "POST", path, "{}").await;
        assert_eq!(answer.said(), (404, "unknown-path"), "{path}");
    }
    for (path, allow) in [
        ("/jobs", "POST"),
        ("/observations", "POST"),
        ("/jobs/tornado/j-1", "GET"),
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"] {
            if method == allow {
                continue;
            }
            let answer = ask(&registrar, method, path, "").await;
            assert_eq!(answer.said(), (405, "method"), "{method} {path}");
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        }
    }
}
