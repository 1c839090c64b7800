/* test_sim.c - the simulator (lib/sched/timeline) against a naive
 * one that follows the rules of sched.h by scanning everything, on random graphs,
 * placements and costs, most of them full of ties; and properties of schedules. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sched/timeline.h"
#include "tap.h"

enum { MAX_NAMES = 2, MAX_N = 150, MAX_K = 12, MAX_E = 400, CASES = 4000, MANY = 400, LARGE = 16 };

/* ---- random problems ---- */

struct problem {
	uint32_t n, k, n_edges;
	struct sched_edge edge[MAX_E];
	double task_s[MAX_N * MAX_K], latency_s[MAX_K * MAX_K], bytes_per_s[MAX_K * MAX_K];
	uint16_t device[MAX_N];
	uint8_t turns[MAX_K * MAX_K], copy_holds[MAX_K * MAX_K];
	/* Ports: names, that of a link or SCHED_NONE, rates or 0. */
	uint32_t n_names, port[MAX_K * MAX_K];
	double port_rate[2][MAX_K * MAX_NAMES];
	struct sched_ports ports;
	bool contention, overlap, holds_some, takes_turns;
	enum sched_policy policy;
};

static struct sched_costs costs_of(struct problem *p)
{
	p->ports = (struct sched_ports){.n = p->n_names,
					.of = p->port,
					.out_bytes_per_s = p->port_rate[0],
					.in_bytes_per_s = p->port_rate[1]};
	return (struct sched_costs){.task_s = p->task_s,
				    .links = {.k = p->k,
					      .latency_s = p->latency_s,
					      .bytes_per_s = p->bytes_per_s,
					      .ports = p->n_names ? &p->ports : NULL},
				    .contention = p->contention,
				    .overlap = p->overlap,
				    .copy_holds = p->holds_some ? p->copy_holds : NULL,
				    .turns = p->takes_turns ? p->turns : NULL,
				    .policy = p->policy};
}

static uint32_t counter;

static uint32_t draw(uint32_t bound)
{
	struct rng_addr a = {7, 0, 0, RNG_SEARCH};

	return rng_below(&a, counter++, bound);
}

/* Some links share ports; no link is faster than what is told of its ports. */
static void random_ports(struct problem *p)
{
	p->n_names = draw(2) ? 1 + draw(MAX_NAMES) : 0;
	for (uint32_t i = 0; i < p->k * p->n_names; i++)
		for (int in = 0; in < 2; in++)
			p->port_rate[in][i] = draw(4) ? 0 : UINT32_C(1) << draw(3);
	for (uint32_t i = 0; i < p->k * p->k && p->n_names; i++) {
		uint32_t name = draw(4) ? draw(p->n_names) : SCHED_NONE, from = i / p->k,
			 to = i % p->k;

		p->port[i] = name;
		for (int in = 0; in < 2 && name != SCHED_NONE && from != to; in++) {
			double told = p->port_rate[in][(in ? to : from) * p->n_names + name];

			if (told > 0 && told < p->bytes_per_s[i])
				p->bytes_per_s[i] = told;
		}
	}
}

/* At most n tasks on at most k devices, `edges` edges.  exact: sums of times are, in any order. */
static void random_problem(struct problem *p, uint32_t n, uint32_t k, uint32_t edges, bool exact)
{
	memset(p, 0, sizeof(*p));
	p->n = 1 + draw(n);
	p->k = 1 + draw(k);
	p->contention = draw(3) > 0;
	p->overlap = draw(3) > 0;
	p->policy = draw(3) ? SCHED_RANK : SCHED_FIFO;
	bool ties = draw(4) > 0;
	for (uint32_t v = 0; v < p->n; v++) {
		p->device[v] = (uint16_t)draw(p->k);
		for (uint32_t d = 0; d < p->k; d++)
			p->task_s[v * p->k + d] =
				ties ? draw(4) : draw(1000) * (exact ? 0.375 : 0.37);
	}
	for (uint32_t i = 0; i < p->k * p->k; i++) {
		p->latency_s[i] = i / p->k == i % p->k ? 0
				  : ties               ? draw(3)
						       : draw(1000) * (exact ? 0.125 : 0.11);
		p->bytes_per_s[i] = i / p->k == i % p->k ? INFINITY
				    : ties               ? 1 + draw(2)
				    : exact              ? UINT32_C(1) << draw(4)
							 : 1 + draw(9);
	}
	random_ports(p);
	p->takes_turns = draw(3) == 0;
	for (uint32_t i = 0; i < p->k * p->k && p->takes_turns; i++)
		if (i / p->k < i % p->k)
			p->turns[i] = p->turns[i % p->k * p->k + i / p->k] = draw(3) == 0;
	p->holds_some = draw(2) == 0;
	for (uint32_t i = 0; i < p->k * p->k; i++)
		p->copy_holds[i] = (uint8_t)draw(4);
	uint32_t want = draw(edges);
	while (p->n_edges < want && p->n > 1) {
		uint32_t src = draw(p->n - 1), dst = src + 1 + draw(p->n - 1 - src);
		uint32_t key = draw(3);

		if (draw(12) == 0)
			dst = SCHED_NONE;
		p->edge[p->n_edges++] = (struct sched_edge){src, dst, key, (src + key) % 4};
	}
}

/* Every few tasks one that all before it lead to and all after it come from, so that it runs
 * alone. */
