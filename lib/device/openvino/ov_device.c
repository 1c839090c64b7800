/* ov_device.c - OpenVINO's plugins as devices: `ov:CPU`, `ov:GPU.1`, `ov:HETERO:GPU+CPU`.
 *
 * A step is a whole segment, compiled by the plugin from an IR in memory.  Its
 * memory is the host's: inference requests work on the executor's buffers, so results
 * pass to other host devices without a copy.  run returns when the inference has ended.
 *
 * Threads.  With one thread (ov:CPU:0) the inference runs in the worker's thread and stays on its
 * core.  With several, OpenVINO's other threads come from one pool of the
 * process and take over the cores of the thread that first needs them. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/tiles.h"
#include "device/host_memory.h"
#include "dynamic/variables.h"
#include "device/openvino/ov_impl.h"

extern const struct device_class openvino_device_class;

struct port {
	ov_port *port;
	struct tensor shape;
	void *at; /* memory of `tensor` */
	ov_tensor *tensor;
};

struct step {
	struct ov_segment *segment;
	ov_infer_request *request;
	uint32_t n_in, n_out;
	struct port *port; /* (n_in + n_out) */
	uint64_t weight_bytes;
	const struct variables *variables; /* NULL: the step has none */
	uint64_t n_resets;                 /* of the request's variables */
};

static int openvino_check_name(const char *name, struct err *e)
{
	struct ov_name n;
	return ov_name_parse(name, &n, e);
}

/* ---- opening ---- */

static void openvino_close(struct device *d)
{
	struct ov_state *s = d->state;
	if (s->core)
		s->ov->ov_core_free(s->core);
	ov_weights_close(s->weights);
	ov_cache_close(s->cache);
	pthread_mutex_destroy(&s->lock);
	mem_free(s->facts);
	mem_free(s);
	d->state = NULL;
}

static int openvino_open(struct device *d, struct err *e)
{
	struct ov_state *s = MEM_NEW(struct ov_state);
	d->state = s;
	pthread_mutex_init(&s->lock, NULL);
	int rc = ov_open(d, s, e);
	if (rc < 0)
		openvino_close(d);
	return rc;
}

static void openvino_enter(struct device *d)
{
	const struct ov_state *s = d->state;
	if (s->pinned)
		cores_stay(d);
}

static void openvino_list_machine(void (*fn)(void *arg, const struct device *d), void *arg)
{
	struct err e = ERR_INIT;
	const struct ov_api *ov;
	ov_core *core = NULL;
	ov_available a = {0};
	if (!ov_api_present())
		return;
	if (ov_api_open(&ov, &e) < 0) {
		struct device d = {.class = &openvino_device_class, .name = "ov:"};
		snprintf(d.description, sizeof d.description, "%.150s", e.msg);
		fn(arg, &d);
		return;
	}
	if (ov->ov_core_create(&core) != 0)
		return;
	if (ov->ov_core_get_available_devices(core, &a) == 0) {
		for (size_t i = 0; i < a.size; i++) {
			struct device d = {.class = &openvino_device_class, .align = 64};
			snprintf(d.name, sizeof d.name, "ov:%.50s", a.devices[i]);
			if (openvino_open(&d, &e) == 0)
				fn(arg, &d);
			if (d.state)
				openvino_close(&d);
			mem_free(d.cpus);
			err_clear(&e);
		}
		ov->ov_available_devices_free(&a);
	}
	ov->ov_core_free(core);
}

/* ---- what it can run ---- */

static bool supports_tensor(const struct ov_state *s, const struct tensor *t, char *why, size_t cap)
{
	if (!tensor_is_static(t))
		snprintf(why, cap, "dynamic shapes are not supported");
	else if (s->ov->element[t->elem] < 0)
		snprintf(why, cap, "%s is not supported", elem_name(t->elem));
	else
		return true;
	return false;
}

/* The plugin itself is asked when a segment is compiled: what it then refuses makes the
 * placement infeasible, with its reason. */
