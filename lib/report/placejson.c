/* placejson.c - what the report is made of, as one JSON object: seconds and bytes as they are, null for what is not known. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/case_value.h"
#include "report/cases.h"
#include "report/parts.h"
#include "report/devicemap.h"
#include "report/format.h"
#include "report/placecheck.h"
#include "report/placetext.h"
#include "report/waits.h"
#include "precision/traded.h"
#include "text/markup.h"

static void key(FILE *out, const char *name)
{
	fprintf(out, ", \"%s\": ", name);
}

static void text(FILE *out, const char *name, const char *value)
{
	key(out, name);
	value ? markup_json(out, value, strlen(value), false) : (void)fputs("null", out);
}

static void real(FILE *out, const char *name, bool known, double value)
{
	key(out, name);
	known &&isfinite(value) ? fprintf(out, "%.9g", value) : fputs("null", out);
}

static void count(FILE *out, const char *name, bool known, uint64_t value)
{
	key(out, name);
	known ? fprintf(out, "%" PRIu64, value) : fputs("null", out);
}

static void truth(FILE *out, const char *name, bool value)
{
	key(out, name);
	fputs(value ? "true" : "false", out);
}

/* [lo, hi] */
static void range(FILE *out, const char *name, bool known, double lo, double hi)
{
	key(out, name);
	known &&isfinite(lo) && isfinite(hi) ? fprintf(out, "[%.9g, %.9g]", lo, hi)
					     : fputs("null", out);
}

/* One row of the report's first table. */
static void row(FILE *out, const char *kind, const char *device, const struct measured *m,
		const struct answer *x)
{
	bool ran = m->given && !m->reason;
	double speedup = ran ? placetext_speedup(x, m) : 0;
	fprintf(out, "{\"kind\": \"%s\"", kind);
	text(out, "device", device);
	truth(out, "ran", ran);
	text(out, "reason", m->reason);
	real(out, "latency_s", ran, m->lat_s);
	range(out, "latency_interval_s", ran && placetext_has_range(m), m->lo_s, m->hi_s);
	real(out, "speedup", speedup > 0, speedup);
	bool has_interval = ran && m->has_ratio && m->ratio_lo > 0;
	range(out, "speedup_interval", has_interval, 1 / m->ratio_hi, 1 / m->ratio_lo);
	count(out, "copies", ran && m->has_copies, m->copies);
	count(out, "copied_bytes", ran && m->has_copies, m->copy_bytes);
	count(out, "requests", ran && m->requests > 0, m->requests);
	real(out, "p95_s", ran && m->requests > 0, m->p95_s);
	real(out, "objective", m->has_value, m->value);
	fputs("}", out);
}

static void rows(FILE *out, const struct report_input *in)
{
	const struct answer *x = in->x;
	key(out, "measured");
	fputs("[\n  ", out);
	for (uint32_t d = 0; d < x->n_single && d < x->place.k; d++)
		if (x->single[d].given) {
			row(out, "single", in->names[d], &x->single[d], x);
			fputs(",\n  ", out);
		}
	struct measured random = answer_random(x);
	if (random.given) {
		row(out, "random", NULL, &random, x);
		fputs(",\n  ", out);
	}
	row(out, "placement", NULL, &x->m, x);
	fputs("]", out);
}

