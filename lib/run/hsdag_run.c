/* hsdag_run.c - libhsdag-run: a placed stream, opened and run. */
#include "run/hsdag_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/msg.h"
#include "dynamic/shapes.h"
#include "measure/session.h"
#include "record/graphrec.h"
#include "report/answer.h"
#include "report/cases.h"

/* The model with one list of shapes. */
struct opened {
	char *shapes;        /* as they were given; NULL: the stream's own */
	struct graph *graph; /* NULL: the answer's */
	const struct place_rec *place;
	struct session s;
	struct plan plan;
	bool has_plan;
	struct tensor *in, *out; /* descriptions that the caller's pointers lead into */
};

struct hsdag_model {
	struct answer answer;
	struct rec *graph; /* the record that the answer's graph was read from; NULL: none so far */
	hsdag_options options; /* texts are copies */
	struct opened *now;    /* one of those below */
	struct opened *own;    /* with the stream's shapes */
	struct opened *other
		[HSDAG_SHAPES_KEPT]; /* (n_other) with others, the last one that was asked for first */
	uint32_t n_other;
	struct err e;
};

int hsdag_run_api(void)
{
	return HSDAG_RUN_API;
}

const char *hsdag_version(void)
{
	return HSDAG_VERSION;
}

static void (*out_of_memory)(size_t bytes);

void hsdag_on_out_of_memory(void (*fn)(size_t bytes))
{
	out_of_memory = fn;
	msg_on_out_of_memory(fn);
}

/* What pieces are had from while a call ends that the system has no memory for: this, and more for what is large.  Of records what
 * arrays of them take for each byte read, half as much again where they grow.  Of a graph what arrays of its nodes take for each byte that
 * it has, some 100 a node: the largest is of 450, and one of 8 for each device. */
enum { RESERVE = 32 << 20, TIMES_READ = 24, TIMES_GRAPH = 8 };

/* `bytes` beside the least. */
static int reserve(uint64_t bytes, struct err *e)
{
	enum { MIB = 1 << 20 };
	uint64_t all = RESERVE + (bytes + MIB - 1) / MIB * MIB;
	return mem_reserve((size_t)all)
		       ? 0
		       : err_set(e, ST_RUNTIME, "out of memory: there are no %llu MiB to set aside",
				 (unsigned long long)(all >> 20));
}

/* ---- opening ---- */

static int read_answer(hsdag_model *m, const char *path)
{
	struct rec_reader *in = rec_reader_open(path, -1, &m->e);
	struct rec r;
	int k = in ? 1 : -1;
	while (k > 0 && (k = rec_next(in, &r, &m->e)) > 0)
		if (mem_check(&m->e) < 0 ||
		    reserve(TIMES_READ * (r.offset + r.n_bytes), &m->e) < 0 ||
		    answer_take(&m->answer, &r, &m->e) < 0)
			k = -1;
		else if (rec_is(&r, "graph")) {
			rec_drop(m->graph);
			m->graph = rec_keep(&r);
			k = m->graph ? k : err_set(&m->e, ST_RUNTIME, "no memory for a model");
		}
	rec_reader_close(in);
	if (k == 0 && m->answer.kind == ANSWER_NONE)
		return err_set(&m->e, ST_INPUT,
			       "no placement in '%s'; it should hold place or best records", path);
	return k;
}

/* Those of the placement, or others in their places. */
static int find_devices(hsdag_model *m, const struct place_rec *p, struct device_list *l)
{
	const char *given = m->options.devices;
	if (!given)
		return device_list_names(p->names, p->k, l, &m->e);
	if (device_list_parse(given, l, &m->e) < 0)
		return -1;
	if (l->n != p->k)
		return err_set(&m->e, ST_USAGE, "devices: '%s' are %u, the placement has %u", given,
			       l->n, p->k);
	return 0;
}

/* What the plan runs: of a placement on one device alone the model before it was cut. */
static struct model *model_of(const struct opened *x)
{
	return x->plan.of->m;
}

static int open_session(hsdag_model *m, struct opened *x)
{
	const hsdag_options *o = &m->options;
	const struct place_rec *p = x->place;
	struct measure_options how = MEASURE_DEFAULT;
	struct device_list l = {0};
	struct graph *g = x->graph ? x->graph : m->answer.graph;
	how.keep_state = o->keep_state;
	how.limit_s = o->timeout_s;
	int rc = find_devices(m, p, &l);
	if (rc == 0)
		rc = mem_check(&m->e);
	if (rc == 0)
		rc = reserve((TIMES_GRAPH + l.n) * (uint64_t)arena_bytes(g->arena), &m->e);
	if (rc == 0)
		rc = session_open(&x->s, g, &l, o->allow_shared, o->weights, NULL, 1, &how, &m->e);
	if (rc == 0)
		rc = session_use_whole(&x->s, o->weights, &m->e);
	device_list_close(&l);
	x->s.planner.order = p->order;
	x->s.planner.n_order = p->n_order;
	if (rc == 0 && p->n_more > 0)
		rc = err_set(&m->e, ST_INPUT,
			     "the answer has %u replicas for requests in flight, and this runs one "
			     "inference after another",
			     1 + p->n_more);
	if (rc < 0 || plan_make(&x->s.planner, p->device, &x->plan, &m->e) < 0)
		return -1;
	x->has_plan = true;
	const struct model *of = model_of(x);
	x->in = MEM_NEWN(struct tensor, (size_t)of->n_params + 1);
	x->out = MEM_NEWN(struct tensor, (size_t)of->n_results + 1);
	for (uint32_t i = 0; i < of->n_params; i++) {
		x->in[i] = of->values.value[of->g->out_ptr[of->param[i]]];
		x->in[i].data = of->input[i];
		memset(of->input[i], 0, (size_t)tensor_bytes(&x->in[i]));
	}
	for (uint32_t i = 0; i < of->n_results; i++)
		x->out[i] = result_tensor(of, i);
	return mem_check(&m->e);
}

