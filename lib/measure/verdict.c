/* verdict.c - candidates against the best single device. */
#include "measure/verdict.h"

#include <math.h>
#include <string.h>

#include "measure/rounds.h"

enum { LEAST_ROUNDS = 8, ENOUGH_ROUNDS = 20 };
/* Of max_s, the seconds for one placement: what enough rounds may take, and more than enough. */
enum { ENOUGH_EFFORT = 20, MORE_EFFORT = 5 };

/* Who takes part: devices 0 .. k-1 alone, then the candidates. */
struct participants {
	struct session *s;
	struct arena *a;
	uint32_t k, n;
	struct trial **trial; /* (k + n) */
	int *single;          /* (k + n) the device that runs all of it, or -1 */
	struct plan *plan;    /* (k + n) zeros: none */
	bool *planned;        /* (k + n) false: cannot run, or a candidate on one device */
	struct measurement *qualifying; /* (k + n) n 0: did not take part */
};

/* ---- plans ---- */

static void plan_one(struct participants *p, uint32_t i)
{
	struct trial *t = p->trial[i];
	struct err e = ERR_INIT;
	p->planned[i] = session_plan(p->s, t->device, &p->plan[i], &e) == 0;
	t->ok = p->planned[i];
	if (t->ok)
		session_note_plan(p->s, t, &p->plan[i], p->a);
	else
		memcpy(t->reason, e.msg, sizeof t->reason);
}

/* Memory for the largest plan, so that all of them share it: plans once without keeping any. */
static void reserve(struct participants *p)
{
	struct planner *planner = &p->s->planner;
	uint64_t *most = ARENA_NEWN(p->a, uint64_t, p->k);
	struct err e = ERR_INIT;
	for (uint32_t i = 0; i < p->n; i++) {
		struct plan x;
		if (i >= p->k && p->single[i] >= 0)
			continue;
		if (plan_make(planner, p->trial[i]->device, &x, &e) == 0) {
			for (uint32_t d = 0; d < p->k; d++)
				most[d] = most[d] > x.tensor_bytes[d] ? most[d] : x.tensor_bytes[d];
			plan_release(&x);
		}
		err_clear(&e);
	}
	/* Without it each plan has memory of its own, or says that there is none. */
	if (planner_reserve(planner, most, &e) < 0)
		err_clear(&e);
}

static void participants_open(struct participants *p, struct session *s, struct trial *t,
			      uint32_t n, struct verdict *v, struct arena *a)
{
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets;
	*p = (struct participants){.s = s, .a = a, .k = k, .n = k + n};
	p->trial = ARENA_NEWN(a, struct trial *, p->n);
	p->single = ARENA_NEWN(a, int, p->n);
	p->plan = ARENA_NEWN(a, struct plan, p->n);
	p->planned = ARENA_NEWN(a, bool, p->n);
	p->qualifying = ARENA_NEWN(a, struct measurement, p->n);
	v->single = ARENA_NEWN(a, struct trial, k);
	for (uint32_t d = 0; d < k; d++) {
		uint16_t *device = ARENA_NEWN(a, uint16_t, n_sets);
		for (uint32_t i = 0; i < n_sets; i++)
			device[i] = (uint16_t)d;
		v->single[d].device = device;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		p->trial[i] = i < k ? &v->single[i] : &t[i - k];
		p->single[i] = i < k ? (int)i : session_single(s, p->trial[i]->device);
	}
	reserve(p);
	for (uint32_t i = 0; i < p->n; i++)
		if (i < k || p->single[i] < 0)
			plan_one(p, i);
}

static void participants_close(struct participants *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->planned[i])
			plan_release(&p->plan[i]);
}

/* ---- qualifying and final rounds ---- */

