/* decode.c - a list schedule, task by task.
 *
 * The look-ahead rank: a task goes to the device for which the latest of its children's expected
 * ends of everything, min over devices of the child's finish, plus the child's upward rank less its
 * own cost, is earliest.  It is one level of look-ahead (Bittencourt, Sakellariou, Madeira, PDP
 * 2010) where a child counts for all that hangs on it. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/extremes.h"
#include "place/heuristic/listlinks.h"
#include "place/learned/decode_impl.h"
#include "sched/agenda.h"

/* ---- children ---- */

static bool is_listed(const struct decode_state *s, uint32_t w)
{
	for (uint32_t i = 0; i < s->n_children; i++)
		if (s->child[i] == w)
			return true;
	return false;
}

/* The children of v of the highest ranks. */
static void list_children(struct decode_state *s, uint32_t v)
{
	const struct sched_dag *d = s->l->d;
	const double *rank = s->view->rank;

	s->n_children = 0;
	for (uint32_t u = d->use_ptr[d->out_ptr[v]]; u < d->use_ptr[d->out_ptr[v + 1]]; u++) {
		uint32_t w = d->use_task[u], at = s->n_children;

		if (at == MOST_CHILDREN && rank[w] <= rank[s->child[at - 1]])
			continue;
		if (is_listed(s, w))
			continue;
		at -= at == MOST_CHILDREN;
		for (; at > 0 && rank[s->child[at - 1]] < rank[w]; at--) {
			s->child[at] = s->child[at - 1];
			s->child_use[at] = s->child_use[at - 1];
		}
		s->child[at] = w;
		s->child_use[at] = u;
		s->n_children += s->n_children < MOST_CHILDREN;
	}
}

/* Tensor t has been made by a task that is placed: on no device is it before `ready`, which grows. */
static void add_input(const struct decode_state *s, uint32_t t, double *ready)
{
	const struct sched_dag *d = s->l->d;
	const struct sched_links *links = &s->l->m->costs.links;
	uint32_t k = s->l->k, from = d->tensor_task[t], on = s->l->on[from];

	for (uint32_t p = 0; p < k; p++) {
		double at = s->l->end_s[from];

		if (on != p && links->latency_s[(size_t)on * k + p] < 0)
			at = INFINITY;
		else if (on != p)
			at += sched_copy_s(links, on, p, d->tensor_bytes[t]);
		ready[p] = max2(ready[p], at);
	}
}

/* The task that was chosen before is placed now: tasks with many inputs that read it know. */
static void note_placed(struct decode_state *s)
{
	const struct sched_dag *d = s->l->d;
	uint32_t v = s->last;

	if (v == SCHED_NONE || !s->l->placed[v])
		return;
	for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			if (s->known_ready_s[d->use_task[u]])
				add_input(s, t, s->known_ready_s[d->use_task[u]]);
}

/* When the children could begin on each device as far as their other inputs are concerned. */
static void find_child_ready(struct decode_state *s)
{
	const struct sched_dag *d = s->l->d;
	uint32_t k = s->l->k;

	for (uint32_t c = 0; c < s->n_children; c++) {
		double *ready = s->child_ready_s + (size_t)c * k;
		uint32_t w = s->child[c];

		if (s->known_ready_s[w]) {
			memcpy(ready, s->known_ready_s[w], k * sizeof(*ready));
			continue;
		}
		memset(ready, 0, k * sizeof(*ready));
		for (uint32_t i = d->in_ptr[w]; i < d->in_ptr[w + 1]; i++) {
			uint32_t t = d->use_tensor[d->in_use[i]];

			if (s->l->placed[d->tensor_task[t]])
				add_input(s, t, ready);
		}
	}
}

/* When child c could end at the earliest, its parent ending at end_s on dev. */
static double child_end_s(const struct decode_state *s, uint32_t c, uint32_t dev, double end_s)
{
	const struct sched_dag *d = s->l->d;
	const struct sched_links *links = &s->l->m->costs.links;
	uint32_t k = s->l->k, w = s->child[c];
	uint64_t bytes = d->tensor_bytes[d->use_tensor[s->child_use[c]]];
	double best = INFINITY;

	for (uint32_t p = 0; p < k; p++) {
		double cost = s->l->m->costs.task_s[(size_t)w * k + p], at = end_s;
		size_t slot;

		if (cost < 0)
			continue;
		if (p != dev && links->latency_s[(size_t)dev * k + p] < 0)
			continue;
		if (p != dev)
			at += sched_copy_s(links, dev, p, bytes);
		at = max2(at, s->child_ready_s[(size_t)c * k + p]);
		if (at + cost < best)
			best = min2(best, agendas_earliest_s(s->l->agenda, k, s->l->m->costs.turns,
							     p, at, cost, &slot) +
						  cost);
	}
	return best;
}

