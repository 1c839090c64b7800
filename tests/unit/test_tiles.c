/* test_tiles.c - products of bf16 by matrix tiles and by vectors, against sums in double precision of the rounded operands:
 * packed pairs, MatMul with constant weights, convolutions slice by slice.  Where the processor has no tiles those by
 * vectors alone, and where it does not multiply bf16 nothing. */
#include "base/pool.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/vnni_gemm.h"
#include "kernel/gemm/amx_product.h"
#include "kernel/tiles/amx_conv.h"
#include "kernel/tiles/amx_tiles.h"
#include "pixel_conv.h"
#include "pixel_shapes.h"
#include "tap.h"

static const char *how(void)
{
	return tiles_there() ? "tiles" : "vectors";
}

/* n numbers that bf16 has. */
static float *drawn_narrow(uint32_t stream, int64_t n, uint16_t *narrow)
{
	float *x = drawn(stream, n);
	uint16_t *u = narrow ? narrow : MEM_NEWN(uint16_t, (size_t)n);
	vec_to_bf16(x, u, n);
	vec_from_bf16(u, x, n);
	if (!narrow)
		mem_free(u);
	return x;
}

static void *room(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
	memset(p, 0xff, bytes);
	return p;
}

/* How far C (m,n), ldc apart, is from A (m,k) times B (k,n) or, turned, (n,k), beside the root of k. */
static double product_error(const float *a, const float *b, bool turned, int64_t m, int64_t n,
			    int64_t k, const float *c, int64_t ldc)
{
	double worst = 0;
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++) {
			double sum = 0;
			for (int64_t l = 0; l < k; l++)
				sum += (double)a[i * k + l] *
				       (double)(turned ? b[j * k + l] : b[l * n + j]);
			double e = fabs(sum - (double)c[i * ldc + j]);
			worst = e <= worst ? worst : e; /* NaN is worst */
		}
	return worst / sqrt((double)k);
}

static const int64_t sizes[][3] = {{1, 1, 1},     {5, 33, 7},   {16, 32, 32},
				   {31, 100, 45}, {49, 49, 32}, {33, 17, 64},
				   {12, 64, 197}, {70, 15, 3},  {96, 130, 800}};

static void check_pairs(const int64_t *size, bool turned, int64_t ldc)
{
	int64_t m = size[0], n = size[1], k = size[2];
	float *x = drawn_narrow(1, m * k, NULL), *y = drawn_narrow(2, k * n, NULL);
	uint16_t *a = room((size_t)pairs_a_elements(m, k) * 2);
	uint16_t *b = room((size_t)pairs_b_elements(k, n) * 2);
	float *c = room((size_t)(m * ldc) * sizeof *c);
	pairs_pack_a(a, x, m, k, 1);
	pairs_pack_b(b, y, k, n, turned);
	pairs_multiply(a, b, m, n, k, c, ldc);
	double e = product_error(x, y, turned, m, n, k, c, ldc);
	tap(e < 1e-6, "pairs %dx%dx%d%s, rows %d apart, %s: %.1e", (int)m, (int)n, (int)k,
	    turned ? ", turned" : "", (int)ldc, how(), e);
	free(a), free(b), free(c);
	mem_free(x), mem_free(y);
}

