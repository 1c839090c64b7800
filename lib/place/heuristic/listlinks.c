/* listlinks.c - copies of a list heuristic's schedule, one at a time on a link. */
#include <math.h>

#include "base/extremes.h"
#include "place/heuristic/listlinks.h"
#include "sched/agenda.h"

struct listlinks {
	uint32_t k;
	struct agenda *link; /* (k,k) from row to column */
	double *there_s;     /* (n_tensors,k) when its copy is there; 0: none is made */
	/* of the task at hand: links that have a copy on trial, and their places */
	uint32_t n_tried;
	struct tried {
		struct agenda *link;
		size_t at;
	} * tried; /* (inputs of a task, at most) */
};

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
	y->tried = MEM_NEWN(struct tried, most);
	return y;
}

void listlinks_free(struct listlinks *y)
{
	if (!y)
		return;
	for (size_t i = 0; i < (size_t)y->k * y->k; i++)
		agenda_release(&y->link[i]);
	mem_free(y->link);
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
		size_t at, pair = (size_t)x->on[from] * y->k + dev;

		if (x->on[from] != dev && *there == 0) {
			if (l->latency_s[pair] < 0)
				return INFINITY;
			double copy_s = sched_copy_s(l, x->on[from], dev, x->d->tensor_bytes[t]);
			double start = agenda_earliest_s(&y->link[pair], s, copy_s, &at);

			s = start + copy_s;
			*there = stay ? s : 0;
			/* on trial a copy that no other one waits for takes no place */
			if (!stay && !link_again(x, v, i, x->on[from])) {
				ready = max2(ready, s);
				continue;
			}
			agenda_insert(&y->link[pair], at, (struct agenda_slot){start, s, t});
			y->tried[y->n_tried++] = (struct tried){&y->link[pair], at};
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
		agenda_remove(y->tried[y->n_tried].link, y->tried[y->n_tried].at);
	}
	return ready;
}

void listlinks_place(struct listlinks *y, const struct listsched *x, uint32_t v, uint32_t dev)
{
	(void)add_copies(y, x, v, dev, true);
}
