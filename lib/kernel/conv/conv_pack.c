/* conv_pack.c - weights of convolutions, packed once for the way in which these are computed:
 * by patches, depthwise, as one product or by minimal filtering. */
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"
#include "kernel/vec.h"

#include <string.h>

/* Pixels of a plane from which on weights by patches are kept as f32. */
enum { WIDE_PLANE = 96 };

struct fill {
	const struct tensor *w;
	enum elem elem; /* EL_F16 or EL_F32: of the packed form */
	int64_t groups, cout, k;
	const struct window *g;              /* of the weights that are packed */
	int m;                               /* of minimal filtering */
	const struct window *whole;          /* when taps are left out: the window of w, ... */
	const struct window *cropped;        /* ... that of the others, ... */
	int64_t first[3];                    /* ... and where it begins, */
	char *room;                          /* ... memory for those, */
	void (*fill)(void *arg, void *data); /* of those */
};

static size_t pack_size(enum elem elem)
{
	return elem == EL_F16 ? sizeof(uint16_t) : sizeof(float);
}

/* Halves are converted for every tile: worth it where that is done once and reading them is what
 * takes the time. */
static enum elem packed_elem(const struct window *g, enum elem elem)
{
	return elem == EL_F16 && g->out_plane < WIDE_PLANE ? EL_F16 : EL_F32;
}

static void fill_patches(void *arg, void *data)
{
	const struct fill *f = arg;
	for (int64_t i = 0; i < f->groups; i++) {
		char *to = (char *)data +
			   (size_t)(i * gemm_a_elements(f->cout, f->k)) * pack_size(f->elem);
		const char *from = (const char *)f->w->data +
				   (size_t)(i * f->cout * f->k) * cpu_elem_size(f->w->elem);
		if (f->elem == EL_F16)
			gemm_pack_a(to, f->w->elem, from, f->cout, f->k, f->k, 1);
		else
			gemm_pack_a_f32((float *)(void *)to, f->w->elem, from, f->cout, f->k, f->k,
					1);
	}
}

/* Depthwise weights are only converted to f32. */
static void fill_flat(void *arg, void *data)
{
	const struct fill *f = arg;
	cpu_convert(EL_F32, data, f->w->elem, f->w->data, f->groups * f->cout * f->k);
}

static void fill_winograd(void *arg, void *data)
{
	const struct fill *f = arg;
	int64_t cin = f->k / 9;
	for (int64_t i = 0; i < f->groups; i++)
		cpu_winograd_pack(f->m, (float *)data + i * cpu_winograd_floats(f->m, f->cout, cin),
				  f->w, i * f->cout * f->k, f->cout, cin);
}

static void fill_seen(void *arg, void *data)
{
	const struct fill *f = arg;
	cpu_conv_seen_pack(data, f->w, f->g);
}

static void fill_whole(void *arg, void *data)
{
	const struct fill *f = arg;
	gemm_pack_b(data, f->w->elem, f->w->data, f->k, f->cout, 1, f->k);
}

/* The weights without taps that only see padding, then packed. */
static void fill_cropped(void *arg, void *data)
{
	const struct fill *f = arg;
	const int64_t *from = f->whole->kernel, *to = f->cropped->kernel;
	size_t size = cpu_elem_size(f->w->elem), run = (size_t)to[2] * size;
	int64_t planes = f->groups * f->cout * f->whole->cin;
	char *at = f->room;
	struct tensor w = *f->w;
	struct fill inner = *f;
	for (int64_t i = 0; i < planes; i++)
		for (int64_t z = 0; z < to[0]; z++)
			for (int64_t y = 0; y < to[1]; y++, at += run) {
				int64_t row =
					(i * from[0] + f->first[0] + z) * from[1] + f->first[1] + y;
				memcpy(at,
				       (const char *)f->w->data +
					       (size_t)(row * from[2] + f->first[2]) * size,
				       run);
			}
	w.data = f->room;
	inner.w = &w;
	f->fill(&inner, data);
}

