/* runrec.h - what devrun adds to a stream: `run` records of trials, the final `best` record of
 * a verdict, the `devs` and `cost` records of a
 * probe. */
#ifndef HSDAG_DEVICE_RUNREC_H
#define HSDAG_DEVICE_RUNREC_H

#include "device/profile.h"
#include "device/verdict.h"
#include "graph/devrec.h"
#include "graph/placerec.h"

/* The `run` record of t, which answers p; slot[p->k] are p's devices as the session counts them
 * (NULL: the same). */
int trial_encode(const struct session *s, const struct placement *p, const uint32_t *slot,
		 const struct trial *t, struct rec_writer *w, struct err *e) MUST_CHECK;

/* The final `best` record; p says where the winner comes from, and names the session's devices. */
int verdict_encode(const struct verdict *v, const struct session *s, const struct placement *p,
		   uint32_t n_groups, struct rec_writer *w, struct err *e) MUST_CHECK;

/* The devices named in `list` (memory: limits, may be NULL) and the sets of g that each can run,
 * as a `devs` record. */
int probe_encode(const struct graph *g, const char *list, const char *memory, bool allow_shared,
		 const char *weights, struct rec_writer *w, struct err *e) MUST_CHECK;

/* A session's devices with their links as a `devs` record, and a `cost` record. */
int profile_encode(const struct session *s, const struct profile *p, struct rec_writer *w,
		   struct err *e) MUST_CHECK;

#endif
