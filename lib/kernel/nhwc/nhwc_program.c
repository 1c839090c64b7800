/* nhwc_program.c - element-wise operators over (pixels, channels), whatever form their operands lie in. */
#include "kernel/nhwc/nhwc_program.h"

#include <math.h>
#include <string.h>

bool nhwc_is_channel(const struct epilogue *code, const struct form_shape *s,
		     const struct epi_operand *o)
{
	bool planes = o->col == 0 && o->row == 1 && code->cols * o->div == s->pixels &&
		      (o->mod == s->channels || (s->images == 1 && o->mod >= s->channels));
	bool columns = s->pixels == 1 && o->col == 1 && o->row == 0 && code->cols == s->channels;
	return planes || columns;
}

/* Has it one value for each channel of each image? */
static bool is_one_pixel(const struct epilogue *code, const struct form_shape *s,
			 const struct epi_operand *o)
{
	return s->pixels > 1 && o->col == 0 && o->row == 1 && o->div == 1 &&
	       code->cols == s->pixels && o->mod >= code->rows;
}

/* Has it one value for each pixel of each image? */
static bool is_map(const struct epilogue *code, const struct form_shape *s,
		   const struct epi_operand *o)
{
	bool images = o->row == s->pixels && o->div == s->channels && o->mod >= s->images;
	return s->pixels > 1 && s->channels > 1 && o->col == 1 && code->cols == s->pixels &&
	       (images || (s->images == 1 && o->row == 0));
}

static bool classify(const struct epilogue *code, const struct form_shape *s,
		     const struct epi_operand *o, const struct epi_place *place,
		     enum nhwc_operand *kind)
{
	bool full = o->col == 1 && (code->rows == 1 ||
				    (o->div == 1 && o->mod >= code->rows && o->row == code->cols));
	*kind = o->row == 0 && o->col == 0 ? OPERAND_ONE : OPERAND_CHANNEL;
	if (place->base == BASE_INPUT && !place->bytes && is_one_pixel(code, s, o)) {
		*kind = OPERAND_SPREAD;
		return true;
	}
	if (place->base == BASE_INPUT && !place->bytes && is_map(code, s, o)) {
		*kind = OPERAND_MAP;
		return true;
	}
	if (*kind == OPERAND_ONE || nhwc_is_channel(code, s, o))
		return place->base == BASE_CONST;
	*kind = place->base == BASE_OUTPUT ? OPERAND_WRITE : OPERAND_READ;
	return full && place->base != BASE_SCRATCH && (place->base == BASE_CONST || !place->bytes);
}

/* A constant of channels, once for each pixel of a tile. */
static float *repeat(const float *x, const struct form_shape *s)
{
	int64_t n = nhwc_tile(s), c = s->channels;
	float *y = MEM_NEWN(float, (size_t)(n * c));
	for (int64_t i = 0; i < n; i++)
		memcpy(y + i * c, x, (size_t)c * sizeof *y);
	return y;
}

/* Operand of a source that is a whole tensor, -1 for value 0; -2: neither. */
static int tensor_of(const struct nhwc_program *p, const struct epi_source *x)
{
	if (!x->operand)
		return x->index == 0 ? -1 : -2;
	return p->kind[x->index] == OPERAND_READ || p->kind[x->index] == OPERAND_WRITE ? x->index
										       : -2;
}

static bool reads_last(const struct epi_code *k, const struct epi_code *before)
{
	return !before->to.operand && !k->source[0].operand &&
	       k->source[0].index == before->to.index;
}

static void find_sum(struct nhwc_program *p)
{
	const struct epi_code *k = p->code.code;
	int n = p->code.n_code;
	if (n < 2 || n > 3 || k[0].kind != OP_ADD || k[n - 1].kind != OP_FAKE_QUANTIZE ||
	    !reads_last(&k[1], &k[0]) ||
	    (n == 3 && (k[1].kind != OP_RELU || !reads_last(&k[2], &k[1]))))
		return;
	for (int i = 0; i < 2; i++)
		p->addend[i] = tensor_of(p, &k[0].source[i]);
	p->sum = tensor_of(p, &k[n - 1].to);
	p->positive = n == 3;
	p->adds = p->addend[0] > -2 && p->addend[1] > -2 && p->sum > -2;
}

