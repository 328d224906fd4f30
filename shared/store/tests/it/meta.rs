//! META: the names and rules that a table has ever seen, each remembered before the first that is accepted of it.

use ackbox_domain::{ActionKey, RuleIdentity, Scalar};
use ackbox_store::schema::RULES_BYTES_MAX;

use crate::action::{TIMING, action, name};
use crate::engine::{Engine, soon};

#[tokio::test]
async fn a_rule_is_remembered_once_and_again_when_it_is_edited() {
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let mut one = action("msg_1", b"{}");
    store.accept(&one, &TIMING, soon()).await.unwrap();
    let meta = engine.store.meta().await.unwrap();
    let line = RuleIdentity::of_action(&one).unwrap();
    assert_eq!(meta.rules.iter().collect::<Vec<_>>(), [&line]);
    recorder.calls();

    store
        .accept(&action("msg_2", b"{}"), &TIMING, soon())
        .await
        .unwrap();
    assert_eq!(recorder.calls(), ["TransactWriteItems"]);
    // Another part in its key: another line, before the action.
    one.parts
        .push(("/n".to_owned(), Scalar::Number("1".to_owned())));
    one.key = ActionKey::new("reports/ready", one.parts.iter().map(|(_, v)| v));
    store.accept(&one, &TIMING, soon()).await.unwrap();
    assert_eq!(recorder.calls(), ["UpdateItem", "TransactWriteItems"]);
    let meta = engine.store.meta().await.unwrap();
    assert_eq!(meta.rules.len(), 2);
    assert!(!meta.is_full_of_rules());
}

#[tokio::test]
async fn beyond_the_bound_no_rule_is_remembered_and_all_else_goes_on() {
    const LENGTH: usize = 8 * 1024;
    let engine = Engine::start().await;
    let (store, recorder) = engine.recorded();
    let accept = async |rule: String| {
        let mut one = action("msg_1", b"{}");
        one.rule = name(&rule);
        one.namespace = format!("reports/{rule}");
        one.parts[0].0 = format!("/{}", "n".repeat(LENGTH));
        one.key = ActionKey::new(&one.namespace, one.parts.iter().map(|(_, value)| value));
        store.accept(&one, &TIMING, soon()).await.unwrap();
    };
    let fit = RULES_BYTES_MAX.div_ceil(LENGTH);
    for n in 0..fit {
        accept(format!("r{n}")).await;
    }
    let meta = engine.store.meta().await.unwrap();
    assert!(meta.is_full_of_rules());
    let known = meta.rules.len();
    assert!(known <= fit, "{known}");
    recorder.calls();
    accept("one-more".to_owned()).await;
    assert_eq!(recorder.calls(), ["TransactWriteItems"]);
    assert_eq!(engine.store.meta().await.unwrap(), meta);
}
