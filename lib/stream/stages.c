/* stages.c - kinds and programs as bits, and what their absence says. */
#include "stream/stages.h"

#include <string.h>

enum { PLACE = 1, BEST = 2, PART = 4, RUN = 8, EPISODE = 16 };
static const char *const kinds[] = {"place", "best", "part", "run", "episode", NULL};

enum { GPNEMBED = 1, PLACEPOLICY = 2, PLACEBASE = 4 };
static const char *const programs[] = {"gpnembed", "placepolicy", "placebase", NULL};

/* The bit of a name of n bytes; 0: not in the list. */
static unsigned bit_of(const char *const *list, const char *name, size_t n)
{
	for (unsigned i = 0; list[i]; i++)
		if (strlen(list[i]) == n && memcmp(list[i], name, n) == 0)
			return 1U << i;
	return 0;
}

/* What reinforce wrote is not what the stages in front of it made. */
static unsigned programs_of(const struct val *chain)
{
	unsigned out = 0;
	const char *name;
	size_t n;
	if (!chain || val_type(chain) != VAL_ARRAY)
		return 0;
	for (size_t i = 0; i < val_count(chain); i++) {
		const struct val *program = val_get(val_at(chain, i), "program");
		if (!program || !val_bytes(program, &name, &n))
			continue;
		bool ends = n == strlen("reinforce") && memcmp(name, "reinforce", n) == 0;
		out = ends ? 0 : out | bit_of(programs, name, n);
	}
	return out;
}

void stages_note(struct stages *s, const struct rec *r)
{
	if (rec_is(r, "hdr"))
		*s = (struct stages){.programs = programs_of(val_get(r->map, "chain"))};
	else
		s->kinds |= bit_of(kinds, r->kind, strlen(r->kind));
}

int stages_check(const struct stages *s, enum stage_need need, struct err *e)
{
	/* kinds: one of them is enough; from: programs that make them, where there is something to make */
	static const struct {
		unsigned kinds, from;
		const char *says;
	} needs[] = {
		[NEEDS_PARTS] = {PART | EPISODE, GPNEMBED,
				 "no groups with embeddings; gpnembed makes them"},
		[NEEDS_PLACEMENTS] = {PLACE | EPISODE, PLACEPOLICY | PLACEBASE,
				      "no placements; placebase or placepolicy makes them"},
		[NEEDS_CANDIDATES] = {PLACE | BEST | EPISODE, PLACEPOLICY | PLACEBASE,
				      "no placements; placebase or placepolicy makes them"},
		[NEEDS_RUNS] = {RUN | EPISODE, PLACEPOLICY, "no runs; devrun or devsim makes them"},
	};
	bool unrun = need == NEEDS_RUNS && (s->kinds & PLACE) && !(s->kinds & EPISODE);
	if ((s->kinds & needs[need].kinds) || (!unrun && (s->programs & needs[need].from)))
		return 0;
	if (need == NEEDS_PLACEMENTS && (s->kinds & BEST))
		return err_set(e, ST_INPUT,
			       "the stream has no placements but the best of a search; "
			       "placebase of:FILE makes placements of them");
	if (need == NEEDS_RUNS && !(s->kinds & PLACE))
		return err_set(e, ST_INPUT,
			       "the stream has no placements and no runs; placebase or "
			       "placepolicy makes placements, and devrun or devsim runs them");
	return err_set(e, ST_INPUT, "the stream has %s", needs[need].says);
}
