//! Detects that the computer slept (its clock advanced by much more than the interval between two comparisons), or that
//! its network addresses changed. Used by `host`, which then checks the connections to remote servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Interval at which the clocks and addresses are compared.
pub const CLOCK_COMPARISON_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of checks that start without delay when the network changes several times in a row.
pub const MAX_CONNECTION_CHECKS_IN_BURST: u32 = 3;
/// Minimum time by which a clock must have advanced beyond the comparison interval to show that the computer slept.
/// Smaller differences may occur on a busy computer.
const MIN_CLOCK_JUMP: Duration = Duration::from_secs(20);

/// The times that the wall clock and the monotonic clock showed at the last comparison.
#[derive(Debug, Clone, Copy)]
pub struct ClockComparison {
    wall: SystemTime,
    own: Instant,
}

impl ClockComparison {
    /// Creates the comparison with the first readings of the wall clock and the monotonic clock.
    pub const fn new(wall: SystemTime, own: Instant) -> Self {
        Self { wall, own }
    }

    /// Returns `true` if the computer slept since the last comparison, which was made [`CLOCK_COMPARISON_INTERVAL`]
    /// ago.
    ///
    /// On some systems a process's monotonic clock runs during sleep, on others it stops. The wall clock always
    /// advances. A wall clock that was set back doesn't count as sleep.
    pub fn detect_wake(&mut self, wall: SystemTime, own: Instant) -> bool {
        let passed = wall.duration_since(self.wall).unwrap_or_default();
        let own_passed = own.saturating_duration_since(self.own);
        *self = Self { wall, own };
        passed.max(own_passed) > CLOCK_COMPARISON_INTERVAL + MIN_CLOCK_JUMP
    }
}

/// The local addresses from which this computer sends packets to the internet: one for IPv4 and one for IPv6, each
/// `None` if there is no route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutgoingIpAddresses {
    v4: Option<IpAddr>,
    v6: Option<IpAddr>,
}

impl OutgoingIpAddresses {
    /// Determines the addresses from the operating system's routes. No packet is sent: connecting a UDP socket only
    /// selects its source address. The destinations are reserved for documentation (RFC 5737, RFC 3849).
    pub fn read() -> Self {
        let v4 = outgoing_ip_address(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into());
        let v6 =
            outgoing_ip_address(Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into());
        Self { v4, v6 }
    }

    /// Replaces the stored addresses with `now`. Returns `true` if one of the addresses is new. A lost address doesn't
    /// count, because without a route no check can succeed.
    pub fn update(&mut self, now: Self) -> bool {
        let before = std::mem::replace(self, now);
        now.v4.is_some() && now.v4 != before.v4 || now.v6.is_some() && now.v6 != before.v6
    }
}

/// Limits the rate at which reported network changes trigger checks of connections: a burst of
/// [`MAX_CONNECTION_CHECKS_IN_BURST`], and one per [`CLOCK_COMPARISON_INTERVAL`] after that. Reports during the wait
/// are merged into one pending check.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectionCheckRateLimit {
    /// Time at which [`MAX_CONNECTION_CHECKS_IN_BURST`] checks without delay are allowed again. `None` before the first
    /// check.
    full_at: Option<Instant>,
    is_pending: bool,
}

impl ConnectionCheckRateLimit {
    /// Returns the time at which to check the connections after a reported network change, or `None` if a check is
    /// already pending.
    pub fn schedule_connection_check(&mut self, now: Instant) -> Option<Instant> {
        if self.is_pending {
            return None;
        }
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now)) + CLOCK_COMPARISON_INTERVAL;
        self.full_at = Some(full_at);
        let at = full_at
            .checked_sub(CLOCK_COMPARISON_INTERVAL * MAX_CONNECTION_CHECKS_IN_BURST)
            .map_or(now, |at| at.max(now));
        self.is_pending = at > now;
        Some(at)
    }

    /// Records that the pending check of connections has started.
    pub const fn mark_connection_check_started(&mut self) {
        self.is_pending = false;
    }
}