static void add_sync_points(struct problem *p)
{
	uint32_t every = 2 + draw(6), n = 0;

	for (uint32_t i = 0; i < p->n_edges; i++) {
		struct sched_edge e = p->edge[i];

		if (e.dst == SCHED_NONE || e.src / every == e.dst / every)
			p->edge[n++] = e;
	}
	for (uint32_t v = 0; v < p->n && n + 2 <= MAX_E; v++) {
		uint32_t before = v / every * every, after = before + every;

		if (v == before)
			continue;
		p->edge[n++] = (struct sched_edge){before, v, 0, before % 4};
		if (after < p->n)
			p->edge[n++] = (struct sched_edge){v, after, 0, v % 4};
	}
	p->n_edges = n;
}

/* ---- the naive simulator ---- */

struct naive_copy {
	uint32_t src_task, key, dst;
	double asked_s, start_s, end_s; /* start < 0: waiting */
	uint64_t bytes;
	bool done;
	double port_end_s[2]; /* of its source's out port, of its destination's in port */
	bool port_done[2];
};

struct naive {
	double rank[MAX_N], start_s[MAX_N], end_s[MAX_N], ready_s[MAX_N];
	bool started[MAX_N], done[MAX_N];
	struct naive_copy copy[MAX_E];
	uint32_t n_copies;
	double makespan_s, busy_s[MAX_K];
	uint64_t copied_bytes, peak[MAX_K];
};

static uint64_t tensor_bytes(const struct problem *p, uint32_t src, uint32_t key)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->n_edges; i++)
		if (p->edge[i].src == src && p->edge[i].key == key && p->edge[i].bytes > most)
			most = p->edge[i].bytes;
	return most;
}

static double copy_s(const struct problem *p, uint32_t from, uint32_t to, uint64_t bytes)
{
	return p->latency_s[from * p->k + to] + (double)bytes / p->bytes_per_s[from * p->k + to];
}

static void naive_ranks(const struct problem *p, struct naive *x)
{
	for (uint32_t v = p->n; v-- > 0;) {
		double mean = 0, longest = 0;

		for (uint32_t d = 0; d < p->k; d++)
			mean += p->task_s[v * p->k + d];
		for (uint32_t i = 0; i < p->n_edges; i++) {
			const struct sched_edge *e = &p->edge[i];
			double s = 0;

			if (e->src != v || e->dst == SCHED_NONE)
				continue;
			for (uint32_t a = 0; a < p->k; a++)
				for (uint32_t b = 0; b < p->k; b++)
					s += a == b ? 0
						    : copy_s(p, a, b,
							     tensor_bytes(p, v, (uint32_t)e->key));
			longest = fmax(longest, s / (p->k * p->k) + x->rank[e->dst]);
		}
		x->rank[v] = mean / p->k + longest;
	}
}

static struct naive_copy *find_copy(struct naive *x, uint32_t src, uint32_t key, uint32_t dst)
{
	for (uint32_t i = 0; i < x->n_copies; i++)
		if (x->copy[i].src_task == src && x->copy[i].key == key && x->copy[i].dst == dst)
			return &x->copy[i];
	return NULL;
}

/* The edge's data is where its consumer runs. */
static bool arrived(const struct problem *p, struct naive *x, const struct sched_edge *e)
{
	if (p->device[e->src] == p->device[e->dst])
		return x->done[e->src];
	struct naive_copy *c = find_copy(x, e->src, (uint32_t)e->key, p->device[e->dst]);
	return c && c->done;
}

static bool ready(const struct problem *p, struct naive *x, uint32_t v)
{
	for (uint32_t i = 0; i < p->n_edges; i++)
		if (p->edge[i].dst == v && !arrived(p, x, &p->edge[i]))
			return false;
	return !x->started[v];
}

static bool higher(const struct naive *x, uint32_t a, uint32_t b)
{
	return x->rank[a] != x->rank[b] ? x->rank[a] > x->rank[b] : a < b;
}

static bool copy_first(const struct naive *x, const struct naive_copy *a,
		       const struct naive_copy *b)
{
	if (a->asked_s != b->asked_s)
		return a->asked_s < b->asked_s;
	if (a->src_task != b->src_task)
		return higher(x, a->src_task, b->src_task);
	return a->dst != b->dst ? a->dst < b->dst : a->key < b->key;
}

/* Does a copy from one device to another keep the first or the second, `end`, from computing? */
static bool holds(const struct problem *p, uint32_t from, uint32_t to, unsigned end)
{
	return !p->overlap && (!p->holds_some || p->copy_holds[from * p->k + to] & end);
}

static bool dev_busy(const struct problem *p, const struct naive *x, uint32_t d)
{
	for (uint32_t v = 0; v < p->n; v++)
		if (p->device[v] == d && x->started[v] && !x->done[v])
			return true;
	for (uint32_t i = 0; i < x->n_copies; i++) {
		const struct naive_copy *c = &x->copy[i];
		uint32_t from = p->device[c->src_task];

		if (c->start_s >= 0 && !c->done &&
		    ((from == d && holds(p, from, c->dst, COPY_HOLDS_SRC)) ||
		     (c->dst == d && holds(p, from, c->dst, COPY_HOLDS_DST))))
			return true;
	}
	return false;
}

static uint32_t port_of(const struct problem *p, const struct naive_copy *c)
{
	return p->n_names ? p->port[p->device[c->src_task] * p->k + c->dst] : SCHED_NONE;
}

