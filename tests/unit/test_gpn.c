/* test_gpn.c - the graph parsing network against the equations, written out in
 * double precision with dense matrices and plain loops, without dropout. */
#include "tap.h"
#include "graphgen.h"
#include "randgraph.h"

#include "learn/net/gpn.h"
#include "learn/net/net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, D = 6, K = 3, H = 11 };

struct dense {
	int rows, cols;
	double v[N * N]; /* (rows, cols) */
};

static const struct params *block;

static const float *par(const char *part, int layer, const char *what, int *cols)
{
	char name[128];
	if (layer >= 0)
		snprintf(name, sizeof name, "%s.%d.%s", part, layer, what);
	else
		snprintf(name, sizeof name, "%s.%s", part, what);
	uint32_t i = 0;
	while (i < block->n_mats && strcmp(block->mat[i].name, name) != 0)
		i++;
	if (i == block->n_mats) {
		printf("Bail out! no matrix '%s'\n", name);
		exit(1);
	}
	if (cols)
		*cols = (int)block->mat[i].cols;
	return block->data + block->mat[i].at;
}

static void linear(struct dense *x, const char *part, int layer, bool relu)
{
	struct dense y = {.rows = x->rows};
	const float *w = par(part, layer, "weight", &y.cols), *b = par(part, layer, "bias", NULL);
	for (int i = 0; i < x->rows; i++)
		for (int j = 0; j < y.cols; j++) {
			double s = b[j];
			for (int k = 0; k < x->cols; k++)
				s += x->v[i * x->cols + k] * w[k * y.cols + j];
			y.v[i * y.cols + j] = relu && s < 0 ? 0 : s;
		}
	*x = y;
}

static void layer_norm(struct dense *x, const char *part, int layer, bool relu)
{
	const float *g = par(part, layer, "gain", NULL), *b = par(part, layer, "bias", NULL);
	for (int i = 0; i < x->rows; i++) {
		double *r = x->v + i * x->cols, mean = 0, var = 0;
		for (int j = 0; j < x->cols; j++)
			mean += r[j] / x->cols;
		for (int j = 0; j < x->cols; j++)
			var += (r[j] - mean) * (r[j] - mean) / x->cols;
		for (int j = 0; j < x->cols; j++) {
			r[j] = (r[j] - mean) / sqrt(var + 1e-5) * g[j] + b[j];
			r[j] = relu && r[j] < 0 ? 0 : r[j];
		}
	}
}

static void normed_layer(struct dense *x, const char *part, int layer)
{
	char norm[64];
	linear(x, part, layer, false);
	snprintf(norm, sizeof norm, "%s.%d.norm", part, layer);
	layer_norm(x, norm, -1, true);
}

struct dense_graph {
	int n;
	bool link[N][N];
	double bytes[N][N];
};

/* LayerNorm(X + H), H <- ReLU(Dhat^-1/2 Ahat Dhat^-1/2 H W + b) */
static struct dense gnn(const struct dense_graph *g, const struct dense *x, const char *part,
			int layers)
{
	struct dense h = *x;
	double deg[N];
	char norm[64];
	for (int i = 0; i < g->n; i++) {
		deg[i] = 1;
		for (int j = 0; j < g->n; j++)
			deg[i] += g->link[i][j];
	}
	for (int l = 0; l < layers; l++) {
		struct dense a = {h.rows, h.cols, {0}};
		for (int i = 0; i < g->n; i++)
			for (int j = 0; j < g->n; j++)
				for (int c = 0; c < h.cols && (i == j || g->link[i][j]); c++)
					a.v[i * h.cols + c] +=
						h.v[j * h.cols + c] / sqrt(deg[i] * deg[j]);
		linear(&a, part, l, true); /* (Ahat H) W + b */
		h = a;
	}
	for (int i = 0; i < h.rows * h.cols; i++)
		h.v[i] += x->v[i];
	snprintf(norm, sizeof norm, "%s.norm", part);
	layer_norm(&h, norm, -1, false);
	return h;
}

static struct dense deepset(const struct dense *x, const char *part)
{
	struct dense y = *x;
	char norm[64];
	linear(&y, part, 0, false);
	for (int i = 0; i < y.rows * y.cols; i++)
		y.v[i] += x->v[i];
	snprintf(norm, sizeof norm, "%s.norm", part);
	layer_norm(&y, norm, -1, false);
	return y;
}

/* prior: what is added in front of the sigmoid */
static double edge_score(const struct dense *z, int u, int v, int layers, double prior)
{
	struct dense e = {1, z->cols, {0}};
	for (int c = 0; c < z->cols; c++)
		e.v[c] = z->v[u * z->cols + c] * z->v[v * z->cols + c];
	for (int l = 0; l < layers - 1; l++)
		normed_layer(&e, "edge", l);
	linear(&e, "edge.score", -1, false);
	return 1 / (1 + exp(-e.v[0] - prior));
}

/* The mean of log bytes over the edges. */
static double mean_log_bytes(const struct dense_graph *g)
{
	double sum = 0;
	int m = 0;
	for (int i = 0; i < g->n; i++)
		for (int j = i + 1; j < g->n; j++)
			if (g->link[i][j]) {
				sum += log1p(g->bytes[i][j]);
				m++;
			}
	return m ? sum / m : 0;
}