/* ---- options ---- */

static void list_options(struct decode_state *s, uint32_t v)
{
	struct listsched *l = s->l;

	s->n_options = 0;
	for (uint32_t p = 0; p < l->k; p++) {
		struct option o = {.dev = p, .end_s = listsched_end_s(l, v, p)};

		if (o.end_s == INFINITY)
			continue;
		o.cost_s = place_task_s(l->m, v, p, l->on);
		o.start_s = o.end_s - o.cost_s;
		s->option[s->n_options++] = o;
	}
}

static void look_ahead(struct decode_state *s, uint32_t v)
{
	const struct cost_view *view = s->view;

	list_children(s, v);
	find_child_ready(s);
	for (uint32_t i = 0; i < s->n_options; i++) {
		struct option *o = &s->option[i];

		o->after_s = o->end_s;
		for (uint32_t c = 0; c < s->n_children; c++) {
			uint32_t w = s->child[c];
			double end_s = child_end_s(s, c, o->dev, o->end_s);

			o->after_s = max2(o->after_s, end_s + view->rank[w] - view->mean_s[w]);
		}
	}
}

/* ---- choices ---- */

/* The option of the least value, of equal ones that which ends first. */
static uint32_t least_of(const struct decode_state *s, uint32_t v)
{
	double least = INFINITY;
	uint32_t best = 0;

	for (uint32_t i = 0; i < s->n_options; i++) {
		const struct option *o = &s->option[i];
		double value = o->end_s;

		if (s->x->rule == DECODE_LOOKAHEAD)
			value = o->after_s;
		if (s->x->rule == DECODE_OPTIMISTIC)
			value += s->view->oct[(size_t)v * s->l->k + o->dev];
		if (value < least || (value == least && o->end_s < s->option[best].end_s)) {
			least = value;
			best = i;
		}
	}
	return best;
}

/* Softmax of the scores into s->weight. */
static void softmax(struct decode_state *s, double temperature)
{
	double most = -INFINITY, sum = 0;

	for (uint32_t i = 0; i < s->n_options; i++)
		most = max2(most, s->score[i]);
	for (uint32_t i = 0; i < s->n_options; i++)
		sum += s->weight[i] = exp((s->score[i] - most) / temperature);
	for (uint32_t i = 0; i < s->n_options; i++)
		s->weight[i] /= sum;
}

static uint32_t draw_option(struct decode_state *s)
{
	softmax(s, s->x->temperature);
	double u = random_stream_uniform(s->x->draw);

	for (uint32_t i = 0; i + 1 < s->n_options; i++)
		if ((u -= s->weight[i]) < 0)
			return i;
	return s->n_options - 1;
}

/* The option that goes where the teacher went; the gradient of its log-likelihood. */
static uint32_t follow_option(struct decode_state *s, uint32_t v)
{
	struct decode *x = s->x;
	uint32_t want = x->follow[s->l->m->tasks.task_set[v]], at = s->n_options;
	float *weight = s->score;

	for (uint32_t i = 0; i < s->n_options; i++)
		if (s->option[i].dev == want)
			at = i;
	if (at == s->n_options)
		return least_of(s, v);
	softmax(s, 1);
	x->loss -= log(max2(s->weight[at], 1e-30));
	for (uint32_t i = 0; i < s->n_options; i++)
		weight[i] = (float)(x->weight * (s->weight[i] - (i == at)));
	if (x->grad)
		scorer_back(x->scorer, x->params, s->feature, s->n_options, weight, x->grad);
	return at;
}