static void placement(FILE *out, const struct report_input *in)
{
	const struct answer *x = in->x;
	const struct placed *p = in->p;
	key(out, "placement");
	fprintf(out, "{\"sets\": %u, \"segments\": %u", x->place.n_sets, p->n_segments);
	text(out, "found_by", x->place.source);
	char id[100];
	count(out, "parted_variables", true,
	      placecheck_parted(x->graph, p, in->constant, id, sizeof id));
	struct parts_told parts;
	parts_count(x->graph, p, in->flops, x->arena, &parts);
	count(out, "operations_cut", parts.cut > 0, parts.cut);
	count(out, "operations_apart", parts.cut > 0, parts.apart);
	key(out, "devices");
	fputs("[", out);
	for (uint32_t d = 0; d < p->k; d++) {
		uint64_t limit = placetext_limit(x, in->devs, d);
		fprintf(out, "%s{\"sets\": %u, \"operations\": %u, \"segments\": %u", d ? ", " : "",
			p->sets[d], p->nodes[d], p->segments[d]);
		text(out, "name", in->names[d]);
		real(out, "share_of_operations_apart", parts.apart > 0, parts.share[d]);
		count(out, "memory_bytes", x->mem_bytes, x->mem_bytes ? x->mem_bytes[d] : 0);
		count(out, "memory_limit_bytes", limit > 0, limit);
		fputs("}", out);
	}
	fputs("]", out);
	key(out, "memory_shared");
	fputs("[", out);
	for (uint32_t i = 0; in->devs && i < x->n_pools && x->n_pools == in->devs->n_pools; i++) {
		const struct dev_pool *pool = &in->devs->pool[i];
		fputs(i ? ", {\"name\": " : "{\"name\": ", out);
		markup_json(out, pool->name, strlen(pool->name), false);
		count(out, "memory_bytes", true, x->pool_bytes[i]);
		count(out, "memory_limit_bytes", pool->mem_bytes > 0, pool->mem_bytes);
		fputs("}", out);
	}
	fputs("]", out);
	real(out, "joules", x->has_joules, x->joules);
	real(out, "usd_per_million", x->usd_per_million > 0, x->usd_per_million);
	real(out, "bound_s", x->place.bound_s > 0, x->place.bound_s);
	text(out, "bound_parts_of", x->place.bound_parts_of);
	real(out, "bound_parts_s", x->place.bound_parts_of, x->place.bound_parts_s);
	real(out, "bound_parts_wait_s", x->place.bound_parts_of, x->place.bound_parts_wait_s);
	fputs("}", out);
}

static void raced(FILE *out, const struct answer *x)
{
	const struct raced *all = &x->raced;
	key(out, "raced");
	fputs("[", out);
	for (size_t i = 0; i < all->n + all->n_out && x->kind == ANSWER_FINAL; i++) {
		const struct raced_one *v = i < all->n ? &all->v[i] : &all->out[i - all->n];
		fprintf(out, "%s{\"runs\": %u, \"bursts\": %u", i ? ",\n  " : "\n  ", v->n_runs,
			v->turns.n_bursts);
		text(out, "source", v->source);
		count(out, "sample", true, v->id.sample);
		real(out, "predicted_s", v->predicted_s > 0, v->predicted_s);
		real(out, "latency_s", v->lat_s > 0, v->lat_s);
		range(out, "latency_interval_s", v->lo_s > 0, v->lo_s, v->hi_s);
		real(out, "speedup", v->has_ratio && v->ratio > 0, 1 / v->ratio);
		count(out, "requests", v->requests > 0, v->requests);
		real(out, "p95_s", v->requests > 0, v->p95_s);
		real(out, "error", v->has_error, v->error);
		truth(out, "beyond_max_error", v->is_out);
		fputs("}", out);
	}
	fputs("]", out);
	const struct contest_race_facts *r = &x->race;
	bool is = r->n_blocks > 0;
	key(out, "race");
	fprintf(out, "{\"blocks\": %u, \"disturbed\": %u", r->n_blocks, r->n_disturbed);
	real(out, "seconds", is, r->seconds);
	real(out, "noise", is && r->noise > 0, r->noise);
	real(out, "drift", is && r->noise > 0, r->drift);
	truth(out, "settled", r->settled);
	fputs("}", out);
}

static void load(FILE *out, const struct answer *x)
{
	const struct contest_load *l = &x->load;
	bool told = x->kind == ANSWER_FINAL && l->cores > 0;
	key(out, "load");
	fputs("{\"cores\": ", out);
	told ? fprintf(out, "%u", l->cores) : fputs("null", out);
	real(out, "average", told, l->average);
	real(out, "others", told, l->others);
	fputs("}", out);
}

static void in_flight(FILE *out, const struct answer *x)
{
	const struct flight_rec *f = &x->flight;
	bool told = f->requests > 0;
	key(out, "in_flight");
	fputs("{\"requests\": ", out);
	told ? fprintf(out, "%u", f->requests) : fputs("null", out);
	count(out, "replicas", told, 1 + x->place.n_more);
	real(out, "a_second", told && x->m.lat_s > 0, 1 / x->m.lat_s);
	count(out, "ended", told, f->ended);
	count(out, "failed", told, f->failed);
	text(out, "failure", f->failed > 0 ? f->failure : NULL);
	real(out, "limit_s", told && f->limit_s > 0, f->limit_s);
	real(out, "p50_s", told, f->p50_s);
	real(out, "p95_s", told, f->p95_s);
	real(out, "p99_s", told, f->p99_s);
	fputs("}", out);
}

