/* session.h - a model on a list of devices, and placements measured one after
 * another: everything that devrun does between two records. */
#ifndef HSDAG_MEASURE_SESSION_H
#define HSDAG_MEASURE_SESSION_H

#include "exec/model_inputs.h"
#include "measure/measure.h"
#include "race/beside.h"
#include "record/devrec.h"
#include "record/runrec.h"
#include "sched/slowed.h"
#include "timing/contest.h"

/* A placement on one device alone: what the others are compared with. */
struct single_reference {
	bool tried;
	char reason[sizeof((struct err *)0)->msg]; /* why it cannot run; "" when it can */
	bool lost;                                 /* it could be planned, but failed when it ran */
	struct measurement m;
	struct plan plan;
	bool has_plan;
	uint32_t n_cases; /* as in struct trial */
	double *case_s;
	struct served *served; /* with several requests in flight; else NULL */
};

struct joules; /* joules.h */

struct session {
	struct device_list devices;
	struct model model;
	struct planner planner;
	struct session_case *more; /* (n_more) session_use_cases: with other shapes */
	uint32_t n_more;
	struct session_whole *whole; /* session_use_whole; NULL: not used */
	struct executor *x;
	struct measure_options opt;
	struct in_flight flight; /* session_in_flight */
	double began_s;          /* clock_s() of session_open */
	bool no_reference;       /* set after opening: placements alone, ref_s stays 0 */
	uint32_t rounds; /* set after opening: in rounds (interleaved.h); 0: one after another */
	bool first_wins; /* set after opening: a verdict's answer is the first candidate that runs */
	bool core_speed; /* set after opening: sample how fast the cores are in each run */
	struct joules *
		joules; /* set after opening, borrowed: trials tell the energy of a run; NULL: they do not */
	bool schedules; /* set after opening: trials, and a verdict's answer, tell a schedule */
	bool has_costs; /* the planner's durations are those of a profile (planned_costs.h) */
	uint64_t seed;  /* of inputs, and of orders in rounds */
	const char *weights, *inputs; /* as session_open had them; borrowed */
	double max_error; /* set after opening, of contests: what computes less exactly is out (error_limit.h); negative: no limit */
	uint8_t *mask;    /* (n_sets, k) 1: the set can run there */
	uint32_t *
		first; /* (n_sets) session_allow: the first set that shares its device; NULL: any may part */
	uint8_t *may; /* (n_sets, k) session_allow: 1: the set may run there; NULL: anywhere */
	struct single_reference *single; /* (k) every device alone */
	int best;                        /* the fastest single device; -1: none */
	struct beside beside; /* it and those that are made like it, once placements are measured */
	struct plan_run reference_run[BESIDE_MOST];
	struct slowed
		*slowed; /* what slow devices do to placements; NULL: the reference is one device */
	uint16_t *step_device; /* (steps) room */
	struct arena *arena;
};

/* What one placement gave. */
struct trial {
	/* (1 + n_more, n_sets) index into the session's devices: rows as in struct place_rec; borrowed */
	const uint16_t *device;
	uint32_t n_more;
	const uint32_t *order; /* (n_order) as in struct place_rec, NULL: none; borrowed */
	uint32_t n_order;
	bool ok;
	char reason[sizeof((struct err *)0)->msg]; /* when not ok */
	struct measurement m;  /* with several requests in flight of runs of in_flight_requests */
	struct served *served; /* then, once it has been planned; else NULL */
	uint32_t n_cases;      /* 0: there is one list of shapes */
	double *case_s;        /* (n_cases) what an inference of each takes, beside nothing */
	double ref_s; /* best single device around it, the mean of its like; 0: there is none */
	struct interval ratio; /* when paired */
	bool has_ratio;
	struct contest_turns turns; /* of a race */
	bool left;                  /* it takes part in none: it left an earlier one */
	struct contest_past past;   /* what an earlier one measured of it */
	struct contest_bursts bursts;
	bool has_error; /* with a limit of error: how far its outputs are from those in f32 */
	double error;
	uint64_t *mem_bytes; /* (k) */
	bool has_joules;     /* measured: */
	double joules;       /* of a run */
	uint32_t n_copies;
	uint64_t copy_bytes;
	uint32_t n_in_host;         /* of the copies, tensors that are read where they are */
	uint32_t n_steps, n_splits; /* of the plan: groups; plan.n_splits */
	struct run_schedule
		*schedule; /* of one of its runs, by the session's devices; NULL: none */
};

/* Take over the (parsed) devices and open them with the model; g is borrowed.  inputs
 * NULL: from the seed.  Errors as model_open, model_mask and device_list_open. */
int session_open(struct session *s, const struct graph *g, struct device_list *devices,
		 bool allow_shared, const char *weights, const char *inputs, uint64_t seed,
		 const struct measure_options *o, struct err *e) MUST_CHECK;
