/* answer.c - picks the answer and its measurements out of a stream. */
#include "report/answer.h"
#include "record/graphrec.h"
#include "record/updaterec.h"

#include <string.h>

enum { MAX_SINGLES = 1024 };
static const double NO_GAIN = 0.995; /* a best that is faster by less is no other one */

void answer_init(struct answer *x)
{
	*x = (struct answer){.reference = "",
			     .not_compared = "",
			     .out_of = "",
			     .error_of = "",
			     .arena = arena_new(),
			     .spare = arena_new(),
			     .runs = arena_new()};
	x->single = ARENA_NEWN(x->runs, struct measured, MAX_SINGLES);
}

void answer_release(struct answer *x)
{
	graph_free(x->graph);
	raced_release(&x->raced);
	case_runs_release(&x->cases);
	mem_free(x->tried);
	arena_free(x->arena);
	arena_free(x->spare);
	arena_free(x->runs);
}

static int take_graph(struct answer *x, const struct rec *r, struct err *e)
{
	struct graph *g = graph_decode(r, e);
	if (!g)
		return -1;
	/* Whoever writes a stream can give two graphs one digest. */
	if (x->graph && (x->graph->digest != g->digest || x->graph->n != g->n ||
			 x->graph->n_sets != g->n_sets || x->graph->n_cases != g->n_cases ||
			 !x->graph->whole != !g->whole)) {
		err_set(e, ST_INPUT, "record %llu is a second graph; one graph at a time, please",
			(unsigned long long)r->index);
		graph_free(g);
		return -1;
	}
	graph_free(x->graph);
	x->graph = g;
	return 0;
}

int answer_replica(struct answer *x, int64_t which, struct err *e)
{
	if (which > 1 + (int64_t)x->place.n_more)
		return err_set(e, ST_USAGE, "--replica: the answer has %u", 1 + x->place.n_more);
	x->replica = (uint32_t)which - 1;
	x->place.device += (size_t)x->replica * x->place.n_sets;
	return 0;
}

int answer_single(const struct answer *x, uint32_t i)
{
	ptrdiff_t row = (ptrdiff_t)i - x->replica, n = x->place.n_sets;
	const uint16_t *device = x->place.device + row * n;
	for (ptrdiff_t s = 1; s < n; s++)
		if (device[s] != device[0])
			return -1;
	return n ? device[0] : 0;
}

void answer_join_parts(struct answer *x)
{
	struct graph *whole = x->graph ? x->graph->whole : NULL;
	if (!whole || x->kind == ANSWER_NONE || x->place.n_sets == 0)
		return;
	for (uint32_t r = 0; r <= x->place.n_more; r++)
		if (answer_single(x, r) < 0)
			return;
	size_t rows = 1 + x->place.n_more, n = whole->n_sets;
	uint16_t *device = arena_raw(x->arena, rows * n, sizeof *device);
	for (uint32_t r = 0; r < rows; r++) {
		uint16_t d = (uint16_t)answer_single(x, r);
		for (size_t i = 0; i < n; i++)
			device[r * n + i] = d;
	}
	x->place.device = device + x->replica * n;
	x->place.n_sets = whole->n_sets;
	x->graph = whole; /* they share their memory */
}

/* ---- runs ---- */

struct measured measured_of_run(const struct run_rec *x)
{
	return (struct measured){.given = true,
				 .reason = x->reason,
				 .lat_s = x->lat_s,
				 .lo_s = x->lo_s,
				 .hi_s = x->hi_s,
				 .ref_s = x->ref_s,
				 .has_ratio = x->has_ratio,
				 .ratio = x->ratio,
				 .ratio_lo = x->ratio_lo,
				 .ratio_hi = x->ratio_hi,
				 .has_copies = x->has_copies,
				 .copies = x->copies,
				 .copy_bytes = x->copy_bytes,
				 .requests = x->flight.requests,
				 .p95_s = x->flight.p95_s};
}

/* Also *sample, where it is not NULL. */
static int read_run(const struct rec *r, struct arena *a, struct measured *m, uint32_t *sample,
		    struct err *e)
{
	const unsigned keys = RUN_LATENCY | RUN_INTERVAL | RUN_REFERENCE | RUN_RATIO | RUN_COPIES |
			      RUN_FLIGHT | (sample ? RUN_SAMPLE : 0);
	struct run_rec x;
	if (run_decode(r, keys, a, &x, e) < 0)
		return -1;
	*m = measured_of_run(&x);
	if (sample)
		*sample = x.id.sample;
	return 0;
}