/* Is a port that copy c needs in use? */
static bool port_busy(const struct problem *p, const struct naive *x, const struct naive_copy *c)
{
	uint32_t name = port_of(p, c), from = p->device[c->src_task];

	for (uint32_t i = 0; i < x->n_copies && name != SCHED_NONE; i++) {
		const struct naive_copy *o = &x->copy[i];

		if (o->start_s >= 0 && port_of(p, o) == name &&
		    ((p->device[o->src_task] == from && !o->port_done[0]) ||
		     (o->dst == c->dst && !o->port_done[1])))
			return true;
	}
	return false;
}

/* Of device d: what was told, or that of its fastest link. */
static double port_rate(const struct problem *p, uint32_t d, uint32_t name, bool in)
{
	double told = p->port_rate[in][d * p->n_names + name], most = 0;

	for (uint32_t o = 0; o < p->k; o++) {
		uint32_t link = in ? o * p->k + d : d * p->k + o;

		if (o != d && p->port[link] == name)
			most = fmax(most, p->bytes_per_s[link]);
	}
	return told > 0 ? told : most;
}

static bool can_start(const struct problem *p, const struct naive *x, const struct naive_copy *c)
{
	uint32_t from = p->device[c->src_task];

	if (c->start_s >= 0)
		return false;
	for (uint32_t i = 0; i < x->n_copies && (p->contention || !p->overlap); i++) {
		const struct naive_copy *o = &x->copy[i];

		if (o->start_s >= 0 && !o->done && p->device[o->src_task] == from &&
		    o->dst == c->dst)
			return false;
	}
	if (p->contention && port_busy(p, x, c))
		return false;
	return !(holds(p, from, c->dst, COPY_HOLDS_SRC) && dev_busy(p, x, from)) &&
	       !(holds(p, from, c->dst, COPY_HOLDS_DST) && dev_busy(p, x, c->dst));
}

static void naive_start(const struct problem *p, struct naive *x, double now)
{
	for (;;) {
		struct naive_copy *best = NULL;

		for (uint32_t i = 0; i < x->n_copies; i++)
			if (can_start(p, x, &x->copy[i]) &&
			    (!best || copy_first(x, &x->copy[i], best)))
				best = &x->copy[i];
		if (!best)
			break;
		best->start_s = now;
		best->end_s = now + copy_s(p, p->device[best->src_task], best->dst, best->bytes);
		uint32_t name = port_of(p, best);
		for (int in = 0; in < 2; in++)
			best->port_end_s[in] =
				name == SCHED_NONE
					? best->end_s
					: now + (double)best->bytes /
							  port_rate(p,
								    in ? best->dst
								       : p->device[best->src_task],
								    name, in);
	}
	bool held[MAX_K] = {false};
	for (;;) {
		uint32_t best = SCHED_NONE, d;

		for (uint32_t v = 0; v < p->n; v++) {
			if (held[p->device[v]] || !ready(p, x, v) || dev_busy(p, x, p->device[v]))
				continue;
			if (best == SCHED_NONE ||
			    (p->policy == SCHED_FIFO && x->ready_s[v] != x->ready_s[best]
				     ? x->ready_s[v] < x->ready_s[best]
				     : higher(x, v, best)))
				best = v;
		}
		if (best == SCHED_NONE)
			break;
		d = p->device[best];
		held[d] = true;
		bool turn = true;
		for (uint32_t o = 0; o < p->k; o++)
			turn &= !p->turns[d * p->k + o] || !dev_busy(p, x, o);
		for (uint32_t o = 0; o < p->k && !turn; o++)
			held[o] |= p->turns[d * p->k + o];
		if (!turn)
			continue;
		x->started[best] = true;
		x->start_s[best] = now;
		x->end_s[best] = now + p->task_s[best * p->k + d];
		x->busy_s[d] += p->task_s[best * p->k + d];
	}
}

static void ask_copies(const struct problem *p, struct naive *x, uint32_t v, double now)
{
	for (uint32_t i = 0; i < p->n_edges; i++) {
		const struct sched_edge *e = &p->edge[i];
		uint32_t key = (uint32_t)e->key;

		if (e->src != v || e->dst == SCHED_NONE || p->device[e->dst] == p->device[v] ||
		    find_copy(x, v, key, p->device[e->dst]))
			continue;
		x->copy[x->n_copies] = (struct naive_copy){.src_task = v,
							   .key = key,
							   .dst = p->device[e->dst],
							   .asked_s = now,
							   .start_s = -1,
							   .end_s = -1,
							   .bytes = tensor_bytes(p, v, key)};
		x->copied_bytes += x->copy[x->n_copies++].bytes;
	}
}

/* Everything that ends at `now`, and since when tasks are ready. */
static void naive_end(const struct problem *p, struct naive *x, double now)
{
	for (uint32_t v = 0; v < p->n; v++)
		if (x->started[v] && !x->done[v] && x->end_s[v] == now) {
			x->done[v] = true;
			ask_copies(p, x, v, now);
		}
	for (uint32_t i = 0; i < x->n_copies; i++)
		if (x->copy[i].start_s >= 0) {
			struct naive_copy *c = &x->copy[i];

			c->done |= c->end_s == now;
			c->port_done[0] |= c->port_end_s[0] == now;
			c->port_done[1] |= c->port_end_s[1] == now;
		}
	for (uint32_t v = 0; v < p->n; v++)
		if (x->ready_s[v] < 0 && ready(p, x, v))
			x->ready_s[v] = now;
}

