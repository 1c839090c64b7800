/* cpu_narrow.c - see cpu_narrow.h.
 *
 *	codes --convolution--> codes                                  scale, bias and limits by oneDNN
 *	codes --convolution--> f32 tile --program--> codes or f32     anything else behind it
 *	codes, f32 --> f32 tile --program--> codes or f32             no convolution */
#include "device/cpu/cpu_narrow.h"
#include "device/cpu/cpu_narrow_impl.h"
#include "kernel/onednn/onednn_conv.h"

#include <string.h>

enum { TILE_FLOATS = PIXEL_FLOATS };

enum narrow_kind { NARROW_CONV, NARROW_PROGRAM, NARROW_POOL, NARROW_CONCAT };

struct narrow_step {
	struct cpu_ctx *ctx;
	bool bf16; /* else 8 bits */
	enum narrow_kind kind;
	uint32_t n_out;
	struct mem_form *want; /* (n_out) of outputs that only this device reads */
	struct form_shape in_shape, shape;
	struct window g;   /* of a convolution */
	uint32_t x_in;     /* the input with the data */
	struct mem_form x; /* its grid */
	struct onednn_conv *conv;
	bool direct; /* the convolution writes codes of this form */
	struct mem_form codes;
	bool has_program;
	struct pixel_program program;
	struct narrow_pool pool;
	struct narrow_concat concat;
};

/* ---- preparation ---- */

static uint32_t source_of(const struct step_node *n, uint32_t input)
{
	return n->graph->in_node[n->graph->in_ptr[n->v] + input];
}

/* Leaves out instruction 0, which makes one value of value 0: the others read value 0 in its place.
 * False, and nothing has changed: value 0 as it was is read again, or written while that value is. */
static bool drop_first(struct epilogue *c)
{
	int made = c->code[0].to.index, n = c->n_code - 1;
	bool zero_written = made == 0, gone = made == 0;
	if (c->code[0].to.operand)
		return false;
	for (int j = 1; j <= n && made != 0; j++) {
		const struct epi_code *k = &c->code[j];
		for (int m = 0; m < k->n_sources; m++) {
			const struct epi_source *x = &k->source[m];
			if (!x->operand && ((x->index == 0 && !zero_written) ||
					    (x->index == made && zero_written && !gone)))
				return false;
		}
		zero_written = zero_written || (!k->to.operand && k->to.index == 0);
		gone = gone || (!k->to.operand && k->to.index == made);
	}
	gone = made == 0;
	for (int j = 0; j < n; j++) {
		struct epi_code *k = &c->code[j];
		*k = c->code[j + 1];
		for (int m = 0; m < k->n_sources && !gone; m++)
			if (!k->source[m].operand && k->source[m].index == made)
				k->source[m].index = 0;
		gone = gone || (!k->to.operand && k->to.index == made);
	}
	c->n_code = n;
	return true;
}

/* Does instruction 0 add one constant a channel to value 0?  Then where they are. */
static const float *take_bias(struct fuse_part *part, const struct form_shape *s)
{
	struct epilogue *c = &part->code;
	const struct epi_code *k = &c->code[0];
	if (c->n_code == 0 || k->kind != OP_ADD || k->n_sources != 2)
		return NULL;
	int i = k->source[0].operand ? 0 : 1;
	const struct epi_source *value = &k->source[1 - i];
	if (!k->source[i].operand || value->operand || value->index != 0)
		return NULL;
	int at = k->source[i].index;
	if (part->place[at].base != BASE_CONST || !pixel_is_channel(c, s, &c->operand[at]) ||
	    !drop_first(c))
		return NULL;
	return (const float *)(const void *)((const char *)part->place[at].data +
					     part->place[at].bytes);
}

/* Is instruction i, which limits value 0, nothing more than what codes of f do anyway? */
static bool only_limits(const struct epi_code *k, const struct mem_form *f)
{
	if (f->elem != EL_U8 || k->source[0].operand || k->source[0].index != 0)
		return false;
	return k->kind == OP_RELU ||
	       (k->kind == OP_CLAMP && k->args.a == 0 && k->args.b >= 254.5f * f->scale);
}

/* Do instructions 0 (and 1) quantize value 0 to a grid?  Then they are left out, and *f is the grid.
 * node: those of the instructions. */
