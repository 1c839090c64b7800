/* mincut.c - the placement with the least sum of seconds, computing and copying: Stone,
 * "Multiprocessor scheduling with the aid of network flow algorithms", IEEE Trans. Software
 * Engineering SE-3(1), 1977.  On two devices this is one minimum cut and exact: a unit is on the
 * source's or the sink's side, what it costs on one device is the capacity to the other's end,
 * what it cannot do is infinite.  A tensor that several units read is copied once, in either
 * direction at that direction's price, and what neighbours save on one device (fusion) counts.
 *
 * On more devices: again and again the units of two of them are divided anew by a minimum cut, the
 * others being where they are, until no pair gets better: alpha-beta swaps (Boykov, Veksler,
 * Zabih, "Fast approximate energy minimization via graph cuts", IEEE PAMI 23(11), 2001, section
 * 3).  They start from the best of: every unit where it is fastest, and all on one device.
 *
 * The sum is not the latency: with little to gain from copies, one device does everything.  Memory
 * is not looked at; what is not legal then is repaired. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "partition/maxflow.h"
#include "place/heuristic/partition_placement.h"

static const double NEAR = 1e-9; /* relative: a sum that is as good; savings may bring it below 0 */

struct cut_reader {
	uint32_t unit;
	uint16_t dev;
};

struct cut {
	struct partition_placement p;
	const struct place_model *m;
	uint16_t *on; /* (units) */
	double scale; /* capacities for a second */
	/* of the pair at hand */
	uint16_t a, b; /* on the source's side, on the sink's */
	struct maxflow *flow;
	uint32_t *node;            /* (units) GRAPH_NONE: neither on a nor on b */
	struct cut_reader *reader; /* (units) scratch: who reads a tensor, each unit once */
	uint32_t *seen, *seen_dev; /* (units), (k) scratch: last tensor + 1 */
};

static uint32_t unit_of(const struct cut *c, uint32_t task)
{
	return c->p.u.of_set[c->m->tasks.task_set[task]];
}

static int64_t capacity(const struct cut *c, double s)
{
	return s == INFINITY ? MAXFLOW_INF : (int64_t)llround(s * c->scale);
}

/* Units other than the maker that read tensor t, each once. */
static uint32_t readers(struct cut *c, uint32_t t, uint32_t maker)
{
	const struct sched_dag *d = &c->m->tasks.dag;
	uint32_t n = 0;

	for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++) {
		uint32_t w = unit_of(c, d->use_task[i]);

		if (w == maker || c->seen[w] == t + 1)
			continue;
		c->seen[w] = t + 1;
		c->reader[n++] = (struct cut_reader){w, c->on[w]};
	}
	return n;
}

/* Is dev the device of a reader of tensor t for the first time? */
static bool is_new(struct cut *c, uint32_t t, uint16_t dev)
{
	bool yes = c->seen_dev[dev] != t + 1;

	c->seen_dev[dev] = t + 1;
	return yes;
}

static void see_nothing(struct cut *c)
{
	memset(c->seen, 0, c->p.u.n * sizeof(*c->seen));
	memset(c->seen_dev, 0, c->m->k * sizeof(*c->seen_dev));
}

/* ---- the sum of a placement ---- */

static double saved_s(const struct cut *c, uint32_t task, uint16_t dev)
{
	const struct place_model *m = c->m;
	double s = 0;

	for (uint32_t j = m->saved_ptr ? m->saved_ptr[task] : 0;
	     m->saved_ptr && j < m->saved_ptr[task + 1]; j++)
		if (c->on[unit_of(c, m->saved_task[j])] == dev)
			s += m->saved_s[(size_t)j * m->k + dev];
	return s;
}

