/* hyper.c - hyperparameters by name, and the two recipes. */
#include "learn/net/hyper.h"

#include <math.h>
#include <string.h>

#define INT(f, lo, hi, help) \
	{ \
#f, offsetof(struct hyper, f), false, lo, hi, help \
	}
#define REAL(f, lo, hi, help) \
	{ \
#f, offsetof(struct hyper, f), true, lo, hi, help \
	}

const struct hyper_field hyper_fields[] = {
	INT(hidden, 1, 4096, "width of the hidden layers"),
	INT(layer_trans, 1, 16, "layers of the input and of the output network"),
	INT(layer_gnn, 1, 16, "graph convolutions before the edge scores"),
	INT(layer_gnn2, 1, 16, "graph convolutions before the pooling"),
	INT(layer_parsingnet, 1, 16, "layers of the network that scores edges"),
	INT(layer_deepsets, 1, 16, "layers of each half of the pooling"),
	REAL(dropout_network, 0, 0.95, "probability that an activation is dropped"),
	REAL(dropout_parsing, 0, 0.95, "probability that a round of parsing cannot keep an edge"),
	INT(rounds, 0, 1000, "rounds of parsing; 0: until nothing shrinks"),
	INT(mix_rounds, 0, 1, "while training, each step draws its rounds from 1 to `rounds`"),
	REAL(weights, 0, 100, "what the log bytes of constants on an edge add to its score"),
	INT(min_groups, 1, 1e9, "fewest groups that a round of parsing may leave"),
	INT(pool_sum, 0, 1, "scale a group by the sum of its edges' scores instead of their mean"),
	INT(act_final, 0, 1, "end the output network in ReLU and dropout"),
	INT(policy_norm, 0, 1, "normalise a group's embedding in front of the policy"),
	REAL(policy_gain, 0, 100, "factor on the initial weights of the policy's last layer"),
	{NULL, 0, false, 0, 0, NULL},
};

const struct hyper hyper_paper = {
	.hidden = 128,
	.layer_trans = 2,
	.layer_gnn = 2,
	.layer_gnn2 = 1,
	.layer_parsingnet = 2,
	.layer_deepsets = 1,
	.dropout_network = 0.2,
	.dropout_parsing = 0,
	.rounds = 0,
	.min_groups = 1,
	.pool_sum = 1,
	.act_final = 1,
	.policy_norm = 0,
	.policy_gain = 1,
};

const struct hyper hyper_default = {
	.hidden = 128,
	.layer_trans = 2,
	.layer_gnn = 2,
	.layer_gnn2 = 1,
	.layer_parsingnet = 2,
	.layer_deepsets = 1,
	.dropout_network = 0.1,
	.dropout_parsing = 0,
	.rounds = 2,
	.mix_rounds = 1,
	.weights = 0.1,
	.min_groups = 16,
	.pool_sum = 0,
	.act_final = 0,
	.policy_norm = 1,
	.policy_gain = 0.1,
};

const struct hyper_field *hyper_find(const char *name)
{
	for (const struct hyper_field *f = hyper_fields; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

double hyper_get(const struct hyper *h, const struct hyper_field *f)
{
	const char *p = (const char *)h + f->offset;
	return f->is_real ? *(const double *)(const void *)p
			  : (double)*(const int64_t *)(const void *)p;
}

int hyper_set(struct hyper *h, const struct hyper_field *f, double v, struct err *e)
{
	if (!(v >= f->lo && v <= f->hi))
		return err_set(e, ST_INPUT, "hyperparameter '%s' is %g; it lies between %g and %g",
			       f->name, v, f->lo, f->hi);
	if (!f->is_real && v != floor(v))
		return err_set(e, ST_INPUT, "hyperparameter '%s' is %g; it is an integer", f->name,
			       v);
	char *p = (char *)h + f->offset;
	if (f->is_real)
		*(double *)(void *)p = v;
	else
		*(int64_t *)(void *)p = (int64_t)v;
	return 0;
}
