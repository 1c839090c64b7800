/* einsum.h - the equation of Einsum-7 and the sizes that its labels take.
 *
 * "ij,jk->ik": a label is a letter (case matters); "..." stands for the dims that have no letter,
 * which broadcast.  Without "->" the output has the labels that occur once, in alphabetical
 * order, behind those of "...". */
#ifndef HSDAG_OP_EINSUM_H
#define HSDAG_OP_EINSUM_H

#include "op/op.h"

enum { EINSUM_INPUTS = 8, EINSUM_LABELS = 52 + TENSOR_DIMS };

struct einsum {
	int n_in, n_out;
	int label[EINSUM_INPUTS][TENSOR_DIMS]; /* of each dim of each input */
	int out[TENSOR_DIMS];                  /* labels of the output's dims */
	int64_t size[EINSUM_LABELS];           /* 0 where the label does not occur */
	bool used[EINSUM_LABELS];
};

/* -1 (ST_INPUT): no equation, one that cannot be read, or shapes that do not fit it. */
int einsum_parse(struct einsum *s, const char *equation, const struct tensor *in, int n_in,
		 struct err *e) MUST_CHECK;

#endif
