/* fuzz_net.c - the executor on networks that are drawn by bytes (net_draw.c), one input at a time.
 *
 *   fuzz_net ...      with libFuzzer (make fuzz-coverage): its options and folders
 *   fuzz_net FILE...  without: each file once
 *   fuzz_net -list    the target: kind, name
 *   NET_SHOW=1        in the environment: networks and errors are printed
 *   NET_COUNTS=FILE   in the environment: two numbers of 64 bits, inputs and plans of all calls
 *
 * The first bytes choose devices, what is fused and where the network is cut.  It runs on one device, twice, and on two in the ways in
 * which it is cut; one of eight is cut into parts of operations, too, and of one in four requests run side by side.  Two runs
 * of a plan give the same bits, as do requests of one, and, in f32, two plans whose operators run one by one and add no pixels in
 * NHWC; others in f32 are alike but for what another order of sums makes.  An error is as good as
 * results, where all plans end so. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cover.h"
#include "exec/executor_impl.h"
#include "net_draw.h"
#include "op/value.h"
#include "split/decide.h"

/* ---- devices ---- */

/* Two cores; and two devices of one core, which one thread serves, so that nothing waits for a thread to wake: most networks
 * run there. */
enum { CORES, TURNS, TURNS_INT8, TURNS_BF16, N_PAIRS };
static const char *const pair_names[N_PAIRS] = {"cpu:0,cpu:1", "cpu:0,cpu",
						"cpu:0/precision=int8,cpu/precision=int8",
						"cpu:0/precision=bf16,cpu/precision=bf16"};
static struct pair {
	struct device_list devices;
	struct executor *executor;
} pairs[N_PAIRS];

/* Inputs, and plans that ran: placements of networks, each another one. */
static struct counts {
	uint64_t inputs, plans;
} own_counts, *counts = &own_counts;
static bool shown; /* NET_SHOW is in the environment: what is drawn, and errors */

static void stop(const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s\n", what, e->msg);
	abort();
}

/* "cpu" is the cores that there are, when it is opened. */
static struct pair *pair_of(int i)
{
	struct pair *x = &pairs[i];
	struct err e = ERR_INIT;
	if (x->executor)
		return x;
	if (i != CORES)
		cover_on_one_core(true);
	if (device_list_parse(pair_names[i], &x->devices, &e) < 0 ||
	    device_list_open(&x->devices, i == CORES, &e) < 0)
		stop("devices", &e);
	x->executor = executor_new(&x->devices);
	/* Threads that look for work would take the core from what draws and plans. */
	for (uint32_t s = 0; s < x->executor->n_seats; s++)
		x->executor->seat[s].spin_s = x->executor->seat[s].eager_s = 0;
	if (i != CORES)
		cover_on_one_core(false);
	return x;
}

/* ---- results ---- */

struct results {
	bool ran;
	uint32_t n;
	struct tensor t[64]; /* data: offset into bytes */
	uint8_t *bytes;
	size_t n_bytes, cap;
};
enum { MOST_REQUESTS = 3, RUNS_OF_REQUEST = 2 };
enum { FIRST, SECOND, CUT, PARTS, REQUEST, N_RESULTS = REQUEST + MOST_REQUESTS };
static struct results results[N_RESULTS];

/* Errors that somebody is meant to read. */
static void check_error(const char *what, struct err *e)
{
	if (e->code < ST_RUNTIME || e->code > ST_INPUT || e->msg[0] == '\0')
		stop(what, e);
	if (shown)
		fprintf(stderr, "%s: %s\n", what, e->msg);
	(void)err_unread(e);
}

static void keep_results(const struct model *m, const struct plan *p, struct results *to)
{
	to->n = m->n_results < 64 ? m->n_results : 64;
	to->n_bytes = 0;
	for (uint32_t r = 0; r < to->n; r++) {
		uint32_t root = m->result_root[r];
		struct tensor *t = &to->t[r];
		const void *data = p->result[r];
		*t = m->dynamic[root] ? *(const struct tensor *)data : m->values.value[root];
		data = m->dynamic[root] ? t->data : data;
		int64_t bytes = tensor_bytes(t);
		if (bytes < 0)
			abort();
		to->bytes = mem_grow(to->bytes, &to->cap, to->n_bytes + (size_t)bytes + 8, 1);
		if (bytes)
			memcpy(to->bytes + to->n_bytes, data, (size_t)bytes);
		to->n_bytes += ((size_t)bytes + 7) / 8 * 8;
	}
}

