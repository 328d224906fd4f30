//! `POST /observations`.

use ackbox_store::schema::kind;

use super::*;

fn from(source: &str, observation: Value) -> Value {
    json!({"source": source, "job_id": "j-1", "observation": observation})
}

#[tokio::test]
async fn an_observation_in_the_sources_own_json_is_accepted_as_a_webhook_is() {
    let world = world().await;
    let registrar = world.registrar().await;
    let bound = said(&bind(&registrar, &record("j-1")).await);
    for (status, word) in [("processing", "progress"), ("Processing", "progress")] {
        let answer = hear(&registrar, &from("tornado", json!({"status": status}))).await;
        assert_eq!(answer.said(), (200, word));
    }
    let answer = hear(&registrar, &from("tornado", json!({"step": "Queued"}))).await;
    assert_eq!(answer.said(), (200, "nothing"));
    assert_eq!(world.table.items().await.len(), 1);

    let answer = hear(&registrar, &from("tornado", json!({"status": "Completed"}))).await;
    assert_eq!(answer.said(), (200, "accepted"));
    let actions = json!([{"key": bound["actions"][0]["key"], "became": "accepted"}]);
    assert_eq!(said(&answer)["actions"], actions);
    for again in [
        from("tornado", json!({"status": "completed"})),
        from("tornado", json!({"status": "COMPLETED", "more": 1})),
        completed("j-1"),
    ] {
        assert_eq!(hear(&registrar, &again).await.said(), (200, "duplicate"));
    }
    let answer = hear(
        &registrar,
        &from("tornado", json!({"status": "processing"})),
    )
    .await;
    assert_eq!(answer.said(), (200, "progress"));
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 1);
    assert_eq!(world.table.of_kind(kind::CONFLICT).await.len(), 0);
}

#[tokio::test]
async fn a_webhook_and_an_observation_of_it_are_one_fact_whichever_comes_first() {
    let world = world().await;
    let (registrar, receiver) = (world.registrar().await, world.receiver().await);
    bind(&registrar, &record("j-1")).await;
    let answer = hear(&registrar, &from("tornado", json!({"status": "completed"}))).await;
    assert_eq!(answer.outcome, "accepted");
    let told = json!({"job_id": "j-1", "status": "completed"}).to_string();
    let webhook = world.webhook("tornado", "m-1", told).to(&receiver).await;
    assert_eq!(webhook.status, 200);
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 1);
}

#[tokio::test]
async fn the_sources_json_is_kept_byte_for_byte() {
    let world = world().await;
    let registrar = world.registrar().await;
    let odd = "{ \"status\" :\"completed\",\n\t\"n\":1.0e2, \"x\":\"\\u00e4\" }";
    let body = format!("{{\"source\":\"tornado\",\"job_id\":\"j-1\",\"observation\":  {odd} }}");
    let answer = ask(&registrar, "POST", "/observations", body).await;
    assert_eq!(answer.said(), (200, "parked"));
    let parked = world.table.of_kind(kind::PARKED).await;
    let kept = parked[0].bytes("body").unwrap();
    assert_eq!(std::str::from_utf8(kept).unwrap(), odd);
}

#[tokio::test]
async fn what_contradicts_is_a_conflict_on_the_record_and_409_only_where_the_source_says_so() {
    let refusing = |config: &mut ackbox_config::Config| refuse_conflicts(config, "tornado-org");
    let world = changed(refusing).await;
    let registrar = world.registrar().await;
    bind(&registrar, &record("j-1")).await;
    hear(&registrar, &completed("j-1")).await;
    let failed = json!({"status": "error"});
    let answer = hear(&registrar, &from("tornado", failed.clone())).await;
    assert_eq!(answer.said(), (200, "conflict"));
    assert!(said(&answer)["why"].as_str().unwrap().contains("completed"));
    // Another account's.
    let answer = hear(&registrar, &from("tornado-org", failed)).await;
    assert_eq!(answer.said(), (409, "conflict"));
    assert!(said(&answer)["why"].as_str().unwrap().contains("account"));
    assert_eq!(world.table.of_kind(kind::CONFLICT).await.len(), 2);
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 1);
}

#[tokio::test]
async fn another_jobs_action_under_the_same_key_is_a_conflict_though_the_job_has_ended() {
    let world = world().await;
    let registrar = world.registrar().await;
    for id in ["j-1", "j-2"] {
        bind(&registrar, &record(id)).await;
    }
    hear(&registrar, &completed("j-1")).await;
    let answer = hear(&registrar, &completed("j-2")).await;
    assert_eq!(answer.said(), (200, "conflict"));
    assert_eq!(said(&answer)["actions"][0]["became"], "conflict");
    let job = said(&look(&registrar, "/jobs/tornado/j-2").await);
    assert_eq!(job["state"], "ended");
}

#[tokio::test]
async fn an_end_of_a_job_that_is_not_bound_is_what_its_source_says() {
    let world = changed(|config| {
        jobs_of(config, "tornado").unbound = Unbound::Refuse;
        jobs_of(config, "tornado-org").unbound = Unbound::Ignore;
    })
    .await;
    let registrar = world.registrar().await;
    let end = json!({"status": "completed"});
    for (source, status) in [("tornado", 409), ("tornado-org", 200)] {
        let answer = hear(&registrar, &from(source, end.clone())).await;
        assert_eq!(answer.said(), (status, "unbound"), "{source}");
    }
    // The normal form is of the source that speaks for the account.
    let mut told = completed("j-1");
    assert_eq!(hear(&registrar, &told).await.said(), (409, "unbound"));
    told["account"] = json!("org");
    assert_eq!(hear(&registrar, &told).await.said(), (200, "unbound"));
    told["account"] = json!("nobody's");
    assert_eq!(hear(&registrar, &told).await.said(), (409, "unbound"));
    assert!(world.table.items().await.is_empty());
}

