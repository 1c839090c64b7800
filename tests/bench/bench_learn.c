/* bench_learn.c - milliseconds per step of the learner, forward and replay, and
 * beside them the bare matrix products of the same step as an anchor.
 *
 *   bench_learn [REPEATS]
 *
 * Synthetic DAGs with the sizes of three real models (nodes after co-location,
 * distinct edges, feature columns of the published encoding). */
#include "randgraph.h"

#include "base/blas.h"
#include "learn/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct size {
	const char *name;
	uint32_t n, m, d;
	double published_ms;     /* the published code, one core, per policy step */
};

static const struct size sizes[] = {
	{"resnet50", 237, 252, 12, 77}, {"inception_v3", 435, 471, 17, 117},
	{"bert_base", 759, 825, 26, 197},
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *x, int n)
{
	qsort(x, (size_t)n, sizeof *x, by_value);
	return x[n / 2];
}

static void check(int rc, const struct err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_learn: error: %s\n", e->msg);
		exit(1);
	}
}

/* The products of a forward step with these rounds, and nothing else. */
static double products(const struct hyper *h, const struct partition *p, const struct ugraph *g,
		       uint32_t d, float *A, float *B, float *C)
{
	double t0 = now();
	int w = (int)h->hidden, n = (int)g->n, m = (int)g->m;
	blas_gemm(false, false, n, w, (int)d, 1, A, (int)d, B, w, 0, C, w);
	blas_gemm(false, false, n, w, w, 1, A, w, B, w, 0, C, w);
	for (uint32_t r = 0; r < p->n_rounds; r++) {
		int next = (int)(r + 1 < p->n_rounds ? p->round[r + 1].n : p->n_groups);
		for (int i = 0; i < 4; i++)          /* GNN1, GNN2, pre */
			blas_gemm(false, false, n, w, w, 1, A, w, B, w, 0, C, w);
		blas_gemm(false, false, m, w, w, 1, A, w, B, w, 0, C, w);
		blas_gemm(false, false, next, w, w, 1, A, w, B, w, 0, C, w);
		m = (int)((double)m * next / n);     /* about as many edges a node */
		n = next;
	}
	return now() - t0;
}

struct world {
	struct arena *a;
	struct ugraph g;
	float *x, *grad;
	struct net_model m;
};

static void world_init(struct world *s, const struct size *z, const struct hyper *h)
{
	struct digraph d;
	struct rng_addr at = {.seed = 2, .stream = 1};
	s->a = arena_new();
	random_dag(&d, z->n, 8, z->m - z->n + 1, 0, 5, s->a);
	ugraph_from_digraph(&s->g, &d, s->a);
	s->x = ARENA_NEWN(s->a, float, (size_t)z->n * z->d);
	rng_uniform_f32(&at, 0, 1, s->x, (size_t)z->n * z->d);
	struct params *e = nets[0].embed_init(h, z->d, 1), *p = nets[0].policy_init(h, z->d, 2, 1);
	s->m = (struct net_model){&nets[0], h, &s->g, z->d, 2, e, p};
	s->grad = ARENA_NEWN(s->a, float, e->n + p->n);
}

struct timing {
	double forward, policy, replay, blas, groups, mbytes;
};

enum { STEPS = 20 };

