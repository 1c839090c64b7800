/* cl_move.cl - operators that copy elements without looking at them.
 *
 * `log` is the size of an element: 1 << log bytes. */

/* `how` the compiler is to treat the loop over contiguous elements. */
#define MOVE(T, how) do { \
	FOR_ROWS(p->r) { \
		global const T *ra = (global const T *)a + p->in \
			+ row_offset(row, p->rank, p->dim, p->si); \
		global T *ro = (global T *)o + p->out \
			+ row_offset(row, p->rank, p->dim, p->so); \
		if (p->inner_i == 1 && p->inner_o == 1) { \
			how for (int i = i0 + LOCAL; i < i1; i += LS) \
				ro[i] = ra[i]; \
		} else { \
			PLAIN for (int i = i0 + LOCAL; i < i1; i += LS) \
				ro[i * p->inner_o] = ra[i * p->inner_i]; \
		} \
	} \
} while (0)

INLINE void move_rows(const struct group group, global const uchar *restrict a, global uchar *restrict o,
	const ARGS struct move_args *p)
{
	switch (p->log) {
	case 0: MOVE(uchar, PLAIN); break;
	case 1: MOVE(ushort, PLAIN); break;
	case 2: MOVE(uint, ); break;
	case 3: MOVE(ulong, PLAIN); break;
	}
}

/* A negative index counts from the end; one out of range gives zeros. */
#define GATHER(T, how) do { \
	FOR_ROWS(p->r) { \
		int outer = row / p->n_idx, batch = outer / p->outer; \
		long at = load_int(idx, p->code, batch * p->n_idx + row % p->n_idx); \
		if (at < 0) \
			at += p->axis; \
		bool in = at >= 0 && at < p->axis; \
		global const T *d = (global const T *)data \
			+ ((long)outer * p->axis + (in ? at : 0)) * p->r.inner; \
		global T *ro = (global T *)o + (long)row * p->r.inner; \
		how for (int i = i0 + LOCAL; i < i1; i += LS) \
			ro[i] = in ? d[i] : (T)0; \
	} \
} while (0)

INLINE void gather_rows(const struct group group, global const uchar *restrict data,
	global const uchar *restrict idx, global uchar *restrict o, const ARGS struct gather_args *p)
{
	switch (p->log) {
	case 0: GATHER(uchar, PLAIN); break;
	case 1: GATHER(ushort, PLAIN); break;
	case 2: GATHER(uint, ); break;
	case 3: GATHER(ulong, PLAIN); break;
	}
}

#ifndef SERIES
KERNEL(LS, move, 3, (global const uchar *restrict a, global uchar *restrict o,
	const struct move_args p), (a, o, p))
{
	move_rows(group, a, o, &p);
}

KERNEL(LS, gather, 4, (global const uchar *restrict data, global const uchar *restrict idx,
	global uchar *restrict o, const struct gather_args p), (data, idx, o, p))
{
	gather_rows(group, data, idx, o, &p);
}
#endif
