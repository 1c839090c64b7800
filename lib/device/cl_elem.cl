/* cl_elem.cl - element-wise operators with numpy broadcasting.
 *
 * One kernel serves many operators: the operator is the same for all
 * work-items, and is looked up once per vector. */

/* m of the elements p[i*s], p[(i+1)*s], ... */
fv load(global const float *p, int s, int i, int m)
{
	if (s == 1 && m == VW)
		return VLOAD(0, p + i);
	if (s == 0)
		return (fv)(p[0]);
	float t[VW];
	for (int j = 0; j < VW; j++)
		t[j] = p[(j < m ? i + j : i) * s];
	return VLOAD(0, t);
}

void store(fv x, global float *p, int m)
{
	if (m == VW) {
		VSTORE(x, 0, p);
	} else {
		float t[VW];
		VSTORE(x, 0, t);
		for (int j = 0; j < m; j++)
			p[j] = t[j];
	}
}

fv sigmoid(fv x)
{
	return 1.0f / (1.0f + exp(-x));
}

fv soft_plus(fv x)
{
	return fmax(x, 0.0f) + log1p(exp(-fabs(x)));
}

fv gate6(fv x)
{
	return fmin(fmax(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
}

fv f_light(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_ABS: return fabs(x);
	case E_NEG: return -x;
	case E_RELU: return fmax(x, 0.0f);
	case E_CLAMP: return fmin(fmax(x, alpha), beta);
	case E_SQRT: return sqrt(x);
	case E_CEIL: return ceil(x);
	case E_FLOOR: return floor(x);
	case E_ROUND_EVEN: return rint(x);
	case E_ROUND_AWAY: return round(x);
	case E_SIGN: return sign(x);
	case E_HSWISH: return x * gate6(x);
	case E_HSIGMOID: return gate6(x);
	case E_HARD_SIGMOID: return fmin(fmax(alpha * x + beta, 0.0f), 1.0f);
	case E_SOFT_SIGN: return x / (1.0f + fabs(x));
	case E_ADD: return x + y;
	case E_SUB: return x - y;
	case E_MUL: return x * y;
	case E_DIV: return x / y;
	case E_MIN: return fmin(x, y);
	case E_MAX: return fmax(x, y);
	case E_SQUARED_DIFF: return (x - y) * (x - y);
	case E_PRELU: return fmax(x, 0.0f) + y * fmin(x, 0.0f);
	case E_FLOOR_MOD: return x - y * floor(x / y);
	default: return x;
	}
}

fv f_math(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_EXP: return exp(x);
	case E_LOG: return log(x);
	case E_SIGMOID: return sigmoid(x);
	case E_TANH: return tanh(x);
	case E_ERF: return erf(x);
	case E_GELU_ERF: return 0.5f * x * (1.0f + erf(x * 0.70710678118654752f));
	case E_GELU_TANH:
		return 0.5f * x * (1.0f + tanh(0.79788456080286536f * (x + 0.044715f * x * x * x)));
	case E_SWISH: return x * sigmoid(y * x);
	case E_SOFT_PLUS: return soft_plus(x);
	case E_MISH: return x * tanh(soft_plus(x));
	case E_ELU: return fmax(x, 0.0f) + alpha * (exp(fmin(x, 0.0f)) - 1.0f);
	case E_SELU: return beta * (fmax(x, 0.0f) + alpha * (exp(fmin(x, 0.0f)) - 1.0f));
	default: return x;
	}
}

fv f_rare(int op, fv x, fv y, float alpha, float beta)
{
	switch (op) {
	case E_SIN: return sin(x);
	case E_COS: return cos(x);
	case E_TAN: return tan(x);
	case E_ASIN: return asin(x);
	case E_ACOS: return acos(x);
	case E_ATAN: return atan(x);
	case E_SINH: return sinh(x);
	case E_COSH: return cosh(x);
	case E_ASINH: return asinh(x);
	case E_ACOSH: return acosh(x);
	case E_ATANH: return atanh(x);
	case E_POW: return pow(x, y);
	case E_MOD: return fmod(x, y);
	default: return x;
	}
}

#define ELEM_KERNEL(name, f) \
kernel GROUP(LS) void name(global const float *restrict a, global const float *restrict b, \
	global float *o, const struct elem_args p) \
{ \
	FOR_ROWS(p.r) { \
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]); \
		int ob = p.n_in > 1 ? row_offset(row, p.rank, p.dim, p.stride[1]) : 0; \
		for (int i = i0 + (int)get_local_id(0) * VW; i < i1; i += LS * VW) { \
			int m = min(i1 - i, VW); \
			fv x = load(a + oa, p.inner[0], i, m), y = (fv)(1.0f); \
			if (p.n_in > 1) \
				y = load(b + ob, p.inner[1], i, m); \
			store(f(p.op, x, y, p.alpha, p.beta), o + row * p.r.inner + i, m); \
		} \
	} \
}

ELEM_KERNEL(elem_light, f_light)
ELEM_KERNEL(elem_math, f_math)
ELEM_KERNEL(elem_rare, f_rare)

bool test(int op, float x, float y, float alpha)
{
	switch (op) {
	case E_EQ: return x == y;
	case E_NE: return x != y;
	case E_LT: return x < y;
	case E_LE: return x <= y;
	case E_GT: return x > y;
	case E_GE: return x >= y;
	case E_IS_NAN: return isnan(x);
	case E_IS_INF: return isinf(x) && ((int)alpha & (x > 0.0f ? 1 : 2));
	default: return isfinite(x);
	}
}

