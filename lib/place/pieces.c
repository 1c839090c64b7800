/* pieces.c - the order of units, and loads of pieces that grow and shrink by a unit. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "place/dnnpart.h"
#include "place/pieces.h"

static const double NO_WAY_S = 1e30;   /* finite: sums of it can be taken back */

/* ---- the order ---- */

static uint32_t unit_of_task(const struct pieces *p, uint32_t t)
{
	return p->u->of_set[p->u->m->tasks.task_set[t]];
}

static uint32_t item_of_task(const struct pieces *p, uint32_t t)
{
	return p->of_unit[unit_of_task(p, t)];
}

/* The edges by their heads. */
static void reverse_edges(struct pieces *p, struct arena *a)
{
	p->pred_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2);
	p->pred = ARENA_NEWN(a, uint32_t, p->succ_ptr[p->n]);
	for (uint32_t j = 0; j < p->succ_ptr[p->n]; j++)
		p->pred_ptr[p->succ[j] + 2]++;
	for (uint32_t i = 0; i < p->n; i++)
		p->pred_ptr[i + 2] += p->pred_ptr[i + 1];
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = p->succ_ptr[i]; j < p->succ_ptr[i + 1]; j++)
			p->pred[p->pred_ptr[p->succ[j] + 1]++] = i;
}

/* Distinct edges between items; with `later`, only those to units that begin later. */
static void order_items(struct pieces *p, bool later, struct arena *a)
{
	const struct sched_dag *d = &p->u->m->tasks.dag;
	uint32_t *ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2), *next = MEM_NEWN(uint32_t, d->n);
	uint32_t *head = MEM_NEWN(uint32_t, p->n), *seen = MEM_NEWN(uint32_t, p->n), m = 0;

	p->succ_ptr = ptr;
	p->succ = ARENA_NEWN(a, uint32_t, d->n_uses);
	memset(head, 0xff, p->n * sizeof(*head));
	for (uint32_t t = d->n; t-- > 0;) {
		uint32_t i = item_of_task(p, t);

		next[t] = head[i];
		head[i] = t;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t t = head[i]; t != UINT32_MAX; t = next[t])
			for (uint32_t j = d->use_ptr[d->out_ptr[t]]; j < d->use_ptr[d->out_ptr[t + 1]]; j++) {
				uint32_t to = item_of_task(p, d->use_task[j]);
				bool back = later && unit_of_task(p, d->use_task[j]) < unit_of_task(p, t);

				if (to == i || back || seen[to] == i + 1)
					continue;
				seen[to] = i + 1;
				p->succ[m++] = to;
			}
		ptr[i + 1] = m;
	}
	reverse_edges(p, a);
	mem_free(next);
	mem_free(head);
	mem_free(seen);
}

static bool has_circle(const struct pieces *p)
{
	uint32_t *left = MEM_NEWN(uint32_t, p->n), *order = MEM_NEWN(uint32_t, p->n), n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		left[i] = p->pred_ptr[i + 1] - p->pred_ptr[i];
		if (left[i] == 0)
			order[n++] = i;
	}
	for (uint32_t at = 0; at < n; at++)
		for (uint32_t j = p->succ_ptr[order[at]]; j < p->succ_ptr[order[at] + 1]; j++)
			if (--left[p->succ[j]] == 0)
				order[n++] = p->succ[j];
	mem_free(left);
	mem_free(order);
	return n < p->n;
}

static void shuffle(struct rng_addr *rng, uint32_t *at, uint32_t *x, uint32_t n)
{
	for (; n > 1; n--) {
		uint32_t j = rng_below(rng, (*at)++, n), t = x[n - 1];

		x[n - 1] = x[j];
		x[j] = t;
	}
}

