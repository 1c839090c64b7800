/* critic.c - the learned value of a state. */
#include "learn/train/critic.h"

#include <string.h>

void critic_release(struct critic *c)
{
	params_free(c->p);
	adam_release(&c->adam);
	mem_free(c->grad);
	*c = (struct critic){0};
}

void critic_begin(struct critic *c, uint32_t width)
{
	enum { STREAMS = 2000 }; /* behind those of the networks */
	if (c->p)
		return;
	c->p = params_new();
	c->score = scorer_add(c->p, "value", width, SCORER_SMALL);
	params_alloc(c->p);
	params_init(c->p, c->seed, STREAMS);
	adam_init(&c->adam, c->p->n, 0);
	c->grad = MEM_NEWN(float, c->p->n);
}

double critic_value(const struct critic *c, const float *x, uint32_t n)
{
	float *score = MEM_NEWN(float, (size_t)n + 1);
	double sum = 0;
	scorer_run(&c->score, c->p, x, n, score);
	for (uint32_t i = 0; i < n; i++)
		sum += score[i];
	mem_free(score);
	return n ? sum / n : 0;
}

void critic_add(struct critic *c, const float *x, uint32_t n, double target, double weight)
{
	double slope = n ? weight * (critic_value(c, x, n) - target) / n : 0;
	float *each = MEM_NEWN(float, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		each[i] = (float)slope;
	scorer_back(&c->score, c->p, x, n, each, c->grad);
	mem_free(each);
}

void critic_step(struct critic *c, double lr)
{
	c->adam.lr = lr;
	adam_step(&c->adam, c->p->data, c->grad, 1);
	memset(c->grad, 0, c->p->n * sizeof *c->grad);
}
