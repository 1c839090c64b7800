/* group.h - passes over a group of nodes that is to be one step, the same for all devices: fewer nodes in place of some. */
#ifndef HSDAG_DEVICE_GROUP_GROUP_H
#define HSDAG_DEVICE_GROUP_GROUP_H

#include "device/group/group_rewrite.h"

/* The passes, in their order. */
#define REWRITES(X) \
	X(merged_pass) \
	X(padded_pass)

#define REWRITE_DECLARED(pass) extern const struct rewrite_pass pass;
REWRITES(REWRITE_DECLARED)
#define REWRITE_COUNTED(pass) +1
enum { REWRITE_PASSES = 0 REWRITES(REWRITE_COUNTED) };

/* What they made of a group. */
struct rewritten {
	const struct step_spec *spec; /* of the group, or into `by` */
	struct rewrite by[REWRITE_PASSES];
	const struct rewrite_pass *pass[REWRITE_PASSES]; /* NULL: it changed nothing */
};
void group_rewrite(struct rewritten *r, const struct group_how *how, const struct step_spec *s);
/* The constants of new nodes, to be freed behind the step, and how many bytes they are; s as before.  NULL: there are none, or
 * (-1, ST_RUNTIME) no memory. */
int group_constants(struct rewritten *r, const struct step_spec *s, float **data, uint64_t *bytes,
		    struct err *e) MUST_CHECK;
/* The passes that write s anew, for people, with "; " behind each, into dst[cap]; how long that is. */
size_t group_explain(const struct group_how *how, const struct step_spec *s, char *dst, size_t cap);
/* Is t a constant of a new node?  It is gone with r. */
bool group_made(const struct rewritten *r, const struct tensor *t);

#endif
