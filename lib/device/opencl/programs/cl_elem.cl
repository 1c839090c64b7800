/* cl_elem.cl - element-wise operators on f32, one or a chain of them, with numpy's
 * broadcasting.  The chain starts from the first input. */

INLINE void elem_rows(const struct group group, global const real *p0, global const real *p1,
	global const real *p2, global const real *p3, global real *o, const ARGS struct elem_args *p)
{
	FOR_ROWS(p->r) {
		struct sources s = {{p0, p1, p2, p3}, {0}};
		EACH_OPERAND {
			s.p[j] += j < p->n_in ? row_offset(row, p->rank, p->dim, p->stride[j]) : 0;
			s.s[j] = p->inner[j];
		}
		for (int i = i0 + LOCAL * (CV * VW); i < i1; i += LS * CV * VW) {
			int n = min(i1 - i, CV * VW);
			fv x[CV];
			ROW x[v] = load(s.p[0], s.s[0], i + v * VW, n - v * VW);
			chain_apply(x, &p->chain, &s, i, n);
			ROW store(x[v], o + row * p->r.inner + i + v * VW, n - v * VW);
		}
	}
}

#ifndef SERIES
KERNEL(LS, elem, 6, (global const real *p0, global const real *p1, global const real *p2,
	global const real *p3, global real *o, const struct elem_args p), (p0, p1, p2, p3, o, p))
{
	elem_rows(group, p0, p1, p2, p3, o, &p);
}
#endif
