/* memory_plan.c - see memory_plan.h. */
#include "place/memory_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text/markup.h"

enum { LARGEST = 5 };

static void write_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\": ", key);
	markup_json(out, text, strlen(text), false);
}

/* What a device holds, and the largest of it. */
struct holds {
	uint64_t of[HELD_KINDS], stored, inner;
	uint32_t n, value[LARGEST]; /* (n) numbers, the largest first */
	uint64_t bytes[LARGEST];    /* (n) */
};

static void note_value(struct holds *x, uint32_t value, uint64_t bytes)
{
	uint32_t at = x->n;

	while (at > 0 && x->bytes[at - 1] < bytes)
		at--;
	if (at == LARGEST || bytes == 0)
		return;
	x->n += x->n < LARGEST;
	for (uint32_t i = x->n - 1; i > at; i--) {
		x->value[i] = x->value[i - 1];
		x->bytes[i] = x->bytes[i - 1];
	}
	x->value[at] = value;
	x->bytes[at] = bytes;
}

static void write_largest(FILE *out, const struct place_model *m, const struct holds *x)
{
	static const char *const kinds[] = {"weights", "input", "variable"};

	fputs("\"largest\": [", out);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct held_value *v = &m->value[x->value[i]];

		fputs(i ? ", {" : "{", out);
		write_text(out, "name", m->g->node_name[v->node]);
		fprintf(out, ", \"kind\": \"%s\", \"bytes\": %" PRIu64 "}", kinds[v->kind],
			x->bytes[i]);
	}
	fputs("]", out);
}

/* What each device (k) holds, in holds (k), zeroed. */
static void find_holds(const struct place_model *m, const uint16_t *device, struct holds *holds)
{
	uint32_t *seen = MEM_NEWN(uint32_t, m->k);

	for (uint32_t i = 0; i < m->n_values; i++) {
		const struct held_value *v = &m->value[i];

		for (uint32_t j = v->first; j < v->first + v->n; j++) {
			uint32_t d = device[m->tasks.task_set[m->holder[j]]];

			if (seen[d] == i + 1)
				continue;
			seen[d] = i + 1;
			holds[d].of[v->kind] += v->bytes[d];
			holds[d].stored += v->kind == HELD_WEIGHTS ? v->stored : 0;
			note_value(&holds[d], i, v->bytes[d]);
		}
	}
	for (uint32_t t = 0; m->inner && t < m->tasks.dag.n; t++) {
		uint32_t d = device[m->tasks.task_set[t]];
		uint64_t bytes = m->inner[(size_t)t * m->k + d];

		holds[d].inner = bytes > holds[d].inner ? bytes : holds[d].inner;
	}
	mem_free(seen);
}

static void write_limit(FILE *out, const struct place_model *m, uint32_t d, uint64_t usable)
{
	uint64_t headroom = m->headroom ? m->headroom[d] : 0;

	if (m->mem_limit[d])
		fprintf(out,
			", \"memory\": %" PRIu64 ", \"headroom\": %" PRIu64
			", \"usable\": %" PRIu64,
			usable + headroom, headroom, usable);
	else
		fputs(", \"memory\": null, \"headroom\": 0, \"usable\": null", out);
}

static void write_device(FILE *out, const struct place_model *m, const struct place_result *r,
			 const struct holds *x, uint32_t d)
{
	uint64_t peak = place_peak_bytes(m, r, d), work = peak - r->mem_bytes[d] + x->inner,
		 usable = m->mem_given[d],
		 held = x->inner + x->of[HELD_WEIGHTS] + x->of[HELD_INPUTS] + x->of[HELD_VARIABLES],
		 made = held < r->mem_bytes[d] ? r->mem_bytes[d] - held : 0,
		 tensors =
			 m->workspace ? (uint64_t)ceil((double)made / (1 + m->workspace[d])) : made;

	fputs(d ? ",\n   {" : "\n   {", out);
	write_text(out, "device", m->names[d]);
	write_limit(out, m, d, usable);
	fprintf(out, ", \"weights\": %" PRIu64 ", \"stored\": ", x->of[HELD_WEIGHTS]);
	if (m->inner) /* measured: not what the model has */
		fputs("null", out);
	else
		fprintf(out, "%" PRIu64, x->stored);
	fprintf(out,
		", \"inputs\": %" PRIu64 ", \"variables\": %" PRIu64 ", \"tensors\": %" PRIu64
		", \"workspace\": %" PRIu64 ", \"work\": %" PRIu64 ", \"peak\": %" PRIu64
		", \"free\": ",
		x->of[HELD_INPUTS], x->of[HELD_VARIABLES], tensors, made - tensors, work, peak);
	if (m->mem_limit[d])
		fprintf(out, "%.0f, ", (double)usable - (double)peak);
	else
		fputs("null, ", out);
	write_largest(out, m, x);
	fputs("}", out);
}

