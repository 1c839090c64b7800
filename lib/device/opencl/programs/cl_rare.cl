/* cl_rare.cl - the other element-wise functions on f32: large when compiled,
 * and seldom needed. */

fv f_rare(int op, fv x, fv y)
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

/* o = f(op, a, b); the operator is the same for all work-items. */
KERNEL(LS, elem_rare, 4, (global const real *a, global const real *b, global real *o,
	const struct elem_args p), (a, b, o, p))
{
	FOR_ROWS(p.r) {
		int oa = row_offset(row, p.rank, p.dim, p.stride[0]);
		int ob = p.n_in > 1 ? row_offset(row, p.rank, p.dim, p.stride[1]) : 0;
		for (int i = i0 + LOCAL * VW; i < i1; i += LS * VW) {
			int m = min(i1 - i, VW);
			fv x = load(a + oa, p.inner[0], i, m), y = (fv)(1.0f);
			if (p.n_in > 1)
				y = load(b + ob, p.inner[1], i, m);
			store(f_rare(p.op, x, y), o + row * p.r.inner + i, m);
		}
	}
}