static bool take_codes(struct fuse_part *part, const struct fuse_node *const *node,
		       struct mem_form *f)
{
	struct epilogue *c = &part->code, before = *c;
	int last = 0;
	if (c->n_code > 1 && c->code[0].kind != OP_FAKE_QUANTIZE)
		last = 1;
	if (c->n_code <= last || c->code[last].kind != OP_FAKE_QUANTIZE ||
	    !grid_of(node[last]->node->graph, node[last]->node->v, node[last]->node->env, f))
		return false;
	f->pixels = true;
	if (last == 1 && (!only_limits(&c->code[0], f) || !drop_first(c)))
		return false;
	const struct epi_source *x = &c->code[0].source[0];
	if (!x->operand && x->index == 0 && drop_first(c))
		return true;
	*c = before;
	return false;
}

/* Is all that follows a ReLU?  Then it is left out. */
static bool take_relu(struct epilogue *c)
{
	const struct epi_source *x = &c->code[0].source[0];
	return c->n_code == 1 && c->code[0].kind == OP_RELU && !x->operand && x->index == 0 &&
	       drop_first(c);
}

static int bf16_conv(struct narrow_step *s, const struct step_node *n, const float *bias, bool relu,
		     struct err *e)
{
	const struct tensor *w = n->in[1].tensor;
	struct onednn_conv_spec spec = {.g = s->g,
					.src = EL_BF16,
					.dst = s->direct ? EL_BF16 : EL_F32,
					.weights = *w,
					.key = w->data,
					.bias = bias,
					.relu = relu};
	return onednn_conv_new(&spec, s->ctx, &s->conv, e);
}

/* Weights as codes, their scales, and the convolution. */
static int conv_new(struct narrow_step *s, const struct step_node *n, const float *bias,
		    struct err *e)
{
	const struct tensor *w = n->in[1].tensor;
	int64_t count = tensor_elements(w), rows = s->g.groups * s->g.cout;
	float *f32 = mem_try((size_t)count * sizeof *f32), *scale = MEM_NEWN(float, (size_t)rows);
	int8_t *code = mem_try((size_t)count);
	float *shift = bias ? MEM_NEWN(float, (size_t)rows) : NULL;
	int rc = 0;
	if (!f32 || !code) {
		rc = cpu_no_memory(e);
	} else {
		cpu_convert(EL_F32, f32, w->elem, w->data, count);
		rc = grid_of_weights(f32, rows, count / rows, code, scale);
	}
	for (int64_t i = 0; i < rows && rc > 0; i++) {
		if (bias)
			shift[i] = bias[i] / (s->x.scale * scale[i]);
		scale[i] *= s->direct ? s->x.scale / s->codes.scale : s->x.scale;
	}
	struct onednn_conv_spec spec = {.g = s->g,
					.src = s->x.elem,
					.dst = s->direct ? s->codes.elem : EL_F32,
					.weights = *w,
					.key = w->data,
					.scale = scale,
					.bias = shift};
	spec.weights.elem = EL_I8;
	spec.weights.data = code;
	if (rc > 0)
		rc = onednn_conv_new(&spec, s->ctx, &s->conv, e);
	mem_free(f32);
	mem_free(code);
	mem_free(scale);
	mem_free(shift);
	return rc;
}

static int new_conv(struct narrow_step *s, const struct step_spec *spec, struct fuse_plan *p,
		    struct err *e)
{
	const struct step_node *n = &spec->node[0];
	const struct tensor *w = n->in[1].tensor;
	if (spec->n_out != 1 || p->n_parts != 1 || !p->part[0].head ||
	    n->in[0].from != FROM_INPUT || n->in[1].from != FROM_CONST || !w->data || w->quant ||
	    (w->elem != EL_F32 && w->elem != EL_F16) || tensor_elements(w) == 0 ||
	    !fits_pixels(n->in[0].tensor) || !fits_pixels(&n->out[0]) ||
	    (!s->bf16 && !grid_of(n->graph, source_of(n, 0), n->env, &s->x)))
		return 0;
	if (s->bf16)
		s->x = bf16_pixels;
	s->x.pixels = true;
	s->x_in = n->in[0].index;
	s->in_shape = form_shape_of(n->in[0].tensor);
	s->shape = form_shape_of(&n->out[0]);
	cpu_window_init(&s->g, n->op, n->in[0].tensor, w, &n->out[0]);
	struct fuse_part *part = &p->part[0];
	const struct fuse_node *node[FUSE_ALL];
	int n_nodes = 0;
	for (uint32_t v = 1; v < p->n; v++)
		node[n_nodes++] = &p->node[v];
	if (n_nodes != part->code.n_code)
		return 0;
	const float *bias = take_bias(part, &s->shape);
	bool relu = s->bf16 && take_relu(&part->code);
	s->want[0] = wanted_form(p->node[part->result].node, s->bf16);
	s->codes = bf16_pixels;
	if (s->bf16)
		s->direct = part->code.n_code == 0 && s->want[0].elem == EL_BF16;
	else
		s->direct = take_codes(part, node + (bias != NULL), &s->codes);
	s->has_program = part->code.n_code > 0;
	if (s->has_program &&
	    (!pixel_program_init(&s->program, part, &n->out[0]) || s->program.n_write > 0))
		return 0;
	return s->bf16 ? bf16_conv(s, n, bias, relu, e) : conv_new(s, n, bias, e);
}

