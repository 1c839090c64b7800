/* agenda.h - the agenda of a device while a schedule is being made: when it runs which task, and
 * the gaps into which a task can be inserted. */
#ifndef HSDAG_SCHED_AGENDA_H
#define HSDAG_SCHED_AGENDA_H

#include <stddef.h>
#include <stdint.h>

struct agenda_slot {
	double start_s, end_s;
	uint32_t task;
};

struct agenda_block {
	double gap_s; /* the longest gap in front of one of its slots */
	double end_s; /* of its last slot */
};

/* Slots by ascending time, which do not overlap.  All zero is an empty one. */
struct agenda {
	struct agenda_slot *slot;
	size_t n, cap;
	struct agenda_block *block; /* of AGENDA_BLOCK slots each */
	struct agenda_block *wide;  /* of as many blocks each */
	size_t block_cap, wide_cap;
};

enum { AGENDA_BLOCK = 64 };

/* The earliest start, from `ready` on, of `cost` seconds in a gap or behind the last slot; *at: the
 * place of a slot that begins then.  It looks at log n of n slots, at one number
 * for a block, or for as many blocks, behind them, and into blocks with a gap of half of `cost` or
 * more. */
double agenda_earliest_s(const struct agenda *a, double ready, double cost, size_t *at);

/* Enter what agenda_earliest_s found. */
void agenda_insert(struct agenda *a, size_t at, struct agenda_slot slot);
void agenda_remove(struct agenda *a, size_t at);

void agenda_release(struct agenda *a);

/* agenda_earliest_s for device dev of k, a (k), some of which take turns (as in struct sched_costs):
 * at that time those that take turns with it are idle, too. */
double agendas_earliest_s(const struct agenda *a, uint32_t k, const uint8_t *turns, uint32_t dev,
			  double ready, double cost, size_t *at);

#endif
