/* anneal.c - simulated annealing: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated
 * annealing", Science 220 (1983).  Chains are independent; each starts hotter or from another start
 * than the one before it, and their results do not depend on how many threads run them.
 *
 * What is minimised is smooth where the rules are not: a little of the mean load (schedules,
 * latency) or a norm of the loads in the place of their maximum (throughput), and memory beyond a
 * limit has a price. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "base/rng.h"
#include "place/method.h"
#include "place/search.h"
#include "place/units.h"

enum { CHAINS = 8, MAX_PATCH = 32, REPRICE = 512 };
static const double HOT = 0.05, COLD = 2e-5;       /* temperatures, of the start's energy */
static const double REHEAT = 0.1;              /* chains that go on from the best so far, in every other round */
static const double LOAD_SHARE = 0.02;
static const double CHEAP = 0.3, DEAR = 300;        /* price of memory beyond a limit, first and last */
enum { NORM = 12 };

/* A stream of random numbers for one chain. */
struct dice {
	struct rng_addr a;
	uint32_t next, at, word[4];
};

static uint32_t dice_word(struct dice *d)
{
	if (d->at == 0)
		rng_block(&d->a, d->next++, d->word);
	uint32_t x = d->word[d->at];

	d->at = (d->at + 1) % 4;
	return x;
}

static uint32_t dice_below(struct dice *d, uint32_t n)
{
	return (uint32_t)((uint64_t)dice_word(d) * n >> 32);
}

static double dice_uniform(struct dice *d)
{
	return dice_word(d) * 0x1p-32;
}

struct chain {
	const struct method_run *r;
	const struct place_units *u;
	const uint32_t *ptr, *adj;   /* units that exchange data, each pair both ways */
	const uint32_t *order[2];    /* (units) topological: by number, and depth first */
	double deadline_s;           /* 0: none */
	uint64_t evals;
	uint32_t number;
	uint16_t *device;            /* (n_sets) in: the start; out: the best */
	double best_s;               /* INFINITY: nothing legal was seen */
	uint64_t used;
	double price, heat;          /* heat: of HOT, at the beginning */
	struct evaluator *ev;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- energy ---- */

static double load_norm(const double *load, uint32_t k, double largest)
{
	double sum = 0;

	for (uint32_t d = 0; largest > 0 && d < k; d++) {
		double x = load[d] / largest, y = x * x * x;

		sum += y * y * y * y;    /* NORM 12 */
	}
	return largest > 0 ? largest * pow(sum, 1.0 / NORM) : 0;
}

/* Of the placement that the evaluator is at.  *lat_s: of a legal one, else INFINITY. */
static double energy(const struct chain *c, double *lat_s)
{
	const struct place_model *m = c->r->m;
	const struct place_result *p = place_moved(c->ev);
	double over = 0, sum = 0, e;

	*lat_s = INFINITY;
	if (p->status != PLACE_OK && p->status != PLACE_MEMORY)
		return INFINITY;
	for (uint32_t d = 0; d < m->k; d++) {
		sum += p->busy_s[d];
		if (m->mem_limit[d] && p->mem_bytes[d] > m->mem_limit[d])
			over += (double)p->mem_bytes[d] / (double)m->mem_limit[d] - 1;
	}
	if (p->status == PLACE_OK)
		*lat_s = p->lat_s;
	e = m->rules == PLACE_DNNPART_THROUGHPUT ? load_norm(p->busy_s, m->k, p->lat_s) :
						   p->lat_s + LOAD_SHARE * sum / m->k;
	return e * (1 + c->price * over);
}

/* ---- moves ---- */

struct change {
	uint32_t n, *unit;           /* room for all units */
	uint16_t *was;
};

static uint16_t device_of(const struct chain *c, const uint16_t *device, uint32_t unit)
{
	return device[c->u->set[c->u->ptr[unit]]];
}

static bool may_run(const struct chain *c, uint32_t unit, uint16_t dev)
{
	for (uint32_t i = c->u->dev_ptr[unit]; i < c->u->dev_ptr[unit + 1]; i++)
		if (c->u->dev[i] == dev)
			return true;
	return false;
}

static void set_unit(const struct chain *c, uint16_t *device, uint32_t unit, uint16_t dev)
{
	place_unit_set(c->u, unit, dev, device);
	for (uint32_t i = c->u->ptr[unit]; i < c->u->ptr[unit + 1]; i++)
		place_move(c->ev, c->u->set[i], dev);
}

static void move(const struct chain *c, uint16_t *device, uint32_t unit, uint16_t dev,
		 struct change *x)
{
	uint16_t was = device_of(c, device, unit);