static void close_opened(struct opened *x)
{
	if (!x)
		return;
	if (x->has_plan)
		plan_release(&x->plan);
	session_close(&x->s);
	graph_free(x->graph);
	mem_free(x->in);
	mem_free(x->out);
	free(x->shapes);
	free(x);
}

/* What the caller's options say, with texts of its own: they last longer than the call. */
static int keep_options(hsdag_model *m, const hsdag_options *options)
{
	hsdag_options *o = &m->options;
	if (options)
		memcpy(o, options, options->size < sizeof *o ? options->size : sizeof *o);
	const char *weights = o->weights, *devices = o->devices;
	o->weights = weights ? strdup(weights) : NULL;
	o->devices = devices ? strdup(devices) : NULL;
	return (weights && !o->weights) || (devices && !o->devices)
		       ? err_set(&m->e, ST_RUNTIME, "no memory for a model")
		       : 0;
}

static int open_own(hsdag_model *m)
{
	m->own = calloc(1, sizeof *m->own);
	if (!m->own)
		return err_set(&m->e, ST_RUNTIME, "no memory for a model");
	m->own->place = &m->answer.place;
	m->now = m->own;
	return open_session(m, m->own);
}

hsdag_status hsdag_open(const char *path, const hsdag_options *options, hsdag_model **out,
			char *error, size_t error_bytes)
{
	struct err e = ERR_INIT;
	*out = NULL;
	msg_on_out_of_memory(out_of_memory); /* this is a library: no word, no exit */
	hsdag_model *m = reserve(0, &e) == 0 ? calloc(1, sizeof *m) : NULL;
	if (!m)
		err_set(&e, ST_RUNTIME, "no memory for a model");
	if (m) {
		answer_init(&m->answer);
		if (!path || strcmp(path, "-") == 0)
			err_set(&m->e, ST_USAGE, "no file is named");
		else if (keep_options(m, options) == 0 && read_answer(m, path) == 0 &&
			 open_own(m) == 0) {
			*out = m;
			return HSDAG_OK;
		}
		e = m->e;
		hsdag_close(m);
	}
	if (error && error_bytes > 0) {
		size_t n = strnlen(e.msg, error_bytes - 1);
		memcpy(error, e.msg, n);
		error[n] = '\0';
	}
	return e.code ? (hsdag_status)e.code : HSDAG_RUNTIME;
}

void hsdag_close(hsdag_model *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n_other; i++)
		close_opened(m->other[i]);
	close_opened(m->own);
	rec_drop(m->graph);
	answer_release(&m->answer);
	free((char *)m->options.weights);
	free((char *)m->options.devices);
	free(m);
}

const char *hsdag_error(const hsdag_model *m)
{
	return m->e.msg;
}

/* ---- inputs and outputs ---- */

size_t hsdag_n_inputs(const hsdag_model *m)
{
	return model_of(m->now)->n_params;
}

size_t hsdag_n_outputs(const hsdag_model *m)
{
	return model_of(m->now)->n_results;
}

static hsdag_status status_of(hsdag_model *m, int rc)
{
	return rc == 0 ? HSDAG_OK : m->e.code ? (hsdag_status)m->e.code : HSDAG_RUNTIME;
}

static int check_index(hsdag_model *m, const char *what, size_t i, size_t n)
{
	err_clear(&m->e);
	return i < n ? 0
		     : err_set(&m->e, ST_USAGE, "no %s %zu; the model has %zu, counted from 0",
			       what, i, n);
}

static void describe(const struct model *x, uint32_t node, const struct tensor *t,
		     hsdag_tensor *out)
{
	int64_t bytes = tensor_is_static(t) ? tensor_bytes(t) : -1;
	*out = (hsdag_tensor){.name = x->g->node_name[node],
			      .type = elem_name(t->elem),
			      .rank = t->rank,
			      .dim = t->dim,
			      .data = t->data,
			      .bytes = bytes > 0 ? (size_t)bytes : 0};
}

hsdag_status hsdag_input(hsdag_model *m, size_t i, hsdag_tensor *out)
{
	if (check_index(m, "input", i, hsdag_n_inputs(m)) == 0)
		describe(model_of(m->now), model_of(m->now)->param[i], &m->now->in[i], out);
	return (hsdag_status)m->e.code;
}