int prepare_conv(const struct op *op, const struct tensor *in, const struct tensor *out,
		 struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct tensor *w = &in[1];
	struct window g;
	if (!w->data || tensor_elements(w) == 0 ||
	    (w->elem != EL_F32 && w->elem != EL_F16 && w->elem != EL_BF16))
		return 0;
	cpu_window_init(&g, op, &in[0], w, &out[0]);
	bool whole = cpu_is_whole(&g);
	cpu_window_fold(&g);
	struct window all = g;
	struct fill f = {.w = w, .g = &g, .elem = EL_F32, .groups = g.groups, .cout = g.cout};
	bool cropped = !whole && !cpu_is_depthwise(&g) && cpu_window_crop(&g, f.first);
	f.k = g.cin * g.taps;
	f.m = cpu_winograd_choose(&g);
	uint64_t floats = (uint64_t)(f.groups * f.cout * f.k), how = CONV_DEPTHWISE;
	void (*fill)(void *arg, void *data) = fill_flat;
	if (cpu_is_depthwise(&g)) {
	} else if (whole) {
		how = CONV_WHOLE;
		f.elem = w->elem == EL_F16 ? EL_F16 : EL_F32;
		floats = (uint64_t)gemm_b_elements(f.k, f.cout);
		fill = fill_whole;
	} else if (f.m) {
		how = CONV_WINOGRAD + (uint64_t)f.m;
		floats = (uint64_t)(f.groups *
				    cpu_winograd_floats(f.m, g.cout, g.cin * g.kernel[0]));
		fill = fill_winograd;
	} else if (cpu_conv_is_seen(&g)) {
		how = CONV_SEEN;
		floats = (uint64_t)cpu_conv_seen_floats(&g);
		fill = fill_seen;
	} else {
		how = CONV_PATCHES;
		f.elem = packed_elem(&g, w->elem);
		floats = (uint64_t)(f.groups * gemm_a_elements(f.cout, f.k));
		fill = fill_patches;
	}
	uint64_t layout[6] = {OP_CONVOLUTION,   how,          f.elem, (uint64_t)f.groups,
			      (uint64_t)f.cout, (uint64_t)f.k};
	if (cropped) {
		f.whole = &all;
		f.cropped = &g;
		f.fill = fill;
		fill = fill_cropped;
		size_t each = cpu_elem_size(w->elem);
		f.room = mem_try((size_t)(g.groups * g.cout * all.cin * g.taps) * each + 1);
		for (int d = 0; d < 3; d++) /* which taps these are */
			layout[0] = layout[0] * 0x9e3779b97f4a7c15 +
				    ((uint64_t)f.first[d] << 32 | (uint64_t)g.kernel[d]);
	}
	struct cpu_pack *pack = NULL;
	if (!cropped || f.room)
		pack = cpu_pack_get(c->packs, w->data, layout, floats * pack_size(f.elem), fill,
				    &f);
	mem_free(f.room);
	if (!pack)
		return err_set(e, ST_RUNTIME, "out of memory for packed weights");
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->pack = pack;
	(*prep)->owns = 1u << 1;
	return 0;
}

/* ---- before each run ---- */

struct pack_run {
	const struct tensor *w;
	const struct window *g;
	int m, parts;   /* of the panels of a group */
	int64_t floats; /* of a group */
	float *to;
};

/* Task (group, part of its panels). */
static void pack_task(void *arg, int task, int thread)
{
	const struct pack_run *r = arg;
	const struct window *g = r->g;
	int64_t k = g->cin * g->taps, group = task / r->parts, lo, hi;
	(void)thread;
	cpu_range((g->cout + GEMM_M - 1) / GEMM_M, r->parts, task % r->parts, &lo, &hi);
	int64_t first = lo * GEMM_M, end = hi * GEMM_M < g->cout ? hi * GEMM_M : g->cout;
	int64_t from = (group * g->cout + first) * k;
	float *to = r->to + group * r->floats;
	if (r->m)
		cpu_winograd_pack(r->m, to + cpu_winograd_floats(r->m, first, k / 9), r->w, from,
				  end - first, k / 9);
	else
		gemm_pack_a_f32(to + first * k, EL_F32, (const float *)r->w->data + from,
				end - first, k, k, 1);
}

const float *cpu_conv_pack(struct cpu_ctx *c, const struct tensor *w, const struct window *g, int m)
{
	enum { GRAIN = 1 << 14 }; /* weights that are worth another thread */
	int64_t k = g->cin * g->taps, panels = (g->cout + GEMM_M - 1) / GEMM_M;
	int64_t parts = cpu_tasks(g->cout * k, GRAIN);
	struct pack_run r = {.w = w, .g = g, .m = m};
	r.parts = (int)(parts < panels ? parts : panels);
	r.floats = m ? cpu_winograd_floats(m, g->cout, k / 9) : gemm_a_elements(g->cout, k);
	r.to = cpu_slot_scratch(c, SLOT_EXTRA, (size_t)(g->groups * r.floats) * sizeof *r.to);
	if (r.to)
		cpu_parallel(c, (int)g->groups * r.parts, pack_task, &r);
	return r.to;
}

bool conv_takes(const struct op *op, int i, const struct tensor *t)
{
	(void)op;
	return i == 1 && !t->quant && (t->elem == EL_F16 || t->elem == EL_BF16);
}