static int new_program(struct narrow_step *s, const struct step_spec *spec,
		       const struct fuse_plan *p)
{
	if (p->n_parts != 1 || p->part[0].head || !fits_pixels(p->node[0].out))
		return 0;
	for (uint32_t v = 0; v < p->n; v++) {
		const struct fuse_node *f = &p->node[v];
		if (f->role != ROLE_CODE || !f->node || !fits_pixels(f->out))
			return 0;
		if (f->leaves && !tensor_same_shape(f->out, p->node[p->part[0].result].out))
			return 0;
		if (f->leaves)
			s->want[f->out_index] = wanted_form(f->node, s->bf16);
	}
	(void)spec;
	s->has_program = true;
	s->shape = form_shape_of(p->node[p->part[0].result].out);
	return pixel_program_init(&s->program, &p->part[0], p->node[p->part[0].result].out);
}

bool narrow_step_may_be(const struct step_spec *s)
{
	const struct step_node *n = &s->node[0], *last = &s->node[s->n_nodes - 1];
	if (s->n_nodes == 1 || !fits_pixels(&n->out[0]))
		return true;
	switch (n->op->kind) {
	case OP_CONCAT: return !concat_joins_channels(n->graph, n->v);
	case OP_MAX_POOL:
	case OP_AVG_POOL:
	case OP_REDUCE_MEAN: return s->n_nodes == 2 && last->op->kind == OP_FAKE_QUANTIZE;
	case OP_CONVOLUTION:
	case OP_GROUP_CONVOLUTION:
		for (uint32_t v = 1; v < s->n_nodes; v++)
			if (!tensor_same_shape(&s->node[v].out[0], &n->out[0]))
				return false;
		return true;
	default: return true;
	}
}

int narrow_step_new(const struct step_spec *spec, struct cpu_ctx *ctx, bool bf16,
		    struct narrow_step **out, struct err *e)
{
	struct fuse_plan p;
	enum op_kind kind = spec->node[0].op->kind;
	struct narrow_step *s = MEM_NEW(struct narrow_step);
	s->ctx = ctx;
	s->bf16 = bf16;
	s->n_out = spec->n_out;
	s->want = MEM_NEWN(struct mem_form, spec->n_out + 1);
	int rc = 0;
	if (kind == OP_MAX_POOL || kind == OP_AVG_POOL || kind == OP_REDUCE_MEAN) {
		s->kind = NARROW_POOL;
		rc = narrow_pool_init(&s->pool, spec, bf16, s->want);
	} else if (kind == OP_CONCAT) {
		s->kind = NARROW_CONCAT;
		rc = narrow_concat_init(&s->concat, spec, bf16, s->want);
	} else if (fuse_parts(spec, &p) && fuse_code(&p)) {
		bool conv = kind == OP_CONVOLUTION || kind == OP_GROUP_CONVOLUTION;
		s->kind = conv ? NARROW_CONV : NARROW_PROGRAM;
		rc = conv ? new_conv(s, spec, &p, e) : new_program(s, spec, &p);
	}
	if (rc > 0)
		*out = s;
	else
		narrow_step_free(s);
	return rc;
}

void narrow_step_free(struct narrow_step *s)
{
	if (!s)
		return;
	onednn_conv_free(s->conv);
	pixel_program_release(&s->program);
	narrow_concat_release(&s->concat);
	mem_free(s->want);
	mem_free(s);
}

bool narrow_step_alone(const struct narrow_step *s)
{
	return s->kind == NARROW_CONV;
}

uint64_t narrow_step_bytes(const struct narrow_step *s)
{
	return s && s->conv ? onednn_conv_bytes(s->conv) : 0;
}

/* ---- running ---- */

