/* proberec.h - the records that devrun --probe adds to a stream: `devs`, and with --profile
 * `cost`. */
#ifndef HSDAG_PROFILE_PROBEREC_H
#define HSDAG_PROFILE_PROBEREC_H

#include "profile/profile.h"
#include "measure/session.h"
#include "record/costrec.h"
#include "stream/rec.h"

/* The devices named in `list` (memory, headroom: limits, may be NULL) and the sets of g that each can run,
 * as a `devs` record. */
int probe_encode(const struct graph *g, const char *list, const char *memory, const char *headroom,
		 bool allow_shared, const char *weights, struct rec_writer *w,
		 struct err *e) MUST_CHECK;

/* A session's devices with their links as a `devs` record. */
int profile_devs_encode(const struct session *s, const struct profile *p, struct rec_writer *w,
			struct err *e) MUST_CHECK;
/* Its costs: what profile_take gave stays borrowed, all else is from a, also when the session has ended. */
struct cost_rec profile_costs(const struct session *s, const struct profile *p, struct arena *a);

#endif
