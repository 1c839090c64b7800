/* placebase - in the place of gpnembed and placepolicy: placements by classical
 * methods, without learning. */
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "graph/placerec.h"
#include "place/inputs.h"
#include "place/search.h"
#include "stream/filter.h"

enum draw { DRAW_MIXED, DRAW_BIASED, DRAW_UNIFORM };
static const char *const draws[] = {"mixed", "biased", "uniform", NULL};
enum { MAX_SAMPLES = 1 << 24, MAX_REPEATS = 1000 };

struct options {
	const char *method, *spec, *devices;
	int64_t samples, evals;
	int draw;                    /* enum draw */
	bool contention, overlap;
};

struct state {
	const struct options *o;
	const struct opt_common *common;
	struct place_inputs in;
	struct arena *arena;
	uint32_t k;
	const char *const *names;
	struct placement p;          /* what is emitted next */
	uint16_t *device;            /* (n_sets) */
};

static int emit(struct state *s, const char *source, uint32_t sample, struct filter *f,
		struct err *e)
{
	s->p.source = source;
	s->p.sample = sample;
	s->p.device = s->device;
	return placement_encode(&s->p, f->out, e);
}

static void all_on(struct state *s, uint32_t dev)
{
	for (uint32_t i = 0; i < s->in.g->n_sets; i++)
		s->device[i] = (uint16_t)dev;
}

/* single: every device in turn; single:DEV: that one.  Needs no costs. */
static int single(struct state *s, struct filter *f, struct err *e)
{
	const char *want = s->o->method + strlen("single");
	uint32_t sample = 0;

	for (uint32_t dev = 0; dev < s->k; dev++) {
		if (*want && strcmp(want + 1, s->names[dev]) != 0)
			continue;
		all_on(s, dev);
		if (emit(s, "single", sample++, f, e) < 0)
			return -1;
	}
	return sample ? 0 : err_set(e, ST_USAGE, "there is no device '%s'", want + 1);
}

/* Was this placement emitted before?  Remembers hashes (FNV-1a, 64 bits) in a table of
 * size cells, a power of two that is never filled; 0 marks a free cell. */
static bool seen_before(const struct state *s, uint64_t *table, size_t size)
{
	uint64_t h = UINT64_C(14695981039346656037);
	size_t at;

	for (uint32_t i = 0; i < s->in.g->n_sets; i++)
		h = (h ^ s->device[i]) * UINT64_C(1099511628211);
	h += h == 0;
	for (at = h & (size - 1); table[at]; at = (at + 1) & (size - 1))
		if (table[at] == h)
			return true;
	table[at] = h;
	return false;
}

/* Distinct placements; needs no costs either. */
static int random_samples(struct state *s, struct filter *f, struct err *e)
{
	struct place_model m;
	uint32_t sample = 0, repeats = 0;
	size_t size = 64;

	while (size < 2 * (size_t)s->o->samples)
		size *= 2;
	uint64_t *table = MEM_NEWN(uint64_t, size);
	place_inputs_masks(&s->in, s->names, s->k, s->arena, &m);
	for (uint32_t i = 0; sample < s->o->samples && repeats < MAX_REPEATS; i++) {
		bool biased = s->o->draw == DRAW_BIASED || (s->o->draw == DRAW_MIXED && i % 2 == 0);

		search_random(&m, (uint64_t)s->common->seed, i, biased, s->device);
		if (seen_before(s, table, size)) {
			repeats++;
			continue;
		}
		repeats = 0;
		if (emit(s, "random", sample++, f, e) < 0)
			break;
	}
	mem_free(table);
	if (sample < s->o->samples)
		msg_note(1, "random: found %u distinct placements", sample);
	return e->code ? -1 : 0;
}

static int make_model(struct state *s, struct place_model *m, struct err *e)
{
	return place_inputs_model(&s->in, s->names, s->k, s->arena, m, e);
}

static int climb(struct state *s, struct filter *f, struct err *e)
{
	struct place_model m;
	double start_s = 0, lat_s;

	if (make_model(s, &m, e) < 0)
		return -1;
	struct evaluator *x = evaluator_new(&m);
	int dev = place_best_single(x, &start_s);

	if (dev >= 0)
		all_on(s, (uint32_t)dev);
	else
		search_random(&m, (uint64_t)s->common->seed, 0, false, s->device);
	uint32_t used = search_climb(x, &m, (uint64_t)s->common->seed, (uint32_t)s->o->evals,
				     s->device, &lat_s);
	msg_note(1, "climb: %u evaluations, %.6g s from %.6g s", used, lat_s, start_s);
	evaluator_free(x);
	return emit(s, "climb", 0, f, e);
}

static int heft(struct state *s, struct filter *f, struct err *e)
{
	struct place_model m;
	double makespan_s;

	if (make_model(s, &m, e) < 0 || search_heft(&m, s->device, &makespan_s, e) < 0)
		return -1;
	msg_note(1, "heft: its own schedule takes %.6g s", makespan_s);
	return emit(s, "heft", 0, f, e);
}