static void cases(FILE *out, const struct answer *x)
{
	struct case_row row[GRAPH_MAX_CASES];
	uint32_t n = case_runs_rows(&x->cases, x->graph, &x->place, row);
	char over[CASES_OVER_CAP];
	text(out, "over", n ? cases_over_name(x->graph->over, over) : NULL);
	key(out, "cases");
	fputs("[", out);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "%s{\"weight\": %.9g", i ? ",\n  " : "\n  ", row[i].c->weight);
		text(out, "name", row[i].c->name);
		count(out, "tokens", row[i].c->tokens > 0, row[i].c->tokens);
		real(out, "between", row[i].c->n_between > 0, row[i].c->between);
		real(out, "latency_s", true, row[i].answer_s);
		real(out, "best_s", true, row[i].alone_s);
		text(out, "best", row[i].source);
		fputs("}", out);
	}
	fputs("]", out);
	uint32_t n_ranges;
	struct case_range *range = case_runs_ranges(&x->cases, x->graph, &n_ranges);
	key(out, "ranges");
	fputs("[", out);
	for (uint32_t i = 0; i < n_ranges; i++) {
		fprintf(out, "%s{\"from\": %.9g, \"to\": %.9g", i ? ",\n  " : "\n  ", range[i].from,
			range[i].to);
		text(out, "smaller", range[i].a->name);
		text(out, "larger", range[i].b->name);
		text(out, "best", range[i].best->place.source);
		fputs("}", out);
	}
	fputs("]", out);
	mem_free(range);
}

static int verdict(FILE *out, const struct report_input *in, struct err *e)
{
	static const char *const says[] = {[CONTEST_UNTOLD] = "untold",
					   [CONTEST_GAIN] = "gain",
					   [CONTEST_SINGLE] = "single",
					   [CONTEST_UNDECIDED] = "undecided"};
	const struct answer *x = in->x;
	const struct best_verdict *v = &x->says;
	char *sentence = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&sentence, &n);
	if (!mem)
		return err_sys(e, ST_RUNTIME, "no memory for the verdict");
	placetext_verdict(mem, x, in->names, in->objective);
	if (fclose(mem) != 0) {
		free(sentence);
		return err_sys(e, ST_RUNTIME, "no memory for the verdict");
	}
	bool final = x->kind == ANSWER_FINAL;
	key(out, "verdict");
	fprintf(out, "{\"says\": \"%s\"", final ? says[v->says] : says[CONTEST_UNTOLD]);
	text(out, "text", sentence);
	text(out, "reference", final && *x->reference ? placetext_reference(x, in->names) : NULL);
	count(out, "runs", final, x->n_pairs);
	bool open = final && v->says == CONTEST_UNDECIDED && v->rival;
	text(out, "rival", open ? v->rival : NULL);
	count(out, "rival_sample", open, v->rival_sample);
	real(out, "rival_ratio", open, v->ratio.mid);
	range(out, "rival_ratio_interval", open && v->ratio.lo > 0, v->ratio.lo, v->ratio.hi);
	text(out, "why", open ? contest_why_names[v->why] : NULL);
	real(out, "more_s", open && v->more_s > 0, v->more_s);
	fputs("}", out);
	free(sentence);
	return 0;
}

static void outputs(FILE *out, const struct answer *x)
{
	key(out, "outputs");
	fprintf(out, "{\"compared\": %s", x->has_diff ? "true" : "false");
	text(out, "why_not", !x->has_diff && *x->not_compared ? x->not_compared : NULL);
	real(out, "mse", x->has_diff, x->out_mse);
	real(out, "cosine", x->has_diff, x->out_cos);
	real(out, "largest", x->has_diff, x->out_max);
	text(out, "of", x->has_diff ? (*x->out_of ? x->out_of : x->reference) : NULL);
	real(out, "error", x->has_error, x->error);
	real(out, "max_error", x->has_error, x->max_error);
	text(out, "error_of", x->has_error ? x->error_of : NULL);
	fputs("}", out);
}

