/* search_state.h - the state of one search: a placement, its value, moves of units, and undoing
 * them.
 *
 * A search minimises an energy that is smoother than the value of the model's rules: the energy
 * adds a little of the mean load (for throughput, a norm of the loads stands for their maximum), it
 * charges a price for memory beyond a limit, and among placements without a way for some tensor it
 * prefers those with fewer such tensors. */
#ifndef HSDAG_PLACE_SEARCH_SEARCH_STATE_H
#define HSDAG_PLACE_SEARCH_SEARCH_STATE_H

#include "place/search/critical.h"
#include "place/search/search_context.h"

struct search_state {
	const struct search_context *s;
	struct evaluator *ev;
	struct random_stream rng;
	uint16_t *device; /* (n_sets) the placement */
	double price;     /* of memory: one more limit's worth beyond a limit adds energy x price */
	double energy, value; /* of the placement; value INFINITY: not legal */
	uint64_t used;        /* evaluations so far */
	/* units that moved since the last search_state_keep or _undo, and their devices before */
	uint32_t n_moved, *unit;
	uint16_t *was;
	struct critical *critical; /* NULL: all units are equally likely to be drawn */
	uint32_t n_critical;
	const uint32_t *on_critical; /* (n_critical) units of the chain when it was last computed */
	uint64_t critical_at;        /* the number of evaluations at which it is computed again */
	uint16_t *best;              /* (n_sets) the best legal placement seen */
	double best_value;           /* INFINITY: none was */
};

void search_state_init(struct search_state *p, const struct search_context *s,
		       struct random_stream rng);
void search_state_release(struct search_state *p);

/* The placement becomes device (n_sets), evaluated from scratch. */
void search_state_set(struct search_state *p, const uint16_t *device);
/* Evaluates the placement from scratch: this drops rounding errors of moves and applies a changed
 * price. */
void search_state_refresh(struct search_state *p);

/* Moves a unit; does nothing when it is there already or may not run there. */
void search_state_move(struct search_state *p, uint32_t unit, uint16_t dev);
/* Moves every unit to its device in unit_dev (units); the caller evaluates and keeps. */
void search_state_move_all(struct search_state *p, const uint16_t *unit_dev);
/* Evaluates after moves; sets energy, value and best, and returns the energy.  An energy above
 * `limit` may come back as INFINITY, unless the value is the best so far. */
double search_state_evaluate(struct search_state *p, double limit);
/* Takes the moves back; energy and value become the given ones. */
void search_state_undo(struct search_state *p, double energy, double value);
static inline void search_state_keep(struct search_state *p)
{
	p->n_moved = 0;
}

/* Draws and makes one move of the neighbourhood that all searches share: one unit moves, two units
 * change places, a stretch of a topological order moves, or a connected patch of one device moves.
 * false: nothing moved.  Where the context says `few`, most moves start at a unit of the critical
 * chain. */
bool search_state_draw_move(struct search_state *p);
/* Draws a device for a unit that can run somewhere, mostly the device of a neighbour. */
uint16_t search_state_draw_device(struct search_state *p, uint32_t unit);

/* Hill climbing from the placement by moves of one unit.  It visits units round and round in a
 * random order and tries each on its other devices.  A move stays when it is better: a smaller
 * value or, of equal values, a smaller energy.  It ends when no move of one unit helps, or when the
 * limits do. */
void search_state_climb(struct search_state *p, const struct limits *limits);

#endif
