//! The commands as a shell sees them: arguments, files and environment in, exit code and two outputs out.
//! A test may assert those three, and what a server on loopback saw; nothing else.

mod check;
mod list_and_show;
mod send;
mod shape;
mod support;
mod verify;