/* C += A B from rows with gaps; what lies beside C stays. */
static void check_panel(const int64_t *size, bool turned)
{
	int64_t m = size[0], n = size[1] < PAIRS_N ? size[1] : PAIRS_N, k = size[2], gap = 3;
	int64_t ldb = (turned ? k : n) + gap, ldc = n + gap;
	int64_t rows_b = turned ? n : k;
	int64_t ld = k + gap;
	float *x = drawn_narrow(1, m * k, NULL), *y = drawn_narrow(2, k * n, NULL);
	float *wide = room((size_t)(m * ld) * sizeof *wide), *c;
	float *wide_b = room((size_t)(rows_b * ldb) * sizeof *wide);
	uint16_t *a = room((size_t)pairs_a_elements(m, k) * 2);
	uint16_t *b = room((size_t)pairs_b_elements(k, n) * 2);
	c = room((size_t)(m * ldc) * sizeof *c);
	for (int64_t i = 0; i < m * k; i++)
		wide[i / k * ld + i % k] = x[i];
	for (int64_t i = 0; i < k * n; i++)
		wide_b[i / (ldb - gap) * ldb + i % (ldb - gap)] = y[i];
	for (int64_t i = 0; i < m * ldc; i++)
		c[i] = 7;
	pairs_pack_a_of(a, wide, ld, m, k, 1);
	pairs_pack_b_of(b, wide_b, ldb, k, n, turned);
	pairs_panel(a, b, m, n, k, c, ldc, true);
	bool stays = true;
	for (int64_t i = 0; i < m * ldc; i++) {
		stays = stays && (i % ldc < n || c[i] == 7);
		c[i] -= 7;
	}
	double add = product_error(x, y, turned, m, n, k, c, ldc);
	pairs_panel(a, b, m, n, k, c, ldc, false);
	double set = product_error(x, y, turned, m, n, k, c, ldc);
	tap(stays && add < 1e-5 && set < 1e-6, "panel %dx%dx%d%s, %s: %.1e, added %.1e", (int)m,
	    (int)n, (int)k, turned ? ", turned" : "", how(), set, add);
	free(a), free(b), free(c), free(wide), free(wide_b);
	mem_free(x), mem_free(y);
}

/* C += X^T Y from rows with gaps; what lies beside C stays. */
static void check_outer(const int64_t *size)
{
	int64_t m = size[0], n = size[1], k = size[2], gap = 5, ld = m + gap, ldc = n + gap;
	float *x = drawn_narrow(1, m * k, NULL), *y = drawn_narrow(2, k * n, NULL);
	float *wide = room((size_t)(k * ld) * sizeof *wide);
	float *c = room((size_t)(m * ldc) * sizeof *c);
	uint16_t *a = room((size_t)pairs_b_elements(k, m) * 2);
	uint16_t *b = room((size_t)pairs_b_elements(k, n) * 2);
	for (int64_t i = 0; i < m * k; i++)
		wide[i % k * ld + i / k] = x[i];
	for (int64_t i = 0; i < m * ldc; i++)
		c[i] = 7;
	pairs_pack_b_of(a, wide, ld, k, m, false);
	pairs_pack_b(b, y, k, n, false);
	pairs_outer(a, b, m, n, k, c, ldc);
	bool stays = true;
	for (int64_t i = 0; i < m * ldc; i++) {
		stays = stays && (i % ldc < n || c[i] == 7);
		c[i] -= 7;
	}
	double e = product_error(x, y, false, m, n, k, c, ldc);
	tap(stays && e < 1e-5, "outer product %dx%dx%d, %s: %.1e", (int)m, (int)n, (int)k, how(),
	    e);
	free(a), free(b), free(c), free(wide);
	mem_free(x), mem_free(y);
}

/* Weights of attention times ones are their sum; each is within a rounding of e^x. */
static void check_weights(int64_t k, bool add_masks)
{
	float *x = drawn(3, k), *ones = MEM_NEWN(float, (size_t)k), c;
	for (int64_t i = 0; i < k; i++) {
		x[i] = 12 * x[i] - 12;
		ones[i] = 1;
	}
	x[k / 2] = -INFINITY;
	uint16_t *a = room((size_t)pairs_a_elements(1, k) * 2);
	uint16_t *b = room((size_t)pairs_b_elements(k, 1) * 2);
	double sum = 0;
	for (int64_t i = 0; i < k; i++)
		sum += exp((double)x[i]);
	/* In three parts, which add up exactly.  Of the score 0 that is theirs, too, there is nothing in A. */
	float *part = MEM_NEWN(float, (size_t)k);
	for (int64_t i = 0; i < k; i++) {
		part[i] = x[i] / 4;
		x[i] = add_masks ? x[i] / 2 : x[i];
	}
	const float none = 0;
	const struct pairs_scores scores = {.x = x,
					    .rows = 1,
					    .k = k,
					    .n_add = add_masks ? 2 : 0,
					    .add = {part, part},
					    .least = &none};
	float top, got;
	pairs_weights(a, &scores, &top, &got);
	got -= 1;
	pairs_pack_b(b, ones, k, 1, false);
	pairs_multiply(a, b, 1, 1, k, &c, 1);
	tap(fabs((double)got - sum) <= (sum + 1) / 2048 && fabs((double)c - sum) <= sum / 128,
	    "%d weights, %s%s: %.6g of %.6g, %.6g rounded", (int)k, how(),
	    add_masks ? ", of scores and masks" : "", (double)got, sum, (double)c);
	free(a), free(b);
	mem_free(x), mem_free(ones), mem_free(part);
}

