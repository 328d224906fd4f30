//! What leaves a store: every call by its operation, every request's JSON, and the write units that
//! the engine says it consumed.

use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeSerializationInterceptorContextMut,
    BeforeTransmitInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Mutex<Recorded>>);

#[derive(Debug, Default)]
struct Recorded {
    calls: Vec<(String, Value)>,
    units: Vec<(f64, Value)>,
    counts_units: bool,
}

impl Recorder {
    /// Asks the engine for what each write consumes.
    pub(crate) fn count_units(&self) {
        self.0.lock().unwrap().counts_units = true;
    }

    /// The operations called since the last time this was asked.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.requests().into_iter().map(|(name, _)| name).collect()
    }

    /// The requests made since the last time this or `calls` was asked.
    pub(crate) fn requests(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    /// The write units consumed since the last time this was asked, with what the engine said.
    pub(crate) fn units(&self) -> (f64, Vec<Value>) {
        let units = std::mem::take(&mut self.0.lock().unwrap().units);
        let sum = units.iter().map(|(units, _)| units).sum();
        (sum, units.into_iter().map(|(_, said)| said).collect())
    }
}

impl Intercept for Recorder {
    fn name(&self) -> &'static str {
        "Recorder"
    }

    fn modify_before_serialization(
        &self,
        context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if !self.0.lock().unwrap().counts_units {
            return Ok(());
        }
        let input = context.input_mut();
        if let Some(input) = input.downcast_mut::<TransactWriteItemsInput>() {
            input.return_consumed_capacity = Some(ReturnConsumedCapacity::Indexes);
        } else if let Some(input) = input.downcast_mut::<UpdateItemInput>() {
            input.return_consumed_capacity = Some(ReturnConsumedCapacity::Indexes);
        }
        Ok(())
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request();
        let target = request.headers().get("x-amz-target").unwrap();
        let name = target.rsplit('.').next().unwrap().to_owned();
        let json = serde_json::from_slice(request.body().bytes().unwrap())?;
        self.0.lock().unwrap().calls.push((name, json));
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response().body().bytes().unwrap_or(b"{}");
        let answer: Value = serde_json::from_slice(body)?;
        let consumed = match &answer["ConsumedCapacity"] {
            Value::Array(all) => all.clone(),
            Value::Null => Vec::new(),
            one => vec![one.clone()],
        };
        let mut recorded = self.0.lock().unwrap();
        for said in consumed {
            let units = said["CapacityUnits"].as_f64().unwrap();
            recorded.units.push((units, said));
        }
        Ok(())
    }
}
