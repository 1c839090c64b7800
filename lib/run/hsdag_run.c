/* hsdag_run.c - libhsdag-run: a placed stream, opened and run. */
#include "run/hsdag_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/msg.h"
#include "measure/session.h"
#include "report/answer.h"

struct hsdag_model {
	struct answer answer;
	struct session s;
	struct plan plan;
	bool has_plan;
	struct tensor *in, *out; /* descriptions that the caller's pointers lead into */
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
	rec_reader_close(in);
	if (k == 0 && m->answer.kind == ANSWER_NONE)
		return err_set(&m->e, ST_INPUT,
			       "no placement in '%s'; it should hold place or best records", path);
	return k;
}

/* Those of the placement, or others in their places. */
static int find_devices(hsdag_model *m, const hsdag_options *o, struct device_list *l)
{
	const struct place_rec *p = &m->answer.place;
	if (!o->devices)
		return device_list_names(p->names, p->k, l, &m->e);
	if (device_list_parse(o->devices, l, &m->e) < 0)
		return -1;
	if (l->n != p->k)
		return err_set(&m->e, ST_USAGE, "devices: '%s' are %u, the placement has %u",
			       o->devices, l->n, p->k);
	return 0;
}

/* What the plan runs: of a placement on one device alone the model before it was cut. */
static struct model *model_of(const hsdag_model *m)
{
	return m->plan.of->m;
}

static int open_session(hsdag_model *m, const hsdag_options *o)
{
	struct measure_options how = MEASURE_DEFAULT;
	struct device_list l = {0};
	how.keep_state = o->keep_state;
	how.limit_s = o->timeout_s;
	int rc = find_devices(m, o, &l);
	if (rc == 0)
		rc = mem_check(&m->e);
	if (rc == 0)
		rc = reserve((TIMES_GRAPH + l.n) * (uint64_t)arena_bytes(m->answer.graph->arena),
			     &m->e);
	if (rc == 0)
		rc = session_open(&m->s, m->answer.graph, &l, o->allow_shared, o->weights, NULL, 1,
				  &how, &m->e);
	if (rc == 0)
		rc = session_use_whole(&m->s, o->weights, &m->e);
	device_list_close(&l);
	m->s.planner.order = m->answer.place.order;
	m->s.planner.n_order = m->answer.place.n_order;
	if (rc == 0 && m->answer.place.n_more > 0)
		rc = err_set(&m->e, ST_INPUT,
			     "the answer has %u replicas for requests in flight, and this runs one "
			     "inference after another",
			     1 + m->answer.place.n_more);
	if (rc < 0 || plan_make(&m->s.planner, m->answer.place.device, &m->plan, &m->e) < 0)
		return -1;
	m->has_plan = true;
	const struct model *x = model_of(m);
	m->in = MEM_NEWN(struct tensor, (size_t)x->n_params + 1);
	m->out = MEM_NEWN(struct tensor, (size_t)x->n_results + 1);
	for (uint32_t i = 0; i < x->n_params; i++) {
		m->in[i] = x->values.value[x->g->out_ptr[x->param[i]]];
		m->in[i].data = x->input[i];
		memset(x->input[i], 0, (size_t)tensor_bytes(&m->in[i]));
	}
	for (uint32_t i = 0; i < x->n_results; i++)
		m->out[i] = result_tensor(x, i);
	return mem_check(&m->e);
}

hsdag_status hsdag_open(const char *path, const hsdag_options *options, hsdag_model **out,
			char *error, size_t error_bytes)
{
	hsdag_options o = {0};
	struct err e = ERR_INIT;
	*out = NULL;
	msg_on_out_of_memory(out_of_memory); /* this is a library: no word, no exit */
	if (options)
		memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
	hsdag_model *m = reserve(0, &e) == 0 ? calloc(1, sizeof *m) : NULL;
	if (!m)
		err_set(&e, ST_RUNTIME, "no memory for a model");
	if (m) {
		answer_init(&m->answer);
		if (!path || strcmp(path, "-") == 0)
			err_set(&m->e, ST_USAGE, "no file is named");
		else if (read_answer(m, path) == 0 && open_session(m, &o) == 0) {
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
	if (m->has_plan)
		plan_release(&m->plan);
	session_close(&m->s);
	answer_release(&m->answer);
	mem_free(m->in);
	mem_free(m->out);
	free(m);
}

const char *hsdag_error(const hsdag_model *m)
{
	return m->e.msg;
}

/* ---- inputs and outputs ---- */

size_t hsdag_n_inputs(const hsdag_model *m)
{
	return model_of(m)->n_params;
}

size_t hsdag_n_outputs(const hsdag_model *m)
{
	return model_of(m)->n_results;
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
		describe(model_of(m), model_of(m)->param[i], &m->in[i], out);
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
		describe(model_of(m), model_of(m)->result[i], &m->out[i], out);
	return (hsdag_status)m->e.code;
}

/* ---- runs ---- */

hsdag_status hsdag_run(hsdag_model *m)
{
	struct exec_sample sample = {0};
	err_clear(&m->e);
	int rc = reserve(0, &m->e);
	if (rc == 0)
		rc = executor_run(m->s.x, &m->plan, &sample, &m->e);
	for (uint32_t i = 0; i < model_of(m)->n_results; i++)
		m->out[i] = rc == 0 ? result_value(model_of(m), i, m->plan.result[i])
				    : result_tensor(model_of(m), i);
	return status_of(m, rc);
}

hsdag_status hsdag_reset(hsdag_model *m)
{
	err_clear(&m->e);
	variables_reset(model_of(m)->env->variables);
	return HSDAG_OK;
}
