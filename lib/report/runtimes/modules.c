/* modules.c - modules from names. */
#include "report/runtimes/modules.h"

#include <string.h>

static const char SCOPE[] = "__module.", WEIGHT[] = "self.";

/* The module of an operation's name, from a; NULL: it tells none. */
static const char *module_of(const char *name, struct arena *a)
{
	if (strncmp(name, SCOPE, sizeof SCOPE - 1) != 0)
		return NULL;
	name += sizeof SCOPE - 1;
	return arena_strndup(a, name, strcspn(name, "/"));
}

/* The module of a weight: without its last part. */
static const char *module_of_weight(const char *name, struct arena *a)
{
	if (strncmp(name, WEIGHT, sizeof WEIGHT - 1) != 0 || strchr(name, '/'))
		return NULL;
	name += sizeof WEIGHT - 1;
	const char *dot = strrchr(name, '.');
	return arena_strndup(a, name, dot ? (size_t)(dot - name) : 0);
}

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
		const char *path = module_of(x->name, a);
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

size_t modules_block(const char *path)
{
	size_t n = 0;
	while (path[n]) {
		size_t part = strcspn(path + n, "."), digits = strspn(path + n, "0123456789");
		bool number = part > 0 && digits == part;
		n += part;
		if (number)
			return n;
		n += path[n] == '.';
	}
	return n;
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
