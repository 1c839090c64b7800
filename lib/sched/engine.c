/* engine.c - memory for runs of one graph, and the graph by position. */
#include <string.h>

#include "sched/engine.h"

static size_t n_slots(const struct engine *e)
{
	return (size_t)e->d->n_tensors * e->k;
}

/* The part of a state that begins at *at, for n things of `size` bytes. */
static void *carve(char *base, size_t *at, size_t n, size_t size)
{
	char *part = base ? base + *at : NULL;

	*at += (n * size + 7) / 8 * 8;
	return part;
}

/* Pointers into the state; the first time, with no memory yet, its size. */
static void lay_out(struct engine *e)
{
	size_t servers = (size_t)e->k * e->k, at = 0;
	char *base = e->state;

	e->now = carve(base, &at, 1, sizeof(*e->now));
	e->end = carve(base, &at, servers, sizeof(*e->end));
	e->idle = carve(base, &at, e->n_words, sizeof(*e->idle));
	e->waiting = carve(base, &at, e->n_words, sizeof(*e->waiting));
	e->waiting_words =
		carve(base, &at, ((size_t)e->n_words + 63) / 64, sizeof(*e->waiting_words));
	e->begun_s = carve(base, &at, e->k, sizeof(*e->begun_s));
	e->live = carve(base, &at, e->k, sizeof(*e->live));
	e->peak = carve(base, &at, e->k, sizeof(*e->peak));
	e->top = carve(base, &at, e->k, sizeof(*e->top));
	e->queue = carve(base, &at, servers, sizeof(*e->queue));
	e->doing = carve(base, &at, servers, sizeof(*e->doing));
	if (e->common) {
		e->ready_bits =
			carve(base, &at, (size_t)READY_WORDS * e->k, sizeof(*e->ready_bits));
		e->missing = carve(base, &at, ((size_t)e->d->n + 1) * e->k, sizeof(*e->missing));
	} else {
		e->pending = carve(base, &at, (size_t)e->d->n + 1, sizeof(*e->pending));
	}
	e->refs = carve(base, &at, n_slots(e) + e->k, sizeof(*e->refs));
	e->next = carve(base, &at, n_slots(e), sizeof(*e->next));
	if (!e->c->overlap || e->ports.n || e->sharing)
		e->needed_at = carve(base, &at, n_slots(e), sizeof(*e->needed_at));
	e->state_bytes = at;
}

bool engine_can_rerun(const struct engine *e)
{
	return e->c->contention && e->c->overlap && !e->with_schedule && e->c->policy != SCHED_FIFO;
}

/* What most runs are: engine_can_rerun, and few devices and tasks. */
static bool is_common(const struct engine *e)
{
	bool common = e->few && e->d->n <= MAX_COMMON_TASKS && engine_can_rerun(e) && !e->ports.n &&
		      !e->sharing;

	for (uint32_t v = 0; common && v < e->d->n; v++)
		common = e->d->in_ptr[v + 1] - e->d->in_ptr[v] < AWAY - 1;
	return common;
}

/* Where links have ports, or copies do not wait for each other on some. */
static void ports_init(struct engine *e)
{
	const struct sched_links *l = &e->c->links;
	struct port_state *x = &e->ports;
	uint32_t k = e->k, names = l->ports ? l->ports->n : 0, out = k * names;

	x->n = 2 * out;
	x->names = names;
	x->of = MEM_NEWN(uint32_t, (size_t)k * k);
	for (size_t i = 0; i < (size_t)k * k; i++)
		x->of[i] = names && (!e->sharing || e->sharing->of[i].contention == SCHED_FCFS)
				   ? l->ports->of[i]
				   : SCHED_NONE;
	x->words = (k + 63) / 64;
	x->bytes_per_s = MEM_NEWN(double, x->n);
	for (uint32_t i = 0; i < x->n; i++)
		x->bytes_per_s[i] =
			sched_port_rate(&e->c->links, i % out / names, i % names, i >= out);
	x->busy = MEM_NEWN(bool, x->n);
	x->waiting = MEM_NEWN(uint64_t, (size_t)x->n * x->words);
	x->look = MEM_NEWN(uint32_t, (size_t)k * k);
	x->listed = MEM_NEWN(bool, (size_t)k *k);
}

static void ports_release(struct port_state *x)
{
	mem_free(x->of);
	mem_free(x->bytes_per_s);
	mem_free(x->busy);
	mem_free(x->waiting);
	mem_free(x->look);
	mem_free(x->listed);
}

/* Times of copies of each tensor on each link. */
static void table_copies(struct engine *e)
{
	uint32_t k = e->k;

	for (uint32_t t = 0; t < e->d->n_tensors; t++)
		for (uint32_t s = 0; s < k * k; s++)
			e->copy_s[(size_t)t * k * k + s] =
				sched_copy_s(&e->c->links, s / k, s % k, e->tensor[t].bytes);
}

void engine_init(struct engine *e, const struct sched_dag *d, const struct sched_costs *c,
		 struct timeline *t, bool with_schedule)
{
	uint32_t k = c->links.k, n = d->n;