static struct mem_form form_of_output(const struct narrow_step *s, uint32_t i,
				      const struct devmem *m)
{
	return m->private ? s->want[i] : (struct mem_form){.elem = EL_F32};
}

bool narrow_step_wants(const struct narrow_step *s, struct devmem *const *in,
		       struct devmem *const *out)
{
	if (s->kind == NARROW_CONV)
		return true;
	if (s->kind == NARROW_POOL)
		return narrow_pool_wants(&s->pool, in, out);
	if (s->kind == NARROW_CONCAT)
		return narrow_concat_wants(&s->concat, in);
	for (uint32_t i = 0; i < s->n_out; i++)
		if (out[i]->private && s->want[i].elem != EL_F32)
			return true;
	for (int i = 0; i < s->program.code.n_operands; i++)
		if (s->program.kind[i] == PIXEL_READ && s->program.place[i].base == BASE_INPUT &&
		    !form_is_plain(&in[s->program.place[i].index]->form))
			return true;
	return false;
}

struct narrow_run {
	struct narrow_step *s;
	struct devmem *const *in, *const *out;
	struct pixel_memory memory[EPI_OPERANDS];
	struct mem_form y; /* of output 0 */
	int n_tasks;
	struct err err;
	atomic_flag failed;
};

static void find_memory(struct narrow_run *r)
{
	const struct pixel_program *p = &r->s->program;
	for (int i = 0; r->s->has_program && i < p->code.n_operands; i++) {
		const struct fuse_place *pl = &p->place[i];
		if (!pixel_is_memory(p->kind[i]))
			continue;
		if (pl->base == BASE_CONST) {
			union {
				const void *c;
				void *p;
			} data = {(const char *)pl->data + pl->bytes};
			r->memory[i] = (struct pixel_memory){data.p, {.elem = EL_F32}};
		} else if (pl->base == BASE_INPUT) {
			r->memory[i] =
				(struct pixel_memory){r->in[pl->index]->p, r->in[pl->index]->form};
		} else {
			r->memory[i] = (struct pixel_memory){
				r->out[pl->index]->p,
				form_of_output(r->s, pl->index, r->out[pl->index])};
		}
	}
}

static size_t whole_lines(int64_t bytes)
{
	return ((size_t)bytes + 63) & ~(size_t)63;
}

/* Codes of the pixels that a slice reads: where they are, or made in x. */
static const void *slice_input(const struct narrow_run *r, int64_t image,
			       const struct onednn_slice *sl, char *x, float *tile)
{
	const struct narrow_step *s = r->s;
	const struct devmem *m = r->in[s->x_in];
	int64_t c = s->in_shape.channels, step = pixel_program_tile(&s->in_shape);
	if (same_grid(&m->form, &s->x))
		return (const char *)m->p +
		       (image * s->in_shape.pixels + sl->from) * c * form_size(s->x.elem);
	for (int64_t i = 0; i < sl->n_in; i += step) {
		int64_t n = sl->n_in - i < step ? sl->n_in - i : step;
		form_read(&m->form, &s->in_shape, m->p, image, sl->from + i, n, tile);
		form_codes(&s->x, tile, n * c, x + i * c * form_size(s->x.elem));
	}
	return x;
}

/* What becomes of a slice's outputs in y. */
static void slice_output(const struct narrow_run *r, int64_t image, const struct onednn_slice *sl,
			 char *y, float *tile)
{
	const struct narrow_step *s = r->s;
	const struct form_shape row = {1, s->shape.channels, sl->n};
	int64_t c = s->shape.channels, step = pixel_program_tile(&s->shape);
	const int64_t first = (image * s->shape.pixels + sl->at) * c;
	const struct pixel_memory value[2] = {{y, s->codes}, {(char *)r->out[0]->p + first, r->y}};
	struct epilogue code;
	if (s->direct && s->has_program &&
	    pixel_program_add(&s->program, r->memory, value, first, sl->n * c))
		return;
	if (s->has_program)
		code = s->program.code;
	for (int64_t i = 0; i < sl->n; i += step) {
		int64_t n = sl->n - i < step ? sl->n - i : step;
		float *at = (float *)(void *)y + i * c;
		if (s->direct)
			form_read(&s->codes, &row, y, 0, i, n, at = tile);
		if (s->has_program)
			pixel_program_run(&s->program, &code, r->memory, image, sl->at + i, n, at,
					  tile + (n * c > TILE_FLOATS ? n * c : TILE_FLOATS));
		form_write(&r->y, &s->shape, r->out[0]->p, image, sl->at + i, n, at);
	}
}

