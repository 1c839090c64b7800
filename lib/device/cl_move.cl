/* cl_move.cl - operators that copy elements without looking at them, by the
 * size of an element in bytes; and Range. */

#define MOVE_KERNEL(name, T) \
kernel GROUP(LS) void name(global const T *restrict a, global T *restrict o, \
	const struct move_args p) \
{ \
	FOR_ROWS(p.r) { \
		global const T *ra = a + p.in + row_offset(row, p.rank, p.dim, p.si); \
		global T *ro = o + p.out + row_offset(row, p.rank, p.dim, p.so); \
		if (p.inner_i == 1 && p.inner_o == 1) { \
			for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) \
				ro[i] = ra[i]; \
		} else { \
			for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) \
				ro[i * p.inner_o] = ra[i * p.inner_i]; \
		} \
	} \
}

MOVE_KERNEL(move_1, uchar)
MOVE_KERNEL(move_2, ushort)
MOVE_KERNEL(move_4, uint)
MOVE_KERNEL(move_8, ulong)

/* A negative index counts from the end; one out of range gives zeros. */
#define GATHER_KERNEL(name, T) \
kernel GROUP(LS) void name(global const T *restrict data, global const uchar *restrict idx, \
	global T *restrict o, const struct gather_args p) \
{ \
	FOR_ROWS(p.r) { \
		int outer = row / p.n_idx, batch = outer / p.outer; \
		long at = load_int(idx, p.code, batch * p.n_idx + row % p.n_idx); \
		if (at < 0) \
			at += p.axis; \
		bool in = at >= 0 && at < p.axis; \
		global const T *d = data + ((long)outer * p.axis + (in ? at : 0)) * p.r.inner; \
		global T *ro = o + (long)row * p.r.inner; \
		for (int i = i0 + (int)get_local_id(0); i < i1; i += LS) \
			ro[i] = in ? d[i] : (T)0; \
	} \
}

GATHER_KERNEL(gather_1, uchar)
GATHER_KERNEL(gather_2, ushort)
GATHER_KERNEL(gather_4, uint)
GATHER_KERNEL(gather_8, ulong)

kernel GROUP(LS) void range(global const uchar *start, global const uchar *step, global uchar *o,
	const struct range_args p)
{
	for (int i = get_global_id(0); i < p.n; i += get_global_size(0)) {
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
