/* cpu_int8_program.c - element-wise operators over (pixels, channels), whatever form their operands lie in. */
#include "device/cpu/cpu_int8_impl.h"

/* Operand o of a matrix with `cols` columns over the elements of (images, channels, pixels). */
static bool classify(const struct epilogue *code, const struct form_shape *s, struct epi_operand *o,
		     const struct fuse_place *place, enum pixel_operand *kind, bool *flat)
{
	bool full = o->col == 1 && (code->rows == 1 ||
				    (o->div == 1 && o->mod >= code->rows && o->row == code->cols));
	bool planes = o->col == 0 && o->row == 1 && code->cols * o->div == s->pixels &&
		      (o->mod == s->channels || (s->images == 1 && o->mod >= s->channels));
	bool columns = s->pixels == 1 && o->col == 1 && o->row == 0 && code->cols == s->channels;
	*kind = PIXEL_FIXED;
	if (o->row == 0 && o->col == 0)
		return place->base == BASE_CONST;
	if (planes || columns) {
		*o = (struct epi_operand){NULL, 1, 1, 0, 1};
		*flat = false;
		return place->base == BASE_CONST;
	}
	if (!full || place->base == BASE_SCRATCH || (place->base != BASE_CONST && place->bytes))
		return false;
	*kind = place->base == BASE_OUTPUT ? PIXEL_WRITE : PIXEL_READ;
	return true;
}

bool pixel_program_init(struct pixel_program *p, const struct fuse_part *part,
			const struct tensor *out, int skip)
{
	bool used[EPI_OPERANDS] = {false};
	p->shape = form_shape_of(out);
	p->code = part->code;
	p->code.n_code -= skip;
	p->flat = true;
	p->n_read = p->n_write = 0;
	for (int i = 0; i < p->code.n_code; i++) {
		const struct epi_code *k = &p->code.code[i] + skip;
		for (int j = 0; j < k->n_sources; j++)
			if (k->source[j].operand)
				used[k->source[j].index] = true;
		if (k->to.operand)
			used[k->to.index] = true;
		p->code.code[i] = *k;
	}
	for (int i = 0; i < p->code.n_operands; i++) {
		p->place[i] = part->place[i];
		p->kind[i] = PIXEL_FIXED;
		if (!used[i])
			continue;
		if (!classify(&part->code, &p->shape, &p->code.operand[i], &p->place[i],
			      &p->kind[i], &p->flat))
			return false;
		p->n_read += p->kind[i] == PIXEL_READ;
		p->n_write += p->kind[i] == PIXEL_WRITE;
		if (p->kind[i] == PIXEL_FIXED) /* a constant */
			p->code.operand[i].data =
				(float *)(uintptr_t)((const char *)p->place[i].data +
						     p->place[i].bytes);
	}
	for (int i = 0; i < p->code.n_operands; i++)
		if (p->kind[i] != PIXEL_FIXED)
			p->code.operand[i] = (struct epi_operand){
				NULL, 1, INT64_MAX, p->flat ? 0 : p->shape.channels, 1};
	return true;
}

int64_t pixel_program_floats(const struct pixel_program *p, int64_t n)
{
	return (int64_t)(p->n_read + p->n_write) * ((n * p->shape.channels + 15) / 16 * 16);
}

void pixel_program_run(const struct pixel_program *p, struct epilogue *code,
		       const struct pixel_memory *memory, int64_t image, int64_t first, int64_t n,
		       float *c, float *scratch)
{
	int64_t floats = n * p->shape.channels, step = (floats + 15) / 16 * 16;
	float *at = scratch;
	for (int i = 0; i < code->n_operands; i++) {
		if (p->kind[i] == PIXEL_FIXED)
			continue;
		code->operand[i].data = at;
		if (p->kind[i] == PIXEL_READ)
			form_read(&memory[i].form, &p->shape, memory[i].data, image, first, n, at);
		at += step;
	}
	code->rows = p->flat ? 1 : n;
	code->cols = p->flat ? floats : p->shape.channels;
	for (int64_t row = 0; row < code->rows; row++)
		cpu_epilogue_row(code, c ? c + row * code->cols : NULL, row, 0, code->cols);
	for (int i = 0; i < code->n_operands; i++)
		if (p->kind[i] == PIXEL_WRITE)
			form_write(&memory[i].form, &p->shape, memory[i].data, image, first, n,
				   code->operand[i].data);
}