/* Plans, and runs once for each of `to`. */
static void run(struct pair *on, struct planner *pl, const uint16_t *device, struct results *to,
		uint32_t times)
{
	struct err e = ERR_INIT;
	struct plan p;
	struct exec_sample s = {0};
	counts->plans++;
	for (uint32_t i = 0; i < times; i++)
		to[i].ran = false;
	if (plan_make(pl, device, &p, &e) < 0) {
		check_error("plan", &e);
		return;
	}
	for (uint32_t i = 0; i < times; i++) {
		if (executor_run(on->executor, &p, &s, &e) < 0) {
			check_error("run", &e);
			break;
		}
		keep_results(pl->m, &p, &to[i]);
		to[i].ran = true;
	}
	plan_release(&p);
}

/* Bits behind the last element of a packed type are nobody's. */
static bool is_same(const struct tensor *a, const struct tensor *b)
{
	if (elem_bits(a->elem) >= 8)
		return memcmp(a->data, b->data, (size_t)tensor_bytes(a)) == 0;
	for (int64_t i = 0, n = tensor_elements(a); i < n; i++)
		if (tensor_code(a, i) != tensor_code(b, i))
			return false;
	return true;
}

/* Numbers of f32 and f64 by a share of the largest one, others as they are. */
static bool is_alike(const struct tensor *a, const struct tensor *b)
{
	int64_t n = tensor_elements(a);
	double largest = 1;
	if (a->elem != EL_F32 && a->elem != EL_F64)
		return is_same(a, b);
	for (int64_t i = 0; i < n; i++) {
		double x = fabs(tensor_real(a, i));
		largest = isfinite(x) && x > largest ? x : largest;
	}
	if (largest > 1e6)
		return true;
	for (int64_t i = 0; i < n; i++) {
		double x = tensor_real(a, i), y = tensor_real(b, i);
		if (isfinite(x) && isfinite(y) && fabs(x - y) > 1e-3 * largest)
			return false;
	}
	return true;
}

static void differ(const char *what, uint32_t r, const struct tensor *a, const struct tensor *b,
		   bool exact)
{
	fprintf(stderr, "%s: result %u differs%s\n", what, r, exact ? ", in bits" : "");
	for (int64_t i = 0, n = tensor_elements(a); i < n && shown && tensor_same_shape(a, b); i++)
		fprintf(stderr, "%g %g\n", tensor_real(a, i), tensor_real(b, i));
	abort();
}

/* exact: all bits that no random numbers decide; else what is smooth. */
static void compare(const char *what, const struct model *m, const struct drawn *net,
		    const struct results *a, const struct results *b, bool exact)
{
	size_t at = 0;
	if (a->ran != b->ran) {
		fprintf(stderr, "%s: one of them fails\n", what);
		abort();
	}
	for (uint32_t r = 0; a->ran && r < a->n; r++) {
		uint32_t o = graph_slot_output(net->graph, net->graph->in_ptr[m->result[r]]);
		struct tensor x = a->t[r], y = b->t[r];
		size_t bytes = (size_t)tensor_bytes(&x);
		x.data = a->bytes + at;
		y.data = b->bytes + at;
		at += (bytes + 7) / 8 * 8;
		if (x.elem != y.elem || !tensor_same_shape(&x, &y)) {
			if (!exact ||
			    net->random
				    [o]) /* values may decide shapes, and these where later ones are */
				return;
			differ(what, r, &x, &y, exact);
		}
		if (net->random[o] || !(exact || net->smooth[o]))
			continue;
		if (exact ? !is_same(&x, &y) : !is_alike(&x, &y))
			differ(what, r, &x, &y, exact);
	}
}

/* ---- one input ---- */

static void set_inputs(const struct model *m, const struct drawn *net, const uint32_t *param)
{
	for (uint32_t i = 0; i < m->n_params; i++) {
		struct tensor t;
		if (!tensor_describe(m->g, m->g->out_ptr[m->param[i]], &t))
			abort();
		t.data = m->input[i];
		draw_fill(&t, 1 + 31 * i, net->bound[param ? param[i] : m->param[i]]);
	}
}