struct world {
	struct pool *pool;
	struct cpu_packs *packs;
	struct cpu_ctx *ctx;
};

static struct world world_new(int n_threads)
{
	struct world w = {.pool = pool_new(n_threads, NULL), .packs = cpu_packs_new()};
	w.ctx = cpu_ctx_new(w.pool, w.packs);
	cpu_ctx_allow_bf16(w.ctx, true, NULL);
	return w;
}

static void world_free(struct world *w)
{
	cpu_ctx_free(w->ctx);
	cpu_packs_free(w->packs);
	pool_free(w->pool);
}

/* One that halves, which runs over what is written; or a bias, limits and a tensor, which are finished with the sums. */
static void make_post(struct epilogue *p, int64_t m, int64_t n, bool ending, float *half,
		      float *bias, float *plus)
{
	*p = (struct epilogue){.rows = m, .cols = n, .n_code = 1, .n_operands = 3};
	p->operand[0] = (struct epi_operand){.data = half, .div = 1, .mod = 1};
	p->operand[1] = (struct epi_operand){.data = bias, .div = 1, .mod = m, .col = 1};
	p->operand[2] = (struct epi_operand){.data = plus, .div = 1, .mod = m, .row = n, .col = 1};
	p->code[0] = (struct epi_code){
		.kind = OP_MULTIPLY, .n_sources = 2, .source = {{false, 0}, {true, 0}}};
	if (!ending)
		return;
	p->n_code = 3;
	p->code[0] = (struct epi_code){.kind = OP_ADD,
				       .n_sources = 2,
				       .source = {{true, 1}, {false, 0}},
				       .to = {false, 2}};
	p->code[1] = (struct epi_code){.kind = OP_CLAMP,
				       .args = {.a = -0.5f, .b = 0.25f},
				       .n_sources = 1,
				       .source = {{false, 2}},
				       .to = {false, 1}};
	p->code[2] = (struct epi_code){
		.kind = OP_ADD, .n_sources = 2, .source = {{false, 1}, {true, 2}}};
}

static void check_matmul(const int64_t *size, bool turned, bool ending, int n_threads)
{
	int64_t m = size[0], n = size[1], k = size[2];
	struct world w = world_new(n_threads);
	float *x = drawn_narrow(1, m * k, NULL), *y = drawn_narrow(2, k * n, NULL);
	float *c = room((size_t)(m * n) * sizeof *c), half = 0.5f;
	float *bias = drawn(3, n), *plus = drawn(4, m * n);
	struct op op = {.kind = OP_MATMUL, .n_in = 2, .n_out = 1, .a.matmul.transpose_b = turned};
	struct tensor in[2] = {{.elem = EL_F32, .rank = 2, .dim = {m, k}, .data = x},
			       {.elem = EL_F32, .rank = 2, .dim = {n, k}, .data = y}};
	struct tensor out = {.elem = EL_F32, .rank = 2, .dim = {m, n}, .data = c};
	if (!turned) {
		in[1].dim[0] = k;
		in[1].dim[1] = n;
	}
	struct epilogue post;
	make_post(&post, m, n, ending, &half, bias, plus);
	struct operand a = operand_of(&in[0], false, true), b = operand_of(&in[1], turned, false);
	bool fits = tiled_fits(w.ctx, &a, &b);
	struct cpu_prep prep = {.pack = fits ? tiled_pack(&b, w.ctx) : NULL};
	struct kernel_call call = {
		.op = &op, .prep = &prep, .in = in, .out = &out, .ctx = w.ctx, .post = &post};
	struct err err = ERR_INIT;
	bool ran = fits && tiled_run(&call, &err) == 0;
	double e = 0;
	for (int64_t i = 0; i < m * n && ran; i++) {
		double sum = 0, d;
		for (int64_t l = 0; l < k; l++)
			sum += (double)x[i / n * k + l] *
			       (double)(turned ? y[i % n * k + l] : y[l * n + i % n]);
		double limited = fmin(fmax(sum + (double)bias[i % n], -0.5), 0.25);
		d = fabs((ending ? limited + (double)plus[i] : sum / 2) - (double)c[i]) /
		    sqrt((double)k);
		e = d <= e ? e : d; /* NaN is worst */
	}
	tap(m == 1 ? !fits : ran && e < 1e-6, "MatMul %dx%dx%d%s, %s, %d threads: %.1e", (int)m,
	    (int)n, (int)k, turned ? ", turned" : "", ending ? "finished" : "halved", n_threads, e);
	cpu_pack_drop(prep.pack);
	free(c);
	mem_free(x), mem_free(y), mem_free(bias), mem_free(plus);
	world_free(&w);
}

