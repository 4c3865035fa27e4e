/*
 * Counts cache-line transfers from one processor to another.
 *
 * A plugin for QEMU's user-mode emulation. Every thread of the program stands for a processor with a cache of its own that
 * never evicts: a load needs a copy of the line, and a store needs the only copy. A load that has to fetch its copy from
 * other processors, and a store that has to invalidate theirs, are a transfer each.
 *
 * Counting starts when the program writes to its standard output, and ends when it does so again.
 *
 * The machine has fewer processors than the program has threads, so threads would run for milliseconds each and whole
 * operations would follow one another instead of overlapping. Therefore each yields after `quantum` accesses.
 *
 * Argument: quantum=N. Report, on standard error: the number of transfers and how often the tables were too small; then,
 * per line, the address of an instruction that caused transfers, and how many.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* The part of version 1 of the interface that is used: Debian's QEMU lacks its header. */
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

enum { LINE_BITS = 6, TABLE_BITS = 22, TABLE = 1 << TABLE_BITS, PROBES = 64, PROCESSORS = 128 };
typedef unsigned __int128 processors; /* a set */

/* A cache line. `busy` guards its holders. */
struct line {
    _Atomic uint64_t number; /* address >> LINE_BITS; 0 if this entry of the table is free */
    _Atomic uint32_t busy;
    processors holders;
};

/* An instruction that caused transfers. */
struct site {
    _Atomic uint64_t code; /* 0 if this entry of the table is free */
    _Atomic uint64_t transfers;
};

static struct line *lines;
static struct site *sites;
static _Atomic uint64_t transfers, overflows;
static _Atomic unsigned marks; /* counting while it is 1 */
static unsigned quantum = 100;
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
    line->holders = store ? self : line->holders | self;
    atomic_store_explicit(&line->busy, 0, memory_order_release);
    return others && (store || fetched);
}

static void count_site(uint64_t code) {
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct site *site = &sites[(slot(code) + probe) % TABLE];
        uint64_t there = 0;
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
        count_site((uint64_t)code);
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

static void on_exit_of_program(plugin_id id, void *unused) {
    fprintf(stderr, "%" PRIu64 " %" PRIu64 "\n", (uint64_t)transfers, (uint64_t)overflows);
    for (size_t index = 0; index < TABLE; index++) {
        if (sites[index].transfers)
            fprintf(stderr, "%" PRIu64 " %" PRIu64 "\n", (uint64_t)sites[index].code, (uint64_t)sites[index].transfers);
    }
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments) {
    for (int index = 0; index < count; index++) {
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
