/* closed_loop.c - the graph of all copies, and what its schedule says. */
#include "place/simulate/closed_loop.h"

#include <math.h>
#include <string.h>

#include "place/simulate/evaluate_impl.h"
#include "stats/quantile.h"

/* One device more, the last, has the ends of copies: a task of no time, which all that ends a copy goes to, and from which
 * the copy behind begins, by links that take no time either. */
struct closed_loop {
	const struct place_model *m;
	uint32_t n, copies, tasks; /* tasks of a copy, its end included */
	struct arena *arena;
	struct sched_dag dag;
	struct sched_costs costs;
	double *task_s; /* (copies tasks, k + 1) */
	double *rank;
	uint32_t *delayed_by;
	uint16_t *device;
	uint32_t rows;           /* placements */
	double *begin_s, *end_s; /* (copies) */
	uint8_t *held;           /* (tasks - 1, k) a placement has the task there */
	uint64_t *tensor_bytes;  /* (k) of all requests at their peaks */
	double *row_busy_s;      /* (rows, k) of one inference */
	double *row_share;       /* (rows) of all requests */
	struct timeliner *clock;
};

/* ---- the graph of all copies ---- */

struct edges {
	struct sched_edge *e;
	size_t n, cap;
};

static void add_edge(struct edges *x, uint32_t src, uint32_t dst, uint64_t key, uint64_t bytes)
{
	x->e = mem_grow(x->e, &x->cap, x->n + 1, sizeof *x->e);
	x->e[x->n++] = (struct sched_edge){src, dst, key, bytes};
}

static bool is_read(const struct sched_dag *d, uint32_t task)
{
	for (uint32_t t = d->out_ptr[task]; t < d->out_ptr[task + 1]; t++)
		if (d->use_ptr[t] < d->use_ptr[t + 1])
			return true;
	return false;
}

/* Copy j: its tasks, its end, and what waits for the end of copy j - n. */
static void add_copy(const struct closed_loop *x, uint32_t j, struct edges *to)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	uint32_t first = j * x->tasks, end = first + d->n;
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t src = first + d->tensor_task[t];
		add_edge(to, src, SCHED_NONE, t, d->tensor_bytes[t]);
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			add_edge(to, src, first + d->use_task[u], t, d->tensor_bytes[t]);
	}
	for (uint32_t v = 0; v < d->n; v++) {
		if (!is_read(d, v))
			add_edge(to, first + v, end, d->n_tensors, 0);
		if (j >= x->n && d->in_ptr[v] == d->in_ptr[v + 1])
			add_edge(to, end - x->n * x->tasks, first + v, 0, 0);
	}
}

/* ---- devices and links, and one more ---- */

static void widen_links(struct closed_loop *x)
{
	const struct sched_costs *c = &x->m->costs;
	uint32_t k = x->m->k, w = k + 1;
	size_t all = (size_t)w * w;
	struct sched_links *l = &x->costs.links;
	uint8_t *turns = ARENA_NEWN(x->arena, uint8_t, all);
	uint8_t *holds = ARENA_NEWN(x->arena, uint8_t, all);
	*l = (struct sched_links){.k = w,
				  .latency_s = ARENA_NEWN(x->arena, double, all),
				  .bytes_per_s = ARENA_NEWN(x->arena, double, all)};
	for (size_t i = 0; i < all; i++)
		l->bytes_per_s[i] = INFINITY;
	for (uint32_t i = 0; i < k * k; i++) {
		size_t at = (size_t)(i / k) * w + i % k;
		l->latency_s[at] = c->links.latency_s[i];
		l->bytes_per_s[at] = c->links.bytes_per_s[i];
		turns[at] = c->turns ? c->turns[i] : 0;
		holds[at] = c->overlap      ? 0
			    : c->copy_holds ? c->copy_holds[i]
					    : COPY_HOLDS_SRC | COPY_HOLDS_DST;
	}
	x->costs.turns = c->turns ? turns : NULL;
	x->costs.copy_holds = c->overlap ? NULL : holds;
}

static void widen_ports(struct closed_loop *x)
{
	const struct sched_ports *p = x->m->costs.links.ports;
	uint32_t k = x->m->k, w = k + 1;
	if (!p)
		return;
	struct sched_ports *to = sched_ports_new(w, p->n, x->arena);
	for (uint32_t i = 0; i < k * k; i++)
		to->of[(size_t)(i / k) * w + i % k] = p->of[i];
	memcpy(to->out_bytes_per_s, p->out_bytes_per_s, (size_t)k * p->n * sizeof(double));
	memcpy(to->in_bytes_per_s, p->in_bytes_per_s, (size_t)k * p->n * sizeof(double));
	x->costs.links.ports = to;
}

static void widen_sharing(struct closed_loop *x)
{
	const struct sched_sharing *s = x->m->costs.links.sharing;
	uint32_t k = x->m->k, w = k + 1;
	if (!s)
		return;
	struct sched_sharing *to = sched_sharing_new(w, s->n_media, s->bytes_per_s, x->arena);
	for (uint32_t i = 0; i < k * k; i++)
		to->of[(size_t)(i / k) * w + i % k] = s->of[i];
	x->costs.links.sharing = to;
}