/* ---- convolutions ---- */

struct conv {
	const struct tiled_conv *m;
	const struct window *g;
	const void *x;
	const void *add;
	enum elem add_elem;
	int64_t add_size;
	float made_scale, add_scale;
	enum elem to;
	float lo, hi;
	int64_t in_size; /* of an element of x */
};

/* Each slice has nothing but its own pixels, and writes all of them once, in parts of the channels. */
static bool convolve(const struct conv *c, int parts, void *y)
{
	int64_t next = 0, n = c->g->groups * c->g->cout, cin = c->g->groups * c->g->cin;
	int64_t size = c->to == EL_F32 ? 4 : c->to == EL_BF16 ? 2 : 1;
	int64_t pixel = cin * c->in_size;
	for (int i = 0; i < tiled_conv_slices(c->m); i++) {
		struct window_slice s = tiled_conv_slice(c->m, i);
		char *in =
			mem_copy((const char *)c->x + s.from * pixel, (size_t)(s.n_in * pixel), 1);
		void *scratch = room(s.scratch); /* that nobody has cleared */
		for (int j = 0; j < parts; j++) {
			struct tiled_conv_sum sum = {.add = (const char *)c->add +
							    s.at * n * c->add_size,
						     .elem = c->add_elem,
						     .to = c->to,
						     .lo = c->lo,
						     .hi = c->hi,
						     .made_scale = c->made_scale,
						     .add_scale = c->add_scale};
			tiled_conv_run(c->m, i, (struct channel_part){j, parts}, in,
				       (char *)y + s.at * n * size, c->add ? &sum : NULL, scratch);
		}
		if (s.at != next)
			return false;
		next = s.at + s.n;
		free(scratch);
		mem_free(in);
	}
	return next == c->g->out_plane;
}

enum kind { TO_F32, TO_BF16, ADDED, HSWISH, SIGMOID, SWISH, GELU, KINDS };

static struct tiles_post post_of(enum kind kind)
{
	static const enum tiles_unary unary[KINDS] = {[HSWISH] = TILES_HSWISH,
						      [SIGMOID] = TILES_SIGMOID,
						      [SWISH] = TILES_SWISH,
						      [GELU] = TILES_GELU};
	struct tiles_post p = {.unary = unary[kind], .lo = -2, .hi = 3, .beta = 1.5f};
	if (kind == ADDED) {
		p.lo = -INFINITY;
		p.hi = INFINITY;
	}
	return p;
}

static double after(enum kind kind, double v, double add, double lo, double hi)
{
	switch (kind) {
	case HSWISH: return v * fmin(fmax(v + 3, 0), 6) / 6;
	case SIGMOID: return 1 / (1 + exp(-v));
	case SWISH: return v / (1 + exp(-1.5 * v));
	case GELU: return v / 2 * (1 + erf(v / sqrt(2)));
	default: break;
	}
	return fmin(fmax(kind == ADDED ? v + add : v, lo), hi);
}

