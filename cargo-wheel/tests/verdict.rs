//! The sentence at the end of `cargo wheel compare`.

#[path = "../src/verdict.rs"]
#[expect(dead_code, reason = "`compare` prints the ranges")]
mod verdict;

use verdict::{Measure, TINY, verdict};

/// Six rounds or more, of which each occurs as often.
fn measure(name: &str, more_is_better: Option<bool>, rounds: &[[f64; 2]]) -> Measure {
    let rounds = rounds.iter().cycle().take(rounds.len() * 6_usize.div_ceil(rounds.len()));
    let rounds = rounds.map(|round| round.to_vec()).collect();
    Measure { name: name.to_owned(), rounds, more_is_better, least: TINY }
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
        let told = verdict(measures, [0, 1], ["A", "B"]);
        assert_eq!(told, (sentence.to_owned(), is_slower));
    };
    check(&[same(), shown(), small(), tiny()], "No clear difference between A and B.", false);
    check(&[worse()], "B is slower than A: 2.00 times the latency.", true);
    check(&[milliseconds()], "B is slower than A: 2.00 times the CPU.", true);
    let both = "B is faster than A: 0.50 times the CPU, 3.00 times the calls.";
    check(&[same(), less(), more()], both, false);
    let but = "B is faster than A: 0.50 times the CPU; but 2.00 times the latency.";
    check(&[less(), worse()], but, false);
    let but = "B is slower than A: 2.00 times the latency; but 0.50 times the CPU.";
    check(&[worse(), less()], but, true);
    // Rounds that overlap differ if one side is better in nearly all.
    let mixed = |better: usize| {
        let rounds = [[5.0, 8.0], [9.0, 12.0]].into_iter().cycle().take(better);
        let rounds: Vec<_> = rounds.chain([[7.0, 6.0]; 10]).take(10).collect();
        measure("rate", Some(true), &rounds)
    };
    check(&[mixed(8)], "No clear difference between A and B.", false);
    check(&[mixed(9)], "B is faster than A: 1.47 times the rate.", false);
    // Noise of few rounds, and a load that may take a fixed time, judge nothing.
    let mut few = worse();
    few.rounds.truncate(5);
    check(&[shown(), few], "No verdict: that takes 6 rounds or more.", false);
    assert!(verdict(&[shown()], [0, 1], ["A", "B"]).0.starts_with("No verdict: a load may"));
}
