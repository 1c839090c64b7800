/* winograd_points.h - the one-dimensional transforms of F(m x m, 3x3) (winograd.c), one level
 * (isa_dispatch.h); never guarded.  INLINE is the includer's. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#undef WINO_A
#undef WINO_B
#undef WINO_A2
#undef WINO_B2
#define WINO_A 0.707106781186547524f
#define WINO_B 1.414213562373095049f
#define WINO_A2 0.5f
#define WINO_B2 2.0f

/* m + 2 inputs to as many points: rows of B^T; then points to m outputs: rows of A^T. */
INLINE void LEVEL(to_points)(const int m, const VEC *d, VEC *v)
{
	if (m == 2) {
		v[0] = VSUB(d[0], d[2]);
		v[1] = VADD(d[1], d[2]);
		v[2] = VSUB(d[2], d[1]);
		v[3] = VSUB(d[3], d[1]);
		return;
	}
	VEC even_a = VFMA(VALL(-WINO_B2), d[2], d[4]), even_b = VFMA(VALL(-WINO_A2), d[2], d[4]);
	VEC odd_a = VFMA(VALL(-WINO_A * WINO_B2), d[1], VMUL(VALL(WINO_A), d[3]));
	VEC odd_b = VFMA(VALL(-WINO_B * WINO_A2), d[1], VMUL(VALL(WINO_B), d[3]));
	v[0] = VADD(VFMA(VALL(-WINO_A2 - WINO_B2), d[2], d[4]), VMUL(VALL(WINO_A2 * WINO_B2), d[0]));
	v[1] = VADD(even_a, odd_a);
	v[2] = VSUB(even_a, odd_a);
	v[3] = VADD(even_b, odd_b);
	v[4] = VSUB(even_b, odd_b);
	v[5] = VADD(VFMA(VALL(-WINO_A2 - WINO_B2), d[3], d[5]), VMUL(VALL(WINO_A2 * WINO_B2), d[1]));
}

INLINE void LEVEL(from_points)(const int m, const VEC *p, VEC *y)
{
	if (m == 2) {
		y[0] = VADD(VADD(p[0], p[1]), p[2]);
		y[1] = VADD(VSUB(p[1], p[2]), p[3]);
		return;
	}
	VEC sum_a = VADD(p[1], p[2]), dif_a = VSUB(p[1], p[2]);
	VEC sum_b = VADD(p[3], p[4]), dif_b = VSUB(p[3], p[4]);
	y[0] = VADD(VADD(p[0], sum_a), sum_b);
	y[1] = VFMA(VALL(WINO_A), dif_a, VMUL(VALL(WINO_B), dif_b));
	y[2] = VFMA(VALL(WINO_A2), sum_a, VMUL(VALL(WINO_B2), sum_b));
	y[3] = VADD(VFMA(VALL(WINO_A * WINO_A2), dif_a, VMUL(VALL(WINO_B * WINO_B2), dif_b)), p[5]);
}
