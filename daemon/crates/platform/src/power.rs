//! The source of power, and whether the network is metered.
//!
//! Gives facts where the system has them and `Unknown` elsewhere; what to do about them is a setting.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;

/// The source of power of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PowerSource {
    /// Plugged in, or a machine without a battery.
    Mains,
    Battery,
    Unknown,
}

/// The cost of traffic over the connection in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    Metered,
    Unmetered,
    Unknown,
}

/// Returns the source of power.
#[must_use]
pub fn power_source() -> PowerSource {
    #[cfg(target_os = "linux")]
    return linux::power_source();
    #[cfg(target_os = "macos")]
    return macos::power_source();
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    PowerSource::Unknown
}

/// Returns whether the connection in use is metered, as the system's network service says
/// (NetworkManager on Linux); takes at most two seconds.
#[must_use]
pub fn network() -> Network {
    #[cfg(target_os = "linux")]
    return linux::network();
    #[cfg(not(target_os = "linux"))]
    Network::Unknown
}