/* Memory that devices share, and what they need of it together. */
static void write_pools(FILE *out, const struct place_model *m, const struct place_result *r)
{
	const struct place_pools *p = &m->pools;

	fputs(p->n ? ", \"pools\": [" : "", out);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct place_pool *x = &p->pool[i];
		uint64_t sum = 0;
		bool any = false;

		fputs(i ? ",\n   {" : "\n   {", out);
		write_text(out, "pool", x->name);
		fputs(", \"devices\": [", out);
		for (uint32_t d = 0; d < m->k; d++) {
			if (p->of[d] != i)
				continue;
			fputs(any ? ", " : "", out);
			markup_json(out, m->names[d], strlen(m->names[d]), false);
			any = true;
			sum += place_peak_bytes(m, r, d);
		}
		if (x->mem_limit)
			fprintf(out,
				"], \"memory\": %" PRIu64 ", \"headroom\": %" PRIu64
				", \"usable\": %" PRIu64,
				x->mem_limit + x->headroom, x->headroom, x->mem_limit);
		else
			fputs("], \"memory\": null, \"headroom\": 0, \"usable\": null", out);
		fprintf(out, ", \"shared\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"free\": ",
			sum > r->pool_bytes[i] ? sum - r->pool_bytes[i] : 0, r->pool_bytes[i]);
		if (x->mem_limit)
			fprintf(out, "%.0f}", (double)x->mem_limit - (double)r->pool_bytes[i]);
		else
			fputs("null}", out);
	}
	fputs(p->n ? "]" : "", out);
}

void memory_plan_write(FILE *out, struct evaluator *ev, const struct place_units *u,
		       const char *source, const uint16_t *device)
{
	const struct place_model *m = u->m;
	const struct place_result *r = place_evaluate(ev, device);
	char why[600];

	fputs(" {", out);
	write_text(out, "source", source);
	fprintf(out, ", \"legal\": %s, ", r->status == PLACE_OK ? "true" : "false");
	if (r->status != PLACE_OK) {
		write_text(out, "why", place_reason(ev, r, why, sizeof why));
		if (r->status != PLACE_MEMORY) {
			fputs("}", out);
			return;
		}
		fputs(", ", out);
	}
	struct holds *holds = MEM_NEWN(struct holds, m->k);

	find_holds(m, device, holds);
	fprintf(out, "\"predicted_s\": %.9g, \"missing\": %" PRIu64 ", \"devices\": [", r->lat_s,
		place_missing_bytes(m, r));
	for (uint32_t d = 0; d < m->k; d++)
		write_device(out, m, r, &holds[d], d);
	fputs("]", out);
	write_pools(out, m, r);
	fputs("}", out);
	mem_free(holds);
}

void memory_plan_none(FILE *out, const struct place_model *m, const char *source, const char *why)
{
	struct holds all = {0};
	double needs = 0, usable = 0, *in_pool = MEM_NEWN(double, m->pools.n);
	bool limited = true;

	for (uint32_t i = 0; i < m->n_values; i++) {
		uint64_t least = UINT64_MAX;

		for (uint32_t d = 0; d < m->k; d++)
			least = m->value[i].bytes[d] < least ? m->value[i].bytes[d] : least;
		needs += (double)least;
		note_value(&all, i, least);
	}
	for (uint32_t d = 0; d < m->k; d++) {
		uint32_t pool = m->pools.n ? m->pools.of[d] : 0;

		limited &= m->mem_limit[d] > 0;
		if (pool < m->pools.n && m->pools.pool[pool].mem_limit)
			in_pool[pool] += (double)m->mem_limit[d];
		else
			usable += (double)m->mem_limit[d];
	}
	for (uint32_t i = 0; i < m->pools.n; i++)
		usable += fmin(in_pool[i], (double)m->pools.pool[i].mem_limit);
	mem_free(in_pool);
	fputs(" {", out);
	write_text(out, "source", source);
	fputs(", \"legal\": false, ", out);
	write_text(out, "why", why);
	fprintf(out, ", \"needs\": %.0f, \"usable\": ", needs);
	/* There may be enough in all which cannot be packed. */
	if (limited && needs > usable)
		fprintf(out, "%.0f, \"missing\": %.0f, ", usable, needs - usable);
	else if (limited)
		fprintf(out, "%.0f, \"missing\": null, ", usable);
	else
		fputs("null, \"missing\": null, ", out);
	write_largest(out, m, &all);
	fputs("}", out);
}
