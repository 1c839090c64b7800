/* problem.c - the parts of reading a problem that its JSON forms share. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/strtab.h"
#include "place/problem/problem.h"

/* Sums and quotients of what is not beyond these stay finite. */
static const double LARGEST = 1e100;

/* ---- numbers for values ---- */

struct id_table {
	struct strtab names; /* values as write_value writes them */
	struct arena *a;
	char *text; /* scratch: the value at hand */
	size_t n, cap;
};

struct id_table *id_table_new(struct arena *a)
{
	struct id_table *t = MEM_NEW(struct id_table);

	t->a = a;
	return t;
}

void id_table_free(struct id_table *t)
{
	if (!t)
		return;
	strtab_release(&t->names);
	mem_free(t->text);
	mem_free(t);
}

bool is_id(const struct val *v)
{
	return v && (val_type(v) == VAL_STR || val_type(v) == VAL_INT || val_digits(v));
}

static void append(struct id_table *t, const char *s, size_t n)
{
	t->text = mem_grow(t->text, &t->cap, t->n + n + 1, 1);
	memcpy(t->text + t->n, s, n);
	t->n += n;
	t->text[t->n] = 0;
}

/* Append a text that is the same for equal values alone. */
static void write_value(struct id_table *t, const struct val *v)
{
	const char *s = val_digits(v);
	char number[40];
	int64_t whole;
	double real;
	bool truth, map = val_type(v) == VAL_MAP;
	size_t n = 0;

	if (s || val_int(v, &whole)) {
		append(t, "i", 1);
		if (!s)
			snprintf(number, sizeof(number), "%" PRId64, whole);
		append(t, s ? s : number, strlen(s ? s : number));
	} else if (val_type(v) == VAL_STR && val_bytes(v, &s, &n)) {
		snprintf(number, sizeof(number), "s%zu:", n);
		append(t, number, strlen(number));
		append(t, s, n);
	} else if (val_real(v, &real)) {
		bool is_whole = fabs(real) < 0x1p53 && real == floor(real);

		snprintf(number, sizeof(number), is_whole ? "i%.0f" : "r%.17g", real + 0.0);
		append(t, number, strlen(number));
	} else if (val_bool(v, &truth)) {
		append(t, truth ? "t" : "f", 1);
	} else {
		append(t, map ? "{" : val_type(v) == VAL_ARRAY ? "[" : "n", 1);
		for (size_t i = 0; i < val_count(v); i++) {
			if (map)
				write_value(t, val_key_at(v, i));
			write_value(t, map ? val_value_at(v, i) : val_at(v, i));
			append(t, ",", 1);
		}
	}
}

uint32_t id_table_find(struct id_table *t, const struct val *v)
{
	if (!v)
		return UINT32_MAX;
	t->n = 0;
	write_value(t, v);
	return strtab_find(&t->names, t->text);
}

uint32_t id_table_add(struct id_table *t, const struct val *v, bool *is_new)
{
	uint32_t i = id_table_find(t, v);

	*is_new = i == UINT32_MAX;
	return *is_new ? strtab_add(&t->names, arena_strndup(t->a, t->text, t->n)) : i;
}

/* ---- keys ---- */

int problem_list(const struct val *map, const char *key, const struct val **list, uint32_t *n,
		 struct err *e)
{
	if (get_list(map, key, list, e) < 0)
		return -1;
	if (val_count(*list) >= UINT32_MAX / 2)
		return err_set(e, ST_INPUT, "'%s' has too many entries", key);
	*n = (uint32_t)val_count(*list);
	for (uint32_t i = 0; i < *n; i++)
		if (val_type(val_at(*list, i)) != VAL_MAP)
			return err_set(e, ST_INPUT, "%s[%u] is not an object", key, i);
	return 0;
}

int problem_number(const struct val *map, const char *key, bool needed, double *out, struct err *e)
{
	const struct val *v = val_get(map, key);
	double x = 0;

	if (!needed && (!v || val_type(v) == VAL_NIL))
		return 0;
	if (get_real(map, key, &x, e) < 0)
		return -1;
	if (x < 0)
		return err_set(e, ST_INPUT, "key '%s' is negative", key);
	if (x > LARGEST)
		return err_set(e, ST_INPUT, "key '%s' is more than %g", key, LARGEST);
	*out = x;
	return 0;
}

int problem_bytes(const struct val *map, const char *key, uint64_t *out, struct err *e)
{
	double x = (double)*out;

	if (problem_number(map, key, false, &x, e) < 0)
		return -1;
	if (x > PROBLEM_MOST_BYTES)
		return err_set(e, ST_INPUT, "key '%s' is more than 2^62 bytes", key);
	*out = (uint64_t)ceil(x);
	return 0;
}

int problem_limit(const struct val *map, const char *key, uint64_t *out, struct err *e)
{
	double x = (double)*out;

	if (problem_number(map, key, false, &x, e) < 0)
		return -1;
	*out = x > PROBLEM_MOST_BYTES ? 0 : (uint64_t)(x > 0 ? fmax(1, floor(x)) : 0);
	return 0;
}

int problem_text(const struct val *map, const char *key, struct arena *a, const char **out,
		 struct err *e)
{
	const struct val *v = val_get(map, key);

	return !v || val_type(v) == VAL_NIL ? 0 : get_text(map, key, a, out, e);
}

void problem_alloc(struct problem *p, uint32_t n, struct arena *a)
{
	p->n = n;
	p->id = ARENA_NEWN(a, int64_t, n);
	p->node_name = ARENA_NEWN(a, const char *, n);
	p->type = ARENA_NEWN(a, const char *, n);
	p->cost_s = ARENA_NEWN(a, double, (size_t)n * p->devs.k);
	p->mem_bytes = ARENA_NEWN(a, uint64_t, n);
	p->out_bytes = ARENA_NEWN(a, uint64_t, n);
	for (uint32_t v = 0; v < n; v++) {
		p->id[v] = v;
		p->type[v] = "Node";
	}
}