static double total_s(struct cut *c)
{
	const struct sched_dag *d = &c->m->tasks.dag;
	double sum = 0;

	for (uint32_t i = 0; i < c->p.u.n; i++) {
		double s = c->p.u.cost_s[(size_t)i * c->m->k + c->on[i]];

		sum += s < 0 ? INFINITY : s;
	}
	for (uint32_t t = 0; t < d->n; t++)
		sum -= saved_s(c, t, c->on[unit_of(c, t)]);
	see_nothing(c);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t maker = unit_of(c, d->tensor_task[t]), n = readers(c, t, maker);

		for (uint32_t i = 0; i < n; i++)
			if (is_new(c, t, c->reader[i].dev))
				sum += unit_traffic_copy_s(c->m, t, c->on[maker], c->reader[i].dev);
	}
	return sum;
}

/* ---- the network of two devices ---- */

/* What unit i costs on a, and on b. */
static void cost_of(struct cut *c, uint32_t i, double on_a, double on_b)
{
	maxflow_ends(c->flow, c->node[i], capacity(c, on_b), capacity(c, on_a));
}

/* A tensor made by a unit of the pair: the copy to a reader on the other side, once. */
static void movable_maker(struct cut *c, uint32_t t, uint32_t maker, uint32_t n)
{
	double there = unit_traffic_copy_s(c->m, t, c->a, c->b),
	       back = unit_traffic_copy_s(c->m, t, c->b, c->a);
	uint32_t n_movable = 0, one = 0, out, in;

	for (uint32_t i = 0; i < n; i++) {
		if (c->node[c->reader[i].unit] != GRAPH_NONE) {
			n_movable++;
			one = c->node[c->reader[i].unit];
		} else if (is_new(c, t, c->reader[i].dev)) {
			cost_of(c, maker, unit_traffic_copy_s(c->m, t, c->a, c->reader[i].dev),
				unit_traffic_copy_s(c->m, t, c->b, c->reader[i].dev));
		}
	}
	if (n_movable == 1)
		maxflow_arc(c->flow, c->node[maker], one, capacity(c, there), capacity(c, back));
	if (n_movable <= 1)
		return;
	out = maxflow_node(c->flow);
	in = maxflow_node(c->flow);
	maxflow_arc(c->flow, c->node[maker], out, capacity(c, there), 0);
	maxflow_arc(c->flow, in, c->node[maker], capacity(c, back), 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = c->node[c->reader[i].unit];

		if (v == GRAPH_NONE)
			continue;
		maxflow_arc(c->flow, out, v, MAXFLOW_INF, 0);
		maxflow_arc(c->flow, v, in, MAXFLOW_INF, 0);
	}
}

/* A tensor made elsewhere: it comes once to each of the two that has a reader. */
static void fixed_maker(struct cut *c, uint32_t t, uint32_t maker, uint32_t n)
{
	double to_a = unit_traffic_copy_s(c->m, t, c->on[maker], c->a);
	double to_b = unit_traffic_copy_s(c->m, t, c->on[maker], c->b);
	uint32_t at_a = GRAPH_NONE, at_b = GRAPH_NONE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = c->node[c->reader[i].unit];

		if (v == GRAPH_NONE)
			continue;
		if (at_a == GRAPH_NONE) {
			at_a = maxflow_node(c->flow);
			at_b = maxflow_node(c->flow);
			maxflow_ends(c->flow, at_a, 0, capacity(c, to_a));
			maxflow_ends(c->flow, at_b, capacity(c, to_b), 0);
		}
		maxflow_arc(c->flow, v, at_a, MAXFLOW_INF, 0);
		maxflow_arc(c->flow, at_b, v, MAXFLOW_INF, 0);
	}
}

