/* fill.h - seeded values for constants whose bytes are absent.
 *
 * What a constant is for is read off the operators that consume it: weights of
 * products are uniform with variance 2/fan-in (convolutions) or 1/fan-in
 * (matrix products, cells), factors 1 +- 0.1, addends +- 0.1, tables of embeddings
 * +- 1; quantised weights use their whole range and their scales bring them to
 * the same variance.  Shapes and axes are inferred from the recorded output
 * dims; what cannot be inferred is reported. */
#ifndef HSDAG_IR_FILL_H
#define HSDAG_IR_FILL_H

#include "base/err.h"
#include "graph/graph.h"
#include "ir/weights.h"

/* A float constant of at least this many elements that is all zeros counts as absent. */
enum { FILL_ZEROS = 256 };

struct fill_report {
	uint32_t n_constants; /* bodies included */
	uint32_t n_filled;    /* of these: absent before */
	uint64_t filled_bytes;
};

/* out[weights_size(g)] holds the bytes of `partial`, zeros beyond; absent constants are
 * overwritten.  The values of a constant depend on the seed, its place in the file
 * and its role alone.  ST_INPUT names the first constant that can not be inferred
 * and how many there are. */
int fill_weights(const struct graph *g, uint64_t seed, uint64_t partial_bytes, uint8_t *out,
		 struct fill_report *rep, struct err *e) MUST_CHECK;

/* ---- parts, private to lib/ir ---- */

enum role_kind {
	ROLE_NONE,
	ROLE_VALUE,      /* uniform in lo .. hi; integers: the same, rounded */
	ROLE_WEIGHT,     /* of a product: uniform in lo .. hi; integers: their whole range */
	ROLE_ZERO_POINT, /* the middle of the range of elem */
	ROLE_INDEX       /* a shape, axis or count: input `input` of node */
};

struct role {
	enum role_kind kind;
	float lo, hi;
	enum elem elem;       /* ROLE_ZERO_POINT: type of the quantised weights */
	uint32_t node, input; /* the consumer that decided it */
};

/* (n) of the first output of each node; ROLE_NONE where it does not depend on constants alone.
 * in_body: Parameters count as constants.  Memory from a. */
struct role *fill_roles(const struct graph *g, bool in_body, struct arena *a);

/* Is input k of this operator a shape, an axis or a count? */
bool fill_is_index(enum op_kind kind, uint32_t k);
/* Does it go through sequences, cell by cell? */
bool fill_is_sequence(enum op_kind kind);

/* The n integers that input r->input of node r->node must have for the recorded shapes;
 * false when they do not follow from them. */
bool fill_index(const struct graph *g, const struct role *r, uint64_t n, double *value);

/* Half of the range of a quantised type (127 for i8), 0 for types that are not. */
double elem_half_range(enum elem t);
/* Write n elements, all `value` or value[i] when each. */
void fill_store(enum elem t, const double *value, bool each, uint64_t n, uint8_t *out);
/* n elements uniform in lo .. hi (whole range: the whole range of an integer type), from
 * the numbers at (seed, place). */
void fill_uniform(enum elem t, double lo, double hi, bool whole_range, uint64_t seed,
		  uint64_t place, uint64_t n, uint8_t *out);

/* Is the boolean attribute `key` of v there, and true? */
bool fill_attr_true(const struct graph *g, uint32_t v, const char *key);

#endif
