/* grouprec.c - group records, and the numbers of groups. */
#include <stdlib.h>

#include "record/grouprec.h"

int group_decode(const struct rec *r, struct arena *a, struct group_rec *out, struct err *e)
{
	uint64_t n, shape[1] = {UINT64_MAX};
	struct group_rec x = {.method = ""};
	uint32_t seen = 0;

	if (get_uint(r->map, "graph", 0, UINT64_MAX, &x.graph, e) < 0 ||
	    get_uint(r->map, "n_groups", 0, UINT32_MAX, &n, e) < 0 ||
	    get_tensor(r->map, "group", TT_U32, 1, shape, a, &x.group, e) < 0)
		return err_prefix(e, "group");
	if (shape[0] >= UINT32_MAX || n > shape[0])
		return err_set(e, ST_INPUT, "group: more groups than sets");
	for (size_t i = 0; i < shape[0]; i++) {
		if (x.group[i] > seen || x.group[i] >= n)
			return err_set(e, ST_INPUT,
				       "group: groups are not numbered by their first set");
		seen += x.group[i] == seen;
	}
	if (seen != n)
		return err_set(e, ST_INPUT, "group: a group is empty");
	x.n_sets = (uint32_t)shape[0];
	x.n_groups = (uint32_t)n;
	*out = x;
	return 0;
}

int group_encode(const struct group_rec *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "group");
	put_uint(w, "graph", x->graph);
	put_text(w, "method", x->method);
	put_uint(w, "n_groups", x->n_groups);
	put_vector(w, "group", TT_U32, x->n_sets, x->group);
	return rec_end(w, e);
}

/* A class and one of its members. */
struct member {
	uint32_t class, at;
};

static int by_class(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

void group_first(uint32_t *class, uint32_t n)
{
	struct member *x = MEM_NEWN(struct member, n);

	for (uint32_t i = 0; i < n; i++)
		x[i] = (struct member){class[i], i};
	if (n > 1)
		qsort(x, n, sizeof(*x), by_class);
	for (uint32_t i = 0; i < n; i++)
		class[x[i].at] = i && x[i].class == x[i - 1].class ? class[x[i - 1].at] : x[i].at;
	mem_free(x);
}

uint32_t group_number(uint32_t *group, uint32_t n)
{
	uint32_t n_groups = 0;

	group_first(group, n);
	for (uint32_t i = 0; i < n; i++)
		group[i] = group[i] == i ? n_groups++ : group[group[i]];
	return n_groups;
}
