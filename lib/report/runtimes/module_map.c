/* module_map.c - device_map of Hugging Face's accelerate (1.15) and transformers: {"module": 0 | "cpu"}. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/runtimes/modules.h"
#include "text/markup.h"

/* One module of the tree of all paths. */
struct branch {
	const char *path;
	double *work;    /* (k) of it and all within */
	uint32_t device; /* of all within; UINT32_MAX: they are on several */
	bool own;        /* operations or weights of its own */
};

struct tree {
	struct strtab path;
	struct branch *b;
	size_t cap;
	uint32_t k;
	struct arena *a;
};

/* Of a path, a new one where it has none; valid until the next. */
static struct branch *branch_of(struct tree *t, const char *path)
{
	uint32_t before = t->path.n, at = strtab_add(&t->path, path);
	t->b = mem_grow(t->b, &t->cap, t->path.n, sizeof *t->b);
	if (at == before)
		t->b[at] = (struct branch){path, ARENA_NEWN(t->a, double, t->k), UINT32_MAX, false};
	return &t->b[at];
}

/* Path without its last part; NULL: it is the model. */
static const char *parent(const char *path, struct arena *a)
{
	const char *dot = strrchr(path, '.');
	return !*path ? NULL : arena_strndup(a, path, dot ? (size_t)(dot - path) : 0);
}

/* Layers of a list are never divided: within one of them operations read each other's results with no module's border between.
 * Returns how many modules have work elsewhere than they are told. */
static uint32_t plant(struct tree *t, const struct modules *m)
{
	uint32_t moved = 0;
	struct strtab blocks = {0};
	double **work = ARENA_NEWN(t->a, double *, m->path.n);
	for (uint32_t i = 0; i < m->path.n; i++) {
		const char *path = m->path.s[i];
		uint32_t before = blocks.n,
			 at = strtab_add(&blocks, arena_strndup(t->a, path, module_block(path)));
		if (at == before)
			work[at] = ARENA_NEWN(t->a, double, m->k);
		for (uint32_t d = 0; d < m->k; d++)
			work[at][d] += m->use[i].work[d];
	}
	for (uint32_t i = 0; i < m->path.n; i++) {
		const char *path = m->path.s[i];
		uint32_t at = strtab_add(&blocks, arena_strndup(t->a, path, module_block(path))),
			 most = modules_most(work[at], m->k);
		bool apart = false;
		for (uint32_t d = 0; d < m->k; d++)
			apart |= d != most && m->use[i].work[d] > 0;
		moved += apart;
	}
	for (uint32_t i = 0; i < blocks.n; i++) {
		uint32_t most = modules_most(work[i], m->k);
		branch_of(t, blocks.s[i])->own = true;
		for (const char *p = blocks.s[i]; p; p = parent(p, t->a))
			branch_of(t, p)->work[most] += 1;
	}
	strtab_release(&blocks);
	return moved;
}

/* Devices of branches: of one name, where there all within are on devices of this name. */
static void colour(struct tree *t, const struct runtime_names *names)
{
	for (uint32_t i = 0; i < t->path.n; i++) {
		struct branch *b = &t->b[i];
		b->device = modules_most(b->work, t->k);
		for (uint32_t d = 0; d < t->k && b->device != UINT32_MAX; d++)
			if (b->work[d] > 0 && strcmp(names->name[d], names->name[b->device]) != 0)
				b->device = UINT32_MAX;
	}
}

static int by_path(const void *pa, const void *pb)
{
	const struct branch *a = pa, *b = pb;
	return strcmp(a->path, b->path);
}

static void write_device(FILE *out, const char *name)
{
	bool number = *name && (*name != '0' || !name[1]);
	for (const char *c = name; *c; c++)
		number &= isdigit((unsigned char)*c) != 0;
	if (number)
		fputs(name, out);
	else
		markup_json(out, name, strlen(name), false);
}

/* The highest modules that are on one device, which are disjoint.  Returns how many with operations of their own have modules within
 * on several: these operations cannot be told. */
static uint32_t write_keys(FILE *out, struct tree *t, const struct runtime_names *names)
{
	uint32_t untold = 0;
	bool any = false;
	fputs("{", out);
	for (uint32_t i = 0; i < t->path.n; i++) {
		const struct branch *b = &t->b[i];
		const char *up = parent(b->path, t->a);
		if (b->device == UINT32_MAX) {
			untold += b->own;
			continue;
		}
		if (up && branch_of(t, up)->device != UINT32_MAX)
			continue;
		fputs(any ? ",\n " : "", out);
		markup_json(out, b->path, strlen(b->path), false);
		fputs(": ", out);
		write_device(out, names->name[b->device]);
		any = true;
	}
	fputs("}\n", out);
	return untold;
}

static void tell(const struct report_input *in, const struct runtime_names *names,
		 const struct modules *m, uint32_t moved, uint32_t untold)
{
	char text[300];
	bool cpu = false, other = false;
	for (uint32_t d = 0; d < in->p->k; d++) {
		cpu |= names->is_cpu[d] && in->p->sets[d] > 0;
		other |= !names->is_cpu[d] && in->p->sets[d] > 0;
	}
	if (moved || untold) {
		snprintf(text, sizeof text,
			 "modules and layers are on one device each: %u modules are partly, or "
			 "altogether, told elsewhere than placed, and operations of %u that have "
			 "modules on several are not told",
			 moved, untold);
		in->warn(text);
	}
	if (m->n_without) {
		snprintf(text, sizeof text, "%u operations have no module in their names: not told",
			 m->n_without);
		in->warn(text);
	}
	if (cpu && other)
		in->warn("beside a GPU, cpu is where accelerate keeps weights: what is there is "
			 "computed on the first GPU");
	in->warn("weights that modules share have to be on one device, which is not checked here");
}

/* In the order of paths, with every module above others. */
static void sort(struct tree *t)
{
	struct branch *b = t->b;
	uint32_t n = t->path.n;
	for (uint32_t i = 0; i < n; i++)
		b[i].work = NULL;
	qsort(b, n, sizeof *b, by_path);
	strtab_release(&t->path);
	for (uint32_t i = 0; i < n; i++)
		strtab_add(&t->path, b[i].path);
}

static int write_device_map(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = in->x->arena;
	struct placed_ops ops;
	struct modules m;
	struct tree t = {.k = in->p->k, .a = a};
	struct runtime_names names;
	placed_ops_list(in, a, &ops);
	modules_find(&ops, in->p->k, a, &m);
	int rc = modules_check(&m, e);
	if (rc == 0) {
		runtime_names(in, "cpu", "", a, &names);
		uint32_t moved = plant(&t, &m);
		colour(&t, &names);
		sort(&t);
		tell(in, &names, &m, moved, write_keys(out, &t, &names));
	}
	strtab_release(&t.path);
	mem_free(t.b);
	modules_release(&m);
	return rc;
}

const struct report_format format_device_map = {
	.name = "device-map",
	.about = "device_map of accelerate and transformers, by modules of PyTorch,\n"
		 "as OpenVINO has them in its names. Layers of a list are on one\n"
		 "device each, that of most of their work; what is no cpu is 0, 1,\n"
		 "... unless --map says, as in cl:0.0=1,cpu:0=disk. Not told:\n"
		 "operations apart from modules; weights that modules share",
	.write = write_device_map,
};