	*e = (struct engine){.d = d,
			     .c = c,
			     .k = k,
			     .few = k <= FEW_DEVICES,
			     .t = t,
			     .with_schedule = with_schedule};
	e->n_words = (uint32_t)(((size_t)k * k + 63) / 64);
	e->sharing = c->contention ? c->links.sharing : NULL;
	if (c->contention && (c->links.ports || e->sharing))
		ports_init(e);
	if (e->sharing)
		flows_init(&e->flows, &c->links, n_slots(e));
	e->common = is_common(e);
	e->task = MEM_NEWN(struct sched_task, n);
	e->tensor = MEM_NEWN(struct sched_tensor, (size_t)d->n_tensors + 1);
	e->more = MEM_NEWN(uint32_t, 2 * (size_t)d->n_uses);
	e->n_in = MEM_NEWN(uint32_t, n);
	e->number = MEM_NEWN(uint32_t, d->n_tensors);
	e->root = MEM_NEWN(uint32_t, n);
	e->first_delayed = MEM_NEWN(uint32_t, n);
	e->next_delayed = MEM_NEWN(uint32_t, n);
	e->dev = MEM_NEWN(uint16_t, n);
	e->cost_s = MEM_NEWN(double, n);
	e->sum_s = MEM_NEWN(double, 4 * (size_t)k);
	e->held = MEM_NEWN(bool, k);
	if (e->few && c->turns)
		e->turns = MEM_NEWN(uint64_t, k);
	for (uint32_t i = 0; e->turns && i < k * k; i++)
		e->turns[i / k] |= (uint64_t)(c->turns[i] != 0) << (i % k) * (k + 1);
	lay_out(e);
	e->state = mem_alloc(e->state_bytes, 1);
	lay_out(e);
	if (k <= MAX_TABLED_DEVICES)
		e->copy_s = MEM_NEWN(double, (size_t)d->n_tensors *k *k);
	if (with_schedule)
		e->copy_of = MEM_NEWN(uint32_t, n_slots(e));
	e->heap = MEM_NEWN(struct sched_event, (size_t)d->n_uses + k + e->ports.n + 1);
	double *none = MEM_NEWN(double, n);
	ready_init(&e->ready, n, k, none, c->policy);
	mem_free(none);
}

void engine_release(struct engine *e)
{
	void *owned[] = {e->task,          e->tensor,       e->more, e->n_in,   e->number, e->root,
			 e->first_delayed, e->next_delayed, e->dev,  e->cost_s, e->sum_s,  e->state,
			 e->copy_s,        e->copy_of,      e->heap, e->turns,  e->held};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	ready_release(&e->ready);
	ports_release(&e->ports);
	flows_release(&e->flows);
	checkpoints_release(e);
}

/* Room for a list of n things, behind *at in `more`; missing ones are `none`. */
static void short_list_make(struct engine *e, struct short_list *l, uint32_t n, uint32_t none,
			    uint32_t *at)
{
	l->first[0] = l->first[1] = none;
	l->more = *at;
	l->end = *at += n > 2 ? n - 2 + n % 2 : 0;
	if (l->end > l->more)
		e->more[l->end - 1] = none;
}

static uint32_t *short_list_at(struct engine *e, struct short_list *l, uint32_t i)
{
	return i < 2 ? &l->first[i] : &e->more[l->more + i - 2];
}

/* Tensors and their consumers, in the order of their tasks. */
static void list_tensors(struct engine *e, uint32_t *at)
{
	const struct sched_dag *d = e->d;
	uint32_t tensor = 0;

	for (uint32_t p = 0; p < d->n; p++) {
		uint32_t v = e->ready.task_at[p];

		e->task[p].out = tensor;
		e->task[p].out_bytes = 0;
		for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++, tensor++) {
			struct sched_tensor *y = &e->tensor[tensor];

			y->bytes = d->tensor_bytes[t];
			y->n_uses = d->use_ptr[t + 1] - d->use_ptr[t];
			y->maker = p;
			e->number[tensor] = t;
			e->task[p].out_bytes += y->bytes;
			short_list_make(e, &y->use, y->n_uses, d->n, at);
			for (uint32_t i = 0; i < y->n_uses; i++)
				*short_list_at(e, &y->use, i) =
					e->ready.pos[d->use_task[d->use_ptr[t] + i]];
		}
		e->task[p].out_end = tensor;
	}
}

/* What each task reads; tensors ascending. */
static void list_inputs(struct engine *e, uint32_t *at)
{
	const struct sched_dag *d = e->d;

	for (uint32_t p = 0; p < d->n; p++) {
		uint32_t v = e->ready.task_at[p];

		short_list_make(e, &e->task[p].in, d->in_ptr[v + 1] - d->in_ptr[v], d->n_tensors,
				at);
		e->n_in[p] = 0;
	}
	for (uint32_t t = 0; t < d->n_tensors; t++)
		for (uint32_t i = 0; i < e->tensor[t].n_uses; i++) {
			uint32_t p = *short_list_at(e, &e->tensor[t].use, i);

			*short_list_at(e, &e->task[p].in, e->n_in[p]++) = t;
		}
}

static void list_delays(struct engine *e)
{
	const uint32_t *pos = e->ready.pos;

	for (uint32_t p = 0; p < e->d->n; p++)
		e->first_delayed[p] = SCHED_NONE;
	for (uint32_t v = 0; v < e->d->n; v++)
		if (e->delayed_by[v] != SCHED_NONE) {
			e->n_in[pos[v]]++;
			e->next_delayed[pos[v]] = e->first_delayed[pos[e->delayed_by[v]]];
			e->first_delayed[pos[e->delayed_by[v]]] = pos[v];
		}
}

void engine_order(struct engine *e, const double *rank, const uint32_t *delayed_by)
{
	uint32_t at = 0;

	ready_rank(&e->ready, rank);
	list_tensors(e, &at);
	list_inputs(e, &at);
	e->delayed_by = delayed_by;
	if (delayed_by)
		list_delays(e);
	e->n_roots = 0;
	for (uint32_t p = 0; p < e->d->n; p++)
		if (e->n_in[p] == 0)
			e->root[e->n_roots++] = p;
	if (e->copy_s)
		table_copies(e);
	for (uint32_t i = 0; i < e->k * e->k; i++)
		e->missing_links |= e->c->links.latency_s[i] < 0;
	e->checkpoints.n = 0;
}