static const struct method {
	const char *name;
	int (*run)(struct state *s, struct filter *f, struct err *e);
} methods[] = {{"single", single}, {"random", random_samples}, {"climb", climb}, {"heft", heft}};

/* NAME, and for single also single:DEVICE. */
static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		size_t n = strlen(methods[i].name);

		if (strcmp(methods[i].name, name) == 0 ||
		    (i == 0 && strncmp(name, "single:", n + 1) == 0 && name[n + 1]))
			return &methods[i];
	}
	return NULL;
}

/* Devices: -D, else the stream's, else the specification's. */
static int choose_devices(struct state *s, struct err *e)
{
	struct devs d;

	if (s->o->devices) {
		if (devs_from_list(s->o->devices, s->arena, &d, e) < 0)
			return -1;
		s->names = d.names;
		s->k = d.k;
	} else if (s->in.has_devs) {
		s->names = s->in.devs.names;
		s->k = s->in.devs.k;
	} else {
		const char **names = ARENA_NEWN(s->arena, const char *, s->in.spec.n_devs);

		for (uint32_t i = 0; i < s->in.spec.n_devs; i++)
			names[i] = s->in.spec.dev[i].name;
		s->names = names;
		s->k = s->in.spec.n_devs;
	}
	if (s->k == 0)
		return err_set(e, ST_USAGE, "no devices; put devrun --probe or devsim --probe "
			       "in front, or give --devices or --spec");
	return 0;
}

static int place(struct state *s, struct filter *f, struct err *e)
{
	if (!s->in.g)
		return err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
	arena_reset(s->arena);
	if (choose_devices(s, e) < 0)
		return -1;
	s->device = ARENA_NEWN(s->arena, uint16_t, s->in.g->n_sets);
	s->p = (struct placement){.graph = s->in.g->digest, .k = s->k, .names = s->names,
				  .n_sets = s->in.g->n_sets};
	return find_method(s->o->method)->run(s, f, e);
}

static int run_filter(struct state *s, struct filter *f, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (place_inputs_take(&s->in, &r, e) < 0 || filter_pass(f, &r, e) < 0)
				return -1;
			continue;
		}
		if (place(s, f, e) < 0 || filter_end(f, e) < 0)
			return -1;
		place_inputs_reset(&s->in);
	}
	return k;
}

int main(int argc, char **argv)
{
	struct options o = {.samples = 1, .evals = 500, .contention = true, .overlap = true};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct filter f;
	const struct opt opts[] = {
		{"samples", 'n', OPT_INT, &o.samples, "N", "random: this many distinct placements", 1,
		 MAX_SAMPLES, NULL, NULL},
		{"draw", 0, OPT_CHOICE, &o.draw, "HOW",
		 "random: devices equally likely (uniform), by a preference drawn for each\n"
		 "placement (biased), or both in turn", 0, 0, draws, NULL},
		{"evals", 0, OPT_INT, &o.evals, "N", "climb: at most this many simulations", 1, 4e9,
		 NULL, NULL},
		{"spec", 's', OPT_TEXT, &o.spec, "LIST", "device specification, as in devsim", 0, 0,
		 NULL, NULL},
		{"devices", 'D', OPT_TEXT, &o.devices, "LIST", "place on these devices", 0, 0, NULL,
		 NULL},
		{"contention", 0, OPT_FLAG, &o.contention, NULL,
		 "climb: copies on one link wait for each other", 0, 0, NULL, NULL},
		{"overlap", 0, OPT_FLAG, &o.overlap, NULL,
		 "climb: devices compute while they copy", 0, 0, NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "placebase", .summary = "place without learning", .args = "METHOD [FILE]",
		.min_args = 1, .max_args = 2, .has_seed = true, .opts = opts,
		.details = "Methods:\n"
			   "  single      every device alone; single:DEV only that one\n"
			   "  random      random search (-n placements); needs no costs\n"
			   "  climb       one-flip hill climbing from the best single device, "
			   "simulated\n"
			   "  heft        earliest finish time by upward rank (Topcuoglu et al. "
			   "2002)\n"
			   "Devices come from --devices, else from the stream's devs record, else from\n"
			   "--spec; costs from --spec, else from the stream's cost record.",
		.example = "ir2dag m.xml | devsim --probe | placebase climb --evals 2000 | devsim"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc <= 0)
		return opt_finish(rc, &e);
	o.method = argv[first];
	if (!find_method(o.method))
		return opt_finish(err_set(&e, ST_USAGE, "unknown method '%s'; --help lists them",
					  o.method), &e);
	struct state s = {.o = &o, .common = &common, .arena = arena_new()};
	rc = place_inputs_init(&s.in, o.spec, &e);
	s.in.contention = o.contention;
	s.in.overlap = o.overlap;
	if (rc == 0) {
		rc = filter_open(&f, first + 1 < argc ? argv[first + 1] : "-", &common, argc, argv,
				 &e);
		if (rc == 0)
			rc = filter_close(&f, run_filter(&s, &f, &e), &e);
	}
	place_inputs_release(&s.in);
	arena_free(s.arena);
	return opt_finish(rc, &e);
}
