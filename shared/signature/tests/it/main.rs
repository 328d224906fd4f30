//! Everything that is asserted through the public interface, as one binary.

mod grammar;
mod properties;
mod refusals;
mod secrets;
mod signing;
mod support;
mod vectors;