static bool openvino_supports(struct device *d, const struct step_spec *spec, char *why, size_t cap)
{
	const struct ov_state *s = d->state;
	for (uint32_t k = 0; k < spec->n_nodes; k++) {
		const struct step_node *n = &spec->node[k];
		if (strncmp(n->graph->opset[n->v], "opset", 5) != 0) {
			snprintf(why, cap, "'%.60s' is not an operator of OpenVINO's opsets",
				 n->graph->type[n->v]);
			return false;
		}
		for (uint32_t i = 0; i < n->n_in; i++)
			if (n->in[i].from != FROM_NONE &&
			    !supports_tensor(s, n->in[i].tensor, why, cap))
				return false;
		for (uint32_t i = 0; i < n->n_out; i++)
			if (!supports_tensor(s, &n->out[i], why, cap))
				return false;
	}
	return true;
}

/* Weights stay as the file has them: what they are unpacked to is the plugin's affair. */
static bool openvino_takes(struct device *d, const struct op *op, uint32_t i,
			   const struct tensor *t)
{
	const struct ov_state *s = d->state;
	(void)op, (void)i;
	return !t->quant && (t->elem == EL_F16 || t->elem == EL_BF16) &&
	       s->ov->element[t->elem] >= 0;
}

/* ---- steps ---- */

static void openvino_step_free(struct device *d, struct step *p)
{
	const struct ov_state *s = d->state;
	for (uint32_t i = 0; p->port && i < p->n_in + p->n_out; i++) {
		if (p->port[i].tensor)
			s->ov->ov_tensor_free(p->port[i].tensor);
		if (p->port[i].port)
			s->ov->ov_output_const_port_free(p->port[i].port);
	}
	if (p->request)
		s->ov->ov_infer_request_free(p->request);
	if (p->segment)
		ov_segment_drop(s, p->segment);
	mem_free(p->port);
	mem_free(p);
}