/* Postorder along edges backwards: every unit right behind what it needs. */
void pieces_depth_first(const struct pieces *p, uint64_t seed, uint32_t *order)
{
	struct rng_addr rng = {seed, 0, 0, RNG_SEARCH + 32};
	uint32_t n = p->n, n_order = 0, n_stack, n_roots = 0, drawn = 0;
	uint32_t *at = mem_copy(p->pred_ptr, (size_t)n + 1, sizeof(*at)), *stack = MEM_NEWN(uint32_t, n);
	uint32_t *pred = mem_copy(p->pred, p->pred_ptr[n], sizeof(*pred)), *root = MEM_NEWN(uint32_t, n);
	bool *seen = MEM_NEWN(bool, n);

	for (uint32_t i = 0; i < n; i++)
		if (p->succ_ptr[i] == p->succ_ptr[i + 1])
			root[n_roots++] = i;
	if (seed) {
		shuffle(&rng, &drawn, root, n_roots);
		for (uint32_t i = 0; i < n; i++)
			shuffle(&rng, &drawn, pred + p->pred_ptr[i], p->pred_ptr[i + 1] - p->pred_ptr[i]);
	}
	for (uint32_t r = 0; r < n_roots; r++) {
		seen[root[r]] = true;
		stack[0] = root[r];
		n_stack = 1;
		while (n_stack) {
			uint32_t v = stack[n_stack - 1];

			while (at[v] < p->pred_ptr[v + 1] && seen[pred[at[v]]])
				at[v]++;
			if (at[v] == p->pred_ptr[v + 1]) {
				order[n_order++] = v;
				n_stack--;
			} else {
				seen[pred[at[v]]] = true;
				stack[n_stack++] = pred[at[v]];
			}
		}
	}
	void *own[] = {at, stack, pred, root, seen};
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		mem_free(own[i]);
}

/* ---- classes and values ---- */

static bool find_classes(struct pieces *p)
{
	const struct place_units *u = p->u;
	const struct place_model *m = u->m;
	uint32_t *class = MEM_NEWN(uint32_t, m->k), c = 0;

	for (uint32_t d = 0; d < m->k && c <= MAX_CLASSES; d++) {
		if (u->twin[d] < d) {
			p->size[class[u->twin[d]]]++;
			continue;
		}
		class[d] = c;
		if (c < MAX_CLASSES) {
			p->first[c] = d;
			p->size[c] = 1;
			p->sum[c] = m->rules == PLACE_SCHEDULE ? !m->costs.overlap : !dnnpart_is_cpu(m, d);
		}
		c++;
	}
	mem_free(class);
	if (c > MAX_CLASSES)
		return false;
	p->n_classes = c;
	return true;
}

static void sum_items(struct pieces *p, struct arena *a)
{
	const struct place_units *u = p->u;
	uint32_t nc = p->n_classes;

	p->cost_s = ARENA_NEWN(a, double, (size_t)p->n * nc);
	p->least_s = ARENA_NEWN(a, double, p->n);
	p->mem = ARENA_NEWN(a, uint64_t, p->n);
	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t x = p->of_unit[i];

		p->least_s[x] += u->least_s[i];
		p->mem[x] += u->mem[i];
		for (uint32_t c = 0; c < nc; c++) {
			double s = u->cost_s[(size_t)i * u->m->k + p->first[c]];

			p->cost_s[(size_t)x * nc + c] += s < 0 ? INFINITY : s;
		}
	}
}

/* The fastest way of `bytes` to (or from) device d. */
static double fastest_copy_s(const struct place_model *m, uint32_t d, bool to, uint64_t bytes)
{
	const struct sched_links *l = &m->costs.links;
	double least = m->k > 1 ? NO_WAY_S : 0;

	for (uint32_t x = 0; x < m->k; x++) {
		uint32_t from = to ? x : d, dst = to ? d : x;

		if (x != d && l->latency_s[(size_t)from * m->k + dst] >= 0)
			least = fmin(least, sched_copy_s(l, from, dst, bytes));
	}
	return least;
}

/* What it takes to move the tensors [t, end) as one value. */
static void price_value(struct pieces *p, uint32_t value, uint32_t task, uint32_t t)
{
	const struct place_model *m = p->u->m;

	for (uint32_t c = 0; c < p->n_classes; c++) {
		double *in = &p->in_s[(size_t)value * p->n_classes + c];
		double *out = &p->out_s[(size_t)value * p->n_classes + c];

		if (m->rules == PLACE_SCHEDULE) {
			*in = fastest_copy_s(m, p->first[c], true, m->tasks.dag.tensor_bytes[t]);
			*out = fastest_copy_s(m, p->first[c], false, m->tasks.dag.tensor_bytes[t]);
		} else {
			*in = *out = m->move_s[m->tasks.task_set[task]];
		}
	}
}

