/* cl_series.cl - small launches, of the kernels elem, move and gather, that one work-group does one after another: what
 * they compute takes less time than to launch them (6 us on NVIDIA's driver, a level here less than one).
 *
 * A level is launches that do not depend on each other.  The items are SERIES_TEAMS times LS, each of which does a
 * work-group of a launch at a time, in turns over all launches of a level. */

#define SERIES_TEAMS (SERIES_ITEMS / LS)

/* Work-group g of a launch; memory: the kernel's buffers. */
INLINE void series_group(local const struct series_op *q, global uchar *local *memory, int g)
{
	struct group group = {g, 0, 0, q->groups};
	global uchar *at[SERIES_BUFS];
	UNROLL for (int j = 0; j < SERIES_BUFS; j++)
		at[j] = memory[q->memory[j]] + q->args.places.at[j];
	switch (q->what) {
	case S_ELEM:
		elem_rows(group, (global const real *)at[0], (global const real *)at[1], (global const real *)at[2],
			(global const real *)at[3], (global real *)at[4], &q->args.elem);
		break;
	case S_MOVE: move_rows(group, at[0], at[1], &q->args.move); break;
	case S_GATHER: gather_rows(group, at[0], at[1], at[2], &q->args.gather); break;
	}
}

kernel GROUP(SERIES_ITEMS) void series(global const uint *list, global uchar *m0, global uchar *m1,
	global uchar *m2, global uchar *m3, global uchar *m4, global uchar *m5, const struct series_args p)
{
	local struct series_op op[SERIES_MOST];
	global uchar *local memory[SERIES_MEMORIES];
	int team = get_local_id(0) / LS;
	PLAIN for (int i = get_local_id(0); i < p.n * (int)(sizeof op[0] / 4); i += SERIES_ITEMS)
		((local uint *)op)[i] = list[i];
	if (get_local_id(0) == 0) {
		memory[0] = m0;
		memory[1] = m1;
		memory[2] = m2;
		memory[3] = m3;
		memory[4] = m4;
		memory[5] = m5;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	PLAIN for (int i = 0, first = team; i < p.n; i++) {
		/* first: the next work-group of the level that is this team's, counted from those of launch i */
		if (op[i].level) {
			barrier(CLK_GLOBAL_MEM_FENCE);
			first = team;
		}
		PLAIN for (; first < op[i].groups; first += SERIES_TEAMS)
			series_group(&op[i], memory, first);
		first -= op[i].groups;
	}
}
