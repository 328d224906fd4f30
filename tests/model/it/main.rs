//! The model itself: it holds for small bounds, its simplifications change no verdict, and every guard
//! that is taken away is missed by a property.

mod exhaustive;
mod guards;
mod pausing;