/* One round with a known grouping: h becomes H', g the quotient. */
static void round_of(const struct gpn_hyper *hy, struct dense_graph *g, struct dense *h,
		     const int *group, int n_groups)
{
	struct dense z = gnn(g, h, "gnn1", (int)hy->layer_gnn);
	struct dense y = gnn(g, h, "gnn2", (int)hy->layer_gnn2);
	y = deepset(&y, "pre");
	struct dense sum = {n_groups, y.cols, {0}};
	double score[N] = {0};
	int edges[N] = {0};
	static struct dense_graph q;
	q = (struct dense_graph){.n = n_groups};
	double mean_log = mean_log_bytes(g);
	for (int i = 0; i < g->n; i++) {
		for (int c = 0; c < y.cols; c++)
			sum.v[group[i] * y.cols + c] += y.v[i * y.cols + c];
		for (int j = i + 1; j < g->n; j++) {
			if (!g->link[i][j])
				continue;
			if (group[i] == group[j]) {
				score[group[i]] += edge_score(
					&z, i, j, (int)hy->layer_parsingnet,
					hy->weights * (log1p(g->bytes[i][j]) - mean_log));
				edges[group[i]]++;
			} else {
				q.link[group[i]][group[j]] = q.link[group[j]][group[i]] = true;
				q.bytes[group[i]][group[j]] += g->bytes[i][j];
				q.bytes[group[j]][group[i]] += g->bytes[i][j];
			}
		}
	}
	*h = deepset(&sum, "post");
	for (int s = 0; s < n_groups; s++) {
		double mean = edges[s] ? score[s] / edges[s] : 1;
		double factor = mean * (hy->pool_sum && edges[s] ? edges[s] : 1);
		for (int c = 0; c < h->cols; c++)
			h->v[s * h->cols + c] *= factor;
	}
	*g = q;
}

/* Groups of the kept edges by relabelling; edges are counted in order of (u,v). */
static int groups_of(const struct dense_graph *g, const struct parse_round *r, int *group)
{
	int label[N], n_groups = 0;
	for (int i = 0; i < g->n; i++)
		label[i] = i;
	for (int pass = 0; pass < g->n; pass++) {
		uint32_t e = 0, k = 0;
		for (int i = 0; i < g->n; i++)
			for (int j = i + 1; j < g->n; j++) {
				if (!g->link[i][j])
					continue;
				if (k < r->n_kept && r->kept[k] == e++) {
					k++;
					label[i] = label[i] < label[j] ? label[i] : label[j];
					label[j] = label[i];
				}
			}
	}
	for (int i = 0; i < g->n; i++)
		group[i] = label[i] == i ? n_groups++ : group[label[i]];
	return n_groups;
}

static double compare(const struct dense *a, const float *b)
{
	double worst = 0, top = 1e-30;
	for (int i = 0; i < a->rows * a->cols; i++) {
		worst = fmax(worst, fabs(a->v[i] - b[i]));
		top = fmax(top, fabs(a->v[i]));
	}
	return worst / top;
}

static void check(const struct gpn_hyper *h, const struct grouping *given, const char *name)
{
	struct arena *a = arena_new();
	struct digraph d;
	struct ugraph g;
	struct err e = ERR_INIT;
	struct partition p;
	static struct dense_graph dg;
	struct dense x = {N, D, {0}};
	float xf[N * D];
	random_dag(&d, N, 5, 12, 0.1, 8, a);
	d.bytes = ARENA_NEWN(a, uint64_t, d.m);
	for (uint32_t i = 0; i < d.m; i++)
		d.bytes[i] = i * i * 997 % 50021;
	ugraph_from_digraph(&g, &d, a);
	dg = (struct dense_graph){.n = N};
	for (uint32_t i = 0; i < g.m; i++)
		dg.link[g.u[i]][g.v[i]] = dg.link[g.v[i]][g.u[i]] = true;
	for (uint32_t i = 0; i < d.m; i++)
		dg.bytes[d.src[i]][d.dst[i]] = dg.bytes[d.dst[i]][d.src[i]] = (double)d.bytes[i];
	for (int i = 0; i < N * D; i++)
		x.v[i] = xf[i] = (float)((i * 37) % 101) / 50 - 1;
	struct params *embed = nets[0]->embed_init(h, D, 3);
	struct params *policy = nets[0]->policy_init(h, D, K, 3);
	struct net_model m = {nets[0], h, &g, NULL, D, K, embed, policy};
	struct net_work *w = net_work_new(NULL);
	bool ran = net_embed(w, &m, xf, NULL, given, NULL, 0, &p, &e) == 0;

	block = embed;
	for (int l = 0; l < h->layer_trans; l++)
		normed_layer(&x, "in", l);
	int group[N];
	for (uint32_t r = 0; r < p.n_rounds; r++)
		round_of(h, &dg, &x, group, groups_of(&dg, &p.round[r], group));
	for (int i = 0; i < N && given; i++)
		group[i] = (int)given->group[i];
	if (given)
		round_of(h, &dg, &x, group, (int)given->n_groups);
	for (int l = 0; l < h->layer_trans; l++)
		linear(&x, "out", l, l < h->layer_trans - 1 || h->act_final);
	tap(ran && x.rows == (int)p.n_groups && compare(&x, p.z) < 2e-5,
	    "%s: embeddings of %u groups after %u rounds (error %.1e)", name, p.n_groups,
	    p.n_rounds, compare(&x, p.z));

	const float *logp;
	float *z = memcpy(arena_raw(a, (size_t)p.n_groups * D, 4), p.z, p.n_groups * D * sizeof *z);
	ran = net_policy(w, &m, z, p.n_groups, NULL, &logp, &e) == 0;
	block = policy;
	if (h->policy_norm)
		layer_norm(&x, "policy.norm", -1, false);
	linear(&x, "policy", 0, true);
	linear(&x, "policy", 1, false);
	for (int i = 0; i < x.rows; i++) {
		double sum = 0;
		for (int k = 0; k < K; k++)
			sum += exp(x.v[i * K + k]);
		for (int k = 0; k < K; k++)
			x.v[i * K + k] -= log(sum);
	}
	tap(ran && compare(&x, logp) < 2e-5, "%s: log-probabilities (error %.1e)", name,
	    compare(&x, logp));
	net_work_free(w);
	params_free(embed);
	params_free(policy);
	arena_free(a);
}

