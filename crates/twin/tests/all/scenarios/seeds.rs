//! The seeds of random tests: a few, or fresh ones for a given time.

use std::ops::Range;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seeds, until there are no more or the time is over.
pub struct Seeds {
    kind: &'static str,
    rest: Range<u64>,
    first: u64,
    soak: Option<Duration>,
    began: Instant,
}

/// Returns the seeds of a random test: by default these. `FABRILOOM_SEEDS=5000..9000` gives others, and with
/// `FABRILOOM_SOAK_SECONDS=600` fresh ones follow for that time.
pub fn seeds(kind: &'static str, usual: Range<u64>) -> Seeds {
    let number = |text: &str| text.parse::<u64>().expect("a whole number");
    let soak = std::env::var("FABRILOOM_SOAK_SECONDS").ok().map(|text| Duration::from_secs(number(&text)));
    let chosen = std::env::var("FABRILOOM_SEEDS").ok().map(|text| {
        let (low, high) = text.split_once("..").expect("a range such as 0..1000");
        number(low)..number(high)
    });
    let rest = match (chosen, soak) {
        (Some(chosen), _) => chosen,
        (None, Some(_)) => fresh()..u64::MAX,
        (None, None) => usual,
    };
    Seeds { kind, first: rest.start, rest, soak, began: Instant::now() }
}

/// Far from those of every other second.
fn fresh() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock that is set");
    now.as_secs() << 24
}

impl Iterator for Seeds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.soak.is_some_and(|soak| self.began.elapsed() > soak) {
            return None;
        }
        self.rest.next()
    }
}

impl Drop for Seeds {
    #[expect(
        clippy::print_stderr,
        reason = "who soaks wants to know how much, and of which seed an engine panics"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: seed {}", self.kind, self.rest.start.saturating_sub(1));
        }
        if self.soak.is_some() {
            let (count, seconds) = (self.rest.start - self.first, self.began.elapsed().as_secs());
            eprintln!("soak: {count} {} from seed {} on in {seconds} s", self.kind, self.first);
        }
    }
}
