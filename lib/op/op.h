/* op.h - the operator table: what OpenVINO's operators mean, without running
 * them.  One table serves attribute decoding, shape inference, FLOPs, bytes
 * and, through `enum op_kind`, the kernels of every device.
 *
 * Source: OpenVINO's operator specifications, opset1 .. opset16. */
#ifndef HSDAG_OP_OP_H
#define HSDAG_OP_OP_H

#include "graph/op_kind.h"
#include "op/tensor.h"
#include "op/value.h"

enum op_category {
	OPC_OTHER,
	OPC_SOURCE,  /* Parameter, Const, ReadValue */
	OPC_SINK,    /* Result, Assign */
	OPC_UNARY,   /* element-wise, one data input; others are parameters */
	OPC_BINARY,  /* element-wise with broadcasting */
	OPC_COMPARE, /* the same with a boolean result */
	OPC_TERNARY, /* Select, FakeQuantize */
	OPC_REDUCE,
	OPC_MATMUL,
	OPC_CONV,
	OPC_POOL,
	OPC_NORM,  /* softmax and normalisations */
	OPC_VIEW,  /* the output has the bytes of input 0 in another shape */
	OPC_MOVE,  /* moves or copies elements */
	OPC_SHAPE, /* computes on shapes: ShapeOf, Range */
	OPC_RECURRENT,
	OPC_CONTROL /* has bodies */
};

#define OP_MAX_SPATIAL 3
#define OP_MAX_REALS 64 /* numbers in one attribute */

enum auto_pad { PAD_EXPLICIT, PAD_SAME_UPPER, PAD_SAME_LOWER, PAD_VALID };
enum op_rounding { ROUND_FLOOR, ROUND_CEIL, ROUND_CEIL_TORCH };
enum op_bcast { BCAST_NUMPY, BCAST_NONE, BCAST_PDPD, BCAST_EXPLICIT, BCAST_BIDIRECTIONAL };
enum op_pad_mode { PADM_CONSTANT, PADM_EDGE, PADM_REFLECT, PADM_SYMMETRIC };
enum op_gelu { GELU_ERF, GELU_TANH };
enum op_round { ROUND_HALF_EVEN, ROUND_HALF_AWAY };
enum op_activation { ACT_NONE, ACT_SIGMOID, ACT_TANH, ACT_RELU };
enum op_scatter {
	SCATTER_NONE,
	SCATTER_SUM,
	SCATTER_PROD,
	SCATTER_MIN,
	SCATTER_MAX,
	SCATTER_MEAN,
	SCATTER_SUB
};
enum op_interp {
	INTERP_NEAREST,
	INTERP_LINEAR,
	INTERP_LINEAR_ONNX,
	INTERP_CUBIC,
	INTERP_BILINEAR_PILLOW,
	INTERP_BICUBIC_PILLOW
};
enum op_coord {
	COORD_HALF_PIXEL,
	COORD_PYTORCH,
	COORD_ASYMMETRIC,
	COORD_TF_HALF_PIXEL,
	COORD_ALIGN_CORNERS
};
enum op_nearest {
	NEAREST_PREFER_FLOOR,
	NEAREST_PREFER_CEIL,
	NEAREST_FLOOR,
	NEAREST_CEIL,
	NEAREST_SIMPLE
};

/* Attributes, by family.  A window's arrays count spatial dims from the outermost. */
struct op_window {     /* convolutions and pooling */
	int n_spatial; /* 0: attribute lists absent; take it from the input's rank */
	int64_t stride[OP_MAX_SPATIAL], dilation[OP_MAX_SPATIAL];
	int64_t pad_begin[OP_MAX_SPATIAL]; /* as written; op_window_pads resolves auto_pad */
	int64_t pad_end[OP_MAX_SPATIAL];
	int64_t kernel[OP_MAX_SPATIAL];         /* pooling only */
	int64_t output_padding[OP_MAX_SPATIAL]; /* transposed convolution */
	enum auto_pad auto_pad;
	enum op_rounding rounding;
	bool exclude_pad;              /* AvgPool */
	int64_t groups, offset_groups; /* DeformableConvolution */
	bool bilinear_pad;             /* DeformableConvolution-8 */
	float pad_value;               /* BinaryConvolution */
	bool grouped;                  /* weights have a leading group dim */
	bool transposed;
	int64_t axis; /* MaxPool-8: indices count from here */
};
struct op_slice { /* StridedSlice: masks, bit i belongs to item i of begin/end */
	uint64_t begin_mask, end_mask, new_axis_mask, shrink_axis_mask, ellipsis_mask;
};
struct op_cell { /* LSTM, GRU, RNN cells and sequences */
	int64_t hidden;
	enum op_activation act[3];
	float clip; /* 0: none */
	bool linear_before_reset, reverse, bidirectional, input_forget;
};
struct op_resize { /* Interpolate-1, -4, -11 */
	enum op_interp mode;
	enum op_coord coord;
	enum op_nearest nearest;
	bool by_sizes, antialias;
	double cube_coeff;
	int64_t pad_begin[TENSOR_DIMS], pad_end[TENSOR_DIMS];
	int64_t axes[TENSOR_DIMS]; /* -1 only: later opsets have an input */
	int n_axes;
};