	if (was == dev || !may_run(c, unit, dev))
		return;
	x->unit[x->n] = unit;
	x->was[x->n++] = was;
	set_unit(c, device, unit, dev);
}

static void undo(const struct chain *c, uint16_t *device, struct change *x)
{
	while (x->n) {
		x->n--;
		set_unit(c, device, x->unit[x->n], x->was[x->n]);
	}
}

/* A device for a unit: half of the time a neighbour's. */
static uint16_t draw_device(const struct chain *c, struct dice *d, const uint16_t *device,
			    uint32_t unit)
{
	uint32_t near = c->ptr[unit + 1] - c->ptr[unit], n = c->u->dev_ptr[unit + 1] - c->u->dev_ptr[unit];

	if (near && dice_below(d, 4) != 0)
		return device_of(c, device, c->adj[c->ptr[unit] + dice_below(d, near)]);
	return c->u->dev[c->u->dev_ptr[unit] + dice_below(d, n)];
}

/* All units of device `home` (or any) in a part of one of the orders; lengths of all magnitudes. */
static void move_run(const struct chain *c, struct dice *d, uint16_t *device, uint16_t home, uint16_t to,
		     struct change *x)
{
	const uint32_t *order = c->order[dice_below(d, 2)];
	bool any = dice_below(d, 4) == 0;
	uint32_t n = c->u->n, length = (uint32_t)exp(dice_uniform(d) * log(n + 1)), from = dice_below(d, n);

	for (uint32_t i = from; i < n && i - from < length; i++)
		if (any || device_of(c, device, order[i]) == home)
			move(c, device, order[i], to, x);
}

/* A connected patch of one device around `unit`, breadth first. */
static void move_patch(const struct chain *c, uint32_t size, uint16_t *device, uint32_t unit, uint16_t to,
		       struct change *x)
{
	uint16_t home = device_of(c, device, unit);

	move(c, device, unit, to, x);
	for (uint32_t from = 0; from < x->n && x->n < size; from++) {
		uint32_t v = x->unit[from];

		for (uint32_t i = c->ptr[v]; i < c->ptr[v + 1] && x->n < size; i++)
			if (device_of(c, device, c->adj[i]) == home)
				move(c, device, c->adj[i], to, x);
	}
}

/* One unit; two that change places; a run of units in topological order; a patch. */
static void draw_move(const struct chain *c, struct dice *d, uint16_t *device, struct change *x)
{
	uint32_t n = c->u->n, unit = dice_below(d, n), kind = dice_below(d, 8), other;

	x->n = 0;
	if (c->u->dev_ptr[unit] == c->u->dev_ptr[unit + 1])
		return;
	uint16_t home = device_of(c, device, unit), to = draw_device(c, d, device, unit);

	switch (kind) {
	case 0:
		other = dice_below(d, n);
		to = device_of(c, device, other);
		move(c, device, unit, to, x);
		if (x->n)
			move(c, device, other, home, x);
		break;
	case 1:
		move_run(c, d, device, home, to, x);
		break;
	case 2:
	case 3:
		move_patch(c, 1 + dice_below(d, kind == 2 ? 4 : MAX_PATCH), device, unit, to, x);
		break;
	default:
		move(c, device, unit, to, x);
	}
}

/* ---- a chain ---- */

static void run_chain(void *arg, int task, int thread)
{
	struct chain *c = (struct chain *)arg + task;
	const struct place_model *m = c->r->m;
	struct dice d = {.a = {c->r->seed, 0, c->number, RNG_SEARCH + 16}};
	uint16_t *device = MEM_NEWN(uint16_t, m->n_sets);
	struct change change = {0, MEM_NEWN(uint32_t, c->u->n), MEM_NEWN(uint16_t, c->u->n)};
	double lat_s, start_s = now_s();

	(void)thread;
	memcpy(device, c->device, m->n_sets * sizeof(*device));
	c->price = CHEAP;
	c->ev = evaluator_new(m);
	place_begin(c->ev, device);
	double e = energy(c, &lat_s), scale = e, share = 0;

	c->best_s = lat_s;
	for (c->used = 1; c->used < c->evals; c->used++) {
		if (c->deadline_s > 0 && c->used % 64 == 0)
			share = fmax(share, (now_s() - start_s) / (c->deadline_s - start_s));
		if (share >= 1)
			break;
		double done = fmax(share, (double)c->used / (double)c->evals);
		double t = scale * HOT * c->heat * pow(COLD / (HOT * c->heat), done);
		if (c->used % REPRICE == 0) {
			c->price = CHEAP * pow(DEAR / CHEAP, fmin(1, 1.5 * done));
			place_begin(c->ev, device);
			e = energy(c, &lat_s);
		}
		draw_move(c, &d, device, &change);
		if (change.n == 0)
			continue;
		double after = energy(c, &lat_s);

		if (after > e && !(dice_uniform(&d) < exp((e - after) / t))) {
			undo(c, device, &change);
			continue;
		}
		e = after;
		if (scale > 4 * e || scale == INFINITY)
			scale = e;
		if (lat_s < c->best_s) {
			c->best_s = lat_s;
			memcpy(c->device, device, m->n_sets * sizeof(*device));
		}
	}
	mem_free(change.unit);
	mem_free(change.was);
	mem_free(device);
	evaluator_free(c->ev);
}

/* ---- rounds of chains ---- */

/* Units that exchange data, each pair in both rows. */
static void neighbours(const struct place_units *u, struct arena *a, uint32_t **ptr, uint32_t **adj)
{
	const struct sched_dag *d = &u->m->tasks.dag;
	uint32_t *p = ARENA_NEWN(a, uint32_t, (size_t)u->n + 2);
	uint32_t *x = ARENA_NEWN(a, uint32_t, 2 * (size_t)d->n_uses);

	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t i = 0; i < d->n_uses; i++) {
			uint32_t from = u->of_set[u->m->tasks.task_set[d->tensor_task[d->use_tensor[i]]]];
			uint32_t to = u->of_set[u->m->tasks.task_set[d->use_task[i]]];

			if (from == to)
				continue;
			if (fill) {
				x[p[from + 1]++] = to;
				x[p[to + 1]++] = from;
			} else {
				p[from + 2]++;
				p[to + 2]++;
			}
		}
		for (uint32_t i = 0; !fill && i < u->n; i++)
			p[i + 2] += p[i + 1];
	}
	*ptr = p;
	*adj = x;
}

