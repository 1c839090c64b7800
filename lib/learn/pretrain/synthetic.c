/* synthetic.c - made-up graphs, costs, devices and links.
 *
 * A graph is drawn (drawing.c); every type of its nodes has a size of work and of what it makes;
 * devices come in classes, each of which is good at some types and bad at others; links are equal, in
 * groups, or all different.  How much copies take beside work is drawn from 1/30 to 4. */
#include <math.h>
#include <string.h>

#include "learn/pretrain/drawing.h"
#include "learn/pretrain/synthetic.h"

enum { MOST_CLASSES = 4, MOST_DEVICES = 32 };

/* Tasks of seven problems in eight, at most. */
static const uint32_t USUAL = 400;
static const double UNIT = 1e6; /* bytes of a mean tensor */

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
	graph_finish(g);
	return g;
}

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
	double spread = draw_uniform(d, 0, 1.6),
	       skills = draw_below(d, 3) ? draw_uniform(d, 0, 1.2) : 0;
	double overhead = draw_below(d, 2) ? exp(draw_uniform(d, -5, -0.5)) : 0,
	       differ = draw_below(d, 3) ? 0 : 0.4;

	*x = (struct machine){.k = counts[draw_below(d, sizeof(counts))]};
	x->n_classes = 1 + draw_below(d, x->k < MOST_CLASSES ? x->k : MOST_CLASSES);
	for (uint32_t c = 0; c < x->n_classes; c++) {
		x->speed[c] = exp(spread * draw_normal(d));
		x->overhead[c] = overhead * exp(1.5 * draw_normal(d));
		for (uint32_t t = 0; t < d->n_types; t++)
			x->skill[c][t] = exp(skills * draw_normal(d));
	}
	/* types that a class cannot run; the first class runs everything */
	if (draw_below(d, 4) == 0)
		for (uint32_t c = 1; c < x->n_classes; c++)
			for (uint32_t t = 0; t < d->n_types; t++)
				if (draw_below(d, 4) == 0)
					x->skill[c][t] = -1;
	for (uint32_t p = 0; p < x->k; p++) {
		x->class[p] = p < x->n_classes ? p : draw_below(d, x->n_classes);
		x->own[p] = exp(differ * draw_normal(d));
	}
}

/* A host and accelerators: work goes faster there, beginning it takes longer, and a copy waits. */
static void draw_host(struct drawing *d, struct machine *x)
{
	static const uint8_t counts[] = {2, 2, 2, 2, 3, 3, 3, 4, 5, 8};
	double begin = exp(draw_uniform(d, -3.5, 0.7));

	*x = (struct machine){.k = counts[draw_below(d, sizeof(counts))]};
	x->n_classes = 2 + draw_below(d, x->k > 2 ? 2 : 1);
	x->wait_s = begin * exp(draw_uniform(d, -1, 2));
	for (uint32_t c = 0; c < x->n_classes; c++) {
		x->speed[c] = c ? exp(-draw_uniform(d, 0.5, 3.5)) : 1;
		x->overhead[c] = begin * (c ? exp(draw_uniform(d, -0.3, 1.5)) : 1);
		for (uint32_t t = 0; t < d->n_types; t++)
			x->skill[c][t] = exp(0.4 * draw_normal(d));
	}
	for (uint32_t p = 0; p < x->k; p++) {
		x->class[p] = p < x->n_classes ? p : draw_below(d, x->n_classes);
		x->own[p] = 1;
	}
}

