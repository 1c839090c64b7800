/* cl_args.cl - what kernels are told besides their buffers; read by the host
 * (as C) and in front of every OpenCL program alike.
 *
 * Only int and float members, so that both sides lay them out the same way.
 * All strides, offsets and sizes count elements; tensors have fewer than 2^31. */

enum { ND = 8 };     /* loops of a kernel; as many as a tensor has dimensions */

/* Element types that integer and conversion kernels are told apart by. */
enum elem_code { C_F32, C_F16, C_BF16, C_F64, C_I64, C_I32, C_I16, C_I8, C_U64, C_U32, C_U16,
	C_U8, C_BOOL };

/* Operators of the element-wise kernels. */
enum elem_op {
	/* f32, in chains (cl_chain.cl) */
	E_COPY, E_ABS, E_NEG, E_RELU, E_CLAMP, E_SQRT, E_CEIL, E_FLOOR, E_ROUND_EVEN, E_ROUND_AWAY,
	E_SIGN, E_HSWISH, E_HSIGMOID, E_HARD_SIGMOID, E_SOFT_SIGN,
	E_ADD, E_SUB, E_MUL, E_DIV, E_MIN, E_MAX, E_SQUARED_DIFF, E_PRELU, E_FLOOR_MOD, E_AFFINE,
	E_EXP, E_LOG, E_SIGMOID, E_TANH, E_GELU_ERF, E_GELU_TANH, E_ERF, E_SWISH, E_SOFT_PLUS,
	E_MISH, E_ELU, E_SELU, E_SAVE,
	/* elem_rare */
	E_SIN, E_COS, E_TAN, E_ASIN, E_ACOS, E_ATAN, E_SINH, E_COSH, E_ASINH, E_ACOSH, E_ATANH,
	E_ERF_INV, E_POW, E_MOD,
	/* elem_test: boolean results from f32 */
	E_EQ, E_NE, E_LT, E_LE, E_GT, E_GE, E_IS_NAN, E_IS_INF, E_IS_FINITE,
	/* elem_int, beside the arithmetic and comparisons above */
	E_BIT_AND, E_BIT_OR, E_BIT_XOR, E_BIT_NOT, E_SHL, E_SHR,
	E_AND, E_OR, E_XOR, E_NOT
};

/* Element-wise operators applied one after another to a value x on its way from registers to
 * memory: x = op(x, y, alpha, beta), or op(y, x, ..) where swap is set.  y comes from operand
 * `from`, or is what E_SAVE kept of x (SAVED). */
enum { POSTS = 8, OPERANDS = 4, NO_OPERAND = -1, SAVED = -2 };
struct post {
	int op;              /* enum elem_op */
	int from, swap;
	float alpha, beta;
};
/* Where the operand of a product's element lies: batch z, row m, column n of the result belong
 * to element (z / zd % zm) * zs + m * sm + n * sn. */
struct operand {
	int zd, zm, zs, sm, sn;
};
struct chain {
	int n;               /* posts */
	struct post post[POSTS];
};

/* Where each buffer of a launch begins, in bytes: values share the device's memory.  Without sub-buffers:
 * NVIDIA's driver crashes in the release of some that overlap.  Each struct of
 * arguments begins with it. */
enum { CL_BUFS = 8 };
struct places {
	long at[CL_BUFS];
};

/* Loops over rows, and over the `inner` elements of a row.  A work-group takes
 * `rows` rows whole, or one of `chunks` parts of `chunk` elements of one row. */
struct rows {
	int n;               /* how many rows */
	int inner;
	int rows;            /* rows of a work-group */
	int chunks, chunk;
};

/* o[...] = op(a[...], b[...], c[...]); o is dense and row-major.  Kernel `elem` applies a
 * chain to its first input instead. */
