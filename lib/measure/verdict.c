/* verdict.c - candidates against the best single device. */
#include "measure/verdict.h"

#include <math.h>
#include <string.h>

#include "measure/rounds.h"

enum { LEAST_ROUNDS = 8, ENOUGH_ROUNDS = 20 };
/* Of max_s, the seconds for one placement: what enough rounds may take, and more than enough. */
enum { ENOUGH_EFFORT = 20, MORE_EFFORT = 5 };

/* Who takes part: devices 0 .. k-1 alone, then the candidates. */
struct field {
	struct session *s;
	struct arena *a;
	uint32_t k, n;
	struct trial **trial;     /* (k + n) */
	int *single;              /* (k + n) the device that runs all of it, or -1 */
	struct plan *plan;        /* (k + n) zeros: none */
	bool *planned;            /* (k + n) false: cannot run, or a candidate on one device */
	struct measurement *heat; /* (k + n) n 0: did not take part */
};

/* ---- plans ---- */

static void plan_one(struct field *f, uint32_t i)
{
	struct trial *t = f->trial[i];
	struct err e = ERR_INIT;
	f->planned[i] = session_plan(f->s, t->device, &f->plan[i], &e) == 0;
	t->ok = f->planned[i];
	if (t->ok)
		session_note_plan(f->s, t, &f->plan[i], f->a);
	else
		memcpy(t->reason, e.msg, sizeof t->reason);
}

/* Memory for the largest plan, so that all of them share it: plans once without keeping any. */
static void reserve(struct field *f)
{
	struct planner *p = &f->s->planner;
	uint64_t *most = ARENA_NEWN(f->a, uint64_t, f->k);
	struct err e = ERR_INIT;
	for (uint32_t i = 0; i < f->n; i++) {
		struct plan x;
		if (i >= f->k && f->single[i] >= 0)
			continue;
		if (plan_make(p, f->trial[i]->device, &x, &e) == 0) {
			for (uint32_t d = 0; d < f->k; d++)
				most[d] = most[d] > x.tensor_bytes[d] ? most[d] : x.tensor_bytes[d];
			plan_release(&x);
		}
		err_clear(&e);
	}
	/* Without it each plan has memory of its own, or says that there is none. */
	if (planner_reserve(p, most, &e) < 0)
		err_clear(&e);
}

static void field_open(struct field *f, struct session *s, struct trial *t, uint32_t n,
		       struct verdict *v, struct arena *a)
{
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets;
	*f = (struct field){.s = s, .a = a, .k = k, .n = k + n};
	f->trial = ARENA_NEWN(a, struct trial *, f->n);
	f->single = ARENA_NEWN(a, int, f->n);
	f->plan = ARENA_NEWN(a, struct plan, f->n);
	f->planned = ARENA_NEWN(a, bool, f->n);
	f->heat = ARENA_NEWN(a, struct measurement, f->n);
	v->single = ARENA_NEWN(a, struct trial, k);
	for (uint32_t d = 0; d < k; d++) {
		uint16_t *device = ARENA_NEWN(a, uint16_t, n_sets);
		for (uint32_t i = 0; i < n_sets; i++)
			device[i] = (uint16_t)d;
		v->single[d].device = device;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		f->trial[i] = i < k ? &v->single[i] : &t[i - k];
		f->single[i] = i < k ? (int)i : session_single(s, f->trial[i]->device);
	}
	reserve(f);
	for (uint32_t i = 0; i < f->n; i++)
		if (i < k || f->single[i] < 0)
			plan_one(f, i);
}

static void field_close(struct field *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->planned[i])
			plan_release(&f->plan[i]);
}

/* ---- rounds ---- */

static struct rounds_options options(const struct measure_options *m, bool heats)
{
	uint32_t most = (uint32_t)m->max_runs, least = (uint32_t)m->min_runs;
	struct rounds_options o = {.warmup = m->warmup,
				   .max_s = ENOUGH_EFFORT * m->max_s,
				   .quick_s = MORE_EFFORT * m->max_s};
	o.enough = most < ENOUGH_ROUNDS ? most : ENOUGH_ROUNDS;
	o.least = least > LEAST_ROUNDS ? least : LEAST_ROUNDS;
	o.enough = o.enough < least ? least : o.enough;
	o.least = o.least < o.enough ? o.least : o.enough;
	o.most = heats || most < o.enough ? o.enough : most;
	return o;
}

