/* forms.h - the forms that placement problems come in: cost graphs of this project and of others, in JSON and as text.
 *
 * Forms that tell no devices get those of a specification: what a task takes, as its file tells, is its time on the first of
 * them, and on others by their FLOP/s. */
#ifndef HSDAG_PLACE_FORMS_FORMS_H
#define HSDAG_PLACE_FORMS_FORMS_H

#include "place/problem/jsonproblem.h"

/* What a person says besides the file. */
struct form_options {
	const char *form;    /* name of a form; NULL: by the content */
	const char *spec;    /* devices and links, as of spec_load; NULL: none */
	const char *devices; /* names of devices of spec; NULL: each once */
	const char *network; /* a file with SAGA's network; NULL: none */
	double unit_s;       /* seconds of a unit of time, where files tell none */
};

/* Reads the file at path ("-": standard input).  Memory from a.  -1: ST_RUNTIME when it cannot be read, ST_USAGE for options that it has no
 * use for or lacks, ST_INPUT with the file's name and what is wrong in it. */
int form_read_graph(const char *path, const struct form_options *o, struct arena *a,
		    struct json_problem *p, struct err *e) MUST_CHECK;

/* The name of form i, in the order in which they are tried, and what it is; NULL: there are no more. */
const char *form_at(size_t i, const char **about);

#endif