static void check_conv(const struct shape *shape, int n_threads, enum kind kind)
{
	static const char *const names[KINDS] = {"f32",     "bf16",  "added", "HSwish",
						 "Sigmoid", "Swish", "Gelu"};
	struct window g = window_of(shape);
	struct world w = world_new(n_threads);
	int64_t n = g.groups * g.cout, all = g.out_plane * n;
	uint16_t *narrow = MEM_NEWN(uint16_t, (size_t)(g.groups * g.cin * g.in_plane));
	uint16_t *add = MEM_NEWN(uint16_t, (size_t)all);
	float *x = drawn_narrow(1, g.groups * g.cin * g.in_plane, narrow);
	float *weights = drawn_narrow(2, n * g.cin * g.taps, NULL), *bias = drawn(3, n);
	float *plus = drawn_narrow(4, all, add), *y = room((size_t)all * sizeof *y);
	struct tensor t = {.elem = EL_F32, .rank = 3, .dim = {n, g.cin, g.taps}, .data = weights};
	struct tiled_conv_spec spec = {.g = g,
				       .weights = &t,
				       .key = weights,
				       .src = EL_BF16,
				       .bias = bias,
				       .dst = kind == TO_BF16 || kind > HSWISH ? EL_BF16 : EL_F32,
				       .post = post_of(kind)};
	bool does = tiled_conv_does(w.ctx, &g, EL_BF16);
	struct tiled_conv *m = does ? tiled_conv_new(&spec, w.ctx) : NULL;
	bool wide = kind == TO_F32 || kind == HSWISH, whole = false;
	if (m) {
		struct conv c = {.m = m,
				 .g = &g,
				 .x = narrow,
				 .add = kind == ADDED ? add : NULL,
				 .add_elem = EL_BF16,
				 .add_size = 2,
				 .to = wide ? EL_F32 : EL_BF16,
				 .lo = -2,
				 .hi = 3,
				 .in_size = 2};
		int parts = tiled_conv_parts(m) < n_threads ? tiled_conv_parts(m) : n_threads;
		whole = convolve(&c, parts, y);
	}
	float *got = MEM_NEWN(float, (size_t)all);
	if (wide)
		memcpy(got, y, (size_t)all * sizeof *y);
	else
		vec_from_bf16((uint16_t *)(void *)y, got, all);
	double *sum = sums_of(&g, x, weights, bias), worst = 0,
	       root = sqrt((double)(g.taps * g.cin));
	for (int64_t i = 0; i < all; i++) {
		double v = after(kind, sum[i], (double)plus[i], -2, 3);
		double e = fabs(v - (double)got[i]) / (wide ? root : fmax(1, fabs(v)));
		worst = e <= worst ? worst : e; /* NaN is worst */
	}
	tap(whole && worst < (wide ? 2e-6 : 1.0 / 256), "%s, %s, %d thread%s: %.1e", shape->name,
	    names[kind], n_threads, n_threads == 1 ? "" : "s", worst);
	tiled_conv_free(m);
	mem_free(narrow), mem_free(add), mem_free(x), mem_free(weights), mem_free(bias);
	mem_free(plus), mem_free(got), mem_free(sum), free(y);
	world_free(&w);
}