/* Rounds of those for whom `in` holds; the results in their trials. */
static int run_contest(struct field *f, const bool *in, bool heats, struct err *e)
{
	struct entrant *t = MEM_NEWN(struct entrant, f->n);
	uint32_t *who = MEM_NEWN(uint32_t, f->n), n = 0;
	struct rounds_options o = options(&f->s->opt, heats);
	for (uint32_t i = 0; i < f->n; i++)
		if (in[i] && f->planned[i] && f->trial[i]->ok) {
			t[n] = (struct entrant){.plan = &f->plan[i], .may_drop = i >= f->k};
			who[n++] = i;
		}
	int rc = measure_rounds(f->s->x, t, n, f->k, &o, f->a, e);
	for (uint32_t j = 0; j < n && rc == 0; j++) {
		struct trial *x = f->trial[who[j]];
		x->ok = !t[j].failed;
		x->m = t[j].m;
		memcpy(x->reason, t[j].reason, sizeof x->reason);
	}
	mem_free(t);
	mem_free(who);
	return rc;
}

/* The fastest single device that runs; -1: none does. */
static int fastest_single(const struct field *f)
{
	int best = -1;
	for (uint32_t d = 0; d < f->k; d++)
		if (f->trial[d]->ok &&
		    (best < 0 || f->trial[d]->m.lat.mid < f->trial[best]->m.lat.mid))
			best = (int)d;
	return best;
}

/* The candidate for the final, -1 when there is none.  More than one: heats choose. */
static int choose_finalist(struct field *f, int *out, struct err *e)
{
	bool *in = ARENA_NEWN(f->a, bool, f->n);
	uint32_t n = 0;
	double least = INFINITY;
	*out = -1;
	for (uint32_t i = 0; i < f->n; i++) {
		in[i] = f->planned[i];
		if (i >= f->k && in[i]) {
			n++;
			*out = (int)i;
		}
	}
	if (n <= 1)
		return 0;
	if (run_contest(f, in, true, e) < 0)
		return -1;
	int ref = fastest_single(f);
	*out = -1;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct trial *t = f->trial[i];
		if (!t->ok || !in[i])
			continue;
		f->heat[i] = t->m;
		double x = ref < 0 ? t->m.lat.mid : rounds_ratio(&t->m, &f->trial[ref]->m).mid;
		if (i >= f->k && x < least) {
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
static void set_ratios(struct field *f, int reference, int winner)
{
	for (uint32_t i = 0; i < f->n && reference >= 0; i++) {
		bool final = i < f->k || (int)i == winner;
		if (i < f->k || f->single[i] < 0)
			set_ratio(f->trial[i], final ? &f->trial[i]->m : &f->heat[i],
				  final ? &f->trial[reference]->m : &f->heat[reference]);
	}
	for (uint32_t i = f->k; i < f->n; i++)
		if (f->single[i] >= 0) {
			const uint16_t *device = f->trial[i]->device;
			*f->trial[i] = *f->trial[f->single[i]];
			f->trial[i]->device = device;
		}
}

static int run_final(struct field *f, struct verdict *v, struct err *e)
{
	int w;
	if (choose_finalist(f, &w, e) < 0)
		return -1;
	bool *in = ARENA_NEWN(f->a, bool, f->n);
	for (uint32_t i = 0; i < f->n; i++)
		in[i] = i < f->k || (int)i == w;
	if (run_contest(f, in, false, e) < 0)
		return -1;
	v->reference = fastest_single(f);
	set_ratios(f, v->reference, w);
	if (w >= 0 && f->trial[w]->ok && (v->reference < 0 || f->trial[w]->ratio.hi < 1))
		v->winner = w - (int)f->k;
	if (v->winner < 0 && v->reference < 0)
		return err_set(e, ST_RUNTIME, "no placement can run: %s",
			       f->k ? f->trial[0]->reason : "there is no device");
	v->final = v->winner >= 0 ? *f->trial[w] : v->single[v->reference];
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
	struct field f;
	*out = (struct verdict){.winner = -1, .reference = -1, .diff = {0, 1, 0}};
	/* For the durations that plans are made of. */
	if (session_measure_singles(s, e) < 0)
		return -1;
	field_open(&f, s, t, n, out, a);
	int rc = run_final(&f, out, e);
	field_close(&f);
	return rc < 0 ? -1 : out->reference < 0 ? 0 : compare_outputs(s, out, a, e);
}