static void traded(FILE *out, const struct traded *x)
{
	key(out, "time_for_error");
	fputs("[", out);
	for (uint32_t i = 0; x && i < x->n; i++) {
		const struct traded_one *t = &x->v[i];
		fprintf(out, "%s{\"error\": %.9g", i ? ",\n  " : "\n  ", t->error);
		real(out, "latency_s", true, t->lat_s);
		truth(out, "within_max_error", t->within);
		for (int p = 0; p < TRADED_PRECISIONS; p++)
			real(out, traded_precisions[p], true, t->share[p]);
		fputs("}", out);
	}
	fputs("]", out);
}

/* "model 0.4 s, first race 4.2 s (given 5, without probes)", as place tells it: a list of names and seconds. */
static void phases(FILE *out, const char *told)
{
	const char *before = "";
	key(out, "phases");
	fputs("[", out);
	for (const char *s = told ? told : ""; *s;) {
		size_t n = 0;
		while (s[n] && !(s[n] == ' ' && s[n + 1] >= '0' && s[n + 1] <= '9'))
			n++;
		if (!s[n])
			break;
		char *end;
		double seconds = strtod(s + n, &end);
		fprintf(out, "%s{\"name\": ", before);
		markup_json(out, s, n, false);
		real(out, "seconds", true, seconds);
		end += strncmp(end, " s", 2) == 0 ? 2 : 0;
		size_t note = strncmp(end, " (", 2) == 0 ? strcspn(end + 2, ")") : 0;
		char *more = note ? mem_copy(end + 2, note + 1, 1) : NULL;
		if (more)
			more[note] = '\0';
		text(out, "note", more);
		mem_free(more);
		fputs("}", out);
		before = ", ";
		s = note ? end + 2 + note + (end[2 + note] == ')') : end;
		s += strspn(s, ", ");
	}
	fputs("]", out);
}

/* Seconds of the set on each device: null where they are not told, and devices that cannot have it, or must not. */
static void times(FILE *out, const struct waits *w, uint32_t set)
{
	const struct report_input *in = w->in;
	uint32_t n = 0, k = in->p->k, fastest = k, here = in->x->place.device[set];
	key(out, "seconds_on");
	for (uint32_t d = 0; d < k; d++) {
		double s = waits_cost_s(w, set, d);
		fputs(d ? ", " : "{", out);
		markup_json(out, in->names[d], strlen(in->names[d]), false);
		s >= 0 ? fprintf(out, ": %.9g", s) : fputs(": null", out);
		if (s >= 0 && (fastest == k || s < waits_cost_s(w, set, fastest)))
			fastest = d;
	}
	fputs("}", out);
	key(out, "cannot_run_on");
	fputs("[", out);
	for (uint32_t d = 0; d < k; d++)
		if (waits_cost_s(w, set, d) < 0) {
			fputs(n++ ? ", " : "", out);
			markup_json(out, in->names[d], strlen(in->names[d]), false);
		}
	fputs("]", out);
	double own = waits_cost_s(w, set, here);
	bool told = fastest < k && own >= 0;
	if (told && own <= waits_cost_s(w, set, fastest))
		fastest = here;
	text(out, "fastest_on", told ? in->names[fastest] : NULL);
	real(out, "fastest_saves_s", told, told ? own - waits_cost_s(w, set, fastest) : 0);
}

/* What the set waited for, as --why has it. */
static void reason(FILE *out, const struct waits *w, uint32_t set,
		   const struct waits_neighbour *last)
{
	uint32_t before = w->before[set];
	double free_s = before == GRAPH_NONE ? 0 : w->t.run.end_s[before];
	bool busy = before != GRAPH_NONE && (!last || free_s > last->at_s);
	uint32_t node = busy   ? w->set_node[w->set_ptr[w->t.run.set[before]]]
			: last ? last->node
			       : GRAPH_NONE;
	real(out, "starts_s", true, waits_start_s(w, set));
	real(out, "ends_s", true, w->end_s[set]);
	text(out, "waits_for", busy ? "device" : last ? "input" : "nothing");
	text(out, "waits_for_operation", node == GRAPH_NONE ? NULL : w->g->node_name[node]);
	real(out, "waits_until_s", node != GRAPH_NONE, busy ? free_s : last ? last->at_s : 0);
}