/* Infinity and NaN in the input are in the outputs that see them, and in no others. */
static void check_odd(const char *name)
{
	const struct shape *shape = shapes;
	while (strcmp(shape->name, name) != 0)
		shape++;
	struct window g = window_of(shape);
	struct world w = world_new(1);
	int64_t n = g.groups * g.cout, all = g.out_plane * n, size = g.groups * g.cin * g.in_plane;
	uint16_t *narrow = MEM_NEWN(uint16_t, (size_t)size);
	float *x = drawn_narrow(1, size, narrow), *y = room((size_t)all * sizeof *y);
	float *weights = drawn_narrow(2, n * g.cin * g.taps, NULL), *bias = drawn(3, n);
	x[0] = x[size / 2] = INFINITY;
	x[size / 3] = NAN;
	vec_to_bf16(x, narrow, size);
	struct tensor t = {.elem = EL_F32, .rank = 3, .dim = {n, g.cin, g.taps}, .data = weights};
	struct tiled_conv_spec spec = {.g = g,
				       .weights = &t,
				       .key = weights,
				       .bias = bias,
				       .src = EL_BF16,
				       .dst = EL_F32,
				       .post = {.lo = -INFINITY, .hi = INFINITY}};
	struct tiled_conv *m = tiled_conv_new(&spec, w.ctx);
	struct conv c = {.m = m, .g = &g, .x = narrow, .to = EL_F32, .in_size = 2};
	bool right = convolve(&c, 1, y);
	double *sum = sums_of(&g, x, weights, bias);
	int64_t odd = 0;
	for (int64_t i = 0; i < all; i++) {
		double v = sum[i], got = (double)y[i];
		odd += !isfinite(v);
		right = right &&
			(isfinite(v) ? fabs(v - got) < 1e-4 : v == got || (isnan(v) && isnan(got)));
	}
	tap(right && odd > 0 && odd < all, "%s: %d of %d outputs are not finite", name, (int)odd,
	    (int)all);
	tiled_conv_free(m);
	mem_free(narrow), mem_free(x), mem_free(weights), mem_free(bias), mem_free(sum), free(y);
	world_free(&w);
}

/* n codes of u8 or i8. */
static int8_t *drawn_codes(uint32_t stream, int64_t n, bool is_signed)
{
	float *x = drawn(stream, n);
	int8_t *c = MEM_NEWN(int8_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		c[i] = (int8_t)(is_signed ? lrintf(127 * x[i]) : lrintf(127.5f * (x[i] + 1)));
	mem_free(x);
	return c;
}

/* Integers from `src` to `dst`: exact sums, so that results are what f32 makes of them, but for rounding to codes.  adds: codes of
 * i8 are added, and the sum is u8. */
static void check_codes(const struct shape *shape, int n_threads, enum elem src, enum elem dst,
			bool adds)
{
	struct window g = window_of(shape);
	struct world w = world_new(n_threads);
	int64_t n = g.groups * g.cout, all = g.out_plane * n, n_x = g.groups * g.cin * g.in_plane;
	int8_t *x = drawn_codes(1, n_x, src == EL_I8),
	       *weights = drawn_codes(2, n * g.cin * g.taps, true);
	float *wide = MEM_NEWN(float, (size_t)n_x),
	      *wide_weights = MEM_NEWN(float, (size_t)(n * g.cin * g.taps));
	float *bias = drawn(3, n), *scale = drawn(4, n);
	for (int64_t i = 0; i < n_x; i++)
		wide[i] = src == EL_I8 ? (float)x[i] : (float)(uint8_t)x[i];
	for (int64_t i = 0; i < n * g.cin * g.taps; i++)
		wide_weights[i] = (float)weights[i];
	for (int64_t i = 0; i < n; i++) {
		bias[i] = roundf(500 * bias[i]);
		scale[i] = (scale[i] + 2) / 8192;
	}
	struct tensor t = {.elem = EL_I8, .rank = 3, .dim = {n, g.cin, g.taps}, .data = weights};
	struct tiled_conv_spec spec = {.g = g,
				       .weights = &t,
				       .key = weights,
				       .bias = bias,
				       .scale = scale,
				       .src = src,
				       .dst = dst,
				       .post = {.lo = -INFINITY, .hi = INFINITY}};
	struct tiled_conv *m = tiled_conv_new(&spec, w.ctx);
	char *y = room((size_t)all * sizeof(float));
	int8_t *plus = drawn_codes(5, all, true);
	struct conv c = {.m = m, .g = &g, .x = x, .to = adds ? EL_U8 : dst, .in_size = 1};
	if (adds) {
		c.add = plus;
		c.add_elem = EL_I8;
		c.add_size = 1;
		c.lo = -INFINITY;
		c.hi = INFINITY;
		c.made_scale = 0.5f;
		c.add_scale = 0.75f;
	}
	int parts = tiled_conv_parts(m) < n_threads ? tiled_conv_parts(m) : n_threads;
	bool whole = convolve(&c, parts, y);
	double *sum = sums_of(&g, wide, wide_weights, bias), worst = 0;
	for (int64_t i = 0; i < all; i++) {
		double v = (double)((float)sum[i] * scale[i % n]), got;
		if (dst == EL_F32) {
			got = (double)((float *)(void *)y)[i];
		} else {
			v = fmin(fmax(rint(v), dst == EL_U8 ? 0 : -128), dst == EL_U8 ? 255 : 127);
			if (adds)
				v = fmin(fmax(rint(0.5 * v + 0.75 * plus[i]), 0), 255);
			got = adds || dst == EL_U8 ? (uint8_t)y[i] : (int8_t)y[i];
		}
		worst = fmax(worst, fabs(v - got));
	}
	tap(whole && worst == 0, "%s, %s to %s%s, %d thread%s: %.1e", shape->name, elem_name(src),
	    elem_name(dst), adds ? ", added" : "", n_threads, n_threads == 1 ? "" : "s", worst);
	tiled_conv_free(m);
	mem_free(x), mem_free(weights), mem_free(wide), mem_free(wide_weights), mem_free(bias);
	mem_free(scale), mem_free(sum), mem_free(plus), free(y);
	world_free(&w);
}

static void check_refused(void)
{
	struct world w = world_new(1);
	struct shape depthwise = {"",        8,         1,         1,         {1, 9, 9},
				  {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}};
	struct shape odd = {"", 3, 33, 8, {1, 9, 9}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, {0}};
	struct window g = window_of(&depthwise), h = window_of(&odd);
	tap(!tiled_conv_does(w.ctx, &g, EL_BF16) && !tiled_conv_does(w.ctx, &h, EL_BF16),
	    "one channel a group, and odd numbers of them, are left to others");
	world_free(&w);
}

static void check_products(void)
{
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		check_outer(sizes[i]);
		for (int turned = 0; turned < 2; turned++) {
			check_pairs(sizes[i], turned, sizes[i][1]);
			check_pairs(sizes[i], turned, (sizes[i][1] + 31) / 32 * 32 + 16);
			check_panel(sizes[i], turned);
		}
	}
	for (int64_t k = 1; k < 100; k += 33)
		for (int masks = 0; masks < 2; masks++)
			check_weights(k, masks);
}

