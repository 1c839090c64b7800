/* nhwc_program_line.c - programs that multiply, add and limit, in few passes over what they read. */
#include "kernel/nhwc/nhwc_line.h"
#include "kernel/nhwc/nhwc_program.h"

#include <math.h>

/* ---- which programs ---- */

/* Where a source is: an operand, LINE_VALUE for value 0, LINE_NONE for another value. */
static int place_of(const struct epi_source *s)
{
	return s->operand ? s->index : s->index == 0 ? LINE_VALUE : LINE_NONE;
}

static bool is_tensor(const struct nhwc_program *p, int at)
{
	return (at == LINE_VALUE && !p->line.covered) || (at >= 0 && p->kind[at] == OPERAND_READ);
}

/* Is it the same for every pixel of an image? */
static bool repeats(const struct nhwc_program *p, int at)
{
	return at >= 0 && (p->kind[at] == OPERAND_ONE || p->kind[at] == OPERAND_CHANNEL ||
			   p->kind[at] == OPERAND_SPREAD);
}

/* Can nothing follow but limits, or not even these? */
static bool is_limited(const struct line_pass *s)
{
	return s->also != LINE_NONE || s->slope != 1 || s->lo > -INFINITY || s->hi < INFINITY;
}

/* The next pass, which begins with what the last one made; NULL: there are too many. */
static struct line_pass *new_pass(struct nhwc_program_line *l)
{
	if (l->n == LINE_PASSES)
		return NULL;
	struct line_pass *s = &l->pass[l->n++];
	*s = (struct line_pass){.m = LINE_NONE,
				.a = LINE_NONE,
				.also = LINE_NONE,
				.x_sign = 1,
				.a_sign = 1,
				.slope = 1,
				.lo = -INFINITY,
				.hi = INFINITY};
	return s;
}

/* Is a source the line's value so far, which is where the last instruction put it (NULL: it is the first)?  Of the first
 * instruction, is it a tensor? */
static bool is_value(const struct nhwc_program *p, const struct epi_source *s,
		     const struct epi_source *value)
{
	return !value ? is_tensor(p, place_of(s))
		      : s->operand == value->operand && s->index == value->index;
}

static bool add_binary(const struct nhwc_program *p, struct nhwc_program_line *l,
		       const struct epi_code *k, const struct epi_source *value)
{
	bool product = k->kind == OP_MULTIPLY, less = k->kind == OP_SUBTRACT;
	if (!product && !less && k->kind != OP_ADD)
		return false;
	/* Value 0 rather than an operand is x. */
	int from = place_of(&k->source[1]) == LINE_VALUE;
	for (int i = 0, j = from; i < 2; i++, j = 1 - j) {
		int other = place_of(&k->source[1 - j]);
		struct line_pass *s = l->n ? &l->pass[l->n - 1] : NULL;
		if (!is_value(p, &k->source[j], value) ||
		    !(repeats(p, other) || (!product && is_tensor(p, other))))
			continue;
		bool turned = less && j == 1;
		if (!s || is_limited(s) || s->a != LINE_NONE ||
		    ((product || turned) && s->m != LINE_NONE))
			s = new_pass(l);
		if (!s)
			return false;
		if (l->x == LINE_NONE)
			l->x = place_of(&k->source[j]);
		if (product) {
			s->m = other;
			return true;
		}
		s->a = other;
		s->a_sign = less && j == 0 ? -1 : 1;
		s->x_sign = turned ? -1 : 1;
		return true;
	}
	return false;
}

static bool add_limit(const struct nhwc_program *p, struct nhwc_program_line *l,
		      const struct epi_code *k, const struct epi_source *value)
{
	int slope = k->kind == OP_PRELU && k->n_sources == 2 ? place_of(&k->source[1]) : LINE_NONE;
	if ((k->kind != OP_RELU && k->kind != OP_CLAMP &&
	     (slope < 0 || p->kind[slope] != OPERAND_ONE)) ||
	    !is_value(p, &k->source[0], value))
		return false;
	struct line_pass *s =
		l->n && !is_limited(&l->pass[l->n - 1]) ? &l->pass[l->n - 1] : new_pass(l);
	if (!s)
		return false;
	if (l->x == LINE_NONE)
		l->x = place_of(&k->source[0]);
	if (slope >= 0)
		s->slope = p->code.operand[slope].data[0];
	s->lo = k->kind == OP_RELU ? 0 : k->kind == OP_CLAMP ? k->args.a : -INFINITY;
	s->hi = k->kind == OP_CLAMP ? k->args.b : INFINITY;
	return true;
}