static double next_end(const struct problem *p, const struct naive *x)
{
	double next = INFINITY;

	for (uint32_t v = 0; v < p->n; v++)
		if (x->started[v] && !x->done[v])
			next = fmin(next, x->end_s[v]);
	for (uint32_t i = 0; i < x->n_copies; i++) {
		const struct naive_copy *c = &x->copy[i];

		if (c->start_s < 0)
			continue;
		next = c->done ? next : fmin(next, c->end_s);
		for (int in = 0; in < 2; in++)
			next = c->port_done[in] ? next : fmin(next, c->port_end_s[in]);
	}
	return next;
}

/* Bytes alive on device d at the instant s, from the finished schedule. */
static uint64_t bytes_at(const struct problem *p, struct naive *x, uint32_t d, double s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n_edges; i++) {
		const struct sched_edge *e = &p->edge[i];
		uint32_t key = (uint32_t)e->key;
		bool first = true, used = false;
		double end = x->end_s[e->src];

		for (uint32_t j = 0; j < i; j++)
			first &= p->edge[j].src != e->src || p->edge[j].key != e->key;
		if (!first)
			continue;
		for (uint32_t j = 0; j < p->n_edges; j++) {
			const struct sched_edge *o = &p->edge[j];

			if (o->src != e->src || o->key != e->key || o->dst == SCHED_NONE)
				continue;
			used = true;
			if (p->device[o->dst] == p->device[e->src])
				end = fmax(end, x->end_s[o->dst]);
			else
				end = fmax(end,
					   find_copy(x, e->src, key, p->device[o->dst])->end_s);
		}
		if (p->device[e->src] == d && s >= x->start_s[e->src] && (!used || s < end))
			sum += tensor_bytes(p, e->src, key);
	}
	for (uint32_t i = 0; i < x->n_copies; i++) {
		const struct naive_copy *c = &x->copy[i];
		double end = 0;

		for (uint32_t j = 0; j < p->n_edges; j++)
			if (p->edge[j].src == c->src_task && p->edge[j].key == c->key &&
			    p->edge[j].dst != SCHED_NONE && p->device[p->edge[j].dst] == c->dst)
				end = fmax(end, x->end_s[p->edge[j].dst]);
		if (c->dst == d && s >= c->start_s && s < end)
			sum += c->bytes;
	}
	return sum;
}

static void naive_peaks(const struct problem *p, struct naive *x)
{
	for (uint32_t d = 0; d < p->k; d++) {
		for (uint32_t v = 0; v < p->n; v++)
			if (x->start_s[v] < x->makespan_s)
				x->peak[d] = x->peak[d] > bytes_at(p, x, d, x->start_s[v])
						     ? x->peak[d]
						     : bytes_at(p, x, d, x->start_s[v]);
		for (uint32_t i = 0; i < x->n_copies; i++) {
			uint64_t b = bytes_at(p, x, d, x->copy[i].start_s);

			if (b > x->peak[d] && x->copy[i].start_s < x->makespan_s)
				x->peak[d] = b;
		}
	}
}

static void naive_run(const struct problem *p, struct naive *x)
{
	double now = 0;

	memset(x, 0, sizeof(*x));
	for (uint32_t v = 0; v < p->n; v++)
		x->ready_s[v] = -1;
	naive_ranks(p, x);
	naive_end(p, x, 0);
	for (;;) {
		naive_start(p, x, now);
		double next = next_end(p, x);
		if (next == INFINITY)
			break;
		now = next;
		naive_end(p, x, now);
	}
	for (uint32_t v = 0; v < p->n; v++)
		x->makespan_s = fmax(x->makespan_s, x->end_s[v]);
	naive_peaks(p, x);
}

/* ---- comparison ---- */

/* What a timeliner says that keeps no schedule. */
static bool same_sums(const struct problem *p, const struct naive *x, const struct timeline *t)
{
	bool ok = t->makespan_s == x->makespan_s && t->n_copies == x->n_copies &&
		  t->copied_bytes == x->copied_bytes;

	for (uint32_t d = 0; d < p->k; d++)
		ok &= t->peak_bytes[d] == x->peak[d] &&
		      fabs(t->busy_s[d] - x->busy_s[d]) <= 1e-12 * x->busy_s[d];
	return ok;
}

static bool same(const struct problem *p, const struct naive *x, const struct timeline *t)
{
	bool ok = same_sums(p, x, t);

	for (uint32_t v = 0; v < p->n; v++)
		ok &= t->start_s[v] == x->start_s[v] && t->end_s[v] == x->end_s[v];
	return ok;
}

/* Devices that take turns do not compute at once, no device does two things at once, and with
 * contention no link. */
static bool exclusive(const struct problem *p, const struct sched_dag *d, const struct timeline *t)
{
	for (uint32_t a = 0; a < p->n; a++)
		for (uint32_t b = 0; b < a; b++)
			if ((p->device[a] == p->device[b] ||
			     p->turns[p->device[a] * p->k + p->device[b]]) &&
			    t->start_s[a] < t->end_s[b] && t->start_s[b] < t->end_s[a])
				return false;
	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct sched_copy *c = &t->copy[i];

		if (t->copy_start_s[i] < t->end_s[d->tensor_task[c->tensor]])
			return false;
		for (uint32_t j = 0; j < i && p->contention; j++)
			if (t->copy[j].src == c->src && t->copy[j].dst == c->dst &&
			    t->copy_start_s[i] < t->copy_end_s[j] &&
			    t->copy_start_s[j] < t->copy_end_s[i])
				return false;
	}
	return true;
}

