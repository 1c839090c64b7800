/* pretrain_state.c - see pretrain_state.h. */
#include "learn/pretrain/pretrain_state.h"

#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "learn/params/moments.h"
#include "record/paramsrec.h"

void pretrain_state_init(struct pretrain_state *s, const struct learned_params *x)
{
	*s = (struct pretrain_state){
		.start = digest_of(x->p->data, x->p->n * sizeof(*x->p->data), 0),
		.known = MEM_NEWN(struct known, KNOWN_KEPT)};
	adam_init(&s->adam, x->p->n, 0);
}

void pretrain_state_release(struct pretrain_state *s)
{
	for (uint32_t i = 0; i < KNOWN_KEPT; i++)
		mem_free(s->known[i].best);
	mem_free(s->known);
	adam_release(&s->adam);
}

/* ---- writing ---- */

static int write_head(struct rec_writer *w, const struct pretrain_state *s,
		      const struct learned_params *x, const struct pretrain_plan *plan,
		      struct err *e)
{
	rec_begin(w, "pretraining");
	put_uint(w, "seed", plan->seed);
	put_uint(w, "tasks", plan->most_tasks);
	put_uint(w, "moves", plan->move_rounds);
	put_uint(w, "policy", plan->policy_rounds);
	put_real(w, "lr", plan->lr);
	put_uint(w, "without", x->without);
	put_uint(w, "start", s->start);
	put_uint(w, "part", s->part);
	put_uint(w, "round", s->round);
	return rec_end(w, e);
}

static int write_moments(struct rec_writer *w, const struct pretrain_state *s, struct err *e)
{
	rec_begin(w, "moments");
	put_text(w, "block", block_names[BLOCK_COSTS]);
	moments_put(w, &s->adam);
	return rec_end(w, e);
}

static int write_teachers(struct rec_writer *w, const struct pretrain_state *s, struct err *e)
{
	uint32_t n = s->n_known < KNOWN_KEPT ? s->n_known : KNOWN_KEPT;
	uint32_t *number = MEM_NEWN(uint32_t, (size_t)n + 1),
		 *sets = MEM_NEWN(uint32_t, (size_t)n + 1);
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++) {
		number[i] = s->known[i].number;
		sets[i] = s->known[i].n_sets;
		all += sets[i];
	}
	uint16_t *device = MEM_NEWN(uint16_t, all + 1);

	for (uint32_t i = 0, at = 0; i < n; at += sets[i++])
		memcpy(device + at, s->known[i].best, sets[i] * sizeof(*device));
	rec_begin(w, "teachers");
	put_uint(w, "known", s->n_known);
	put_vector(w, "number", TT_U32, n, number);
	put_vector(w, "sets", TT_U32, n, sets);
	put_vector(w, "device", TT_U16, all, device);
	mem_free(number);
	mem_free(sets);
	mem_free(device);
	return rec_end(w, e);
}

int pretrain_state_write(const struct pretrain_state *s, const struct learned_params *x,
			 const struct pretrain_plan *plan, struct err *e)
{
	struct rec_writer *w = rec_writer_open(plan->checkpoint, NULL, e);
	int rc = w ? 0 : -1;

	if (rc == 0)
		rc = rec_write_hdr(w, NULL, plan->f, e);
	if (rc == 0)
		rc = write_head(w, s, x, plan, e);
	if (rc == 0)
		rc = learned_params_encode(x, plan->seed, w, e);
	if (rc == 0)
		rc = write_moments(w, s, e);
	if (rc == 0)
		rc = write_teachers(w, s, e);
	if (rc == 0)
		rc = rec_write_end(w, e);
	if (w && rec_writer_close(w, rc == 0, e) < 0)
		rc = -1;
	return rc < 0 ? err_prefix(e, "checkpoint '%s'", plan->checkpoint) : 0;
}

/* ---- reading ---- */