/* A list of numbers as the attribute has it; op_reals (attr_get.h) reads it. */
struct op_reals {
	const char *text;
	int n;
};
struct op_prior { /* PriorBox, PriorBoxClustered */
	struct op_reals min_size, max_size, ratio, density, fixed_ratio, fixed_size, variance;
	struct op_reals width, height; /* Clustered */
	float step, step_w, step_h, offset;
	bool flip, clip, scale_all, min_max_first;
	int64_t n_priors; /* boxes of a position */
};
struct op_detection { /* DetectionOutput */
	int64_t n_classes, background, top_k, keep_top_k, input_w, input_h;
	float nms, confidence, objectness;
	bool center_size, share_location, variance_in_target, clip_before, clip_after,
		decrease_label, normalized;
};
enum op_sort { SORT_CLASS, SORT_SCORE, SORT_NONE };
struct op_nms { /* NonMaxSuppression, MatrixNms, MulticlassNms, NMSRotated */
	bool center, descending, across_batch, normalized, gaussian, clockwise;
	enum op_sort sort;
	enum elem index;
	int64_t top_k, keep_top_k, background;
	float iou, score, eta, sigma, post;
};
struct op_proposal { /* Proposal, GenerateProposals and ExperimentalDetectron's */
	struct op_reals ratio, scale;
	float base_size, min_size, nms, box_scale, size_scale, score, eta, max_log_wh;
	struct op_reals weights;
	int64_t pre_nms, post_nms, stride, n_classes, max_per_image;
	bool clip_before, clip_after, normalize, tensorflow;
	enum elem count;
};
enum op_align { ALIGN_ASYMMETRIC, ALIGN_HALF_PIXEL_NN, ALIGN_HALF_PIXEL };
struct op_roi { /* regions of interest */
	int64_t h, w, sampling, dim, bins_x, bins_y, part, group;
	float scale, trans_std;
	bool max, bilinear, clockwise;
	enum op_align align;
	struct op_reals pyramid;
};
struct op_yolo {
	int64_t axis, end_axis, classes, coords, num, stride;
	int n_mask;
	bool softmax;
};
struct op_grid {
	int64_t h, w;
	float stride_x, stride_y;
	bool flatten;
};
enum op_sample { SAMPLE_BILINEAR, SAMPLE_BICUBIC, SAMPLE_NEAREST };
enum op_sample_pad { SAMPLE_ZEROS, SAMPLE_BORDER, SAMPLE_REFLECTION };

