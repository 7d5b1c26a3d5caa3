//! Tray icon, with the numbers of servers and requests and a menu item that opens the window.
//!
//! Not every desktop has a tray, so starting the app again opens the window too. `start.rs` creates the icon and
//! `presence.rs` updates it.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Tray;
#[cfg(target_os = "linux")]
pub(crate) use linux::Tray;