/* Copies to the device of the set, of what it reads, and from it, of what it makes. */
static void crossings(FILE *out, const struct waits *w, uint32_t set,
		      const struct waits_neighbour *from, uint32_t n_from)
{
	const struct run_schedule *s = &w->t.run;
	uint64_t bytes[2] = {0, 0};
	uint32_t n[2] = {0, 0};
	for (uint32_t i = 0; i < n_from; i++) {
		n[0] += from[i].copies;
		bytes[0] += from[i].copied_bytes;
	}
	for (uint32_t i = w->copy_ptr[set]; i < w->copy_ptr[set + 1]; i++) {
		n[1]++;
		bytes[1] += s->copy_bytes[w->copy[i]];
	}
	count(out, "copies_in", true, n[0]);
	count(out, "bytes_in", true, bytes[0]);
	count(out, "copies_out", true, n[1]);
	count(out, "bytes_out", true, bytes[1]);
}

/* Operations but for constants: where each is, why, and what that costs. */
static void operations(FILE *out, const struct report_input *in)
{
	const struct graph *g = in->x->graph;
	struct waits w;
	struct err not_told = ERR_INIT;
	struct report_input without = *in;
	const struct trace none = {0};
	uint32_t n = 0;
	if (waits_open(&w, in, &not_told) < 0) { /* a schedule of something else */
		err_clear(&not_told);
		without.trace = &none;
		if (waits_open(&w, &without, &not_told) < 0)
			err_clear(&not_told);
	}
	key(out, "placed");
	fputs("[", out);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t set = g->set[v];
		if (set == GRAPH_NONE || in->constant[v])
			continue;
		struct waits_neighbour *from = NULL;
		bool ran = w.has_schedule && w.entry[set] != GRAPH_NONE;
		fputs(n++ ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
		markup_json(out, g->node_name[v], strlen(g->node_name[v]), false);
		text(out, "type", g->type[v]);
		text(out, "device", in->names[in->p->node_device[v]]);
		count(out, "set", true, set);
		times(out, &w, set);
		if (ran) {
			uint32_t n_from = waits_neighbours(&w, v, true, &from);
			reason(out, &w, set, n_from ? from : NULL);
			crossings(out, &w, set, from, n_from);
		}
		fputs("}", out);
	}
	fputs("]", out);
}

static int write_json(FILE *out, const struct report_input *in, struct err *e)
{
	static const char *const kinds[] = {
		[ANSWER_PLACE] = "place", [ANSWER_BEST] = "best", [ANSWER_FINAL] = "final"};
	const struct answer *x = in->x;
	fputs("{\"format\": 1", out);
	text(out, "model", x->graph->name);
	count(out, "operations", true, x->graph->n);
	text(out, "answer", kinds[x->kind]);
	truth(out, "simulated", x->simulated);
	fputs("\n ", out);
	if (verdict(out, in, e) < 0)
		return -1;
	fputs("\n ", out);
	rows(out, in);
	fputs("\n ", out);
	placement(out, in);
	fputs("\n ", out);
	raced(out, x);
	load(out, x);
	in_flight(out, x);
	cases(out, x);
	fputs("\n ", out);
	outputs(out, x);
	traded(out, in->traded);
	text(out, "objective", in->objective ? in->objective : "latency");
	key(out, "search");
	fprintf(out, "{\"placements\": %" PRIu64 ", \"episodes\": %" PRIu64, x->n_measured,
		x->n_episodes);
	real(out, "seconds", in->search_s >= 0, in->search_s);
	fputs("}", out);
	phases(out, in->phases);
	fputs("\n ", out);
	operations(out, in);
	fputs("}\n", out);
	return 0;
}

const struct report_format format_json = {
	.name = "json",
	.about = "what the report is made of, as one JSON object: seconds, bytes,\n"
		 "intervals, null for what is not known; of each operation where\n"
		 "it is, why, and what it takes on each device",
	.tells_operations = true,
	.write = write_json,
};
