/* cpu_kernel.c - which kernel runs an operator. */
#include "kernel/cpu_adapt.h"

#include <string.h>

static bool any_strings(const struct op *op)
{
	const struct graph *g = op->g;
	for (uint32_t i = g->in_ptr[op->v]; i < g->in_ptr[op->v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE &&
		    g->out_elem[g->out_ptr[g->in_node[i]] + g->in_port[i]] == EL_STRING)
			return true;
	for (uint32_t o = g->out_ptr[op->v]; o < g->out_ptr[op->v + 1]; o++)
		if (g->out_elem[o] == EL_STRING)
			return true;
	return false;
}

static bool supports_window(const struct op *op, const char **reason)
{
	if (op->a.window.n_spatial <= OP_MAX_SPATIAL)
		return true;
	*reason = "more than three spatial dims";
	return false;
}

bool cpu_output_used(const struct op *op, int i)
{
	const struct graph *g = op->g;
	uint32_t o = g->out_ptr[op->v] + (uint32_t)i;
	for (uint32_t slot = g->in_ptr[op->v]; slot < g->in_ptr[g->n]; slot++)
		if (g->in_node[slot] != GRAPH_NONE &&
		    g->out_ptr[g->in_node[slot]] + g->in_port[slot] == o)
			return true;
	return false;
}

static const struct kernel kernels[OP_COUNT] = {
#define UNARY(kind) [OP_##kind] = {.native = NATIVE_WIDE, .run = run_unary}
	UNARY(ABS),
	UNARY(ACOS),
	UNARY(ACOSH),
	UNARY(ASIN),
	UNARY(ASINH),
	UNARY(ATAN),
	UNARY(ATANH),
	UNARY(BITWISE_NOT),
	UNARY(CEILING),
	UNARY(CLAMP),
	UNARY(COS),
	UNARY(COSH),
	UNARY(ELU),
	UNARY(ERF),
	UNARY(EXP),
	UNARY(FLOOR),
	UNARY(GELU),
	UNARY(HARD_SIGMOID),
	UNARY(HSIGMOID),
	UNARY(HSWISH),
	UNARY(IS_FINITE),
	UNARY(IS_INF),
	UNARY(IS_NAN),
	UNARY(LOG),
	UNARY(LOGICAL_NOT),
	UNARY(MISH),
	UNARY(NEGATIVE),
	UNARY(RELU),
	UNARY(ROUND),
	UNARY(SELU),
	UNARY(SIGMOID),
	UNARY(SIGN),
	UNARY(SIN),
	UNARY(SINH),
	UNARY(SOFT_PLUS),
	UNARY(SOFT_SIGN),
	UNARY(SQRT),
	UNARY(SWISH),
	UNARY(TAN),
	UNARY(TANH),
	[OP_CONVERT] = {.run = run_convert},
	[OP_CONVERT_LIKE] = {.run = run_convert},
	[OP_CONVERT_PROMOTE_TYPES] = {.run = run_convert},
#define BINARY(kind) [OP_##kind] = {.native = NATIVE_WIDE, .run = run_binary}
	BINARY(ADD),
	BINARY(BITWISE_AND),
	BINARY(BITWISE_LEFT_SHIFT),
	BINARY(BITWISE_OR),
	BINARY(BITWISE_RIGHT_SHIFT),
	BINARY(BITWISE_XOR),
	BINARY(DIVIDE),
	BINARY(FLOOR_MOD),
	BINARY(MAXIMUM),
	BINARY(MINIMUM),
	BINARY(MOD),
	BINARY(MULTIPLY),
	BINARY(POWER),
	BINARY(SQUARED_DIFFERENCE),
	BINARY(SUBTRACT),
	BINARY(EQUAL),
	BINARY(GREATER),
	BINARY(GREATER_EQUAL),
	BINARY(LESS),
	BINARY(LESS_EQUAL),
	BINARY(LOGICAL_AND),
	BINARY(LOGICAL_OR),
	BINARY(LOGICAL_XOR),
	BINARY(NOT_EQUAL),
	[OP_PRELU] = {.native = NATIVE_F32, .run = run_prelu},
	[OP_SELECT] = {.run = run_select},
	[OP_FAKE_QUANTIZE] = {.native = NATIVE_F32, .run = run_fake_quantize},
	[OP_FAKE_CONVERT] = {.native = NATIVE_F32, .run = run_fake_convert},
#define REDUCE(kind) [OP_##kind] = {.native = NATIVE_WIDE, .run = run_reduce}
	REDUCE(REDUCE_L1),
	REDUCE(REDUCE_L2),
	REDUCE(REDUCE_LOGICAL_AND),
	REDUCE(REDUCE_LOGICAL_OR),
	REDUCE(REDUCE_MAX),
	REDUCE(REDUCE_MEAN),
	REDUCE(REDUCE_MIN),
	REDUCE(REDUCE_PROD),
	REDUCE(REDUCE_SUM),
	[OP_MATMUL] = {.native = NATIVE_F32,
		       .run = run_matmul,
		       .prepare = prepare_matmul,
		       .takes = matmul_takes,
		       .posts = true},
	[OP_ATTENTION] = {.native = NATIVE_F32, .run = run_attention},
	[OP_CONVOLUTION] = {NATIVE_F32, run_conv, prepare_conv, supports_window, conv_takes, true},
	[OP_GROUP_CONVOLUTION] = {NATIVE_F32, run_conv, prepare_conv, supports_window, conv_takes,
				  true},
	[OP_CONVOLUTION_BACKPROP] = {NATIVE_F32, run_conv_backprop, NULL, supports_window, NULL,
				     false},
	[OP_GROUP_CONVOLUTION_BACKPROP] = {NATIVE_F32, run_conv_backprop, NULL, supports_window,
					   NULL, false},
	[OP_AVG_POOL] = {NATIVE_F32, run_pool, NULL, supports_window, NULL, false},
	[OP_MAX_POOL] = {NATIVE_F32, run_pool, NULL, supports_window, NULL, false},
	[OP_ADAPTIVE_AVG_POOL] = {.native = NATIVE_F32, .run = run_adaptive_pool},
	[OP_SOFTMAX] = {.native = NATIVE_F32, .run = run_softmax, .posts = true},
	[OP_LOG_SOFTMAX] = {.native = NATIVE_F32, .run = run_softmax, .posts = true},
	[OP_MVN] = {.native = NATIVE_F32, .run = run_mvn, .posts = true},
	[OP_LRN] = {.native = NATIVE_F32, .run = run_lrn},
	[OP_NORMALIZE_L2] = {.native = NATIVE_F32, .run = run_normalize_l2, .posts = true},
	[OP_BATCH_NORM] = {.native = NATIVE_F32, .run = run_batch_norm, .posts = true},
	[OP_GROUP_NORM] = {.native = NATIVE_F32, .run = run_group_norm, .posts = true},
	[OP_RMS] = {.native = NATIVE_F32, .run = run_rms, .posts = true},
	[OP_RESHAPE] = {.run = run_copy},
	[OP_SQUEEZE] = {.run = run_copy},
	[OP_UNSQUEEZE] = {.run = run_copy},
	[OP_RESULT] = {.run = run_copy},
	[OP_BATCH_TO_SPACE] = {.run = run_space},
	[OP_SPACE_TO_BATCH] = {.run = run_space},
	[OP_DEPTH_TO_SPACE] = {.run = run_space},
	[OP_SPACE_TO_DEPTH] = {.run = run_space},
	[OP_BROADCAST] = {.run = run_broadcast},
	[OP_CONCAT] = {.run = run_concat},
	[OP_CUM_SUM] = {.native = NATIVE_WIDE, .run = run_cum_sum},
	[OP_GATHER] = {.run = run_gather, .takes = gather_takes},
	[OP_GATHER_ELEMENTS] = {.run = run_gather_elements},
	[OP_GATHER_ND] = {.run = run_gather_nd},
	[OP_ONE_HOT] = {.run = run_one_hot},
	[OP_PAD] = {.run = run_pad},
	[OP_REVERSE_SEQUENCE] = {.run = run_reverse_sequence},
	[OP_ROLL] = {.run = run_roll},
	[OP_SCATTER_ELEMENTS_UPDATE] = {.run = run_scatter},
	[OP_SCATTER_ND_UPDATE] = {.run = run_scatter},
	[OP_SCATTER_UPDATE] = {.run = run_scatter},
	[OP_SHUFFLE_CHANNELS] = {.run = run_shuffle},
	[OP_SLICE] = {.run = run_slice},
	[OP_STRIDED_SLICE] = {.run = run_slice},
	[OP_SPLIT] = {.run = run_split},
	[OP_VARIADIC_SPLIT] = {.run = run_split},
	[OP_TILE] = {.run = run_tile},
	[OP_TOP_K] = {.run = run_top_k},
	[OP_TRANSPOSE] = {.run = run_transpose},
	[OP_INTERPOLATE] = {NATIVE_F32, run_resize, NULL, NULL, false},
	[OP_ADAPTIVE_MAX_POOL] = {.native = NATIVE_REAL, .run = run_adaptive_max_pool},
	[OP_GRN] = {.native = NATIVE_F32, .run = run_grn},
	[OP_INVERSE] = {.run = run_inverse},
	[OP_DEFORMABLE_CONVOLUTION] = {NATIVE_F32, run_deformable_conv, NULL, supports_window, NULL,
				       false},
	[OP_BINARY_CONVOLUTION] = {NATIVE_F32, run_binary_conv, NULL, supports_window, NULL, false},
	[OP_EXTRACT_IMAGE_PATCHES] = {.run = run_image_patches},
	[OP_COL2IM] = {.native = NATIVE_REAL, .run = run_col2im},
	[OP_GATHER_TREE] = {.run = run_gather_tree},
	[OP_REVERSE] = {.run = run_reverse},
	[OP_SLICE_SCATTER] = {.run = run_slice_scatter},
	[OP_EINSUM] = {.native = NATIVE_REAL, .run = run_einsum},
	[OP_GRID_SAMPLE] = {.native = NATIVE_REAL, .run = run_grid_sample},
	[OP_REORG_YOLO] = {.native = NATIVE_REAL, .run = run_reorg_yolo},
	[OP_REGION_YOLO] = {.native = NATIVE_REAL, .run = run_region_yolo},
	[OP_BUCKETIZE] = {.run = run_search},
	[OP_SEARCH_SORTED] = {.run = run_search},
	[OP_UNIQUE] = {.run = run_unique},
	[OP_SPARSE_FILL_EMPTY_ROWS] = {.run = run_sparse_fill},
	[OP_NV12_TO_RGB] = {.native = NATIVE_REAL, .run = run_color},
	[OP_NV12_TO_BGR] = {.native = NATIVE_REAL, .run = run_color},
	[OP_I420_TO_RGB] = {.native = NATIVE_REAL, .run = run_color},
	[OP_I420_TO_BGR] = {.native = NATIVE_REAL, .run = run_color},
	[OP_EMBEDDING_OFFSETS_SUM] = {.native = NATIVE_REAL, .run = run_embedding_offsets},
	[OP_EMBEDDING_OFFSETS] = {.native = NATIVE_REAL, .run = run_embedding_offsets},
	[OP_EMBEDDING_PACKED_SUM] = {.native = NATIVE_REAL, .run = run_embedding_packed},
	[OP_EMBEDDING_PACKED] = {.native = NATIVE_REAL, .run = run_embedding_packed},
	[OP_EMBEDDING_SEGMENTS_SUM] = {.native = NATIVE_REAL, .run = run_embedding_segments},
	[OP_SEGMENT_MAX] = {.native = NATIVE_REAL, .run = run_segment_max},
	[OP_CTC_GREEDY_DECODER] = {.native = NATIVE_REAL, .run = run_ctc_greedy},
	[OP_CTC_GREEDY_DECODER_SEQ_LEN] = {.native = NATIVE_REAL, .run = run_ctc_lengths},
	[OP_CTC_LOSS] = {.native = NATIVE_REAL, .run = run_ctc_loss},
	[OP_DFT] = {.native = NATIVE_REAL, .run = run_dft},
	[OP_IDFT] = {.native = NATIVE_REAL, .run = run_dft},
	[OP_RDFT] = {.native = NATIVE_REAL, .run = run_rdft},
	[OP_IRDFT] = {.native = NATIVE_REAL, .run = run_irdft},
	[OP_STFT] = {.native = NATIVE_REAL, .run = run_stft},
	[OP_ISTFT] = {.native = NATIVE_REAL, .run = run_istft},
	[OP_PRIOR_BOX] = {.native = NATIVE_REAL, .run = run_prior_box},
	[OP_PRIOR_BOX_CLUSTERED] = {.native = NATIVE_REAL, .run = run_prior_box_clustered},
	[OP_DETECTION_OUTPUT] = {.native = NATIVE_REAL, .run = run_detection},
	[OP_NON_MAX_SUPPRESSION] = {.native = NATIVE_REAL, .run = run_nms},
	[OP_NMS_ROTATED] = {.native = NATIVE_REAL, .run = run_nms},
	[OP_MATRIX_NMS] = {.native = NATIVE_REAL, .run = run_nms_sets},
	[OP_MULTICLASS_NMS] = {.native = NATIVE_REAL, .run = run_nms_sets},
	[OP_PROPOSAL] = {.native = NATIVE_REAL, .run = run_proposal},
	[OP_GENERATE_PROPOSALS] = {.native = NATIVE_REAL, .run = run_generate_proposals},
	[OP_DETECTRON_PROPOSALS] = {.native = NATIVE_REAL, .run = run_detectron_proposals},
	[OP_DETECTRON_DETECTION_OUTPUT] = {.native = NATIVE_REAL, .run = run_detectron_detection},
	[OP_DETECTRON_TOP_ROIS] = {.native = NATIVE_REAL, .run = run_top_rois},
	[OP_DETECTRON_PRIOR_GRID] = {.native = NATIVE_REAL, .run = run_prior_grid},
	[OP_DETECTRON_ROI_FEATURES] = {.native = NATIVE_REAL, .run = run_roi_features},
	[OP_ROI_ALIGN] = {.native = NATIVE_REAL, .run = run_roi_align},
	[OP_ROI_ALIGN_ROTATED] = {.native = NATIVE_REAL, .run = run_roi_align},
	[OP_ROI_POOLING] = {.native = NATIVE_REAL, .run = run_roi_pooling},
	[OP_PSROI_POOLING] = {.native = NATIVE_REAL, .run = run_psroi_pooling},
	[OP_DEFORMABLE_PSROI_POOLING] = {.native = NATIVE_REAL, .run = run_psroi_pooling},
	[OP_RANDOM_UNIFORM] = {.run = run_random_uniform},
	[OP_MULTINOMIAL] = {.run = run_multinomial},
	[OP_IDENTITY] = {.run = run_copy},
	[OP_RANGE] = {.run = run_range},
	[OP_SHAPE_OF] = {.run = run_shape_of},
	[OP_EYE] = {.run = run_eye},
	[OP_NON_ZERO] = {.run = run_non_zero},
	[OP_LSTM_CELL] = {.native = NATIVE_F32, .run = run_cell},
	[OP_GRU_CELL] = {.native = NATIVE_F32, .run = run_cell},
	[OP_RNN_CELL] = {.native = NATIVE_F32, .run = run_cell},
	[OP_LSTM_SEQUENCE] = {.native = NATIVE_F32, .run = run_sequence},
	[OP_GRU_SEQUENCE] = {.native = NATIVE_F32, .run = run_sequence},
	[OP_RNN_SEQUENCE] = {.native = NATIVE_F32, .run = run_sequence},
};

bool cpu_kernel_supports(const struct op *op, const char **reason)
{
	const struct kernel *k = &kernels[op->kind];
	if (!k->run)
		*reason = op->kind == OP_UNKNOWN ? "the operator is not known" : "no kernel";
	else if (any_strings(op))
		*reason = "strings are not supported";
	else if (!k->supports || k->supports(op, reason))
		return true;
	return false;
}

bool cpu_kernel_takes(const struct op *op, int i, const struct tensor *t)
{
	const struct kernel *k = &kernels[op->kind];
	return k->takes && k->takes(op, i, t);
}

int cpu_kernel_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
		       struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct kernel *k = &kernels[op->kind];
	*prep = NULL;
	int known = op_check(op, in, out, e);
	if (known < 0 || (k->prepare && k->prepare(op, in, out, c, prep, e)))
		return -1;
	if (!known) {
		if (!*prep)
			*prep = MEM_NEW(struct cpu_prep);
		(*prep)->unchecked = true;
	}
	return 0;
}