/* A topological order that follows one branch to its end before it takes the next: units by
 * descending end of a search along edges that starts from the last unit. */
static const uint32_t *depth_first(const struct place_units *u, const uint32_t *ptr, const uint32_t *adj,
				   struct arena *a)
{
	uint32_t *order = ARENA_NEWN(a, uint32_t, u->n), *at = ARENA_NEWN(a, uint32_t, u->n);
	uint32_t *stack = ARENA_NEWN(a, uint32_t, u->n), n_stack, left = u->n;
	bool *seen = ARENA_NEWN(a, bool, u->n);

	memcpy(at, ptr, u->n * sizeof(*at));
	for (uint32_t root = u->n; root-- > 0;) {
		if (seen[root])
			continue;
		seen[root] = true;
		stack[0] = root;
		n_stack = 1;
		while (n_stack) {
			uint32_t v = stack[n_stack - 1];

			while (at[v] < ptr[v + 1] && (adj[at[v]] < v || seen[adj[at[v]]]))
				at[v]++;
			if (at[v] == ptr[v + 1]) {
				order[--left] = v;
				n_stack--;
			} else {
				seen[adj[at[v]]] = true;
				stack[n_stack++] = adj[at[v]];
			}
		}
	}
	return order;
}

/* Units in topological order onto devices, the fastest first, each until its memory is full. */
static void fill_in_turn(const struct place_units *u, const uint32_t *order, uint16_t *device)
{
	const struct place_model *m = u->m;
	double *sum = MEM_NEWN(double, m->k);
	uint64_t *mem = MEM_NEWN(uint64_t, m->k);
	bool *closed = MEM_NEWN(bool, m->k);
	uint32_t i = 0, now = 0;

	for (uint32_t j = 0; j < u->n; j++)
		for (uint32_t d = 0; d < m->k; d++)
			sum[d] += fmax(u->cost_s[(size_t)j * m->k + d], 0);
	while (i < u->n) {
		for (now = 0; now < m->k && closed[now];)
			now++;
		for (uint32_t d = now + 1; d < m->k; d++)
			if (!closed[d] && sum[d] < sum[now])
				now = d;
		if (now == m->k)
			break;
		for (; i < u->n; i++) {
			uint32_t v = order[i];
			bool may = u->cost_s[(size_t)v * m->k + now] >= 0;

			if (m->mem_limit[now] && mem[now] + u->mem[v] > m->mem_limit[now])
				break;
			if (may || u->dev_ptr[v] < u->dev_ptr[v + 1])
				place_unit_set(u, v, may ? now : u->dev[u->dev_ptr[v]], device);
			mem[now] += may ? u->mem[v] : 0;
		}
		closed[now] = true;
	}
	mem_free(sum);
	mem_free(mem);
	mem_free(closed);
}

