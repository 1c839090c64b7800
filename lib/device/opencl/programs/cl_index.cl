/* cl_index.cl - operators that look at indices, and those along one axis in order.
 *
 * A work-item takes whole columns: all that could touch one place is done by one
 * item, in the order that the operators promise. */

void copy_element(global const uchar *a, long i, global uchar *o, long j, int log)
{
	switch (log) {
	case 0: o[j] = a[i]; break;
	case 1: ((global ushort *)o)[j] = ((global const ushort *)a)[i]; break;
	case 2: ((global uint *)o)[j] = ((global const uint *)a)[i]; break;
	case 3: ((global ulong *)o)[j] = ((global const ulong *)a)[i]; break;
	}
}

int index_at(global const uchar *idx, int code, int i, int n)
{
	long x = load_int(idx, code, i);
	return (int)(x < 0 ? x + n : x);
}

/* data (outer, n, inner), indices of the same rank with n_idx for n; column: a place of indices
 * without the axis. */
KERNEL(LS, gather_elements, 4, (global const uchar *a, global const uchar *idx, global uchar *o,
	const struct index_args p), (a, idx, o, p))
{
	FOR_ITEMS(col, p.outer * p.n_idx * p.inner) {
		int inner = col % p.inner, outer = col / p.inner / p.n_idx;
		int i = index_at(idx, p.idx_code, col, p.n);
		copy_element(a, ((long)outer * p.n + i) * p.inner + inner, o, col, p.log);
	}
}

/* data (outer, dim.., inner), indices (outer, n_idx, depth) */
int place_of(global const uchar *idx, const struct index_args *p, int i)
{
	int at = 0;
	PLAIN for (int d = 0; d < p->depth; d++)
		at = at * p->dim[d] + index_at(idx, p->idx_code, i * p->depth + d, p->dim[d]);
	return at;
}

KERNEL(LS, gather_nd, 4, (global const uchar *a, global const uchar *idx, global uchar *o,
	const struct index_args p), (a, idx, o, p))
{
	FOR_ITEMS(col, p.outer * p.n_idx * p.inner) {
		int i = col / p.inner, outer = i / p.n_idx;
		copy_element(a, ((long)outer * p.n + place_of(idx, &p, i)) * p.inner + col % p.inner,
			o, col, p.log);
	}
}

/* o is a copy of data already.  ScatterNDUpdate: column: an element of a slice. */
KERNEL(LS, scatter_nd, 4, (global const uchar *upd, global const uchar *idx, global uchar *o,
	const struct index_args p), (upd, idx, o, p))
{
	FOR_ITEMS(col, p.inner)
		PLAIN for (int i = 0; i < p.n_idx; i++)
			copy_element(upd, (long)i * p.inner + col, o,
				(long)place_of(idx, &p, i) * p.inner + col, p.log);
}

/* ScatterUpdate: column: (outer, inner). */
KERNEL(LS, scatter, 4, (global const uchar *upd, global const uchar *idx, global uchar *o,
	const struct index_args p), (upd, idx, o, p))
{
	FOR_ITEMS(col, p.outer * p.inner) {
		long outer = col / p.inner, inner = col % p.inner;
		PLAIN for (int i = 0; i < p.n_idx; i++)
			copy_element(upd, (outer * p.n_idx + i) * p.inner + inner, o, (outer * p.n
				+ index_at(idx, p.idx_code, i, p.n)) * p.inner + inner, p.log);
	}
}

enum { S_NONE, S_SUM, S_PROD, S_MIN, S_MAX, S_MEAN };

float combine_real(int op, float x, float y)
{
	switch (op) {
	case S_SUM: case S_MEAN: return x + y;
	case S_PROD: return x * y;
	case S_MIN: return fmin(x, y);
	case S_MAX: return fmax(x, y);
	}
	return y;   /* S_NONE is copied */
}

long combine_int(int op, long x, long y)
{
	switch (op) {
	case S_SUM: case S_MEAN: return x + y;
	case S_PROD: return x * y;
	case S_MIN: return min(x, y);
	case S_MAX: return max(x, y);
	}
	return y;   /* S_NONE */
}

/* ScatterElementsUpdate: column: a place of indices without the axis, whose n_idx indices lie
 * idx_inner apart; its place in o by dim and stride. */
KERNEL(LS, scatter_elements, 4, (global const uchar *upd, global const uchar *idx, global uchar *o,
	const struct index_args p), (upd, idx, o, p))
{
	FOR_ITEMS(col, p.outer) {
		int first = col / p.idx_inner * p.idx_outer + col % p.idx_inner;
		int base = row_offset(col, p.rank, p.dim, p.stride);
		for (int i = 0; i < p.n_idx; i++) {
			int from = first + i * p.idx_inner, count = 0, seen = 0;
			int t = index_at(idx, p.idx_code, from, p.n), to = base + t * p.inner;
			/* which of those for this place it is: that tells what happens first and last */
			if (p.op == S_MEAN || p.exclusive)
				PLAIN for (int j = 0; j < p.n_idx; j++) {
					bool same = index_at(idx, p.idx_code,
						first + j * p.idx_inner, p.n) == t;
					count += same;
					seen += same && j < i;
				}
			if (p.op == S_NONE || (p.exclusive && !seen)) {
				copy_element(upd, from, o, to, p.log);
			} else if (is_real(p.code)) {
				store_real(combine_real(p.op, load_real(o, p.code, to),
					load_real(upd, p.code, from)), o, p.code, to);
			} else {
				store_int(combine_int(p.op, load_int(o, p.code, to),
					load_int(upd, p.code, from)), o, p.code, to);
			}
			if (p.op != S_MEAN || seen + 1 < count)
				continue;
			count += !p.exclusive;
			if (is_real(p.code)) {
				store_real(load_real(o, p.code, to) / count, o, p.code, to);
			} else {
				/* towards minus infinity */
				long x = load_int(o, p.code, to), q = x / count;
				store_int(q - (x % count != 0 && x < 0), o, p.code, to);
			}
		}
	}
}

