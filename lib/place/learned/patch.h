/* patch.h - moves of an incumbent that a learned search chooses among: a connected patch of units
 * goes from one device to another, and another patch may come back in its place (a swap).  What a
 * patch's features are: patch_features.c. */
#ifndef HSDAG_PLACE_LEARNED_PATCH_H
#define HSDAG_PLACE_LEARNED_PATCH_H

#include "place/learned/learned_features.h"
#include "place/learned/incumbent_view.h"
#include "place/search/search_context.h"

enum { PATCH_MOST = 128 };

struct patch {
	uint32_t n, n_back; /* the last n_back units go from `to` to `from` */
	uint32_t unit[PATCH_MOST];
	uint16_t from, to;
	uint64_t hash; /* equal for the same units and device */
};

/* Draws patches and describes them. */
struct patcher {
	const struct search_context *s;
	const struct incumbent_view *x;
	uint32_t *mark, step; /* (units) in the patch at hand when mark is step */
	uint16_t *goes;       /* (units) where to, if in the patch at hand */
	uint32_t *tensor_mark;
	double *new_end_s;              /* (n) of the patch's tasks */
	uint32_t *task;                 /* (n) of the patch at hand, by start */
	uint32_t *tried;                /* (units) runs since the last gain that moved it */
	uint32_t n_tried;               /* all of them */
	double copies_s;                /* mean seconds of a copy in the incumbent's schedule */
	uint32_t *twin_ptr, *twin_task; /* tasks of each class of twins (costview.h), ascending */
	/* groups of units, whose parts are patches, too: group_unit[group_ptr[g]] ..; NULL: none */
	uint32_t *group, *groups, *group_ptr, *group_unit;
};

void patcher_init(struct patcher *p, const struct search_context *s, const struct incumbent_view *x,
		  struct arena *a);

/* The incumbent is a new one, around which n_tried runs have gained nothing. */
void patcher_look(struct patcher *p, uint32_t n_tried);

/* Groups of sets (n_sets) to draw patches from, numbered below n_sets; NULL: no more. */
void patcher_set_groups(struct patcher *p, const uint32_t *group);

/* false: no patch came of this draw. */
bool patch_draw(struct patcher *p, struct random_stream *rng, struct patch *out);

/* Where unit y->unit[i] goes. */
static inline uint16_t patch_target(const struct patch *y, uint32_t i)
{
	return i < y->n - y->n_back ? y->to : y->from;
}

/* feature (PATCH_FEATURES). */
void patch_features(struct patcher *p, const struct patch *y, float *feature);

#endif