static int conv_slice(struct narrow_run *r, int64_t image, int i, int thread, struct err *e)
{
	const struct narrow_step *s = r->s;
	struct onednn_slice sl = onednn_conv_slice(s->conv, i);
	int64_t c = s->shape.channels, size = form_size(s->direct ? s->codes.elem : EL_F32),
		n = pixel_program_tile(&s->shape);
	int64_t tile = n * c > TILE_FLOATS ? n * c : TILE_FLOATS;
	if (s->has_program)
		tile += pixel_program_floats(&s->program, n);
	bool done = s->direct && !s->has_program && same_grid(&r->y, &s->codes);
	size_t x_bytes = whole_lines(sl.n_in * s->in_shape.channels * form_size(s->x.elem));
	size_t y_bytes = done ? 0 : whole_lines(sl.n * c * size);
	char *x = cpu_thread_scratch(s->ctx, thread,
				     x_bytes + y_bytes + whole_lines(tile * 4) + sl.scratch + 64);
	if (!x)
		return cpu_no_memory(e);
	char *y = done ? (char *)r->out[0]->p + (image * s->shape.pixels + sl.at) * c * size
		       : x + x_bytes;
	float *room = (float *)(void *)(x + x_bytes + y_bytes);
	const void *from = slice_input(r, image, &sl, x, room);
	if (onednn_conv_run(s->conv, i, from, y, (char *)room + whole_lines(tile * 4), e) < 0)
		return -1;
	if (!done)
		slice_output(r, image, &sl, y, room);
	return 0;
}

static void conv_task(void *arg, int task, int thread)
{
	struct narrow_run *r = arg;
	struct err e = ERR_INIT;
	int n = onednn_conv_slices(r->s->conv);
	if (conv_slice(r, task / n, task % n, thread, &e) < 0 &&
	    !atomic_flag_test_and_set(&r->failed))
		r->err = e;
}

static void program_task(void *arg, int task, int thread)
{
	struct narrow_run *r = arg;
	const struct pixel_program *p = &r->s->program;
	int64_t step = pixel_program_tile(&p->shape), lo, hi;
	struct epilogue code;
	float *tile = cpu_thread_scratch(r->s->ctx, thread,
					 (size_t)pixel_program_floats(p, step) * sizeof *tile + 64);
	if (!tile) {
		if (!atomic_flag_test_and_set(&r->failed))
			(void)cpu_no_memory(&r->err);
		return;
	}
	cpu_range(p->shape.images * p->shape.pixels, r->n_tasks, task, &lo, &hi);
	if (pixel_program_add(p, r->memory, NULL, lo * p->shape.channels,
			      (hi - lo) * p->shape.channels))
		return;
	code = p->code;
	while (lo < hi) {
		int64_t image = lo / p->shape.pixels, first = lo % p->shape.pixels, n = hi - lo;
		n = n > step ? step : n;
		n = first + n > p->shape.pixels ? p->shape.pixels - first : n;
		pixel_program_run(p, &code, r->memory, image, first, n, NULL, tile);
		lo += n;
	}
}

int narrow_step_run(struct narrow_step *s, struct devmem *const *in, struct devmem *const *out,
		    struct err *e)
{
	struct narrow_run r = {.s = s, .in = in, .out = out, .failed = ATOMIC_FLAG_INIT};
	r.y = form_of_output(s, 0, out[0]);
	find_memory(&r);
	if (s->kind == NARROW_CONV) {
		cpu_parallel(s->ctx, (int)s->g.batch * onednn_conv_slices(s->conv), conv_task, &r);
	} else if (s->kind == NARROW_POOL) {
		if (narrow_pool_run(&s->pool, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else if (s->kind == NARROW_CONCAT) {
		if (narrow_concat_run(&s->concat, s->ctx, in, out, &r.y, e) < 0)
			return -1;
	} else {
		int64_t n = s->shape.images * s->shape.pixels;
		r.n_tasks = cpu_tasks(n * s->shape.channels, 4 * TILE_FLOATS);
		r.n_tasks = r.n_tasks > 4 * s->ctx->n_threads ? 4 * s->ctx->n_threads : r.n_tasks;
		r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
		cpu_parallel(s->ctx, r.n_tasks, program_task, &r);
	}
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	for (uint32_t i = 0; i < s->n_out; i++)
		out[i]->form = form_of_output(s, i, out[i]);
	return 0;
}
