/* dagpin - behind devrun probe, devsim --probe or json2dag: what a person says of where operations go, by their
 * names, becomes part of the devs record, which all programs behind it keep to. */
#include <stdio.h>

#include "place/problem/pins.h"
#include "record/graphrec.h"
#include "stream/filter.h"

struct state {
	const struct pins *pins;
	struct filter *f;
	struct graph *g; /* NULL: not seen yet */
	bool has_devs;
	struct arena *arena; /* of one record */
};

static int take_graph(struct state *s, const struct rec *r, struct err *e)
{
	if (s->g)
		return err_set(e, ST_INPUT,
			       "two graphs in one stream; give each a stream of its own");
	s->g = graph_decode(r, e);
	return s->g ? filter_pass(s->f, r, e) : -1;
}

static int take_devs(struct state *s, const struct rec *r, struct err *e)
{
	struct devs d;

	if (!s->g)
		return err_set(e, ST_INPUT, "a devs record before its graph");
	s->has_devs = true;
	arena_reset(s->arena);
	if (devs_decode(r, s->arena, &d, e) < 0 || pins_apply(s->pins, s->g, &d, s->arena, e) < 0)
		return -1;
	return devs_encode_masked(r, &d, s->arena, s->f->out, e);
}

static int end_stream(struct state *s, struct err *e)
{
	if (!s->has_devs)
		return err_set(e, ST_INPUT,
			       "no devs in the input; devrun probe, devsim --probe and json2dag "
			       "make them");
	graph_free(s->g);
	s->g = NULL;
	s->has_devs = false;
	return filter_end(s->f, e);
}

static int run(struct filter *f, const struct pins *pins, struct err *e)
{
	struct state s = {.pins = pins, .f = f, .arena = arena_new()};
	struct rec r;
	int k, rc = 0;

	while (rc == 0 && (k = filter_next(f, &r, e)) != 0)
		rc = k < 0                 ? -1
		     : k == FILTER_END     ? end_stream(&s, e)
		     : rec_is(&r, "graph") ? take_graph(&s, &r, e)
		     : rec_is(&r, "devs")  ? take_devs(&s, &r, e)
					   : filter_pass(f, &r, e);
	graph_free(s.g);
	arena_free(s.arena);
	return rc;
}

int main(int argc, char **argv)
{
	struct opt_common common = OPT_COMMON_INIT;
	struct pins pins = {0};
	const struct opt table[] = {
		{"pin", 'p', OPT_TEXTS, &pins.pin, "PATTERN=DEVICE",
		 "operations whose names match PATTERN go to DEVICE. Either may be a list\n"
		 "with commas: any of the patterns, one of the devices. Of several --pin\n"
		 "that match an operation the first counts",
		 0, 0, NULL, NULL},
		{"keep", 'k', OPT_TEXTS, &pins.keep, "PATTERN,...",
		 "operations that match any of these share one device, whichever", 0, 0, NULL,
		 NULL},
		{"default", 'd', OPT_TEXT, &pins.rest, "DEVICE",
		 "everything that no --pin is about goes there, as far as it can run\n"
		 "there; also a list, as cpu:0,cpu:1",
		 0, 0, NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "dagpin",
		.summary = "say by names which operations go to which devices",
		.args = "[FILE]",
		.max_args = 1,
		.opts = table,
		.details =
			"Reads graph and devs, and writes what is said here into the devs record. "
			"Placers, learners, the simulator and devrun keep to it. "
			"PATTERN is a glob: * is any text, ? a letter, [ab] one of these; "
			"\\ before a letter takes it as it is, as in \\, or \\*. A name is a "
			"pattern that matches itself. Operations that share a device, as those "
			"of a set do, go where the pinned ones of them go; parts of an operation "
			"where the operation goes. A pattern that matches no operation is an "
			"error.",
		.example = "ir2dag m.xml | devrun probe --profile -D cpu:0,cpu:1 |\n"
			   "  dagpin --pin 'conv*=cpu:0' --keep 'fc1,fc2' | placebase heft"};
	struct err e = ERR_INIT;
	struct filter f;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	rc = pins_check(&pins, &e);
	if (rc == 0)
		rc = filter_open(&f, first < argc ? argv[first] : "-", &common, argc, argv, &e);
	if (rc == 0)
		rc = filter_close(&f, run(&f, &pins, &e), &e);
	return filter_finish(rc, &common, &e);
}
