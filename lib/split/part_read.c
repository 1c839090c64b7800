/* part_read.c - what rules share: ranges that a part reads, and attributes that it has. */
#include "split/rules_impl.h"

#include <stdio.h>

void split_read(struct split_part *p, uint32_t i, int axis, int64_t lo, int64_t hi)
{
	p->need[i] = (struct split_need){axis, lo, hi, lo, hi};
}

bool split_aligned(const struct split_part *p, int64_t size)
{
	return p->lo % p->unit == 0 && (p->hi % p->unit == 0 || p->hi == size);
}

bool split_read_broadcast(struct split_facts *f, uint32_t v, struct split_part *p, uint32_t i,
			  uint32_t rank)
{
	struct tensor t;
	if (graph_source(f->g, v, i) == GRAPH_NONE)
		return true;
	if (!split_input_open(f, v, i, &t) || t.rank > rank)
		return false;
	int axis = p->axis - (int)(rank - t.rank);
	if (axis >= 0 && t.dim[axis] < 0)
		return false;
	if (axis >= 0 && t.dim[axis] != 1)
		split_read(p, i, axis, p->lo, p->hi);
	return true;
}

void split_edit(struct split_part *p, const char *key, const char *value)
{
	struct split_edit *x = &p->edit[p->n_edits++];
	x->key = key;
	snprintf(x->value, sizeof x->value, "%s", value);
}

void split_edit_list(struct split_part *p, const char *key, const int64_t *v, int n)
{
	char text[SPLIT_EDIT_TEXT] = "";
	for (int i = 0, at = 0; i < n; i++)
		at += snprintf(text + at, sizeof text - (size_t)at, "%s%lld", i ? "," : "",
			       (long long)v[i]);
	split_edit(p, key, text);
}
