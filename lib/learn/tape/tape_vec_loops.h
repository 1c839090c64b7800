/* tape_vec_loops.h - what the loops of this room share at one level (isa_dispatch.h): reciprocals, and vectors of
 * which only the first floats are there.  Included by tape_scores_loops.h and tape_lstm_loops.h, never guarded. */

/* clang-format off */
/* 1 / x within two units of the last place, 0 < x < 1e37 */
INLINE VEC LEVEL(inverse)(VEC x)
{
#if LEVEL_WIDTH == 16
	VEC r = _mm512_rcp14_ps(x);
	return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(x, r, VALL(1.0f)), r);
#else
	return VALL(1.0f) / x;
#endif
}

/* The first n of a vector's floats; the others are 0. */
INLINE VEC LEVEL(load_some)(const float *p, size_t n)
{
	float some[LEVEL_WIDTH] = {0};
	if (n == LEVEL_WIDTH)
		return VLOAD(p);
	memcpy(some, p, n * sizeof *p);
	return VLOAD(some);
}

INLINE void LEVEL(store_some)(float *p, VEC v, size_t n)
{
	float some[LEVEL_WIDTH];
	if (n == LEVEL_WIDTH) {
		VSTORE(p, v);
		return;
	}
	VSTORE(some, v);
	memcpy(p, some, n * sizeof *p);
}
