//! draft

mod bounds;
pub mod clock;
mod decide;
mod destination;
mod explore;
mod property;
mod protocol;
mod simplify;
pub mod state;
mod step;
mod story;
mod table;

pub use bounds::{Bounds, Destination, Guards};
pub use explore::{Explored, Verdict, explore, shortest_violation};
pub use property::{
    COMES_TO_REST, INSIDE_LEASE, INSIDE_WINDOW, NO_ENDLESS_RUN, NOT_LOST, NOT_REPEATED,
    ONE_AT_ONCE, ONE_EFFECT, REMEMBERED, STAYS_CLOSED,
};
pub use protocol::Protocol;
pub use step::Step;
