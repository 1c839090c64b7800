/* topk - behind devsim, in front of devrun: of the placements that were simulated only the
 * best ones pass, so that a search screens many and measures few. */
#include <stdio.h>
#include <string.h>

#include "base/ascending.h"
#include "base/digest.h"
#include "base/msg.h"
#include "base/opt.h"
#include "record/graphrec.h"
#include "record/placerec.h"
#include "record/runrec.h"
#include "stream/filter.h"

enum { MAX_K = 1 << 20, MAX_PENDING = 1 << 12 };

struct options {
	int64_t k;
	double within;
	bool distinct;
};

/* A placement that was read. */
struct item {
	struct rec *rec; /* owned; NULL: passed on already, only its run is awaited */
	struct rollout_id id;
	char *source;  /* owned */
	uint64_t hash; /* of devices and placement */
	uint64_t order;
	double value, lat_s;
	bool has_value; /* value is not the latency */
};

struct filter_state {
	const struct options *o;
	struct filter f;
	struct arena *arena; /* of one record */
	bool has_graph, loop;
	uint64_t graph;
	uint32_t n_sets;
	struct item *pending; /* (n_pending) their runs have not come */
	struct item *best;    /* (n_best) by value, then order */
	size_t n_pending, pending_cap, n_best, best_cap;
	uint64_t n_seen, n_failed; /* placements since the last that were let through */
	char failure
		[300];    /* why an illegal one is: the first, or that with fewest bytes too many */
	uint64_t missing; /* these bytes; 0: not of memory */
};

static void item_release(struct item *x)
{
	rec_drop(x->rec);
	mem_free(x->source);
}

/* ---- what is kept ---- */

static bool better(const struct item *a, const struct item *b)
{
	return a->value < b->value || (a->value == b->value && a->order < b->order);
}

static void remove_best(struct filter_state *s, size_t i)
{
	item_release(&s->best[i]);
	memmove(s->best + i, s->best + i + 1, (s->n_best - i - 1) * sizeof(*s->best));
	s->n_best--;
}

/* Do these two place alike?  Their hashes are equal. */
static bool same_placement(struct filter_state *s, const struct item *a, const struct item *b)
{
	struct err none = ERR_INIT;
	struct place_rec p, q;

	if (place_decode(a->rec, s->n_sets, PLACE_REPLICAS, s->arena, &p, &none) < 0 ||
	    place_decode(b->rec, s->n_sets, PLACE_REPLICAS, s->arena, &q, &none) < 0 ||
	    p.k != q.k || p.n_more != q.n_more)
		return false;
	for (uint32_t i = 0; i < p.k; i++)
		if (strcmp(p.names[i], q.names[i]) != 0)
			return false;
	return memcmp(p.device, q.device, (1 + p.n_more) * (size_t)s->n_sets * sizeof(*p.device)) ==
	       0;
}

/* Takes x over. */
static void keep_if_best(struct filter_state *s, struct item *x)
{
	size_t lo = 0, hi = s->n_best;

	for (size_t i = 0; s->o->distinct && i < s->n_best; i++)
		if (s->best[i].hash == x->hash && same_placement(s, &s->best[i], x)) {
			if (!better(x, &s->best[i])) {
				item_release(x);
				return;
			}
			remove_best(s, i);
			hi = s->n_best;
			break;
		}
	BISECT(lo, hi, mid, !better(x, &s->best[mid]))
	if (lo == (size_t)s->o->k) {
		item_release(x);
		return;
	}
	if (s->n_best == (size_t)s->o->k)
		remove_best(s, s->n_best - 1);
	s->best = mem_grow(s->best, &s->best_cap, s->n_best + 1, sizeof(*s->best));
	memmove(s->best + lo + 1, s->best + lo, (s->n_best - lo) * sizeof(*s->best));
	s->best[lo] = *x;
	s->n_best++;
}

/* ---- letting through ---- */

/* A placement with what it should take, which the simulation told. */
static int emit(struct filter_state *s, const struct item *x, struct err *e)
{
	return place_encode_predicted(x->rec, x->lat_s, x->has_value, x->value, s->arena, s->f.out,
				      e);
}

