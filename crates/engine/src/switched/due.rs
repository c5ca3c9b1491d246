//! The pending work of a link: to send in the current event, or to catch up after it was left behind.

/// Two flags that other links set when a link can continue: it sends at once, or it need not send yet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Due {
    woken: bool,
    behind: bool,
}

impl Due {
    /// Whether the link sends before the current event ends.
    #[inline(always)]
    pub fn is_woken(self) -> bool {
        self.woken
    }

    /// Makes it send before the current event ends; false if it does so already.
    #[inline(always)]
    pub fn wake(&mut self) -> bool {
        !std::mem::replace(&mut self.woken, true)
    }

    /// Sets whether it sends again, after it has sent.
    #[inline(always)]
    pub fn set_woken(&mut self, woken: bool) {
        self.woken = woken;
    }

    /// Whether the link was left behind, as described in [`super::demand`], or waits for characters of a link that was.
    #[inline(always)]
    pub fn is_behind(self) -> bool {
        self.behind
    }

    /// Marks it as left behind.
    pub fn leave_behind(&mut self) {
        self.behind = true;
    }

    /// Marks it as no longer behind.
    #[inline(always)]
    pub fn catch_up(&mut self) {
        self.behind = false;
    }
}
