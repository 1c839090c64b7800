/* cl_int.cl - operators on integers and booleans, comparisons, Select, Range:
 * what models compute shapes, indices and masks with. */

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
	case E_IS_FINITE: return isfinite(x);
	}
	return false;   /* cl_operators.h names no other */
}

KERNEL(LS, elem_test, 4, (global const real *restrict a, global const real *restrict b,
	global uchar *restrict o, const struct elem_args p), (a, b, o, p))
{
	FOR_ROWS(p.r) {
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]);
		int ob = p.n_in > 1 ? row_offset(row, p.rank, p.dim, p.stride[1]) : 0;
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) {
			float x = ld(a, oa + i * p.inner[0]);
			float y = p.n_in > 1 ? ld(b, ob + i * p.inner[1]) : 0.0f;
			o[row * p.r.inner + i] = test(p.op, x, y, p.alpha);
		}
	}
}

#define SELECT(T) do { \
	global const T *tb = (global const T *)b, *tc = (global const T *)c; \
	FOR_ROWS(p.r) { \
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]); \
		int ob = row_offset(row, p.rank, p.dim, p.stride[1]); \
		int oc = row_offset(row, p.rank, p.dim, p.stride[2]); \
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) \
			((global T *)o)[row * p.r.inner + i] = a[oa + i * p.inner[0]] \
				? tb[ob + i * p.inner[1]] : tc[oc + i * p.inner[2]]; \
	} \
} while (0)

/* p.op: log of the size of an element. */
KERNEL(LS, choose, 5, (global const uchar *restrict a, global const uchar *restrict b,
	global const uchar *restrict c, global uchar *restrict o, const struct elem_args p),
	(a, b, c, o, p))
{
	BY_SIZE(p.op, SELECT);
}

long floor_div(long x, long y)
{
	long q = x / y;
	return q - (x % y != 0 && (x < 0) != (y < 0));
}

long int_pow(long x, long y)
{
	long r = 1;
	if (y < 0)
		return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : x == 0 ? INT_MIN : 0;
	for (; y; y >>= 1, x *= x)
		if (y & 1)
			r *= x;
	return r;
}

/* Arithmetic of 8 bits stays within the type's range, that of more wraps: as on cpu devices. */
long limited(long x, int code)
{
	return code == C_I8 ? clamp(x, -128L, 127L) : code == C_U8 ? clamp(x, 0L, 255L) : x;
}

/* A bound of whole numbers, which may be infinite. */
long bound_of(float x)
{
	return x >= 0x1p63f ? LONG_MAX : x > -0x1p63f ? (long)x : LONG_MIN;
}

/* Of the bits themselves. */
bool is_bitwise(int op)
{
	return op >= E_BIT_AND && op <= E_SHR;
}

/* Division truncates, whatever m_pythondiv says, as OpenVINO's CPU plugin does.  By zero it
 * gives 0: that is undefined, but must not trap, nor must the least number by -1. */
long f_int(int op, long x, long y, float alpha, float beta, int bits)
{
	switch (op) {
	case E_ABS: return x < 0 ? -x : x;
	case E_NEG: return -x;
	case E_RELU: return max(x, 0L);
	case E_CLAMP: return min(max(x, bound_of(ceil(alpha))), bound_of(floor(beta)));
	case E_SIGN: return (x > 0) - (x < 0);
	case E_ADD: return x + y;
	case E_SUB: return x - y;
	case E_MUL: return x * y;
	case E_DIV: return y == -1 ? -x : y ? x / y : 0;
	case E_MOD: return y && y != -1 ? x % y : 0;
	case E_FLOOR_MOD: return y && y != -1 ? x - y * floor_div(x, y) : 0;
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
	case E_SHL: return y < 0 || y >= bits ? 0 : x << y;
	case E_SHR: return y < 0 || y >= bits ? 0 : x >> y;
	case E_AND: return x && y;
	case E_OR: return x || y;
	case E_XOR: return !x != !y;
	case E_NOT: return !x;
	case E_COPY: return x;
	}
	return 0;   /* cl_operators.h names no other */
}

KERNEL(LS, elem_int, 4, (global const uchar *a, global const uchar *b, global uchar *o,
	const struct elem_args p), (a, b, o, p))
{
	FOR_ROWS(p.r) {
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]);
		int ob = p.n_in > 1 ? row_offset(row, p.rank, p.dim, p.stride[1]) : 0;
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) {
			long x = load_int(a, p.code[0], oa + i * p.inner[0]);
			long y = p.n_in > 1 ? load_int(b, p.code[1], ob + i * p.inner[1]) : 0;
			long z = f_int(p.op, x, y, p.alpha, p.beta, p.code[0] == C_I32 ? 32 : 64);
			store_int(is_bitwise(p.op) ? z : limited(z, p.code[3]), o, p.code[3],
				row * p.r.inner + i);
		}
	}
}

KERNEL(LS, reduce_int, 3, (global const uchar *x, global uchar *o, const struct reduce_args p),
	(x, o, p))
{
	FOR_ITEMS(r, p.n) {
		int base = row_offset(r, p.rank, p.dim, p.stride), n = 1;
		for (int d = 0; d < p.n_red; d++)
			n *= p.red_dim[d];
		long acc = load_int(x, p.in_code, base);
		acc = p.op == R_L1 ? abs(acc) : p.op == R_L2 ? acc * acc : acc;
		PLAIN for (int i = 1; i < n; i++) {
			long y = load_int(x, p.in_code,
				base + row_offset(i, p.n_red, p.red_dim, p.red_stride));
			switch (p.op) {
			case R_PROD: acc *= y; break;
			case R_MIN: acc = min(acc, y); break;
			case R_MAX: acc = max(acc, y); break;
			case R_AND: acc = acc && y; break;
			case R_OR: acc = acc || y; break;
			case R_L1: acc += y < 0 ? -y : y; break;
			case R_L2: acc += y * y; break;
			case R_SUM: acc += y; break;
			}
		}
		if (p.scale != 1.0f)
			acc = acc / (long)n;
		if (p.op == R_L2) {
			long root = (long)sqrt((float)acc); /* and f32 may not know the last digits */
			while (root > 0 && root * root > acc)
				root--;
			while ((root + 1) * (root + 1) <= acc)
				root++;
			acc = root;
		}
		store_int(limited(acc, p.out_code), o, p.out_code, r);
	}
}

KERNEL(LS, range, 4, (global const uchar *start, global const uchar *step, global uchar *o,
	const struct range_args p), (start, step, o, p))
{
	FOR_ITEMS(i, p.n) {
		if (is_real(p.to)) {
			float s = is_real(p.start) ? load_real(start, p.start, 0)
				: (float)load_int(start, p.start, 0);
			float d = is_real(p.step) ? load_real(step, p.step, 0)
				: (float)load_int(step, p.step, 0);
			store_real(s + d * i, o, p.to, i);
		} else {
			long s = is_real(p.start) ? (long)load_real(start, p.start, 0)
				: load_int(start, p.start, 0);
			long d = is_real(p.step) ? (long)load_real(step, p.step, 0)
				: load_int(step, p.step, 0);
			store_int(s + d * i, o, p.to, i);
		}
	}
}
