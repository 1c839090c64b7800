/* form_stg.c - standard task graphs (T. Tobita, H. Kasahara, J. of Scheduling 5(5), 2002; "STG format" of its site): the
 * number of tasks, then a line for each: number, time, number of predecessors, predecessors.  A dummy task begins and another one
 * ends it, which are not counted.  The prototype set has the number of processors behind that of tasks, and no dummy that begins.  Lines from the
 * first '#' on are about the graph.  Times are whole units; nothing tells what tasks hand over. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "place/forms/form_impl.h"

struct lines {
	const char *at, *end;
	unsigned number; /* of the line at hand */
	struct err *e;
};

/* The numbers of the next line that has any, into list (grown); 0: there is none, -1: something else is there. */
static int next_line(struct lines *l, int64_t **list, size_t *cap)
{
	while (l->at < l->end && *l->at != '#') {
		int n = 0;
		l->number++;
		while (l->at < l->end && *l->at != '\n') {
			char *behind;
			if (isspace((unsigned char)*l->at)) {
				l->at++;
				continue;
			}
			if (*l->at == '#')
				break;
			int64_t x = strtoll(l->at, &behind, 10);
			if (behind == l->at || x < 0 || x > UINT32_MAX ||
			    (*behind && !isspace((unsigned char)*behind)))
				return err_set(l->e, ST_INPUT,
					       "line %u: not a whole number from 0 to 2^32 - 1",
					       l->number);
			*list = mem_grow(*list, cap, (size_t)n + 1, sizeof **list);
			(*list)[n++] = x;
			l->at = behind;
		}
		if (l->at < l->end && *l->at == '\n')
			l->at++;
		if (n)
			return n;
	}
	return 0;
}

static bool is_stg(const struct form_source *s)
{
	size_t n = strspn(s->text, " \t\r\n");
	return isdigit((unsigned char)s->text[n]) != 0;
}

struct reading {
	const struct form_source *s;
	struct lines lines;
	int64_t *list, first; /* first: number of the first task */
	size_t cap;
	uint32_t n, most;
	struct form_edges edges;
	double *units;
};

static int read_task(struct reading *r, int n, struct err *e)
{
	const int64_t *x = r->list;
	if (r->n == 0)
		r->first = x[0];
	if (n < 3 || r->first > 1)
		return err_set(e, ST_INPUT, "line %u: a task has a number, a time and predecessors",
			       r->lines.number);
	if (r->n == r->most)
		return err_set(e, ST_INPUT, "line %u: one task more than line 1 tells",
			       r->lines.number);
	if (x[0] != r->first + r->n)
		return err_set(e, ST_INPUT,
			       "line %u: task %" PRId64 " where %" PRId64 " is to come",
			       r->lines.number, x[0], r->first + (int64_t)r->n);
	if (n - 3 != x[2])
		return err_set(e, ST_INPUT, "line %u: %d predecessors, not %" PRId64,
			       r->lines.number, n - 3, x[2]);
	r->units[r->n] = (double)x[1];
	for (int i = 3; i < n; i++) {
		if (x[i] < r->first || x[i] - r->first >= (int64_t)r->most || x[i] == x[0])
			return err_set(e, ST_INPUT, "line %u: there is no predecessor %" PRId64,
				       r->lines.number, x[i]);
		if (form_edge(&r->edges, (uint32_t)(x[i] - r->first), r->n, 0, 0, e) < 0)
			return -1;
	}
	r->n++;
	return 0;
}

static int read_tasks(struct reading *r, struct err *e)
{
	int n = next_line(&r->lines, &r->list, &r->cap);
	if (n <= 0)
		return n < 0 ? -1 : err_set(e, ST_INPUT, "no number of tasks");
	if (n > 2 || r->list[0] == 0 || r->list[0] > (int64_t)(r->lines.end - r->lines.at))
		return err_set(e, ST_INPUT, "line %u: not a number of tasks that follow",
			       r->lines.number);
	bool prototype = n == 2;
	uint32_t told = (uint32_t)r->list[0];
	r->most = told + 2;
	r->units = ARENA_NEWN(r->s->a, double, r->most);
	while ((n = next_line(&r->lines, &r->list, &r->cap)) > 0)
		if (read_task(r, n, e) < 0)
			return -1;
	if (n < 0)
		return -1;
	if (r->n != told + 2 && !(prototype && (r->n == told + 1 || r->n == told)))
		return err_set(e, ST_INPUT, "%u tasks, where line 1 tells of %u%s", r->n, told,
			       prototype ? "" : " and two dummies");
	for (uint32_t i = 0; i < r->edges.n; i++)
		if (r->edges.edge[i].src >= r->n)
			return err_set(e, ST_INPUT, "there is no predecessor %" PRId64,
				       r->first + (int64_t)r->edges.edge[i].src);
	return 0;
}

static int read_stg(const struct form_source *s, struct json_problem *p, struct err *e)
{
	struct reading r = {.s = s, .lines = {s->text, s->text + strlen(s->text), 0, e}};
	int rc = read_tasks(&r, e);
	if (rc == 0) {
		json_problem_alloc(p, r.n, s->a);
		for (uint32_t v = 0; v < r.n; v++) {
			p->id[v] = r.first + v;
			p->node_name[v] = arena_printf(s->a, "%" PRId64, p->id[v]);
			p->type[v] = "Task";
			form_cost(s, p, v, r.units[v] * s->o->unit_s);
		}
		form_take_edges(&r.edges, s->a, p);
	}
	mem_free(r.edges.edge);
	mem_free(r.list);
	return rc;
}

const struct problem_form form_stg = {
	.name = "stg",
	.about = "standard task graphs: whole units of time, no bytes",
	.flags = FORM_HAS_SPEC | FORM_HAS_UNIT | FORM_NEEDS_DEVICES | FORM_IS_TEXT,
	.is = is_stg,
	.read = read_stg,
};
