/* test_base.c - lib/base: random numbers, arenas, thread pool, options, errors, products. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/pairmap.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "tap.h"

/* Known answers of Philox4x32-10 (Random123's kat_vectors); our counter is
 * (index, stream, step, episode), our key the seed. */
static void philox_known_answers(void)
{
	static const struct {
		uint32_t ctr[4];
		uint64_t key;
		uint32_t out[4];
	} kat[] = {
		{{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{~0u, ~0u, ~0u, ~0u}, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
		 0x299f31d0a4093822ull,
		 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
		struct rng_addr a = {kat[i].key, kat[i].ctr[3], kat[i].ctr[2], kat[i].ctr[1]};
		uint32_t out[4];
		rng_block(&a, kat[i].ctr[0], out);
		tap(memcmp(out, kat[i].out, sizeof out) == 0, "philox known answer %zu", i);
	}
}

/* What the system does not give (here: more than there are addresses for) comes from nowhere; a piece that fits the reserve does. */
static void memory_in_reserve(void)
{
	tap(!mem_ran_out() && !mem_use_reserve(), "programs set nothing aside");
	tap(!mem_reserve(SIZE_MAX / 4) && mem_ran_out(), "what cannot be set aside is said");
	tap(!mem_try(1), "without a reserve no large piece is had");
	tap(mem_reserve(1 << 20) && !mem_ran_out(), "a reserve");
	void *p = mem_try(1);
	tap(p && mem_reserve(1 << 20), "with it there are large pieces, and one reserve is enough");
	mem_free(p);
	tap(mem_use_reserve() && mem_ran_out() && !mem_try(1),
	    "once it is used what is large ends");
	tap(!mem_use_reserve(), "it is used once");
	struct arena *a = arena_new();
	tap(arena_alloc(a, 1, 100000) != NULL, "small pieces are had all the same");
	arena_free(a);
	tap(mem_reserve(1 << 20), "it can be had again");
}

static void random_numbers(void)
{
	struct rng_addr a = {7, 1, 2, RNG_DROPOUT + 3};
	uint16_t bits[1003], part[3];
	uint32_t block[4];
	rng_bits16(&a, 5, bits, 1003);
	rng_block(&a, 5 + 100, block);
	bool same = true;
	for (uint32_t i = 0; i < 1003; i++) {
		uint32_t words[4];
		rng_block(&a, 5 + i / 8, words);
		same = same && bits[i] == (uint16_t)(words[i % 8 / 2] >> 16 * (i % 2));
	}
	tap(same, "bulk bits are the blocks' bits");
	rng_bits16(&a, 5, part, 3);
	tap(memcmp(bits, part, sizeof part) == 0, "bits do not depend on how many are drawn");
	double sum = 0, low = 1, high = 0;
	for (uint32_t i = 0; i < 20000; i++) {
		double u = rng_uniform(&a, i);
		sum += u;
		low = u < low ? u : low;
		high = u > high ? u : high;
	}
	tap(fabs(sum / 20000 - 0.5) < 0.01 && low >= 0 && high < 1, "uniform in [0, 1), mean 1/2");
	unsigned count[5] = {0};
	for (uint32_t i = 0; i < 50000; i++)
		count[rng_below(&a, i, 5)]++;
	bool even = true;
	for (int i = 0; i < 5; i++)
		even = even && count[i] > 9500 && count[i] < 10500;
	tap(even, "rng_below is even");
	struct rng_addr b = a;
	b.step++;
	uint32_t other[4];
	rng_block(&b, 105, other);
	tap(memcmp(block, other, sizeof block) != 0, "another address, other numbers");
}

static void arenas(void)
{
	struct arena *a = arena_new();
	bool aligned = true, zero = true;
	for (size_t n = 0; n < 3000; n += 7) {
		unsigned char *p = arena_alloc(a, n, 1);
		aligned = aligned && (uintptr_t)p % (n >= 64 ? 64 : 16) == 0;
		for (size_t i = 0; i < n; i++)
			zero = zero && p[i] == 0;
		memset(p, 0xff, n);
	}
	tap(aligned, "arena memory is aligned");
	size_t held = arena_bytes(a);
	arena_reset(a);
	for (size_t n = 0; n < 3000; n += 7) {
		unsigned char *p = arena_alloc(a, n, 1);
		for (size_t i = 0; i < n; i++)
			zero = zero && p[i] == 0;
	}
	tap(zero, "arena memory is zeroed, also after a reset");
	tap(arena_bytes(a) == held, "a reset arena is filled again without new memory");
	char *big = arena_alloc(a, 5u << 20, 1);
	big[(5u << 20) - 1] = 1;
	tap(strcmp(arena_printf(a, "%d-%s", 7, "x"), "7-x") == 0, "arena_printf");
	tap(strcmp(arena_strndup(a, "abcdef", 3), "abc") == 0, "arena_strndup");
	arena_free(a);
	size_t out;
	tap(!mem_mul(SIZE_MAX, 2, &out) && mem_mul(6, 7, &out) && out == 42,
	    "mem_mul notices overflow");
}

static void add_index(void *arg, int task, int thread)
{
	(void)thread;
	((int *)arg)[task] += task;
}

struct helper {
	struct pool *p;
	int place;
	atomic_bool stop;
	atomic_int woken, did; /* did: tasks that it ran */
};

static void wake_helper(void *arg)
{
	struct helper *h = arg;
	atomic_fetch_add(&h->woken, 1);
}

static void *help_on(void *arg)
{
	struct helper *h = arg;
	while (!atomic_load(&h->stop))
		pool_help(h->p, h->place);
	return NULL;
}

/* Others wait until the place has begun a task. */
static void count_place(void *arg, int task, int thread)
{
	struct helper *h = arg;
	(void)task;
	if (thread == h->place)
		atomic_fetch_add(&h->did, 1);
	while (atomic_load(&h->did) == 0)
		;
}

static void lent_places(void)
{
	struct helper h = {.p = pool_new(3, NULL), .place = 2};
	pthread_t thread;
	pool_lend(h.p, h.place, wake_helper, &h);
	if (pthread_create(&thread, NULL, help_on, &h) != 0)
		return;
	for (int r = 0; r < 100; r++) {
		atomic_store(&h.did, 0);
		pool_run(h.p, 50, count_place, &h);
	}
	tap(atomic_load(&h.did) > 0 && atomic_load(&h.woken) == 100 && !pool_needs_help(h.p),
	    "pool: somebody else has a thread's place, and is woken for each run");
	atomic_store(&h.stop, true);
	pthread_join(thread, NULL);
	pool_lend(h.p, h.place, NULL, NULL);
	atomic_store(&h.did, 0);
	pool_run(h.p, 50, count_place, &h);
	tap(atomic_load(&h.did) > 0 && atomic_load(&h.woken) == 100,
	    "pool: the place has a thread of its own again");
	pool_free(h.p);
}

static void pools(void)
{
	for (int n = 1; n <= 4; n++) {
		struct pool *p = pool_new(n, NULL);
		int *x = mem_alloc(1000, sizeof *x);
		for (int round = 0; round < 200; round++)
			pool_run(p, 1000, add_index, x);
		bool ok = true;
		for (int i = 0; i < 1000; i++)
			ok = ok && x[i] == 200 * i;
		tap(ok, "every task runs once with %d threads", n);
		mem_free(x);
		pool_free(p);
	}
}

static void errors(void)
{
	struct err e = ERR_INIT;
	char text[64];
	tap(err_set(&e, ST_INPUT, "first %d", 1) == -1 && err_set(&e, ST_RUNTIME, "second") == -1 &&
		    e.code == ST_INPUT && strcmp(e.msg, "first 1") == 0,
	    "the first error wins");
	err_prefix(&e, "in '%s'", "x");
	tap(strcmp(e.msg, "in 'x': first 1") == 0, "context goes in front");
	err_clear(&e);
	errno = EPIPE;
	err_sys(&e, ST_RUNTIME, "cannot write 'x'");
	tap(e.code == ST_RUNTIME && e.told, "a reader that has gone is not told of");
	err_unread(&e);
	err_clear(&e);
	errno = ENOSPC;
	err_sys(&e, ST_RUNTIME, "cannot write 'x'");
	err_unread(&e);
	tap(!e.told && strstr(e.msg, "cannot write 'x': "), "what went wrong before is");
	err_escape(text, sizeof text, "a\n\x1b[1m\xff\xc3\xa9", 9);
	tap(strcmp(text, "a\\n\\x1b[1m\\xff\xc3\xa9") == 0,
	    "control bytes and bad UTF-8 are escaped");
	err_escape(text, 12, "abcdefghijklmnopqrstuvwxyz", 26);
	tap(strlen(text) < 12 && strstr(text, "..."), "long text is cut");
	err_clear(&e);
	bool quiet = err_missed(&e) == 0 && e.code == ST_OK;
	MISSED(57);
	err_miss("later", 58);
	tap(quiet && err_missed(&e) == -1 &&
		    strcmp(e.msg, "errors has no case for 57, a fault of this program") == 0,
	    "what a loop has no case for is told: the first of them");
	err_clear(&e);
	tap(err_missed(&e) == 0, "and once");
}

static struct arena *kept; /* what options point to */

/* opt_parse permutes argv, so it gets a copy. */
static int parse(const struct opt_program *p, struct opt_common *c, int argc, const char **argv,
		 int *first, struct err *e)
{
	static char *copy[32];
	for (int i = 0; i <= argc; i++)
		copy[i] = argv[i] ? arena_strndup(kept, argv[i], strlen(argv[i])) : NULL;
	return opt_parse(p, c, argc, copy, first, e);
}

static void options(void)
{
	bool flag = false, other = true;
	int64_t n = 3;
	double x = 0.5;
	const char *text = NULL;
	int choice = 0;
	static const char *const choices[] = {"one", "two", NULL};
	const struct opt opts[] = {
		{"flag", 'f', OPT_FLAG, &flag, NULL, "f", 0, 0, NULL, NULL},
		{"other", 0, OPT_FLAG, &other, NULL, "o", 0, 0, NULL, NULL},
		{"number", 'n', OPT_INT, &n, "N", "n", 1, 10, NULL, NULL},
		{"real", 0, OPT_REAL, &x, "X", "x", 0, 1, NULL, NULL},
		{"text", 't', OPT_TEXT, &text, "T", "t", 0, 0, NULL, NULL},
		{"choice", 0, OPT_CHOICE, &choice, "C", "c", 0, 0, choices, NULL},
		{0},
	};
	const struct opt_program p = {.name = "test_base",
				      .summary = "s",
				      .args = "[FILE]",
				      .max_args = 1,
				      .has_seed = true,
				      .opts = opts};
	struct opt_common c = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	int first;
	const char *good[] = {"p",  "-f",  "--no-other", "-n",  "7",      "--real=0.25",
			      "-t", "x",   "--choice",   "two", "--seed", "9",
			      "-o", "out", "file",       NULL};
	tap(parse(&p, &c, 15, good, &first, &e) == 1 && flag && !other && n == 7 && x == 0.25 &&
		    strcmp(text, "x") == 0 && choice == 1 && c.seed == 9 &&
		    strcmp(c.output, "out") == 0 && first == 14,
	    "a full command line");
	static const char *const bad[][2] = {{"-n", "11"},
					     {"-n", "0x5"},
					     {"-n", ""},
					     {"-n", "99999999999999999999"},
					     {"--real", "nan"},
					     {"--real", "2"},
					     {"--choice", "three"},
					     {"--bogus", "1"},
					     {"a", "b"},
					     {"--seed", "-1"}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *argv[] = {"p", bad[i][0], bad[i][1], NULL};
		err_clear(&e);
		tap(parse(&p, &c, 3, argv, &first, &e) == -1 && e.code == ST_USAGE,
		    "refused: %s %s", bad[i][0], bad[i][1]);
	}
	const char *missing[] = {"p", "-n", NULL};
	err_clear(&e);
	tap(parse(&p, &c, 2, missing, &first, &e) == -1 && strstr(e.msg, "missing argument"),
	    "a missing argument is said");
}

/* Keys that differ in one of their numbers only, addresses among them. */
static void pairs(void)
{
	enum { N = 3000 };
	struct pairmap m = {0};
	bool fresh = !pairmap_get(&m, 1, 2), same = true;
	for (uint64_t i = 0; i < N; i++) {
		uint64_t a = 0x7f0000000000u + i / 999 * 64, b = i % 999;
		fresh = fresh && !pairmap_get(&m, a, b);
		pairmap_put(&m, a, b, i);
	}
	for (uint64_t i = 0; i < N; i++) {
		uint64_t *v = pairmap_get(&m, 0x7f0000000000u + i / 999 * 64, i % 999);
		same = same && v && *v == i;
		if (v)
			*v = i + 1;
	}
	tap(fresh && same && m.n == N,
	    "pairs have the values that were put, and no others have any");
	tap(*pairmap_get(&m, 0x7f0000000000u, 2) == 3 && !pairmap_get(&m, 2, 0x7f0000000000u),
	    "values can be changed; the order of a key's numbers counts");
	pairmap_release(&m);
	tap(!pairmap_get(&m, 0x7f0000000000u, 2), "nothing is left after the release");
}

static void utf8(void)
{
	static const char *const good[] = {"",
					   "a",
					   "\x7f",
					   "\xc2\x80",
					   "\xe0\xa0\x80",
					   "\xed\x9f\xbf",
					   "\xef\xbf\xbf",
					   "\xf0\x90\x80\x80",
					   "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80",
					  "\xc1\xbf",
					  "\xc3",
					  "\xe0\x9f\xbf",
					  "\xed\xa0\x80",
					  "\xe2\x82\x28",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "a\xff"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		tap(utf8_valid(good[i], strlen(good[i])), "UTF-8: %zu is", i);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap(!utf8_valid(bad[i], strlen(bad[i])), "UTF-8: %zu is not", i);
}

/* A folder of control groups: FILE under it has `text`. */
static void put(const char *folder, const char *file, const char *text)
{
	char path[300];

	snprintf(path, sizeof path, "%s/%s", folder, file);
	for (char *s = path + strlen(folder); (s = strchr(s + 1, '/'));) {
		*s = '\0';
		(void)mkdir(path, 0700);
		*s = '/';
	}
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static void control_groups(void)
{
	char dir[] = "/tmp/hsdag-cgroup-XXXXXX", proc[64];
	struct cgroup_paths of = {proc, dir};

	if (!mkdtemp(dir))
		abort();
	snprintf(proc, sizeof proc, "%s/proc", dir);
	tap(cgroup_cpus(&of) == INFINITY && cgroup_memory(&of) == UINT64_MAX, "no control groups");
	/* version 2: the group, which says less than the one above it in one thing, more in another */
	put(dir, "proc", "0::/a/b\n");
	put(dir, "a/b/cpu.max", "max 100000\n");
	put(dir, "a/cpu.max", "150000 100000\n");
	put(dir, "a/b/memory.max", "1000\n");
	put(dir, "a/b/memory.stat", "anon 300\nfile 500\n");
	put(dir, "a/memory.max", "max\n");
	put(dir, "a/memory.stat", "anon 400\n");
	tap(cgroup_cpus(&of) == 1.5 && cgroup_memory(&of) == 700,
	    "version 2, with the groups above");
	/* a container that mounts its own group sees no path */
	put(dir, "proc", "0::/../elsewhere\n");
	put(dir, "cpu.max", "50000 100000\n");
	tap(cgroup_cpus(&of) == 0.5, "a path that is not mounted: what is there counts");
	put(dir, "proc", "12:memory:/m\n3:cpu,cpuacct:/c:d\n2:cpuset:/\n");
	put(dir, "cpu,cpuacct/c:d/cpu.cfs_quota_us", "300000\n");
	put(dir, "cpu,cpuacct/c:d/cpu.cfs_period_us", "100000\n");
	put(dir, "cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put(dir, "cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	put(dir, "memory/m/memory.limit_in_bytes", "5000\n");
	put(dir, "memory/m/memory.stat", "rss 10\ntotal_rss 6000\n");
	tap(cgroup_cpus(&of) == 3 && cgroup_memory(&of) == 0, "version 1, with nothing left");
	put(dir, "proc", "nonsense\n5:cpu\n:\n");
	put(dir, "cpu.max", "0 0\n");
	tap(cgroup_cpus(&of) == INFINITY, "lines that say nothing");
	char command[100];
	snprintf(command, sizeof command, "rm -r %s", dir);
	tap(system(command) == 0, "cleared away");
	cpu_set_t set;
	CPU_ZERO(&set);
	for (size_t c = 3; c < 40; c += 2)
		CPU_SET(c, &set);
	tap(cpus_within(&set, 1.5) == 2 && CPU_COUNT(&set) == 2 && CPU_ISSET(3, &set) &&
		    CPU_ISSET(5, &set) && cpus_within(&set, INFINITY) == 2,
	    "of the processors the first, as many as a quota has begun");
	tap(cpus_of_process(&set) >= 1 && CPU_COUNT(&set) == cpus_of_process(&set),
	    "this process has a processor");
}

int main(void)
{
	control_groups();
	utf8();
	philox_known_answers();
	memory_in_reserve();
	random_numbers();
	arenas();
	pools();
	lent_places();
	errors();
	kept = arena_new();
	options();
	arena_free(kept);
	pairs();
	return tap_end();
}
