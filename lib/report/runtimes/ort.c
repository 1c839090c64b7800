/* ort.c - ONNX Runtime: a session's configuration, by names of nodes ("name based layer assignment",
 * onnxruntime_session_options_config_keys.h, 1.32). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/strtab.h"
#include "report/runtimes/placed_ops.h"
#include "text/markup.h"

/* A pattern is a part of a name, and of several that a name has in it the longest counts: so a whole name is for this node
 * alone, as long as all are there. */
static bool can_be_told(const char *name)
{
	size_t n = strlen(name);
	return n > 0 && !strpbrk(name, ",;()") && name[0] != '=' && name[0] != ' ' &&
	       name[n - 1] != ' ';
}

struct telling {
	const struct placed_ops *ops;
	struct runtime_names names;
	struct strtab told; /* names */
	uint32_t *device;   /* (told) */
	bool *twice;        /* (told) operations of one name on several devices */
	uint32_t n_left, n_twice;
};

static void collect(struct telling *t, struct arena *a)
{
	t->device = ARENA_NEWN(a, uint32_t, t->ops->n);
	t->twice = ARENA_NEWN(a, bool, t->ops->n);
	for (uint32_t i = 0; i < t->ops->n; i++) {
		const struct placed_op *x = &t->ops->op[i];
		if (!can_be_told(x->name)) {
			t->n_left++;
			continue;
		}
		uint32_t before = t->told.n, at = strtab_add(&t->told, x->name);
		if (at == before)
			t->device[at] = x->device;
		else if (strcmp(t->names.name[t->device[at]], t->names.name[x->device]) != 0)
			t->twice[at] = true;
	}
	for (uint32_t i = 0; i < t->told.n; i++)
		t->n_twice += t->twice[i];
}

/* DEVICE(NAME,NAME); ... */
static void write_assignment(FILE *out, const struct telling *t, uint32_t k)
{
	char *text = NULL;
	size_t n = 0;
	FILE *list = open_memstream(&text, &n);
	bool any = false;
	for (uint32_t d = 0; list && d < k; d++) {
		bool seen = false, begun = false;
		for (uint32_t b = 0; b < d; b++)
			seen |= strcmp(t->names.name[b], t->names.name[d]) == 0;
		for (uint32_t i = 0; i < t->told.n && !seen; i++) {
			if (t->twice[i] ||
			    strcmp(t->names.name[t->device[i]], t->names.name[d]) != 0)
				continue;
			if (begun)
				fprintf(list, ",%s", t->told.s[i]);
			else
				fprintf(list, "%s%s(%s", any ? "; " : "", t->names.name[d],
					t->told.s[i]);
			any = begun = true;
		}
		if (begun)
			fputc(')', list);
	}
	if (list)
		fclose(list);
	markup_json(out, text ? text : "", text ? n : 0, false);
	free(text);
}

static void tell(const struct report_input *in, const struct telling *t)
{
	char text[300];
	if (t->n_left) {
		snprintf(text, sizeof text,
			 "%u operations have no name, or one with , ; ( ) that no rule can have: "
			 "ONNX Runtime chooses their devices",
			 t->n_left);
		in->warn(text);
	}
	if (t->n_twice) {
		snprintf(text, sizeof text,
			 "%u names are those of operations on several devices: left out",
			 t->n_twice);
		in->warn(text);
	}
}

static int write_ort(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = in->x->arena;
	struct placed_ops ops;
	struct telling t = {.ops = &ops};
	placed_ops_list(in, a, &ops);
	runtime_names(in, "CPUExecutionProvider", "gpu:", a, &t.names);
	collect(&t, a);
	tell(in, &t);
	int rc = t.told.n > t.n_twice
			 ? 0
			 : err_set(e, ST_INPUT, "no operation has a name that a rule can have");
	if (rc == 0)
		rc = runtime_names_check(&t.names, in->p->k, ",;()=",
					 "one of , ; ( ) =, which no device in a rule can have", e);
	if (rc == 0) {
		fputs("{\"session_config\": {\"session.name_based_layer_assignment\": ", out);
		write_assignment(out, &t, in->p->k);
		fputs("},\n \"graph_optimization_level\": \"ORT_DISABLE_ALL\",\n \"left_out\": ",
		      out);
		fprintf(out, "%u}\n", t.n_left + t.n_twice);
	}
	strtab_release(&t.told);
	return rc;
}

const struct report_format format_ort = {
	.name = "ort",
	.about = "JSON for ONNX Runtime: entries of a session's configuration that\n"
		 "assign nodes by their names to execution providers (add_session_\n"
		 "config_entry), and the optimisation level with which names stay.\n"
		 "Not told: names with , ; ( ); that several cores are apart. What\n"
		 "is no cpu is gpu:0, gpu:1, ... (not tried on several GPUs), unless\n"
		 "--map names providers",
	.write = write_ort,
};