/* The weights of the model that the step belongs to. */
static int use_weights(struct ov_state *s, const struct step_spec *spec, struct err *e)
{
	const struct step_env *env = spec->n_nodes ? spec->node[0].env : NULL;
	const char *path = env && env->weights ? env->weights_path : NULL;
	int rc = 0;
	pthread_mutex_lock(&s->lock);
	if (!s->weights || s->weights_of != (env ? env->weights : NULL)) {
		ov_weights_close(s->weights);
		s->weights = NULL;
		s->weights_of = env ? env->weights : NULL;
		rc = ov_weights_open(path, &s->weights, e);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static int make_request(const struct ov_state *s, struct step *p, struct err *e)
{
	ov_status rc =
		s->ov->ov_compiled_model_create_infer_request(p->segment->model, &p->request);
	return rc == 0 ? 0 : ov_api_error(s->ov, rc, e, "OpenVINO does not compile the segment");
}

/* The C interface has no functions for variables: a new request has none with a value. */
static int renew_request(const struct ov_state *s, struct step *p, struct err *e)
{
	for (uint32_t i = 0; i < p->n_in + p->n_out; i++) {
		if (p->port[i].tensor)
			s->ov->ov_tensor_free(p->port[i].tensor);
		p->port[i].tensor = NULL;
	}
	s->ov->ov_infer_request_free(p->request);
	p->request = NULL;
	return make_request(s, p, e);
}

/* What a request keeps of variables is seen by this step alone. */
static int find_variables(const struct step_spec *spec, struct step *p, struct err *e)
{
	uint32_t *here = NULL; /* its uses of each variable */
	const struct variable *parted = NULL;
	char name[100];
	for (uint32_t k = 0; k < spec->n_nodes; k++) {
		const struct step_node *n = &spec->node[k];
		if (!graph_variable(n->graph, n->v))
			continue;
		p->variables = n->env->variables;
		if (!here)
			here = MEM_NEWN(uint32_t, p->variables->n);
		here[variables_find(p->variables, n->op) - p->variables->v]++;
	}
	for (uint32_t i = 0; here && i < p->variables->n && !parted; i++)
		if (here[i] > 0 && here[i] < p->variables->v[i].n_uses)
			parted = &p->variables->v[i];
	mem_free(here);
	p->n_resets = p->variables ? p->variables->n_resets : 0;
	return parted ? err_set(e, ST_INPUT,
				"variable '%s' is read and assigned in several segments, and "
				"OpenVINO keeps it in one; ir2dag without --split-variables keeps "
				"them together",
				err_escape(name, sizeof name, parted->name, strlen(parted->name)))
		      : 0;
}

static int find_ports(const struct ov_state *s, const struct step_spec *spec, struct step *p,
		      struct err *e)
{
	const struct ov_api *ov = s->ov;
	char name[40];
	size_t n = 0;
	ov_status rc = ov->ov_compiled_model_outputs_size(p->segment->model, &n);
	if (rc == 0 && n != spec->n_out)
		return err_set(e, ST_RUNTIME, "OpenVINO made %zu outputs of %u", n, spec->n_out);
	for (uint32_t i = 0; i < spec->n_in && rc == 0; i++) {
		p->port[i].shape = *spec->in[i];
		snprintf(name, sizeof name, "hsdag/in/%u", i);
		rc = ov->ov_compiled_model_input_by_name(p->segment->model, name, &p->port[i].port);
	}
	for (uint32_t i = 0; i < spec->n_out && rc == 0; i++) {
		p->port[spec->n_in + i].shape =
			spec->node[spec->out[i].node].out[spec->out[i].port];
		rc = ov->ov_compiled_model_output_by_index(p->segment->model, i,
							   &p->port[spec->n_in + i].port);
	}
	return rc == 0 ? 0
		       : ov_api_error(ov, rc, e, "OpenVINO lost an input or output of the segment");
}

static struct step *new_step(const struct step_spec *spec)
{
	struct step *p = MEM_NEW(struct step);
	p->n_in = spec->n_in;
	p->n_out = spec->n_out;
	p->port = MEM_NEWN(struct port, (size_t)p->n_in + p->n_out + 1);
	return p;
}

static int openvino_prepare(struct device *d, const struct step_spec *spec, struct step **out,
			    struct err *e)
{
	struct ov_state *s = d->state;
	struct step *p = new_step(spec);
	int rc = find_variables(spec, p, e);
	if (rc == 0)
		rc = use_weights(s, spec, e);
	if (rc == 0)
		rc = ov_segment_get(s, spec, &p->segment, &p->weight_bytes, e);
	if (rc == 0)
		rc = make_request(s, p, e);
	if (rc == 0)
		rc = find_ports(s, spec, p, e);
	if (rc == 0)
		*out = p;
	else
		openvino_step_free(d, p);
	return rc;
}

/* An estimate: plugins keep their own form of the weights, as a rule in f32. */
static void openvino_step_memory(struct device *d, const struct step *p,
				 void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	(void)d;
	fn(arg, p, p->weight_bytes);
}

/* Let the request read and write at `at`; nothing to do when it does already. */
static int set_port(const struct ov_state *s, struct step *p, uint32_t i, void *at, struct err *e)
{
	struct port *x = &p->port[i];
	if (x->at == at && x->tensor)
		return 0;
	ov_tensor *t = NULL;
	ov_shape shape = {(int64_t)x->shape.rank, x->shape.dim};
	ov_status rc =
		s->ov->ov_tensor_create_from_host_ptr(s->ov->element[x->shape.elem], shape, at, &t);
	if (rc == 0)
		rc = s->ov->ov_infer_request_set_tensor_by_const_port(p->request, x->port, t);
	if (rc != 0) {
		if (t)
			s->ov->ov_tensor_free(t);
		return ov_api_error(s->ov, rc, e, "OpenVINO does not take a buffer");
	}
	if (x->tensor)
		s->ov->ov_tensor_free(x->tensor);
	x->tensor = t;
	x->at = at;
	return 0;
}

static int openvino_run(struct device *d, struct step *p, struct devmem *const *in,
			struct devmem *const *out, struct err *e)
{
	const struct ov_state *s = d->state;
	if (p->variables && p->n_resets != p->variables->n_resets) {
		p->n_resets = p->variables->n_resets;
		if (renew_request(s, p, e) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < p->n_in; i++)
		if (set_port(s, p, i, in[i]->p, e) < 0)
			return -1;
	for (uint32_t i = 0; i < p->n_out; i++)
		if (set_port(s, p, p->n_in + i, out[i]->p, e) < 0)
			return -1;
	ov_status rc = s->ov->ov_infer_request_infer(p->request);
	return rc == 0 ? 0 : ov_api_error(s->ov, rc, e, "inference failed");
}

/* ---- times of nodes ---- */

/* Every input and output in memory of its own, which the caller frees: memory[n_in + n_out]. */
static int set_zeros(const struct ov_state *s, struct step *p, void **memory, struct err *e)
{
	for (uint32_t i = 0; i < p->n_in + p->n_out; i++) {
		size_t bytes = (size_t)tensor_bytes(&p->port[i].shape);
		memory[i] = mem_try(bytes ? bytes : 1);
		if (!memory[i])
			return err_set(e, ST_RUNTIME, "no memory for %zu bytes", bytes);
		memset(memory[i], 0, bytes);
		if (set_port(s, p, i, memory[i], e) < 0)
			return -1;
	}
	return 0;
}

/* Inferences of which OpenVINO counts what nodes take. */
static int count_nodes(const struct ov_state *s, struct step *p, const struct step_spec *spec,
		       void *const *memory, double *node_s, struct err *e)
{
	enum { RUNS = 6 };
	double *first_s = MEM_NEWN(double, (size_t)spec->n_nodes + 1),
	       *counted_s = MEM_NEWN(double, (size_t)spec->n_nodes + 1);
	int rc = 0;
	for (int i = 0; i < RUNS && rc == 0; i++) {
		if (i > 0 &&
		    p->variables) { /* times of the first inference, of which there is one */
			rc = renew_request(s, p, e);
			for (uint32_t k = 0; k < p->n_in + p->n_out && rc == 0; k++)
				rc = set_port(s, p, k, memory[k], e);
			if (rc < 0)
				break;
		}
		ov_status status = s->ov->ov_infer_request_infer(p->request);
		if (status != 0)
			rc = ov_api_error(s->ov, status, e, "inference failed");
		else
			rc = ov_times_read(s, p->request, spec, i ? counted_s : first_s, e);
	}
	if (rc == 0)
		rc = ov_times_share(spec, counted_s, first_s, RUNS, node_s, e);
	mem_free(first_s);
	mem_free(counted_s);
	return rc;
}

static int openvino_node_times(struct device *d, const struct step_spec *spec, double *node_s,
			       struct err *e)
{
	struct ov_state *s = d->state;
	struct step *p = new_step(spec);
	struct ov_segment own = {0};
	void **memory = MEM_NEWN(void *, (size_t)p->n_in + p->n_out + 1);
	p->segment = &own;
	int rc = find_variables(spec, p, e);
	if (rc == 0)
		rc = use_weights(s, spec, e);
	if (rc == 0)
		rc = ov_segment_compile(s, spec, true, &own.model, e);
	if (rc == 0)
		rc = make_request(s, p, e);
	if (rc == 0)
		rc = find_ports(s, spec, p, e);
	if (rc == 0)
		rc = set_zeros(s, p, memory, e);
	if (rc == 0)
		rc = count_nodes(s, p, spec, memory, node_s, e);
	uint32_t n = p->n_in + p->n_out;
	p->segment = NULL;
	openvino_step_free(d, p);
	if (own.model)
		s->ov->ov_compiled_model_free(own.model);
	for (uint32_t i = 0; i < n; i++)
		mem_free(memory[i]);
	mem_free(memory);
	return rc;
}

/* Read by the library when it first looks at the processor. */
static void openvino_set_environment(const char *const *names, uint32_t n)
{
	(void)names, (void)n;
	if (tiles_of_processor() == TILES_HIDDEN)
		setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
}

const struct device_class openvino_device_class = {
	.forms = "ov:NAME",
	.help = "ov:NAME (a device of OpenVINO: ov:CPU, ov:CPU:0 on core 0, ov:GPU.1, ov:AUTO, "
		"ov:HETERO:GPU+CPU; f32 and one stream unless options say otherwise, as in "
		"ov:CPU:0-1/threads=2/precision=bf16)",
	.check_name = openvino_check_name,
	.list_machine = openvino_list_machine,
	.set_environment = openvino_set_environment,
	.max_nodes = UINT32_MAX,
	.segments = true,
	.boundary_s = 5e-6,
	.boundary_byte_s = 0.25e-9,
	.parallel = true,
	.open = openvino_open,
	.close = openvino_close,
	.enter = openvino_enter,
	.supports = openvino_supports,
	.takes = openvino_takes,
	.prepare = openvino_prepare,
	.step_free = openvino_step_free,
	.node_times = openvino_node_times,
	.step_memory = openvino_step_memory,
	.alloc = host_memory_alloc,
	.view = host_memory_view,
	.wrap = host_memory_wrap,
	.release = host_memory_release,
	.host = host_memory_address,
	.run = openvino_run,
};