/* Of the `place` that would be the answer. */
static int take_run_of_place(struct answer *x, const struct rec *r, struct err *e)
{
	const struct rollout_id *want = &x->place.id;
	struct rollout_id id;
	if (x->kind != ANSWER_PLACE)
		return 0;
	if (rollout_id_decode(r->map, ID_STEP | ID_SAMPLE, &id, e) < 0)
		return -1;
	if (id.episode != want->episode || id.step != want->step || id.sample != want->sample)
		return 0;
	x->simulated = run_is_simulated(r);
	uint64_t k[1] = {x->place.k};
	x->mem_bytes = NULL;
	if (val_get(r->map, "mem_bytes") &&
	    get_tensor(r->map, "mem_bytes", TT_U64, 1, k, x->runs, &x->mem_bytes, e) < 0)
		return -1;
	x->has_joules = val_get(r->map, "joules") != NULL;
	x->usd_per_million = 0;
	if ((x->has_joules && get_real(r->map, "joules", &x->joules, e) < 0) ||
	    (val_get(r->map, "usd_per_million") &&
	     get_real(r->map, "usd_per_million", &x->usd_per_million, e) < 0))
		return -1;
	x->n_pools = UINT64_MAX;
	if (!val_get(r->map, "pool_bytes"))
		x->n_pools = 0;
	else if (get_tensor(r->map, "pool_bytes", TT_U64, 1, &x->n_pools, x->runs, &x->pool_bytes,
			    e) < 0)
		return -1;
	return flight_decode(r, x->runs, &x->flight, e) < 0 ? -1
							    : read_run(r, x->runs, &x->m, NULL, e);
}

static int take_raced(struct answer *x, const struct rec *r, struct err *e)
{
	const unsigned keys = RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY | RUN_INTERVAL |
			      RUN_RATIO | RUN_TURNS | RUN_FLIGHT | RUN_ERROR;
	struct run_rec run;
	if (!run_has_turns(r))
		return 0;
	if (run_decode(r, keys, x->runs, &run, e) < 0)
		return -1;
	raced_take(&x->raced, &run);
	return 0;
}

/* Of a model with several lists of shapes. */
static int take_cases(struct answer *x, const struct rec *r, struct err *e)
{
	struct run_rec run;
	if (!val_get(r->map, "case_s"))
		return 0;
	if (run_decode(r, RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_CASES, x->runs, &run, e) < 0)
		return -1;
	if (!x->graph || run.n_cases != x->graph->n_cases)
		return err_set(e, ST_INPUT, "case_s of %u cases", run.n_cases);
	case_runs_run(&x->cases, &run);
	return 0;
}

/* A report of placements tells all of them; what a learner tries has a `best`. */
static int take_tried(struct answer *x, const struct rec *r, struct err *e)
{
	const unsigned keys =
		RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY | RUN_INTERVAL | RUN_REFERENCE;
	struct run_rec run;
	if (x->kind != ANSWER_PLACE || !val_get(r->map, "step") || !val_get(r->map, "source"))
		return 0;
	if (run_decode(r, keys, x->runs, &run, e) < 0)
		return -1;
	x->tried = mem_grow(x->tried, &x->cap_tried, x->n_tried + 1, sizeof *x->tried);
	x->tried[x->n_tried++] = (struct tried){run.id, run.source, measured_of_run(&run)};
	return 0;
}

static void keep_random(struct answer *x, const struct measured *m)
{
	struct measured *beside = ARENA_NEWN(x->runs, struct measured, (size_t)x->n_single + 1);
	memcpy(beside, x->single, x->n_single * sizeof *beside);
	x->random = *m;
	x->random_race = x->n_finals;
	x->beside = beside;
	x->n_beside = x->n_single;
}

