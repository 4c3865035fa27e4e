/* A clock for counting: each reading is 10 microseconds after the last, from the same beginning in every run.
 *
 * The simulator makes a program a hundred times slower. By the machine's clock, milliseconds would go by between two
 * operations, as many as the neighbours leave, and a driver would look at what is overdue at each. Loaded before libc
 * (LD_PRELOAD), so that `Instant::now` reads this clock.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <time.h>

enum { STEP = 10000, SECOND = 1000000000, BEGIN = 1000 };

int clock_gettime(clockid_t clock, struct timespec *now) {
    static _Atomic long elapsed;
    long nanoseconds = atomic_fetch_add(&elapsed, STEP);
    now->tv_sec = BEGIN + nanoseconds / SECOND;
    now->tv_nsec = nanoseconds % SECOND;
    return 0;
}
