/* jsonproblem_keys.c - the parts of reading a problem that its JSON forms share. */
#include <math.h>

#include "place/problem/jsonproblem_keys.h"

/* Sums and quotients of what is not beyond these stay finite. */
static const double LARGEST = 1e100;

int json_problem_list(const struct val *map, const char *key, const struct val **list, uint32_t *n,
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

int json_problem_number(const struct val *map, const char *key, bool needed, double *out,
			struct err *e)
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

int json_problem_bytes(const struct val *map, const char *key, uint64_t *out, struct err *e)
{
	double x = (double)*out;

	if (json_problem_number(map, key, false, &x, e) < 0)
		return -1;
	if (x > JSON_PROBLEM_MAX_BYTES)
		return err_set(e, ST_INPUT, "key '%s' is more than 2^62 bytes", key);
	*out = (uint64_t)ceil(x);
	return 0;
}

int json_problem_limit(const struct val *map, const char *key, uint64_t *out, struct err *e)
{
	double x = (double)*out;

	if (json_problem_number(map, key, false, &x, e) < 0)
		return -1;
	*out = x > JSON_PROBLEM_MAX_BYTES ? 0 : (uint64_t)(x > 0 ? fmax(1, floor(x)) : 0);
	return 0;
}

int json_problem_text(const struct val *map, const char *key, struct arena *a, const char **out,
		      struct err *e)
{
	const struct val *v = val_get(map, key);

	return !v || val_type(v) == VAL_NIL ? 0 : get_text(map, key, a, out, e);
}

void json_problem_alloc(struct json_problem *p, uint32_t n, struct arena *a)
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
