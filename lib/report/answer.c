/* answer.c - picks the answer and its measurements out of a stream. */
#include "report/answer.h"
#include "record/graphrec.h"

#include <string.h>

enum { MAX_SINGLES = 1024 };

void answer_init(struct answer *x)
{
	*x = (struct answer){
		.reference = "", .arena = arena_new(), .spare = arena_new(), .runs = arena_new()};
	x->single = ARENA_NEWN(x->runs, struct measured, MAX_SINGLES);
}

void answer_release(struct answer *x)
{
	graph_free(x->graph);
	arena_free(x->arena);
	arena_free(x->spare);
	arena_free(x->runs);
}

static int take_graph(struct answer *x, const struct rec *r, struct err *e)
{
	struct graph *g = graph_decode(r, e);
	if (!g)
		return -1;
	if (x->graph && x->graph->digest != g->digest) {
		err_set(e, ST_INPUT, "record %llu is a second graph; one graph at a time, please",
			(unsigned long long)r->index);
		graph_free(g);
		return -1;
	}
	graph_free(x->graph);
	x->graph = g;
	return 0;
}

/* Optional keys: false when absent; a wrong type is an error like everywhere. */
static int optional_real(const struct val *map, const char *key, double *out, bool *given,
			 struct err *e)
{
	*given = val_get(map, key) != NULL;
	return *given ? get_real(map, key, out, e) : 0;
}

static int take_ratio(const struct val *map, struct measured *m, struct err *e)
{
	m->has_ratio = val_get(map, "ratio") != NULL;
	if (!m->has_ratio)
		return 0;
	return get_real(map, "ratio", &m->ratio, e) < 0 ||
			       get_real(map, "ratio_lo", &m->ratio_lo, e) < 0 ||
			       get_real(map, "ratio_hi", &m->ratio_hi, e) < 0
		       ? -1
		       : 0;
}

static int take_copies(const struct val *map, struct measured *m, struct err *e)
{
	m->has_copies = val_get(map, "copies") != NULL;
	if (!m->has_copies)
		return 0;
	return get_uint(map, "copies", 0, UINT64_MAX, &m->copies, e) < 0 ||
			       get_uint(map, "copy_bytes", 0, UINT64_MAX, &m->copy_bytes, e) < 0
		       ? -1
		       : 0;
}

/* ---- runs ---- */

static int read_run(const struct rec *r, struct arena *a, struct measured *m, struct err *e)
{
	bool ok;
	*m = (struct measured){.given = true};
	if (get_bool(r->map, "ok", &ok, e) < 0)
		return -1;
	if (!ok)
		return get_text(r->map, "reason", a, &m->reason, e);
	if (get_real(r->map, "lat_s", &m->lat_s, e) < 0 ||
	    get_real(r->map, "lo_s", &m->lo_s, e) < 0 ||
	    get_real(r->map, "hi_s", &m->hi_s, e) < 0 ||
	    get_real(r->map, "ref_s", &m->ref_s, e) < 0 || take_ratio(r->map, m, e) < 0)
		return -1;
	return take_copies(r->map, m, e);
}

static bool source_is(const struct rec *r, const char *name)
{
	const char *s;
	size_t n;
	const struct val *v = val_get(r->map, "source");
	return v && val_bytes(v, &s, &n) && n == strlen(name) && memcmp(s, name, n) == 0;
}

/* Of the `place` that would be the answer. */
static int take_run_of_place(struct answer *x, const struct rec *r, struct err *e)
{
	uint64_t episode, step, sample;
	if (x->kind != ANSWER_PLACE)
		return 0;
	if (get_uint(r->map, "episode", 0, UINT32_MAX, &episode, e) < 0 ||
	    get_uint(r->map, "step", 0, UINT32_MAX, &step, e) < 0 ||
	    get_uint(r->map, "sample", 0, UINT32_MAX, &sample, e) < 0)
		return -1;
	if (episode != x->place.episode || step != x->place.step || sample != x->place.sample)
		return 0;
	x->simulated = val_get(r->map, "period_s") != NULL;
	return read_run(r, x->runs, &x->m, e);
}

static int take_run(struct answer *x, const struct rec *r, struct err *e)
{
	struct measured m;
	uint64_t sample;
	bool single = source_is(r, "single");
	if (take_run_of_place(x, r, e) < 0)
		return -1;
	if (!single && !source_is(r, "random"))
		return 0;
	if (read_run(r, x->runs, &m, e) < 0 ||
	    get_uint(r->map, "sample", 0, UINT32_MAX, &sample, e) < 0)
		return -1;
	if (single && sample < MAX_SINGLES) {
		x->single[sample] = m;
		if (sample >= x->n_single)
			x->n_single = (uint32_t)sample + 1;
	} else if (!single) {
		x->n_random++;
		if (!x->random.given ||
		    (!m.reason && (x->random.reason || m.lat_s < x->random.lat_s)))
			x->random = m;
	}
	return 0;
}