/* Work of every node, heavy-tailed by type; what it makes is partly proportional to it. */
static double draw_work(struct drawing *d, bool host, double *work, double *bytes)
{
	double base[MOST_TYPES], size[MOST_TYPES], sum = 0;
	double tail = draw_uniform(d, 0, 2), bytes_tail = draw_uniform(d, 0, 1.5),
	       own = draw_below(d, 3) ? 0 : draw_uniform(d, 0, 0.6);
	double tied = draw_uniform(d, 0, 1),
	       nothing = draw_below(d, 3) ? 0 : draw_uniform(d, 0, 0.6);

	/* on a host and its accelerators most tasks are next to nothing */
	if (host) {
		nothing = draw_uniform(d, 0, 0.9);
		tail = draw_uniform(d, 0.5, 1.8);
		own *= 0.3;
	}

	for (uint32_t t = 0; t < d->n_types; t++) {
		double z = draw_normal(d);

		base[t] = exp(tail * z) * (draw_uniform(d, 0, 1) < nothing ? 0.003 : 1);
		size[t] = exp(bytes_tail * draw_normal(d) + tied * tail * z);
	}
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t t = d->type[v];

		work[v] = base[t] * exp(own * draw_normal(d));
		bytes[v] = size[t] * (own > 0.3 ? exp(own * draw_normal(d)) : 1);
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
	uint32_t k = x->k, kind = draw_below(d, 4), group = 2 + draw_below(d, 4);
	double *lat = ARENA_NEWN(a, double, (size_t)k *k),
	       *rate = ARENA_NEWN(a, double, (size_t)k *k);
	double slow = exp(draw_uniform(d, 0.5, 3)),
	       share = draw_below(d, 2) ? draw_uniform(d, 0, 0.5) : 0.02;
	double per_byte = ccr * (1 - share) * task_s;
	double wait = x->wait_s > 0 ? x->wait_s : ccr * share * task_s * UNIT;

	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < k; j++) {
			double f = 1;

			if (kind == 1)
				f = i / group == j / group ? 1 : slow;
			if (kind == 2)
				f = exp(0.7 * draw_normal(d));
			if (kind == 3)
				f = x->class[i] == x->class[j] ? 1 : slow;
			lat[i * k + j] = i == j ? 0 : wait * f;
			rate[i * k + j] = i == j ? INFINITY : 1 / (per_byte * f);
		}
	return (struct sched_links){.k = k, .latency_s = lat, .bytes_per_s = rate};
}

static void set_costs(struct drawing *d, struct synthetic *x)
{
	struct machine machine;
	struct err e = ERR_INIT;
	double *work = ARENA_NEWN(x->a, double, d->n), *size = ARENA_NEWN(x->a, double, d->n);
	uint64_t *bytes = ARENA_NEWN(x->a, uint64_t, d->n);
	double mean, ccr = exp(draw_uniform(d, log(0.03), log(4))), size_mean = 0;

	bool host = draw_below(d, 5) < 2;

	mean = draw_work(d, host, work, size);
	if (host)
		draw_host(d, &machine);
	else
		draw_machine(d, &machine);
	uint32_t k = machine.k;
	double *set_s = ARENA_NEWN(x->a, double, (size_t)d->n *k),
	       unrelated = host || draw_below(d, 4) ? 0 : 0.4;

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
						  (unrelated > 0 ? exp(unrelated * draw_normal(d))
								 : 1);
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
					  .contention = draw_below(d, 4) > 0,
					  .overlap = draw_below(d, 8) > 0,
					  .policy = SCHED_RANK};

	x->g = to_graph(d, bytes);
	if (place_model_init(&x->m, x->g, &setup, x->a, &e) < 0)
		x->m.tasks.dag.n = 0;
}

void synthetic_init(struct synthetic *x, uint64_t seed, uint32_t number, uint32_t most_tasks)
{
	struct drawing d = {.rng = random_stream_new(seed, RANDOM_SYNTHETIC, 0, number)};

	*x = (struct synthetic){.a = arena_new()};
	bool usual = draw_below(&d, 8) > 0 && most_tasks > USUAL;

	d.most = (uint32_t)exp(draw_uniform(&d, log(16), log(usual ? USUAL : most_tasks)));
	uint32_t room = d.most + 64; /* kinds may draw a little more */

	d.in = arena_alloc(x->a, room, sizeof(*d.in));
	d.n_in = ARENA_NEWN(x->a, uint32_t, room);
	d.type = ARENA_NEWN(x->a, uint8_t, room);
	d.n_types = 1 + draw_below(&d, MOST_TYPES);
	draw_graph(&d);
	set_costs(&d, x);
}

void synthetic_release(struct synthetic *x)
{
	graph_free(x->g);
	arena_free(x->a);
}
