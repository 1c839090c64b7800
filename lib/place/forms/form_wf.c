/* form_wf.c - WfCommons' WfFormat, versions 1.3 to 1.6 (github.com/wfcommons/WfFormat; T. Coleman et al., FGCS 128, 2022).
 *
 *   from 1.5   workflow.specification.tasks[] {id, name, parents, children, inputFiles?, outputFiles?}, by ids;
 *              .files[] {id, sizeInBytes}; workflow.execution.tasks[] {id, runtimeInSeconds}
 *   to 1.4     workflow.tasks[] {name, id?, parents?, children?, files[] {link, name, path?, sizeInBytes}, runtimeInSeconds},
 *              by names or ids; 1.3 has runtime and size
 *
 * A file that a task makes and a child of it reads is what goes between them, one tensor for all that read it; a child
 * without such a file waits, for no bytes.  A task for which neither side tells a parent is a child of those who make what it reads.
 * What no task makes is where it is needed.  Machines that ran it, cores and memory of tasks are not read. */
#include <stdlib.h>
#include <string.h>

#include "place/forms/form_impl.h"

/* A task reads or makes a file. */
struct use {
	uint32_t task, file;
};

struct uses {
	struct use *x;
	uint32_t n;
	size_t cap;
};

struct workflow {
	const struct form_source *s;
	struct json_problem *p;
	struct err *e;
	const struct val *list; /* of tasks */
	uint32_t n;
	struct strtab names, ids; /* names: as tasks name each other */
	uint32_t *of_id;          /* (ids) tasks */
	struct strtab files;
	double *size; /* (files) bytes; -1: not told */
	size_t size_cap;
	struct uses made, read; /* by tasks, ascending */
	struct form_edges parents;
	bool *has_parent; /* (n) */
};

/* ---- which version ---- */

static const struct val *workflow_of(const struct val *json)
{
	const struct val *w = val_type(json) == VAL_MAP ? val_get(json, "workflow") : NULL;
	return w && val_type(w) == VAL_MAP ? w : NULL;
}

static bool is_wfformat(const struct form_source *s)
{
	return s->json && workflow_of(s->json);
}

/* ---- files ---- */

static uint32_t file_number(struct workflow *w, const char *id)
{
	uint32_t before = w->files.n, f = strtab_add(&w->files, id);
	w->size = mem_grow(w->size, &w->size_cap, (size_t)w->files.n, sizeof *w->size);
	if (w->files.n > before)
		w->size[f] = -1;
	return f;
}

static void add_use(struct uses *u, uint32_t task, uint32_t file)
{
	u->x = mem_grow(u->x, &u->cap, (size_t)u->n + 1, sizeof *u->x);
	u->x[u->n++] = (struct use){task, file};
}

