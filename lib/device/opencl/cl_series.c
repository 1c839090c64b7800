/* cl_series.c - small launches are put off, and those in a row become one launch of kernel `series`
 * (cl_series.cl): to launch a kernel takes longer than what they compute.
 *
 * Whoever launches something else, moves bytes or hands the queue over calls cl_series_end first.  What the kernel is
 * told lies in buffers on the device, one for each series that was seen: a run starts the same ones as
 * the run before. */
#include "device/opencl/cl_impl.h"
#include "base/hash.h"

#include <string.h>

enum {
	MOST_GROUPS =
		32, /* of a launch: with more, a work-group alone takes longer than a launch */
	SLOTS = 4096
}; /* a power of two */

/* Bytes that a launch of the series reads or writes. */
struct range {
	cl_mem mem;
	size_t begin, end;
	bool out;
};

/* A series whose list is on the device. */
struct known {
	uint64_t hash;
	int n;
	struct series_op *op; /* (n) */
	cl_mem list;
};

struct cl_series {
	int n;
	struct series_op op[SERIES_MOST];
	cl_mem memory[SERIES_MEMORIES]; /* which the series holds on to */
	int n_memories;
	struct range range[SERIES_MOST * SERIES_BUFS]; /* of the last level */
	int n_ranges;
	struct cl_launch first; /* to be launched as it is when it stays alone */
	cl_kernel kernel;
	struct cl_span buf[CL_BUFS];
	struct known *known[SLOTS];
	int n_known;
};

/* ---- which launches ---- */

static int what_of(const struct cl_launch *l)
{
	switch (l->kernel) {
	case K_elem: return S_ELEM;
	case K_move: return S_MOVE;
	case K_gather: return S_GATHER;
	default: return -1;
	}
}

static bool is_small(const struct cl_launch *l, const struct cl_span *buf)
{
	if (what_of(l) < 0 || l->groups[0] > MOST_GROUPS || l->groups[1] * l->groups[2] != 1)
		return false;
	for (int i = 0; i < l->n_buf; i++)
		if (l->buf[i].kind == REF_TEMP || (l->buf[i].kind == REF_OUT && !buf[i].bytes))
			return false;
	return true;
}

/* Does the launch touch what one of the last level has written, or write what it touches? */
static bool depends(const struct cl_series *q, const struct cl_launch *l, const struct cl_span *buf)
{
	for (int i = 0; i < l->n_buf; i++)
		for (int j = 0; j < q->n_ranges; j++) {
			const struct range *r = &q->range[j];
			if (r->mem == buf[i].mem && r->begin < buf[i].offset + buf[i].bytes &&
			    buf[i].offset < r->end && (r->out || l->buf[i].kind == REF_OUT))
				return true;
		}
	return false;
}

/* ---- the lists on the device ---- */

static void known_release(struct known *k)
{
	if (k) {
		clReleaseMemObject(k->list);
		mem_free(k->op);
	}
	mem_free(k);
}

static void forget_all(struct cl_series *q)
{
	for (int i = 0; i < SLOTS; i++) {
		known_release(q->known[i]);
		q->known[i] = NULL;
	}
	q->n_known = 0;
}

static int list_get(struct cl_state *s, struct cl_series *q, cl_mem *out, struct err *e)
{
	size_t bytes = (size_t)q->n * sizeof q->op[0];
	uint64_t h = hash_bytes(q->op, bytes);
	cl_int rc = 0;
	if (q->n_known > SLOTS / 2)
		forget_all(q);
	struct known **at;
	for (size_t i = (size_t)h % SLOTS; *(at = &q->known[i]); i = (i + 1) % SLOTS)
		if ((*at)->hash == h && (*at)->n == q->n && !memcmp((*at)->op, q->op, bytes)) {
			*out = (*at)->list;
			return 0;
		}
	*out = clCreateBuffer(s->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, q->op,
			      &rc);
	if (rc)
		return cl_err(e, "clCreateBuffer", rc);
	*at = MEM_NEW(struct known);
	**at = (struct known){h, q->n, mem_alloc((size_t)q->n, sizeof q->op[0]), *out};
	memcpy((*at)->op, q->op, bytes);
	q->n_known++;
	return 0;
}

/* ---- the series ---- */