struct measured answer_random(const struct answer *x)
{
	struct measured m = x->random;
	for (uint32_t d = 0; d < x->n_beside && d < x->place.k; d++) {
		double by = x->beside[d].has_ratio ? x->beside[d].ratio : 0;
		if (!m.has_ratio || !(by > 0) || strcmp(x->place.names[d], x->reference) != 0)
			continue;
		m.ratio /= by;
		m.ratio_lo /= by;
		m.ratio_hi /= by;
	}
	for (uint32_t d = 0; d < x->n_single && d < x->place.k; d++) {
		const struct measured *ref = &x->single[d];
		bool earlier = x->random_race + 1 < x->n_finals && m.has_ratio && m.lat_s > 0;
		if (!earlier || !ref->given || ref->reason ||
		    strcmp(x->place.names[d], x->reference) != 0)
			continue;
		double by = m.ratio * ref->lat_s / m.lat_s;
		m.lat_s *= by;
		m.lo_s *= by;
		m.hi_s *= by;
	}
	return m;
}

static int take_run(struct answer *x, const struct rec *r, struct err *e)
{
	struct measured m;
	uint32_t sample;
	bool single = run_source_is(r, "single");
	if (take_run_of_place(x, r, e) < 0 || take_tried(x, r, e) < 0 || take_raced(x, r, e) < 0 ||
	    take_cases(x, r, e) < 0)
		return -1;
	if (!single && !run_source_is(r, "random"))
		return 0;
	if (read_run(r, x->runs, &m, &sample, e) < 0)
		return -1;
	if (single && sample < MAX_SINGLES) {
		x->single[sample] = m;
		if (sample >= x->n_single)
			x->n_single = sample + 1;
	} else if (!single) {
		x->n_random_now++;
		if (x->n_random_now > x->n_random)
			x->n_random = x->n_random_now;
		bool later = m.has_ratio && !m.reason && x->random_race < x->n_finals;
		bool compared = x->random.has_ratio; /* with the answer, in the same rounds */
		bool better = !m.reason && (x->random.reason || m.lat_s < x->random.lat_s);
		if (!x->random.given || later || m.has_ratio > compared ||
		    (m.has_ratio == compared && better))
			keep_random(x, &m);
	}
	return 0;
}

static int take_update(struct answer *x, const struct rec *r, struct err *e)
{
	struct update_rec u;
	if (update_decode_counts(r, &u, e) < 0)
		return -1;
	x->n_measured += (uint64_t)u.ok + u.failed;
	x->n_episodes++;
	if (u.best_ratio > 0 && (x->best_ratio == 0 || u.best_ratio < x->best_ratio * NO_GAIN)) {
		x->best_ratio = u.best_ratio;
		x->last_gain = x->n_episodes;
	}
	return 0;
}

/* ---- placements ---- */

/* The arena for a placement that is only looked at so far. */
static int begin_placement(struct answer *x, const struct rec *r, struct err *e)
{
	if (!x->graph)
		return err_set(e, ST_INPUT, "record %llu places a graph that is not in the stream",
			       (unsigned long long)r->index);
	arena_reset(x->spare);
	return 0;
}

static int check_graph(const struct answer *x, const struct place_rec *p, const struct rec *r,
		       struct err *e)
{
	if (p->id.graph != x->graph->digest)
		return err_set(e, ST_INPUT, "record %llu places another graph than the stream's",
			       (unsigned long long)r->index);
	return 0;
}

static void keep_placement(struct answer *x, enum answer_kind kind, const struct place_rec *p)
{
	struct arena *old = x->arena;
	x->arena = x->spare;
	x->spare = old;
	x->kind = kind;
	x->place = *p;
	x->replica = 0;
	x->m = (struct measured){0};
	x->simulated = false;
	x->n_groups = 0;
	x->mem_bytes = NULL;
	x->n_pools = 0;
	x->has_joules = false;
	x->usd_per_million = 0;
}

static int take_place(struct answer *x, const struct rec *r, struct err *e)
{
	struct place_rec p;
	bool counts = x->kind <= ANSWER_PLACE;
	if (begin_placement(x, r, e) < 0)
		return -1;
	if (place_decode(r, x->graph->n_sets, PLACE_REPLICAS | (counts ? PLACE_BOUND : 0), x->spare,
			 &p, e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)r->index);
	if (check_graph(x, &p, r, e) < 0)
		return -1;
	if (x->graph->n_cases) {
		struct place_rec kept;
		if (place_decode(r, x->graph->n_sets, 0, x->runs, &kept, e) < 0)
			return -1;
		case_runs_place(&x->cases, &kept);
	}
	x->n_places += counts;
	if (counts)
		keep_placement(x, ANSWER_PLACE, &p);
	return 0;
}