enum start { START_FILL, START_SINGLE, START_HEFT, START_RANDOM, N_STARTS };

static void first_placement(struct method_run *r, uint32_t number, struct evaluator *x,
			    const struct place_units *u, const uint32_t *const *order,
			    uint16_t *device)
{
	struct err none = ERR_INIT;
	double lat_s;
	int dev;

	search_random(r->m, r->seed, number, number / N_STARTS % 2, device);
	switch ((enum start)(number % N_STARTS)) {
	case START_FILL:
		fill_in_turn(u, order[number / N_STARTS % 2], device);
		break;
	case START_SINGLE:
		dev = place_best_single(x, &lat_s);
		for (uint32_t i = 0; dev >= 0 && i < r->m->n_sets; i++)
			device[i] = (uint16_t)dev;
		break;
	case START_HEFT:
		if (search_heft(r->m, device, &lat_s, &none) == 0)
			break;
		search_random(r->m, r->seed, number, false, device);
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < u->n; i++)
		if (u->dev_ptr[i] < u->dev_ptr[i + 1])
			place_unit_set(u, i, device[u->set[u->ptr[i]]], device);
}

void anneal(struct method_run *r)
{
	struct place_units u;
	uint32_t *ptr, *adj, *plain;
	struct chain chain[CHAINS];
	struct pool *pool = pool_new(r->threads, NULL);
	struct evaluator *x = evaluator_new(r->m);
	double best = INFINITY, start_s = now_s();
	uint64_t used = 0;
	uint32_t n_chains = r->budget_s > 0 ? (uint32_t)r->threads : CHAINS, round = 0;

	if (n_chains > CHAINS)
		n_chains = CHAINS;
	place_units_init(&u, r->m, r->a);
	neighbours(&u, r->a, &ptr, &adj);
	plain = ARENA_NEWN(r->a, uint32_t, u.n);
	for (uint32_t i = 0; i < u.n; i++)
		plain[i] = i;
	const uint32_t *order[2] = {plain, depth_first(&u, ptr, adj, r->a)};
	for (uint32_t i = 0; i < CHAINS; i++)
		chain[i].device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	do {
		double left = start_s + r->budget_s - now_s(), length = fmin(left, r->budget_s / 6);

		if (left < r->budget_s / 4)
			length = left;
		for (uint32_t i = 0; i < n_chains; i++) {
			uint16_t *device = chain[i].device;

			chain[i] = (struct chain){
				.r = r, .u = &u, .ptr = ptr, .adj = adj, .device = device,
				.order = {order[0], order[1]},
				.number = round * n_chains + i,
				.evals = r->budget_s > 0 ? UINT64_MAX : 1 + r->evals / n_chains,
				.deadline_s = r->budget_s > 0 ? now_s() + length : 0};
			first_placement(r, chain[i].number, x, &u, order, device);
			chain[i].heat = 1;
			if (round % 2 && best < INFINITY) {
				chain[i].heat = REHEAT;
				memcpy(device, r->device, r->m->n_sets * sizeof(*device));
			}
		}
		pool_run(pool, (int)n_chains, run_chain, chain);
		for (uint32_t i = 0; i < n_chains; i++) {
			used += chain[i].used;
			if (chain[i].best_s < best || (best == INFINITY && i + round == 0)) {
				best = chain[i].best_s;
				memcpy(r->device, chain[i].device, r->m->n_sets * sizeof(*r->device));
			}
		}
		round++;
	} while (r->budget_s > 0 && now_s() - start_s < 0.99 * r->budget_s);
	evaluator_free(x);
	pool_free(pool);
	snprintf(r->note, sizeof(r->note), "%llu evaluations, %.6g s", (unsigned long long)used, best);
}

int method_anneal(struct method_run *r, struct err *e)
{
	anneal(r);
	return r->emit(r, e);
}
