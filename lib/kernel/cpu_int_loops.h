/* cpu_int_loops.h - divisions of integers in double precision, one level (cpu_levels.h).
 *
 * Where |p|, |q| < 2^52, the quotient p / q rounded to 53 bits lies on the same side of every integer
 * as the exact one: they differ by at most |p / q| 2^-53, and an integer k that p / q is not is at
 * least |k| 2^-52 away. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define DIVIDE(T, most) \
	enum { PIECE = 64 }; \
	T p[PIECE], q[PIECE], r[PIECE]; \
	for (int i = 0; i < PIECE; i++) { \
		p[i] = sa ? 1 : a[0]; \
		q[i] = sb ? 1 : b[0]; \
	} \
	for (int64_t i0 = 0; i0 < n; i0 += PIECE) { \
		int64_t m = n - i0 < PIECE ? n - i0 : PIECE; \
		T wide = 0; \
		if (sa) \
			__builtin_memcpy(p, a + i0, (size_t)m * sizeof *p); \
		if (sb) \
			__builtin_memcpy(q, b + i0, (size_t)m * sizeof *q); \
		for (int i = 0; i < PIECE; i++) \
			wide |= (p[i] ^ p[i] >> (8 * sizeof(T) - 1)) | (q[i] ^ q[i] >> (8 * sizeof(T) - 1)); \
		if (wide > (most)) \
			return i0; \
		for (int i = 0; i < PIECE; i++) { \
			double x = (double)p[i], d = q[i] == 0 ? 1 : (double)q[i]; \
			T t = (T)(x / d), rest = p[i] - t * q[i]; \
			T turned = floor && rest != 0 && (rest ^ q[i]) < 0 ? rest + q[i] : rest; \
			r[i] = q[i] == 0 ? 0 : quotient ? t : turned; \
		} \
		__builtin_memcpy(y + i0, r, (size_t)m * sizeof *y); \
	} \
	return n

/* Quotients towards zero, or remainders of p's sign, or of q's (floor); 0 where q is 0.  Returns how
 * many elements are done: the next ones have a number that is too large. */
static int64_t LEVEL(divide_i64)(bool quotient, bool floor, const int64_t *a, int sa,
				 const int64_t *b, int sb, int64_t *y, int64_t n)
{
	DIVIDE(int64_t, INT64_C(0xfffffffffffff));
}

/* -2^31 / -1 has no i32: the largest size is left to others. */
static int64_t LEVEL(divide_i32)(bool quotient, bool floor, const int32_t *a, int sa,
				 const int32_t *b, int sb, int32_t *y, int64_t n)
{
	DIVIDE(int32_t, INT32_MAX - 1);
}
#undef DIVIDE
