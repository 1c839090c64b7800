/* fuzz_ir.c - the IR reader and irfill on damaged files, inside one process.
 *
 * With libFuzzer: LLVMFuzzerTestOneInput.  Without: a program that runs over the
 * files it is given, each as it is and then damaged (-n times, from seed -s):
 * bits flipped, pieces cut out, doubled or taken from elsewhere in the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "record/graphrec.h"
#include "ir/fill.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/fuzz_ir.XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

/* The graph of a file that was accepted must hold: walk everything in it. */
static uint64_t walk(const struct graph *g)
{
	uint64_t sum = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		sum += strlen(g->node_name[v]) + strlen(g->type[v]) + strlen(g->opset[v]);
		for (uint32_t s = g->in_ptr[v]; s < g->in_ptr[v + 1]; s++)
			if (g->in_node[s] >= v ||
			    g->in_port[s] >=
				    g->out_ptr[g->in_node[s] + 1] - g->out_ptr[g->in_node[s]])
				abort();
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			sum += (uint64_t)graph_out_elements(g, o) + strlen(g->out_names[o]);
	}
	for (uint32_t b = 0; b < g->n_bodies; b++) {
		const struct graph_body *body = &g->body[b];
		for (uint32_t i = 0; i < body->n_maps; i++)
			if (body->map[i].internal >= body->graph->n)
				abort();
		sum += walk(body->graph);
	}
	return sum;
}

static void try_fill(const struct graph *g)
{
	enum { MOST = 1 << 20 };
	struct fill_report rep;
	struct err e = ERR_INIT;
	uint64_t bytes = weights_size(g);
	if (bytes > MOST)
		return;
	uint8_t *out = MEM_NEWN(uint8_t, bytes);
	if (fill_weights(g, 1, bytes / 2, out, &rep, &e) < 0 && e.code != ST_INPUT)
		abort();
	mem_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *f;
	struct err e = ERR_INIT;
	if (!f) {
		int fd = mkstemp(path);
		f = fd < 0 ? NULL : fdopen(fd, "w");
		if (!f)
			abort();
		atexit(remove_file);
	}
	rewind(f);
	if (ftruncate(fileno(f), 0) < 0 || fwrite(data, 1, size, f) != size || fflush(f) != 0)
		abort();
	const struct ir_options opt = {.no_weights = true};
	struct graph *g = ir_read(path, &opt, NULL, &e);
	if (!g) {
		if (e.code != ST_INPUT || e.msg[0] == '\0')
			abort();
		return 0;
	}
	if (walk(g) == 1)
		return 0;
	graph_colocate(g, size % 2 ? CONST_FOLD : CONST_KEEP, true);
	if (graph_check(g, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		abort();
	}
	try_fill(g);
	graph_free(g);
	return 0;
}

#ifndef LIBFUZZER
static uint32_t below(struct rng_addr *a, uint32_t bound)
{
	a->step++;
	return rng_below(a, 0, bound);
}

/* Damage buf[*n], which has room for twice as much. */
static void damage(uint8_t *buf, size_t *n, struct rng_addr *a)
{
	for (uint32_t k = 1 + below(a, 4); k > 0 && *n > 1; k--) {
		size_t at = below(a, (uint32_t)*n), len = 1 + below(a, 40),
		       from = below(a, (uint32_t)*n);
		len = len < *n - at ? len : *n - at;
		len = len < *n - from ? len : *n - from;
		switch (below(a, 5)) {
		case 0: buf[at] ^= (uint8_t)(1u << below(a, 8)); break;
		case 1: buf[at] = (uint8_t) "0123456789-\"<>/= "[below(a, 17)]; break;
		case 2:
			memmove(buf + at, buf + at + len, *n - at - len);
			*n -= len;
			break;
		case 3: memmove(buf + at, buf + from, len); break;
		default: memmove(buf + at + len, buf + at, *n - at); *n += len;
		}
	}
	if (below(a, 16) == 0)
		*n = below(a, (uint32_t)*n + 1);
}

static void run_file(const char *name, int times, uint64_t seed)
{
	FILE *f = fopen(name, "rb");
	if (!f) {
		perror(name);
		exit(1);
	}
	fseek(f, 0, SEEK_END);
	size_t size = (size_t)ftell(f), n;
	rewind(f);
	uint8_t *whole = MEM_NEWN(uint8_t, size + 1), *buf = MEM_NEWN(uint8_t, 2 * size + 1000);
	if (fread(whole, 1, size, f) != size)
		exit(1);
	fclose(f);
	LLVMFuzzerTestOneInput(whole, size);
	struct rng_addr a = {seed, 0, 0, RNG_SEARCH};
	for (int i = 0; i < times; i++) {
		memcpy(buf, whole, size);
		n = size;
		a.episode = (uint32_t)i;
		a.step = 0;
		damage(buf, &n, &a);
		LLVMFuzzerTestOneInput(buf, n);
	}
	mem_free(whole);
	mem_free(buf);
}

int main(int argc, char **argv)
{
	int times = 0, ch;
	uint64_t seed = 1;
	while ((ch = getopt(argc, argv, "n:s:")) != -1) {
		if (ch == 'n')
			times = atoi(optarg);
		else if (ch == 's')
			seed = (uint64_t)atoll(optarg);
		else
			return 2;
	}
	for (int i = optind; i < argc; i++)
		run_file(argv[i], times, seed);
	printf("%d files, %d damaged copies of each: no crash\n", argc - optind, times);
	return 0;
}
#endif
