/* history.c - collects how an answer came about. */
#include "report/history.h"
#include "record/bestrec.h"

void history_init(struct history *h)
{
	*h = (struct history){.arena = arena_new()};
}

void history_release(struct history *h)
{
	rec_drop(h->hdr);
	mem_free(h->update);
	mem_free(h->compared);
	mem_free(h->waiting);
	arena_free(h->arena);
	*h = (struct history){0};
}

static int take_hdr(struct history *h, const struct rec *r, struct err *e)
{
	struct rec *kept = rec_keep(r);
	if (!kept)
		return err_set(e, ST_RUNTIME, "no memory for a hdr record");
	rec_drop(h->hdr);
	h->hdr = kept;
	return 0;
}

static int take_update(struct history *h, const struct rec *r, struct err *e)
{
	h->update = mem_grow(h->update, &h->cap_updates, h->n_updates + 1, sizeof *h->update);
	if (update_decode(r, &h->update[h->n_updates], e) < 0)
		return -1;
	h->n_updates++;
	return 0;
}

/* Runs of a comparison have ratios, or bursts where no single device can run that they would be ratios to; what cannot
 * run has neither, and is told of single devices. */
static int take_run(struct history *h, const struct rec *r, struct err *e)
{
	const unsigned keys = RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY | RUN_INTERVAL | RUN_REFERENCE |
			      RUN_RATIO | RUN_COPIES;
	bool single = run_source_is(r, "single");
	struct run_rec x;
	if (!single && !val_get(r->map, "ratio") && !val_get(r->map, "bursts"))
		return 0;
	if (run_decode(r, keys, h->arena, &x, e) < 0)
		return -1;
	const struct val *samples = val_get(r->map, "samples_s");
	struct tensor_view t = {0};
	if (samples && val_tensor(samples, &t, e) < 0)
		return -1;
	h->waiting = mem_grow(h->waiting, &h->cap_waiting, h->n_waiting + 1, sizeof *h->waiting);
	h->waiting[h->n_waiting++] = (struct compared){.source = x.source,
						       .single = single,
						       .sample = x.id.sample,
						       .n_runs = (uint32_t)t.n,
						       .m = measured_of_run(&x)};
	return 0;
}

/* What waited was compared.  Single devices of earlier runs without a ratio were not in it, unless none
 * of them can run. */
static void end_comparison(struct history *h)
{
	mem_free(h->compared);
	h->compared = h->waiting;
	h->n_compared = 0;
	bool any = false;
	for (size_t i = 0; i < h->n_waiting; i++)
		any = any || h->waiting[i].m.has_ratio;
	for (size_t i = 0; i < h->n_waiting; i++)
		if (!any || h->waiting[i].m.has_ratio || h->waiting[i].m.reason)
			h->compared[h->n_compared++] = h->waiting[i];
	h->waiting = NULL;
	h->n_waiting = h->cap_waiting = 0;
}

int history_take(struct history *h, const struct rec *r, struct err *e)
{
	int rc = rec_is(r, "hdr")      ? take_hdr(h, r, e)
		 : rec_is(r, "update") ? take_update(h, r, e)
		 : rec_is(r, "run")    ? take_run(h, r, e)
				       : 0;
	if (rc < 0)
		return err_prefix(e, "record %llu '%s'", (unsigned long long)r->index, r->kind);
	if (rec_is(r, "best") && best_is_final(r))
		end_comparison(h);
	return 0;
}