struct closed_loop *closed_loop_new(const struct place_model *m, uint32_t n)
{
	struct closed_loop *x = MEM_NEW(struct closed_loop);
	struct edges e = {0};
	*x = (struct closed_loop){.m = m,
				  .n = n,
				  .copies = (LOOP_FILL + LOOP_WINDOW + 1) * n,
				  .tasks = m->tasks.dag.n + 1,
				  .arena = arena_new()};
	uint32_t all = x->copies * x->tasks;
	for (uint32_t j = 0; j < x->copies; j++)
		add_copy(x, j, &e);
	sched_dag_build(&x->dag, all, e.e, e.n, x->arena);
	mem_free(e.e);
	x->task_s = ARENA_NEWN(x->arena, double, (size_t)all *(m->k + 1));
	x->rank = ARENA_NEWN(x->arena, double, all);
	x->delayed_by = ARENA_NEWN(x->arena, uint32_t, all);
	x->device = ARENA_NEWN(x->arena, uint16_t, all);
	x->begin_s = ARENA_NEWN(x->arena, double, x->copies);
	x->end_s = ARENA_NEWN(x->arena, double, x->copies);
	x->held = ARENA_NEWN(x->arena, uint8_t, (size_t)m->tasks.dag.n * m->k);
	x->tensor_bytes = ARENA_NEWN(x->arena, uint64_t, m->k);
	x->row_busy_s = ARENA_NEWN(x->arena, double, (size_t)n * m->k);
	x->row_share = ARENA_NEWN(x->arena, double, n);
	for (size_t i = 0; i < (size_t)all * (m->k + 1); i++)
		x->task_s[i] = -1;
	x->costs = (struct sched_costs){.task_s = x->task_s,
					.contention = m->costs.contention,
					.overlap = m->costs.overlap,
					.policy = SCHED_RANK};
	widen_links(x);
	widen_ports(x);
	widen_sharing(x);
	x->clock = timeliner_new(&x->dag, &x->costs, true);
	return x;
}

void closed_loop_free(struct closed_loop *x)
{
	if (!x)
		return;
	timeliner_free(x->clock);
	arena_free(x->arena);
	mem_free(x);
}

/* ---- a placement ---- */

/* Where the tasks of copies of one placement are, what they take, and who goes first. */
static void copy_placement(struct closed_loop *x, const struct evaluator *of, uint32_t row,
			   uint32_t rows)
{
	const struct timeline *t = of->t;
	uint32_t k = x->m->k, n = x->tasks - 1;
	double most = 1;
	for (uint32_t v = 0; v < n; v++)
		most = fmax(most, fabs(t->rank[v]));
	for (uint32_t j = 0; j < x->copies; j++) {
		if (j % x->n % rows != row)
			continue;
		uint32_t first = j * x->tasks;
		double base = 4 * most * (x->copies - j);
		for (uint32_t v = 0; v < n; v++) {
			uint32_t dev = of->task_device[v],
				 by = t->delayed_by ? t->delayed_by[v] : SCHED_NONE;
			x->device[first + v] = (uint16_t)dev;
			x->task_s[(size_t)(first + v) * (k + 1) + dev] =
				of->task_s[(size_t)v * k + dev];
			x->rank[first + v] = base + t->rank[v];
			x->delayed_by[first + v] = by == SCHED_NONE ? by : first + by;
		}
		x->device[first + n] = (uint16_t)k;
		x->task_s[(size_t)(first + n) * (k + 1) + k] = 0;
		x->rank[first + n] = base;
		x->delayed_by[first + n] = SCHED_NONE;
	}
}

void closed_loop_place(struct closed_loop *x, const struct evaluator *of, uint32_t row,
		       uint32_t rows)
{
	uint32_t k = x->m->k, n = x->m->tasks.dag.n;
	x->rows = rows;
	x->row_share[row] = 1.0 / rows;
	if (row == 0) {
		memset(x->held, 0, (size_t)n * k);
		memset(x->tensor_bytes, 0, k * sizeof *x->tensor_bytes);
	}
	for (uint32_t v = 0; v < n; v++)
		x->held[(size_t)v * k + of->task_device[v]] = 1;
	for (uint32_t d = 0; d < k; d++)
		x->tensor_bytes[d] += (x->n / rows + (row < x->n % rows)) * of->t->peak_bytes[d];
	for (uint32_t d = 0; d < k; d++)
		x->row_busy_s[(size_t)row * k + d] = of->t->busy_s[d];
	if (n > 0)
		copy_placement(x, of, row, rows);
}

