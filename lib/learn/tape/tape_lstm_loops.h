/* tape_lstm_loops.h - the inner loops of tape_lstm_cell.c, one level (isa_dispatch.h): a vector of columns at a time. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define INLINE static inline __attribute__((always_inline))
#include "learn/tape/tape_vec_loops.h"

/* tanh as a quotient of polynomials, least error on |x| < 7.9, where it is 1 within rounding; a NaN stays one. */
INLINE VEC LEVEL(tanh)(VEC x)
{
	static const float over[] = {2.00018790482477e-13f, -8.60467152213735e-11f,
				     5.12229709037114e-08f, 1.48572235717979e-05f,
				     6.37261928875436e-04f, 4.89352455891786e-03f};
	static const float under[] = {1.18534705686654e-04f, 2.26843463243900e-03f,
				      4.89352518554385e-03f};
	const float most = 7.90531110763549805f;
	x = VMAX(VALL(-most), VMIN(VALL(most), x));
	VEC s = VMUL(x, x), p = VALL(-2.76076847742355e-16f), q = VALL(1.19825839466702e-06f);
	_Pragma("GCC unroll 8")
	for (int i = 0; i < 6; i++)
		p = VFMA(p, s, VALL(over[i]));
	_Pragma("GCC unroll 8")
	for (int i = 0; i < 3; i++)
		q = VFMA(q, s, VALL(under[i]));
	return VMUL(VMUL(x, p), LEVEL(inverse)(q));
}

INLINE VEC LEVEL(sigmoid)(VEC x)
{
	const VEC half = VALL(0.5f);
	return VFMA(half, LEVEL(tanh)(VMUL(half, x)), half);
}

/* The sums of one gate: x (n) and what is `at` behind more, which may be NULL. */
INLINE VEC LEVEL(gate_sum)(const float *x, const float *more, size_t at, size_t some)
{
	VEC v = LEVEL(load_some)(x + at, some);
	if (more)
		v = VADD(v, LEVEL(load_some)(more + at, some));
	return v;
}

INLINE void LEVEL(cell)(const struct lstm_cell *r, size_t j, size_t some)
{
	const float *x = r->x, *more = r->more;
	size_t n = r->n;
	VEC in = LEVEL(sigmoid)(LEVEL(gate_sum)(x, more, j, some));
	VEC forget = LEVEL(sigmoid)(VADD(LEVEL(gate_sum)(x, more, n + j, some), VALL(1.0f)));
	VEC cell = LEVEL(tanh)(LEVEL(gate_sum)(x, more, 2 * n + j, some));
	VEC out = LEVEL(sigmoid)(LEVEL(gate_sum)(x, more, 3 * n + j, some));
	VEC now = VMUL(in, cell);
	if (r->c_before)
		now = VFMA(forget, LEVEL(load_some)(r->c_before + j, some), now);
	LEVEL(store_some)(r->gates + j, in, some);
	LEVEL(store_some)(r->gates + n + j, forget, some);
	LEVEL(store_some)(r->gates + 2 * n + j, cell, some);
	LEVEL(store_some)(r->gates + 3 * n + j, out, some);
	LEVEL(store_some)(r->c + j, now, some);
	LEVEL(store_some)(r->h + j, VMUL(out, LEVEL(tanh)(now)), some);
}

static void LEVEL(lstm)(const struct lstm_cell *r)
{
	size_t j = 0;
	for (; j + LEVEL_WIDTH <= r->n; j += LEVEL_WIDTH)
		LEVEL(cell)(r, j, LEVEL_WIDTH);
	if (j < r->n)
		LEVEL(cell)(r, j, r->n - j);
}

/* x (1 - x) */
INLINE VEC LEVEL(slope)(VEC x)
{
	return VFNMA(x, x, x);
}

INLINE void LEVEL(cell_back)(const struct lstm_cell_back *r, size_t j, size_t some)
{
	const float *gates = r->gates;
	const VEC one = VALL(1.0f);
	size_t n = r->n;
	VEC in = LEVEL(load_some)(gates + j, some), forget = LEVEL(load_some)(gates + n + j, some);
	VEC cell = LEVEL(load_some)(gates + 2 * n + j, some);
	VEC out = LEVEL(load_some)(gates + 3 * n + j, some);
	VEC t = LEVEL(tanh)(LEVEL(load_some)(r->c + j, some));
	VEC dh = VADD(LEVEL(load_some)(r->dh + j, some), LEVEL(load_some)(r->gh + j, some));
	VEC d = VADD(LEVEL(load_some)(r->dc + j, some), LEVEL(load_some)(r->gc + j, some));
	VEC before = VALL(0.0f);
	d = VFMA(VMUL(dh, out), VFNMA(t, t, one), d);
	if (r->c_before)
		before = LEVEL(load_some)(r->c_before + j, some);
	LEVEL(store_some)(r->pre + j, VMUL(VMUL(d, cell), LEVEL(slope)(in)), some);
	LEVEL(store_some)(r->pre + n + j, VMUL(VMUL(d, before), LEVEL(slope)(forget)), some);
	LEVEL(store_some)(r->pre + 2 * n + j, VMUL(VMUL(d, in), VFNMA(cell, cell, one)), some);
	LEVEL(store_some)(r->pre + 3 * n + j, VMUL(VMUL(dh, t), LEVEL(slope)(out)), some);
	LEVEL(store_some)(r->dc + j, VMUL(d, forget), some);
}

static void LEVEL(lstm_back)(const struct lstm_cell_back *r)
{
	size_t j = 0;
	for (; j + LEVEL_WIDTH <= r->n; j += LEVEL_WIDTH)
		LEVEL(cell_back)(r, j, LEVEL_WIDTH);
	if (j < r->n)
		LEVEL(cell_back)(r, j, r->n - j);
}

#undef INLINE
