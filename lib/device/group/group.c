/* group.c - see group.h. */
#include "device/group/group.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define LISTED(pass) &pass,
static const struct rewrite_pass *const passes[REWRITE_PASSES] = {REWRITES(LISTED)};

void group_rewrite(struct rewritten *r, const struct group_how *how, const struct step_spec *s)
{
	r->spec = s;
	for (int i = 0; i < REWRITE_PASSES; i++) {
		r->pass[i] = passes[i]->match(&r->by[i], how, r->spec) ? passes[i] : NULL;
		if (r->pass[i])
			r->spec = &r->by[i].spec;
	}
}

int group_constants(struct rewritten *r, const struct step_spec *s, float **data, uint64_t *bytes,
		    struct err *e)
{
	*data = NULL;
	*bytes = 0;
	for (int i = 0; i < REWRITE_PASSES; i++)
		for (int c = 0; r->pass[i] && c < 2; c++)
			if (r->by[i].constant[c].rank > 0)
				*bytes += (uint64_t)tensor_bytes(&r->by[i].constant[c]);
	if (*bytes == 0)
		return 0;
	float *to = *data = mem_try(*bytes);
	if (!to)
		return err_set(e, ST_RUNTIME, "out of memory: %llu bytes for constants of a step",
			       (unsigned long long)*bytes);
	memset(to, 0, *bytes);
	for (int i = 0; i < REWRITE_PASSES; i++) {
		if (!r->pass[i])
			continue;
		if (r->pass[i]->fill)
			r->pass[i]->fill(&r->by[i], s, to);
		for (int c = 0; c < 2; c++) {
			struct tensor *t = &r->by[i].constant[c];
			if (t->rank == 0)
				continue;
			t->data = to;
			to += tensor_elements(t);
		}
		s = &r->by[i].spec;
	}
	return 0;
}

bool group_made(const struct rewritten *r, const struct tensor *t)
{
	bool made = false;
	for (int i = 0; i < REWRITE_PASSES; i++)
		made |= r->pass[i] && (t == &r->by[i].constant[0] || t == &r->by[i].constant[1]);
	return made;
}

size_t group_explain(const struct group_how *how, const struct step_spec *s, char *dst, size_t cap)
{
	struct rewritten r;
	size_t at = 0;
	group_rewrite(&r, how, s);
	for (int i = 0; i < REWRITE_PASSES; i++)
		if (r.pass[i] && at < cap)
			at += (size_t)snprintf(dst + at, cap - at, "%s; ", r.pass[i]->name);
	return at;
}