struct elem_args {
	struct places places;
	struct rows r;
	int op, n_in;        /* Select: log of the size of an element */
	int rank;            /* loops above the innermost, outermost first */
	int dim[ND];
	int stride[OPERANDS][ND];   /* of each input over these loops */
	int inner[OPERANDS];        /* stride of each input in the innermost loop */
	int code[4];         /* enum elem_code of a, b, c and o */
	float alpha, beta;
	struct chain chain;
};

/* o[out + sum i*so] = a[in + sum i*si] */
struct move_args {
	struct places places;
	struct rows r;
	int log;             /* size of an element: 1 << log bytes */
	int rank;
	int dim[ND], si[ND], so[ND];
	int inner_i, inner_o;
	int in, out;
};

/* data (batch, outer, axis, n), indices (batch, n_idx) -> (batch, outer, n_idx, n) */
struct gather_args {
	struct places places;
	struct rows r;       /* rows: batch * outer * n_idx, inner: n */
	int log, outer, axis, n_idx;
	int code;            /* of the indices */
};

struct range_args {
	struct places places;
	int n;
	int start, step, to; /* enum elem_code of start, step and the result */
};

/* One result for each of r.n places; reduced over the loops red. */
struct reduce_args {
	struct places places;
	int n, op;           /* results; enum reduce_op */
	int rank, dim[ND], stride[ND];
	int n_red, red_dim[ND], red_stride[ND];   /* the last one is the innermost */
	int in_code, out_code;
	float scale;         /* ReduceMean: 1 / number of elements */
};
enum reduce_op { R_SUM, R_PROD, R_MIN, R_MAX, R_L1, R_L2, R_AND, R_OR };

/* x (outer, n, inner), softmax and its logarithm over n; MVN has inner == 1. */
struct norm_args {
	struct places places;
	int n_rows, n, inner;
	int log;             /* softmax: its logarithm */
	int causal;          /* softmax: place i of every so many rows sees i + 1 elements; 0: all */
	int masked;          /* softmax: a row of nothing but minus infinity gives zeros */
	int normalize, eps_inside;   /* normalize: 2: the mean counts as 0 */
	float eps;
	struct chain chain;
	struct operand at[OPERANDS];   /* z: row, n: place in it */
};

/* C (m,n) = A (m,k) B (k,n), for each of the batches, then the chain.  Packed operands are stored
 * as (ceil(m/MR), k, MR) and (ceil(n/NR), k, NR), padded with zeros; in bf16 A is (ceil(k/32), m, 32).  A convolution is the
 * product of the weights A (m,k), k = (channel, kh, kw), and an image (channels,h,w) that is
 * seen through the window as B (k,n), n = (oh, ow). */
struct gemm_args {
	struct places places;
	int m, n, k;
	int a_packed, b_mode;          /* enum b_mode */
	int b_half;                    /* B is packed as f16 */
	int ars, acs, brs, bcs;        /* strides of rows and columns when not packed */
	int m_chunk;                   /* CPU: rows of a work-group, a multiple of MR */
	int splits, k_chunk;           /* GPU: parts of the products, and how many one has */
	int n_batch;                   /* loops of the batch, outermost first */
	int batch[ND], as[ND], bs[ND];
	int h, w, ow, kh, kw;          /* B_IMAGE */
	int sh, sw, ph, pw, dh, dw;    /* strides, padding at the beginning, dilations */
	int size;                      /* elements of one B that may be read, when not packed */
	struct chain chain;
	struct operand at[OPERANDS];
};
enum b_mode { B_STRIDED, B_PACKED, B_IMAGE };

/* Depthwise convolution and pooling: a plane (h,w) -> (oh,ow) for each of n planes,
 * in tiles of (th,tw), then the chain.  */
struct window_args {
	struct places places;
	int planes, channels;          /* plane p has the weights of channel p % channels */
	int h, w, oh, ow, kh, kw;
	int sh, sw, ph, pw, dh, dw;
	int th, tw, tiles_h, tiles_w;
	int pitch, rows;               /* of the tile in local memory */
	int op;                        /* enum window_op */
	struct chain chain;
	struct operand at[OPERANDS];   /* z: plane, n: place in it */
};
/* Windows in three dimensions, the outermost first. */
struct cube_args {
	struct places places;
	struct rows r;
	int in[3], out[3], k[3], s[3], p[3], d[3];   /* window, strides, padding in front, dilations */
	int op;                        /* enum window_op */
};
enum window_op { W_DEPTHWISE, W_MAX, W_AVG, W_AVG_ALL };

