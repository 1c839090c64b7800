/* moments.c - see moments.h. */
#include "learn/params/moments.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

void moments_put(struct rec_writer *w, const struct adam *a)
{
	put_uint(w, "t", a->t);
	put_vector(w, "m", TT_F32, a->n, a->m);
	put_vector(w, "v", TT_F32, a->n, a->v);
}

int moments_get(const struct val *map, struct adam *a, struct err *e)
{
	const uint64_t shape[1] = {a->n};
	struct arena *arena = arena_new();
	uint64_t t, got[1];
	float *m, *v;
	int rc = get_uint(map, "t", 0, INT64_MAX, &t, e);

	got[0] = shape[0];
	if (rc == 0)
		rc = get_tensor(map, "m", TT_F32, 1, got, arena, &m, e);
	if (rc == 0)
		rc = get_tensor(map, "v", TT_F32, 1, got, arena, &v, e);
	for (size_t i = 0; i < a->n && rc == 0; i++)
		if (!isfinite(m[i]) || !(v[i] >= 0) || !isfinite(v[i]))
			rc = err_set(e, ST_INPUT, "moments that no step of Adam gives");
	if (rc == 0) {
		a->t = t;
		if (a->n) {
			memcpy(a->m, m, a->n * sizeof(*m));
			memcpy(a->v, v, a->n * sizeof(*v));
		}
	}
	arena_free(arena);
	return rc;
}