/* ---- a graph that is worked on in parts ---- */

enum { LARGE = 20000, LARGE_H = 128 };

/* A forward step works on edges in parts, a replay that trains on all at once.  Both have the same
 * bits, dropout included.  A forward step keeps what it still needs: three matrices with a row for
 * each node, two parts, and the graphs of the rounds. */
static void large_graph(void)
{
	struct arena *a = arena_new();
	struct digraph d = gen_digraph(5, LARGE, 2, 50, a);
	struct ugraph g;
	struct err e = ERR_INIT;
	struct partition p;
	struct gpn_hyper h = gpn_default;
	const struct rng_addr rng = {.seed = 3, .episode = 1, .step = 4};
	const float *policy_logp;

	h.hidden = LARGE_H;
	h.mix_rounds = 0;
	ugraph_from_digraph(&g, &d, a);
	float *x = ARENA_NEWN(a, float, LARGE *D);
	for (int i = 0; i < LARGE * D; i++)
		x[i] = (float)(i * 37L % 101) / 50 - 1;
	struct params *embed = nets[0]->embed_init(&h, D, 3);
	struct params *policy = nets[0]->policy_init(&h, D, K, 3);
	struct net_model m = {nets[0], &h, &g, NULL, D, K, embed, policy};
	struct net_work *forward = net_work_new(NULL), *w = net_work_new(NULL);

	bool ran = net_embed(forward, &m, x, &rng, NULL, NULL, 0, &p, &e) == 0;
	double matrices = (double)net_work_bytes(forward) / (sizeof(float) * LARGE * LARGE_H);
	tap(ran && p.n_rounds == 2 && matrices < 5,
	    "%d nodes, %u edges, %u groups: a forward step takes the memory of %.1f matrices",
	    LARGE, g.m, p.n_groups, matrices);

	uint16_t *action = ARENA_NEWN(a, uint16_t, p.n_groups);
	float *grad_embed = ARENA_NEWN(a, float, embed->n);
	float *grad_policy = ARENA_NEWN(a, float, policy->n);
	double logp, entropy, replayed;
	for (uint32_t i = 0; i < p.n_groups; i++)
		action[i] = (uint16_t)(i % K);
	ran = net_policy(w, &m, p.z, p.n_groups, NULL, &policy_logp, &e) == 0;
	logp = net_logp(policy_logp, p.n_groups, K, action);
	entropy = net_entropy(policy_logp, p.n_groups, K);
	struct replay_step s = {.x = x,
				.rng = &rng,
				.part = &p,
				.n_samples = 1,
				.action = action,
				.coef_logp = (double[]){1},
				.coef_entropy = 0.1,
				.logp = &replayed};
	ran = ran && net_replay(w, &m, &s, 1, grad_embed, grad_policy, &e) == 0;
	tap(ran && replayed == logp && s.entropy == entropy,
	    "its replay has the same log-probability and entropy: %.9g and %.9g", logp, entropy);
	net_work_free(forward);
	net_work_free(w);
	params_free(embed);
	params_free(policy);
	arena_free(a);
}

int main(void)
{
	struct gpn_hyper paper = gpn_paper, usual = gpn_default;
	paper.hidden = usual.hidden = H;
	usual.policy_gain = 1;
	check(&paper, NULL, "paper");
	usual.min_groups = 3;
	usual.layer_parsingnet = 3;
	check(&usual, NULL, "default");
	uint32_t group[N];
	for (uint32_t i = 0; i < N; i++)
		group[i] = i / 7;
	struct grouping given = {6, group};
	check(&paper, &given, "given grouping");
	large_graph();
	return tap_end();
}
