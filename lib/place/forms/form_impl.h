/* form_impl.h - what the readers of forms share; for forms.c and form_*.c alone. */
#ifndef HSDAG_PLACE_FORMS_FORM_IMPL_H
#define HSDAG_PLACE_FORMS_FORM_IMPL_H

#include "graph/strtab.h"
#include "place/forms/forms.h"
#include "place/problem/jsonproblem_keys.h"
#include "place/problem/spec.h"

struct form_source {
	const struct form_options *o;
	const char *text; /* n bytes, and a NUL behind them */
	size_t n;
	const struct val *json; /* NULL: the text is no JSON */
	struct spec spec;       /* of o->spec; n_devs 0: none */
	const struct val *network;
	double *speed;      /* (devices of spec) FLOP/s */
	const char **about; /* the file that an error is about; NULL: it names one itself */
	struct arena *a;
};

/* Which options a form has a use for, whether it needs --spec, whether it is no JSON. */
enum {
	FORM_HAS_SPEC = 1,
	FORM_HAS_NETWORK = 2,
	FORM_HAS_UNIT = 4,
	FORM_NEEDS_DEVICES = 8,
	FORM_IS_TEXT = 16
};

struct problem_form {
	const char *name, *about;
	unsigned flags;
	bool (*is)(const struct form_source *s); /* by its content */
	int (*read)(const struct form_source *s, struct json_problem *p, struct err *e);
};

extern const struct problem_form form_general, form_operators, form_dnnpart, form_wfformat,
	form_saga, form_stg, form_dot;

/* ---- devices of a specification (form_machine.c) ---- */

/* Devices, links and rules of s->spec into p, and s->speed; before a form's reader. */
int form_machine(struct form_source *s, struct json_problem *p, struct err *e) MUST_CHECK;
/* Node v takes `seconds` on the first device. */
void form_cost(const struct form_source *s, struct json_problem *p, uint32_t v, double seconds);
/* Node v computes so many operations. */
void form_flops(const struct form_source *s, struct json_problem *p, uint32_t v, double flops);

/* ---- edges, as many as there are ---- */

struct form_edges {
	struct json_problem_edge *edge;
	uint32_t n;
	size_t cap;
};
/* -1 (ST_INPUT): more than 2^26, or more bytes than 2^62 in one. */
int form_edge(struct form_edges *x, uint32_t src, uint32_t dst, double bytes, uint32_t tensor,
	      struct err *e) MUST_CHECK;
/* They become p's, in memory of a. */
void form_take_edges(struct form_edges *x, struct arena *a, struct json_problem *p);

#endif
