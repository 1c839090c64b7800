/* modules.c - modules from names. */
#include "report/runtimes/modules.h"

#include <string.h>

static double *work_of(struct modules *m, const char *path, struct arena *a)
{
	uint32_t before = m->path.n, at = strtab_add(&m->path, path);
	m->use = mem_grow(m->use, &m->cap, m->path.n, sizeof *m->use);
	if (at == before)
		m->use[at].work = ARENA_NEWN(a, double, m->k);
	return m->use[at].work;
}

void modules_find(const struct placed_ops *ops, uint32_t k, struct arena *a, struct modules *out)
{
	const struct graph *g = ops->g;
	uint32_t *device = ARENA_NEWN(a, uint32_t, g->n);
	*out = (struct modules){.k = k};
	memset(device, 0xff, g->n * sizeof *device);
	for (uint32_t i = 0; i < ops->n; i++) {
		const struct placed_op *x = &ops->op[i];
		const char *path = module_of_operation(x->name, a);
		device[x->node] = x->device;
		if (path)
			work_of(out, path, a)[x->device] += x->flops + 1;
		else
			out->n_without++;
	}
	/* A weight is where its first reader is, through what is computed of constants alone. */
	for (uint32_t v = g->n; v-- > 0;) {
		const char *path = module_of_weight(g->node_name[v], a);
		for (uint32_t i = g->consumers.ptr[v];
		     device[v] == UINT32_MAX && i < g->consumers.ptr[v + 1]; i++)
			device[v] = device[g->consumers.dst[i]];
		if (path && g->kind[v] == OP_CONST && device[v] != UINT32_MAX)
			work_of(out, path, a)[device[v]] += 1;
	}
}

void modules_release(struct modules *m)
{
	strtab_release(&m->path);
	mem_free(m->use);
	*m = (struct modules){0};
}

uint32_t modules_most(const double *work, uint32_t k)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t d = 0; d < k; d++)
		if (work[d] > 0 && (best == UINT32_MAX || work[d] > work[best]))
			best = d;
	return best;
}

int modules_check(const struct modules *m, struct err *e)
{
	if (m->path.n > 0)
		return 0;
	return err_set(
		e, ST_INPUT,
		"no operation's name tells a module of PyTorch, as in "
		"'__module.layers.0.fc1/aten::linear/MatMul'; OpenVINO's names do, of models "
		"that were traced");
}