void session_close(struct session *s);

/* Of a graph that dagsplit made: one device alone runs the model as it was before.  Inputs, states and weights are the
 * same.  Nothing for other graphs.  Errors as session_open; ST_INPUT: a model with other inputs or results. */
int session_use_whole(struct session *s, const char *weights, struct err *e) MUST_CHECK;

/* Of a graph with several cases: a run is one of each, and what it takes is their sum by weights.  Inputs of case i > 0 are those of the
 * directory `inputs`/i where there is one, else of `inputs`; NULL: drawn from the seed + i.  Nothing for other graphs.  Errors as
 * session_open. */
int session_use_cases(struct session *s, const char *weights, const char *inputs,
		      struct err *e) MUST_CHECK;

/* The model of case i <= n_more. */
const struct model *session_model(const struct session *s, uint32_t i);

/* Placements keep to the mask and the classes of devs, where they are about the session's graph: what does not cannot
 * run, and that may be every single device. */
void session_allow(struct session *s, const struct devs *d);
/* -1: a placement does not, and what it has where it must not. */
int session_may_run(const struct session *s, const uint16_t *device, struct err *e) MUST_CHECK;

/* Placements are measured with n requests in flight, before any is; request i > 0 has inputs of its own: those of the
 * directory `inputs`/i where there is one, else of `inputs`; NULL: drawn from the seed + i. */
int session_in_flight(struct session *s, uint32_t n, const char *inputs, struct err *e) MUST_CHECK;

/* Is that share of a race's seconds over?  PLANS_SHARE: what it has to prepare in. */
#define PLANS_SHARE 0.5
bool session_is_late(const struct session *s, double share);

/* Measure every single device, once per session; better durations for the planner come
 * of it.  -1 only when the output's reader has gone. */
int session_measure_singles(struct session *s, struct err *e) MUST_CHECK;

/* Measure t[n] in order, each in bursts between bursts of the best single device (beside.h).  Results from a.
 * A placement that cannot run, or whose device fails, is a trial with a reason.  -1: the
 * output's reader has gone, or every device has failed (ST_RUNTIME). */
int session_measure(struct session *s, struct trial *t, uint32_t n, struct arena *a,
		    struct err *e) MUST_CHECK;

/* plan_make of a trial's placement, in the order that it brings. */
int session_make(struct session *s, const struct trial *t, struct plan *out,
		 struct err *e) MUST_CHECK;

/* A plan (session_make) for measuring.  When several devices are at work, not all of which compile
 * segments, and durations are not a profile's, it is run a few times, and planned again by the durations of its steps when it took
 * another time than planned.  -1: it cannot run. */
int session_plan(struct session *s, const struct trial *t, struct plan *out,
		 struct err *e) MUST_CHECK;

/* The device that runs every step of a placement, or -1; without any step, 0. */
int session_single(const struct session *s, const uint16_t *device);
/* The same of a trial, whose replicas are no single device. */
static inline int trial_single(const struct session *s, const struct trial *t)
{
	return t->n_more ? -1 : session_single(s, t->device);
}

/* For a placement's requests in flight; NULL where there is only one. */
struct served *session_served(const struct session *s, struct arena *a);

/* What is known of t from its plan: memory, copies. */
void session_note_plan(const struct session *s, struct trial *t, const struct plan *p,
		       struct arena *a);

/* The schedule of trial t, which was measured with plan p; memory from a.  -1: a device failed. */
int session_schedule(struct session *s, struct trial *t, struct plan *p, struct arena *a,
		     struct err *e) MUST_CHECK;

/* One inference of a placement (with opt.keep_state as many as min_runs, from no state), and what
 * fn makes of its results.  -1 also when it cannot run. */
int session_results(struct session *s, const uint16_t *device,
		    int (*fn)(void *arg, const void *const *result, struct err *e), void *arg,
		    struct err *e) MUST_CHECK;
/* The same of the model with each of its lists of shapes, which fn is told the number of, 0 first; and by a plan that there is, of the
 * first of several requests. */
int session_case_results(struct session *s, const uint16_t *device,
			 int (*fn)(void *arg, uint32_t i, const void *const *result, struct err *e),
			 void *arg, struct err *e) MUST_CHECK;
int session_plan_results(struct session *s, struct plan *p,
			 int (*fn)(void *arg, uint32_t i, const void *const *result, struct err *e),
			 void *arg, struct err *e) MUST_CHECK;
/* The same of each request in flight, which all run at once; fn is told which one, and nothing of those that fail. */
int session_all_results(struct session *s, const uint16_t *device, uint32_t n_more,
			int (*fn)(void *arg, uint32_t request, const void *const *result,
				  struct err *e),
			void *arg, struct err *e) MUST_CHECK;

#endif