/* A task starts after its inputs are there. */
static bool precedence(const struct problem *p, const struct sched_dag *d, const struct timeline *t)
{
	for (uint32_t u = 0; u < d->n_uses; u++) {
		uint32_t src = d->tensor_task[d->use_tensor[u]], dst = d->use_task[u];
		double there = INFINITY;

		if (p->device[src] == p->device[dst])
			there = t->end_s[src];
		for (uint32_t i = 0; i < t->n_copies; i++)
			if (t->copy[i].tensor == d->use_tensor[u] &&
			    t->copy[i].dst == p->device[dst])
				there = t->copy_end_s[i];
		if (t->start_s[dst] < there)
			return false;
	}
	return true;
}

/* Figures of two timelines; exactly the same. */
static bool equal_sums(const struct timeline *x, const struct timeline *y, uint32_t k)
{
	return x->makespan_s == y->makespan_s && x->n_copies == y->n_copies &&
	       x->copied_bytes == y->copied_bytes &&
	       memcmp(x->busy_s, y->busy_s, k * sizeof(double)) == 0 &&
	       memcmp(x->peak_bytes, y->peak_bytes, k * sizeof(uint64_t)) == 0;
}

/* Moves of a few tasks of base, with other costs for some: distinct tasks. */
static uint32_t draw_moves(struct problem *p, const uint16_t *base, uint32_t *task)
{
	uint32_t n = 1 + draw(p->n < 5 ? p->n : 5), first = draw(p->n - n + 1);

	memcpy(p->device, base, p->n * sizeof(*base));
	for (uint32_t i = 0; i < n; i++) {
		task[i] = first + i;
		p->device[first + i] = (uint16_t)draw(p->k);
	}
	return n;
}

/* Placements that differ in a few tasks, from a base that moves on now and then: the same as from
 * the beginning; and nothing that is not above a limit is called so. */
static void moves(void)
{
	enum { PROBLEMS = 400, MOVES = 30 };
	struct arena *a = arena_new();
	uint32_t equal = 0, total = 0, stopped = 0, wrong = 0, bases = 0, missed = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct problem p;
		struct sched_dag d;
		uint16_t base[MAX_N];
		uint32_t task[5];
		const struct timeline *x, *y;
		bool is_base;

		random_problem(&p, i % 8 ? 24 : MAX_N, i % 3 ? 2 : MAX_K, i % 8 ? 60 : MAX_E,
			       false);
		if (i % 2)
			add_sync_points(&p);
		sched_dag_build(&d, p.n, p.edge, p.n_edges, a);
		struct sched_costs c = costs_of(&p);
		struct timeliner *once = timeliner_new(&d, &c, false),
				 *again = timeliner_new(&d, &c, false);
		memcpy(base, p.device, sizeof(base));
		bool begun = timeline_run_base(again, base, &x, &is_base) == TIMELINE_OK;
		bool may = p.contention && p.overlap && p.policy == SCHED_RANK;
		missed += !begun || is_base != may;
		for (uint32_t j = 0; begun && is_base && j < MOVES; j++) {
			uint32_t n = draw_moves(&p, base, task);
			bool ok = timeline_run(once, p.device, &y) == TIMELINE_OK;
			double limit = y->makespan_s * (draw(3) ? 0.5 + draw(100) * 0.01 : 1);

			total++;
			equal += ok &&
				 timeline_rerun(again, p.device, task, n, INFINITY, &x) ==
					 TIMELINE_OK &&
				 equal_sums(x, y, p.k);
			bool above = timeline_rerun(again, p.device, task, n, limit, &x) ==
				     TIMELINE_ABOVE;
			stopped += above;
			wrong += above ? y->makespan_s <= limit : !equal_sums(x, y, p.k);
			if (draw(4))
				continue;
			timeline_rebase(again);
			memcpy(base, p.device, sizeof(base));
			bases++;
		}
		timeliner_free(once);
		timeliner_free(again);
		arena_reset(a);
	}
	arena_free(a);
	tap(missed == 0, "a run is a base where the rules allow it");
	tap(equal == total && bases > 0, "a few tasks moved: as from the beginning (%u, %u bases)",
	    total, bases);
	tap(wrong == 0 && stopped > total / 8, "only what is above a limit is stopped (%u)",
	    stopped);
}

