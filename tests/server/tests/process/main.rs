//! The real binary: its command line, its sockets, and what a crash leaves behind.

mod cli;
mod crash;
mod server;
mod sockets;