/* o[...] = a[sum over dims of a table's entry], or nothing where an entry is negative: the value
 * that fills (filled), or zero.  dim d of o has dim[d] times taps[d] entries from table
 * place at[d] on; resampling adds up the products of their weights. */
struct table_args {
	struct places places;
	struct rows r;
	int log;                       /* size of an element */
	int rank;                      /* dims above the innermost */
	int dim[ND + 1], at[ND + 1], taps[ND + 1];
	int filled;
};

/* Operators that look at indices, and those along one axis of (outer, n, inner). */
struct index_args {
	struct places places;
	int op;                        /* enum op_scatter; TopK: bits of enum topk_bits */
	int log, code;                 /* size of an element, its enum elem_code */
	int idx_code;                  /* of indices, also those that are a result */
	int outer, n, inner;
	int n_idx, depth;              /* how many indices; numbers of one; TopK: results */
	int idx_outer, idx_inner;      /* strides of indices where they differ */
	int rank, dim[ND], stride[ND]; /* GatherND: sizes of the indexed dims; loops */
	int exclusive, reverse;
	int updates;                   /* elements of `updates` of one outer place */
};
enum topk_bits { TOPK_MAX = 1, TOPK_BY_INDEX = 2 };

/* x (outer, n, inner) with statistics over n, or over a window of n. */
struct axis_args {
	struct places places;
	int outer, n, inner;
	int size, add;                 /* LRN: window; NormalizeL2: eps is added, not a limit */
	float alpha, beta, bias;
};

/* FakeQuantize (levels) and BatchNormInference: five inputs. */
struct five_args {
	struct places places;
	struct rows r;
	int rank, dim[ND], stride[5][ND], inner[5];
	int levels;
	float alpha;                   /* levels - 1, or eps */
};

/* One step of a recurrent cell: gates (batch, rows, hidden) -> h, c. */
struct cell_args {
	struct places places;
	int kind;                      /* enum cell_kind */
	int batch, hidden, act[3];     /* enum elem_op */
	float clip;
	int x_rows;                    /* gates of a row of the input's part: its stride */
	int x_at, x_step, r_at;        /* where it begins, and how far apart the batch's rows are */
	int y_at, y_step;              /* where h goes besides; y_step 0: nowhere */
	int t, reverse, steps;         /* this step; compared with lengths */
	int code;                      /* of the lengths; -1: all the same */
	int state_at, state_step;      /* where h and c of a batch row are */
	int t_x, t_y;                  /* strides of a time step */
};
enum cell_kind { CELL_LSTM, CELL_RNN, CELL_GRU, CELL_GRU_RESET, CELL_GRU_BEFORE };

/* Launches that one work-group does one after another: cl_series.cl. */
enum { SERIES_ITEMS = 512, SERIES_MOST = 32, SERIES_BUFS = 5, SERIES_MEMORIES = 6 };
enum series_what { S_ELEM, S_MOVE, S_GATHER };
struct series_op {
	int what;                      /* enum series_what */
	int groups;                    /* work-groups of the launch */
	int level;                     /* what is in front of it has to be done first */
	int memory[SERIES_BUFS];       /* which of the kernel's buffers each of the launch's is */
	union {
		struct places places;  /* of each */
		struct elem_args elem;
		struct move_args move;
		struct gather_args gather;
	} args;
};
struct series_args {
	struct places places;
	int n;                         /* launches */
};

/* The products of a transposed convolution, (channels, kh, kw) of (h,w), added up where they
 * fall: (channels, oh, ow). */
struct fold_args {
	struct places places;
	int channels, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw, batch;
};
