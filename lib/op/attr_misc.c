/* attr_misc.c - attributes of sampling, random numbers, searches, sequences' decoding, embedding
 * bags and Fourier transforms.  The operator's defaults apply to what is absent. */
#include "op/attr_get.h"
#include "op/opimpl.h"

#include <stdlib.h>

int attr_sample(struct op *op, struct err *e)
{
	int mode = SAMPLE_BILINEAR, pad = SAMPLE_ZEROS;
	if (op_get_choice(op, "mode", "bilinear|bicubic|nearest", &mode, e) ||
	    op_get_choice(op, "padding_mode", "zeros|border|reflection", &pad, e) ||
	    op_get_bool(op, "align_corners", &op->a.sample.align_corners, e))
		return -1;
	op->a.sample.mode = (enum op_sample)mode;
	op->a.sample.pad = (enum op_sample_pad)pad;
	return 0;
}

/* Seeds are any 64 bits. */
static int get_seed(const struct op *op, const char *key, int64_t *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	char *end;
	if (!s)
		return 0;
	*out = (int64_t)strtoull(s, &end, 10);
	return end == s || *end ? op_bad_attr(op, key, s, e) : 0;
}

int attr_random(struct op *op, struct err *e)
{
	int alignment = RANDOM_TENSORFLOW;
	op->a.random.elem = op->kind == OP_MULTINOMIAL ? EL_I64 : EL_F32;
	if (op_get_elem(op, "output_type", &op->a.random.elem, e) ||
	    op_get_elem(op, "convert_type", &op->a.random.elem, e) ||
	    get_seed(op, "global_seed", &op->a.random.global_seed, e) ||
	    get_seed(op, "op_seed", &op->a.random.op_seed, e) ||
	    op_get_choice(op, "alignment", "tensorflow|pytorch", &alignment, e) ||
	    op_get_bool(op, "with_replacement", &op->a.random.replacement, e) ||
	    op_get_bool(op, "log_probs", &op->a.random.log_probs, e))
		return -1;
	op->a.random.alignment = alignment ? RANDOM_PYTORCH : RANDOM_TENSORFLOW;
	return 0;
}

int attr_search(struct op *op, struct err *e)
{
	op->a.search.index = op->a.search.count = EL_I64;
	op->a.search.sorted = true;
	op->a.search.right = op->kind == OP_BUCKETIZE;
	return op_get_elem(op, "output_type", &op->a.search.index, e) ||
			       op_get_elem(op, "index_element_type", &op->a.search.index, e) ||
			       op_get_elem(op, "count_element_type", &op->a.search.count, e) ||
			       op_get_bool(op, "with_right_bound", &op->a.search.right, e) ||
			       op_get_bool(op, "right_mode", &op->a.search.right, e) ||
			       op_get_bool(op, "sorted", &op->a.search.sorted, e)
		       ? -1
		       : 0;
}

int attr_ctc(struct op *op, struct err *e)
{
	op->a.ctc.merge_repeated = true;
	op->a.ctc.classes = op->a.ctc.lengths = EL_I32;
	return op_get_bool(op, "ctc_merge_repeated", &op->a.ctc.merge_repeated, e) ||
			       op_get_bool(op, "merge_repeated", &op->a.ctc.merge_repeated, e) ||
			       op_get_bool(op, "preprocess_collapse_repeated", &op->a.ctc.collapse,
					   e) ||
			       op_get_bool(op, "unique", &op->a.ctc.unique, e) ||
			       op_get_elem(op, "classes_index_type", &op->a.ctc.classes, e) ||
			       op_get_elem(op, "sequence_length_type", &op->a.ctc.lengths, e)
		       ? -1
		       : 0;
}

int attr_embedding(struct op *op, struct err *e)
{
	int reduction = 0, fill = 0;
	if (op_get_choice(op, "reduction", "sum|mean", &reduction, e) ||
	    op_get_choice(op, "fill_mode", "zero|lowest", &fill, e))
		return -1;
	op->a.embedding.mean = reduction == 1;
	op->a.embedding.fill_zeros = fill == 0;
	return 0;
}

int attr_fft(struct op *op, struct err *e)
{
	return op_get_bool(op, "transpose_frames", &op->a.fft.transpose, e) ||
			       op_get_bool(op, "center", &op->a.fft.center, e) ||
			       op_get_bool(op, "normalized", &op->a.fft.normalized, e)
		       ? -1
		       : 0;
}
