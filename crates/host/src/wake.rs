//! Noticing that the computer slept: the clock on the wall went on, and this program did not.

use std::time::{Duration, Instant, SystemTime};

/// How often the clocks are compared.
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);
/// What is no longer explained by a busy machine.
const JUMP: Duration = Duration::from_secs(20);

/// The clocks when they were last compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    wall: SystemTime,
    own: Instant,
}

impl Clocks {
    pub(crate) const fn new(wall: SystemTime, own: Instant) -> Self {
        Self { wall, own }
    }

    /// Whether the computer slept since the last look. Looks are [`INTERVAL`] apart. Some systems let a program's own clock run
    /// on in sleep and others do not; the one on the wall always does. One that was set back says nothing.
    pub(crate) fn woke(&mut self, wall: SystemTime, own: Instant) -> bool {
        let passed = wall.duration_since(self.wall).unwrap_or_default();
        let own_passed = own.saturating_duration_since(self.own);
        *self = Self { wall, own };
        passed.max(own_passed) > INTERVAL + JUMP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
