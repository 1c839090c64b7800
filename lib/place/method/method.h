/* method.h - what a placement method is, and the table of them.  A method is one file and one line
 * of methods.h; it sees a problem and hands over one or more placements. */
#ifndef HSDAG_PLACE_METHOD_METHOD_H
#define HSDAG_PLACE_METHOD_METHOD_H

#include "base/clock.h"
#include "place/method/methods.h"
#include "place/simulate/evaluate.h"
#include "place/simulate/units.h"

struct search_context;

enum method_draw { DRAW_MIXED, DRAW_BIASED, DRAW_UNIFORM };

/* One run of a method.  It fills device and calls emit, once for each placement. */
struct method_run {
	/* only what place_inputs_masks fills, for methods without needs_costs */
	const struct place_model *m;
	const char *arg; /* of NAME:ARG; NULL when there is none */
	uint64_t seed;
	uint64_t evals; /* simulations that a search may make; 0: its own default */
	/* seconds that a search may take: it goes on until then unless evals end it first;
	 * 0: not limited, and the answer does not depend on the clock */
	double budget_s;
	double began_s;        /* of clock_s: when the budget began; 0: when the method runs */
	int threads;           /* answers do not depend on it while budget_s is 0 */
	const uint16_t *start; /* (n_sets) where a search may begin, or NULL */
	const uint32_t *start_order; /* (n_start_order) its order, as `order` below, or NULL */
	uint32_t n_start_order;
	uint32_t samples; /* random: distinct placements */
	enum method_draw draw;
	struct arena *a;

	uint16_t *device;   /* (n_sets) the placement to hand over: indices into names */
	const char *source; /* of the next placement; NULL: the method's name */
	/* its sets in the order in which devices run them, as in struct place_rec; NULL: none */
	const uint32_t *order;
	uint32_t n_order;
	const uint16_t *more; /* (n_more, n_sets) replicas behind device, as in struct place_rec */
	uint32_t n_more;
	/* (k) m's devices, and more when a person's placement has more */
	const char *const *names;
	uint32_t k;
	/* no placement is better, in whichever order devices run it, as far as the caller and then
	 * the method know; 0: they do not */
	double bound_s;
	/* the same for the model's order rule alone; below bound_s: nothing more is known */
	double rule_bound_s;
	/* (k) shares of devices that bound_load_s found (bound_parts.h); NULL: nobody asked it */
	const double *share;
	const struct search_context
		*context; /* of m (search_context.h), for several runs; NULL: each makes its own */
	char note[200];   /* what there is to tell about the run; may stay empty */
	int (*emit)(struct method_run *r, struct err *e);
};

/* When r's budget began, and when it ends, of clock_s; 0: it has none. */
static inline double method_began_s(const struct method_run *r)
{
	return r->began_s > 0 ? r->began_s : clock_s();
}

static inline double method_deadline_s(const struct method_run *r)
{
	return r->budget_s > 0 ? method_began_s(r) + r->budget_s : 0;
}

/* For methods whose own costs or bounds are of one schedule.  ST_USAGE: the model has several lists of shapes. */
static inline int method_one_case(const struct method_run *r, const char *name, struct err *e)
{
	return r->m->n_cases == 0
		       ? 0
		       : err_set(e, ST_USAGE, "%s is about a model with one list of shapes", name);
}

/* Is it over?  0: there is none. */
static inline bool method_is_late(double deadline_s)
{
	return deadline_s > 0 && clock_s() > deadline_s;
}

/* A bound before or in a method has this part of its budget: until when (of clock_s), 0: as long as it takes. */
static inline double method_bound_until_s(const struct method_run *r)
{
	return r->budget_s > 0 ? clock_s() + r->budget_s / 10 : 0;
}

/* Which problems a method is about; the portfolio runs it on no others. */
enum method_scope {
	SCOPE_ALL,
	SCOPE_SCHEDULES,      /* makespans */
	SCOPE_PERIODS,        /* pipelines */
	SCOPE_DNNPART_LATENCY /* dnnpart-latency */
};
/* What a method counts as evaluations. */
enum method_evals {
	EVALS_MOVES, /* simulations, each a few moves from the last one */
	EVALS_WHOLE, /* simulations of placements that are far from each other */
	EVALS_OWN    /* something else; the method knows how many are enough */
};

/* What a method is.  Each is defined in its own file, which one line of methods.h registers. */
struct place_method {
	const char *name;
	const char *arg; /* what NAME:ARG takes; NULL: nothing */
	bool needs_arg, needs_costs;
	const char *about, *source; /* one line; whose idea it is, "-": nobody's in particular */
	int (*run)(struct method_run *r, struct err *e);
	enum method_scope scope;
	enum method_evals evals;
	/* it does not look at other placements: who asked is told where one device, or layers, are
	 * better */
	bool is_heuristic;
};
extern const struct place_method *const place_methods[]; /* in the order of methods.h; NULL ends */

/* NAME or NAME:ARG (*arg then points behind the colon, else NULL).  ST_USAGE when there is no such
 * method or the argument is out of place. */
const struct place_method *place_method_find(const char *text, const char **arg,
					     struct err *e) MUST_CHECK;

/* A list of them, METHOD,METHOD, into out[most]; text is cut into them, and holds their arguments.  What follows a comma is
 * another method where it begins with the name of one, and else goes on with the argument before it.  Returns their number, or -1:
 * ST_USAGE. */
struct place_chosen {
	const struct place_method *method;
	const char *arg; /* of NAME:ARG, else NULL */
};
int place_methods_find(char *text, int most, struct place_chosen *out, struct err *e) MUST_CHECK;

/* Make r->device legal where it is not and that can be, and say so at the end of r->note; u: of
 * r->m.  Returns whether it is legal (repair.c). */
bool method_mend(struct method_run *r, const struct place_units *u);

/* Hand over the best single device, where there was no time for the method, or it is not about so many devices; `why` is the note (repair.c).
 * ST_RUNTIME: none is legal. */
int method_single_instead(struct method_run *r, const char *why, struct err *e) MUST_CHECK;

#define PLACE_METHOD_DECLARE(name) extern const struct place_method method_##name;
PLACE_METHODS(PLACE_METHOD_DECLARE)

#endif
