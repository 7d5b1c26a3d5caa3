//! Notices that the computer slept (the wall clock went on and this program did not), or that it has other addresses. Caller: the
//! handle of `host`, which then looks after remote servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// How often the clocks and the addresses are compared.
pub const INTERVAL: Duration = Duration::from_secs(5);
/// How many reports of a changed network are looked into at once.
pub const LOOKS_AT_ONCE: u32 = 3;
/// What is no longer explained by a busy machine.
const JUMP: Duration = Duration::from_secs(20);

/// The clocks when they were last compared.
#[derive(Debug, Clone, Copy)]
pub struct Clocks {
    wall: SystemTime,
    own: Instant,
}

impl Clocks {
    /// The clocks at the first look.
    pub const fn new(wall: SystemTime, own: Instant) -> Self {
        Self { wall, own }
    }

    /// Whether the computer slept since the last look. Looks are [`INTERVAL`] apart. Some systems let a program's own clock run
    /// on in sleep and others do not; the one on the wall always does. One that was set back says nothing.
    pub fn woke(&mut self, wall: SystemTime, own: Instant) -> bool {
        let passed = wall.duration_since(self.wall).unwrap_or_default();
        let own_passed = own.saturating_duration_since(self.own);
        *self = Self { wall, own };
        passed.max(own_passed) > INTERVAL + JUMP
    }
}

/// The addresses from which this computer would send to the internet, where it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    v4: Option<IpAddr>,
    v6: Option<IpAddr>,
}

impl Addresses {
    /// Asks the system's routes. Nothing is sent: connecting a UDP socket only chooses its address. The far ends are kept for
    /// documentation (RFC 5737, RFC 3849), so nobody has them.
    pub fn read() -> Self {
        let v4 = local_address(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into());
        let v6 = local_address(Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into());
        Self { v4, v6 }
    }

    /// Whether there is an address now that was not there at the last look. One that is gone says nothing: there is no way out
    /// to try.
    pub fn moved(&mut self, now: Self) -> bool {
        let before = std::mem::replace(self, now);
        now.v4.is_some() && now.v4 != before.v4 || now.v6.is_some() && now.v6 != before.v6
    }
}

/// Bounds how often reports of a changed network, which come from outside, have connections looked after: [`LOOKS_AT_ONCE`] at once and one
/// each [`INTERVAL`] from then on. A report beyond that is not lost but waits, and stands for all that come while it does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    /// When as many looks as ever are free again.
    full_at: Option<Instant>,
    is_pending: bool,
}

impl Pace {
    /// The time of the look for a report that comes now; none while another one is pending.
    pub fn report(&mut self, now: Instant) -> Option<Instant> {
        if self.is_pending {
            return None;
        }
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now)) + INTERVAL;
        self.full_at = Some(full_at);
        let at = full_at.checked_sub(INTERVAL * LOOKS_AT_ONCE).map_or(now, |at| at.max(now));
        self.is_pending = at > now;
        Some(at)
    }

    /// The pending look is taken.
    pub const fn taken(&mut self) {
        self.is_pending = false;
    }
}

fn local_address(from: IpAddr, to: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((from, 0)).ok()?;
    // 9 is the port of discard.
    socket.connect((to, 9)).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_beyond_the_bound_wait_and_become_one() {
        let now = Instant::now() + Duration::from_secs(1_000_000);
        let mut pace = Pace::default();
        for _ in 0..LOOKS_AT_ONCE {
            assert_eq!(pace.report(now), Some(now), "the first are looked into at once");
        }
        assert_eq!(pace.report(now), Some(now + INTERVAL), "the next one waits");
        assert_eq!(pace.report(now + Duration::from_secs(1)), None, "and stands for those after it");
        let then = now + INTERVAL;
        pace.taken();
        assert_eq!(pace.report(then), Some(then + INTERVAL), "one for each interval");
        pace.taken();
        let later = then + INTERVAL * 10;
        assert_eq!(pace.report(later), Some(later), "after a rest at once");
    }

    #[test]
    fn only_a_jump_is_sleep() {
        let (wall, own) = (SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000), Instant::now());
        let secs = Duration::from_secs;
        let cases = [
            (secs(5), secs(5), false, "nothing happened"),
            (secs(15), secs(15), false, "a busy machine looks late"),
            (secs(3_600), secs(5), true, "the program's clock stood still in sleep"),
            (secs(3_600), secs(3_600), true, "it ran on in sleep"),
        ];
        for (wall_passed, own_passed, woke, what) in cases {
            let mut clocks = Clocks::new(wall, own);
            assert_eq!(clocks.woke(wall + wall_passed, own + own_passed), woke, "{what}");
            let again = clocks.woke(wall + wall_passed + INTERVAL, own + own_passed + INTERVAL);
            assert!(!again, "{what}: it is told once");
        }
        let mut clocks = Clocks::new(wall, own);
        assert!(!clocks.woke(wall - secs(3_600), own + INTERVAL), "a clock that was set back is no sleep");
    }

    #[test]
    fn only_an_address_that_came_is_another_network() {
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
            let (mut addresses, now) = (Addresses { v4, v6 }, Addresses { v4: v4_now, v6: v6_now });
            assert_eq!(addresses.moved(now), moved, "{what}");
            assert!(!addresses.moved(now), "{what}: it is told once");
        }
    }
}
