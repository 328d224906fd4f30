//! What one receiver and one dispatcher occupy while they work, sample by sample, and whether it grows.

use std::sync::Arc;

use ackbox_tests::function::Function;
use ackbox_tests::growth::Samples;

/// What a receiver may gain in steps, in MiB: it has one message at a time.
const RECEIVER_STEPS: f64 = 2.0;
/// What a dispatcher may, in MiB: it keeps what the largest batch so far has taken, and a batch has up
/// to 64 requests under way at once.
const DISPATCHER_STEPS: f64 = 8.0;

/// The samples, by the number of messages sent.
#[derive(Debug)]
pub(crate) struct Memory {
    receiver: Samples,
    dispatcher: Samples,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            receiver: Samples::new(RECEIVER_STEPS),
            dispatcher: Samples::new(DISPATCHER_STEPS),
        }
    }
}

impl Memory {
    /// How often both are looked at in one run.
    pub(crate) const LOOKS: usize = 100;

    /// Takes one sample of each.
    pub(crate) fn look(
        &mut self,
        sent: usize,
        receiver: Option<Arc<Function>>,
        dispatcher: Option<Arc<Function>>,
    ) -> Result<(), String> {
        if let Some(receiver) = receiver {
            self.receiver.add(sent, receiver.resident_mb()?);
        }
        if let Some(dispatcher) = dispatcher {
            self.dispatcher.add(sent, dispatcher.resident_mb()?);
        }
        Ok(())
    }

    /// Prints both, and says whether neither grows.
    pub(crate) fn report(&self) -> bool {
        let receiver = told("receiver", &self.receiver);
        let dispatcher = told("dispatcher", &self.dispatcher);
        receiver && dispatcher
    }
}

fn told(name: &str, samples: &Samples) -> bool {
    let Some(growth) = samples.growth() else {
        println!("memory of a {name}: too few samples");
        return true;
    };
    println!("memory of a {name}: {growth}");
    !growth.is_leak()
}
