/* cl_convert.cl - from one element type to another, and masks to what is added for them. */

/* o = (type of o) a, dense. */
KERNEL(LS, convert, 3, (global const uchar *a, global uchar *o, const struct elem_args p),
	(a, o, p))
{
	FOR_ROWS(p.r) {
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) {
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

KERNEL(LS, convert_f16_f32, 3, (global const half *restrict a, global float *restrict o,
	const struct elem_args p), (a, o, p))
{
	FOR_ROWS(p.r) {
		for (int i = i0 + LOCAL * VW; i < i1; i += LS * VW) {
			if (i1 - i >= VW)
				VSTORE(VLOAD_HALF(0, a + i), 0, o + i);
			else
				PLAIN for (int j = i; j < i1; j++)
					o[j] = vload_half(j, a);
		}
	}
}

/* A mask as what is added to scores: minus infinity where it is false. */
KERNEL(LS, mask, 3, (global const uchar *a, global real *o, const struct elem_args p), (a, o, p))
{
	FOR_ROWS(p.r)
		PLAIN for (int i = i0 + LOCAL; i < i1; i += LS)
			st(a[i] ? 0.0f : -INFINITY, o, i);
}