bool nhwc_program_add(const struct nhwc_program *p, const struct nhwc_tensor *memory,
		      const struct nhwc_tensor value[2], int64_t first, int64_t n)
{
	const struct nhwc_tensor *m[3];
	const void *at[3];
	if (!p->adds)
		return false;
	for (int i = 0; i < 3; i++) {
		int o = i < 2 ? p->addend[i] : p->sum;
		if (o < 0 && !value)
			return false;
		m[i] = o < 0 ? &value[i == 2] : &memory[o];
		if (!form_in_codes(&m[i]->form) || m[i]->form.scales)
			return false;
		at[i] = (const char *)m[i]->data + (o < 0 ? 0 : first);
	}
	form_add(&m[0]->form, at[0], &m[1]->form, at[1], n, &m[2]->form,
		 p->positive ? 0 : -INFINITY, (void *)(uintptr_t)at[2]);
	return true;
}

bool nhwc_program_init(struct nhwc_program *p, const struct epilogue *code,
		       const struct epi_place *place, const struct tensor *out)
{
	bool used[EPI_OPERANDS] = {false};
	p->shape = form_shape_of(out);
	p->code = *code;
	p->n_memory = p->n_write = 0;
	for (int i = 0; i < p->code.n_code; i++) {
		const struct epi_code *k = &p->code.code[i];
		for (int j = 0; j < k->n_sources; j++)
			if (k->source[j].operand)
				used[k->source[j].index] = true;
		if (k->to.operand)
			used[k->to.index] = true;
	}
	for (int i = 0; i < p->code.n_operands; i++) {
		struct epi_operand *o = &p->code.operand[i];
		const struct epi_place *pl = p->place + i;
		p->place[i] = place[i];
		p->kind[i] = OPERAND_ONE;
		if (!used[i])
			continue;
		if (!classify(code, &p->shape, &code->operand[i], pl, &p->kind[i]))
			return false;
		p->n_memory += nhwc_operand_is_memory(p->kind[i]);
		p->n_write += p->kind[i] == OPERAND_WRITE;
		const char *at = pl->data ? (const char *)pl->data + pl->bytes : NULL;
		const float *x = (const float *)(const void *)at;
		*o = (struct epi_operand){
			.div = 1, .mod = 1, .row = 0, .col = p->kind[i] != OPERAND_ONE};
		if (p->kind[i] == OPERAND_ONE)
			o->data = (float *)(uintptr_t)x;
		else if (p->kind[i] == OPERAND_CHANNEL)
			o->data = p->repeated[i] = repeat(x, &p->shape);
	}
	p->code.rows = 1;
	find_sum(p);
	nhwc_program_line_init(p);
	return true;
}

void nhwc_program_release(struct nhwc_program *p)
{
	for (int i = 0; i < EPI_OPERANDS; i++)
		mem_free(p->repeated[i]);
}

int64_t nhwc_program_floats(const struct nhwc_program *p, int64_t n)
{
	return (int64_t)p->n_memory * ((n * p->shape.channels + 15) / 16 * 16);
}

/* x (channels) behind itself, n times in all. */
static void repeat_pixel(float *x, int64_t channels, int64_t n)
{
	for (int64_t i = 1; i < n; i++)
		memcpy(x + i * channels, x, (size_t)channels * sizeof *x);
}

/* One value for each of n pixels, the last of those at x, from the first on as often as there are channels. */
static void spread_map(float *x, int64_t channels, int64_t n)
{
	const float *from = x + n * channels - n;
	for (int64_t i = 0; i < n; i++)
		vec_fill(from[i], x + i * channels, channels);
}

/* Where a tensor has the floats of these pixels one after another; NULL: it lies otherwise. */
static float *floats_at(const struct nhwc_tensor *m, const struct form_shape *s, int64_t image,
			int64_t first)
{
	if (m->form.elem != EL_F32 || (!m->form.nhwc && s->pixels > 1))
		return NULL;
	return (float *)m->data + (image * s->pixels + first) * s->channels;
}