void cpu_prep_free(struct cpu_prep *p)
{
	if (!p)
		return;
	cpu_pack_drop(p->pack);
	mem_free(p);
}

uint64_t cpu_prep_bytes(const struct cpu_prep *p)
{
	return p && p->pack ? p->pack->bytes : 0;
}

bool cpu_prep_owns(const struct cpu_prep *p, int i)
{
	return p && p->owns >> i & 1;
}

int cpu_kernel_run(const struct op *op, const struct cpu_prep *prep, const struct tensor *in,
		   const struct tensor *out, struct cpu_ctx *c, struct err *e)
{
	return cpu_kernel_run_sized(op, prep, in, out, NULL, c, e);
}

int cpu_kernel_run_sized(const struct op *op, const struct cpu_prep *prep, const struct tensor *in,
			 const struct tensor *out, struct tensor *actual, struct cpu_ctx *c,
			 struct err *e)
{
	struct kernel_call call = {
		.op = op, .prep = prep, .in = in, .out = out, .ctx = c, .actual = actual};
	return cpu_kernel_call(&call, e);
}

int cpu_kernel_call(struct kernel_call *call, struct err *e)
{
	const struct op *op = call->op;
	const struct kernel *k = &kernels[op->kind];
	const struct epilogue *post = call->post;
	const struct tensor *in = call->in, *out = call->out;
	struct tensor *actual = call->actual;
	for (int i = 0; actual && i < op->n_out; i++)
		actual[i] = out[i];
	if (!k->run)
		return err_set(e, ST_INPUT, "no kernel for operator '%s'", op->g->type[op->v]);
	if (call->prep && call->prep->unchecked && op_check(op, in, out, e) < 0)
		return -1;
	bool empty = true;
	for (int i = 0; i < op->n_out; i++)
		empty = empty && tensor_elements(&out[i]) == 0;
	if (empty)
		return 0;
	if (!k->posts)
		call->post = NULL;
	if (cpu_adapts(k, call) ? cpu_run_adapted(k, call, e) : k->run(call, e))
		return -1;
	if (post && !k->posts)
		cpu_epilogue_run(call->ctx, post, out[0].data);
	return 0;
}

bool cpu_kernel_in_place(const struct op *op, const struct tensor *in, const struct tensor *out,
			 int i)
{
	const struct kernel *k = &kernels[op->kind];
	enum op_category cat = op_info(op->kind)->category;
	if (in[i].elem != out[0].elem || !tensor_same_shape(&in[i], &out[0]) ||
	    cpu_native_elem(k->native, in[i].elem) != in[i].elem)
		return false;
	if (cat == OPC_BINARY)
		return k->run == run_binary;
	return i == 0 && cat == OPC_UNARY && k->run == run_unary;
}