/* Values by maker: of a schedule one a tensor, of dnn-partitioning one a task. */
static void find_values(struct pieces *p, struct arena *a)
{
	const struct sched_dag *d = &p->u->m->tasks.dag;
	bool by_task = p->u->m->rules != PLACE_SCHEDULE;
	uint32_t n = by_task ? d->n : d->n_tensors, *made = MEM_NEWN(uint32_t, (size_t)p->n + 2);
	uint32_t *number = MEM_NEWN(uint32_t, n), *seen = MEM_NEWN(uint32_t, p->n);

	p->made_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 1);
	p->read_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2);
	p->read = ARENA_NEWN(a, uint32_t, d->n_uses);
	p->maker = ARENA_NEWN(a, uint32_t, n);
	p->n_readers = ARENA_NEWN(a, uint32_t, n);
	p->in_s = ARENA_NEWN(a, double, (size_t)n * p->n_classes);
	p->out_s = ARENA_NEWN(a, double, (size_t)n * p->n_classes);
	p->n_values = n;
	for (uint32_t v = 0; v < n; v++)
		made[item_of_task(p, by_task ? v : d->tensor_task[v]) + 1]++;
	for (uint32_t i = 0; i < p->n; i++)
		p->made_ptr[i + 1] = made[i + 1] += made[i];
	for (uint32_t v = 0; v < n; v++) {
		uint32_t task = by_task ? v : d->tensor_task[v], unit = item_of_task(p, task);

		number[v] = made[unit]++;
		p->maker[number[v]] = unit;
		price_value(p, number[v], task, v);
	}
	/* Counted two places up, so that filling leaves the beginnings. */
	for (int fill = 0; fill < 2; fill++) {
		memset(seen, 0, p->n * sizeof(*seen));
		for (uint32_t v = 0; v < n; v++) {
			uint32_t t = by_task ? d->out_ptr[v] : v, end = by_task ? d->out_ptr[v + 1] : v + 1;

			for (uint32_t j = d->use_ptr[t]; j < d->use_ptr[end]; j++) {
				uint32_t to = item_of_task(p, d->use_task[j]), x = number[v];

				if (to == p->maker[x] || seen[to] == v + 1)
					continue;
				seen[to] = v + 1;
				p->n_readers[x] += !fill;
				if (fill)
					p->read[p->read_ptr[to + 1]++] = x;
				else
					p->read_ptr[to + 2]++;
			}
		}
		for (uint32_t i = 0; !fill && i < p->n; i++)
			p->read_ptr[i + 2] += p->read_ptr[i + 1];
	}
	mem_free(made);
	mem_free(number);
	mem_free(seen);
}

/* ---- items ---- */

/* Order, costs and values of items as of_unit has them. */
static void build(struct pieces *p, struct arena *a)
{
	order_items(p, p->folded, a);
	sum_items(p, a);
	find_values(p, a);
}

/* Numbers for the items of glued ones, by their first units. */
static void renumber(struct pieces *p, const uint32_t *into)
{
	uint32_t *number = MEM_NEWN(uint32_t, p->n), n = 0;

	memset(number, 0xff, p->n * sizeof(*number));
	for (uint32_t i = 0; i < p->u->n; i++) {
		uint32_t x = into[p->of_unit[i]];

		if (number[x] == UINT32_MAX)
			number[x] = n++;
		p->of_unit[i] = number[x];
	}
	p->n = n;
	mem_free(number);
}

/* Seconds by class: what to bring in, what to take out. */
struct moved {
	double in_s[MAX_CLASSES], out_s[MAX_CLASSES];
};

