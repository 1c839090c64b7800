/* bench_learn.c - milliseconds per step of the learner, forward and replay, and
 * beside them the bare matrix products of the same step as an anchor.
 *
 *   bench_learn [REPEATS [STREAM...]]
 *
 * Without streams: synthetic DAGs with the sizes of three real models (nodes after
 * co-location, distinct edges, feature columns of the published encoding).  A stream
 * has a graph and its features: ir2dag M.xml | dagfeat --paper -o STREAM. */
#include "randgraph.h"
#include "read_problem.h"

#include "blas.h"
#include "learn/net/gpn.h"
#include "learn/net/net.h"
#include "learn/tape/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct size {
	const char *name;
	uint32_t n, m, d;
};

static const struct size sizes[] = {
	{"resnet50", 237, 252, 12},
	{"inception_v3", 435, 471, 17},
	{"bert_base", 759, 825, 26},
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double least(const double *x, int n)
{
	double m = x[0];
	for (int i = 1; i < n; i++)
		m = x[i] < m ? x[i] : m;
	return m;
}

/* The products of a forward step with these rounds, and nothing else. */
static double products(const struct gpn_hyper *h, const struct partition *p, const struct ugraph *g,
		       uint32_t d, float *A, float *B, float *C)
{
	double t0 = now();
	int w = (int)h->hidden, n = (int)g->n, m = (int)g->m;
	blas_gemm(false, false, n, w, (int)d, 1, A, (int)d, B, w, 0, C, w);
	blas_gemm(false, false, n, w, w, 1, A, w, B, w, 0, C, w);
	for (uint32_t r = 0; r < p->n_rounds; r++) {
		int next = (int)(r + 1 < p->n_rounds ? p->round[r + 1].n : p->n_groups);
		for (int i = 0; i < 4; i++) /* GNN1, GNN2, pre */
			blas_gemm(false, false, n, w, w, 1, A, w, B, w, 0, C, w);
		blas_gemm(false, false, m, w, w, 1, A, w, B, w, 0, C, w);
		blas_gemm(false, false, next, w, w, 1, A, w, B, w, 0, C, w);
		m = (int)((double)m * next / n); /* about as many edges a node */
		n = next;
	}
	return now() - t0;
}

/* What is worked on: a graph and its features. */
struct input {
	const char *name;
	struct ugraph g;
	const float *x; /* (g.n,d) */
	uint32_t d;
};

static void input_synthetic(struct input *in, const struct size *z, struct arena *a)
{
	struct digraph d;
	struct rng_addr at = {.seed = 2, .stream = 1};
	size_t n = (size_t)z->n * z->d;
	random_dag(&d, z->n, 8, z->m - z->n + 1, 0, 5, a);
	*in = (struct input){.name = z->name, .d = z->d};
	ugraph_from_digraph(&in->g, &d, a);
	float *x = arena_raw(a, n, sizeof *x);
	rng_uniform_f32(&at, 0, 1, x, n);
	in->x = x;
}

static void input_read(struct input *in, const char *path, struct learn_problem *p)
{
	read_problem(p, path);
	const char *slash = strrchr(path, '/');
	*in = (struct input){.name = slash ? slash + 1 : path, .g = p->graph, .x = p->x, .d = p->d};
}

struct world {
	const struct input *in;
	float *grad;
	struct net_model m;
};

static void world_init(struct world *s, const struct input *in, const struct gpn_hyper *h)
{
	struct params *e = nets[0]->embed_init(h, in->d, 1);
	struct params *p = nets[0]->policy_init(h, in->d, 2, 1);
	s->in = in;
	s->m = (struct net_model){nets[0], h, &in->g, NULL, in->d, 2, e, p};
	s->grad = MEM_NEWN(float, e->n + p->n);
}

static void world_release(struct world *s)
{
	struct params *e, *p;
	memcpy(&e, &s->m.embed, sizeof e);
	memcpy(&p, &s->m.policy, sizeof p);
	params_free(e);
	params_free(p);
	mem_free(s->grad);
}

struct timing {
	double forward, policy, replay, blas, groups, mbytes;
};

enum { STEPS = 20 };

static void one_run(struct world *s, struct net_work *w, struct replayer *r, uint32_t episode,
		    struct timing *t, float *scratch)
{
	static struct partition part[STEPS];
	static struct rng_addr rng[STEPS];
	static double coef = 1, logp[STEPS];
	struct replay_step step[STEPS];
	struct err e = ERR_INIT;
	struct arena *a = arena_new();
	uint32_t n = s->in->g.n;
	size_t nx = (size_t)n * s->m.d;
	const uint16_t *action = ARENA_NEWN(a, uint16_t, n);
	size_t rows = n > s->in->g.m ? n : s->in->g.m;
	size_t width = s->m.d > ((const struct gpn_hyper *)s->m.hyper)->hidden
			       ? s->m.d
			       : (size_t)((const struct gpn_hyper *)s->m.hyper)->hidden;
	float *A = scratch, *C = A + rows * width, *B = C + rows * width;
	*t = (struct timing){0};
	for (uint32_t i = 0; i < STEPS; i++) {
		struct partition p;
		const float *lp;
		float *x = arena_raw(a, nx, sizeof *x);
		memcpy(x, i ? step[i - 1].x : s->in->x, nx * sizeof *x);
		rng[i] = (struct rng_addr){.seed = 1, .episode = episode, .step = i};
		double t0 = now();
		if (i)
			net_advance(s->m.net, x, n, s->m.d, part[i - 1].group, part[i - 1].z);
		check(net_embed(w, &s->m, x, &rng[i], NULL, NULL, 0, &p, &e), &e);
		double t1 = now();
		part[i] = p;
		struct parse_round *round = arena_raw(a, p.n_rounds, sizeof *round);
		for (uint32_t k = 0; k < p.n_rounds; k++) {
			uint32_t kept = p.round[k].n_kept;
			round[k] = p.round[k];
			round[k].kept = memcpy(arena_raw(a, kept, 4), p.round[k].kept, kept * 4);
		}
		part[i].round = round;
		part[i].group = memcpy(arena_raw(a, n, 4), p.group, n * sizeof *p.group);
		size_t nz = (size_t)p.n_groups * s->m.d;
		part[i].z = memcpy(arena_raw(a, nz, 4), p.z, nz * sizeof *p.z);
		double t2 = now();
		check(net_policy(w, &s->m, part[i].z, p.n_groups, NULL, &lp, &e), &e);
		double t3 = now();
		t->forward += (t1 - t0) / STEPS;
		t->policy += (t3 - t2) / STEPS;
		t->groups += (double)p.n_groups / STEPS;
		t->blas += products(s->m.hyper, &part[i], &s->in->g, s->m.d, A, B, C) / STEPS;
		step[i] = (struct replay_step){
			.x = x,
			.rng = &rng[i],
			.part = &part[i],
			.n_samples = 1,
			.action = action,
			.coef_logp = &coef,
			.logp = &logp[i],
		};
	}
	double t0 = now();
	check(replayer_run(r, &s->m, step, STEPS, s->grad, s->grad + s->m.embed->n, &e), &e);
	t->replay = (now() - t0) / STEPS;
	t->mbytes = 1e-6 * (double)net_work_bytes(w);
	arena_free(a);
}

static void bench(const struct input *in, const char *recipe, const struct gpn_hyper *h,
		  int threads, int repeats)
{
	enum { MAX = 64 };
	double f[MAX], p[MAX], r[MAX], b[MAX];
	struct world s;
	struct timing t = {0};
	world_init(&s, in, h);
	struct pool *pool = threads > 1 ? pool_new(threads, NULL) : NULL;
	struct net_work *w = net_work_new(pool);
	struct replayer *rep = replayer_new(pool);
	size_t rows = in->g.n > in->g.m ? in->g.n : in->g.m;
	size_t w_in = in->d > h->hidden ? in->d : (size_t)h->hidden;
	float *scratch = MEM_NEWN(float, (2 * rows + w_in) * w_in);
	for (int i = -1; i < repeats; i++) {
		one_run(&s, w, rep, (uint32_t)(i + 1), &t, scratch);
		if (i >= 0) {
			f[i] = t.forward;
			p[i] = t.policy;
			r[i] = t.replay;
			b[i] = t.blas;
		}
	}
	double fm = 1e3 * least(f, repeats), pm = 1e3 * least(p, repeats);
	double bm = 1e3 * least(b, repeats);
	printf("%-16s %-8s %7d %7.0f %8.3f %8.3f %8.3f %9.3f %8.2f %8.1f\n", in->name, recipe,
	       threads, t.groups, fm, pm, 1e3 * least(r, repeats), bm, fm / bm, t.mbytes);
	mem_free(scratch);
	replayer_free(rep);
	net_work_free(w);
	pool_free(pool);
	world_release(&s);
}

static void bench_all(const struct input *in, int repeats, int cpus)
{
	for (int threads = 1; threads <= 2 && threads <= cpus; threads++) {
		bench(in, "paper", &gpn_paper, threads, repeats);
		bench(in, "default", &gpn_default, threads, repeats);
	}
}

int main(int argc, char **argv)
{
	int repeats = argc > 1 ? atoi(argv[1]) : 15, cpus = pool_n_cpus();
	if (repeats < 1 || repeats > 64) {
		fprintf(stderr, "bench_learn: error: repeats lie between 1 and 64\n");
		return 2;
	}
	blas_init();
	struct err e = ERR_INIT;
	check(tape_choose_products(&e), &e);
	printf("ms per step, best of %d episodes of %d steps; hidden 128; replay = forward\n"
	       "+ backward, steps in parallel; products = the forward matrix products alone,\n"
	       "one thread\n\n",
	       repeats, STEPS);
	printf("%-16s %-8s %7s %7s %8s %8s %8s %9s %8s %8s\n", "graph", "recipe", "threads",
	       "groups", "embed", "policy", "replay", "products", "embed/pr", "tape MB");
	struct input in;
	for (int i = 2; i < argc; i++) {
		struct learn_problem p;
		input_read(&in, argv[i], &p);
		bench_all(&in, repeats, cpus);
		learn_problem_release(&p);
	}
	for (size_t i = 0; argc <= 2 && i < sizeof sizes / sizeof *sizes; i++) {
		struct arena *a = arena_new();
		input_synthetic(&in, &sizes[i], a);
		bench_all(&in, repeats, cpus);
		arena_free(a);
	}
	return 0;
}