static void print_graph(const struct graph *g)
{
	char text[120];
	for (uint32_t v = 0; v < g->n; v++) {
		fprintf(stderr, "%u %s", v, g->type[v]);
		for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++)
			fprintf(stderr, " %s=%s", g->attr_key[i], g->attr_value[i]);
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			fprintf(stderr, " <%u.%u>", g->in_node[i], g->in_port[i]);
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			struct tensor t;
			tensor_describe(g, o, &t);
			fprintf(stderr, " %s", tensor_text(&t, text, sizeof text));
		}
		fprintf(stderr, "\n");
	}
}

/* How an input is run. */
enum { MOST_WAYS = 6, RUN_WAYS = 3, MOST_AGAIN = 4 };
struct ways {
	struct pair *on;
	bool tight, in_host, parts, colocate;
	bool planes;       /* no tensor lies in NHWC */
	uint32_t requests; /* side by side; 1: no others */
	enum const_mode constants;
	uint32_t n; /* placements, the first on one device */
	struct way {
		enum fuse_mode fuse;
		uint8_t cut[6]; /* where sets are */
	} way[MOST_WAYS];
};

static void open_planner(struct planner *pl, struct model *m, const struct ways *w, struct err *e,
			 int *rc)
{
	*rc = planner_open(pl, m, &w->on->devices, e);
	pl->tight = w->tight;
	pl->in_host = w->in_host;
}

static uint16_t *place(const struct graph *g, const struct way *w)
{
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	for (uint32_t i = 0; i < g->n_sets; i++)
		device[i] = w->cut[i / 8 % 6] >> i % 8 & 1;
	return device;
}

/* The same with operations in two parts. */
static void run_parts(const struct ways *w, const struct model *whole, const struct drawn *net)
{
	static const uint32_t share[2] = {1, 1};
	struct err e = ERR_INIT;
	struct split_facts f;
	struct split_counts made = {0};
	struct split_decision decision;
	struct model m = {0};
	struct planner pl = {0};
	struct graph *g = NULL;
	const struct way *last = &w->way[w->n - 1];
	struct split_plan plan = {
		.ways = 2, .share = share, .again = last->cut[5] & 1, .apart = last->cut[5] & 2};
	int rc = split_facts_open(&f, net->graph, &e);
	if (rc == 0) {
		plan.axis = MEM_NEWN(int8_t, net->graph->n);
		split_decide(&f, &split_costs_cores, ~0u, true, 0, &plan, &decision);
		g = split_graph(&f, &plan, &made);
		mem_free(plan.axis);
	}
	if (rc == 0 && made.cut > 0) {
		graph_colocate(g, w->constants, w->colocate);
		rc = graph_check(g, &e) < 0 || model_open(&m, g, NULL, &e) < 0;
		if (rc == 0)
			open_planner(&pl, &m, w, &e, &rc);
		if (rc == 0) {
			uint16_t *device = place(g, last);
			set_inputs(&m, net, whole->param);
			run(w->on, &pl, device, &results[PARTS], 1);
			compare("whole and in parts", whole, net, &results[FIRST], &results[PARTS],
				false);
			mem_free(device);
		}
	}
	if (rc)
		stop("parts", &e);
	planner_close(&pl);
	model_close(&m);
	graph_free(g);
	split_facts_close(&f);
}

/* ---- requests side by side ---- */

struct requests {
	struct planner *pl;
	struct plan *plan[MOST_REQUESTS];
	uint32_t runs[MOST_REQUESTS]; /* that are to begin */
};

static bool next_run(void *arg, uint32_t i, const struct err *end, double begin_s, double end_s)
{
	struct requests *q = arg;
	struct results *to = &results[REQUEST + i];
	(void)begin_s, (void)end_s;
	if (end) {
		to->ran = end->code == ST_OK;
		if (to->ran)
			keep_results(q->pl->m, q->plan[i], to);
	}
	return q->runs[i] > 0 && q->runs[i]-- > 0;
}

