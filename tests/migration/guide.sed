# What the guide's table has for what `wheel-migrate` leaves alone: a line for each row.
s/hyper_util::rt::TokioTimer\b/wheel::ext::hyper::WheelTimer/
s/\btower::timeout::/wheel::ext::tower::/
s/features = \["stream"\]/features = ["full"]/