struct op {
	enum op_kind kind;
	int version;           /* the digits of "opset8"; 0 when it has none */
	const struct graph *g; /* the node that was decoded */
	uint32_t v;
	int n_in, n_out;
	bool rounded; /* op_mark_rounded; false: it was not asked */
	bool folded;  /* computed from constants alone, before the model runs */
	union {
		struct op_window window;
		struct {
			bool transpose_a, transpose_b;
		} matmul;
		/* Concat, Split, Softmax, Gather (opset1..: axis is an input), CumSum... */
		struct {
			int64_t axis, batch_dims;
			bool exclusive, reverse;
		} axis;
		struct {
			int64_t n;
		} split;
		struct {
			bool keep_dims;
		} reduce;
		/* binary operators, Broadcast, Select */
		struct {
			enum op_bcast bcast;
			int64_t axis;
			bool floor; /* Divide of integers: a quotient that is folded is rounded down */
		} broadcast;
		struct {
			float alpha, beta, lo, hi;
			enum op_gelu gelu;
			enum op_round round;
		} act;
		struct {
			enum elem to;
		} convert; /* Convert, FakeConvert, ShapeOf, Range */
		struct {
			bool adjoint;
		} inverse;
		struct {
			bool special_zero;
		} reshape;
		struct op_slice slice;
		struct {
			double eps;
			bool normalize_variance, eps_inside_sqrt, across_channels;
			int64_t groups;
		} norm;
		struct {
			double alpha, beta, bias;
			int64_t size;
		} lrn;
		struct {
			int64_t levels, axis;
			enum op_bcast bcast;
		} quantize;
		struct {
			enum op_pad_mode mode;
		} pad;
		struct {
			int64_t axis;
			bool max, by_index, stable;
			enum elem index;
		} topk;
		struct {
			enum op_scatter reduction;
			bool use_init;
		} scatter;
		/* DepthToSpace, SpaceToDepth, ShuffleChannels */
		struct {
			int64_t block, axis, groups;
			bool depth_first;
		} block;
		/* OneHot, ReverseSequence */
		struct {
			int64_t axis, seq_axis, batch_axis;
			bool wrap;
		} onehot;
		struct {
			bool causal;
		} attention;
		struct op_cell cell;
		struct op_resize resize;
		struct op_prior prior;
		struct op_detection detection;
		struct op_nms nms;
		struct op_proposal proposal;
		struct op_roi roi;
		struct op_yolo yolo;
		struct op_grid grid;
		struct {
			enum op_sample mode;
			enum op_sample_pad pad;
			bool align_corners;
		} sample;
		struct {
			enum elem elem;
			int64_t global_seed, op_seed;
			enum { RANDOM_TENSORFLOW, RANDOM_PYTORCH } alignment;
			bool replacement, log_probs;
		} random;
		/* Bucketize, SearchSorted, Unique: types of indices; what equality means */
		struct {
			enum elem index, count;
			bool right, sorted;
		} search;
		struct {
			bool merge_repeated, collapse, unique;
			enum elem classes, lengths;
		} ctc;
		struct {
			bool mean, fill_zeros;
		} embedding;
		struct {
			bool transpose, center, normalized;
		} fft;
		/* ReadValue, Assign */
		struct {
			enum elem elem;
			const char *variable;
		} variable;
	} a;
};

/* ---- the table ---- */

enum op_flags {
	/* The sizes of the outputs depend on data (NonZero, NonMaxSuppression, Unique): op_infer
	 * gives upper bounds, and the kernel says how much there was (cpu_kernel_run_sized). */
	OPF_BOUNDED = 1,
	OPF_READS_PART = 2, /* it may leave most of input 0 unread */
	OPF_BITWISE = 4,    /* it combines bits: integers wrap, they never saturate */
	OPF_GROUPED = 8,    /* convolutions: the weights have a leading group dim */
	OPF_TRANSPOSED = 16,
	OPF_NO_OPSET = 32 /* of no opset of OpenVINO: not in the vocabulary (optype.h) */
};

/* The columns of graph/oplist.h. */
struct op_info {
	const char *type; /* canonical name */
	enum op_category category;
	int min_in, max_in; /* max_in < 0: any number */
	int n_out;          /* < 0: from the node */
	uint32_t values;    /* bit i: the value of input i decides the outputs' shapes */
	uint32_t scalars;   /* bit i: input i is a single value */
	unsigned flags;     /* enum op_flags */
};
const struct op_info *op_info(enum op_kind kind);
/* Inputs of an element-wise operator that are data, the first ones; others are parameters.  0: it is none. */
int op_n_data(enum op_kind kind);
/* Parameters of an element-wise operator with one data input (act.c). */
struct op_act_args {
	/* Clamp lo hi, Elu alpha, HardSigmoid alpha beta, Selu alpha lambda, Swish beta; of others 1 and 0 */
	float a, b;
	bool gelu_tanh, half_away;
	bool neg_inf, pos_inf; /* IsInf: which infinities count */
};
/* From its attributes and the constants that are its inputs 1 and 2; NULL or without data: there is none. */
struct op_act_args op_act_args(const struct op *op, const struct tensor *in1,
			       const struct tensor *in2);
bool op_is_view(const struct op *op); /* the output has input 0's bytes: needs no kernel */
bool op_is_bounded(const struct op *op);

/* Decode node v.  An operator that is not in the table gives kind OP_UNKNOWN and
 * 0; -1 (ST_INPUT) for attributes that make no sense or a wrong number of inputs. */
int op_decode(const struct graph *g, uint32_t v, struct op *op, struct err *e) MUST_CHECK;

/* Types and shapes of all outputs from those of the inputs (n_in, n_out as in op).
 * Inputs in info.values need their data.  -1 (ST_INPUT): shapes that do not fit
 * or an operator without shape inference. Outputs' data is set to NULL. */
int op_infer(const struct op *op, const struct tensor *in, struct tensor *out,
	     struct err *e) MUST_CHECK;