/* Each request with the same inputs, so often that the last ones run while others have ended. */
static void run_requests(const struct ways *w, struct planner *pl, const struct drawn *net,
			 const uint16_t *device, bool exact)
{
	struct err e = ERR_INIT;
	struct requests q = {.pl = pl};
	struct plan p, *of = &p;
	const struct exec_load load = {
		.n = w->requests, .plan = q.plan, .next = next_run, .arg = &q};
	for (uint32_t i = 1; i <= w->requests; i++) {
		if (planner_request(pl, i % w->requests, &e) < 0)
			stop("request", &e);
		set_inputs(pl->m, net, NULL);
	}
	pl->in_flight = w->requests;
	counts->plans++;
	int rc = plan_make(pl, device, &p, &e);
	pl->in_flight = 1;
	if (rc < 0) {
		check_error("plan of requests", &e);
		return;
	}
	for (uint32_t i = 0; i < w->requests; i++, of = of->next_request) {
		q.plan[i] = of;
		q.runs[i] = RUNS_OF_REQUEST;
	}
	if (executor_load(w->on->executor, &load, &e) < 0)
		stop("requests", &e);
	for (uint32_t i = 0; i < w->requests; i++)
		compare("one inference and requests", pl->m, net, &results[i ? REQUEST : FIRST],
			&results[REQUEST + i], exact || i > 0);
	plan_release(&p);
}

/* Convolutions and means over pixels add in another order in NHWC, and what is cut decides which tensors lie so. */
static bool adds_pixels(const struct graph *g)
{
	for (uint32_t v = 0; v < g->n; v++)
		if (op_info(g->kind[v])->category == OPC_CONV || g->kind[v] == OP_REDUCE_MEAN ||
		    g->kind[v] == OP_AVG_POOL)
			return true;
	return false;
}

/* One device, and each placement that is another one than those before it, or fused otherwise. */
static void run_ways(const struct ways *w, struct model *m, struct planner *pl,
		     const struct drawn *net)
{
	const struct graph *g = net->graph;
	uint16_t *device[MOST_WAYS];
	bool order = w->planes || !adds_pixels(g);
	for (uint32_t i = 0; i < w->n; i++) {
		bool seen = false, plain;
		device[i] = place(g, &w->way[i]);
		for (uint32_t j = 0; j < i && !seen; j++)
			seen = w->way[i].fuse == w->way[j].fuse &&
			       memcmp(device[i], device[j], g->n_sets * sizeof *device[i]) == 0;
		pl->fuse = w->way[i].fuse;
		plain = order && w->way[0].fuse == FUSE_NONE && pl->fuse == FUSE_NONE;
		if (i == 0) {
			run(w->on, pl, device[i], &results[FIRST], 2);
			compare("two runs", m, net, &results[FIRST], &results[SECOND], true);
		} else if (!seen) {
			run(w->on, pl, device[i], &results[CUT], 1);
			if (w->on < &pairs[TURNS_INT8])
				compare("one device and two", m, net, &results[FIRST],
					&results[CUT], plain);
		}
		if (i + 1 == w->n && w->requests > 1 && w->on < &pairs[TURNS_INT8])
			run_requests(w, pl, net, device[i], plain);
	}
	for (uint32_t i = 0; i < w->n; i++)
		mem_free(device[i]);
}

static void run_net(const struct ways *w, const struct drawn *net)
{
	struct err e = ERR_INIT;
	struct model m = {0};
	struct planner pl = {0};
	struct graph *g = net->graph;
	int rc;
	graph_colocate(g, w->constants, w->colocate);
	if (graph_check(g, &e) < 0)
		stop("graph", &e);
	rc = model_open(&m, g, NULL, &e);
	if (rc == 0)
		open_planner(&pl, &m, w, &e, &rc);
	if (rc < 0) {
		check_error("model", &e);
	} else {
		set_inputs(&m, net, NULL);
		run_ways(w, &m, &pl, net);
		if (w->parts && w->on < &pairs[TURNS_INT8] && results[FIRST].ran)
			run_parts(w, &m, net);
	}
	planner_close(&pl);
	model_close(&m);
}