hsdag_status hsdag_set_input(hsdag_model *m, size_t i, const void *data, size_t bytes)
{
	hsdag_tensor t = {0};
	if (hsdag_input(m, i, &t) != HSDAG_OK)
		return (hsdag_status)m->e.code;
	if (bytes != t.bytes) {
		char name[100];
		err_set(&m->e, ST_USAGE, "input '%s' has %zu bytes (%s), not %zu",
			err_escape(name, sizeof name, t.name, strlen(t.name)), t.bytes, t.type,
			bytes);
		return HSDAG_USAGE;
	}
	if (bytes > 0 && !data) {
		err_set(&m->e, ST_USAGE, "no data for an input");
		return HSDAG_USAGE;
	}
	if (bytes > 0)
		memcpy(t.data, data, bytes);
	return HSDAG_OK;
}

hsdag_status hsdag_output(hsdag_model *m, size_t i, hsdag_tensor *out)
{
	if (check_index(m, "output", i, hsdag_n_outputs(m)) == 0)
		describe(model_of(m->now), model_of(m->now)->result[i], &m->now->out[i], out);
	return (hsdag_status)m->e.code;
}

/* ---- other shapes ---- */

/* The place in `other` of what was opened with these shapes; n_other: they are not open. */
static uint32_t find_open(const hsdag_model *m, const char *shapes)
{
	uint32_t i = 0;
	while (i < m->n_other && strcmp(m->other[i]->shapes, shapes) != 0)
		i++;
	return i;
}

/* Variables that last have the shapes of one list, and parts those that they were cut for. */
static int check_shapes(hsdag_model *m)
{
	const struct graph *g = m->answer.graph;
	if (g->whole)
		return err_set(&m->e, ST_INPUT,
			       "operations in parts are cut for one list of shapes");
	for (uint32_t v = 0; m->options.keep_state && v < g->n; v++)
		if (graph_variable(g, v))
			return err_set(
				&m->e, ST_USAGE,
				"the model keeps its variables from run to run (keep_state): they "
				"have the shapes that the stream has");
	return 0;
}

/* The stream's graph with other shapes. */
static struct graph *read_shapes(hsdag_model *m, const char *shapes)
{
	struct graph *g = graph_decode(m->graph, &m->e);
	struct arena *a = arena_new();
	struct shape_list l = {0};
	if (g && m->options.weights) /* constants may decide shapes */
		g->weights =
			arena_strndup(g->arena, m->options.weights, strlen(m->options.weights));
	if (g && (shapes_parse(shapes, a, &l, &m->e) < 0 || shapes_apply(g, &l, &m->e) < 0)) {
		graph_free(g);
		g = NULL;
	}
	arena_free(a);
	return g;
}

static struct opened *open_shapes(hsdag_model *m, const char *shapes)
{
	struct answer *of = &m->answer;
	const struct case_run *best;
	struct opened *x = NULL;
	if (check_shapes(m) < 0 || reserve(TIMES_READ * (uint64_t)m->graph->n_bytes, &m->e) < 0)
		return NULL;
	x = calloc(1, sizeof *x);
	if (x)
		x->shapes = strdup(shapes);
	if (!x || !x->shapes) {
		err_set(&m->e, ST_RUNTIME, "no memory for a model");
	} else if ((x->graph = read_shapes(m, shapes))) {
		best = case_runs_at(&of->cases, of->graph, x->graph);
		x->place = best ? &best->place : &of->place;
		if (open_session(m, x) == 0)
			return x;
	}
	close_opened(x);
	return NULL;
}

hsdag_status hsdag_set_shapes(hsdag_model *m, const char *shapes)
{
	struct opened *x;
	uint32_t i;
	err_clear(&m->e);
	if (!shapes || !*shapes) {
		m->now = m->own;
		return HSDAG_OK;
	}
	i = find_open(m, shapes);
	x = i < m->n_other ? m->other[i] : open_shapes(m, shapes);
	if (!x)
		return status_of(m, -1);
	if (i == m->n_other && i < HSDAG_SHAPES_KEPT)
		m->n_other++;
	else if (i == m->n_other)
		close_opened(m->other[--i]);
	memmove(&m->other[1], m->other, i * sizeof *m->other);
	m->other[0] = m->now = x;
	return HSDAG_OK;
}

const char *hsdag_placed_by(const hsdag_model *m)
{
	return m->now->place->source ? m->now->place->source : "";
}

/* ---- runs ---- */

hsdag_status hsdag_run(hsdag_model *m)
{
	struct exec_sample sample = {0};
	err_clear(&m->e);
	int rc = reserve(0, &m->e);
	if (rc == 0)
		rc = executor_run(m->now->s.x, &m->now->plan, &sample, &m->e);
	for (uint32_t i = 0; i < model_of(m->now)->n_results; i++)
		m->now->out[i] = rc == 0 ? result_value(model_of(m->now), i, m->now->plan.result[i])
					 : result_tensor(model_of(m->now), i);
	return status_of(m, rc);
}

hsdag_status hsdag_reset(hsdag_model *m)
{
	err_clear(&m->e);
	variables_reset(model_of(m->now)->env->variables);
	return HSDAG_OK;
}