static int take_best(struct answer *x, const struct rec *r, struct err *e)
{
	struct best_rec b;
	if (begin_placement(x, r, e) < 0 ||
	    best_decode(r, x->graph->n_sets, PLACE_REPLICAS, x->spare, &b, e) < 0 ||
	    check_graph(x, &b.place, r, e) < 0)
		return -1;
	enum answer_kind kind = b.final ? ANSWER_FINAL : ANSWER_BEST;
	if (kind < x->kind || (kind == ANSWER_BEST && b.rank != 0))
		return 0;
	if (best_decode_result(r, x->spare, &b, e) < 0)
		return -1;
	keep_placement(x, kind, &b.place);
	x->n_groups = b.n_groups;
	x->m = (struct measured){.given = true,
				 .lat_s = b.lat_s,
				 .lo_s = b.lo_s,
				 .hi_s = b.hi_s,
				 .ref_s = b.ref_s,
				 .has_ratio = b.has_ratio,
				 .ratio = b.ratio,
				 .ratio_lo = b.ratio_lo,
				 .ratio_hi = b.ratio_hi,
				 .has_copies = b.has_copies,
				 .copies = b.copies,
				 .copy_bytes = b.copy_bytes,
				 .requests = b.flight.requests,
				 .p95_s = b.flight.p95_s};
	if (!b.final)
		return 0;
	x->reference = b.reference;
	x->n_pairs = b.n_pairs;
	x->race = b.race;
	x->says = b.verdict;
	x->load = b.load;
	x->flight = b.flight;
	raced_end(&x->raced);
	x->n_finals++;
	x->n_random_now = 0;
	x->has_diff = b.has_diff;
	x->not_compared = b.not_compared;
	x->mem_bytes = b.mem_bytes;
	x->out_mse = b.out_mse;
	x->out_cos = b.out_cos;
	x->out_max = b.out_max;
	x->out_of = b.out_of;
	x->has_error = b.has_error;
	x->error = b.error;
	x->max_error = b.max_error;
	x->error_of = b.error_of;
	return 0;
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
	if (!x->random.has_ratio)
		x->random = (struct measured){0};
	x->n_random = x->n_random_now = 0;
}

int answer_take_random(struct answer *x, const struct rec *r, struct err *e)
{
	struct rollout_id id;
	if (!rec_is(r, "run") || !run_source_is(r, "random"))
		return 0;
	if (rollout_id_decode(r->map, ID_GRAPH, &id, e) < 0 || take_run(x, r, e) < 0)
		return err_prefix(e, "record %llu 'run'", (unsigned long long)r->index);
	if (x->graph && id.graph != x->graph->digest)
		return err_set(e, ST_INPUT, "record %llu is a run of another graph",
			       (unsigned long long)r->index);
	return 0;
}

int answer_take_search(struct answer *x, const struct rec *r, struct err *e)
{
	if (rec_is(r, "hdr")) {
		x->n_measured = x->n_episodes = x->last_gain = 0;
		x->best_ratio = 0;
	}
	if (rec_is(r, "update") && take_update(x, r, e) < 0)
		return err_prefix(e, "record %llu 'update'", (unsigned long long)r->index);
	return 0;
}

int answer_take_value(struct answer *x, const struct rec *r, struct err *e)
{
	struct run_rec run;
	if (!rec_is(r, "run"))
		return 0;
	if (run_decode(r, ID_GRAPH | RUN_SAMPLE | RUN_VALUE, x->runs, &run, e) < 0)
		return err_prefix(e, "record %llu 'run'", (unsigned long long)r->index);
	if (x->graph && run.id.graph != x->graph->digest)
		return err_set(e, ST_INPUT, "record %llu is a run of another graph",
			       (unsigned long long)r->index);
	bool single = run_source_is(r, "single");
	if (run.reason || !run.has_value || (single && run.id.sample >= MAX_SINGLES))
		return 0;
	struct measured *m = single ? &x->single[run.id.sample] : &x->m;
	m->has_value = true;
	m->value = run.value;
	return 0;
}