static struct rounds_options options(const struct measure_options *m, bool qualifying)
{
	uint32_t most = (uint32_t)m->max_runs, least = (uint32_t)m->min_runs;
	struct rounds_options o = {.warmup = m->warmup,
				   .max_s = ENOUGH_EFFORT * m->max_s,
				   .quick_s = MORE_EFFORT * m->max_s};
	o.enough = most < ENOUGH_ROUNDS ? most : ENOUGH_ROUNDS;
	o.least = least > LEAST_ROUNDS ? least : LEAST_ROUNDS;
	o.enough = o.enough < least ? least : o.enough;
	o.least = o.least < o.enough ? o.least : o.enough;
	o.most = qualifying || most < o.enough ? o.enough : most;
	return o;
}

/* Rounds of those for whom `in` holds; the results in their trials. */
static int run_rounds(struct participants *p, const bool *in, bool qualifying, struct err *e)
{
	struct participant *t = MEM_NEWN(struct participant, p->n);
	uint32_t *who = MEM_NEWN(uint32_t, p->n), n = 0;
	struct rounds_options o = options(&p->s->opt, qualifying);
	for (uint32_t i = 0; i < p->n; i++)
		if (in[i] && p->planned[i] && p->trial[i]->ok) {
			t[n] = (struct participant){.plan = &p->plan[i], .may_drop = i >= p->k};
			who[n++] = i;
		}
	int rc = measure_rounds(p->s->x, t, n, p->k, &o, p->a, e);
	for (uint32_t j = 0; j < n && rc == 0; j++) {
		struct trial *x = p->trial[who[j]];
		x->ok = !t[j].failed;
		x->m = t[j].m;
		memcpy(x->reason, t[j].reason, sizeof x->reason);
	}
	mem_free(t);
	mem_free(who);
	return rc;
}

/* The fastest single device that runs; -1: none does. */
static int fastest_single(const struct participants *p)
{
	int best = -1;
	for (uint32_t d = 0; d < p->k; d++)
		if (p->trial[d]->ok &&
		    (best < 0 || p->trial[d]->m.lat.mid < p->trial[best]->m.lat.mid))
			best = (int)d;
	return best;
}

/* The candidate for the final, -1 when there is none.  Of several, qualifying rounds choose. */
static int choose_finalist(struct participants *p, int *out, struct err *e)
{
	bool *in = ARENA_NEWN(p->a, bool, p->n);
	uint32_t n = 0;
	double least = INFINITY;
	*out = -1;
	for (uint32_t i = 0; i < p->n; i++) {
		in[i] = p->planned[i];
		if (i >= p->k && in[i]) {
			n++;
			*out = (int)i;
		}
	}
	if (n <= 1)
		return 0;
	if (run_rounds(p, in, true, e) < 0)
		return -1;
	int ref = fastest_single(p);
	*out = -1;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct trial *t = p->trial[i];
		if (!t->ok || !in[i])
			continue;
		p->qualifying[i] = t->m;
		double x = ref < 0 ? t->m.lat.mid : rounds_ratio(&t->m, &p->trial[ref]->m).mid;
		if (i >= p->k && x < least) {
			least = x;
			*out = (int)i;
		}
	}
	return 0;
}

static void set_ratio(struct trial *t, const struct measurement *m, const struct measurement *ref)
{
	if (!t->ok || m->n == 0 || ref->n == 0)
		return;
	t->ref_s = ref->lat.mid;
	t->ratio = m == ref ? (struct interval){1, 1, 1} : rounds_ratio(m, ref);
	t->has_ratio = true;
}

/* Ratios of all to the reference; candidates on one device are that device. */
static void set_ratios(struct participants *p, int reference, int winner)
{
	for (uint32_t i = 0; i < p->n && reference >= 0; i++) {
		bool final = i < p->k || (int)i == winner;
		if (i < p->k || p->single[i] < 0)
			set_ratio(p->trial[i], final ? &p->trial[i]->m : &p->qualifying[i],
				  final ? &p->trial[reference]->m : &p->qualifying[reference]);
	}
	for (uint32_t i = p->k; i < p->n; i++)
		if (p->single[i] >= 0) {
			const uint16_t *device = p->trial[i]->device;
			*p->trial[i] = *p->trial[p->single[i]];
			p->trial[i]->device = device;
		}
}