int main(void)
{
	if (!pairs_there()) {
		tap(true, "# skip this processor does not multiply bf16");
		return tap_end();
	}
	bool tiles = tiles_there();
	check_products();
	tiles_off = true;
	if (tiles && pairs_there())
		check_products();
	tiles_off = false;
	for (size_t i = 0; tiles && i < sizeof sizes / sizeof *sizes; i++)
		for (int threads = 1; threads <= 3; threads += 2)
			for (int ending = 0; ending < 2; ending++)
				check_matmul(sizes[i], i % 2, ending, threads);
	for (size_t i = 0; tiles && i < N_SHAPES; i++)
		for (int threads = 1; threads <= 3; threads += 2) {
			struct window g = window_of(&shapes[i]);
			struct world w = world_new(1);
			for (int k = 0; k < KINDS && tiled_conv_does(w.ctx, &g, EL_BF16); k++)
				check_conv(&shapes[i], threads, k);
			if (tiled_conv_does(w.ctx, &g, EL_U8)) {
				check_codes(&shapes[i], threads, EL_U8, EL_F32, false);
				check_codes(&shapes[i], threads, EL_I8, EL_I8, false);
				check_codes(&shapes[i], threads, EL_U8, EL_U8, false);
				check_codes(&shapes[i], threads, EL_U8, EL_I8, true);
			}
			world_free(&w);
		}
	if (!tiles)
		tap(true, "# skip this processor has no tiles");
	if (tiles) {
		check_odd("cubes");
		check_odd("one tap, groups, a line");
		check_odd("narrow groups, the last ones fewer");
		check_odd("narrow groups of more than a panel, the last ones fewer");
		check_refused();
	}
	return tap_end();
}
