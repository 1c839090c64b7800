/* learned_params.h - the scorers of learned methods and where their parameters come from: those
 * that the library was built with (pretrained), a file, or a seed.
 *
 * The file is a stream with one `params` record of block `costs`.  Its version tells what the
 * features mean; another one is refused. */
#ifndef HSDAG_PLACE_LEARNED_LEARNED_PARAMS_H
#define HSDAG_PLACE_LEARNED_LEARNED_PARAMS_H

#include "learn/params/scorer.h"
#include "record/paramsrec.h"

enum { LEARNED_VERSION = 3 };

/* What scorers were learned without, for ablations. */
enum learned_without { WITHOUT_COSTS = 1, WITHOUT_STRUCTURE = 2, WITHOUT_PARSING = 4 };

struct learned_params {
	unsigned without; /* of enum learned_without; learned_params_leave_out sets it */
	struct params *p;
	struct scorer edges;     /* of an edge that should stay within a device (parse.h) */
	struct scorer policy;    /* of a device for a task (decode.h) */
	struct scorer moves;     /* of a patch to move (patch.h) */
	uint64_t seed;           /* of the first values */
	uint32_t episode;        /* of a training that went on with them; 0: none */
	enum params_block block; /* costs, or adapt: those that a training makes for itself */
};

/* From a seed: nothing is learned yet. */
struct learned_params *learned_params_new(uint64_t seed);
/* From now on without these: features are not looked at, graphs are not parsed. */
void learned_params_leave_out(struct learned_params *x, unsigned without);
void learned_params_free(struct learned_params *x);

/* Those that were learned beforehand; the same for all, never freed.  NULL
 * (ST_RUNTIME): they cannot be read. */
const struct learned_params *learned_params_default(struct err *e) MUST_CHECK;

/* NULL (ST_INPUT, ST_RUNTIME). */
struct learned_params *learned_params_read(const char *path, struct err *e) MUST_CHECK;
/* From a params record of block costs, into *x, which is new or replaced. */
int learned_params_decode(const struct rec *r, struct learned_params **x, struct err *e) MUST_CHECK;
int learned_params_encode(const struct learned_params *x, uint64_t seed, struct rec_writer *w,
			  struct err *e) MUST_CHECK;

#endif