/* Sizes of files from 1.5 on. */
static int read_sizes(struct workflow *w, const struct val *spec)
{
	const struct val *list;
	uint32_t n;
	if (!val_get(spec, "files"))
		return 0;
	if (json_problem_list(spec, "files", &list, &n, w->e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const char *id;
		double bytes = 0;
		if (get_text(val_at(list, i), "id", w->s->a, &id, w->e) < 0 ||
		    json_problem_number(val_at(list, i), "sizeInBytes", true, &bytes, w->e) < 0)
			return err_prefix(w->e, "files[%u]", i);
		uint32_t f = file_number(w, id);
		w->size[f] = bytes;
	}
	return 0;
}

static int read_file_ids(struct workflow *w, const struct val *task, const char *key, uint32_t v,
			 struct uses *u)
{
	const char **id;
	size_t n = SIZE_MAX;
	if (!val_get(task, key))
		return 0;
	if (get_texts(task, key, w->s->a, &n, &id, w->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint32_t f = strtab_find(&w->files, id[i]);
		char text[200];
		if (f == UINT32_MAX || w->size[f] < 0)
			return err_set(w->e, ST_INPUT, "%s: file '%s' is not among the files", key,
				       err_escape(text, sizeof text, id[i], strlen(id[i])));
		add_use(u, v, f);
	}
	return 0;
}

/* The files of a task up to 1.4. */
static int read_own_files(struct workflow *w, const struct val *task, uint32_t v)
{
	const struct val *list;
	uint32_t n;
	if (!val_get(task, "files"))
		return 0;
	if (json_problem_list(task, "files", &list, &n, w->e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct val *map = val_at(list, i);
		const char *name, *path = "", *link;
		double bytes = 0;
		if (get_text(map, "name", w->s->a, &name, w->e) < 0 ||
		    json_problem_text(map, "path", w->s->a, &path, w->e) < 0 ||
		    get_text(map, "link", w->s->a, &link, w->e) < 0 ||
		    json_problem_number(map, val_get(map, "size") ? "size" : "sizeInBytes", true,
					&bytes, w->e) < 0)
			return err_prefix(w->e, "files[%u]", i);
		if (strcmp(link, "input") != 0 && strcmp(link, "output") != 0)
			return err_set(w->e, ST_INPUT,
				       "files[%u]: link is neither 'input' nor 'output'", i);
		uint32_t f = file_number(w, arena_printf(w->s->a, "%s%s", path, name));
		w->size[f] = bytes > w->size[f] ? bytes : w->size[f];
		add_use(*link == 'i' ? &w->read : &w->made, v, f);
	}
	return 0;
}

/* ---- tasks ---- */

static int name_tasks(struct workflow *w, bool by_id)
{
	w->of_id = ARENA_NEWN(w->s->a, uint32_t, w->n);
	for (uint32_t v = 0; v < w->n; v++) {
		const struct val *map = val_at(w->list, v);
		const char *name = NULL, *id = NULL;
		if (json_problem_text(map, "id", w->s->a, &id, w->e) < 0 ||
		    (!by_id && get_text(map, "name", w->s->a, &name, w->e) < 0) ||
		    (by_id && !id && get_text(map, "id", w->s->a, &id, w->e) < 0))
			return err_prefix(w->e, "tasks[%u]", v);
		w->p->node_name[v] = by_id ? id : name;
		if (strtab_add(&w->names, w->p->node_name[v]) != v)
			return err_set(w->e, ST_INPUT, "tasks[%u]: its %s was there before", v,
				       by_id ? "id" : "name");
		uint32_t before = w->ids.n;
		if (id && strtab_add(&w->ids, id) == before)
			w->of_id[before] = v;
		w->p->type[v] = "Task";
		if (json_problem_text(map, "category", w->s->a, &w->p->type[v], w->e) < 0)
			return err_prefix(w->e, "tasks[%u]", v);
	}
	return 0;
}

/* A task by its name, else by its id; GRAPH_NONE: there is none. */
static uint32_t find_task(const struct workflow *w, const char *name)
{
	uint32_t v = strtab_find(&w->names, name), i = strtab_find(&w->ids, name);
	return v != UINT32_MAX ? v : i != UINT32_MAX ? w->of_id[i] : UINT32_MAX;
}

static int read_relatives(struct workflow *w, const struct val *task, const char *key, uint32_t v)
{
	const char **name;
	size_t n = SIZE_MAX;
	bool parents = *key == 'p';
	if (!val_get(task, key))
		return 0;
	if (get_texts(task, key, w->s->a, &n, &name, w->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint32_t u = find_task(w, name[i]);
		char text[200];
		if (u == UINT32_MAX || u == v)
			return err_set(w->e, ST_INPUT, "%s: '%s' is %s", key,
				       err_escape(text, sizeof text, name[i], strlen(name[i])),
				       u == v ? "the task itself" : "no task");
		w->has_parent[parents ? v : u] = true;
		if (form_edge(&w->parents, parents ? u : v, parents ? v : u, 0, 0, w->e) < 0)
			return -1;
	}
	return 0;
}

/* Seconds of the task that `map` tells of, up to 1.3 by another name. */
static int read_runtime(struct workflow *w, const struct val *map, uint32_t v)
{
	double seconds = 0;
	const char *key = val_get(map, "runtimeInSeconds") ? "runtimeInSeconds" : "runtime";
	if (!val_get(map, key))
		return err_set(w->e, ST_INPUT, "no key 'runtimeInSeconds': how long it takes");
	if (json_problem_number(map, key, true, &seconds, w->e) < 0)
		return -1;
	form_cost(w->s, w->p, v, seconds);
	return 0;
}

static int read_tasks(struct workflow *w, bool by_id)
{
	for (uint32_t v = 0; v < w->n; v++) {
		const struct val *map = val_at(w->list, v);
		if (read_relatives(w, map, "parents", v) < 0 ||
		    read_relatives(w, map, "children", v) < 0 ||
		    (by_id && (read_file_ids(w, map, "inputFiles", v, &w->read) < 0 ||
			       read_file_ids(w, map, "outputFiles", v, &w->made) < 0)) ||
		    (!by_id && (read_own_files(w, map, v) < 0 || read_runtime(w, map, v) < 0)))
			return err_prefix(w->e, "tasks[%u]", v);
	}
	return 0;
}

/* Times from 1.5 on. */
static int read_execution(struct workflow *w, const struct val *workflow)
{
	const struct val *execution, *list;
	bool *told = ARENA_NEWN(w->s->a, bool, w->n);
	uint32_t n;
	if (!val_get(workflow, "execution"))
		return err_set(w->e, ST_INPUT, "no key 'execution': how long its tasks take");
	if (get_map(workflow, "execution", &execution, w->e) < 0 ||
	    json_problem_list(execution, "tasks", &list, &n, w->e) < 0)
		return err_prefix(w->e, "execution");
	for (uint32_t i = 0; i < n; i++) {
		const char *id;
		uint32_t v;
		if (get_text(val_at(list, i), "id", w->s->a, &id, w->e) < 0 ||
		    ((v = find_task(w, id)) == UINT32_MAX &&
		     err_set(w->e, ST_INPUT, "its id is no task's") < 0) ||
		    read_runtime(w, val_at(list, i), v) < 0)
			return err_prefix(w->e, "execution: tasks[%u]", i);
		told[v] = true;
	}
	for (uint32_t v = 0; v < w->n; v++)
		if (!told[v])
			return err_set(w->e, ST_INPUT,
				       "execution: tasks[%u] is not among its tasks", v);
	return 0;
}

/* ---- edges ---- */

/* The uses of tasks are ptr[v] .. ptr[v+1]; memory from the problem's arena. */
static uint32_t *by_task(const struct workflow *w, const struct uses *u)
{
	uint32_t *ptr = ARENA_NEWN(w->s->a, uint32_t, (size_t)w->n + 1);
	for (uint32_t i = 0; i < u->n; i++)
		ptr[u->x[i].task + 1]++;
	for (uint32_t v = 0; v < w->n; v++)
		ptr[v + 1] += ptr[v];
	return ptr;
}

/* Tasks without parents, by the files that they read: the last task that makes one. */
static int infer_parents(struct workflow *w)
{
	uint32_t *maker = ARENA_NEWN(w->s->a, uint32_t, w->files.n);
	memset(maker, 0xff, w->files.n * sizeof *maker);
	for (uint32_t i = 0; i < w->made.n; i++)
		maker[w->made.x[i].file] = w->made.x[i].task;
	for (uint32_t i = 0; i < w->read.n; i++) {
		const struct use *x = &w->read.x[i];
		uint32_t u = maker[x->file];
		if (!w->has_parent[x->task] && u != UINT32_MAX && u != x->task &&
		    form_edge(&w->parents, u, x->task, 0, 0, w->e) < 0)
			return -1;
	}
	return 0;
}

static int by_ends(const void *pa, const void *pb)
{
	const struct json_problem_edge *a = pa, *b = pb;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Each pair of a parent and a child once, with the files between them. */
static int make_edges(struct workflow *w, struct form_edges *out)
{
	uint32_t *made = by_task(w, &w->made), *read = by_task(w, &w->read);
	uint32_t *seen = ARENA_NEWN(w->s->a, uint32_t, w->files.n); /* parent + 1 that makes it */
	struct form_edges *pairs = &w->parents;
	if (pairs->n)
		qsort(pairs->edge, pairs->n, sizeof *pairs->edge, by_ends);
	for (uint32_t i = 0; i < pairs->n; i++) {
		uint32_t u = pairs->edge[i].src, v = pairs->edge[i].dst, files = 0;
		if (i && by_ends(&pairs->edge[i], &pairs->edge[i - 1]) == 0)
			continue;
		for (uint32_t j = made[u]; j < made[u + 1]; j++)
			seen[w->made.x[j].file] = u + 1;
		for (uint32_t j = read[v]; j < read[v + 1]; j++) {
			uint32_t f = w->read.x[j].file;
			if (seen[f] != u + 1)
				continue;
			files++;
			if (form_edge(out, u, v, w->size[f], f + 1, w->e) < 0)
				return -1;
		}
		if (files == 0 && form_edge(out, u, v, 0, 0, w->e) < 0)
			return -1;
	}
	return 0;
}

/* ---- the whole ---- */

static int read_workflow(struct workflow *w)
{
	const struct val *x = workflow_of(w->s->json), *spec = NULL;
	struct form_edges edges = {0};
	bool by_id = val_get(x, "specification") != NULL;
	if ((by_id && get_map(x, "specification", &spec, w->e) < 0) ||
	    json_problem_list(by_id ? spec : x, "tasks", &w->list, &w->n, w->e) < 0)
		return -1;
	json_problem_alloc(w->p, w->n, w->s->a);
	w->has_parent = ARENA_NEWN(w->s->a, bool, w->n);
	if (name_tasks(w, by_id) < 0 || (by_id && read_sizes(w, spec) < 0) ||
	    read_tasks(w, by_id) < 0 || (by_id && read_execution(w, x) < 0) || infer_parents(w) < 0)
		return err_prefix(w->e, "workflow");
	int rc = make_edges(w, &edges);
	form_take_edges(&edges, w->s->a, w->p);
	return rc;
}

static int read_wfformat(const struct form_source *s, struct json_problem *p, struct err *e)
{
	struct workflow w = {.s = s, .p = p, .e = e};
	const char *version = "";
	if (!workflow_of(s->json))
		return err_set(e, ST_INPUT, "no object 'workflow'");
	if (json_problem_text(s->json, "name", s->a, &p->name, e) < 0 ||
	    json_problem_text(s->json, "schemaVersion", s->a, &version, e) < 0)
		return -1;
	if (val_get(workflow_of(s->json), "jobs"))
		return err_set(e, ST_INPUT,
			       "WfFormat %s has jobs; versions 1.3 to 1.6 are read, and WfFormat's "
			       "wfcommons-migrate-instance.py makes those",
			       version);
	int rc = read_workflow(&w);
	strtab_release(&w.names);
	strtab_release(&w.ids);
	strtab_release(&w.files);
	mem_free(w.size);
	mem_free(w.made.x);
	mem_free(w.read.x);
	mem_free(w.parents.edge);
	return rc;
}

const struct problem_form form_wfformat = {
	.name = "wfformat",
	.about = "WfCommons' workflows, WfFormat 1.3 to 1.6",
	.flags = FORM_HAS_SPEC | FORM_NEEDS_DEVICES,
	.is = is_wfformat,
	.read = read_wfformat,
};
