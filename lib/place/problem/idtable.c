/* idtable.c - numbers for values, by a text that is the same for equal values alone. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/strtab.h"
#include "place/problem/idtable.h"

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

bool val_is_id(const struct val *v)
{
	return v && (val_type(v) == VAL_STR || val_type(v) == VAL_INT);
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
	const char *s;
	char number[40];
	int64_t whole;
	double real;
	bool truth, map = val_type(v) == VAL_MAP;
	size_t n = 0;

	if (val_int(v, &whole)) {
		snprintf(number, sizeof(number), "i%" PRId64, whole);
		append(t, number, strlen(number));
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