static int series_launch(struct cl_state *s, struct cl_series *q, struct err *e)
{
	struct cl_launch l = {
		.kernel = K_series, .n_buf = 1 + SERIES_MEMORIES, .groups = {1, 1, 1}};
	struct cl_span buf[CL_BUFS] = {{0}};
	cl_kernel kernel;
	if (q->n == 1)
		return cl_launch_start(s, &q->first, q->kernel, q->buf, e);
	if (list_get(s, q, &buf[0].mem, e) || cl_kernel_get(s, K_series, &kernel, e))
		return -1;
	for (int i = 0; i < SERIES_MEMORIES; i++)
		buf[1 + i].mem = q->memory[i < q->n_memories ? i : 0];
	l.args.series.n = q->n;
	return cl_launch_start(s, &l, kernel, buf, e);
}

int cl_series_levels(const struct cl_state *s)
{
	int n = s->series && s->series->n;
	for (int i = 0; s->series && i < s->series->n; i++)
		n += s->series->op[i].level;
	return n;
}

int cl_series_end(struct cl_state *s, struct err *e)
{
	struct cl_series *q = s->series;
	if (!q || !q->n)
		return 0;
	int rc = series_launch(s, q, e);
	for (int i = 0; i < q->n_memories; i++)
		clReleaseMemObject(q->memory[i]);
	q->n = q->n_memories = q->n_ranges = 0;
	return rc;
}

static int memory_number(struct cl_series *q, cl_mem mem)
{
	int i = 0;
	while (i < q->n_memories && q->memory[i] != mem)
		i++;
	if (i < SERIES_MEMORIES && i == q->n_memories && !clRetainMemObject(mem))
		q->memory[q->n_memories++] = mem;
	return i < q->n_memories ? i : -1;
}

/* False: it has no room for the launch's buffers. */
static bool add(struct cl_series *q, const struct cl_launch *l, const struct cl_span *buf)
{
	struct series_op *o = &q->op[q->n];
	memset(o, 0, sizeof *o);
	memcpy(&o->args, &l->args, cl_kernel_args(l->kernel));
	memset(&o->args.places, 0, sizeof o->args.places);
	for (int i = 0; i < l->n_buf && i < SERIES_BUFS; i++) {
		o->memory[i] = memory_number(q, buf[i].mem);
		if (o->memory[i] < 0)
			return false;
		o->args.places.at[i] = (long)buf[i].offset;
	}
	o->what = what_of(l);
	o->groups = (int)l->groups[0];
	o->level = q->n && depends(q, l, buf);
	if (o->level)
		q->n_ranges = 0;
	for (int i = 0; i < l->n_buf && i < SERIES_BUFS; i++)
		if (buf[i].bytes)
			q->range[q->n_ranges++] = (struct range){buf[i].mem, buf[i].offset,
								 buf[i].offset + buf[i].bytes,
								 l->buf[i].kind == REF_OUT};
	q->n++;
	return true;
}

/* Put a small launch off (*taken), or start those that were. */
static int take(struct cl_state *s, const struct cl_launch *l, cl_kernel kernel,
		const struct cl_span *buf, bool *taken, struct err *e)
{
	struct cl_series *q = s->series;
	*taken = q && is_small(l, buf);
	if (!*taken)
		return cl_series_end(s, e);
	if (q->n == SERIES_MOST && cl_series_end(s, e))
		return -1;
	if (!add(q, l, buf)) {
		if (cl_series_end(s, e))
			return -1;
		*taken = add(q, l, buf);
	}
	if (*taken && q->n == 1) {
		q->first = *l;
		q->kernel = kernel;
		memcpy(q->buf, buf, (size_t)l->n_buf * sizeof *buf);
	}
	return 0;
}

int cl_launch_run(struct cl_state *s, struct cl_launch *l, cl_kernel kernel,
		  const struct cl_span *buf, struct err *e)
{
	bool taken;
	if (take(s, l, kernel, buf, &taken, e))
		return -1;
	return taken ? 0 : cl_launch_start(s, l, kernel, buf, e);
}

void cl_series_open(struct cl_state *s)
{
	size_t items = 0;
	if (s->shape.ls == 1 || s->half ||
	    clGetDeviceInfo(s->place.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof items, &items,
			    NULL) ||
	    items < SERIES_ITEMS)
		return;
	s->series = MEM_NEW(struct cl_series);
}

void cl_series_close(struct cl_state *s)
{
	struct cl_series *q = s->series;
	for (int i = 0; q && i < q->n_memories; i++)
		clReleaseMemObject(q->memory[i]);
	if (q)
		forget_all(q);
	mem_free(q);
	s->series = NULL;
}
