/* tsv.c - paths into records, and their values as cells. */
#include "stream/tsv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/json.h"
#include "text/markup.h"

enum { MAX_COLUMNS = 64, MAX_STEPS = 16, NOTED = 100 };
static const uint64_t EACH = UINT64_MAX;

/* One step of a path: an entry of a map, or an element of an array or tensor. */
struct step {
	const char *key; /* NULL: an index */
	uint64_t index;  /* EACH: every one */
};

struct column {
	uint32_t n;
	struct step step[MAX_STEPS];
	bool each, kind;  /* kind: the record's, without steps */
	bool found;       /* some record had its first key */
	uint32_t each_at; /* the step that is [] */
};

struct tsv {
	struct arena *arena;
	uint32_t n;
	struct column column[MAX_COLUMNS];
	bool each;         /* some column has a line for each element */
	const char **seen; /* keys of the first records, without what all columns found there */
	size_t n_seen, cap_seen, n_noted;
};

/* What a path has reached: a value, or the rest of a tensor from dimension `dim` on. */
struct place {
	const struct val *v; /* NULL: nothing */
	bool is_tensor;
	struct tensor_view t;
	uint32_t dim;
	uint64_t first, n; /* elements of the tensor */
};

/* ---- paths ---- */

static int add_step(struct column *c, struct step s, const char *path, struct err *e)
{
	if (c->n == MAX_STEPS)
		return err_set(e, ST_USAGE, "--tsv: '%s' has more than %d steps", path, MAX_STEPS);
	c->step[c->n++] = s;
	if (s.key || s.index != EACH)
		return 0;
	if (c->each)
		return err_set(e, ST_USAGE, "--tsv: '%s' has more than one []", path);
	c->each = true;
	c->each_at = c->n - 1;
	return 0;
}

/* "[]" or "[N]" at *at, which moves behind it. */
static int add_index(struct column *c, const char *path, const char **at, struct err *e)
{
	char *end = (char *)*at + 1;
	uint64_t i = *end == ']' ? EACH : strtoull(end, &end, 10);
	bool each = (*at)[1] == ']', digits = (*at)[1] >= '0' && (*at)[1] <= '9';
	if (!(each || digits) || *end != ']')
		return err_set(e, ST_USAGE, "--tsv: '%s': an index is [N] or []", path);
	if (digits && i == EACH) /* or more: what strtoull gives then */
		return err_set(e, ST_USAGE, "--tsv: '%s': an index is too large", path);
	*at = end + 1;
	return add_step(c, (struct step){NULL, i}, path, e);
}

static int parse_path(struct tsv *t, struct column *c, const char *path, struct err *e)
{
	const char *at = path;
	c->kind = strcmp(path, ":kind") == 0;
	if (c->kind)
		return 0;
	for (bool first = true; first || *at; first = false) {
		size_t n = strcspn(at, ".[");
		if (!first && *at == '[') {
			if (add_index(c, path, &at, e) < 0)
				return -1;
			continue;
		}
		if (!first && *at == '.') {
			at++;
			n = strcspn(at, ".[");
		} else if (!first) {
			n = 0;
		}
		if (n == 0)
			return err_set(e, ST_USAGE,
				       "--tsv: '%s': a name, or a dot in front of it, is missing",
				       path);
		const char *key = arena_strndup(t->arena, at, n);
		if (add_step(c, (struct step){key, 0}, path, e) < 0)
			return -1;
		at += n;
	}
	return 0;
}

struct tsv *tsv_new(const char *paths, struct err *e)
{
	struct tsv *t = MEM_NEW(struct tsv);
	t->arena = arena_new();
	int rc = 0;
	for (const char *at = paths; rc == 0; at++) {
		size_t n = strcspn(at, ",");
		const char *path = arena_strndup(t->arena, at, n);
		if (t->n == MAX_COLUMNS)
			rc = err_set(e, ST_USAGE, "--tsv: more than %d columns", MAX_COLUMNS);
		else
			rc = parse_path(t, &t->column[t->n], path, e);
		t->each = t->each || (rc == 0 && t->column[t->n].each);
		t->n++;
		at += n;
		if (!*at)
			break;
	}
	if (rc == 0)
		return t;
	tsv_free(t);
	return NULL;
}

void tsv_free(struct tsv *t)
{
	if (!t)
		return;
	arena_free(t->arena);
	mem_free(t->seen);
	mem_free(t);
}

/* ---- following a path ---- */

static int reach(struct place *p, const struct val *v, struct err *e)
{
	*p = (struct place){.v = v};
	if (!v || !val_is_tensor(v))
		return 0;
	p->is_tensor = true;
	if (val_tensor(v, &p->t, e) < 0)
		return -1;
	p->n = p->t.n;
	return 0;
}

static uint64_t count(const struct place *p)
{
	if (!p->v)
		return 0;
	if (p->is_tensor) /* rows without elements are no lines: their number is not bounded */
		return p->dim < p->t.rank && p->n > 0 ? p->t.shape[p->dim] : 0;
	return val_type(p->v) == VAL_ARRAY ? val_count(p->v) : 0;
}

static int go_to_element(struct place *p, uint64_t i, struct err *e)
{
	uint64_t n = count(p);
	if (i >= n) {
		p->v = NULL;
		return 0;
	}
	if (!p->is_tensor)
		return reach(p, val_at(p->v, (size_t)i), e);
	p->n /= n;
	p->first += i * p->n;
	p->dim++;
	return 0;
}

static int go_to_key(struct place *p, const char *key, struct err *e)
{
	bool is_map = p->v && !p->is_tensor && val_type(p->v) == VAL_MAP;
	return reach(p, is_map ? val_get(p->v, key) : NULL, e);
}

