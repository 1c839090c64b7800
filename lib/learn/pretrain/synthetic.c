/* synthetic.c - made-up graphs, costs, devices and links.
 *
 * A graph is drawn as edges from earlier to later nodes, by one of the kinds below; every node has
 * a type, every type a size of work and of what it makes; devices come in classes, each of which is
 * good at some types and bad at others; links are equal, in groups, or all different.  How much
 * copies take beside work is drawn from 1/30 to 4. */
#include <math.h>
#include <string.h>

#include "learn/pretrain/synthetic.h"
#include "place/search/random_stream.h"

enum { MOST_TYPES = 12, MOST_CLASSES = 4, MOST_DEVICES = 32, MOST_INPUTS = 24, CELL = 24 };

/* Tasks of seven problems in eight, at most. */
static const uint32_t USUAL = 400;
static const double UNIT = 1e6; /* bytes of a mean tensor */

struct drawing {
	struct random_stream rng;
	uint32_t n, most;
	uint32_t (*in)[MOST_INPUTS]; /* (most) earlier nodes that a node reads */
	uint32_t *n_in;              /* (most) */
	uint8_t *type;               /* (most) */
	uint32_t n_types;
};

static uint32_t below(struct drawing *d, uint32_t n)
{
	return random_stream_below(&d->rng, n);
}

static double uniform(struct drawing *d, double lo, double hi)
{
	return lo + (hi - lo) * random_stream_uniform(&d->rng);
}

