/* listlinks.c - copies of a list heuristic's schedule, one at a time on a link and on a port. */
#include <math.h>

#include "base/extremes.h"
#include "place/heuristic/listlinks.h"
#include "sched/agenda.h"

struct listlinks {
	uint32_t k;
	struct agenda *link; /* (k,k) from row to column */
	/* (2,k,names) ways out of devices and ways in */
	struct agenda *port;
	double *port_rate;
	uint32_t n_ports;
	double *there_s; /* (n_tensors,k) when its copy is there; 0: none is made */
	/* of the task at hand: links and ports that have a copy on trial, and their places */
	uint32_t n_tried;
	struct tried {
		struct agenda *agenda;
		size_t at;
	} * tried; /* (3 for each input of a task, at most) */
};

/* What a copy occupies, for how long, and its place in the agenda. */
struct passage {
	struct agenda *agenda;
	double s;
	size_t at;
};

/* Those of a copy from one device to another: its link, and ports where it has any. */
static uint32_t passages(const struct listlinks *y, const struct sched_links *l, uint32_t from,
			 uint32_t to, uint64_t bytes, struct passage *x)
{
	size_t pair = (size_t)from * y->k + to;
	const struct sched_ports *p = l->ports;

	x[0] = (struct passage){&y->link[pair], sched_copy_s(l, from, to, bytes), 0};
	if (!p || p->of[pair] == SCHED_NONE)
		return 1;
	size_t port[2] = {(size_t)from * p->n + p->of[pair],
			  ((size_t)y->k + to) * p->n + p->of[pair]};
	for (int in = 0; in < 2; in++)
		x[1 + in] = (struct passage){&y->port[port[in]],
					     (double)bytes / y->port_rate[port[in]], 0};
	return 3;
}

/* The earliest start, from `ready` on, at which all n are free. */
static double earliest_s(struct passage *x, uint32_t n, double ready)
{
	double start = ready, before;

	do {
		before = start;
		for (uint32_t i = 0; i < n; i++)
			start = agenda_earliest_s(x[i].agenda, start, x[i].s, &x[i].at);
	} while (n > 1 && start > before);
	return start;
}

struct listlinks *listlinks_new(const struct listsched *x)
{
	struct listlinks *y = MEM_NEW(struct listlinks);
	uint32_t most = 0;

	for (uint32_t v = 0; v < x->n; v++) {
		uint32_t n_inputs = x->d->in_ptr[v + 1] - x->d->in_ptr[v];

		most = n_inputs > most ? n_inputs : most;
	}
	y->k = x->k;
	y->link = MEM_NEWN(struct agenda, (size_t)x->k * x->k);
	y->there_s = MEM_NEWN(double, (size_t)x->d->n_tensors * x->k);
	const struct sched_links *l = &x->m->costs.links;
	uint32_t names = l->ports ? l->ports->n : 0;

	y->n_ports = 2 * x->k * names;
	y->port = MEM_NEWN(struct agenda, y->n_ports);
	y->port_rate = MEM_NEWN(double, y->n_ports);
	for (uint32_t i = 0; i < y->n_ports; i++)
		y->port_rate[i] =
			sched_port_rate(l, i / names % x->k, i % names, i / names >= x->k);
	y->tried = MEM_NEWN(struct tried, 3 * (size_t)most);
	return y;
}

void listlinks_free(struct listlinks *y)
{
	if (!y)
		return;
	for (size_t i = 0; i < (size_t)y->k * y->k; i++)
		agenda_release(&y->link[i]);
	for (uint32_t i = 0; i < y->n_ports; i++)
		agenda_release(&y->port[i]);
	mem_free(y->link);
	mem_free(y->port);
	mem_free(y->port_rate);
	mem_free(y->there_s);
	mem_free(y->tried);
	mem_free(y);
}

/* Does an input of v behind the i-th one come over the same link? */
static bool link_again(const struct listsched *x, uint32_t v, uint32_t i, uint32_t on)
{
	while (++i < x->d->in_ptr[v + 1]) {
		uint32_t from = x->d->tensor_task[x->d->use_tensor[x->d->in_use[i]]];

		if (x->placed[from] && x->on[from] == on)
			return true;
	}
	return false;
}

/* The copies that v on dev needs take their gaps, on trial or for good; when the last is there,
 * INFINITY: one has no way. */
static double add_copies(struct listlinks *y, const struct listsched *x, uint32_t v, uint32_t dev,
			 bool stay)
{
	const struct sched_links *l = &x->m->costs.links;
	double ready = 0;

	y->n_tried = 0;
	for (uint32_t i = x->d->in_ptr[v]; i < x->d->in_ptr[v + 1]; i++) {
		uint32_t t = x->d->use_tensor[x->d->in_use[i]], from = x->d->tensor_task[t];
		double s = x->end_s[from], *there = &y->there_s[(size_t)t * y->k + dev];

		if (!x->placed[from])
			continue;
		size_t pair = (size_t)x->on[from] * y->k + dev;

		if (x->on[from] != dev && *there == 0) {
			if (l->latency_s[pair] < 0)
				return INFINITY;
			struct passage p[3];
			uint32_t n = passages(y, l, x->on[from], dev, x->d->tensor_bytes[t], p);
			double start = earliest_s(p, n, s);

			s = start + p[0].s;
			*there = stay ? s : 0;
			/* on trial a copy that no other one waits for takes no place */
			if (!stay && n == 1 && !link_again(x, v, i, x->on[from])) {
				ready = max2(ready, s);
				continue;
			}
			for (uint32_t j = 0; j < n; j++) {
				agenda_insert(p[j].agenda, p[j].at,
					      (struct agenda_slot){start, start + p[j].s, t});
				y->tried[y->n_tried++] = (struct tried){p[j].agenda, p[j].at};
			}
		} else if (x->on[from] != dev) {
			s = *there;
		}
		ready = max2(ready, s);
	}
	return ready;
}

double listlinks_ready_s(struct listlinks *y, const struct listsched *x, uint32_t v, uint32_t dev)
{
	double ready = add_copies(y, x, v, dev, false);

	while (y->n_tried > 0) {
		y->n_tried--;
		agenda_remove(y->tried[y->n_tried].agenda, y->tried[y->n_tried].at);
	}
	return ready;
}

void listlinks_place(struct listlinks *y, const struct listsched *x, uint32_t v, uint32_t dev)
{
	(void)add_copies(y, x, v, dev, true);
}