static void one_run(struct world *s, struct pool *pool, struct net_work *w, struct replayer *r,
		    uint32_t episode, struct timing *t, float *scratch)
{
	static struct partition part[STEPS];
	static struct rng_addr rng[STEPS];
	static uint16_t action[STEPS][1024];
	static double coef = 1, logp[STEPS];
	struct replay_step step[STEPS];
	struct err e = ERR_INIT;
	struct arena *a = arena_new();
	size_t nx = (size_t)s->g.n * s->m.d;
	float *A = scratch, *B = A + 1024 * 128, *C = B + 128 * 128;
	*t = (struct timing){0};
	(void)pool;
	for (uint32_t i = 0; i < STEPS; i++) {
		struct partition p;
		const float *lp;
		float *x = memcpy(arena_raw(a, nx, sizeof *x), i ? step[i - 1].x : s->x, nx * sizeof *x);
		rng[i] = (struct rng_addr){.seed = 1, .episode = episode, .step = i};
		double t0 = now();
		if (i)
			net_advance(x, s->g.n, s->m.d, part[i - 1].group, part[i - 1].z);
		check(net_embed(w, &s->m, x, &rng[i], NULL, NULL, 0, &p, &e), &e);
		double t1 = now();
		part[i] = p;
		struct parse_round *round = arena_raw(a, p.n_rounds, sizeof *round);
		for (uint32_t k = 0; k < p.n_rounds; k++) {
			uint32_t n = p.round[k].n_kept;
			round[k] = p.round[k];
			round[k].kept = memcpy(arena_raw(a, n, 4), p.round[k].kept, n * 4);
		}
		part[i].round = round;
		part[i].group = memcpy(arena_raw(a, s->g.n, 4), p.group, s->g.n * sizeof *p.group);
		size_t nz = (size_t)p.n_groups * s->m.d;
		part[i].z = memcpy(arena_raw(a, nz, 4), p.z, nz * sizeof *p.z);
		double t2 = now();
		check(net_policy(w, &s->m, part[i].z, p.n_groups, NULL, &lp, &e), &e);
		double t3 = now();
		t->forward += (t1 - t0) / STEPS;
		t->policy += (t3 - t2) / STEPS;
		t->groups += (double)p.n_groups / STEPS;
		t->blas += products(s->m.hyper, &part[i], &s->g, s->m.d, A, B, C) / STEPS;
		step[i] = (struct replay_step){.x = x, .rng = &rng[i], .part = &part[i], .n_samples = 1,
					       .action = action[i], .coef_logp = &coef, .logp = &logp[i]};
	}
	double t0 = now();
	check(replayer_run(r, &s->m, step, STEPS, s->grad, s->grad + s->m.embed->n, &e), &e);
	t->replay = (now() - t0) / STEPS;
	t->mbytes = 1e-6 * (double)net_work_bytes(w);
	arena_free(a);
}

static void bench(const struct size *z, const char *recipe, const struct hyper *h, int threads,
		  int repeats)
{
	enum { MAX = 64 };
	double f[MAX], p[MAX], r[MAX], b[MAX];
	struct world s;
	struct timing t = {0};
	world_init(&s, z, h);
	struct pool *pool = threads > 1 ? pool_new(threads, NULL) : NULL;
	struct net_work *w = net_work_new(pool);
	struct replayer *rep = replayer_new(pool);
	float *scratch = MEM_NEWN(float, 2 * 1024 * 128 + 128 * 128);
	for (int i = -1; i < repeats; i++) {
		one_run(&s, pool, w, rep, (uint32_t)(i + 1), &t, scratch);
		if (i >= 0) {
			f[i] = t.forward;
			p[i] = t.policy;
			r[i] = t.replay;
			b[i] = t.blas;
		}
	}
	double fm = 1e3 * median(f, repeats), pm = 1e3 * median(p, repeats);
	printf("%-13s %-8s %7d %8.0f %8.3f %8.3f %8.3f %8.3f %7.1f %8.0fx\n", z->name, recipe, threads,
	       t.groups, fm, pm, 1e3 * median(r, repeats), 1e3 * median(b, repeats), t.mbytes,
	       z->published_ms / (fm + pm));
	mem_free(scratch);
	replayer_free(rep);
	net_work_free(w);
	pool_free(pool);
	arena_free(s.a);
}

int main(int argc, char **argv)
{
	int repeats = argc > 1 ? atoi(argv[1]) : 15, cpus = pool_n_cpus();
	if (repeats < 1 || repeats > 64) {
		fprintf(stderr, "bench_learn: error: repeats lie between 1 and 64\n");
		return 2;
	}
	blas_init();
	printf("ms per step, medians of %d episodes of %d steps; hidden 128; replay = forward + backward,\n"
	       "steps in parallel; products = the forward matrix products alone, one thread;\n"
	       "gain = published code (one core) / (embed + policy)\n\n", repeats, STEPS);
	printf("%-13s %-8s %7s %8s %8s %8s %8s %8s %7s %9s\n", "graph", "recipe", "threads", "groups",
	       "embed", "policy", "replay", "products", "tape MB", "gain");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int threads = 1; threads <= 2 && threads <= cpus; threads++) {
			bench(&sizes[i], "paper", &hyper_paper, threads, repeats);
			bench(&sizes[i], "default", &hyper_default, threads, repeats);
		}
	return 0;
}
