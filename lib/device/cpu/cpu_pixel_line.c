/* cpu_pixel_line.c - programs that multiply, add and limit, in one pass over what they read. */
#include "device/cpu/cpu_form_line.h"
#include "device/cpu/cpu_pixel_impl.h"

#include <math.h>

/* Where a source is: an operand, LINE_VALUE for value 0, LINE_NONE for another value. */
static int place_of(const struct epi_source *s)
{
	return s->operand ? s->index : s->index == 0 ? LINE_VALUE : LINE_NONE;
}

static bool is_tensor(const struct pixel_program *p, int at)
{
	return at == LINE_VALUE || (at >= 0 && p->kind[at] == PIXEL_READ);
}

static bool is_factor(const struct pixel_program *p, int at)
{
	return at >= 0 && (p->kind[at] == PIXEL_CHANNEL || p->kind[at] == PIXEL_SPREAD);
}

/* Source j of an instruction is what the line has so far (of the first one: a tensor); where the other is. */
static bool takes(const struct pixel_program *p, const struct pixel_line *l,
		  const struct epi_code *k, int value, int j, int *other)
{
	const struct epi_source *s = &k->source[j];
	if (l->x != LINE_NONE && (s->operand || s->index != value))
		return false;
	if (l->x == LINE_NONE && !is_tensor(p, place_of(s)))
		return false;
	*other = place_of(&k->source[1 - j]);
	return true;
}

static bool add_code(const struct pixel_program *p, struct pixel_line *l, const struct epi_code *k,
		     int value)
{
	bool limited = l->lo > -INFINITY || l->hi < INFINITY, sum = k->kind == OP_ADD,
	     product = k->kind == OP_MULTIPLY;
	int other;
	if (limited || k->n_sources < 1 || k->n_sources > 2 ||
	    (k->n_sources == 2) != (sum || product))
		return false;
	if (sum || product) {
		for (int j = 0; j < 2; j++) {
			if (!takes(p, l, k, value, j, &other))
				continue;
			if (product ? !is_factor(p, other) || l->m != LINE_NONE || l->a != LINE_NONE
				    : (!is_tensor(p, other) && !is_factor(p, other)) ||
					      l->a != LINE_NONE)
				continue;
			if (l->x == LINE_NONE)
				l->x = place_of(&k->source[j]);
			*(product ? &l->m : &l->a) = other;
			return true;
		}
		return false;
	}
	if ((k->kind != OP_RELU && k->kind != OP_CLAMP) || l->x == LINE_NONE ||
	    k->source[0].operand || k->source[0].index != value)
		return false;
	l->lo = k->kind == OP_RELU ? 0 : k->args.a;
	l->hi = k->kind == OP_RELU ? INFINITY : k->args.b;
	return true;
}

void pixel_line_init(struct pixel_program *p)
{
	struct pixel_line l = {
		.x = LINE_NONE, .m = LINE_NONE, .a = LINE_NONE, .lo = -INFINITY, .hi = INFINITY};
	int value = -1;
	p->line = l;
	for (int i = 0; i < p->code.n_code; i++) {
		const struct epi_code *k = &p->code.code[i];
		bool last = i + 1 == p->code.n_code;
		if ((k->to.operand && !last) || !add_code(p, &l, k, value))
			return;
		value = k->to.index;
		l.y = place_of(&k->to);
	}
	l.there = p->code.n_code > 0 && l.y != LINE_NONE;
	p->line = l;
}

/* The piece of a tensor that begins with pixel `first` of an image; false: it lies otherwise than in pixels of f32 or bf16. */
static bool find_piece(const struct pixel_memory *m, const struct form_shape *s, int64_t image,
		       int64_t first, const void **at, bool *narrow)
{
	*narrow = m->form.elem == EL_BF16;
	if ((m->form.elem != EL_F32 && !*narrow) || (!m->form.pixels && s->pixels > 1))
		return false;
	*at = (const char *)m->data +
	      (image * s->pixels + first) * s->channels * form_size(m->form.elem);
	return true;
}

/* An operand that repeats: a constant of channels, or one pixel of an image into room (channels).  *pixel: one pixel of it
 * is there, not a tile. */
static const float *repeating(const struct pixel_program *p, const struct pixel_memory *memory,
			      int o, int64_t image, float *room, bool *pixel)
{
	const struct form_shape one = {p->shape.images, p->shape.channels, 1};
	if (p->kind[o] == PIXEL_CHANNEL)
		return p->repeated[o];
	form_read(&memory[o].form, &one, memory[o].data, image, 0, 1, room);
	*pixel = true;
	return room;
}

bool pixel_line_run(const struct pixel_program *p, const struct pixel_memory *memory,
		    const struct pixel_memory value[2], int64_t image, int64_t first, int64_t n,
		    float *room)
{
	const struct pixel_line *l = &p->line;
	const struct form_shape *s = &p->shape;
	struct form_line line = {.lo = l->lo, .hi = l->hi};
	const void *from[3] = {NULL}; /* x, a, y: tensors that are walked through */
	bool narrow[3] = {false}, pixel = false;
	if (!l->there)
		return false;
	for (int i = 0, o; i < 3; i++) {
		if ((o = i == 0 ? l->x : i == 1 ? l->a : l->y) == LINE_NONE || is_factor(p, o))
			continue;
		if (o == LINE_VALUE
			    ? !value || !find_piece(&value[i == 2], s, 0, 0, &from[i], &narrow[i])
			    : !find_piece(&memory[o], s, image, first, &from[i], &narrow[i]))
			return false;
	}
	line.x_bf16 = narrow[0];
	line.a_bf16 = narrow[1];
	line.y_bf16 = narrow[2];
	if ((narrow[0] || narrow[1] || narrow[2]) && !form_line_narrow())
		return false;
	int64_t c = s->channels, all = n * c, step = all;
	if (l->m != LINE_NONE) {
		line.m = repeating(p, memory, l->m, image, room, &pixel);
		step = pixel_program_tile(s) * c;
	}
	if (l->a != LINE_NONE && !from[1]) {
		line.a = repeating(p, memory, l->a, image, room + c, &pixel);
		step = pixel_program_tile(s) * c;
	}
	step = pixel ? c : step;
	for (int64_t i = 0; i < all; i += step) {
		line.x = (const char *)from[0] + i * (narrow[0] ? 2 : 4);
		line.y = (char *)(uintptr_t)from[2] + i * (narrow[2] ? 2 : 4);
		if (from[1])
			line.a = (const char *)from[1] + i * (narrow[1] ? 2 : 4);
		form_line(&line, all - i < step ? all - i : step);
	}
	return true;
}
