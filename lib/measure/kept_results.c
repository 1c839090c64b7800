/* kept_results.c - see kept_results.h. */
#include "measure/kept_results.h"

#include <string.h>

void kept_results_init(struct kept_results *x, const struct session *s, struct arena *a)
{
	*x = (struct kept_results){.s = s, .copy = ARENA_NEWN(a, void **, 1 + (size_t)s->n_more)};
	for (uint32_t i = 0; i <= s->n_more; i++)
		x->copy[i] = ARENA_NEWN(a, void *, (size_t)session_model(s, i)->n_results + 1);
}

static void drop(struct kept_results *x, uint32_t i)
{
	for (uint32_t r = 0; r < session_model(x->s, i)->n_results; r++) {
		mem_free(x->copy[i][r]);
		x->copy[i][r] = NULL;
	}
}

void kept_results_release(struct kept_results *x)
{
	for (uint32_t i = 0; i <= x->s->n_more; i++)
		drop(x, i);
}

int kept_results_take(void *arg, uint32_t i, const void *const *result, struct err *e)
{
	struct kept_results *x = arg;
	const struct model *m = session_model(x->s, i);
	drop(x, i);
	for (uint32_t r = 0; r < m->n_results; r++) {
		/* A result of dynamic shape is a struct tensor; its data follow. */
		enum { HEAD = (sizeof(struct tensor) + 63) / 64 * 64 };
		struct tensor want = result_tensor(m, r), t = result_value(m, r, result[r]);
		size_t bytes = (size_t)tensor_bytes(&t), head = tensor_is_static(&want) ? 0 : HEAD;
		if (!(x->copy[i][r] = mem_try(head + bytes + 1)))
			return err_set(e, ST_RUNTIME, "no memory for %zu bytes of results", bytes);
		if (bytes)
			memcpy((char *)x->copy[i][r] + head, t.data, bytes);
		t.data = (char *)x->copy[i][r] + head;
		if (head)
			memcpy(x->copy[i][r], &t, sizeof t);
	}
	return 0;
}

const void *const *kept_results_of(const struct kept_results *x, uint32_t i)
{
	return (const void *const *)x->copy[i];
}