static void random_cases(void)
{
	struct arena *a = arena_new();
	uint32_t equal = 0, alone = 0, ordered = 0, repeated = 0, brief = 0;

	for (int i = 0; i < CASES + MANY + LARGE; i++) {
		struct problem p;
		static struct naive x;
		struct sched_dag d;
		struct sched_edge edges[MAX_E];
		const struct timeline *t;

		if (i < CASES)
			random_problem(&p, 24, 4, 80, true);
		else if (i < CASES + MANY)
			random_problem(&p, 24, MAX_K, 80, true);
		else
			random_problem(&p, MAX_N, 4, MAX_E, true);
		naive_run(&p, &x);
		memcpy(edges, p.edge, sizeof(edges));
		sched_dag_build(&d, p.n, edges, p.n_edges, a);
		struct sched_costs c = costs_of(&p);
		struct timeliner *clock = timeliner_new(&d, &c, true);
		bool ok = timeline_run(clock, p.device, &t) == TIMELINE_OK;
		equal += ok && same(&p, &x, t);
		alone += exclusive(&p, &d, t);
		ordered += precedence(&p, &d, t);
		/* Another placement in between leaves nothing behind. */
		uint16_t zero[MAX_N] = {0};
		ok = timeline_run(clock, zero, &t) == TIMELINE_OK && t->n_copies == 0;
		repeated +=
			ok && timeline_run(clock, p.device, &t) == TIMELINE_OK && same(&p, &x, t);
		timeliner_free(clock);
		clock = timeliner_new(&d, &c, false);
		for (int twice = 0; twice < 2; twice++)
			brief += timeline_run(clock, p.device, &t) == TIMELINE_OK &&
				 same_sums(&p, &x, t);
		timeliner_free(clock);
		arena_reset(a);
	}
	arena_free(a);
	uint32_t all = CASES + MANY + LARGE;
	printf("# %u %u %u %u of %u\n", equal, alone, ordered, repeated, all);
	tap(equal == all, "random schedules equal the naive simulator's, peaks included");
	tap(alone == all, "no device and no contended link does two things at once");
	tap(ordered == all, "no task starts before its inputs are there");
	tap(brief == 2 * all, "without a schedule the figures are the same");
	tap(repeated == all, "a run leaves nothing behind for the next");
}

/* Graphs about as large as the common case allows: without a schedule, which only then is the
 * common case, figures are those with one; and with the last task moved. */
enum { AROUND = 4097 };

static bool around(uint32_t n, uint32_t k, struct arena *a, bool *moved)
{
	static double task_s[AROUND * 3], latency_s[9], bytes_per_s[9];
	static struct sched_edge edge[AROUND];
	static uint16_t device[AROUND];
	const struct timeline *x, *y;
	struct sched_dag d;
	uint32_t last = n - 1;
	bool is_base;

	for (uint32_t i = 0; i < k * k; i++) {
		latency_s[i] = i % (k + 1) ? 1 : 0;
		bytes_per_s[i] = i % (k + 1) ? 1 : INFINITY;
	}
	for (uint32_t v = 0; v < n; v++) {
		device[v] = (uint16_t)draw(k);
		for (uint32_t dev = 0; dev < k; dev++)
			task_s[v * k + dev] = 1 + draw(4);
		edge[v] = (struct sched_edge){v ? v - 1 - draw(v < 9 ? v : 9) : 0,
					      v ? v : SCHED_NONE, 0, 1};
	}
	sched_dag_build(&d, n, edge, n, a);
	struct sched_costs c = {
		.task_s = task_s,
		.links = {.k = k, .latency_s = latency_s, .bytes_per_s = bytes_per_s},
		.contention = true,
		.overlap = true};
	struct timeliner *full = timeliner_new(&d, &c, true), *brief = timeliner_new(&d, &c, false);
	bool right = timeline_run(full, device, &x) == TIMELINE_OK &&
		     timeline_run_base(brief, device, &y, &is_base) == TIMELINE_OK &&
		     equal_sums(x, y, k);
	device[last] = (uint16_t)((device[last] + 1) % k);
	*moved = right && timeline_run(full, device, &x) == TIMELINE_OK &&
		 timeline_rerun(brief, device, &last, 1, INFINITY, &y) == TIMELINE_OK &&
		 equal_sums(x, y, k);
	timeliner_free(full);
	timeliner_free(brief);
	return right;
}

static void around_small(void)
{
	struct arena *a = arena_new();
	uint32_t right = 0, again = 0, total = 0;

	for (uint32_t n = AROUND - 2; n <= AROUND; n++)
		for (uint32_t k = 2; k <= 3; k++, total++) {
			bool moved;

			right += around(n, k, a, &moved);
			again += moved;
			arena_reset(a);
		}
	arena_free(a);
	tap(right == total, "about as many tasks as the common case allows (%u)", right);
	tap(again == total, "and one of them moved (%u)", again);
}

/* ---- by hand ---- */

static struct timeliner *diamond(struct arena *a, struct sched_costs *c, struct sched_dag *d)
{
	/* 0 -> 1, 2 -> 3; device 0 takes 2 s a task, device 1 takes 1 s; a copy takes 1 + 2 s. */
	static double cost[8] = {2, 1, 2, 1, 2, 1, 2, 1}, lat[4] = {0, 1, 1, 0}, bw[4];
	struct sched_edge e[] = {{0, 1, 0, 4}, {0, 2, 0, 4}, {1, 3, 0, 4}, {2, 3, 0, 4}};

	bw[0] = bw[3] = INFINITY;
	bw[1] = bw[2] = 2;
	sched_dag_build(d, 4, e, 4, a);
	*c = (struct sched_costs){.task_s = cost,
				  .links = {.k = 2, .latency_s = lat, .bytes_per_s = bw},
				  .contention = true,
				  .overlap = true};
	return timeliner_new(d, c, true);
}

