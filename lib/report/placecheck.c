/* placecheck.c - the report on whether a placement can be carried out. */
#include "report/placecheck.h"
#include "report/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 10 }; /* of each kind */

struct check {
	FILE *out;
	const struct graph *g;
	const struct placed *p;
	const bool *constant;
	const char *const *names;
	uint16_t *device; /* (n) */
	struct segments x;
	struct arena *a;
};

void placecheck_devices(const struct graph *g, const struct placed *p, const bool *constant,
			uint16_t *device)
{
	for (uint32_t v = 0; v < g->n; v++) {
		bool boundary = g->kind[v] == OP_PARAMETER || g->kind[v] == OP_RESULT;
		device[v] = constant[v] || boundary ? SEGMENT_NOWHERE : (uint16_t)p->node_device[v];
	}
}

static const char *shown(const struct check *c, uint32_t v, char name[100])
{
	return err_escape(name, 100, c->g->node_name[v], strlen(c->g->node_name[v]));
}

/* ---- segments ---- */

static void print_devices(const struct check *c)
{
	uint32_t *pieces = ARENA_NEWN(c->a, uint32_t, c->p->k),
		 *n = ARENA_NEWN(c->a, uint32_t, c->p->k);
	uint32_t *operations = ARENA_NEWN(c->a, uint32_t, c->p->k);
	bool *seen = ARENA_NEWN(c->a, bool, c->x.n_pieces);
	for (uint32_t s = 0; s < c->x.n; s++) {
		uint32_t d = c->x.device[s];
		n[d]++;
		pieces[d] += !seen[c->x.piece[s]];
		seen[c->x.piece[s]] = true;
		operations[d] += c->x.ptr[s + 1] - c->x.ptr[s];
	}
	for (uint32_t d = 0; d < c->p->k; d++) {
		fprintf(c->out, "%s: %u operations in %u segments", c->names[d], operations[d],
			n[d]);
		if (n[d] > pieces[d])
			fprintf(c->out, ", of %u connected pieces, split %u times", pieces[d],
				n[d] - pieces[d]);
		fputc('\n', c->out);
	}
	if (c->x.n_limited)
		fprintf(c->out, "%u edges may have been left between segments that could be one\n",
			c->x.n_limited);
}

static void print_split(const struct check *c, const struct digraph *d, uint32_t s, struct arena *a)
{
	struct segment_split y;
	char from[100], to[100], out[100], back[100];
	if (!segment_why(d, &c->x, s, a, &y))
		return;
	fprintf(c->out,
		"  segment %u of %s begins anew at '%s': '%s' of segment %u feeds it, and also "
		"'%s' on %s",
		s, c->names[c->x.device[s]], shown(c, y.to, to), shown(c, y.from, from),
		c->x.of[y.from], shown(c, y.out, out), c->names[c->device[y.out]]);
	if (y.back == y.out)
		fputs(", which it waits for\n", c->out);
	else
		fprintf(c->out, ", and it waits for '%s' on %s behind that\n",
			shown(c, y.back, back), c->names[c->device[y.back]]);
}

static void print_splits(const struct check *c)
{
	struct digraph d;
	uint32_t k = 0, n_split = 0;
	struct arena *a = arena_new();
	bool *seen = ARENA_NEWN(c->a, bool, c->x.n_pieces);
	graph_digraph(c->g, c->a, &d);
	for (uint32_t s = 0; s < c->x.n; s++) {
		if (!seen[c->x.piece[s]]) {
			seen[c->x.piece[s]] = true;
			continue;
		}
		n_split++;
		if (k++ < SHOWN) {
			print_split(c, &d, s, a);
			arena_reset(a);
		}
	}
	if (n_split > SHOWN)
		fprintf(c->out, "  and %u more\n", n_split - SHOWN);
	arena_free(a);
}

/* ---- weights ---- */

struct use {
	uint32_t constant, device;
};