static void report_counts(const struct filter_state *s, size_t n)
{
	if (n == 0 && s->n_seen)
		msg_warn("none of %llu placements is legal: %s%s", (unsigned long long)s->n_seen,
			 s->missing ? "the closest " : "", s->failure);
	else if (n)
		msg_note(1, "%zu of %llu placements (%llu not legal), %.6g to %.6g", n,
			 (unsigned long long)s->n_seen, (unsigned long long)s->n_failed,
			 s->best[0].value, s->best[n - 1].value);
}

/* All placements of an episode, or of the stream, are in. */
static int let_through(struct filter_state *s, struct err *e)
{
	size_t n = s->n_best;

	if (s->n_pending)
		return err_set(e, ST_INPUT,
			       "%zu placements without a run, the first of step %u, sample "
			       "%u; put devsim in front of topk",
			       s->n_pending, s->pending[0].id.step, s->pending[0].id.sample);
	while (s->o->within > 0 && n && s->best[n - 1].value > s->o->within * s->best[0].value)
		n--;
	report_counts(s, n);
	for (size_t i = 0; i < n; i++)
		if (emit(s, &s->best[i], e) < 0)
			return -1;
	while (s->n_best)
		remove_best(s, s->n_best - 1);
	s->n_seen = s->n_failed = 0;
	*s->failure = 0;
	s->missing = 0;
	return 0;
}

/* ---- records ---- */

static int take_graph(struct filter_state *s, const struct rec *r, struct err *e)
{
	if (s->has_graph)
		return err_set(e, ST_INPUT,
			       "two graphs in one stream; give each a stream of its own");
	if (graph_decode_size(r, &s->graph, &s->n_sets, e) < 0)
		return -1;
	s->has_graph = true;
	return filter_pass(&s->f, r, e);
}

static uint64_t hash_placement(const struct place_rec *p)
{
	uint64_t h = digest_of(p->device, (size_t)p->n_sets * sizeof(*p->device), p->k);

	for (uint32_t i = 0; i < p->k; i++)
		h = digest_of(p->names[i], strlen(p->names[i]), h);
	return h;
}

/* In a loop what no policy chose, single devices and the incumbent, always passes: the learner
 * compares with it. */
static int take_place(struct filter_state *s, const struct rec *r, struct err *e)
{
	bool passes = s->loop && !place_is_drawn(r);
	struct place_rec p;

	if (!s->has_graph)
		return err_set(e, ST_INPUT, "a place record before its graph");
	if (place_decode(r, s->n_sets, PLACE_REPLICAS, s->arena, &p, e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)r->index);
	if (p.id.graph != s->graph)
		return err_set(e, ST_INPUT, "place record %llu is about another graph",
			       (unsigned long long)r->index);
	if (s->n_pending == MAX_PENDING)
		return err_set(e, ST_INPUT,
			       "%d placements without a run; put devsim in front of topk",
			       MAX_PENDING);
	if (passes && filter_pass(&s->f, r, e) < 0)
		return -1;
	struct item x = {
		.rec = passes ? NULL : rec_keep(r), .id = p.id, .hash = hash_placement(&p)};

	if (!passes && !x.rec)
		return err_set(e, ST_RUNTIME, "no memory for a placement");
	x.source = mem_strdup(p.source);
	s->pending = mem_grow(s->pending, &s->pending_cap, s->n_pending + 1, sizeof(*s->pending));
	s->pending[s->n_pending++] = x;
	return 0;
}

/* Rank x by its run; takes x over. */
static void rank_item(struct filter_state *s, struct item *x, const struct run_rec *run)
{
	x->order = s->n_seen++;
	if (run->reason) {
		if (s->n_failed++ == 0 ||
		    (run->missing_bytes && (!s->missing || run->missing_bytes < s->missing))) {
			s->missing = run->missing_bytes;
			err_escape(s->failure, sizeof(s->failure), run->reason,
				   strlen(run->reason));
		}
		item_release(x);
		return;
	}
	x->lat_s = run->lat_s;
	x->has_value = run->has_value;
	x->value = run->has_value ? run->value : run->lat_s;
	keep_if_best(s, x);
}