/* On from *p by the steps [from, to) of c, none of which is []. */
static int follow(const struct column *c, uint32_t from, uint32_t to, struct place *p,
		  struct err *e)
{
	for (uint32_t i = from; i < to && p->v; i++) {
		const struct step *s = &c->step[i];
		if ((s->key ? go_to_key(p, s->key, e) : go_to_element(p, s->index, e)) < 0)
			return -1;
	}
	return 0;
}

/* ---- cells ---- */

void tsv_text(FILE *out, const char *s)
{
	markup_tsv(out, s, strlen(s), false);
}

static int put_scalar(FILE *out, const struct val *v, bool in_list, struct err *e)
{
	const char *s;
	size_t n;
	switch (val_type(v)) {
	case VAL_STR:
		if (val_bytes(v, &s, &n))
			markup_tsv(out, s, n, in_list);
		return 0;
	case VAL_NIL: return 0;
	case VAL_BOOL:
	case VAL_INT:
	case VAL_REAL: json_scalar(out, v); return 0;
	default: return err_set(e, ST_INPUT, "a map or bytes, which have no text form");
	}
}

static int put_cell(FILE *out, const struct place *p, struct err *e)
{
	if (!p->v)
		return 0;
	if (p->is_tensor) {
		for (uint64_t i = 0; i < p->n; i++) {
			if (i)
				fputc(',', out);
			json_element(out, &p->t, (size_t)(p->first + i));
		}
		return 0;
	}
	if (val_type(p->v) != VAL_ARRAY)
		return put_scalar(out, p->v, false, e);
	for (size_t i = 0; i < val_count(p->v); i++) {
		if (i)
			fputc(',', out);
		if (put_scalar(out, val_at(p->v, i), true, e) < 0)
			return -1;
	}
	return 0;
}

/* Where each column leads in r, up to its []: from there every line goes on.  *n: how many lines. */
static int find_starts(const struct tsv *t, const struct rec *r, struct place *start, uint64_t *n,
		       struct err *e)
{
	*n = t->each ? 0 : 1;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct column *c = &t->column[i];
		start[i] = (struct place){.v = r->map};
		if (follow(c, 0, c->each ? c->each_at : c->n, &start[i], e) < 0)
			return -1;
		if (c->each && count(&start[i]) > *n)
			*n = count(&start[i]);
	}
	return 0;
}

static int put_column(const struct column *c, const struct place *start, uint64_t line, FILE *out,
		      struct err *e)
{
	struct place p = *start;
	if (c->each &&
	    (go_to_element(&p, line, e) < 0 || follow(c, c->each_at + 1, c->n, &p, e) < 0))
		return -1;
	return put_cell(out, &p, e);
}

static void note_seen(struct tsv *t, const struct val *map)
{
	for (size_t j = 0; j < val_count(map); j++) {
		const char *key;
		size_t n, i = 0;
		if (!val_bytes(val_key_at(map, j), &key, &n))
			continue;
		while (i < t->n_seen && (strlen(t->seen[i]) != n || memcmp(t->seen[i], key, n)))
			i++;
		if (i < t->n_seen)
			continue;
		t->seen = mem_grow(t->seen, &t->cap_seen, t->n_seen + 1, sizeof *t->seen);
		t->seen[t->n_seen++] = arena_strndup(t->arena, key, n);
	}
}

/* What the record has of the first keys, or has instead of them. */
static void note_keys(struct tsv *t, const struct rec *r)
{
	bool all = true;
	for (uint32_t i = 0; i < t->n; i++) {
		struct column *c = &t->column[i];
		if (!c->kind && !c->found && c->step[0].key)
			all &= c->found = val_get(r->map, c->step[0].key) != NULL;
	}
	if (!all && t->n_noted++ < NOTED)
		note_seen(t, r->map);
}

/* Is the word one of the list, which has blanks between its words? */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

static int unknown_key(const struct tsv *t, const char *key, struct err *e)
{
	char list[400] = "records have ";
	struct err_near near = {.name = key};
	size_t n = strlen(list), i = 0;
	for (size_t j = 0; j < t->n_seen; j++)
		err_offer(&near, t->seen[j]);
	for (; i < t->n_seen && n + strlen(t->seen[i]) + 8 < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", t->seen[i]);
	if (i < t->n_seen)
		snprintf(list + n, sizeof list - n, ", ...");
	return err_unknown(e, ST_USAGE, &near, t->n_seen ? list : NULL, "--tsv: no record has '%s'",
			   key);
}

int tsv_check(const struct tsv *t, const char *known, struct err *e)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct column *c = &t->column[i];
		if (!c->kind && !c->found && !has_word(known, c->step[0].key))
			return unknown_key(t, c->step[0].key, e);
	}
	return 0;
}

int tsv_record(struct tsv *t, const struct rec *r, FILE *out, struct err *e)
{
	note_keys(t, r);
	struct place start[MAX_COLUMNS];
	uint64_t n = 0;
	int rc = find_starts(t, r, start, &n, e);
	for (uint64_t line = 0; line < n && rc == 0; line++) {
		for (uint32_t i = 0; i < t->n && rc == 0; i++) {
			if (i)
				fputc('\t', out);
			if (t->column[i].kind)
				tsv_text(out, r->kind);
			else
				rc = put_column(&t->column[i], &start[i], line, out, e);
		}
		fputc('\n', out);
	}
	return rc < 0 ? err_prefix(e, "record %llu '%s'", (unsigned long long)r->index, r->kind)
		      : 0;
}