fn outgoing_ip_address(from: IpAddr, to: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    // Port 9 is the discard service. No packet is sent to it.
    socket.connect((to, 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_checks_beyond_the_rate_limit_are_coalesced() {
        let now = Instant::now() + Duration::from_secs(1_000_000);
        let mut pace = ConnectionCheckRateLimit::default();
        for _ in 0..MAX_CONNECTION_CHECKS_IN_BURST {
            assert_eq!(pace.schedule_connection_check(now), Some(now), "the first reports must be checked immediately");
        }
        assert_eq!(
            pace.schedule_connection_check(now),
            Some(now + CLOCK_COMPARISON_INTERVAL),
            "the next report must wait for an interval"
        );
        assert_eq!(
            pace.schedule_connection_check(now + Duration::from_secs(1)),
            None,
            "later reports must be merged into the pending check"
        );
        let then = now + CLOCK_COMPARISON_INTERVAL;
        pace.mark_connection_check_started();
        assert_eq!(
            pace.schedule_connection_check(then),
            Some(then + CLOCK_COMPARISON_INTERVAL),
            "there must be one check per interval"
        );
        pace.mark_connection_check_started();
        let later = then + CLOCK_COMPARISON_INTERVAL * 10;
        assert_eq!(
            pace.schedule_connection_check(later),
            Some(later),
            "a report after a quiet period must be checked immediately"
        );
    }

    #[test]
    fn only_a_jump_of_the_clock_is_detected_as_sleep() {
        let (wall, own) = (SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000), Instant::now());
        let secs = Duration::from_secs;
        let cases = [
            (secs(5), secs(5), false, "nothing happened"),
            (secs(15), secs(15), false, "a busy machine looks late"),
            (secs(3_600), secs(5), true, "the program's clock stopped during sleep"),
            (secs(3_600), secs(3_600), true, "it ran on in sleep"),
        ];
        for (wall_passed, own_passed, woke, what) in cases {
            let mut clocks = ClockComparison::new(wall, own);
            assert_eq!(clocks.detect_wake(wall + wall_passed, own + own_passed), woke, "{what}");
            let again = clocks.detect_wake(
                wall + wall_passed + CLOCK_COMPARISON_INTERVAL,
                own + own_passed + CLOCK_COMPARISON_INTERVAL,
            );
            assert!(!again, "{what}: a wake must be reported once");
        }
        let mut clocks = ClockComparison::new(wall, own);
        assert!(
            !clocks.detect_wake(wall - secs(3_600), own + CLOCK_COMPARISON_INTERVAL),
            "a clock that was set back must not count as sleep"
        );
    }

    #[test]
    fn only_a_new_source_address_is_reported_as_network_change() {
        let (home, cafe) = (Some(IpAddr::from([192, 168, 1, 7])), Some(IpAddr::from([10, 0, 0, 7])));
        let v6 = Some(IpAddr::from(Ipv6Addr::LOCALHOST));
        let cases = [
            ((home, v6), (home, v6), false, "nothing happened"),
            ((home, v6), (cafe, v6), true, "another network"),
            ((home, None), (None, None), false, "the network is gone"),
            ((None, None), (home, None), true, "the network is back"),
            ((home, None), (home, v6), true, "the other family came"),
            ((home, v6), (home, None), false, "the other family went"),
            ((home, v6), (None, v6), false, "one of two is gone"),
        ];
        for ((v4, v6), (v4_now, v6_now), moved, what) in cases {
            let (mut addresses, now) = (OutgoingIpAddresses { v4, v6 }, OutgoingIpAddresses { v4: v4_now, v6: v6_now });
            assert_eq!(addresses.update(now), moved, "{what}");
            assert!(!addresses.update(now), "{what}: a change must be reported once");
        }
    }
}