/* The copies that count, their latencies into lat_s in any order; returns how many.  The fill, then a window of ends. */
static uint32_t take_window(struct closed_loop *x, double longer, double *lat_s, double *period_s,
			    double *busy_s)
{
	uint32_t fill = LOOP_FILL * x->n, window = LOOP_WINDOW * x->n;
	for (uint32_t i = 0; i < window; i++)
		lat_s[i] = longer * (x->end_s[fill + i] - x->begin_s[fill + i]);
	order_values(x->end_s, x->copies);
	*period_s = longer * (x->end_s[fill + window - 1] - x->end_s[fill - 1]) / window;
	for (uint32_t d = 0; busy_s && d < x->m->k; d++)
		busy_s[d] = x->row_busy_s[d];
	return window;
}

/* The same of replicas, of which some begin anew more often than others: while all have copies left, the sum of what each
 * request in flight ends in a second. */
static uint32_t take_rates(struct closed_loop *x, double longer, double *lat_s, double *period_s,
			   double *busy_s)
{
	double until_s = INFINITY, rate = 0;
	uint32_t n_lat = 0, k = x->m->k;
	for (uint32_t j = x->copies - x->n; j < x->copies; j++)
		until_s = fmin(until_s, x->end_s[j]);
	for (uint32_t i = 0; i < x->rows; i++)
		x->row_share[i] = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t n = 0, j = i + LOOP_FILL * x->n;
		double sum_s = 0;
		/* One of them in any case, and none behind the end of another's last one. */
		while (j >= x->n && x->begin_s[j] >= until_s)
			j -= x->n;
		do {
			double s = longer * (x->end_s[j] - x->begin_s[j]);
			lat_s[n_lat++] = s;
			sum_s += s;
			n++;
			j += x->n;
		} while (j < x->copies && x->end_s[j] <= until_s);
		double here = sum_s > 0 ? n / sum_s : 0;
		rate += here;
		x->row_share[i % x->rows] += here;
		for (uint32_t d = 0; busy_s && d < k; d++)
			busy_s[d] += here * x->row_busy_s[(size_t)(i % x->rows) * k + d];
	}
	*period_s = rate > 0 ? 1 / rate : 0;
	for (uint32_t d = 0; busy_s && d < k; d++)
		busy_s[d] *= *period_s;
	for (uint32_t i = 0; i < x->rows; i++)
		x->row_share[i] *= *period_s;
	return n_lat;
}

double closed_loop_share(const struct closed_loop *x, uint32_t row)
{
	return x->row_share[row];
}

void closed_loop_run(struct closed_loop *x, struct loop_figures *out, double *busy_s)
{
	const struct timeline *t;
	uint32_t n = x->n;
	*out = (struct loop_figures){0};
	for (uint32_t d = 0; busy_s && d < x->m->k; d++)
		busy_s[d] = 0;
	if (x->tasks == 1)
		return;
	if (timeline_run_in(x->clock, x->device, x->rank, x->delayed_by, &t) != TIMELINE_OK)
		return;
	double longer = place_latency_s(x->m, t->makespan_s, t->busy_s);
	longer = t->makespan_s > 0 ? longer / t->makespan_s : 1;
	for (uint32_t j = 0; j < x->copies; j++) {
		x->end_s[j] = t->end_s[(j + 1) * x->tasks - 1];
		x->begin_s[j] = j < n ? 0 : x->end_s[j - n];
	}
	double *lat_s = MEM_NEWN(double, x->copies);
	uint32_t window =
		(x->rows > 1 ? take_rates : take_window)(x, longer, lat_s, &out->period_s, busy_s);
	order_values(lat_s, window);
	out->p50_s = quantile(lat_s, window, 0.5);
	out->p95_s = quantile(lat_s, window, 0.95);
	out->p99_s = quantile(lat_s, window, 0.99);
	mem_free(lat_s);
}

/* Is shared weight w on device d? */
static bool holds_shared(const struct closed_loop *x, const struct shared_weight *w, uint32_t d)
{
	for (uint32_t j = w->first; j < w->first + w->n; j++)
		if (x->held[(size_t)x->m->weight_task[j] * x->m->k + d])
			return true;
	return false;
}

void closed_loop_memory(const struct closed_loop *x, uint64_t *mem)
{
	const struct place_model *m = x->m;
	for (uint32_t d = 0; d < m->k; d++) {
		uint64_t inner = 0;
		bool used = false;
		mem[d] = x->tensor_bytes[d] + place_workspace(m, d, x->tensor_bytes[d]);
		for (uint32_t v = 0; v < m->tasks.dag.n; v++) {
			size_t at = (size_t)v * m->k + d;
			if (!x->held[at])
				continue;
			mem[d] += m->task_mem[at];
			inner = m->inner && m->inner[at] > inner ? m->inner[at] : inner;
			used = used || m->costs.task_s[at] > 0;
		}
		for (uint32_t i = 0; i < m->n_shared; i++)
			if (holds_shared(x, &m->shared[i], d))
				mem[d] += m->shared[i].bytes[d];
		mem[d] += inner;
		if (m->work && (used || mem[d] > 0))
			mem[d] += m->work[d];
	}
}
