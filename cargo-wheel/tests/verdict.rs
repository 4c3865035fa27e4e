//! The sentence at the end of `cargo wheel compare`.

#[path = "../src/verdict.rs"]
mod verdict;

use verdict::{Measure, TINY, verdict};

fn measure(name: &str, more_is_better: Option<bool>, rounds: &[[f64; 2]]) -> Measure {
    Measure { name: name.to_owned(), rounds: rounds.to_vec(), more_is_better, least: TINY }
}

#[test]
fn each_sentence() {
    let same = || measure("seconds", Some(false), &[[1.0, 1.2], [1.3, 1.1], [1.2, 1.25]]);
    let less = || measure("CPU", Some(false), &[[2.0, 1.0], [2.2, 1.1], [2.4, 1.2], [2.0, 1.0]]);
    let more = || measure("calls", Some(true), &[[5.0, 15.0], [5.0, 16.0], [5.0, 14.0]]);
    let worse = || measure("latency", Some(false), &[[1.0, 2.0], [1.1, 2.2]]);
    let shown = || measure("memory", None, &[[1.0, 2.0], [1.1, 2.2]]);
    let small = || measure("CPU", Some(false), &[[2.0, 1.96], [2.0, 1.96]]);
    let tiny = || measure("CPU", Some(false), &[[0.002, 0.004], [0.002, 0.004]]);
    let milliseconds = || Measure { least: 0.0, ..tiny() };
    let check = |measures: &[Measure], sentence: &str, is_slower| {
        assert_eq!(verdict(measures), (sentence.to_owned(), is_slower));
    };
    check(
        &[same(), shown(), small(), tiny()],
        "No difference beyond the spread of the rounds.",
        false,
    );
    check(&[worse()], "Slower on tokio-wheel: 2.00 times the latency.", true);
    check(&[milliseconds()], "Slower on tokio-wheel: 2.00 times the CPU.", true);
    let both = "Faster on tokio-wheel: 0.50 times the CPU, 3.00 times the calls.";
    check(&[same(), less(), more()], both, false);
    let but = "Faster on tokio-wheel: 0.50 times the CPU; but 2.00 times the latency.";
    check(&[less(), worse()], but, false);
    let but = "Slower on tokio-wheel: 2.00 times the latency; but 0.50 times the CPU.";
    check(&[worse(), less()], but, true);
}