static int by_use(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	if (x->constant != y->constant)
		return x->constant < y->constant ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

/* The devices that need each constant, as one bit each; devices beyond 64 share the last bit. */
static uint64_t *constant_devices(const struct check *c)
{
	const struct graph *g = c->g;
	uint64_t *on = ARENA_NEWN(c->a, uint64_t, g->n);
	for (uint32_t v = g->n; v-- > 0;) {
		uint64_t bits = c->constant[v] ? on[v]
				: c->device[v] == SEGMENT_NOWHERE
					? 0
					: (uint64_t)1 << (c->device[v] < 63 ? c->device[v] : 63);
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				on[g->in_node[i]] |= bits;
	}
	return on;
}

static void print_weights(const struct check *c)
{
	const struct graph *g = c->g;
	const uint64_t *on = constant_devices(c);
	uint64_t all = 0, again = 0;
	uint32_t n_shared = 0;
	for (uint32_t i = 0; i < g->n_const; i++) {
		uint32_t n = (uint32_t)__builtin_popcountll(on[g->const_node[i]]);
		all += g->const_bytes[i];
		if (n > 1) {
			n_shared++;
			again += (n - 1) * g->const_bytes[i];
		}
	}
	fprintf(c->out, "weights: %u constants, %.3f MB, each beside what reads it", g->n_const,
		(double)all * 1e-6);
	if (n_shared)
		fprintf(c->out, "; %u are read on several devices, which takes %.3f MB more",
			n_shared, (double)again * 1e-6);
	fputc('\n', c->out);
}

/* ---- copies ---- */

static uint32_t node_at(const struct graph *g, uint32_t o, uint32_t from)
{
	while (g->out_ptr[from + 1] <= o)
		from++;
	return from;
}

/* Tensors and bytes from each device (k: the model's inputs) to each device. */
static void print_copies(const struct check *c)
{
	const struct graph *g = c->g;
	uint32_t k = c->p->k, n_edges = 0, v = 0;
	struct use *u = MEM_NEWN(struct use, g->in_ptr[g->n] ? g->in_ptr[g->n] : 1);
	for (uint32_t w = 0; w < g->n; w++)
		for (uint32_t i = g->in_ptr[w];
		     i < g->in_ptr[w + 1] && c->device[w] != SEGMENT_NOWHERE; i++) {
			uint32_t from = g->in_node[i];
			if (from != GRAPH_NONE && c->device[from] != SEGMENT_NOWHERE &&
			    c->device[from] != c->device[w])
				u[n_edges++] = (struct use){g->out_ptr[from] + g->in_port[i],
							    c->device[w]};
		}
	qsort(u, n_edges, sizeof *u, by_use);
	uint64_t *count = ARENA_NEWN(c->a, uint64_t, (size_t)k * k),
		 *bytes = ARENA_NEWN(c->a, uint64_t, (size_t)k * k);
	for (uint32_t i = 0; i < n_edges; i++) {
		if (i > 0 && by_use(&u[i], &u[i - 1]) == 0)
			continue;
		v = node_at(g, u[i].constant, v);
		int64_t n = graph_out_bytes(g, u[i].constant);
		size_t pair = (size_t)c->device[v] * k + u[i].device;
		count[pair]++;
		bytes[pair] += n < 0 ? 0 : (uint64_t)n;
	}
	mem_free(u);
	for (uint32_t s = 0; s < k; s++)
		for (uint32_t d = 0; d < k; d++)
			if (count[s * k + d])
				fprintf(c->out, "%s -> %s: %" PRIu64 " tensors, %.3f MB\n",
					c->names[s], c->names[d], count[s * k + d],
					(double)bytes[s * k + d] * 1e-6);
}

/* ---- problems ---- */

static uint32_t problem_masks(const struct check *c, const struct devs *devs,
			      const char *const *placed_names)
{
	const struct graph *g = c->g;
	uint32_t n = 0;
	if (!devs || !devs->mask || devs->n_sets != g->n_sets)
		return 0;
	bool *seen = ARENA_NEWN(c->a, bool, g->n_sets);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];
		if (s == GRAPH_NONE || c->device[v] == SEGMENT_NOWHERE || seen[s])
			continue;
		seen[s] = true;
		int d = devs_find(devs, placed_names[c->device[v]]);
		char name[100];
		if (d < 0 || devs->mask[(size_t)s * devs->k + (size_t)d])
			continue;
		if (n++ < SHOWN)
			fprintf(c->out, "problem: %s cannot run set %u (%s '%s'...)\n",
				c->names[c->device[v]], s, g->type[v], shown(c, v, name));
	}
	return n;
}

