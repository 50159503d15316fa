//! The harness of the end-to-end tests: real `cairn` and `cairn-server` processes, real folders.
//!
//! A test describes what people do to two folders and what both must hold afterwards; the harness
//! starts the processes, follows the protocol of the scenarios and checks. It knows the product only
//! through its command line, its REST interface and its files; it links none of its crates.
#![cfg(unix)]

pub mod assistant;
pub mod binaries;
pub mod browser;
pub mod chromium;
pub mod cli;
pub mod dev;
pub mod device;
pub mod files;
pub mod http;
pub mod mount;
pub mod proxy;
pub mod scenario;
pub mod server;
pub mod service;
pub mod status;
pub mod tree;
pub mod wait;
pub mod world;

pub use assistant::Assistant;
pub use device::Device;
pub use files::Files;
pub use scenario::{First, Scenario};
pub use server::{Server, Storage};
pub use tree::Tree;
pub use world::World;