static int take_update(struct answer *x, const struct rec *r, struct err *e)
{
	uint64_t ok, failed;
	if (get_uint(r->map, "ok", 0, UINT32_MAX, &ok, e) < 0 ||
	    get_uint(r->map, "failed", 0, UINT32_MAX, &failed, e) < 0)
		return -1;
	x->n_measured += ok + failed;
	x->n_episodes++;
	return 0;
}

/* ---- placements ---- */

static int decode(struct answer *x, const struct rec *r, struct placement *p, struct err *e)
{
	if (!x->graph)
		return err_set(e, ST_INPUT, "record %llu places a graph that is not in the stream",
			       (unsigned long long)r->index);
	arena_reset(x->spare);
	if (placement_decode(r, x->graph->n_sets, x->spare, p, e) < 0)
		return -1;
	if (p->graph != x->graph->digest)
		return err_set(e, ST_INPUT, "record %llu places another graph than the stream's",
			       (unsigned long long)r->index);
	return 0;
}

static void keep(struct answer *x, enum answer_kind kind, const struct placement *p)
{
	struct arena *old = x->arena;
	x->arena = x->spare;
	x->spare = old;
	x->kind = kind;
	x->place = *p;
	x->m = (struct measured){0};
	x->simulated = false;
	x->n_groups = 0;
}

static int take_place(struct answer *x, const struct rec *r, struct err *e)
{
	struct placement p;
	if (decode(x, r, &p, e) < 0)
		return -1;
	if (x->kind > ANSWER_PLACE)
		return 0;
	keep(x, ANSWER_PLACE, &p);
	bool given;
	return optional_real(r->map, "bound_s", &x->place.bound_s, &given, e);
}

static int take_final(struct answer *x, const struct val *m, struct err *e)
{
	uint64_t n_pairs;
	if (get_text(m, "reference", x->arena, &x->reference, e) < 0 ||
	    get_uint(m, "n_pairs", 0, UINT32_MAX, &n_pairs, e) < 0 ||
	    get_real(m, "lo_s", &x->m.lo_s, e) < 0 || get_real(m, "hi_s", &x->m.hi_s, e) < 0)
		return -1;
	x->n_pairs = (uint32_t)n_pairs;
	bool mse, cosine, largest;
	if (optional_real(m, "out_mse", &x->out_mse, &mse, e) < 0 ||
	    optional_real(m, "out_cos", &x->out_cos, &cosine, e) < 0 ||
	    optional_real(m, "out_max", &x->out_max, &largest, e) < 0)
		return -1;
	x->has_diff = mse && cosine && largest;
	return 0;
}

static int take_best(struct answer *x, const struct rec *r, struct err *e)
{
	struct placement p;
	uint64_t rank, n_groups;
	bool final = false;
	if (decode(x, r, &p, e) < 0 || get_uint(r->map, "rank", 0, UINT32_MAX, &rank, e) < 0 ||
	    get_uint(r->map, "n_groups", 0, UINT32_MAX, &n_groups, e) < 0 ||
	    (val_get(r->map, "final") && get_bool(r->map, "final", &final, e) < 0))
		return -1;
	enum answer_kind kind = final ? ANSWER_FINAL : ANSWER_BEST;
	if (kind < x->kind || (kind == ANSWER_BEST && rank != 0))
		return 0;
	keep(x, kind, &p);
	x->n_groups = (uint32_t)n_groups;
	x->m.given = true;
	if (get_real(r->map, "lat_s", &x->m.lat_s, e) < 0 ||
	    get_real(r->map, "ref_s", &x->m.ref_s, e) < 0 || take_ratio(r->map, &x->m, e) < 0 ||
	    take_copies(r->map, &x->m, e) < 0)
		return -1;
	x->m.lo_s = x->m.hi_s = x->m.lat_s;
	return final ? take_final(x, r->map, e) : 0;
}

int answer_take(struct answer *x, const struct rec *r, struct err *e)
{
	static const struct {
		const char *kind;
		int (*take)(struct answer *, const struct rec *, struct err *);
	} kinds[] = {
		{"graph", take_graph}, {"place", take_place},   {"best", take_best},
		{"run", take_run},     {"update", take_update},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (rec_is(r, kinds[i].kind)) {
			if (kinds[i].take(x, r, e) == 0)
				return 0;
			return i == 0 ? -1
				      : err_prefix(e, "record %llu '%s'",
						   (unsigned long long)r->index, kinds[i].kind);
		}
	return 0;
}

void answer_forget_random(struct answer *x)
{
	x->random = (struct measured){0};
	x->n_random = 0;
}

int answer_take_random(struct answer *x, const struct rec *r, struct err *e)
{
	uint64_t graph;
	if (!rec_is(r, "run") || !source_is(r, "random"))
		return 0;
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &graph, e) < 0 || take_run(x, r, e) < 0)
		return err_prefix(e, "record %llu 'run'", (unsigned long long)r->index);
	if (x->graph && graph != x->graph->digest)
		return err_set(e, ST_INPUT, "record %llu is a run of another graph",
			       (unsigned long long)r->index);
	return 0;
}
