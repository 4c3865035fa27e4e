//! Calls of tokio-stream's methods that have timers.

use crate::syntax::Call;

/// What is called on streams. `timeout` is a method of builders and of requests too.
const STREAMS: &str = "all any chain chunks_timeout collect filter filter_map fold fuse map map_while merge next \
    peekable poll_next skip skip_while take take_while then throttle timeout_repeating try_next";

/// By the method's name or, of a `timeout`, by what is called on the result: `None` if nothing is
/// seen of that.
pub(crate) fn is_of_stream(
    call: &Call,
    source: &str,
    uses: &[(usize, String, String)],
) -> Option<bool> {
    let is_a_streams = |method: &str| STREAMS.split_whitespace().any(|known| known == method);
    if !call.has_arguments || call.method != "timeout" {
        // No other type in wide use has methods of the other names.
        return Some(call.has_arguments);
    }
    if let Some(next) = &call.next {
        return Some(is_a_streams(next));
    }
    let before = &source[..call.receiver.as_ref()?.start];
    let pattern = before.trim_end().strip_suffix('=')?.trim_end();
    let mut words = pattern.rsplit(|char: char| !char.is_alphanumeric() && char != '_');
    let variable = words.next()?;
    let mut later = uses.iter().filter(|(at, ..)| *at > call.end);
    let (_, _, method) = later.find(|(_, name, _)| name == variable)?;
    call.is_statement.then(|| is_a_streams(method))
}
