/* seat.c - which thread serves which device.
 *
 * A device has a thread of its own.  Devices of one class that begin at one core and take turns have one together:
 * "cpu", "cpu:0" and its bf16 that of core 0.  With a thread each, a step of one device would wait until the
 * system takes the core from another device's thread, which is looking for work.  The thread of core 1 helps in
 * the steps of "cpu". */
#include "exec/executor_impl.h"

#include <string.h>

static bool served_together(const struct device_list *l, uint32_t a, uint32_t b)
{
	const struct device *x = &l->dev[a], *y = &l->dev[b];
	return x->class == y->class && x->class->lend && x->n_cpus > 0 && y->n_cpus > 0 &&
	       x->cpus[0] == y->cpus[0] && device_list_turns(l, a, b);
}

/* Does d share cores with a device that no seat of its cores serves? */
static bool shares_cores(const struct device_list *l, uint32_t d)
{
	for (uint32_t i = 0; i < l->n; i++) {
		bool seated = l->dev[i].class == l->dev[d].class && l->dev[i].class->lend &&
			      device_list_turns(l, i, d);
		if (i != d && !seated && device_shares_cores(&l->dev[i], &l->dev[d]))
			return true;
	}
	return false;
}

/* The seat of a core among those of devices that take turns with d; NULL: none. */
static struct seat *seat_of_core(struct executor *x, uint32_t d, int core)
{
	const struct device_list *l = x->devices;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->dev[i].class == l->dev[d].class && l->dev[i].n_cpus > 0 &&
		    l->dev[i].cpus[0] == core && device_list_turns(l, i, d) &&
		    x->worker[i].seat != x->worker[d].seat)
			return x->worker[i].seat;
	return NULL;
}

static void wake_seat(void *seat)
{
	seat_wake(seat);
}

static void lend_cores(struct executor *x, uint32_t d)
{
	struct device *dev = &x->devices->dev[d];
	for (int i = 1; dev->class->lend && i < dev->n_cpus; i++) {
		struct seat *s = seat_of_core(x, d, dev->cpus[i]);
		if (!s)
			continue;
		s->help[s->n_helps++] = (struct help){dev, &x->worker[d], i};
		dev->class->lend(dev, i, wake_seat, s);
	}
}

/* Spin longer on cores of its own: waking costs as much as a small step.  Who shares them with threads of others
 * yields to who has the turn. */
static void choose_patience(struct seat *s, const struct device_list *l)
{
	bool own = true, shares = false;
	for (uint32_t i = 0; i < s->n_workers; i++) {
		uint32_t d = s->worker[i]->dev;
		own = own && l->dev[d].n_cpus > 0;
		shares = shares || shares_cores(l, d);
	}
	s->spin_s = own && (!shares || !l->at_once) ? 50e-3 : 100e-6;
	s->eager_s = shares && !l->at_once ? 0 : 100e-6;
}

int seats_new(struct executor *x)
{
	const struct device_list *l = x->devices;
	x->seat = mem_try((size_t)l->n * sizeof *x->seat);
	if (!x->seat)
		return -1;
	memset(x->seat, 0, (size_t)l->n * sizeof *x->seat);
	for (uint32_t d = 0; d < l->n; d++) {
		struct worker *w = &x->worker[d];
		for (uint32_t i = 0; i < d && !w->seat; i++)
			if (served_together(l, i, d))
				w->seat = x->worker[i].seat;
		if (!w->seat) {
			w->seat = &x->seat[x->n_seats++];
			w->seat->x = x;
			w->seat->worker = MEM_NEWN(struct worker *, l->n);
			w->seat->help = MEM_NEWN(struct help, l->n);
			pthread_mutex_init(&w->seat->lock, NULL);
			pthread_cond_init(&w->seat->wake, NULL);
			pthread_cond_init(&w->seat->go, NULL);
		}
		w->seat->worker[w->seat->n_workers++] = w;
	}
	for (uint32_t d = 0; d < l->n; d++)
		lend_cores(x, d);
	for (uint32_t i = 0; i < x->n_seats; i++)
		choose_patience(&x->seat[i], l);
	return 0;
}

void seats_free(struct executor *x)
{
	for (uint32_t i = 0; i < x->n_seats; i++) {
		struct seat *s = &x->seat[i];
		if (s->started)
			pthread_join(s->thread, NULL);
		for (uint32_t j = 0; j < s->n_helps; j++)
			s->help[j].device->class->lend(s->help[j].device, s->help[j].thread, NULL,
						       NULL);
		pthread_mutex_destroy(&s->lock);
		pthread_cond_destroy(&s->wake);
		pthread_cond_destroy(&s->go);
		mem_free(s->worker);
		mem_free(s->help);
	}
	mem_free(x->seat);
}