static bool reads(const struct epi_code *k, const struct epi_source *x)
{
	for (int i = 0; i < k->n_sources; i++)
		if (k->source[i].operand == x->operand && k->source[i].index == x->index)
			return true;
	return false;
}

void nhwc_program_leave_rounding(const struct nhwc_program *p, struct epilogue *code,
				 const struct nhwc_tensor *memory, const struct mem_form *result)
{
	for (int j = 0; j < code->n_code; j++) {
		struct epi_code *k = &code->code[j];
		bool last = true;
		if (k->kind != OP_FAKE_QUANTIZE)
			continue;
		for (int i = j + 1; i < code->n_code && last; i++)
			last = !reads(&code->code[i], &k->to);
		if (k->to.operand)
			last = last && p->kind[k->to.index] == OPERAND_WRITE &&
			       form_in_codes(&memory[k->to.index].form);
		else
			last = last && j + 1 == code->n_code && k->to.index == 0 && result &&
			       form_in_codes(result);
		if (last) {
			k->kind = OP_RESULT;
			k->n_sources = 1;
		}
	}
}

bool nhwc_program_hswish(const struct epilogue *code)
{
	const struct epi_code *k = code->code, *last = &k[code->n_code - 1];
	const struct epi_source *x = &k[0].source[0];
	return code->n_code >= 1 && code->n_code <= 2 && k[0].kind == OP_HSWISH && !x->operand &&
	       x->index == 0 && !last->to.operand && last->to.index == 0 &&
	       (code->n_code == 1 || (last->kind == OP_RESULT && reads(last, &k[0].to)));
}

void nhwc_program_run(const struct nhwc_program *p, struct epilogue *code,
		      const struct nhwc_tensor *memory, int64_t image, int64_t first, int64_t n,
		      float *c, float *scratch)
{
	int64_t floats = n * p->shape.channels, step = (floats + 15) / 16 * 16;
	const struct form_shape one = {p->shape.images, p->shape.channels, 1};
	const struct form_shape map = {p->shape.images, 1, p->shape.pixels};
	float *at = scratch;
	for (int i = 0; i < code->n_operands; i++) {
		if (!nhwc_operand_is_memory(p->kind[i]))
			continue;
		float *there = p->kind[i] == OPERAND_SPREAD || p->kind[i] == OPERAND_MAP
				       ? NULL
				       : floats_at(&memory[i], &p->shape, image, first);
		code->operand[i].data = there ? there : at;
		if (there)
			continue;
		if (p->kind[i] == OPERAND_SPREAD) {
			form_read(&memory[i].form, &one, memory[i].data, image, 0, 1, at);
			repeat_pixel(at, p->shape.channels, n);
		} else if (p->kind[i] == OPERAND_MAP) {
			form_read(&memory[i].form, &map, memory[i].data, image, first, n,
				  at + floats - n);
			spread_map(at, p->shape.channels, n);
		} else if (p->kind[i] == OPERAND_READ)
			form_read(&memory[i].form, &p->shape, memory[i].data, image, first, n, at);
		at += step;
	}
	code->cols = floats;
	cpu_epilogue_row(code, c, 0, 0, floats);
	for (int i = 0; i < code->n_operands; i++)
		if (p->kind[i] == OPERAND_WRITE &&
		    code->operand[i].data != floats_at(&memory[i], &p->shape, image, first))
			form_write(&memory[i].form, &p->shape, memory[i].data, image, first, n,
				   code->operand[i].data);
}

bool nhwc_images_join(const struct nhwc_program *p, const struct nhwc_tensor *memory,
		      const struct form_shape *shape)
{
	bool join = shape->images > 1;
	for (int i = 0; p && i < p->code.n_operands && join; i++)
		join = !nhwc_operand_is_memory(p->kind[i]) || p->kind[i] == OPERAND_MAP ||
		       (p->kind[i] != OPERAND_SPREAD &&
			(shape->pixels == 1 || !form_is_plain(&memory[i].form)));
	return join;
}