static double normal(struct drawing *d)
{
	double u = 1 - random_stream_uniform(&d->rng), v = random_stream_uniform(&d->rng);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A new node of a type; it reads nothing yet. */
static uint32_t add_node(struct drawing *d, uint32_t type)
{
	d->type[d->n] = (uint8_t)(type % d->n_types);
	d->n_in[d->n] = 0;
	return d->n++;
}

static void add_edge(struct drawing *d, uint32_t from, uint32_t to)
{
	if (from >= to || d->n_in[to] == MOST_INPUTS)
		return;
	for (uint32_t i = 0; i < d->n_in[to]; i++)
		if (d->in[to][i] == from)
			return;
	d->in[to][d->n_in[to]++] = from;
}

/* ---- kinds of graphs ---- */

/* Nodes that read some of the `window` nodes before them. */
static void draw_window(struct drawing *d)
{
	uint32_t window = 2 + below(d, 2 + d->most / 4), most_in = 1 + below(d, 3);

	while (d->n < d->most) {
		uint32_t v = add_node(d, below(d, d->n_types));

		for (uint32_t i = 0; v > 0 && i <= below(d, most_in + 1); i++) {
			uint32_t back = 1 + below(d, window);

			add_edge(d, back > v ? 0 : v - back, v);
		}
	}
}

/* A cell of random wiring, repeated in depth and side by side: cell (i,j) reads (i-1,j), and may
 * read (i,j-1). */
static void draw_cells(struct drawing *d)
{
	uint32_t size = 2 + below(d, CELL - 2), wide = 1 + (below(d, 3) > 0) * below(d, 14);
	uint32_t from[CELL][3], n_from[CELL], type[CELL], taps = 1 + below(d, 3);
	bool along = below(d, 2), shortcut = below(d, 2);
	uint32_t *before = MEM_NEWN(uint32_t, wide), n_cells = 0;

	for (uint32_t i = 0; i < size; i++) {
		n_from[i] = i ? 1 + below(d, i < 3 ? i : 3) : 0;
		type[i] = below(d, d->n_types);
		for (uint32_t j = 0; j < n_from[i]; j++)
			from[i][j] = below(d, 3) ? i - 1 - below(d, i < 4 ? i : 4) : below(d, i);
	}
	while (d->n + size <= d->most) {
		uint32_t lane = n_cells % wide, first = d->n;

		for (uint32_t i = 0; i < size; i++) {
			uint32_t v = add_node(d, type[i]);

			for (uint32_t j = 0; j < n_from[i]; j++)
				add_edge(d, first + from[i][j], v);
			if (i < taps && n_cells >= wide)
				add_edge(d, before[lane], v);
			if (i == 0 && along && lane > 0)
				add_edge(d, before[lane - 1], v);
		}
		if (shortcut && n_cells >= wide)
			add_edge(d, before[lane], d->n - 1);
		/* leaves of the cell are gathered by its last node */
		for (uint32_t i = 0; i + 1 < size; i++) {
			bool read = false;

			for (uint32_t k = i + 1; k < size; k++)
				for (uint32_t j = 0; j < n_from[k]; j++)
					read |= from[k][j] == i;
			if (!read)
				add_edge(d, first + i, d->n - 1);
		}
		before[lane] = d->n - 1;
		n_cells++;
	}
	mem_free(before);
	if (d->n < 2)
		draw_window(d);
}

/* Stages of maps, each of which reads a few of what the stage before made, and sums of some of
 * them. */
static void draw_stages(struct drawing *d)
{
	uint32_t width = 2 + below(d, 2 + (uint32_t)sqrt(2.0 * d->most));
	uint32_t reads = 1 + below(d, 3), sums = 1 + below(d, 8), first = 0, n_last = 0;
	bool rule = below(d, 2);

	while (d->n < d->most) {
		uint32_t type = below(d, d->n_types), start = d->n;
		uint32_t n = n_last && below(d, 3) == 0 ? (n_last + sums - 1) / sums : width;
		uint32_t each = n < width ? (sums < MOST_INPUTS ? sums : MOST_INPUTS) : reads;

		for (uint32_t i = 0; i < n && d->n < d->most; i++) {
			uint32_t v = add_node(d, type);

			for (uint32_t j = 0; j < each && n_last; j++)
				add_edge(
					d,
					first + (rule ? (i * each + j) % n_last : below(d, n_last)),
					v);
		}
		first = start;
		n_last = d->n - start;
	}
}

/* Splits and joins within each other: a node, or one after the other, or side by side. */
static void draw_blocks(struct drawing *d)
{
	uint32_t open[64], n_open = 1, last;

	open[0] = add_node(d, below(d, d->n_types));
	while (d->n + n_open + 1 < d->most) {
		uint32_t at = below(d, n_open), how = below(d, 8);

		if (how < 2 && n_open < 60) { /* split */
			uint32_t ways = 1 + below(d, 4), type = below(d, d->n_types);

			for (uint32_t i = 0; i < ways && n_open < 60; i++) {
				last = add_node(d, type);
				add_edge(d, open[at], last);
				open[n_open++] = last;
			}
		}
		if (how == 2 && n_open > 1) { /* join some */
			uint32_t ways = 2 + below(d, n_open < 6 ? n_open - 1 : 5);

			last = add_node(d, below(d, d->n_types));
			for (uint32_t i = 0; i < ways && n_open > 0; i++) {
				uint32_t j = below(d, n_open);

				add_edge(d, open[j], last);
				open[j] = open[--n_open];
			}
			open[n_open++] = last;
			continue;
		}
		last = add_node(d, below(d, d->n_types));
		add_edge(d, open[at], last);
		open[at] = last;
	}
	last = add_node(d, 0);
	for (uint32_t i = 0; i < n_open; i++)
		add_edge(d, open[i], last);
}

/* Rows over time: a place reads itself and some neighbours of the row before. */
static void draw_rows(struct drawing *d)
{
	uint32_t wide = 2 + below(d, 2 + (uint32_t)sqrt(2.0 * d->most)), reach = 1 + below(d, 2);
	bool ring = below(d, 2);

	for (uint32_t row = 0; d->n + wide <= d->most; row++)
		for (uint32_t i = 0; i < wide; i++) {
			uint32_t v = add_node(d, row);

			for (uint32_t j = 0; row > 0 && j <= 2 * reach; j++) {
				int64_t at = (int64_t)i + j - reach;

				if (ring)
					at = (at + wide) % wide;
				if (at >= 0 && at < wide && (at == i || below(d, 4)))
					add_edge(d, v - i - wide + (uint32_t)at, v);
			}
		}
	if (d->n < 2)
		draw_window(d);
}

/* Trees that gather, or spread, or both. */
static void draw_tree(struct drawing *d)
{
	uint32_t ways = 2 + below(d, 4), kind = below(d, 3),
		 half = kind == 2 ? d->most / 2 : d->most;

	while (kind != 0 && d->n < half) {
		uint32_t v = add_node(d, below(d, d->n_types));

		if (v > 0)
			add_edge(d, (v - 1) / ways, v);
	}
	if (kind == 1)
		return;
	uint32_t first = kind == 2 ? d->n - (d->n - 1) / 2 : 0, next = first;

	if (kind == 0)
		for (uint32_t i = 0; i < d->most / 2; i++)
			add_node(d, below(d, d->n_types));
	while (d->n < d->most && d->n - next > 1) {
		uint32_t v = add_node(d, below(d, d->n_types));

		for (uint32_t i = 0; i < ways && next < v; i++)
			add_edge(d, next++, v);
	}
}

/* Lanes that go on by themselves and meet now and then. */
static void draw_lanes(struct drawing *d)
{
	uint32_t lanes = 2 + below(d, 14), *last = MEM_NEWN(uint32_t, lanes),
		 meet = 2 + below(d, 20);

	for (uint32_t i = 0; i < lanes; i++)
		last[i] = UINT32_MAX;
	while (d->n < d->most) {
		uint32_t i = below(d, lanes), v = add_node(d, i + d->n / 16);

		if (last[i] != UINT32_MAX)
			add_edge(d, last[i], v);
		if (below(d, meet) == 0)
			for (uint32_t j = 0; j < 1 + below(d, lanes); j++) {
				uint32_t other = last[below(d, lanes)];

				if (other != UINT32_MAX)
					add_edge(d, other, v);
			}
		last[i] = v;
	}
	mem_free(last);
}

static void draw_graph(struct drawing *d)
{
	static void (*const kinds[])(struct drawing *) = {
		draw_window, draw_cells, draw_stages, draw_blocks, draw_cells,
		draw_cells,  draw_rows,  draw_tree,   draw_stages, draw_lanes};

	kinds[below(d, sizeof(kinds) / sizeof(kinds[0]))](d);
}

static struct graph *to_graph(const struct drawing *d, const uint64_t *bytes)
{
	struct graph *g = graph_new();
	struct arena *a = g->arena;
	uint32_t n = d->n, n_in = 0;

	for (uint32_t v = 0; v < n; v++)
		n_in += d->n_in[v];
	g->name = "synthetic";
	g->xml = g->weights = "";
	g->n = g->n_sets = n;
	g->id = ARENA_NEWN(a, int64_t, n);
	g->node_name = ARENA_NEWN(a, const char *, n);
	g->type = ARENA_NEWN(a, const char *, n);
	g->opset = ARENA_NEWN(a, const char *, n);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->in_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->in_node = ARENA_NEWN(a, uint32_t, n_in);
	g->in_port = ARENA_NEWN(a, uint32_t, n_in);
	g->out_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->out_elem = ARENA_NEWN(a, uint8_t, n);
	g->out_rank = ARENA_NEWN(a, uint8_t, n);
	g->out_names = ARENA_NEWN(a, const char *, n);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->dim = ARENA_NEWN(a, int64_t, n);
	g->set = ARENA_NEWN(a, uint32_t, n);
	for (uint32_t v = 0; v < n; v++) {
		g->node_name[v] = g->type[v] = "Task";
		g->opset[v] = g->out_names[v] = "";
		g->set[v] = v;
		g->in_ptr[v + 1] = g->in_ptr[v] + d->n_in[v];
		memcpy(g->in_node + g->in_ptr[v], d->in[v], d->n_in[v] * sizeof(**d->in));
		g->out_ptr[v + 1] = g->dim_ptr[v + 1] = v + 1;
		g->out_elem[v] = EL_U8;
		g->out_rank[v] = 1;
		g->dim[v] = (int64_t)bytes[v];
	}
	return g;
}

/* ---- costs ---- */

struct machine {
	uint32_t k, n_classes;
	uint32_t class[MOST_DEVICES];
	double speed[MOST_CLASSES], overhead[MOST_CLASSES], skill[MOST_CLASSES][MOST_TYPES];
	double own[MOST_DEVICES];
	double wait_s; /* of a copy, whatever its size; 0: as links are drawn */
};

static void draw_machine(struct drawing *d, struct machine *x)
{
	static const uint8_t counts[] = {2, 2, 2, 2, 3, 3,  3,  4,  4,  4, 4,
					 5, 6, 8, 8, 8, 12, 16, 20, 24, 32};
	double spread = uniform(d, 0, 1.6), skills = below(d, 3) ? uniform(d, 0, 1.2) : 0;
	double overhead = below(d, 2) ? exp(uniform(d, -5, -0.5)) : 0,
	       differ = below(d, 3) ? 0 : 0.4;

	*x = (struct machine){.k = counts[below(d, sizeof(counts))]};
	x->n_classes = 1 + below(d, x->k < MOST_CLASSES ? x->k : MOST_CLASSES);
	for (uint32_t c = 0; c < x->n_classes; c++) {
		x->speed[c] = exp(spread * normal(d));
		x->overhead[c] = overhead * exp(1.5 * normal(d));
		for (uint32_t t = 0; t < d->n_types; t++)
			x->skill[c][t] = exp(skills * normal(d));
	}
	/* types that a class cannot run; the first class runs everything */
	if (below(d, 4) == 0)
		for (uint32_t c = 1; c < x->n_classes; c++)
			for (uint32_t t = 0; t < d->n_types; t++)
				if (below(d, 4) == 0)
					x->skill[c][t] = -1;
	for (uint32_t p = 0; p < x->k; p++) {
		x->class[p] = p < x->n_classes ? p : below(d, x->n_classes);
		x->own[p] = exp(differ * normal(d));
	}
}

/* A host and accelerators: work goes faster there, beginning it takes longer, and a copy waits. */
static void draw_host(struct drawing *d, struct machine *x)
{
	static const uint8_t counts[] = {2, 2, 2, 2, 3, 3, 3, 4, 5, 8};
	double begin = exp(uniform(d, -3.5, 0.7));

	*x = (struct machine){.k = counts[below(d, sizeof(counts))]};
	x->n_classes = 2 + below(d, x->k > 2 ? 2 : 1);
	x->wait_s = begin * exp(uniform(d, -1, 2));
	for (uint32_t c = 0; c < x->n_classes; c++) {
		x->speed[c] = c ? exp(-uniform(d, 0.5, 3.5)) : 1;
		x->overhead[c] = begin * (c ? exp(uniform(d, -0.3, 1.5)) : 1);
		for (uint32_t t = 0; t < d->n_types; t++)
			x->skill[c][t] = exp(0.4 * normal(d));
	}
	for (uint32_t p = 0; p < x->k; p++) {
		x->class[p] = p < x->n_classes ? p : below(d, x->n_classes);
		x->own[p] = 1;
	}
}

/* Work of every node, heavy-tailed by type; what it makes is partly proportional to it. */
static double draw_work(struct drawing *d, bool host, double *work, double *bytes)
{
	double base[MOST_TYPES], size[MOST_TYPES], sum = 0;
	double tail = uniform(d, 0, 2), bytes_tail = uniform(d, 0, 1.5),
	       own = below(d, 3) ? 0 : uniform(d, 0, 0.6);
	double tied = uniform(d, 0, 1), nothing = below(d, 3) ? 0 : uniform(d, 0, 0.6);

	/* on a host and its accelerators most tasks are next to nothing */
	if (host) {
		nothing = uniform(d, 0, 0.9);
		tail = uniform(d, 0.5, 1.8);
		own *= 0.3;
	}

	for (uint32_t t = 0; t < d->n_types; t++) {
		double z = normal(d);

		base[t] = exp(tail * z) * (uniform(d, 0, 1) < nothing ? 0.003 : 1);
		size[t] = exp(bytes_tail * normal(d) + tied * tail * z);
	}
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t t = d->type[v];

		work[v] = base[t] * exp(own * normal(d));
		bytes[v] = size[t] * (own > 0.3 ? exp(own * normal(d)) : 1);
		if (d->n_in[v] == 0 && nothing > 0)
			work[v] *= 0.01;
		sum += work[v];
	}
	return sum / d->n;
}

