/* cl_prelude.cl - what all kernels share, put in front of each program.
 *
 * Build options: VW, floats in a vector; LS, work-items in a group.  On a GPU
 * a group is LS items that stride over a row side by side; on a CPU it is one
 * item that works with wide vectors (LS = 1), so that every kernel has one
 * local size and is compiled once.
 *
 * HALF: what the graph calls f32 is f16 in memory (--precision f16).  Kernels name
 * the elements of such tensors `real` and touch them by ld, st, vld, vst alone;
 * they compute in f32, but for the products where the device has cl_khr_fp16. */

#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define VLOAD CAT(vload, VW)
#define VSTORE CAT(vstore, VW)
#define VLOAD_HALF CAT(vload_half, VW)
#define VSTORE_HALF CAT(CAT(vstore_half, VW), _rte)
typedef CAT(float, VW) fv;
typedef CAT(int, VW) iv;
typedef CAT(uint, VW) uv;
#if VW == 16
#define IOTA (iv)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif VW == 8
#define IOTA (iv)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define IOTA (iv)(0, 1, 2, 3)
#endif
#define UNROLL _Pragma("unroll")
/* A loop that is not worth its weight when compiled wide. */
#define PLAIN _Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)")
#define INLINE __attribute__((always_inline))
#define GROUP(n) __attribute__((reqd_work_group_size(n, 1, 1)))
/* Where functions find the arguments of their kernel. */
#ifdef SERIES
#define ARGS local
#else
#define ARGS
#endif

/* Which work-group this is, and how many there are (of the first dimension). */
struct group {
	int x, y, z, n;
};
#define THIS_GROUP (struct group){get_group_id(0), get_group_id(1), get_group_id(2), \
	get_num_groups(0)}

/* KERNEL(work-items in a group, name, n, (n parameters), (their names)) { ... }: a kernel whose
 * work is a function of its own.  PoCL compiles what is in a kernel three times, once for each way
 * to call it, and optimises most of it again; this it compiles once.  `group` and
 * LOCAL, the work-item in its group, take the place of OpenCL's functions, SYNC that of barrier
 * (a function with barriers is inlined).  KERNEL_LOCAL has local memory besides: how many, their
 * declarations, as parameters, and their names.  Counted, because OpenCL C has no variadic
 * macros: NVIDIA's compiler refuses them.  Buffers arrive at their places (struct places). */
#if LS == 1
#define WORK __attribute__((noinline))
#define LOCAL 0
#define SYNC do { } while (0)
#else
#define WORK INLINE
#ifdef SERIES /* several groups of a kernel in one */
#define LOCAL ((int)get_local_id(0) % LS)
#else
#define LOCAL ((int)get_local_id(0))
#endif
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#endif
#define UNPACK_1(a) a
#define UNPACK_2(a, b) a, b
#define UNPACK_3(a, b, c) a, b, c
#define UNPACK_4(a, b, c, d) a, b, c, d
#define UNPACK_5(a, b, c, d, e) a, b, c, d, e
#define UNPACK_6(a, b, c, d, e, f) a, b, c, d, e, f
#define UNPACK_7(a, b, c, d, e, f, g) a, b, c, d, e, f, g
#define UNPACK_8(a, b, c, d, e, f, g, h) a, b, c, d, e, f, g, h
#define UNPACK_9(a, b, c, d, e, f, g, h, i) a, b, c, d, e, f, g, h, i
/* The names with each buffer at its place; the last is the struct. */
#define AT(x, i) ((global void *)((global char *)(x) + p.places.at[i]))
#define PLACED_2(a, p) AT(a, 0), p
#define PLACED_3(a, b, p) AT(a, 0), AT(b, 1), p
#define PLACED_4(a, b, c, p) AT(a, 0), AT(b, 1), AT(c, 2), p
#define PLACED_5(a, b, c, d, p) AT(a, 0), AT(b, 1), AT(c, 2), AT(d, 3), p
#define PLACED_6(a, b, c, d, e, p) AT(a, 0), AT(b, 1), AT(c, 2), AT(d, 3), AT(e, 4), p
#define PLACED_7(a, b, c, d, e, f, p) PLACED_6(a, b, c, d, e, AT(f, 5)), p
#define PLACED_8(a, b, c, d, e, f, g, p) PLACED_6(a, b, c, d, e, AT(f, 5)), AT(g, 6), p
#define PLACED_9(a, b, c, d, e, f, g, h, p) \
	PLACED_6(a, b, c, d, e, AT(f, 5)), AT(g, 6), AT(h, 7), p