/* Do the outputs that somebody recorded follow from the inputs?  1 when they do, 0 when
 * that cannot be said before the values of some inputs are known, -1 (ST_INPUT) when they do
 * not.  A device whose kernels trust shapes asks this first.  Weights given as f16 or bf16
 * count as f32; outputs of a bounded operator may be smaller than its bounds. */
int op_check(const struct op *op, const struct tensor *in, const struct tensor *out,
	     struct err *e) MUST_CHECK;

/* Effective padding of a window for an input with spatial sizes in[] and kernel sizes
 * kernel[]: auto_pad resolved.  For convolutions and pooling alike. */
void op_window_pads(const struct op_window *w, int n_spatial, const int64_t *in,
		    const int64_t *kernel, int64_t *begin, int64_t *end);
/* The same for a transposed convolution; out[]: the spatial sizes asked for by its third
 * input, or NULL. */
void op_backprop_pads(const struct op_window *w, int n_spatial, const int64_t *in,
		      const int64_t *kernel, const int64_t *out, int64_t *begin, int64_t *end);
/* Position in the source (n) of position i of a dim of what Pad makes, counted from the source's first; -1: the fill value. */
int64_t op_pad_source(enum op_pad_mode mode, int64_t i, int64_t n);
/* The convolution `conv` with weights w, of what `pad` makes of in (pad->n_in; in[1 ..] with data, where it is known), as one of
 * in[0]: its padding is wider.  padded: what Pad makes.  False, and *out is anything: they are no such two, Pad puts in something else
 * than zeros, or as much as a window is wide. */
bool op_fold_pad(const struct op *pad, const struct tensor *in, const struct tensor *padded,
		 const struct op *conv, const struct tensor *w, struct op *out);
/* Axis in 0 .. rank - 1 from one that may be negative; -1 when out of range. */
int op_axis(int64_t axis, uint32_t rank);
/* Numpy broadcast of two shapes into out (rank and dims); false when they do not fit. */
bool op_broadcast(const struct tensor *a, const struct tensor *b, struct tensor *out);
/* Input i, t, of an element-wise operator with dims of 1 appended, so that op_broadcast to `whole` applies: by
 * PaddlePaddle's rule it lies along the dims of `whole` from an axis on, and a vector of PReLU's slopes along
 * the channels.  whole: input 0, but of Select input 1.  False: it does not fit. */
bool op_align(const struct op *op, const struct tensor *whole, int i, const struct tensor *t,
	      struct tensor *aligned);

/* ---- costs of a node from its recorded shapes ---- */

/* Floating-point operations (a multiply-add counts two; a transcendental function eight).
 * Dynamic dims count as 1.  Unknown operators: one per output element. */
uint64_t op_flops(const struct graph *g, uint32_t v);
/* How often body b of g runs for one run of its node: as was told (body_times.h), of loops else as many parts as their slices
 * have; -1: not known. */
double op_body_times(const struct graph *g, const struct graph_body *b);
/* Operations and bytes of a node and its bodies, and a little for what any node takes: bodies as often as they ran (body_count_runs),
 * or with `told` as was told. */
double op_work(const struct graph *g, uint32_t v, bool told);
/* Bytes read and written once: inputs and outputs (for Gather and slices what is touched).
 * Views and Const count 0. */
uint64_t op_bytes(const struct graph *g, uint32_t v);
/* Bytes of output o; of weights in 8 bits and fewer that are converted, scaled or reshaped, as devices keep them: their constants',
 * where these are fewer.  Weights in f16 count as what they are converted to, as devices here convert them once. */
uint64_t op_stored_bytes(const struct graph *g, uint32_t o);

/* constant[v] (n): node v depends on constants alone, so it can be computed once at
 * load: Const; any operator whose inputs are all constant, except Result,
 * variables, random numbers and control flow; ShapeOf of a static shape. */
void op_constant_nodes(const struct graph *g, bool *constant);

/* Sets rounded of op (n): all that reads node v's outputs is FakeQuantize of at most 256 levels, of which v is the data, at once or
 * behind Multiply by constants (constant (n), by op_constant_nodes). */
void op_mark_rounded(const struct graph *g, const bool *constant, struct op *op);

/* idle (n): the nodes of an IR model that have no step when it runs: those above; Parameters,
 * which are on every device that reads them; Results; and views of static shape, whose readers
 * read what is behind them.  But for the first kind not where runs (n; NULL: nowhere).  root
 * (outputs): the output whose bytes an output has, behind views that are idle; else itself.  In
 * other graphs every node runs. */
void op_idle_nodes(const struct graph *g, const bool *runs, bool *idle, uint32_t *root);

#endif
