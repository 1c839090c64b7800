/* replayer.c - many recorded steps over several threads.
 *
 * A network may take steps that follow each other together, a batch of them.  Every batch but the first has a
 * gradient buffer of its own; a few batches at a time are computed, then their buffers are added up in the order
 * of the steps.  What is in a batch does not depend on the number of threads: where there are fewer batches than
 * threads, all threads work on one after another, else each on a batch of its own. */
#include "learn/net/net_steps.h"

#include <string.h>

enum { SUM_CHUNK = 4096 }; /* floats that one task adds up */

struct replayer {
	struct pool *pool;
	int threads, wave;      /* batches computed side by side */
	struct net_work **work; /* (threads) */
	float **grad;           /* (wave) gradients of both blocks, embed first */
	size_t n_grad;          /* floats in each */
	struct err *err;        /* (wave) */
	uint32_t *n;            /* (wave) steps of each batch */
};

/* One call of replayer_run. */
struct replay_run {
	struct replayer *r;
	const struct net_model *m;
	struct replay_step *step; /* all of them */
	uint32_t first, *n;       /* of the current wave, and of each of its batches */
	int n_batches;
	float *grad_embed, *grad_policy;
};

struct replayer *replayer_new(struct pool *pool)
{
	struct replayer *r = MEM_NEW(struct replayer);
	r->pool = pool;
	r->threads = pool ? pool_size(pool) : 1;
	r->wave = 2 * r->threads;
	r->work = MEM_NEWN(struct net_work *, (size_t)r->threads);
	for (int i = 0; i < r->threads; i++)
		r->work[i] = net_work_new(NULL);
	r->grad = MEM_NEWN(float *, (size_t)r->wave);
	r->err = MEM_NEWN(struct err, (size_t)r->wave);
	r->n = MEM_NEWN(uint32_t, (size_t)r->wave);
	return r;
}

void replayer_free(struct replayer *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->threads; i++)
		net_work_free(r->work[i]);
	for (int i = 0; i < r->wave; i++)
		mem_free(r->grad[i]);
	mem_free(r->work);
	mem_free(r->grad);
	mem_free(r->err);
	mem_free(r->n);
	mem_free(r);
}

/* How many batches of the wave add to the caller's gradients at once: the first of all does. */
static int n_direct(const struct replay_run *q)
{
	return q->first == 0;
}

static void replay_one(void *arg, int i, int thread)
{
	struct replay_run *q = arg;
	struct replayer *r = q->r;
	bool direct = i < n_direct(q);
	float *embed = direct ? q->grad_embed : r->grad[i];
	float *policy = direct ? q->grad_policy : r->grad[i] + q->m->embed->n;
	struct replay_step *step = q->step + q->first;
	for (int b = 0; b < i; b++)
		step += q->n[b];
	if (!direct)
		memset(r->grad[i], 0, r->n_grad * sizeof *r->grad[i]);
	err_clear(&r->err[i]);
	if (net_replay(r->work[thread], q->m, step, q->n[i], embed, policy, &r->err[i]) < 0)
		err_prefix(&r->err[i], "replay");
}

/* out[at] += gradients of the wave's other batches, in order */
static void add_range(const struct replay_run *q, size_t first, float *out, size_t at, size_t n)
{
	for (int s = n_direct(q); s < q->n_batches; s++)
		for (size_t i = at; i < at + n; i++)
			out[i] += q->r->grad[s][first + i];
}

static void run(struct pool *pool, int n, void (*fn)(void *, int, int), void *arg)
{
	if (pool)
		pool_run(pool, n, fn, arg);
	else
		for (int i = 0; i < n; i++)
			fn(arg, i, 0);
}

/* All batches of the wave. */
static void replay_wave(struct replay_run *q)
{
	struct replayer *r = q->r;
	if (q->n_batches >= r->threads) {
		run(r->pool, q->n_batches, replay_one, q);
		return;
	}
	net_work_share(r->work[0], r->pool);
	for (int i = 0; i < q->n_batches; i++)
		replay_one(q, i, 0);
	net_work_share(r->work[0], NULL);
}

static void sum_chunk(void *arg, int task, int thread)
{
	(void)thread;
	const struct replay_run *q = arg;
	size_t n_embed = q->m->embed->n, chunks = (n_embed + SUM_CHUNK - 1) / SUM_CHUNK;
	bool embed = (size_t)task < chunks;
	size_t n = embed ? n_embed : q->m->policy->n;
	size_t at = ((size_t)task - (embed ? 0 : chunks)) * SUM_CHUNK;
	size_t len = n - at < SUM_CHUNK ? n - at : SUM_CHUNK;
	add_range(q, embed ? 0 : n_embed, embed ? q->grad_embed : q->grad_policy, at, len);
}

/* How many of the n steps at s are a batch. */
static uint32_t batch_of(const struct net_model *m, const struct replay_step *s, uint32_t n)
{
	struct net_batch b = {.net = m->net};
	uint32_t i = 0;
	while (i < n && net_batch_takes(&b, s[i].n_samples, s[i].part->n_groups))
		i++;
	return i;
}

int replayer_run(struct replayer *r, const struct net_model *m, struct replay_step *steps,
		 uint32_t n_steps, float *grad_embed, float *grad_policy, struct err *e)
{
	size_t n = m->embed->n + m->policy->n;
	int chunks = (int)((m->embed->n + SUM_CHUNK - 1) / SUM_CHUNK +
			   (m->policy->n + SUM_CHUNK - 1) / SUM_CHUNK);
	if (n != r->n_grad)
		for (int i = 0; i < r->wave; i++)
			r->grad[i] = mem_resize(r->grad[i], n, sizeof(float));
	r->n_grad = n;
	struct replay_run q = {r, m, steps, 0, r->n, 0, grad_embed, grad_policy};
	for (int i = 0; i < r->threads; i++)
		net_work_fix(r->work[i]);
	for (uint32_t next = 0; next < n_steps; q.first = next) {
		for (q.n_batches = 0; q.n_batches < r->wave && next < n_steps; q.n_batches++) {
			r->n[q.n_batches] = batch_of(m, steps + next, n_steps - next);
			next += r->n[q.n_batches];
		}
		replay_wave(&q);
		uint32_t at = q.first;
		for (int i = 0; i < q.n_batches; at += r->n[i++])
			if (r->err[i].code)
				return err_set(e, r->err[i].code, "step %u: %s", at, r->err[i].msg);
		if (q.n_batches > n_direct(&q))
			run(r->pool, chunks, sum_chunk, &q);
	}
	return 0;
}