/* Links: equal; fast within groups; each its own; by class. */
static struct sched_links draw_links(struct drawing *d, const struct machine *x, double ccr,
				     double task_s, struct arena *a)
{
	uint32_t k = x->k, kind = below(d, 4), group = 2 + below(d, 4);
	double *lat = ARENA_NEWN(a, double, (size_t)k *k),
	       *rate = ARENA_NEWN(a, double, (size_t)k *k);
	double slow = exp(uniform(d, 0.5, 3)), share = below(d, 2) ? uniform(d, 0, 0.5) : 0.02;
	double per_byte = ccr * (1 - share) * task_s;
	double wait = x->wait_s > 0 ? x->wait_s : ccr * share * task_s * UNIT;

	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < k; j++) {
			double f = 1;

			if (kind == 1)
				f = i / group == j / group ? 1 : slow;
			if (kind == 2)
				f = exp(0.7 * normal(d));
			if (kind == 3)
				f = x->class[i] == x->class[j] ? 1 : slow;
			lat[i * k + j] = i == j ? 0 : wait * f;
			rate[i * k + j] = i == j ? INFINITY : 1 / (per_byte * f);
		}
	return (struct sched_links){k, lat, rate};
}

static void set_costs(struct drawing *d, struct synthetic *x)
{
	struct machine machine;
	struct err e = ERR_INIT;
	double *work = ARENA_NEWN(x->a, double, d->n), *size = ARENA_NEWN(x->a, double, d->n);
	uint64_t *bytes = ARENA_NEWN(x->a, uint64_t, d->n);
	double mean, ccr = exp(uniform(d, log(0.03), log(4))), size_mean = 0;

	bool host = below(d, 5) < 2;

	mean = draw_work(d, host, work, size);
	if (host)
		draw_host(d, &machine);
	else
		draw_machine(d, &machine);
	uint32_t k = machine.k;
	double *set_s = ARENA_NEWN(x->a, double, (size_t)d->n *k),
	       unrelated = host || below(d, 4) ? 0 : 0.4;

	for (uint32_t v = 0; v < d->n; v++)
		size_mean += size[v] / d->n;
	for (uint32_t v = 0; v < d->n; v++) {
		bytes[v] = 1 + (uint64_t)(UNIT * size[v] / size_mean);
		for (uint32_t p = 0; p < k; p++) {
			uint32_t c = machine.class[p];
			double skill = machine.skill[c][d->type[v]];

			set_s[(size_t)v * k + p] =
				skill < 0
					? -1
					: (machine.overhead[c] + work[v] / mean * machine.speed[c] *
									 skill * machine.own[p]) *
						  (unrelated > 0 ? exp(unrelated * normal(d)) : 1);
		}
	}
	const char **names = ARENA_NEWN(x->a, const char *, k);

	for (uint32_t p = 0; p < k; p++)
		names[p] = arena_printf(x->a, "d:%u", p);
	struct sched_links links = draw_links(d, &machine, ccr / UNIT, 1, x->a);

	uint64_t *limit = ARENA_NEWN(x->a, uint64_t, k);
	const struct place_setup setup = {.k = k,
					  .names = names,
					  .set_s = set_s,
					  .links = links,
					  .mem_limit = limit,
					  .contention = below(d, 4) > 0,
					  .overlap = below(d, 8) > 0,
					  .policy = SCHED_RANK};

	x->g = to_graph(d, bytes);
	if (place_model_init(&x->m, x->g, &setup, x->a, &e) < 0)
		x->m.tasks.dag.n = 0;
}

void synthetic_init(struct synthetic *x, uint64_t seed, uint32_t number, uint32_t most_tasks)
{
	struct drawing d = {.rng = random_stream_new(seed, RANDOM_SYNTHETIC, 0, number)};

	*x = (struct synthetic){.a = arena_new()};
	bool usual = below(&d, 8) > 0 && most_tasks > USUAL;

	d.most = (uint32_t)exp(uniform(&d, log(16), log(usual ? USUAL : most_tasks)));
	uint32_t room = d.most + 64; /* kinds may draw a little more */

	d.in = arena_alloc(x->a, room, sizeof(*d.in));
	d.n_in = ARENA_NEWN(x->a, uint32_t, room);
	d.type = ARENA_NEWN(x->a, uint8_t, room);
	d.n_types = 1 + below(&d, MOST_TYPES);
	draw_graph(&d);
	set_costs(&d, x);
}

void synthetic_release(struct synthetic *x)
{
	graph_free(x->g);
	arena_free(x->a);
}