kernel GROUP(LS) void elem_test(global const float *restrict a, global const float *restrict b,
	global uchar *restrict o, const struct elem_args p)
{
	FOR_ROWS(p.r) {
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]);
		int ob = p.n_in > 1 ? row_offset(row, p.rank, p.dim, p.stride[1]) : 0;
		for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) {
			float x = a[oa + i * p.inner[0]];
			float y = p.n_in > 1 ? b[ob + i * p.inner[1]] : 0.0f;
			o[row * p.r.inner + i] = test(p.op, x, y, p.alpha);
		}
	}
}

#define SELECT_KERNEL(name, T) \
kernel GROUP(LS) void name(global const uchar *restrict a, global const T *restrict b, \
	global const T *restrict c, global T *o, const struct elem_args p) \
{ \
	FOR_ROWS(p.r) { \
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]); \
		int ob = row_offset(row, p.rank, p.dim, p.stride[1]); \
		int oc = row_offset(row, p.rank, p.dim, p.stride[2]); \
		for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) \
			o[row * p.r.inner + i] = a[oa + i * p.inner[0]] ? b[ob + i * p.inner[1]] \
				: c[oc + i * p.inner[2]]; \
	} \
}

SELECT_KERNEL(select_1, uchar)
SELECT_KERNEL(select_2, ushort)
SELECT_KERNEL(select_4, uint)
SELECT_KERNEL(select_8, ulong)

long floor_div(long x, long y)
{
	long q = x / y;
	return q - (x % y != 0 && (x < 0) != (y < 0));
}

long int_pow(long x, long y)
{
	long r = 1;
	if (y < 0)
		return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
	for (; y; y >>= 1, x *= x)
		if (y & 1)
			r *= x;
	return r;
}

/* Division by zero gives 0: what it gives is undefined, but it must not trap. */
long f_int(int op, long x, long y, float alpha, float beta)
{
	switch (op) {
	case E_ABS: return x < 0 ? -x : x;
	case E_NEG: return -x;
	case E_RELU: return max(x, 0L);
	case E_CLAMP: return x < alpha ? (long)ceil(alpha) : x > beta ? (long)floor(beta) : x;
	case E_SIGN: return (x > 0) - (x < 0);
	case E_ADD: return x + y;
	case E_SUB: return x - y;
	case E_MUL: return x * y;
	case E_DIV: return y ? x / y : 0;
	case E_FLOOR_DIV: return y ? floor_div(x, y) : 0;
	case E_MOD: return y ? x % y : 0;
	case E_FLOOR_MOD: return y ? x - y * floor_div(x, y) : 0;
	case E_POW: return int_pow(x, y);
	case E_MIN: return min(x, y);
	case E_MAX: return max(x, y);
	case E_SQUARED_DIFF: return (x - y) * (x - y);
	case E_PRELU: return x < 0 ? x * y : x;
	case E_EQ: return x == y;
	case E_NE: return x != y;
	case E_LT: return x < y;
	case E_LE: return x <= y;
	case E_GT: return x > y;
	case E_GE: return x >= y;
	case E_BIT_AND: return x & y;
	case E_BIT_OR: return x | y;
	case E_BIT_XOR: return x ^ y;
	case E_BIT_NOT: return ~x;
	case E_SHL: return x << (y & 63);
	case E_SHR: return x >> (y & 63);
	case E_AND: return x && y;
	case E_OR: return x || y;
	case E_XOR: return !x != !y;
	case E_NOT: return !x;
	default: return x;
	}
}

kernel GROUP(LS) void elem_int(global const uchar *a, global const uchar *b, global uchar *o,
	const struct elem_args p)
{
	FOR_ROWS(p.r) {
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]);
		int ob = p.n_in > 1 ? row_offset(row, p.rank, p.dim, p.stride[1]) : 0;
		for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) {
			long x = load_int(a, p.code[0], oa + i * p.inner[0]);
			long y = p.n_in > 1 ? load_int(b, p.code[1], ob + i * p.inner[1]) : 0;
			store_int(f_int(p.op, x, y, p.alpha, p.beta), o, p.code[3],
				row * p.r.inner + i);
		}
	}
}

/* o = (type of o) a, dense. */
kernel GROUP(LS) void convert(global const uchar *a, global uchar *o, const struct elem_args p)
{
	FOR_ROWS(p.r) {
		for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) {
#ifdef cl_khr_fp64
			if (p.code[0] == C_F64 || p.code[3] == C_F64) {
				double x = p.code[0] == C_F64 ? ((global const double *)a)[i]
					: is_real(p.code[0]) ? (double)load_real(a, p.code[0], i)
					: (double)load_int(a, p.code[0], i);
				if (p.code[3] == C_F64)
					((global double *)o)[i] = x;
				else if (is_real(p.code[3]))
					store_real((float)x, o, p.code[3], i);
				else
					store_int(p.code[3] == C_BOOL ? x != 0.0 : (long)x, o,
						p.code[3], i);
				continue;
			}
#endif
			if (!is_real(p.code[0])) {
				long x = load_int(a, p.code[0], i);
				if (is_real(p.code[3]))
					store_real((float)x, o, p.code[3], i);
				else
					store_int(x, o, p.code[3], i);
			} else {
				float x = load_real(a, p.code[0], i);
				if (is_real(p.code[3]))
					store_real(x, o, p.code[3], i);
				else
					store_int(p.code[3] == C_BOOL ? x != 0.0f : (long)x, o,
						p.code[3], i);
			}
		}
	}
}

kernel GROUP(LS) void convert_f16_f32(global const half *restrict a, global float *restrict o,
	const struct elem_args p)
{
	FOR_ROWS(p.r) {
		for (int i = i0 + (int)get_local_id(0) * VW; i < i1; i += LS * VW) {
			if (i1 - i >= VW)
				VSTORE(VLOAD_HALF(0, a + i), 0, o + i);
			else
				for (int j = i; j < i1; j++)
					o[j] = vload_half(j, a);
		}
	}
}