static int take_run(struct filter_state *s, const struct rec *r, struct err *e)
{
	const unsigned keys = RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY | RUN_VALUE;
	struct run_rec run;

	if (run_decode(r, keys, s->arena, &run, e) < 0)
		return err_prefix(e, "run record %llu", (unsigned long long)r->index);
	for (size_t i = 0; i < s->n_pending; i++) {
		struct item x = s->pending[i];

		if (x.id.episode != run.id.episode || x.id.step != run.id.step ||
		    x.id.sample != run.id.sample || strcmp(x.source, run.source) != 0)
			continue;
		s->n_pending--;
		memmove(s->pending + i, s->pending + i + 1, (s->n_pending - i) * sizeof(x));
		if (x.rec)
			rank_item(s, &x, &run);
		else
			item_release(&x);
		return 0;
	}
	return err_set(e, ST_INPUT, "run record %llu is of a placement that did not come",
		       (unsigned long long)r->index);
}

static int on_record(struct filter_state *s, const struct rec *r, struct err *e)
{
	arena_reset(s->arena);
	if (rec_is(r, "graph"))
		return take_graph(s, r, e);
	if (rec_is(r, "place"))
		return take_place(s, r, e);
	if (rec_is(r, "run"))
		return take_run(s, r, e);
	if (rec_is(r, "episode")) {
		filter_absorb_interrupt();
		if (let_through(s, e) < 0)
			return -1;
		s->loop = true;
	}
	if (rec_is(r, "episode_end") && let_through(s, e) < 0)
		return -1;
	return filter_pass(&s->f, r, e);
}

static void forget(struct filter_state *s)
{
	for (size_t i = 0; i < s->n_pending; i++)
		item_release(&s->pending[i]);
	while (s->n_best)
		remove_best(s, s->n_best - 1);
	s->n_pending = 0;
	s->has_graph = s->loop = false;
}

static int run_filter(struct filter_state *s, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(&s->f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (on_record(s, &r, e) < 0)
				return -1;
			continue;
		}
		if (stages_check(&s->f.stages, NEEDS_PLACEMENTS, e) < 0 || let_through(s, e) < 0 ||
		    filter_end(&s->f, e) < 0)
			return -1;
		forget(s);
	}
	return k;
}

static const char details[] =
	"Reads placements with the runs that devsim gave them. The runs are dropped, and of the "
	"placements only the best pass, best first, when all are in: those with the least `value` "
	"(devsim --objective), else latency; never one that is not legal. They get predicted_s "
	"(and predicted_value) from the simulation. All other records pass as they come. Memory is "
	"that "
	"of K placements.\n"
	"\n"
	"In a training loop the choice is made once per episode, among the policy's placements; "
	"single devices and the incumbent always pass. reinforce then learns from the placements "
	"that were run, and only from these: let placepolicy -n draw several times as many "
	"(pipelines/place --screen).";

int main(int argc, char **argv)
{
	struct options o = {.k = 20, .distinct = true};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"best", 'k', OPT_INT, &o.k, "K", "let the K best placements through", 1, MAX_K,
		 NULL, NULL},
		{"within", 'w', OPT_REAL, &o.within, "X",
		 "of these, only those within X times the best one's value; 0: all", 0, 1e30, NULL,
		 NULL},
		{"distinct", 0, OPT_FLAG, &o.distinct, NULL, "placements that are alike count once",
		 0, 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "topk",
		.summary = "let only the best simulated placements through",
		.args = "[FILE]",
		.max_args = 1,
		.opts = opts,
		.details = details,
		.example = "ir2dag m.xml | devrun --probe --profile -D cpu:0,cpu:1 |\n"
			   "  placebase random -n 5000 | devsim | topk -k 20 | devrun | recdump -k "
			   "run\n"
			   "  ... gpnembed --params-from loop | placepolicy -n 20 | devsim | topk "
			   "-k 4 |\n"
			   "  devrun | reinforce --params-to loop > result.mp"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc > 0 && o.within > 0 && o.within < 1)
		rc = err_set(&e, ST_USAGE, "--within %g: nothing is better than the best",
			     o.within);
	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	struct filter_state s = {.o = &o, .arena = arena_new()};
	rc = filter_open(&s.f, first < argc ? argv[first] : "-", &common, argc, argv, &e);
	if (rc == 0)
		rc = filter_close(&s.f, run_filter(&s, &e), &e);
	forget(&s);
	mem_free(s.pending);
	mem_free(s.best);
	arena_free(s.arena);
	return filter_finish(rc, &common, &e);
}