static void by_hand(void)
{
	struct arena *a = arena_new();
	struct sched_costs c;
	struct sched_dag d;
	const struct timeline *t;
	struct timeliner *x = diamond(a, &c, &d);
	enum timeline_status s;

	tap(timeline_run(x, (uint16_t[]){0, 0, 0, 0}, &t) == TIMELINE_OK && t->makespan_s == 8 &&
		    t->n_copies == 0 && t->peak_bytes[0] == 12,
	    "all on one device: the sum, no copies");
	/* 0 ends at 1; its tensor is at device 0 at 4; 1 and 2 run at 4 and 6; 3 at 8..10. */
	s = timeline_run(x, (uint16_t[]){1, 0, 0, 0}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 10 && t->n_copies == 1 && t->copied_bytes == 4,
	    "one copy serves two consumers");
	/* 0 ends at 2; 1 runs 2..4, the copy 2..5; 2 on device 1 5..6, back 6..9; 3 9..11. */
	s = timeline_run(x, (uint16_t[]){0, 0, 1, 0}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 11 && t->busy_s[0] == 6 && t->busy_s[1] == 1,
	    "copies overlap with computing");
	/* 1 and 2 on device 0, 3 on device 1: copies 4..7 and, after it, 7..10. */
	s = timeline_run(x, (uint16_t[]){0, 0, 0, 1}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 11 && t->copy_start_s[1] == 7,
	    "a second copy waits for the link");
	timeliner_free(x);
	c.contention = false;
	x = timeliner_new(&d, &c, true);
	s = timeline_run(x, (uint16_t[]){0, 0, 0, 1}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 10 && t->copy_start_s[1] == 6,
	    "unless the link carries several");
	c.contention = true;
	c.overlap = false;
	timeliner_free(x);
	x = timeliner_new(&d, &c, true);
	/* The copy of 1's output (4..7) stops device 0; 2 runs 7..9, its copy 9..12, 3 at 13. */
	s = timeline_run(x, (uint16_t[]){0, 0, 0, 1}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 13 && t->start_s[2] == 7,
	    "without overlap a copy occupies both devices and goes first");
	timeliner_free(x);
	c.copy_holds = (const uint8_t[]){0, COPY_HOLDS_DST, COPY_HOLDS_SRC, 0};
	x = timeliner_new(&d, &c, true);
	/* Device 0 computes while it copies: as with overlap. */
	s = timeline_run(x, (uint16_t[]){0, 0, 0, 1}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 11 && t->start_s[2] == 4,
	    "a device that copies do not hold computes meanwhile");
	/* The copy of 0's output (1..4) holds device 1: 2 runs there 4..5, 1 on device 0 4..6; the
	 * copy of 2's output 5..8; 3 8..10. */
	s = timeline_run(x, (uint16_t[]){1, 0, 1, 0}, &t);
	tap(s == TIMELINE_OK && t->makespan_s == 10 && t->start_s[2] == 4 && t->start_s[1] == 4,
	    "one that they hold does not");
	timeliner_free(x);
	arena_free(a);
}

static void impossible(void)
{
	struct arena *a = arena_new();
	struct sched_edge e[] = {{0, 1, 0, 4}};
	double cost[4] = {1, -1, 1, 1}, lat[4] = {0, -1, 1, 0},
	       bw[4] = {INFINITY, INFINITY, 1, INFINITY};
	struct sched_dag d;
	const struct timeline *t;

	sched_dag_build(&d, 2, e, 1, a);
	struct sched_costs c = {.task_s = cost,
				.links = {.k = 2, .latency_s = lat, .bytes_per_s = bw},
				.contention = true,
				.overlap = true};
	struct timeliner *x = timeliner_new(&d, &c, false);
	tap(timeline_run(x, (uint16_t[]){1, 1}, &t) == TIMELINE_CANNOT_RUN && t->bad_task == 0 &&
		    t->bad_dev == 1,
	    "a task without a cost there is named");
	tap(timeline_run(x, (uint16_t[]){0, 1}, &t) == TIMELINE_NO_LINK && t->bad_task == 0 &&
		    t->bad_dev == 1,
	    "a missing link is named");
	tap(timeline_run(x, (uint16_t[]){0, 0}, &t) == TIMELINE_OK && t->makespan_s == 2,
	    "and the next placement is unharmed");
	timeliner_free(x);
	sched_dag_build(&d, 0, e, 0, a);
	x = timeliner_new(&d, &c, false);
	tap(timeline_run(x, NULL, &t) == TIMELINE_OK && t->makespan_s == 0,
	    "a graph without tasks");
	timeliner_free(x);
	arena_free(a);
}

/* ---- ports by hand ---- */

enum { GPUS = 16, A_NODE = 8, SLICE = 4096 };

/* Links between GPUS devices, all by one name; or, with `nodes`, those of a node by name 0, at
 * rate[0], and those between nodes by name 1, at rate[1].  Latency and rates are powers of 2: times
 * are exact. */
struct cluster {
	double cost[2 * GPUS * GPUS], latency_s[GPUS * GPUS], bytes_per_s[GPUS * GPUS];
	double untold[2 * GPUS];
	uint32_t of[GPUS * GPUS];
	struct sched_ports ports;
	struct sched_costs c;
};

static const double CLUSTER_LATENCY_S = 0.25, CLUSTER_RATE[] = {8192, 1024};