/* Neighbours that save something when both are on a, or on b. */
static void add_savings(struct cut *c)
{
	const struct place_model *m = c->m;

	for (uint32_t t = 0; m->saved_ptr && t < m->tasks.dag.n; t++) {
		uint32_t v = unit_of(c, t);

		for (uint32_t j = m->saved_ptr[t];
		     j < m->saved_ptr[t + 1] && c->node[v] != GRAPH_NONE; j++) {
			uint32_t w = unit_of(c, m->saved_task[j]);
			/* What takes longer together (below 0) no cut can say. */
			double on_a = fmax(0, m->saved_s[(size_t)j * m->k + c->a]);
			double on_b = fmax(0, m->saved_s[(size_t)j * m->k + c->b]);

			if (w ==
			    v) /* what is saved on a is a price of b, and the other way round */
				cost_of(c, v, on_b, on_a);
			else if (c->node[w] != GRAPH_NONE) {
				cost_of(c, w, 0, on_a);
				cost_of(c, v, on_b, 0);
				maxflow_arc(c->flow, c->node[w], c->node[v],
					    capacity(c, on_a + on_b), 0);
			}
		}
	}
}

/* Divide the units of devices a and b anew; the others stay. */
static void divide(struct cut *c, uint16_t a, uint16_t b)
{
	const struct sched_dag *d = &c->m->tasks.dag;
	uint32_t n = 0, k = c->m->k;

	c->a = a;
	c->b = b;
	for (uint32_t i = 0; i < c->p.u.n; i++)
		c->node[i] = c->on[i] == a || c->on[i] == b ? n++ : GRAPH_NONE;
	if (n == 0)
		return;
	c->flow = maxflow_new(n);
	for (uint32_t i = 0; i < c->p.u.n; i++) {
		const double *s = &c->p.u.cost_s[(size_t)i * k];

		if (c->node[i] != GRAPH_NONE)
			cost_of(c, i, s[a] < 0 ? INFINITY : s[a], s[b] < 0 ? INFINITY : s[b]);
	}
	see_nothing(c);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t maker = unit_of(c, d->tensor_task[t]), n_readers = readers(c, t, maker);

		if (c->node[maker] != GRAPH_NONE)
			movable_maker(c, t, maker, n_readers);
		else
			fixed_maker(c, t, maker, n_readers);
	}
	add_savings(c);
	maxflow_until(c->flow, method_deadline_s(c->p.r));
	if (maxflow_run(c->flow) != MAXFLOW_INF)
		for (uint32_t i = 0; i < c->p.u.n; i++)
			if (c->node[i] != GRAPH_NONE)
				c->on[i] = maxflow_on_sink_side(c->flow, c->node[i]) ? b : a;
	maxflow_free(c->flow);
}

/* ---- all devices ---- */

/* A link as slow as the slowest, in latency and in bandwidth. */
struct slowest {
	double latency_s, s_per_byte;
};

static struct slowest slowest_link(const struct place_model *m)
{
	const struct sched_links *l = &m->costs.links;
	struct slowest x = {0, 0};

	for (uint32_t i = 0; m->rules == PLACE_SCHEDULE && i < m->k * m->k; i++)
		if (i / m->k != i % m->k && l->latency_s[i] >= 0) {
			x.latency_s = fmax(x.latency_s, l->latency_s[i]);
			x.s_per_byte = fmax(x.s_per_byte, 1 / l->bytes_per_s[i]);
		}
	return x;
}

/* No copy of the tensor takes longer. */
static double dearest_s(const struct place_model *m, const struct slowest *x, uint32_t t)
{
	double dearest = 0;

	if (m->rules == PLACE_SCHEDULE)
		return x->latency_s + x->s_per_byte * (double)m->tasks.dag.tensor_bytes[t];
	for (uint32_t i = 0; i < m->k * m->k; i++)
		dearest = fmax(dearest, unit_traffic_copy_s(m, t, i / m->k, i % m->k));
	return dearest;
}

/* So that all capacities together stay below what a flow can count. */
static double scale_of(const struct cut *c)
{
	const struct place_model *m = c->m;
	const struct sched_dag *d = &m->tasks.dag;
	struct slowest slowest = slowest_link(m);
	double sum = 0;

	for (size_t i = 0; i < (size_t)c->p.u.n * m->k; i++)
		sum += fmax(c->p.u.cost_s[i], 0);
	for (uint32_t t = 0; t < d->n_tensors; t++)
		sum += dearest_s(m, &slowest, t) * 2 * (1 + d->use_ptr[t + 1] - d->use_ptr[t]);
	for (size_t i = 0; m->saved_ptr && i < (size_t)m->saved_ptr[d->n] * m->k; i++)
		sum += 2 * fmax(m->saved_s[i], 0);
	return sum > 0 ? (double)MAXFLOW_MOST / 2 / sum : 1;
}