/* A constant of one value, for each element of a tile. */
static void repeat_one(struct nhwc_program *p, int o)
{
	if (o < 0 || p->kind[o] != OPERAND_ONE || p->repeated[o])
		return;
	int64_t n = nhwc_tile(&p->shape) * p->shape.channels;
	p->repeated[o] = MEM_NEWN(float, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		p->repeated[o][i] = p->code.operand[o].data[0];
}

void nhwc_program_line_init(struct nhwc_program *p)
{
	struct nhwc_program_line l = {.x = LINE_NONE, .y = LINE_NONE};
	const struct epi_source *value = NULL;
	p->line = l;
	for (int i = 0; i < p->code.n_code; i++) {
		const struct epi_code *k = &p->code.code[i];
		l.rounds = k->kind == OP_FAKE_QUANTIZE && i > 0 && i + 1 == p->code.n_code &&
			   is_value(p, &k->source[0], value);
		/* What the last pass made goes elsewhere, too: codes are made of it by one more. */
		if (l.rounds && l.pass[l.n - 1].also != LINE_NONE && !new_pass(&l))
			return;
		if (!l.rounds && !add_limit(p, &l, k, value) &&
		    (k->n_sources != 2 || !add_binary(p, &l, k, value)))
			return;
		value = &k->to;
		l.y = place_of(&k->to);
		p->line.covered = p->line.covered || l.y == LINE_VALUE;
		if (k->to.operand && i + 1 < p->code.n_code)
			l.pass[l.n - 1].also = l.y;
	}
	if (l.y == LINE_NONE)
		return;
	p->line = l;
	for (int i = 0; i < l.n; i++) {
		repeat_one(p, l.pass[i].m);
		repeat_one(p, l.pass[i].a);
	}
}

int nhwc_program_line_adds(const struct nhwc_program *p, float *lo, float *hi)
{
	const struct nhwc_program_line *l = &p->line;
	const struct line_pass *s = &l->pass[0];
	int other = l->x == LINE_VALUE ? s->a : l->x;
	if (l->n != 1 || l->rounds || l->y != LINE_VALUE ||
	    (l->x != LINE_VALUE && s->a != LINE_VALUE) || other < 0 ||
	    p->kind[other] != OPERAND_READ || s->m != LINE_NONE || s->also != LINE_NONE ||
	    s->x_sign != 1 || s->a_sign != 1 || s->slope != 1)
		return -1;
	*lo = s->lo;
	*hi = s->hi;
	return other;
}

/* ---- running ---- */

/* A tensor that is walked through, NULL: there is none. */
struct walk {
	const char *at;
	int64_t size; /* of an element */
	const struct mem_form *form;
};

static bool in_codes(const struct walk *w)
{
	return w->size == 1;
}

/* The tensor's piece that begins with pixel `first` of an image; false: it does not lie in pixels, or there are no instructions. */
static bool find_walk(const struct nhwc_tensor *m, const struct form_shape *s, int64_t image,
		      int64_t first, struct walk *w)
{
	enum elem elem = m->form.elem;
	bool can = elem == EL_F32 ||
		   (elem == EL_BF16 ? form_line_narrow() : form_line_codes() && !m->form.scales);
	if (!can || (!m->form.nhwc && s->pixels > 1))
		return false;
	w->form = &m->form;
	w->size = form_size(m->form.elem);
	w->at = (const char *)m->data + (image * s->pixels + first) * s->channels * w->size;
	return true;
}

struct line_run {
	const struct nhwc_program *p;
	const struct nhwc_tensor *memory, *value;
	int64_t image, first;
	struct walk x, y, a[LINE_PASSES], also[LINE_PASSES];
	const float *m[LINE_PASSES], *same[LINE_PASSES]; /* what repeats: m, a */
	float *room;                                     /* for the next pixel that is read */
	int64_t step; /* elements after which all of it repeats; 0: never */
};

static bool find_tensor(const struct line_run *r, int o, bool after, struct walk *w)
{
	if (o == LINE_VALUE)
		return r->value && find_walk(&r->value[after], &r->p->shape, 0, 0, w);
	return find_walk(&r->memory[o], &r->p->shape, r->image, r->first, w);
}

/* Constants, once for each element of a tile; of an input the image's one pixel. */
static const float *find_repeating(struct line_run *r, int o)
{
	const struct nhwc_program *p = r->p;
	const struct form_shape one = {p->shape.images, p->shape.channels, 1};
	int64_t tile = nhwc_tile(&p->shape) * one.channels;
	if (p->kind[o] != OPERAND_SPREAD) {
		r->step = r->step ? r->step : tile;
		return p->repeated[o];
	}
	float *room = r->room;
	form_read(&r->memory[o].form, &one, r->memory[o].data, r->image, 0, 1, room);
	r->room += one.channels;
	r->step = one.channels;
	return room;
}

static bool find_all(struct line_run *r)
{
	const struct nhwc_program_line *l = &r->p->line;
	if (l->n == 0 || !find_tensor(r, l->x, false, &r->x) ||
	    !find_tensor(r, l->y, true, &r->y) || l->rounds != in_codes(&r->y))
		return false;
	bool narrow = r->x.size == 2 || r->y.size == 2, codes = in_codes(&r->x) || in_codes(&r->y);
	for (int i = 0; i < l->n; i++) {
		int m = l->pass[i].m, a = l->pass[i].a;
		if (l->pass[i].also != LINE_NONE &&
		    (!find_tensor(r, l->pass[i].also, true, &r->also[i]) || in_codes(&r->also[i])))
			return false;
		if (m != LINE_NONE)
			r->m[i] = find_repeating(r, m);
		if (a != LINE_NONE && repeats(r->p, a))
			r->same[i] = find_repeating(r, a);
		else if (a != LINE_NONE &&
			 (!find_tensor(r, a, false, &r->a[i]) || in_codes(&r->a[i])))
			return false;
		narrow = narrow || r->a[i].size == 2;
	}
	return !(codes && narrow);
}

/* n elements from element `first` on; between passes they are in tile. */
static void run_passes(const struct line_run *r, int64_t first, int64_t n, float *tile)
{
	const struct nhwc_program_line *l = &r->p->line;
	for (int i = 0; i < l->n; i++) {
		const struct line_pass *s = &l->pass[i];
		const struct walk *a = &r->a[i];
		bool last = i + 1 == l->n;
		struct form_line line = {
			.x = i ? (const char *)tile : r->x.at + first * r->x.size,
			.x_elem = i ? EL_F32 : r->x.form->elem,
			.x_scale = r->x.form->scale,
			.x_zero = r->x.form->zero,
			.m = r->m[i],
			.a = a->at ? (const void *)(a->at + first * a->size) : r->same[i],
			.a_elem = a->at ? a->form->elem : EL_F32,
			.y = last ? (char *)(uintptr_t)r->y.at + first * r->y.size : (char *)tile,
			.y_elem = last ? r->y.form->elem : EL_F32,
			.y_by = r->y.form->by,
			.y_shift = r->y.form->shift,
			.x_sign = s->x_sign,
			.a_sign = s->a_sign,
			.slope = s->slope,
			.lo = s->lo,
			.hi = s->hi};
		form_line(&line, n);
		if (r->also[i].at)
			form_line(&(struct form_line){.x = tile,
						      .x_elem = EL_F32,
						      .a_elem = EL_F32,
						      .y = (char *)(uintptr_t)r->also[i].at +
							   first * r->also[i].size,
						      .y_elem = r->also[i].form->elem,
						      .x_sign = 1,
						      .a_sign = 1,
						      .slope = 1,
						      .lo = -INFINITY,
						      .hi = INFINITY},
				  n);
	}
}

int64_t nhwc_program_line_floats(const struct nhwc_program *p)
{
	int64_t c = p->shape.channels;
	return (2 * LINE_PASSES + 1) * c + (c > NHWC_FLOATS ? c : NHWC_FLOATS);
}

bool nhwc_program_line_run(const struct nhwc_program *p, const struct nhwc_tensor *memory,
			   const struct nhwc_tensor value[2], int64_t image, int64_t first,
			   int64_t n, float *room)
{
	struct line_run r = {.p = p,
			     .memory = memory,
			     .value = value,
			     .image = image,
			     .first = first,
			     .room = room};
	if (!find_all(&r))
		return false;
	int64_t all = n * p->shape.channels, step = r.step ? r.step : all;
	if (p->line.n > 1 && step > NHWC_FLOATS && !r.step)
		step = NHWC_FLOATS;
	for (int64_t i = 0; i < all; i += step)
		run_passes(&r, i, all - i < step ? all - i : step, r.room);
	return true;
}