static void add_value(const struct pieces *p, struct moved *x, uint32_t v)
{
	for (uint32_t c = 0; c < p->n_classes; c++) {
		x->in_s[c] += p->in_s[(size_t)v * p->n_classes + c];
		x->out_s[c] += p->out_s[(size_t)v * p->n_classes + c];
	}
}

/* Can item z go wherever item t is, its only neighbour on that side?  Then what z exchanges with
 * others may have to pass between t's piece and the one where z was; what only z and t exchange need not. */
static bool may_follow(const struct pieces *p, uint32_t z, uint32_t t, const uint32_t *reader)
{
	struct moved to_t = {{0}, {0}}, from_t = to_t, to_others = to_t, from_others = to_t;

	for (uint32_t v = p->made_ptr[z]; v < p->made_ptr[z + 1]; v++)
		if (p->n_readers[v] == 1 && reader[v] == t)
			add_value(p, &to_t, v);
		else if (p->n_readers[v])
			add_value(p, &to_others, v);
	for (uint32_t j = p->read_ptr[z]; j < p->read_ptr[z + 1]; j++) {
		uint32_t v = p->read[j];

		if (p->maker[v] != t)
			add_value(p, &from_others, v);
		else if (p->n_readers[v] == 1)
			add_value(p, &from_t, v);
	}
	for (uint32_t c = 0; c < p->n_classes; c++)
		if (from_others.out_s[c] + to_others.in_s[c] > to_t.out_s[c] + from_t.in_s[c] ||
		    from_others.in_s[c] + to_others.out_s[c] > to_t.in_s[c] + from_t.out_s[c])
			return false;
	return true;
}

/* Memory can be no reason to keep apart. */
static bool takes_nothing(const struct pieces *p, uint32_t i, bool room)
{
	for (uint32_t c = 0; c < p->n_classes; c++)
		if (p->cost_s[(size_t)i * p->n_classes + c] != 0)
			return false;
	return room || p->mem[i] == 0;
}

/* One round: pairs of items that meet no other pair. */
static bool glue(struct pieces *p, bool room)
{
	uint32_t *into = MEM_NEWN(uint32_t, p->n), *reader = MEM_NEWN(uint32_t, p->n_values);
	bool *met = MEM_NEWN(bool, p->n), any = false;

	for (uint32_t i = 0; i < p->n; i++) {
		into[i] = i;
		for (uint32_t j = p->read_ptr[i]; j < p->read_ptr[i + 1]; j++)
			reader[p->read[j]] = i;
	}
	for (uint32_t z = 0; z < p->n; z++) {
		uint32_t n_succ = p->succ_ptr[z + 1] - p->succ_ptr[z], n_pred = p->pred_ptr[z + 1] - p->pred_ptr[z];

		for (int back = 0; back < 2 && !met[z] && takes_nothing(p, z, room); back++) {
			if ((back ? n_pred : n_succ) != 1)
				continue;
			uint32_t t = back ? p->pred[p->pred_ptr[z]] : p->succ[p->succ_ptr[z]];
			if (met[t] || !may_follow(p, z, t, reader))
				continue;
			into[z] = t;
			met[z] = met[t] = any = true;
		}
	}
	if (any)
		renumber(p, into);
	mem_free(into);
	mem_free(reader);
	mem_free(met);
	return any;
}

/* Does everything fit on every device? */
static bool has_room(const struct place_units *u)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < u->n; i++)
		sum += u->mem[i];
	for (uint32_t d = 0; d < u->m->k; d++)
		if (u->m->mem_limit[d] && u->m->mem_limit[d] < sum)
			return false;
	return true;
}

bool pieces_init(struct pieces *p, const struct place_units *u, struct arena *a)
{
	*p = (struct pieces){.u = u, .n = u->n, .of_unit = ARENA_NEWN(a, uint32_t, u->n)};
	for (uint32_t i = 0; i < u->n; i++)
		p->of_unit[i] = i;
	order_items(p, false, a);
	p->folded = has_circle(p);
	if (!find_classes(p))
		return false;
	build(p, a);
	while (glue(p, has_room(u)))
		build(p, a);
	return true;
}

/* ---- chains ---- */

