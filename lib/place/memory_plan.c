/* memory_plan.c - see memory_plan.h. */
#include "place/memory_plan.h"

#include <inttypes.h>
#include <string.h>

#include "place/simulate/held.h"
#include "text/markup.h"

static void write_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\": ", key);
	markup_json(out, text, strlen(text), false);
}

static void write_device(FILE *out, const struct place_model *m, const struct place_result *r,
			 uint64_t held, uint32_t d, double headroom)
{
	uint64_t peak = place_peak_bytes(m, r, d), work = peak - r->mem_bytes[d],
		 weights = held < r->mem_bytes[d] ? held : r->mem_bytes[d],
		 usable = m->mem_limit[d] + (m->work ? m->work[d] : 0);

	fputs(d ? ",\n   {" : "\n   {", out);
	write_text(out, "device", m->names[d]);
	if (m->mem_limit[d])
		fprintf(out, ", \"memory\": %.0f, \"usable\": %" PRIu64,
			(double)usable / (1 - headroom), usable);
	else
		fputs(", \"memory\": null, \"usable\": null", out);
	fprintf(out,
		", \"weights\": %" PRIu64 ", \"tensors\": %" PRIu64 ", \"work\": %" PRIu64
		", \"peak\": %" PRIu64 ", \"free\": ",
		weights, r->mem_bytes[d] - weights, work, peak);
	if (m->mem_limit[d])
		fprintf(out, "%.0f}", (double)usable - (double)peak);
	else
		fputs("null}", out);
}

void memory_plan_write(FILE *out, struct evaluator *ev, const struct place_units *u,
		       const char *source, const uint16_t *device, double headroom)
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
	struct arena *a = arena_new();
	struct held held;

	held_init(&held, u, a);
	for (uint32_t i = 0; i < u->n; i++)
		held_add(&held, i, device[u->set[u->ptr[i]]]);
	fprintf(out, "\"predicted_s\": %.9g, \"devices\": [", r->lat_s);
	for (uint32_t d = 0; d < m->k; d++)
		write_device(out, m, r, held.bytes[d], d, headroom);
	fputs("]}", out);
	arena_free(a);
}
