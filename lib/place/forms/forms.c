/* forms.c - the table of forms, which of them a file is in, and what goes with it. */
#include "place/forms/forms.h"

#include <stdio.h>
#include <string.h>

#include "place/forms/form_impl.h"
#include "stream/json_read.h"

/* ---- this project's form, and dnn-partitioning's ---- */

static bool has_key(const struct form_source *s, const char *key)
{
	return s->json && val_type(s->json) == VAL_MAP && val_get(s->json, key);
}

static bool is_general(const struct form_source *s)
{
	return has_key(s, "devices");
}

static int read_general(const struct form_source *s, struct json_problem *p, struct err *e)
{
	return json_problem_read(s->json, NULL, s->a, p, e);
}

const struct problem_form form_general = {
	.name = "general",
	.about = "JSON with devices, links, nodes and edges, as above",
	.is = is_general,
	.read = read_general,
};

/* Nodes that have an id, and no devices. */
static bool is_operators(const struct form_source *s)
{
	const struct val *nodes = has_key(s, "nodes") ? val_get(s->json, "nodes") : NULL;

	return nodes && val_type(nodes) == VAL_ARRAY && val_count(nodes) &&
	       val_type(val_at(nodes, 0)) == VAL_MAP && val_get(val_at(nodes, 0), "id") &&
	       !has_key(s, "devices") && !has_key(s, "maxFPGAs");
}

static int read_operators(const struct form_source *s, struct json_problem *p, struct err *e)
{
	return json_problem_read(s->json, &s->spec, s->a, p, e);
}

const struct problem_form form_operators = {
	.name = "operators",
	.about = "the same without devices: nodes may have flops and bytes",
	.flags = FORM_HAS_SPEC | FORM_NEEDS_DEVICES,
	.is = is_operators,
	.read = read_operators,
};

static bool is_dnnpart(const struct form_source *s)
{
	return has_key(s, "maxFPGAs");
}

static int read_dnnpart(const struct form_source *s, struct json_problem *p, struct err *e)
{
	return json_problem_read_dnnpart(s->json, s->a, p, e);
}

const struct problem_form form_dnnpart = {
	.name = "dnn-partitioning",
	.about = "its instances, in ms; devices cpu:N, acc:N; devsim --model",
	.is = is_dnnpart,
	.read = read_dnnpart,
};

/* The order in which they are tried. */
static const struct problem_form *const forms[] = {&form_general,  &form_operators, &form_dnnpart,
						   &form_wfformat, &form_saga,      &form_dot,
						   &form_stg};
enum { N_FORMS = sizeof forms / sizeof *forms };

const char *form_at(size_t i, const char **about)
{
	if (i >= N_FORMS)
		return NULL;
	*about = forms[i]->about;
	return forms[i]->name;
}

/* ---- which form it is ---- */

static const struct problem_form *named(const char *name, struct err *e)
{
	char known[200] = "";
	struct err_near near = {.name = name};
	for (size_t i = 0; i < N_FORMS; i++) {
		size_t at = strlen(known);
		if (strcmp(forms[i]->name, name) == 0)
			return forms[i];
		err_offer(&near, forms[i]->name);
		snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", forms[i]->name);
	}
	err_unknown(e, ST_USAGE, &near, known, "--form: there is no form '%s'", name);
	return NULL;
}

static const struct problem_form *recognise(const struct form_source *s, struct err *e)
{
	for (size_t i = 0; i < N_FORMS; i++)
		if (forms[i]->is(s))
			return forms[i];
	err_set(e, ST_INPUT,
		"%sneither key 'devices' (the general form) nor 'maxFPGAs' (dnn-partitioning), "
		"'workflow' (WfFormat), 'tasks' and 'dependencies' (SAGA); nor a digraph (DOT), "
		"nor a number of tasks (STG)",
		val_type(s->json) == VAL_MAP ? "" : "not an object: ");
	return NULL;
}

/* Options that would do nothing are mistakes. */
static int check_options(const struct problem_form *f, const struct form_source *s, struct err *e)
{
	const struct form_options *o = s->o;
	if (o->spec && !(f->flags & FORM_HAS_SPEC))
		return err_set(e, ST_USAGE, "--spec: a file of form %s has its devices", f->name);
	if (o->devices && !o->spec)
		return err_set(e, ST_USAGE, "--devices goes with --spec");
	if (o->network && !(f->flags & FORM_HAS_NETWORK))
		return err_set(e, ST_USAGE, "--network goes with form saga, this is %s", f->name);
	if (o->network && o->spec)
		return err_set(e, ST_USAGE, "--network and --spec: one of them has the devices");
	if (o->unit_s != 1 && !(f->flags & FORM_HAS_UNIT))
		return err_set(e, ST_USAGE, "--unit: times of form %s are in known units", f->name);
	if ((f->flags & FORM_NEEDS_DEVICES) && !o->spec)
		return err_set(e, ST_USAGE,
			       "a file of form %s has no devices; --spec FILE or PRESET gives them",
			       f->name);
	return 0;
}

static int read_as(const struct problem_form *f, struct form_source *s, struct json_problem *p,
		   struct err *e)
{
	const struct form_options *o = s->o;
	const char *path = *s->about;
	if (s->json && val_type(s->json) != VAL_MAP)
		return err_set(e, ST_INPUT, "not an object");
	*p = (struct json_problem){.name = ""};
	*s->about = NULL;
	if (check_options(f, s, e) < 0 || (o->spec && spec_load(o->spec, s->a, &s->spec, e) < 0) ||
	    (o->spec && form_machine(s, p, e) < 0))
		return -1;
	if (o->network && !(s->network = json_read(o->network, s->a, e)))
		return -1;
	*s->about = path;
	if (f->read(s, p, e) < 0)
		return -1;
	return p->n ? 0 : err_set(e, ST_INPUT, "there is nothing to place");
}

/* The text, as JSON unless it is in a form of text. */
static int read_text(const char *path, const struct problem_form *told, struct form_source *s,
		     struct err *e)
{
	char *text = NULL;
	if (json_file(path, &text, &s->n, e) < 0)
		return -1;
	*s->about = path;
	json_blank_mark(text, s->n);
	s->text = arena_strndup(s->a, text, s->n);
	int rc = 0;
	if (told ? !(told->flags & FORM_IS_TEXT) : !form_dot.is(s) && !form_stg.is(s))
		rc = (s->json = json_parse(text, s->n, s->a, e)) ? 0 : -1;
	else if (strlen(s->text) < s->n)
		rc = err_set(e, ST_INPUT, "byte 0 in a text");
	mem_free(text);
	return rc;
}

int form_read_graph(const char *path, const struct form_options *o, struct arena *a,
		    struct json_problem *p, struct err *e)
{
	const char *about = NULL;
	struct form_source s = {.o = o, .about = &about, .a = a};
	const struct problem_form *f = o->form ? named(o->form, e) : NULL;
	if (o->form && !f)
		return -1;
	int rc = read_text(path, f, &s, e);
	if (rc == 0 && !f)
		f = recognise(&s, e);
	rc = rc == 0 && f ? read_as(f, &s, p, e) : -1;
	if (rc < 0 && e->code == ST_INPUT && about)
		err_prefix(e, "'%s'", about);
	return rc;
}
