/* test_cl_series.c - small launches that become one: which of them wait for others, and that values are right,
 * whether they lie in one buffer or in more than a series has room for, and however many launches there are. */
#include <stdlib.h>
#include <string.h>

#include "device/opencl/cl_impl.h"
#include "one_node.h"
#include "tap.h"

enum { SIDE = 26, N = SIDE * SIDE, VALUES = 20 };

/* Add of a matrix and a row, which is the first one of another matrix: what an item computes others
 * need, too. */
static int node_build(struct one_node *n, struct err *e)
{
	one_node_init(n, "Add", "opset1", 2, 1);
	n->in[0] = (struct tensor){.elem = EL_F32, .rank = 2, .dim = {SIDE, SIDE}};
	n->in[1] = (struct tensor){.elem = EL_F32, .rank = 2, .dim = {1, SIDE}};
	return op_decode(&n->g, 0, &n->op, e) || op_infer(&n->op, n->in, n->out, e);
}

static int prepare(struct device *d, struct one_node *n, struct step **step, struct err *e)
{
	struct step_arg arg[] = {{FROM_INPUT, 0, 0, &n->in[0]}, {FROM_INPUT, 1, 0, &n->in[1]}};
	struct step_node node = {&n->g, 0, &n->op, 2, 1, arg, n->out, NULL, NULL};
	const struct tensor *input[] = {&n->in[0], &n->in[1]};
	struct step_out out[] = {{0, 0}};
	struct step_spec spec = {1, &node, 2, 1, input, out};
	return d->class->prepare(d, &spec, step, e);
}

static void count(void *arg, bool ok)
{
	__atomic_add_fetch((int *)arg, ok ? 1 : 1000, __ATOMIC_SEQ_CST);
}

static bool wait_for(int *n, int want)
{
	for (int i = 0; i < 2000 && __atomic_load_n(n, __ATOMIC_SEQ_CST) != want; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	return __atomic_load_n(n, __ATOMIC_SEQ_CST) == want;
}

/* Values as views of one buffer, or each in its own. */
static int memory(struct device *d, bool apart, struct devmem **base, struct devmem **m,
		  struct err *e)
{
	size_t bytes = N * sizeof(float), pitch = (bytes + d->align - 1) / d->align * d->align;
	if (!apart && d->class->alloc(d, VALUES * pitch, base, e))
		return -1;
	for (size_t i = 0; i < VALUES; i++)
		if (apart ? d->class->alloc(d, bytes, &m[i], e)
			  : d->class->view(d, *base, i * pitch, bytes, &m[i], e))
			return -1;
	return 0;
}

/* Random sums into a third value, on the device and here. */
static int run(struct device *d, struct step *step, struct devmem **m, float (*want)[N],
	       int n_steps, float (*got)[N], struct err *e)
{
	static const size_t bytes = N * sizeof(float);
	int done = 0;
	for (int i = 0; i < VALUES; i++) {
		for (int j = 0; j < N; j++)
			want[i][j] = (float)((i * 31 + j * 7) % 13);
		if (d->class->upload(d, m[i], want[i], bytes, count, &done, e))
			return -1;
	}
	if (!wait_for(&done, VALUES))
		return err_set(e, ST_RUNTIME, "uploads did not end");
	for (int s = 0; s < n_steps; s++) {
		int a = rand() % VALUES, b = rand() % VALUES, c = rand() % VALUES;
		if (a == c || b == c)
			continue; /* a step's output is no input */
		if (d->class->run(d, step, (struct devmem *[]){m[a], m[b]},
				  (struct devmem *[]){m[c]}, e))
			return -1;
		for (int j = 0; j < N; j++)
			want[c][j] = want[a][j] + want[b][j % SIDE];
	}
	for (int i = 0; i < VALUES; i++)
		if (d->class->download(d, m[i], got[i], bytes, count, &done, e))
			return -1;
	if (d->class->flush(d, e) || d->class->finish(d, e))
		return -1;
	return wait_for(&done, 2 * VALUES) ? 0 : err_set(e, ST_RUNTIME, "downloads did not end");
}

/* PoCL waits between all launches of a series, so that values do not tell whether these do. */
static void test_levels(struct device *d, struct step *step, struct devmem **m)
{
	static const struct {
		int a, b, c, levels;
		const char *what;
	} sums[] = {
		{0, 1, 2, 1, "the first one"},
		{0, 1, 3, 1, "one that reads the same"},
		{2, 0, 4, 2, "one that reads what was written"},
		{1, 0, 5, 2, "one that does not"},
		{0, 1, 5, 3, "one that writes what was written"},
		{0, 1, 6, 3, "one that writes elsewhere"},
		{3, 3, 0, 4, "one that writes what is read"},
	};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		bool ok = !d->class->run(d, step, (struct devmem *[]){m[sums[i].a], m[sums[i].b]},
					 (struct devmem *[]){m[sums[i].c]}, &e);
		int n = cl_series_levels(d->state);
		tap(ok && n == sums[i].levels, "%s: %d levels", sums[i].what, n);
	}
	tap(!d->class->flush(d, &e) && !cl_series_levels(d->state), "none are left after flush");
}

static void test_series(struct device *d, bool apart)
{
	static float want[VALUES][N], got[VALUES][N];
	struct err e = ERR_INIT;
	struct one_node n;
	struct step *step = NULL;
	struct devmem *base = NULL, *m[VALUES] = {NULL};
	bool ok = !node_build(&n, &e) && !prepare(d, &n, &step, &e) &&
		  !memory(d, apart, &base, m, &e);
	if (ok && !apart)
		test_levels(d, step, m);
	for (int steps = 1; ok && steps < 200; steps = steps * 3 + 1)
		ok = !run(d, step, m, want, steps, got, &e) &&
		     (!memcmp(want, got, sizeof want) ||
		      err_set(&e, ST_RUNTIME, "values differ after %d sums", steps) == 0);
	tap(ok, "values in %s are what they are without series: %s",
	    apart ? "20 buffers" : "one buffer", e.msg);
	for (int i = 0; i < VALUES; i++)
		d->class->release(d, m[i]);
	d->class->release(d, base);
	d->class->step_free(d, step);
}

static void seen(void *arg, const struct device *d)
{
	(void)d;
	++*(int *)arg;
}

int main(void)
{
	struct device_list l;
	struct err e = ERR_INIT;
	int n = 0;
	device_class_of_name("cl:")->list_machine(seen, &n);
	if (!n) {
		tap(true, "series # SKIP no OpenCL device");
		return tap_end();
	}
	setenv("HSDAG_CL_SHAPE", "gpu", 1);
	if (device_list_parse("cl:0.0", &l, &e) || device_list_open(&l, false, &e)) {
		tap(false, "open cl:0.0: %s", e.msg);
		return tap_end();
	}
	struct cl_state *s = l.dev[0].state;
	if (!s->series) {
		tap(true, "series # SKIP small work-groups");
	} else {
		test_series(&l.dev[0], false);
		test_series(&l.dev[0], true);
	}
	device_list_close(&l);
	return tap_end();
}