static void make_cluster(struct cluster *x, bool nodes)
{
	memset(x, 0, sizeof(*x));
	for (uint32_t i = 0; i < GPUS * GPUS; i++) {
		uint32_t name = nodes && i / GPUS / A_NODE != i % GPUS / A_NODE;

		x->latency_s[i] = i / GPUS == i % GPUS ? 0 : CLUSTER_LATENCY_S;
		x->bytes_per_s[i] = i / GPUS == i % GPUS ? INFINITY : CLUSTER_RATE[name];
		x->of[i] = name;
	}
	x->ports = (struct sched_ports){2, x->of, x->untold, x->untold};
	x->c = (struct sched_costs){.task_s = x->cost,
				    .links = {.k = GPUS,
					      .latency_s = x->latency_s,
					      .bytes_per_s = x->bytes_per_s,
					      .ports = &x->ports},
				    .contention = true,
				    .overlap = true};
}

/* The makespan of 2 x GPUS tasks that take no time: task d, on device d, makes a slice for task GPUS
 * + t, on device t, where send[d * GPUS + t] is not 0; end_s (GPUS,GPUS): when they arrive. */
static double send_slices(const struct cluster *x, const uint8_t *send, double *end_s)
{
	struct arena *a = arena_new();
	struct sched_edge edge[GPUS * GPUS];
	uint16_t device[2 * GPUS];
	const struct timeline *t;
	struct sched_dag d;
	uint32_t n = 0;

	for (uint32_t i = 0; i < GPUS * GPUS; i++)
		if (send[i])
			edge[n++] = (struct sched_edge){i / GPUS, GPUS + i % GPUS, i % GPUS, SLICE};
	for (uint32_t v = 0; v < 2 * GPUS; v++)
		device[v] = (uint16_t)(v % GPUS);
	sched_dag_build(&d, 2 * GPUS, edge, n, a);
	struct timeliner *clock = timeliner_new(&d, &x->c, true);
	bool ok = timeline_run(clock, device, &t) == TIMELINE_OK;
	double makespan_s = ok ? t->makespan_s : INFINITY;

	for (uint32_t i = 0; ok && i < t->n_copies; i++)
		end_s[t->copy[i].src * GPUS + t->copy[i].dst] = t->copy_end_s[i];
	timeliner_free(clock);
	arena_free(a);
	return makespan_s;
}

static void ports_by_hand(void)
{
	static struct cluster x;
	uint8_t star[GPUS * GPUS] = {0}, gather[GPUS * GPUS] = {0}, pair[GPUS * GPUS] = {0},
			    all[GPUS * GPUS];
	double end_s[GPUS * GPUS], byte_s = 1 / CLUSTER_RATE[0], slice_s = SLICE * byte_s;
	bool in_turn = true, gathered = true;

	make_cluster(&x, false);
	for (uint32_t d = 1; d < 4; d++)
		star[d] = gather[d * GPUS] = 1;
	pair[1] = pair[GPUS] = 1;
	for (uint32_t i = 0; i < GPUS * GPUS; i++)
		all[i] = i / GPUS != i % GPUS;
	double s = send_slices(&x, star, end_s);
	for (uint32_t d = 1; d < 4; d++)
		in_turn &= end_s[d] == CLUSTER_LATENCY_S + d * slice_s;
	tap(in_turn && s == CLUSTER_LATENCY_S + 3 * slice_s,
	    "what leaves a device goes through its out port one after the other");
	s = send_slices(&x, gather, end_s);
	/* By rank, which are equal: lower tasks first. */
	for (uint32_t d = 1; d < 4; d++)
		gathered &= end_s[d * GPUS] == CLUSTER_LATENCY_S + d * slice_s;
	tap(gathered && s == CLUSTER_LATENCY_S + 3 * slice_s,
	    "and what reaches one through its in port");
	s = send_slices(&x, pair, end_s);
	tap(s == CLUSTER_LATENCY_S + slice_s, "both at once: ports are full duplex");
	x.c.contention = false;
	s = send_slices(&x, all, end_s);
	tap(s == CLUSTER_LATENCY_S + slice_s, "without contention ports do not count");
	make_cluster(&x, true);
	s = send_slices(&x, all, end_s);
	/* In each of A_NODE rounds every device has one partner (i xor round). */
	double within_s = CLUSTER_LATENCY_S + (A_NODE - 1) * slice_s,
	       between_s = CLUSTER_LATENCY_S + A_NODE * SLICE / CLUSTER_RATE[1];
	bool within = true;
	for (uint32_t i = 0; i < GPUS * GPUS; i++)
		within &= !all[i] || end_s[i] <= (x.of[i] ? between_s : within_s);
	tap(within && s == between_s,
	    "slices of 16 devices in two nodes: as long as the slowest "
	    "port's, %g s; other names do not wait",
	    s);
	x.c.links.ports = NULL;
	s = send_slices(&x, all, end_s);
	tap(s == CLUSTER_LATENCY_S + SLICE / CLUSTER_RATE[1], "without ports all at once");
	for (uint32_t d = 0; d < GPUS; d++)
		x.untold[2 * d] = CLUSTER_RATE[0] / 4;
	x.c.links.ports = &x.ports;
	sched_links_limit(&x.c.links);
	s = send_slices(&x, pair, end_s);
	tap(s == CLUSTER_LATENCY_S + 4 * slice_s, "no link is faster than its ports");
}

int main(void)
{
	by_hand();
	ports_by_hand();
	impossible();
	random_cases();
	around_small();
	moves();
	return tap_end();
}