static int read_head(const struct rec *r, struct pretrain_state *s, const struct learned_params *x,
		     const struct pretrain_plan *plan, struct err *e)
{
	const struct {
		const char *key, *option;
		uint64_t is;
	} whole[] = {{"seed", "--seed", plan->seed},
		     {"tasks", "--tasks", plan->most_tasks},
		     {"moves", "--moves", plan->move_rounds},
		     {"policy", "--policy", plan->policy_rounds},
		     {"without", "--without-...", x->without},
		     {"start", "--params", s->start}};
	uint64_t value;
	double lr;

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		if (get_uint(r->map, whole[i].key, 0, UINT64_MAX, &value, e) < 0)
			return -1;
		if (value != whole[i].is)
			return err_set(e, ST_INPUT, "it was begun with another %s",
				       whole[i].option);
	}
	if (get_real(r->map, "lr", &lr, e) < 0 || get_u32(r->map, "part", 0, &s->part, e) < 0 ||
	    get_u32(r->map, "round", 0, &s->round, e) < 0)
		return -1;
	return lr == plan->lr ? 0 : err_set(e, ST_INPUT, "it was begun with another --lr");
}

static int read_teachers(const struct rec *r, struct pretrain_state *s, struct err *e)
{
	uint64_t n[1] = {UINT64_MAX}, all[1] = {UINT64_MAX}, sum = 0;
	uint32_t *number, *sets;
	uint16_t *device;
	struct arena *a = arena_new();
	int rc = -1;

	if (get_u32(r->map, "known", 0, &s->n_known, e) < 0 ||
	    get_tensor(r->map, "number", TT_U32, 1, n, a, &number, e) < 0 ||
	    get_tensor(r->map, "sets", TT_U32, 1, n, a, &sets, e) < 0 ||
	    get_tensor(r->map, "device", TT_U16, 1, all, a, &device, e) < 0)
		goto out;
	for (uint64_t i = 0; i < n[0]; i++)
		sum += sets[i];
	if (n[0] != (s->n_known < KNOWN_KEPT ? s->n_known : KNOWN_KEPT) || sum != all[0]) {
		err_set(e, ST_INPUT, "teachers are not as long as they say");
		goto out;
	}
	for (uint64_t i = 0; i < n[0]; device += sets[i++]) {
		mem_free(s->known[i].best);
		s->known[i] = (struct known){number[i], sets[i],
					     mem_copy(device, sets[i], sizeof(*device))};
	}
	rc = 0;
out:
	arena_free(a);
	return rc;
}

int pretrain_state_read(struct pretrain_state *s, struct learned_params **x,
			const struct pretrain_plan *plan, struct err *e)
{
	enum { HEAD = 1, PARAMS = 2, MOMENTS = 4, TEACHERS = 8, ALL = 15 };
	struct rec_reader *in = rec_reader_open(plan->checkpoint, -1, e);
	unsigned seen = 0;
	struct rec r;
	int k = in ? 1 : -1;

	while (k > 0 && (k = rec_next(in, &r, e)) > 0) {
		int rc = 0;

		if (rec_is(&r, "pretraining")) {
			rc = read_head(&r, s, *x, plan, e);
			seen |= HEAD;
		} else if (!(seen & HEAD)) {
			continue;
		} else if (rec_is(&r, "params")) {
			rc = learned_params_decode(&r, x, e);
			seen |= PARAMS;
		} else if (rec_is(&r, "moments") && seen & PARAMS) {
			rc = moments_get(r.map, &s->adam, e);
			seen |= MOMENTS;
		} else if (rec_is(&r, "teachers")) {
			rc = read_teachers(&r, s, e);
			seen |= TEACHERS;
		}
		k = rc < 0 ? -1 : k;
	}
	rec_reader_close(in);
	if (k == 0 && seen != ALL)
		k = err_set(e, ST_INPUT, "it is not a checkpoint of pretrain");
	return k < 0 ? err_prefix(e, "checkpoint '%s'", plan->checkpoint) : 0;
}
