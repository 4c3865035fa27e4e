/*
 * Counts how often a cache line goes from one processor to another.
 *
 * A plugin for QEMU's user-mode emulation. Every thread of the program stands for a processor with a cache of its own
 * that never evicts: a load needs a copy of the line, a store needs the only one. A load that has to fetch its copy from
 * others, and a store that has to take theirs away, are a transfer each.
 *
 * Counting begins when the program writes to its standard output, and ends when it does so again.
 *
 * Threads of the machine are fewer than those of the program, and would run for milliseconds each: whole operations
 * would follow one another instead of meeting. So each gives way after `quantum` accesses.
 *
 * Arguments: quantum=N, and hot=N to report the N lines that went most often, with the code that made them go.
 * Report, on standard error, as JSON: how many transfers; how often the tables were too small; the code that made lines
 * go, as the instruction's address and how often; with hot=N the hot lines in place of that, each with the code that made
 * it go, as the byte of the line, the instruction's address and how often.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* What is used of version 1 of the interface: Debian's QEMU comes without its header. */
#define EXPORT __attribute__((visibility("default")))
typedef uint64_t plugin_id;
typedef uint32_t mem_info;
struct block;
struct instruction;
enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };
size_t qemu_plugin_tb_n_insns(const struct block *);
struct instruction *qemu_plugin_tb_get_insn(const struct block *, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct instruction *);
bool qemu_plugin_mem_is_store(mem_info);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct block *));
void qemu_plugin_register_vcpu_mem_cb(struct instruction *, void (*)(unsigned, mem_info, uint64_t, void *), int, int,
                                      void *);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, void (*)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t,
                                                              uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
EXPORT int qemu_plugin_version = 1;

enum { LINE_BITS = 6, TABLE_BITS = 22, TABLE = 1 << TABLE_BITS, PROBES = 64, PROCESSORS = 128, ANY = 1 };
typedef unsigned __int128 processors; /* a set */

/* A cache line. All but its address is guarded by `busy`. */
struct line {
    _Atomic uint64_t number; /* address >> LINE_BITS; 0 where the table is free */
    _Atomic uint32_t busy;
    uint32_t transfers;
    processors holders;
};

/* An instruction that made lines go by one of their bytes, or by any of them. */
struct site {
    _Atomic uint64_t address, code; /* both 0 where the table is free; without hot=N the address is ANY */
    _Atomic uint64_t transfers;
};

static struct line *lines;
static struct site *sites;
static _Atomic uint64_t transfers, overflows;
static _Atomic unsigned marks; /* counting while it is 1 */
static unsigned hot, quantum = 100;
static struct {
    unsigned accesses;
    char line[60];
} turns[PROCESSORS];

static size_t slot(uint64_t key) { return key * 0x9E3779B97F4A7C15u >> (64 - TABLE_BITS); }

static struct line *find_line(uint64_t number) {
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct line *line = &lines[(slot(number) + probe) % TABLE];
        uint64_t there = 0;
        if (line->number == number || atomic_compare_exchange_strong(&line->number, &there, number) || there == number)
            return line;
    }
    return NULL;
}

static bool transferred(struct line *line, unsigned processor, bool store) {
    processors self = (processors)1 << processor;
    while (atomic_exchange_explicit(&line->busy, 1, memory_order_acquire))
        sched_yield();
    bool others = line->holders & ~self, fetched = !(line->holders & self);
    bool goes = others && (store || fetched);
    line->holders = store ? self : line->holders | self;
    line->transfers += goes;
    atomic_store_explicit(&line->busy, 0, memory_order_release);
    return goes;
}

static void count_site(uint64_t address, uint64_t code) {
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct site *site = &sites[(slot(address ^ code << 20) + probe) % TABLE];
        uint64_t there = 0;
        bool mine = site->address == address || atomic_compare_exchange_strong(&site->address, &there, address) ||
                    there == address;
        if (!mine)
            continue;
        there = 0;
        if (site->code == code || atomic_compare_exchange_strong(&site->code, &there, code) || there == code) {
            site->transfers++;
            return;
        }
    }
    overflows++;
}

static void on_access(unsigned processor, mem_info info, uint64_t address, void *code) {
    if (marks != 1)
        return;
    processor %= PROCESSORS;
    struct line *line = find_line(address >> LINE_BITS);
    if (!line) {
        overflows++;
    } else if (transferred(line, processor, qemu_plugin_mem_is_store(info))) {
        transfers++;
        count_site(hot ? address : ANY, (uint64_t)code);
    }
    if (++turns[processor].accesses >= quantum) {
        turns[processor].accesses = 0;
        sched_yield();
    }
}

static void on_translation(plugin_id id, struct block *block) {
    for (size_t index = 0; index < qemu_plugin_tb_n_insns(block); index++) {
        struct instruction *instruction = qemu_plugin_tb_get_insn(block, index);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, NO_REGISTERS, LOADS_AND_STORES,
                                         (void *)qemu_plugin_insn_vaddr(instruction));
    }
}

static void on_syscall(plugin_id id, unsigned processor, int64_t number, uint64_t file, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    if (number == SYS_write && file == 1)
        marks++;
}

static int more_line(const void *left, const void *right) {
    const struct line *a = left, *b = right;
    return (a->transfers < b->transfers) - (a->transfers > b->transfers);
}

static int more_site(const void *left, const void *right) {
    const struct site *a = left, *b = right;
    return (a->transfers < b->transfers) - (a->transfers > b->transfers);
}

static void report_lines(void) {
    qsort(sites, TABLE, sizeof *sites, more_site);
    qsort(lines, TABLE, sizeof *lines, more_line);
    for (size_t rank = 0; rank < hot && lines[rank].transfers; rank++) {
        fprintf(stderr, "%s{\"address\":%" PRIu64 ",\"transfers\":%u,\"sites\":[", rank ? "," : "",
                lines[rank].number << LINE_BITS, lines[rank].transfers);
        const char *separator = "";
        for (size_t index = 0; index < TABLE && sites[index].transfers; index++) {
            uint64_t address = sites[index].address;
            if (address >> LINE_BITS != lines[rank].number)
                continue;
            fprintf(stderr, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", separator, address & 63,
                    (uint64_t)sites[index].code, (uint64_t)sites[index].transfers);
            separator = ",";
        }
        fprintf(stderr, "]}");
    }
}

static void report_code(void) {
    const char *separator = "";
    for (size_t index = 0; index < TABLE; index++) {
        if (!sites[index].transfers)
            continue;
        fprintf(stderr, "%s[%" PRIu64 ",%" PRIu64 "]", separator, (uint64_t)sites[index].code,
                (uint64_t)sites[index].transfers);
        separator = ",";
    }
}

static void on_exit_of_program(plugin_id id, void *unused) {
    fprintf(stderr, "{\"transfers\":%" PRIu64 ",\"overflows\":%" PRIu64 ",\"%s\":[", (uint64_t)transfers,
            (uint64_t)overflows, hot ? "lines" : "code");
    hot ? report_lines() : report_code();
    fprintf(stderr, "]}\n");
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments) {
    for (int index = 0; index < count; index++) {
        sscanf(arguments[index], "hot=%u", &hot);
        sscanf(arguments[index], "quantum=%u", &quantum);
    }
    lines = calloc(TABLE, sizeof *lines);
    sites = calloc(TABLE, sizeof *sites);
    if (!lines || !sites)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