#define KERNEL(size, name, n, params, args) \
	WORK void name##_work(const struct group group, UNPACK_##n params); \
	kernel GROUP(size) void name(UNPACK_##n params) \
	{ \
		name##_work(THIS_GROUP, PLACED_##n args); \
	} \
	WORK void name##_work(const struct group group, UNPACK_##n params)
#define KERNEL_LOCAL(size, name, n_local, locals, local_params, local_args, n, params, args) \
	WORK void name##_work(const struct group group, UNPACK_##n_local local_params, \
		UNPACK_##n params); \
	kernel GROUP(size) void name(UNPACK_##n params) \
	{ \
		UNPACK_##n_local locals; \
		name##_work(THIS_GROUP, UNPACK_##n_local local_args, PLACED_##n args); \
	} \
	WORK void name##_work(const struct group group, UNPACK_##n_local local_params, \
		UNPACK_##n params)

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef HALF
typedef half real;
#define ld(p, i) vload_half(i, p)
#define st(x, p, i) vstore_half_rte(x, i, p)
#define vld(p) VLOAD_HALF(0, p)
#define vst(x, p) VSTORE_HALF(x, 0, p)
#else
typedef float real;
#define ld(p, i) (p)[i]
#define st(x, p, i) ((p)[i] = (x))
#define vld(p) VLOAD(0, p)
#define vst(x, p) VSTORE(x, 0, p)
#endif

/* For every row of this work-group: `row`, and its elements from i0 to i1. */
#define FOR_ROWS(r) \
	for (int g_ = group.x, row = g_ / (r).chunks * (r).rows, \
	     e_ = min(row + (r).rows, (r).n), i0 = g_ % (r).chunks * (r).chunk, \
	     i1 = min(i0 + (r).chunk, (r).inner); row < e_; row++)

/* DO(type) for elements of 1 << log bytes. */
#define BY_SIZE(log, DO) do { \
	switch (log) { \
	case 0: DO(uchar); break; \
	case 1: DO(ushort); break; \
	case 2: DO(uint); break; \
	case 3: DO(ulong); break; \
	} \
} while (0)

/* Numbers below n, shared out to all work-items. */
#define FOR_ITEMS(i, end) \
	PLAIN for (int i = group.x * LS + LOCAL; i < (end); i += group.n * LS)

/* Element offset of a row in an input with strides `s` over the outer loops. */
int row_offset(int row, int rank, const ARGS int *dim, const ARGS int *s)
{
	int off = 0;
	PLAIN for (int d = rank - 1; d >= 0; d--) {
		int q = row / dim[d];
		off += (row - q * dim[d]) * s[d];
		row = q;
	}
	return off;
}

bool is_real(int code)
{
	return code <= C_F64;
}

long load_int(global const uchar *p, int code, int i)
{
	switch (code) {
	case C_I64: case C_U64: return ((global const long *)p)[i];
	case C_I32: return ((global const int *)p)[i];
	case C_I16: return ((global const short *)p)[i];
	case C_I8: return ((global const char *)p)[i];
	case C_U32: return ((global const uint *)p)[i];
	case C_U16: return ((global const ushort *)p)[i];
	case C_BOOL: return p[i] != 0;
	case C_U8: return p[i];
	}
	return 0;   /* a real number: not asked for */
}

void store_int(long x, global uchar *p, int code, int i)
{
	switch (code) {
	case C_I64: case C_U64: ((global long *)p)[i] = x; break;
	case C_I32: case C_U32: ((global int *)p)[i] = (int)x; break;
	case C_I16: case C_U16: ((global short *)p)[i] = (short)x; break;
	case C_BOOL: p[i] = x != 0; break;
	case C_I8: case C_U8: p[i] = (uchar)x; break;
	}
}

float load_real(global const uchar *p, int code, int i)
{
	switch (code) {
	case C_F16: return vload_half(i, (global const half *)p);
	case C_BF16: return as_float((uint)((global const ushort *)p)[i] << 16);
	case C_F32: return ((global const float *)p)[i];
	}
	return NAN;   /* an integer: not asked for */
}

/* To the nearest, ties to even; a NaN stays one. */
ushort to_bf16(float x)
{
	uint u = as_uint(x);
	if (isnan(x))
		return (ushort)(u >> 16 | 0x40u);
	return (ushort)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

void store_real(float x, global uchar *p, int code, int i)
{
	switch (code) {
	case C_F16: vstore_half_rte(x, i, (global half *)p); break;
	case C_BF16: ((global ushort *)p)[i] = to_bf16(x); break;
	case C_F32: ((global float *)p)[i] = x; break;
	}
}

/* ---- vectors of reals ---- */

/* m of the elements p[i*s], p[(i+1)*s], ... (none when m <= 0); the lanes beyond hold
 * anything. */
fv load(global const real *p, int s, int i, int m)
{
	if (s == 1 && m >= VW)
		return vld(p + i);
	if (s == 0)
		return (fv)(ld(p, 0));
	if (m <= 0)
		return (fv)(0.0f);
	float t[VW];
	PLAIN for (int j = 0; j < VW; j++)
		t[j] = ld(p, (j < m ? i + j : i) * s);
	return VLOAD(0, t);
}

/* The same; the lanes beyond hold `fill`. */
fv load_row(global const real *p, int s, int i, int m, float fill)
{
	if (s == 1 && m >= VW)
		return vld(p + i);
	float t[VW];
	PLAIN for (int j = 0; j < VW; j++)
		t[j] = j < m ? ld(p, (i + j) * s) : fill;
	return VLOAD(0, t);
}

/* The first m lanes of x. */
void store(fv x, global real *p, int m)
{
	if (m >= VW) {
		vst(x, p);
	} else {
		float t[VW];
		VSTORE(x, 0, t);
		PLAIN for (int j = 0; j < m; j++)
			st(t[j], p, j);
	}
}

/* The work-items of a group side by side over n elements: m of them from i on. */
#define FOR_ROW(n) for (int i = LOCAL * VW, m; \
	m = min((n) - i, VW), i < (n); i += LS * VW)
