/* cl_rare.cl - the other element-wise functions on f32: large when compiled,
 * and seldom needed. */

/* Giles, "Approximating the erfinv function", GPU Computing Gems 2, 2010: in single precision. */
fv erf_inverse(fv x)
{
	fv w = -log((1.0f - x) * (1.0f + x)), near = w - 2.5f, far = sqrt(w) - 3.0f;
	fv p = fma(near, (fv)(2.81022636e-08f), (fv)(3.43273939e-07f));
	p = fma(p, near, (fv)(-3.5233877e-06f));
	p = fma(p, near, (fv)(-4.39150654e-06f));
	p = fma(p, near, (fv)(0.00021858087f));
	p = fma(p, near, (fv)(-0.00125372503f));
	p = fma(p, near, (fv)(-0.00417768164f));
	p = fma(p, near, (fv)(0.246640727f));
	p = fma(p, near, (fv)(1.50140941f));
	fv q = fma(far, (fv)(-0.000200214257f), (fv)(0.000100950558f));
	q = fma(q, far, (fv)(0.00134934322f));
	q = fma(q, far, (fv)(-0.00367342844f));
	q = fma(q, far, (fv)(0.00573950773f));
	q = fma(q, far, (fv)(-0.0076224613f));
	q = fma(q, far, (fv)(0.00943887047f));
	q = fma(q, far, (fv)(1.00167406f));
	q = fma(q, far, (fv)(2.83297682f));
	fv y = x * (w < 5.0f ? p : q);
	return fabs(x) == 1.0f ? copysign((fv)(INFINITY), x) : y;
}

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
	case E_ERF_INV: return erf_inverse(x);
	case E_POW: return pow(x, y);
	case E_MOD: return fmod(x, y);
	}
	return (fv)(NAN);   /* cl_operators.h names no other */
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