/* Every unit where it is fastest, or everything on the one device that is better, as far as there is time. */
static double start(struct cut *c, double deadline_s)
{
	uint32_t n = c->p.u.n, k = c->m->k;
	uint16_t *best = ARENA_NEWN(c->p.r->a, uint16_t, n);

	for (uint32_t i = 0; i < n; i++) {
		const double *s = &c->p.u.cost_s[(size_t)i * k];

		for (uint32_t d = 1; d < k; d++)
			if (s[d] >= 0 && (s[best[i]] < 0 || s[d] < s[best[i]]))
				best[i] = (uint16_t)d;
	}
	memcpy(c->on, best, n * sizeof(*best));
	double least = total_s(c);

	for (uint32_t d = 0; d < k && !(d > 0 && method_is_late(deadline_s)); d++) {
		for (uint32_t i = 0; i < n; i++)
			c->on[i] = (uint16_t)d;
		double s = total_s(c);

		if (s < least) {
			least = s;
			memcpy(best, c->on, n * sizeof(*best));
		}
	}
	memcpy(c->on, best, n * sizeof(*best));
	return least;
}

/* Rounds over all pairs of devices until none gets better; returns the sum. */
static double swaps(struct cut *c, uint32_t *n_cuts)
{
	double deadline_s = method_deadline_s(c->p.r), sum = start(c, deadline_s);
	uint16_t *was = ARENA_NEWN(c->p.r->a, uint16_t, c->p.u.n);
	uint32_t k = c->m->k, since = 0, n_pairs = k * (k - 1) / 2;

	for (uint16_t a = 0, b = 1; since < n_pairs; since++) {
		if (method_is_late(deadline_s))
			break;
		memcpy(was, c->on, c->p.u.n * sizeof(*was));
		divide(c, a, b);
		++*n_cuts;
		double s = total_s(c);

		if (s < sum - (sum < INFINITY ? NEAR * fabs(sum) : 0)) {
			sum = s;
			since = 0;
		} else {
			memcpy(c->on, was, c->p.u.n * sizeof(*was));
		}
		if (++b == k) {
			a = (uint16_t)(a + 2U < k ? a + 1 : 0);
			b = (uint16_t)(a + 1);
		}
	}
	return sum;
}

static int run_mincut(struct method_run *r, struct err *e)
{
	struct cut c = {.m = r->m};
	uint32_t n_cuts = 0, k = r->m->k;
	char text[100];

	partition_placement_init(&c.p, r, NULL, false);
	c.scale = scale_of(&c);
	c.on = ARENA_NEWN(r->a, uint16_t, c.p.u.n);
	c.node = ARENA_NEWN(r->a, uint32_t, c.p.u.n);
	c.reader = ARENA_NEWN(r->a, struct cut_reader, c.p.u.n);
	c.seen = ARENA_NEWN(r->a, uint32_t, c.p.u.n);
	c.seen_dev = ARENA_NEWN(r->a, uint32_t, k);
	double sum = swaps(&c, &n_cuts);

	snprintf(text, sizeof(text), "%s sum of computing and copies %.6g s, %u cuts",
		 k <= 2 ? "least" : "a small", sum, n_cuts);
	return partition_placement_units(&c.p, c.on, text, e);
}

const struct place_method method_mincut = {
	.name = "mincut",
	.needs_costs = true,
	.about = "the least sum of computing and copies, by minimum cuts",
	.source = "Stone, IEEE TSE SE-3(1), 1977; swaps: Boykov, Veksler, Zabih, PAMI 23(11), 2001",
	.run = run_mincut,
	.is_heuristic = true,
};