/* Counts that go on from call to call, whatever ends one, in this file. */
static void keep_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *counts) < 0)
		abort();
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		abort();
	close(fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	if (*argc > 1 && strcmp((*argv)[1], "-list") == 0) {
		puts("executor executor");
		exit(0);
	}
	shown = getenv("NET_SHOW") != NULL;
	if (getenv("NET_COUNTS"))
		keep_counts(getenv("NET_COUNTS"));
	return 0;
}

static void run_input(const uint8_t *data, size_t size)
{
	static const char *const pixels[] = {NULL, "0", "1"};
	static uint32_t pixels_now;
	static const enum fuse_mode modes[] = {FUSE_ALL, FUSE_ALL, FUSE_NONE, FUSE_SETS, FUSE_CUTS};
	static const enum const_mode constants[] = {CONST_FOLD, CONST_FOLD, CONST_DROP, CONST_KEEP};
	struct ways w;
	struct drawn net;
	draw_begin(data, size);
	uint32_t pair = draw_byte(32), how = draw_byte(3);
	w.on = pair_of(pair == 31  ? CORES
		       : pair > 27 ? TURNS_BF16
		       : pair > 20 ? TURNS_INT8
				   : TURNS);
	if (how != pixels_now && how)
		setenv("HSDAG_PIXELS", pixels[how], 1);
	else if (how != pixels_now)
		unsetenv("HSDAG_PIXELS");
	pixels_now = how;
	w.planes = how == 1;
	uint32_t memory = draw_byte(64);
	w.tight = memory % 8 == 7;
	w.requests = memory >= 8 * 6 ? memory / 8 - 4 : 1;
	w.in_host = draw_byte(8) != 7;
	w.parts = draw_byte(8) == 7;
	w.colocate = draw_byte(2);
	w.constants = constants[draw_byte(4)];
	w.n = 2 + draw_byte(MOST_WAYS - 1);
	for (uint32_t i = 0; i < w.n; i++) {
		w.way[i].fuse = modes[draw_byte(5)];
		for (int k = 0; k < 6; k++)
			w.way[i].cut[k] = i ? (uint8_t)draw_byte(256) : 0;
	}
	/* Bytes of all are read, so that what is drawn of the network is as in older inputs; a few are run. */
	for (; w.n > RUN_WAYS; w.n--)
		memmove(&w.way[1], &w.way[2], (w.n - 2) * sizeof *w.way);
	draw_net(&net);
	if (net.graph && shown)
		print_graph(net.graph);
	if (net.graph)
		run_net(&w, &net);
}

/* What the sanitizer knows to be allocated; NULL: there is none. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
	return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
						       : 0;
}

/* What is kept for later inputs is kept once; what there is more of each time is lost. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t before = allocated();
	counts->inputs++;
	if (size == 0)
		return 0;
	run_input(data, size);
	for (int more = 0; allocated() > before; more++) {
		if (more == MOST_AGAIN) {
			fprintf(stderr, "memory is lost, %zu bytes each time\n",
				allocated() - before);
			abort();
		}
		before = allocated();
		run_input(data, size);
	}
	return 0;
}

#ifdef LIBFUZZER
/* The linker puts these in the place of what code calls before each comparison (Makefile). */
#define UNTOLD(size, type) \
	__attribute__((no_sanitize("coverage"))) void __wrap___sanitizer_cov_trace_cmp##size( \
		type a, type b); \
	void __wrap___sanitizer_cov_trace_cmp##size(type a, type b) \
	{ \
		(void)a, (void)b; \
	} \
	__attribute__((no_sanitize( \
		"coverage"))) void __wrap___sanitizer_cov_trace_const_cmp##size(type a, type b); \
	__attribute__((no_sanitize( \
		"coverage"))) void __wrap___sanitizer_cov_trace_const_cmp##size(type a, type b) \
	{ \
		(void)a, (void)b; \
	}
UNTOLD(1, uint8_t)
UNTOLD(2, uint16_t)
UNTOLD(4, uint32_t)
UNTOLD(8, uint64_t)
#else
int main(int argc, char **argv)
{
	LLVMFuzzerInitialize(&argc, &argv);
	cover_files(argc, argv);
	printf("executor: %llu inputs, %llu plans\n", (unsigned long long)counts->inputs,
	       (unsigned long long)counts->plans);
	return 0;
}
#endif