/* Runs of `order` as items: as many as there are items, or max_items of about equal cost. */
static void cut_runs(struct pieces *chain, const struct pieces *p, const uint32_t *order, uint32_t max_items)
{
	uint32_t *run = MEM_NEWN(uint32_t, p->n), last = UINT32_MAX;
	double sum = 0, upto = 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += p->least_s[i];
	chain->n = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t at = p->n <= max_items || !(sum > 0) ? i : (uint32_t)(upto / sum * (max_items - 1));

		chain->n += at != last;
		last = at;
		run[order[i]] = chain->n - 1;
		upto += p->least_s[order[i]];
	}
	for (uint32_t i = 0; i < p->u->n; i++)
		chain->of_unit[i] = run[p->of_unit[i]];
	mem_free(run);
}

void pieces_chain(struct pieces *chain, const struct pieces *p, const uint32_t *order, uint32_t max_items,
		  struct arena *a)
{
	*chain = *p;
	chain->of_unit = ARENA_NEWN(a, uint32_t, p->u->n);
	cut_runs(chain, p, order, max_items);
	chain->succ_ptr = ARENA_NEWN(a, uint32_t, (size_t)chain->n + 1);
	chain->succ = ARENA_NEWN(a, uint32_t, chain->n);
	for (uint32_t i = 0; i + 1 < chain->n; i++) {
		chain->succ_ptr[i + 1] = i + 1;
		chain->succ[i] = i + 1;
	}
	chain->succ_ptr[chain->n] = chain->n ? chain->n - 1 : 0;
	reverse_edges(chain, a);
	sum_items(chain, a);
	find_values(chain, a);
}

/* ---- pieces ---- */

void piece_init(struct piece *x, const struct pieces *p)
{
	*x = (struct piece){.p = p, .inside = MEM_NEWN(bool, p->n), .n_inside = MEM_NEWN(uint32_t, p->n_values)};
}

void piece_release(struct piece *x)
{
	mem_free(x->inside);
	mem_free(x->n_inside);
}

static void add_row(double *sum, const double *row, uint32_t n, double sign)
{
	for (uint32_t c = 0; c < n; c++)
		sum[c] += sign * row[c];
}

void piece_add(struct piece *x, uint32_t item)
{
	const struct pieces *p = x->p;
	uint32_t nc = p->n_classes;
	struct piece_load *l = &x->load;

	x->inside[item] = true;
	add_row(l->node_s, p->cost_s + (size_t)item * nc, nc, 1);
	l->least_s += p->least_s[item];
	l->mem += p->mem[item];
	for (uint32_t v = p->made_ptr[item]; v < p->made_ptr[item + 1]; v++) {
		if (x->n_inside[v])
			add_row(l->in_s, p->in_s + (size_t)v * nc, nc, -1);
		if (x->n_inside[v] < p->n_readers[v])
			add_row(l->out_s, p->out_s + (size_t)v * nc, nc, 1);
	}
	for (uint32_t j = p->read_ptr[item]; j < p->read_ptr[item + 1]; j++) {
		uint32_t v = p->read[j], n = ++x->n_inside[v];

		if (!x->inside[p->maker[v]]) {
			if (n == 1)
				add_row(l->in_s, p->in_s + (size_t)v * nc, nc, 1);
		} else if (n == p->n_readers[v]) {
			add_row(l->out_s, p->out_s + (size_t)v * nc, nc, -1);
		}
	}
}

void piece_drop(struct piece *x, uint32_t item, const struct piece_load *load)
{
	const struct pieces *p = x->p;

	x->inside[item] = false;
	for (uint32_t j = p->read_ptr[item]; j < p->read_ptr[item + 1]; j++)
		x->n_inside[p->read[j]]--;
	x->load = *load;
}

double piece_load_s(const struct piece *x, uint32_t c)
{
	const struct piece_load *l = &x->load;

	if (x->p->sum[c])
		return l->node_s[c] + l->in_s[c] + l->out_s[c];
	return x->p->u->m->rules == PLACE_SCHEDULE ? fmax(l->node_s[c], fmax(l->in_s[c], l->out_s[c])) :
						     l->node_s[c];
}