#[tokio::test]
async fn what_cannot_be_used_is_400_says_why_and_writes_nothing() {
    let world = world().await;
    let registrar = world.registrar().await;
    let end = json!({"status": "completed"});
    for (observation, word, part) in [
        (from("nobody", end.clone()), "unknown-source", "/source"),
        (from("plain", end.clone()), "unknown-source", "/source"),
        (
            from("tornado", json!({"status": "exploded"})),
            "malformed",
            "exploded",
        ),
        (
            json!({"source": "tornado", "job_id": "", "observation": {}}),
            "malformed",
            "/job_id",
        ),
        (
            json!({"source": "tornado", "job_id": "j", "account": "", "observation": {}}),
            "malformed",
            "/account",
        ),
        (
            json!({"source": "tornado", "job_id": "j"}),
            "malformed",
            "observation",
        ),
        (
            json!({"source": "tornado", "job_id": "j", "observation": {}, "x": 1}),
            "malformed",
            "`x`",
        ),
        (
            json!({"space": "vimeo", "job_id": "j", "outcome": "completed"}),
            "unknown-space",
            "/space",
        ),
        (
            json!({"space": "tornado", "job_id": "j", "outcome": "complete"}),
            "unknown-outcome",
            "/outcome",
        ),
        (
            json!({"space": "tornado", "job_id": "j", "outcome": "silent"}),
            "malformed",
            "/outcome",
        ),
        (
            json!({"space": "tornado", "job_id": "j", "outcome": "completed", "values": {"url": 1}}),
            "unknown-value",
            "url",
        ),
        (json!({}), "malformed", "space"),
        (json!([]), "malformed", "an object"),
        (json!(["tornado", "j", null, {}]), "malformed", "an object"),
    ] {
        let answer = hear(&registrar, &observation).await;
        assert_eq!(answer.said(), (400, word), "{observation}");
        let error = said(&answer)["error"].to_string();
        assert!(error.contains(part), "{observation}: {error}");
    }
    assert!(world.table.items().await.is_empty());
}

#[tokio::test]
async fn values_of_the_normal_form_reach_the_step_that_asks_for_them() {
    let world = world().await;
    let registrar = world.registrar().await;
    let mut wanting = record("j-1");
    wanting["steps"][0]["values"] = json!(["key"]);
    bind(&registrar, &wanting).await;
    let answer = hear(&registrar, &completed("j-1")).await;
    assert_eq!(answer.said(), (200, "conflict"), "it lacks the value");
    let mut whole = completed("j-1");
    whole["values"] = json!({"key": "out/1.mp4"});
    assert_eq!(hear(&registrar, &whole).await.said(), (200, "accepted"));
    let entry = world.entry().await;
    let ackbox_domain::StoredBody::Inline(body) = entry.body else {
        panic!("{entry:?}");
    };
    let sent: Value = serde_json::from_slice(&body.bytes).unwrap();
    assert_eq!(sent["values"], json!({"key": "out/1.mp4"}));
}

#[tokio::test]
async fn ids_of_an_account_are_other_jobs() {
    let world = world().await;
    let registrar = world.registrar().await;
    let mut own = record("j-1");
    own["space"] = json!("sume");
    own["account"] = json!("a");
    assert_eq!(bind(&registrar, &own).await.outcome, "bound");
    let end = |account: &str| json!({"source": "sume", "job_id": "j-1", "account": account, "observation": {"status": "completed"}});
    assert_eq!(hear(&registrar, &end("b")).await.said(), (200, "parked"));
    assert_eq!(hear(&registrar, &end("a")).await.said(), (200, "accepted"));
}

#[tokio::test]
async fn an_observation_that_is_too_old_is_refused_as_a_webhook_would_be() {
    let limited = |config: &mut ackbox_config::Config| {
        let source = &mut config.sources.get_mut("tornado").unwrap().source;
        source.max_age = Some(MaxAge {
            most: Duration::from_secs(3600),
            ahead: Duration::from_secs(300),
            time: vec![Locator::Body("/at".parse().unwrap())],
        });
    };
    let world = changed(limited).await;
    let (registrar, receiver) = (world.registrar().await, world.receiver().await);
    bind(&registrar, &record("j-1")).await;
    let now = world.clock.now().unix_s();
    let ended = |at: u64| json!({"job_id": "j-1", "status": "completed", "at": at});
    let answer = hear(&registrar, &from("tornado", ended(now - 3700))).await;
    assert_eq!(answer.said(), (400, "too-old"));
    let answer = hear(&registrar, &from("tornado", json!({"status": "completed"}))).await;
    assert_eq!(answer.said(), (400, "malformed"));
    let answer = hear(&registrar, &from("tornado", ended(now + 3700))).await;
    assert_eq!(answer.said(), (400, "malformed"));
    let webhook = world.webhook("tornado", "m-1", ended(now - 3700).to_string());
    assert_eq!(webhook.to(&receiver).await.said(), (400, "too-old"));
    assert_eq!(world.table.of_kind(kind::OUTBOX).await.len(), 0);
    let answer = hear(&registrar, &from("tornado", ended(now - 3500))).await;
    assert_eq!(answer.said(), (200, "accepted"));
}
