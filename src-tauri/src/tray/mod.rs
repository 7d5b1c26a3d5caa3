//! The icon in the desktop's tray, with what goes on and a way back to the window. Not every desktop has a tray, so it is never the
//! only way back: starting the app again shows the window, too. `start.rs` makes it, `presence.rs` keeps it up to date.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Tray;
#[cfg(target_os = "linux")]
pub(crate) use linux::Tray;
