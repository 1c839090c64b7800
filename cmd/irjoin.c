/* irjoin - several models as one, to place them on the same devices at once. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/opt.h"
#include "base/utf8.h"
#include "ir/ir.h"
#include "ir/join.h"

struct models {
	uint32_t n;
	struct ir_joined part[IR_JOIN_MOST];
	struct graph *g[IR_JOIN_MOST];
	struct weights w[IR_JOIN_MOST];
	struct arena *a;
};

/* MODEL.xml without folder and ending. */
static const char *stem(const char *path, struct arena *a)
{
	const char *slash = strrchr(path, '/'), *s = slash ? slash + 1 : path,
		   *dot = strrchr(s, '.');

	return arena_strndup(a, s, dot && dot > s ? (size_t)(dot - s) : strlen(s));
}

/* [NAME=]MODEL.xml[:COPIES]: the model's path in *path, the rest in *x.  A file of that name is that file. */
static int read_word(const char *word, struct arena *a, struct ir_joined *x, const char **path,
		     struct err *e)
{
	const char *equal = strchr(word, '='), *slash = strchr(word, '/'), *colon;
	int64_t copies = 1;

	*x = (struct ir_joined){.copies = 1, .name = stem(word, a)};
	*path = word;
	if (access(word, F_OK) == 0)
		return 0;
	x->name = NULL;
	if (equal && equal > word && (!slash || equal < slash)) {
		x->name = arena_strndup(a, word, (size_t)(equal - word));
		word = equal + 1;
	}
	colon = strrchr(word, ':');
	if (colon && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
		if (opt_int(colon + 1, "copies", 1, IR_JOIN_MOST, &copies, e) < 0)
			return -1;
		word = arena_strndup(a, word, (size_t)(colon - word));
	}
	*path = word;
	x->copies = (uint32_t)copies;
	if (!x->name)
		x->name = stem(word, a);
	return 0;
}

/* Nobody else has these names, nor all of them together too many copies. */
static int check(const struct models *m, const struct ir_joined *x, struct err *e)
{
	uint32_t sum = x->copies;
	char name[100];

	for (uint32_t i = 0; i < m->n; i++) {
		const struct ir_joined *y = &m->part[i];
		bool same = false;

		sum += y->copies;
		for (uint32_t j = 0; j < x->copies && sum <= IR_JOIN_MOST; j++)
			for (uint32_t k = 0; k < y->copies; k++)
				same |= strcmp(ir_joined_name(x, j, m->a),
					       ir_joined_name(y, k, m->a)) == 0;
		if (same)
			return err_set(e, ST_USAGE,
				       "two models are called '%s'; NAME=MODEL.xml names one",
				       err_escape(name, sizeof name, x->name, strlen(x->name)));
	}
	if (sum > IR_JOIN_MOST)
		return err_set(e, ST_USAGE, "more than %d copies of models", IR_JOIN_MOST);
	if (!utf8_valid(x->name, strlen(x->name)))
		return err_set(e, ST_USAGE,
			       "'%s' is no name for a model: not UTF-8; NAME=MODEL.xml",
			       err_escape(name, sizeof name, x->name, strlen(x->name)));
	return 0;
}

static int add_model(struct models *m, const char *word, struct err *e)
{
	struct ir_joined *x = &m->part[m->n];
	const char *path;

	if (read_word(word, m->a, x, &path, e) < 0 || check(m, x, e) < 0)
		return -1;
	struct graph *g = ir_read(path, NULL, NULL, e);
	if (!g)
		return -1;
	m->g[m->n] = g;
	x->g = g;
	if (g->n_const && !*g->weights) {
		err_set(e, ST_INPUT, "'%s' has no .bin; irfill makes one", path);
		graph_free(g);
		return -1;
	}
	if (weights_open(&m->w[m->n], g->weights, g, e) < 0) {
		graph_free(g);
		return -1;
	}
	x->weights = &m->w[m->n++];
	return 0;
}

/* FILE.xml, and beside it FILE.bin. */
static int output_names(const struct opt_common *o, struct arena *a, const char **bin,
			struct err *e)
{
	size_t n = o->output ? strlen(o->output) : 0;

	if (n < 5 || strcmp(o->output + n - 4, ".xml") != 0)
		return err_set(e, ST_USAGE,
			       "-o FILE.xml says where the model goes, its weights beside it");
	*bin = arena_printf(a, "%.*s.bin", (int)(n - 4), o->output);
	return 0;
}

/* A model that is read must not be written. */
static int check_other(const struct models *m, const char *xml, struct err *e)
{
	char *target = realpath(xml, NULL);
	int rc = 0;

	for (uint32_t i = 0; target && i < m->n && rc == 0; i++)
		if (strcmp(target, m->g[i]->xml) == 0)
			rc = err_set(e, ST_USAGE, "'%s' is read and written", xml);
	free(target);
	return rc;
}

static int run(const struct opt_common *o, int n, char **word, struct err *e)
{
	struct models m = {.a = arena_new()};
	const char *bin = NULL;
	int rc = output_names(o, m.a, &bin, e);

	for (int i = 0; i < n && rc == 0; i++)
		rc = add_model(&m, word[i], e);
	if (rc == 0)
		rc = check_other(&m, o->output, e);
	if (rc == 0)
		rc = ir_join(o->output, bin, m.part, m.n, e);
	for (uint32_t i = 0; i < m.n; i++) {
		weights_close(&m.w[i]);
		graph_free(m.g[i]);
	}
	arena_free(m.a);
	return rc;
}

int main(int argc, char **argv)
{
	struct opt_common common = {.output = NULL};
	const struct opt opts[] = {{"output", 'o', OPT_TEXT, &common.output, "FILE.xml",
				    "where the model goes, its weights beside it", 0, 0, NULL,
				    NULL},
				   {0}};
	const struct opt_program p = {
		.name = "irjoin",
		.summary = "several models as one, to place them on the same devices at once",
		.args = "[NAME=]MODEL.xml[:COPIES]...",
		.min_args = 1,
		.max_args = IR_JOIN_MOST,
		.no_output = true,
		.opts = opts,
		.details =
			"Writes FILE.xml and FILE.bin, with the inputs and outputs of all models:\n"
			"an inference of it is one of each. COPIES: so many inferences of this\n"
			"model for one of the others, which share its weights. Operations,\n"
			"tensors and variables are called NAME/theirs, as in detector/conv1,\n"
			"those of several copies NAME.1/, NAME.2/ and so on; NAME is the file's\n"
			"unless it is told.",
		.example = "irjoin detector.xml classifier.xml:4 -o both.xml",
	};
	struct err e = ERR_INIT;
	int first, rc = opt_parse(&p, &common, argc, argv, &first, &e);

	if (rc > 0)
		rc = run(&common, argc - first, argv + first, &e);
	return opt_finish(rc, &e);
}
