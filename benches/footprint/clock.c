/* A clock for counting. Each reading is 10 microseconds after the last, and every run begins at the same time.
 *
 * The simulator makes a program a hundred times slower. By the machine's clock, milliseconds would pass between two
 * operations, and more of them if other programs are busy. A driver would then check for late timers at each operation.
 * This library is loaded before libc (LD_PRELOAD), so that `Instant::now` reads this clock.
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
