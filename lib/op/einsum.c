/* einsum.c - see einsum.h. */
#include "op/einsum.h"

#include <string.h>

static int bad_equation(const char *equation, struct err *e)
{
	char text[80];
	return err_set(e, ST_INPUT, "Einsum's equation '%s' does not fit its inputs",
		       err_escape(text, sizeof text, equation, strlen(equation)));
}

static int letter(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;
}

/* One term up to `end` into labels; *n counts them.  `dots` dims are meant by "...": labels
 * from 52 + TENSOR_DIMS - dots on, so that they line up at the right. */
static int read_term(const char *p, const char *end, int dots, int *label, int *n)
{
	*n = 0;
	for (; p < end; p++) {
		if (*p == ' ')
			continue;
		if (end - p >= 3 && !strncmp(p, "...", 3)) {
			for (int i = 0; i < dots; i++) {
				if (*n == TENSOR_DIMS)
					return -1;
				label[(*n)++] = EINSUM_LABELS - dots + i;
			}
			p += 2;
			continue;
		}
		if (letter(*p) < 0 || *n == TENSOR_DIMS)
			return -1;
		label[(*n)++] = letter(*p);
	}
	return 0;
}

static int count_letters(const char *p, const char *end)
{
	int n = 0;
	for (; p < end; p++)
		n += letter(*p) >= 0;
	return n;
}

static bool has_dots(const char *p, const char *end)
{
	const char *dots = strstr(p, "...");
	return dots && dots < end;
}

/* The labels of input i meet its dims. */
static bool take_sizes(struct einsum *s, const struct tensor *t, const int *label)
{
	for (uint32_t d = 0; d < t->rank; d++) {
		int64_t *size = &s->size[label[d]];
		bool seen = s->used[label[d]];
		if (seen && *size != t->dim[d] && *size != 1 && t->dim[d] != 1)
			return false;
		if (!seen || *size == 1)
			*size = t->dim[d];
		s->used[label[d]] = true;
	}
	return true;
}

static void implied_output(struct einsum *s, const struct tensor *in, int dots)
{
	int times[EINSUM_LABELS] = {0};
	for (int i = 0; i < s->n_in; i++)
		for (uint32_t d = 0; d < in[i].rank; d++)
			times[s->label[i][d]]++;
	for (int i = 0; i < dots; i++)
		s->out[s->n_out++] = EINSUM_LABELS - dots + i;
	for (int l = 0; l < 52; l++)
		if (times[l] == 1 && s->n_out < TENSOR_DIMS)
			s->out[s->n_out++] = l;
}

int einsum_parse(struct einsum *s, const char *equation, const struct tensor *in, int n_in,
		 struct err *e)
{
	if (!equation || n_in < 1 || n_in > EINSUM_INPUTS)
		return err_set(e, ST_INPUT, "Einsum without an equation or with %d inputs", n_in);
	*s = (struct einsum){.n_in = n_in};
	const char *arrow = strstr(equation, "->"), *p = equation;
	const char *end = arrow ? arrow : equation + strlen(equation);
	int most = 0;
	for (int i = 0; i < n_in; i++) {
		const char *stop = memchr(p, ',', (size_t)(end - p));
		int n, dots = 0;
		if (!stop)
			stop = end;
		if ((stop == end) != (i == n_in - 1))
			return bad_equation(equation, e);
		if (has_dots(p, stop))
			dots = (int)in[i].rank - count_letters(p, stop);
		if (dots < 0 || read_term(p, stop, dots, s->label[i], &n) || n != (int)in[i].rank ||
		    !take_sizes(s, &in[i], s->label[i]))
			return bad_equation(equation, e);
		most = dots > most ? dots : most;
		p = stop < end ? stop + 1 : stop;
	}
	if (!arrow) {
		implied_output(s, in, most);
		return 0;
	}
	p = arrow + 2;
	if (read_term(p, p + strlen(p), most, s->out, &s->n_out))
		return bad_equation(equation, e);
	for (int i = 0; i < s->n_out; i++) {
		if (!s->used[s->out[i]])
			return bad_equation(equation, e);
		for (int j = 0; j < i; j++)
			if (s->out[i] == s->out[j])
				return bad_equation(equation, e);
	}
	return 0;
}