static int run_final(struct participants *p, struct verdict *v, struct err *e)
{
	int w;
	if (choose_finalist(p, &w, e) < 0)
		return -1;
	bool *in = ARENA_NEWN(p->a, bool, p->n);
	for (uint32_t i = 0; i < p->n; i++)
		in[i] = i < p->k || (int)i == w;
	if (run_rounds(p, in, false, e) < 0)
		return -1;
	v->reference = fastest_single(p);
	set_ratios(p, v->reference, w);
	if (w >= 0 && p->trial[w]->ok && (v->reference < 0 || p->trial[w]->ratio.hi < 1))
		v->winner = w - (int)p->k;
	if (v->winner < 0 && v->reference < 0)
		return err_set(e, ST_RUNTIME, "no placement can run: %s",
			       p->k ? p->trial[0]->reason : "there is no device");
	v->final = v->winner >= 0 ? *p->trial[w] : v->single[v->reference];
	v->n_pairs = v->final.m.n;
	return 0;
}

/* ---- outputs ---- */

struct results {
	const struct model *m;
	void **copy; /* (n_results) */
	struct output_difference diff;
};

static int keep_results(void *arg, const void *const *result, struct err *e)
{
	struct results *r = arg;
	for (uint32_t i = 0; i < r->m->n_results; i++) {
		/* A result of dynamic shape is a struct tensor; its data follow. */
		enum { HEAD = (sizeof(struct tensor) + 63) / 64 * 64 };
		struct tensor want = result_tensor(r->m, i), t = result_value(r->m, i, result[i]);
		size_t bytes = (size_t)tensor_bytes(&t), head = tensor_is_static(&want) ? 0 : HEAD;
		if (!(r->copy[i] = mem_try(head + bytes + 1)))
			return err_set(e, ST_RUNTIME, "no memory for %zu bytes of results", bytes);
		if (bytes)
			memcpy((char *)r->copy[i] + head, t.data, bytes);
		t.data = (char *)r->copy[i] + head;
		if (head)
			memcpy(r->copy[i], &t, sizeof t);
	}
	return 0;
}

static int compare_results(void *arg, const void *const *result, struct err *e)
{
	struct results *r = arg;
	(void)e;
	r->diff = outputs_compare(r->m, result, (const void *const *)r->copy);
	return 0;
}

/* A device that fails here takes the comparison with it, not the verdict. */
static int compare_outputs(struct session *s, struct verdict *v, struct arena *a, struct err *e)
{
	struct results r = {.m = &s->model, .copy = ARENA_NEWN(a, void *, s->model.n_results)};
	int rc = session_results(s, v->single[v->reference].device, keep_results, &r, e);
	if (rc == 0)
		rc = session_results(s, v->final.device, compare_results, &r, e);
	for (uint32_t i = 0; i < s->model.n_results; i++)
		mem_free(r.copy[i]);
	v->diff = r.diff;
	if (rc == 0 || !executor_alive(s->x))
		return rc;
	memcpy(v->not_compared, e->msg, sizeof v->not_compared);
	err_clear(e);
	return 0;
}

int verdict_reach(struct session *s, struct trial *t, uint32_t n, struct arena *a,
		  struct verdict *out, struct err *e)
{
	struct participants p;
	*out = (struct verdict){.winner = -1, .reference = -1, .diff = {0, 1, 0}};
	/* For the durations that plans are made of. */
	if (session_measure_singles(s, e) < 0)
		return -1;
	participants_open(&p, s, t, n, out, a);
	int rc = run_final(&p, out, e);
	participants_close(&p);
	return rc < 0 ? -1 : out->reference < 0 ? 0 : compare_outputs(s, out, a, e);
}