static const char *verb(const struct check *c, uint32_t v)
{
	return c->g->kind[v] == OP_ASSIGN ? "assigned" : "read";
}

/* What reads and what assigns a variable must be in one segment. */
static uint32_t problem_variables(const struct check *c)
{
	struct segment_parted *p;
	char name[100];
	uint32_t n = segments_parted(c->g, &c->x, c->a, &p);
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		fprintf(c->out,
			"problem: variable '%s' is %s in segment %u on %s and %s in segment %u on "
			"%s\n",
			err_escape(name, sizeof name, p[i].id, strlen(p[i].id)),
			verb(c, p[i].first), c->x.of[p[i].first], c->names[c->device[p[i].first]],
			verb(c, p[i].second), c->x.of[p[i].second],
			c->names[c->device[p[i].second]]);
	return n;
}

uint32_t placecheck_print(FILE *out, const struct graph *g, const struct placed *p,
			  const bool *constant, const struct devs *devs,
			  const char *const *placed_names, const char *const *names)
{
	struct check c = {
		.out = out, .g = g, .p = p, .constant = constant, .names = names, .a = arena_new()};
	c.device = arena_raw(c.a, g->n, sizeof *c.device);
	placecheck_devices(g, p, constant, c.device);
	segments_of_graph(g, c.device, false, c.a, &c.x);
	print_devices(&c);
	print_splits(&c);
	print_weights(&c);
	print_copies(&c);
	uint32_t n = problem_masks(&c, devs, placed_names) + problem_variables(&c);
	if (n > 2 * SHOWN)
		fprintf(out, "problems: %u\n", n);
	fputs(n ? "the placement cannot be carried out\n" : "the placement can be carried out",
	      out);
	if (n == 0)
		fprintf(out, "%s\n",
			devs && devs->mask ? ""
					   : "; whether devices support it is not known: "
					     "there is no devs record");
	arena_free(c.a);
	return n;
}

uint32_t placecheck_parted(const struct graph *g, const struct placed *p, const bool *constant,
			   char *id, size_t cap)
{
	struct arena *a = arena_new();
	struct segment_parted *parted;
	struct segments x;
	uint32_t n = 0;
	if (graph_variable_sets(g, a)) {
		uint16_t *device = arena_raw(a, g->n, sizeof *device);
		placecheck_devices(g, p, constant, device);
		segments_of_graph(g, device, false, a, &x);
		n = segments_parted(g, &x, a, &parted);
	}
	if (n > 0)
		err_escape(id, cap, parted[0].id, strlen(parted[0].id));
	arena_free(a);
	return n;
}

static int write_check(FILE *out, const struct report_input *in, struct err *e)
{
	(void)e;
	return placecheck_print(out, in->x->graph, in->p, in->constant, in->devs,
				in->x->place.names, in->names)
		       ? 1
		       : 0;
}

const struct report_format format_check = {
	.name = "check",
	.about = "segments of every device and why pieces had to be split, weights,\n"
		 "bytes between devices; exit status 3 when the placement cannot be\n"
		 "carried out, with the reasons",
	.plain = true,
	.write = write_check,
};
