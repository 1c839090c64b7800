/* rules.h - the one table of how operators are cut: which axes of an operator's output may be
 * divided, what a part reads, and what its attributes become.
 *
 * A part is a range of one axis of the outputs, or, for products and convolutions, of what they sum over
 * (SPLIT_SUM): then the parts' outputs are as large as the whole, and their sum is the result.  Split may also give
 * each part some of its outputs (SPLIT_OUTPUTS).
 * A rule maps that range to what the part reads of each input: the whole, or a range of one of its
 * axes.  So a cut passes from operator to operator as far as their rules lead, and a chain is cut
 * once at its start and joined once at its end.  To add an operator, add its line to rules.c. */
#ifndef HSDAG_SPLIT_RULES_H
#define HSDAG_SPLIT_RULES_H

#include "split/facts.h"

enum {
	SPLIT_WHOLE = -1,
	SPLIT_SUM = -2,
	SPLIT_OUTPUTS = -3, /* of Split: each part has some of the outputs */
	SPLIT_NOTHING = -4  /* of an input, as of those of Concat that another part has */
};

struct split_need {
	int axis; /* SPLIT_WHOLE: all of it; SPLIT_NOTHING: the part leaves it out */
	int64_t lo, hi;
	int64_t core_lo, core_hi; /* without what neighbours read, too: cores of all parts
				   * are apart and leave nothing out */
};

enum { SPLIT_EDITS = 4, SPLIT_EDIT_TEXT = 256 };
struct split_part {
	int axis;                /* given: of the outputs, or SPLIT_SUM, SPLIT_OUTPUTS */
	int64_t lo, hi;          /* given */
	int64_t unit;            /* told: borders must be multiples of it, or the end */
	struct split_need *need; /* (inputs of the node), the caller's */
	int n_edits;
	struct split_edit { /* attributes that the part has instead */
		const char *key;
		char value[SPLIT_EDIT_TEXT];
	} edit[SPLIT_EDITS];
	int ints_input; /* this input becomes a constant of the integers below; -1: none */
	int ints_axis;  /* or keeps all of its integers but this one; -1: it keeps none */
	int n_ints;
	int64_t ints[TENSOR_DIMS];
	int addend; /* of SPLIT_SUM: this input is no part's, but added to their sum; -1: none */
};

/* What part p (axis, lo, hi and need given) of node v reads; false: it cannot be cut so. */
bool split_rule(struct split_facts *f, uint32_t v, struct split_part *p);
/* Must parts of node v have no element in common?  What is summed over, and variables, which each part has one of. */
bool split_is_apart(const struct split_facts *f, uint32_t v, int axis);
/* How long the axis is, or what is summed over; 0: there is none, or that is open. */
int64_t split_extent(struct split_facts *f, uint32_t v, int axis);

/* What axes are called, for options and names of parts. */
enum split_axis {
	AXIS_ROWS,     /* of images, with what windows read beyond a part */
	AXIS_WIDTH,    /* the other axes of images */
	AXIS_CHANNELS, /* output channels of convolutions */
	AXIS_GROUPS,   /* of grouped convolutions */
	AXIS_COLUMNS,  /* of products: each part has some columns of the weights */
	AXIS_TOKENS,   /* rows of products */
	AXIS_HEADS,    /* products of many small matrices, apart */
	AXIS_SUM,      /* what products and convolutions sum over */
	AXIS_BATCH,
	AXIS_COUNT
};
extern const char *const split_axis_names[AXIS_COUNT + 1];
/* What an axis of node v's output is called where v is a product or a convolution; -1: v is neither. */
int split_axis_kind(const struct split_facts *f, uint32_t v, int axis);

#endif
