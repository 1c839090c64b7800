/* mtopo.c - m-TOPO: Jeon, Cai, Srivastava, Jiang, Gupta, Chu, Sirotkin, "Baechi: fast device
 * placement of machine learning graphs", SoCC 2020, section 3.1: a topological order cut into
 * shares of equal memory, one for each device.  Beyond the paper: what a device cannot run or
 * reach goes to the next one, and what is over when all shares are full to the first that has
 * room. */
#include <math.h>

#include "place/heuristic/listsched.h"
#include "place/method/method.h"

struct memory_share {
	uint64_t share; /* bytes a device is filled with */
	uint32_t dev;   /* the one that is being filled */
};

/* The share of memory that a device gets: the whole by the number of devices, and the largest unit
 * more. */
static uint64_t share_of_memory(const struct listsched *x)
{
	uint64_t sum = 0, largest = 0;

	for (uint32_t i = 0; i < x->u.n; i++) {
		sum += x->u.mem[i];
		largest = x->u.mem[i] > largest ? x->u.mem[i] : largest;
	}
	return sum / x->k + largest;
}

/* The current device until its share is full, then the next; beyond shares whatever has room. */
static uint32_t fill_shares(struct listsched *x, uint32_t v, void *arg)
{
	struct memory_share *fill = arg;
	uint32_t i = x->u.of_set[x->m->tasks.task_set[v]];

	for (uint32_t dev = fill->dev; dev < x->k; dev++) {
		if (listsched_end_s(x, v, dev) == INFINITY)
			continue;
		if (x->held.bytes[dev] + held_more(&x->held, i, dev) <= fill->share ||
		    dev + 1 == x->k) {
			fill->dev = dev;
			return dev;
		}
	}
	for (uint32_t dev = 0; dev < x->k; dev++)
		if (listsched_end_s(x, v, dev) < INFINITY)
			return dev;
	return SCHED_NONE;
}

static int run_m_topo(struct method_run *r, struct err *e)
{
	struct listsched x;
	struct memory_share fill = {0, 0};

	listsched_init(&x, r->m, r->a);
	x.deadline_s = method_deadline_s(r);
	fill.share = share_of_memory(&x);
	double *order = ARENA_NEWN(r->a, double, x.n);
	for (uint32_t v = 0; v < x.n; v++)
		order[v] = -(double)v;
	int rc = listsched_run(&x, order, fill_shares, &fill, e);

	return listsched_answer(&x, rc, r, e);
}

const struct place_method method_m_topo = {
	.name = "m-topo",
	.needs_costs = true,
	.about = "topological order cut into shares of equal memory",
	.source = "Jeon et al., Baechi, SoCC 2020, section 3.1",
	.run = run_m_topo,
	.is_heuristic = true,
};
