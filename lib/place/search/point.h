/* point.h - one placement under search: what it is worth, moves of units, and back.
 *
 * What searches minimise is smoother than what the rules count: a little of the mean load is added
 * (a norm of the loads stands for their maximum), memory beyond a limit has a price, and a
 * placement that nothing can run is the better the fewer tensors have no way. */
#ifndef HSDAG_PLACE_SEARCH_POINT_H
#define HSDAG_PLACE_SEARCH_POINT_H

#include "place/search/critical.h"
#include "place/search/space.h"

struct point {
	const struct space *s;
	struct evaluator *ev;
	struct dice dice;
	uint16_t *device;     /* (n_sets) where it is */
	double price;         /* of memory: energy x this for each limit beyond a limit */
	double energy, value; /* where it is; value INFINITY: not legal */
	uint64_t used;        /* evaluations so far */
	/* units moved since the last point_keep or point_undo, and where they were */
	uint32_t n_moved, *unit;
	uint16_t *was;
	struct critical *critical; /* NULL: moves are drawn from all units alike */
	uint32_t n_critical;
	const uint32_t *on_critical; /* (n_critical) units of the chain, some moves ago */
	uint64_t critical_at;        /* when it is to be looked for again, in evaluations */
	uint16_t *best;              /* (n_sets) the best legal placement seen */
	double best_value;           /* INFINITY: none was */
};

void point_init(struct point *p, const struct space *s, struct dice dice);
void point_release(struct point *p);

/* Go to device (n_sets), and evaluate from scratch. */
void point_set(struct point *p, const uint16_t *device);
/* The same where it is: rounding errors of moves go, and a new price counts. */
void point_again(struct point *p);

/* Move a unit; nothing when it is there or may not go there. */
void point_move(struct point *p, uint32_t unit, uint16_t dev);
/* Move every unit to where it is in unit_dev (units); the caller looks and keeps. */
void point_go(struct point *p, const uint16_t *unit_dev);
/* Evaluate after moves: energy, value, best.  An energy above `limit` may be told as INFINITY,
 * unless it is the best value so far. */
double point_look(struct point *p, double limit);
/* Take moves back; energy and value as given. */
void point_undo(struct point *p, double energy, double value);
static inline void point_keep(struct point *p)
{
	p->n_moved = 0;
}

/* A move drawn from the neighbourhood of all searches: one unit, two that change places, a run of
 * units in a topological order, a connected patch of one device.  false: nothing moved.  Where
 * space says `few`, most of them are of units on the critical chain. */
bool point_draw(struct point *p);
/* Where a unit may go: mostly to where a neighbour is; it has a device at all. */
uint16_t point_draw_device(struct point *p, uint32_t unit);

/* One-move hill climbing from where it is: units are visited round and round in a random order,
 * each is tried on its other devices; a move that is better stays (a smaller value; of equal ones,
 * or none, a smaller energy).  Until no move of one unit helps, or the limits end. */
void point_climb(struct point *p, const struct limits *limits);

#endif
