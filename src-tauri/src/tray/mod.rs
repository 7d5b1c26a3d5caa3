//! Icon in the desktop's tray, with the current numbers and a menu item that opens the window.
//!
//! Not every desktop has a tray, so starting the app again opens the window too. The icon is created by `start.rs` and
//! updated by `presence.rs`.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Tray;
#[cfg(target_os = "linux")]
pub(crate) use linux::Tray;
