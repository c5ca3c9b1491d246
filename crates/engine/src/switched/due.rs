//! What a link still has to do: to send in the present event, or to catch up with what it was left behind with.

/// Two flags that others set when a link may go on.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Due {
    woken: bool,
    behind: bool,
}

impl Due {
    /// Whether the link is to send before the present event is over.
    #[inline(always)]
    pub fn is_woken(self) -> bool {
        self.woken
    }

    /// Has it send before the present event is over; false if it was to do so anyway.
    #[inline(always)]
    pub fn wake(&mut self) -> bool {
        !std::mem::replace(&mut self.woken, true)
    }

    /// It has sent, and is to send more or not.
    #[inline(always)]
    pub fn set_woken(&mut self, woken: bool) {
        self.woken = woken;
    }

    /// Whether the link was left behind, as told in [`super::demand`], or waits for characters of a link that was.
    #[inline(always)]
    pub fn is_behind(self) -> bool {
        self.behind
    }

    /// Leaves it behind.
    pub fn leave_behind(&mut self) {
        self.behind = true;
    }

    /// It is not behind any more.
    #[inline(always)]
    pub fn catch_up(&mut self) {
        self.behind = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_woken_once() {
        let mut due = Due::default();
        assert!(due.wake());
        assert!(!due.wake() && due.is_woken());
        due.set_woken(false);
        assert!(!due.is_woken() && due.wake());
    }
}