/* indices (outer, inner) -> (outer, n, inner): value on where the index is, else off. */
KERNEL(LS, one_hot, 5, (global const uchar *idx, global const uchar *on, global const uchar *off,
	global uchar *o, const struct index_args p), (idx, on, off, o, p))
{
	FOR_ITEMS(col, p.outer * p.n * p.inner) {
		int inner = col % p.inner, t = col / p.inner % p.n, outer = col / p.inner / p.n;
		bool is = index_at(idx, p.idx_code, outer * p.inner + inner,
				   p.exclusive ? p.n : 0) == t;
		copy_element(is ? on : off, 0, o, col, p.log);
	}
}

KERNEL(LS, cum_sum, 3, (global const uchar *a, global uchar *o, const struct index_args p),
	(a, o, p))
{
	FOR_ITEMS(col, p.outer * p.inner) {
		long base = (long)(col / p.inner) * p.n * p.inner + col % p.inner, sum = 0;
		float total = 0.0f;
		for (int i = 0; i < p.n; i++) {
			int at = (int)base + (p.reverse ? p.n - 1 - i : i) * p.inner;
			if (is_real(p.code)) {
				float x = load_real(a, p.code, at);
				store_real(p.exclusive ? total : total + x, o, p.code, at);
				total += x;
			} else {
				long x = load_int(a, p.code, at);
				store_int(p.exclusive ? sum : sum + x, o, p.code, at);
				sum += x;
			}
		}
	}
}

/* Is x, at i, before y, at j, among the results? */
bool before(float x, int i, float y, int j, int op)
{
	return x == y ? i < j : op & TOPK_MAX ? x > y : x < y;
}

/* The depth best of n, kept in order in the results while they are looked for. */
KERNEL(LS, top_k, 4, (global const real *a, global real *value, global uchar *index,
	const struct index_args p), (a, value, index, p))
{
	FOR_ITEMS(col, p.outer * p.inner) {
		int outer = col / p.inner, base = outer * p.n * p.inner + col % p.inner, have = 0;
		int to = outer * p.depth * p.inner + col % p.inner;
		for (int i = 0; i < p.n; i++) {
			float x = ld(a, base + i * p.inner);
			int j = have < p.depth ? have : p.depth - 1;
			if (have == p.depth && !before(x, i, ld(value, to + j * p.inner), i - 1, p.op))
				continue;
			have = min(have + 1, p.depth);
			for (; j > 0; j--) {
				float y = ld(value, to + (j - 1) * p.inner);
				if (!before(x, i, y, i - 1, p.op))
					break;
				st(y, value, to + j * p.inner);
				store_int(load_int(index, p.idx_code, to + (j - 1) * p.inner), index,
					p.idx_code, to + j * p.inner);
			}
			st(x, value, to + j * p.inner);
			store_int(i, index, p.idx_code, to + j * p.inner);
		}
		if (!(p.op & TOPK_BY_INDEX))
			continue;
		for (int i = 1; i < p.depth; i++) {
			float x = ld(value, to + i * p.inner);
			long at = load_int(index, p.idx_code, to + i * p.inner);
			int j = i;
			for (; j > 0; j--) {
				long other = load_int(index, p.idx_code, to + (j - 1) * p.inner);
				if (other < at)
					break;
				st(ld(value, to + (j - 1) * p.inner), value, to + j * p.inner);
				store_int(other, index, p.idx_code, to + j * p.inner);
			}
			st(x, value, to + j * p.inner);
			store_int(at, index, p.idx_code, to + j * p.inner);
		}
	}
}

/* a (.., n, ..): the first lengths[b] elements along one axis in reverse; the other axis, which
 * has the batch, lies before (reverse) or behind it. */
KERNEL(LS, reverse_sequence, 4, (global const uchar *a, global const uchar *len, global uchar *o,
	const struct index_args p), (a, len, o, p))
{
	/* (outer, dim[0], inner, dim[1], stride[0]) */
	FOR_ITEMS(col, p.outer * p.dim[0] * p.inner * p.dim[1] * p.stride[0]) {
		int c = col % p.stride[0], r = col / p.stride[0], j = r % p.dim[1];
		r /= p.dim[1];
		int m = r % p.inner, i = r / p.inner % p.dim[0], outer = r / p.inner / p.dim[0];
		int b = p.reverse ? i : j, t = p.reverse ? j : i;
		int n = (int)load_int(len, p.idx_code, b);
		if (t < n)
			t = n - 1 - t;
		i = p.reverse ? i : t;
		j = p.reverse ? t : j;
		copy_element(a, (((long)(outer * p.dim[0] + i) * p.inner + m) * p.dim[1] + j)
			* p.stride[0] + c, o, col, p.log);
	}
}