static uint32_t choose_option(struct decode_state *s, uint32_t v)
{
	struct decode *x = s->x;
	uint32_t best = 0;

	if (s->n_options == 1)
		return 0;
	if (s->l->unit_dev[decode_unit(s, v)] != UINT16_MAX)
		return 0;
	x->n_choices++;
	if (x->rule == DECODE_LOOKAHEAD || x->rule == DECODE_POLICY)
		look_ahead(s, v);
	if (x->rule != DECODE_POLICY)
		return least_of(s, v);
	decode_features(s, v);
	scorer_run(x->scorer, x->params, s->feature, s->n_options, s->score);
	if (x->follow)
		return follow_option(s, v);
	if (x->draw)
		return draw_option(s);
	for (uint32_t i = 1; i < s->n_options; i++)
		if (s->score[i] > s->score[best])
			best = i;
	return best;
}

static void note_choice(struct decode_state *s, uint32_t v, const struct option *o)
{
	const struct cost_view *view = s->view;
	uint32_t class = view->twins[v], k = s->l->k;

	s->busy_s[o->dev] += o->cost_s;
	s->horizon_s = max2(s->horizon_s, o->end_s + view->rank[v] - view->mean_s[v]);
	s->horizon_oct_s = max2(s->horizon_oct_s, o->end_s + view->oct[(size_t)v * k + o->dev]);
	s->twin_on[(size_t) class * k + o->dev]++;
	s->twin_last[class] = o->dev;
}

static uint32_t choose_device(struct listsched *l, uint32_t v, void *arg)
{
	struct decode_state *s = arg;

	s->l = l;
	note_placed(s);
	s->last = v;
	if (method_is_late(s->x->deadline_s)) {
		double end_s;

		s->x->n_late++;
		return listsched_earliest(l, v, &end_s);
	}
	list_options(s, v);
	if (s->n_options == 0)
		return SCHED_NONE;
	const struct option *o = &s->option[choose_option(s, v)];

	note_choice(s, v, o);
	return o->dev;
}

/* ---- the whole ---- */

static void state_init(struct decode_state *s, struct decode *x, const struct cost_view *view,
		       struct arena *a)
{
	uint32_t k = view->k;

	*s = (struct decode_state){.x = x, .view = view};
	s->busy_s = ARENA_NEWN(a, double, k);
	s->twin_on = ARENA_NEWN(a, uint32_t, (size_t)view->n_twins * k);
	s->twin_last = ARENA_NEWN(a, uint32_t, view->n_twins);
	memset(s->twin_last, 0xff, view->n_twins * sizeof(*s->twin_last));
	s->option = ARENA_NEWN(a, struct option, k);
	s->feature = ARENA_NEWN(a, float, (size_t)k *DECODE_FEATURES);
	s->score = ARENA_NEWN(a, float, k);
	s->weight = ARENA_NEWN(a, double, k);
	s->near = ARENA_NEWN(a, struct option_near, k);
	s->share = ARENA_NEWN(a, double, k);
	s->child_ready_s = ARENA_NEWN(a, double, (size_t)MOST_CHILDREN *k);
	s->last = SCHED_NONE;
}

/* Rows for the tasks with many inputs; where no rule looks at children, none. */
static void init_known(struct decode_state *s, const struct listsched *l, struct arena *a)
{
	const struct sched_dag *d = l->d;

	s->known_ready_s = ARENA_NEWN(a, double *, l->n);
	if (s->x->rule != DECODE_LOOKAHEAD && s->x->rule != DECODE_POLICY)
		return;
	for (uint32_t v = 0; v < l->n; v++)
		if (d->in_ptr[v + 1] - d->in_ptr[v] >= MANY_INPUTS)
			s->known_ready_s[v] = ARENA_NEWN(a, double, l->k);
}

int decode_run(struct decode *x, const struct cost_view *view, uint16_t *device, struct err *e)
{
	struct arena *a = arena_new();
	struct decode_state s;
	struct listsched l;

	state_init(&s, x, view, a);
	struct place_model m = *view->m;

	if (x->group)
		place_model_together(&m, x->group, a);
	listsched_init(&l, &m, a);
	l.deadline_s = x->end_s;
	init_known(&s, &l, a);
	l.links = x->links && view->m->costs.contention ? listlinks_new(&l) : NULL;
	x->loss = 0;
	x->n_choices = x->n_late = 0;
	int rc = listsched_run(&l, view->rank, choose_device, &s, e);

	x->n_last = l.n_late;
	x->makespan_s = listsched_makespan_s(&l);
	listsched_placement(&l, device);
	listlinks_free(l.links);
	listsched_release(&l);
	arena_free(a);
	return rc;
}
