/* bench_conv.c - speed of the CPU's convolutions and pooling on the layers of a model.
 *
 * usage: bench_conv [-t THREADS] [-r ROUNDS] [-f TEXT] [-n] MODEL.xml...
 * One line for each shape: how often it occurs, microseconds (the least of ROUNDS; a round runs
 * every shape once), GFLOP/s; then the sum over the model, and what the innermost kernel does in
 * the first-level cache.  Weights are halves with random values (-n: f32); -f takes the shapes
 * whose line contains TEXT.  Before every run the caches are swept, then the input is read and the
 * output written, as by the rest of a model: weights come from memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "kernel/gemm/gemm.h"
#include "kernel/kernel.h"
#include "record/graphrec.h"
#include "ir/ir.h"

enum { MAX_SHAPES = 400, SWEEP = 48 << 20 };

struct shape {
	struct op op;
	struct tensor in[2], out;
	int n;
	struct cpu_prep *prep;
	double best; /* seconds */
	char text[160];
};

static int rounds = 9, n_threads = 1;
static enum elem weight_elem = EL_F16;
static const char *filter;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *random_data(struct tensor *t)
{
	int64_t n = tensor_elements(t);
	t->data = mem_try((size_t)tensor_bytes(t) + 64);
	for (int64_t i = 0; i < n; i++)
		tensor_set_real(t, i, (double)(i * 7919 % 2003) / 2003.0 - 0.5);
	return t->data;
}

static bool describe(const struct graph *g, uint32_t v, struct shape *s)
{
	struct err e = {0};
	char a[80], b[80] = "", k[40] = "";
	memset(s, 0, sizeof *s);
	if (op_decode(g, v, &s->op, &e) < 0)
		return false;
	enum op_category c = op_info(s->op.kind)->category;
	if (c != OPC_CONV && c != OPC_POOL)
		return false;
	uint32_t at = g->in_ptr[v], o = g->out_ptr[v];
	if (!tensor_describe(g, g->out_ptr[g->in_node[at]] + g->in_port[at], &s->in[0]) ||
	    !tensor_describe(g, o, &s->out))
		return false;
	if (c == OPC_CONV &&
	    !tensor_describe(g, g->out_ptr[g->in_node[at + 1]] + g->in_port[at + 1], &s->in[1]))
		return false;
	if (c == OPC_CONV)
		tensor_text(&s->in[1], b, sizeof b);
	else
		snprintf(k, sizeof k, "%" PRId64 "x%" PRId64, s->op.a.window.kernel[0],
			 s->op.a.window.kernel[1]);
	snprintf(s->text, sizeof s->text, "%s %s%s s%" PRId64 " %s",
		 tensor_text(&s->in[0], a, sizeof a), b, k, s->op.a.window.stride[0],
		 op_info(s->op.kind)->type);
	s->n = 1;
	return !filter || strstr(s->text, filter);
}

static double flops_of(const struct shape *s)
{
	double f = 2 * (double)tensor_elements(&s->out);
	if (op_info(s->op.kind)->category == OPC_CONV) {
		int first = s->op.a.window.grouped ? 2 : 1;
		for (uint32_t i = (uint32_t)first; i < s->in[1].rank; i++)
			f *= (double)s->in[1].dim[i];
	} else {
		f *= (double)(s->op.a.window.kernel[0] * s->op.a.window.kernel[1]) / 2;
	}
	return f;
}

/* GFLOP/s of blocks whose operands stay in the first-level cache. */
static double speed(void)
{
	static float a[256 * GEMM_M], b[256 * GEMM_N], c[GEMM_M * GEMM_N];
	struct gemm_block g = {.mr = GEMM_M,
			       .nr = GEMM_N,
			       .kc = 128,
			       .a = a,
			       .b = b,
			       .ldb = GEMM_N,
			       .c = c,
			       .ldc = GEMM_N,
			       .ahead = a};
	enum { TIMES = 2000 };
	double t = now();
	for (int i = 0; i < TIMES; i++)
		gemm_multiply(&g);
	return 2.0 * TIMES * GEMM_M * GEMM_N * 128 / (now() - t) * 1e-9;
}

