/* opimpl.h - the functions that the operator list names: attr_*.c, infer*.c, op*.c and slice.c define
 * them for the list; not for others. */
#ifndef HSDAG_OP_OPIMPL_H
#define HSDAG_OP_OPIMPL_H

#include "op/op.h"
#include "op/slice.h"

/* The description of `in` without its data. */
void op_like(struct tensor *out, const struct tensor *in);
/* "WHAT does not fit f32[..]"; -1. */
int op_misfit(const char *what, const struct tensor *t, struct err *e);

/* a b, or the greatest int64_t: sizes that do not fit are refused as impossible later. */
int64_t op_mul(int64_t a, int64_t b);

/* Operations of node v, the column `cost` (opcost.c): weight times the elements of all outputs, of
 * input 0, ... */
typedef uint64_t flops_fn(const struct graph *g, uint32_t v, uint64_t weight);
flops_fn flops_none, flops_out, flops_in, flops_matmul, flops_grouped, flops_attention, flops_conv,
	flops_deformable, flops_window, flops_cell, flops_sequence, flops_bodies;

/* Attribute decoders (opattr.c, attr_*.c). */
int attr_none(struct op *op, struct err *e);
int attr_variable(struct op *op, struct err *e);
int attr_act(struct op *op, struct err *e);
int attr_convert(struct op *op, struct err *e);
int attr_broadcast(struct op *op, struct err *e);
int attr_inverse(struct op *op, struct err *e);
int attr_quantize(struct op *op, struct err *e);
int attr_reduce(struct op *op, struct err *e);
int attr_matmul(struct op *op, struct err *e);
int attr_attention(struct op *op, struct err *e);
int attr_window(struct op *op, struct err *e);
int attr_axis(struct op *op, struct err *e);
int attr_split(struct op *op, struct err *e);
int attr_norm(struct op *op, struct err *e);
int attr_lrn(struct op *op, struct err *e);
int attr_reshape(struct op *op, struct err *e);
int attr_pad(struct op *op, struct err *e);
int attr_slice(struct op *op, struct err *e);
int attr_topk(struct op *op, struct err *e);
int attr_scatter(struct op *op, struct err *e);
int attr_block(struct op *op, struct err *e);
int attr_onehot(struct op *op, struct err *e);
int attr_cell(struct op *op, struct err *e);
int attr_resize(struct op *op, struct err *e);
int attr_prior(struct op *op, struct err *e);
int attr_detection(struct op *op, struct err *e);
int attr_nms(struct op *op, struct err *e);
int attr_proposal(struct op *op, struct err *e);
int attr_roi(struct op *op, struct err *e);
int attr_yolo(struct op *op, struct err *e);
int attr_grid(struct op *op, struct err *e);
int attr_sample(struct op *op, struct err *e);
int attr_random(struct op *op, struct err *e);
int attr_search(struct op *op, struct err *e);
int attr_ctc(struct op *op, struct err *e);
int attr_embedding(struct op *op, struct err *e);
int attr_fft(struct op *op, struct err *e);

/* Shape inference: element-wise, reductions, sources (infer.c); windows, products and
 * recurrent cells (infer_compute.c); detectors (infer_detect.c); the rest (infer_misc.c,
 * infer_signal.c); views, blocks and broadcasts (infer_view.c); movement
 * (infer_move.c).  Inputs have their shapes, and
 * their values where the table says so; absent optional inputs are EL_DYNAMIC. */
typedef int infer_fn(const struct op *op, const struct tensor *in, struct tensor *out,
		     struct err *e);
infer_fn infer_unknown, infer_recorded, infer_same, infer_fake_quantize, infer_read_value,
	infer_convert, infer_convert_like, infer_promote, infer_test, infer_binary, infer_compare,
	infer_prelu, infer_select, infer_reduce, infer_range, infer_batch_norm, infer_shape_of,
	infer_eye, infer_non_zero;
infer_fn infer_matmul, infer_grouped_matmul, infer_attention, infer_conv, infer_conv_backprop,
	infer_pool, infer_adaptive_pool, infer_cell, infer_sequence;
infer_fn infer_reshape, infer_squeeze, infer_unsqueeze, infer_batch_to_space, infer_broadcast,
	infer_concat, infer_depth_to_space, infer_gather, infer_gather_elements, infer_gather_nd,
	infer_scatter, infer_one_hot, infer_pad, infer_slice, infer_space_to_batch,
	infer_space_to_depth, infer_split, infer_strided_slice, infer_tile, infer_topk,
	infer_transpose, infer_variadic_split, infer_interpolate;
infer_fn infer_prior, infer_detection, infer_nms, infer_nms_sets, infer_proposal,
	infer_generate_proposals, infer_detectron_proposals, infer_detectron_detection,
	infer_top_rois, infer_prior_grid, infer_roi_align, infer_roi_features, infer_psroi,
	infer_region_yolo, infer_reorg_yolo, infer_deformable_conv;
infer_fn infer_einsum, infer_grid_sample, infer_ctc_greedy, infer_ctc_lengths, infer_ctc_loss,
	infer_embedding_offsets, infer_embedding_packed, infer_embedding_segments,
	infer_segment_max, infer_search, infer_unique, infer_dft, infer_rdft, infer_irdft,
	infer_stft, infer_istft, infer_patches, infer_col2im, infer_random, infer_multinomial,
	infer_sparse_fill, infer_color;

#endif