static void must(int rc, const struct shape *s, const struct err *e)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s: %s\n", s->text, e->msg);
	exit(1);
}

static void prepare(struct shape *s, struct cpu_ctx *c)
{
	struct err e = {0};
	bool conv = op_info(s->op.kind)->category == OPC_CONV;
	s->op.n_in = conv ? 2 : 1;
	s->op.n_out = 1;
	if (conv) {
		s->in[1].elem = weight_elem;
		random_data(&s->in[1]);
	}
	must(cpu_kernel_prepare(&s->op, s->in, &s->out, c, &s->prep, &e), s, &e);
	random_data(&s->in[0]);
	s->out.data = mem_try((size_t)tensor_bytes(&s->out) + 64);
	s->best = 1e9;
}

static void run(struct shape *s, struct cpu_ctx *c, float *sweep)
{
	struct err e = {0};
	for (int j = 0; j < SWEEP / 4; j += 16)
		sweep[j] += 1;
	memset(s->out.data, 0, (size_t)tensor_bytes(&s->out));
	const float *x = s->in[0].data;
	volatile float sum = 0;
	for (int64_t j = 0; j < tensor_elements(&s->in[0]); j += 16)
		sum += x[j];
	double t = now();
	must(cpu_kernel_run(&s->op, s->prep, s->in, &s->out, c, &e), s, &e);
	t = now() - t;
	s->best = t < s->best ? t : s->best;
}

static void release(struct shape *s)
{
	cpu_prep_free(s->prep);
	mem_free(s->in[0].data);
	mem_free(s->in[1].data);
	mem_free(s->out.data);
}

static void bench_model(const char *path, struct cpu_ctx *c, float *sweep)
{
	static struct shape shape[MAX_SHAPES];
	int n = 0;
	double sum = 0, flops = 0;
	struct err e = {0};
	struct ir_options opt = {.no_weights = true};
	struct graph *g = ir_read(path, &opt, NULL, &e);
	if (!g) {
		fprintf(stderr, "%s\n", e.msg);
		exit(1);
	}
	for (uint32_t v = 0; v < g->n && n < MAX_SHAPES; v++) {
		int i = 0;
		if (!describe(g, v, &shape[n]))
			continue;
		while (strcmp(shape[i].text, shape[n].text))
			i++;
		if (i < n)
			shape[i].n++;
		else
			n++;
	}
	for (int i = 0; i < n; i++)
		prepare(&shape[i], c);
	double peak = 0;
	for (int k = 0; k < rounds; k++) {
		double now_speed = speed();
		peak = now_speed > peak ? now_speed : peak;
		for (int i = 0; i < n; i++)
			run(&shape[i], c, sweep);
	}
	for (int i = 0; i < n; i++) {
		struct shape *s = &shape[i];
		double f = flops_of(s);
		printf("%2d x %8.1f us %6.1f GFLOP/s  %s\n", s->n, s->best * 1e6,
		       f / s->best * 1e-9, s->text);
		sum += s->n * s->best;
		flops += s->n * f;
		release(s);
	}
	printf("%s: %.2f ms, %.1f GFLOP/s (innermost kernel %.1f)\n", path, sum * 1e3,
	       flops / sum * 1e-9, peak);
	graph_free(g);
}

int main(int argc, char **argv)
{
	for (int o; (o = getopt(argc, argv, "t:r:f:n")) != -1;)
		switch (o) {
		case 't': n_threads = atoi(optarg); break;
		case 'r': rounds = atoi(optarg); break;
		case 'f': filter = optarg; break;
		case 'n': weight_elem = EL_F32; break;
		default: return 2;
		}
	rounds = rounds < 1 ? 1 : rounds;
	struct pool *pool = pool_new(n_threads, NULL);
	struct cpu_ctx *c = cpu_ctx_new(pool, NULL);
	float *sweep = mem_try(SWEEP);
	memset(sweep, 0, SWEEP);
	for (int i = optind; i < argc; i++)
		bench_model(argv[i], c, sweep);
	mem_free(sweep);
	cpu_ctx_free(c);
	pool_free(pool);
	return 0;
}
