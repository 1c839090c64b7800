/* placereport.c - what was measured, as a table for people: every single device,
 * the best random placement, this placement, and a sentence about them. */
#include "report/parts.h"
#include "report/placetext.h"
#include "report/devicemap.h"
#include "report/format.h"
#include "report/placecheck.h"
#include "report/screen.h"
#include "precision/traded.h"
#include "op/op.h"
#include "text/quantity.h"
#include "timing/contest.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

/* A dash for what is not known. */
static void cell(FILE *out, int width, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void cell(FILE *out, int width, const char *fmt, ...)
{
	char text[80];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(out, "  %*s", width, text);
}

enum { W_LAT = 12, W_RANGE = 20, W_SPEED = 8, W_COUNT = 6, W_MB = 9, W_DIFF = 9, W_VALUE = 12 };

/* The objective that has columns of its own. */
struct objective {
	const char *name; /* NULL: the latency, which has its columns in any case */
	double best;      /* of the single devices; 0: none is known */
	bool rate;        /* what was measured is a rate: seconds a request */
	bool limit; /* ... of requests with a limit of latency, whose columns are those of the objective */
	enum { WHOLE, NARROW, NARROWEST } fit; /* columns that the screen has room for */
};

double placetext_best_value(const struct answer *x)
{
	double best = 0;
	for (uint32_t d = 0; d < x->n_single; d++)
		if (x->single[d].has_value && (best == 0 || x->single[d].value < best))
			best = x->single[d].value;
	return best;
}

static struct objective find_objective(const struct answer *x, const char *name)
{
	return (struct objective){.name = name,
				  .best = placetext_best_value(x),
				  .rate = x->flight.requests > 0,
				  .limit = x->flight.limit_s > 0};
}

/* Mixtures have no unit. */
const char *placetext_value(const char *objective, double value, char *dst, size_t cap)
{
	if (strcmp(objective, "throughput") == 0)
		snprintf(dst, cap, "%.3f ms", value * 1e3);
	else if (strcmp(objective, "energy") == 0)
		snprintf(dst, cap, "%.4g J", value);
	else if (strcmp(objective, "price") == 0)
		snprintf(dst, cap, "$%.4g a million", value * 1e6);
	else if (strcmp(objective, "memory") == 0)
		snprintf(dst, cap, "%.3f MB", value * 1e-6);
	else
		snprintf(dst, cap, "%.5g", value);
	return dst;
}

static void value_cells(FILE *out, const struct objective *o, const struct measured *m)
{
	char text[60];
	bool known = m->has_value;
	if (o->limit) {
		cell(out, W_COUNT + 1, "%u", m->requests);
		cell(out, W_VALUE, "%.3f ms", m->p95_s * 1e3);
		return;
	}
	cell(out, W_VALUE, "%s",
	     known ? placetext_value(o->name, m->value, text, sizeof text) : "-");
	known && m->value > 0 && o->best > 0 ? cell(out, W_SPEED, "%.3fx", o->best / m->value)
					     : cell(out, W_SPEED, "-");
}

static void head(FILE *out, int label, const struct objective *o)
{
	fprintf(out, "%-*s", label, "");
	cell(out, W_LAT, o->rate ? "a request" : "latency");
	cell(out, W_RANGE, "95 %% interval");
	cell(out, W_SPEED, "speedup");
	if (o->fit < NARROWEST) {
		cell(out, W_COUNT, "groups");
		cell(out, W_COUNT, "copies");
	}
	if (o->fit < NARROW) {
		cell(out, W_MB, "copied MB");
		cell(out, W_DIFF, "MSE");
		cell(out, W_DIFF, "cosine");
	}
	if (o->limit) {
		cell(out, W_COUNT + 1, "at once");
		cell(out, W_VALUE, "95 %% within");
	} else if (o->name) {
		cell(out, W_VALUE, "%s", strpbrk(o->name, "=,") ? "objective" : o->name);
		cell(out, W_SPEED, "gain");
	}
	fputc('\n', out);
}

double placetext_speedup(const struct answer *x, const struct measured *m)
{
	if (x->kind == ANSWER_FINAL && !*x->reference)
		return 0;
	if (m->has_ratio)
		return m->ratio > 0 ? 1 / m->ratio : 0;
	return x->kind != ANSWER_FINAL && m->ref_s > 0 && m->lat_s > 0 ? m->ref_s / m->lat_s : 0;
}

const char *placetext_why(const struct measured *m)
{
	bool untried =
		strcmp(m->reason, contest_no_time) == 0 || strcmp(m->reason, contest_left) == 0;
	if (strncmp(m->reason, contest_beyond, strlen(contest_beyond)) == 0 ||
	    strncmp(m->reason, contest_inexact, strlen(contest_inexact)) == 0)
		return "";
	return untried ? "not run: " : "cannot run: ";
}

bool placetext_has_range(const struct measured *m)
{
	return m->lo_s > 0 && m->lo_s < m->hi_s;
}

/* What a table of labels so wide has room for on a screen; NULL: for all. */
static void fit_columns(struct objective *o, int label, const struct screen *screen)
{
	enum { GAP = 2 };
	int width = label + W_LAT + W_RANGE + W_SPEED + 3 * GAP +
		    (o->name || o->limit ? W_VALUE + W_SPEED + 2 * GAP : 0) + 2 * (W_COUNT + GAP);
	int room = screen && screen->told ? (int)screen->width : INT_MAX;
	o->fit = width + W_MB + 2 * W_DIFF + 3 * GAP <= room ? WHOLE
		 : width <= room                             ? NARROW
							     : NARROWEST;
}

/* What a narrow table has no columns for. */
static void tell_unfit(FILE *out, const struct answer *x, const struct objective *o)
{
	if (o->fit == WHOLE)
		return;
	if (x->m.has_copies)
		fprintf(out, "copies: %" PRIu64 ", %.3f MB\n", x->m.copies,
			(double)x->m.copy_bytes * 1e-6);
	if (x->has_diff)
		fprintf(out, "outputs: MSE %.1e, cosine %.6f beside %s\n", x->out_mse, x->out_cos,
			*x->out_of ? "those in f32" : "the best single device's");
}

bool placetext_is_reduced(const struct answer *x)
{
	for (uint32_t i = 0; i < x->place.n_sets; i++)
		if (!devs_name_is_f32(x->place.names[x->place.device[i]]))
			return true;
	return false;
}

/* Where the best single device, or the answer, computes in less than f32. */
static void tell_distance(FILE *out, const struct answer *x, const char *const *names)
{
	if (x->has_error || !x->has_diff || (!*x->out_of && !placetext_is_reduced(x)))
		return;
	const char *of = *x->out_of ? x->out_of : x->reference;
	fprintf(out,
		"outputs: compared with those of %s, which computes in %s; at most %.2g %% of "
		"their scale off\n",
		placetext_device(x, of, names), devs_name_is_f32(of) ? "f32" : "less than f32",
		100 * x->out_max);
}

void placetext_error(FILE *out, const struct answer *x, const char *const *names,
		     const char *before, const char *after)
{
	if (!x->has_error)
		return;
	fprintf(out,
		"%s%.2g of the outputs' scale from those in f32 (%s), of %g that are allowed%s",
		before, x->error, placetext_device(x, x->error_of, names), x->max_error, after);
}

static void row(FILE *out, int label, const char *name, const struct measured *m, uint32_t groups,
		const struct answer *x, const struct answer *diff, const struct objective *o)
{
	fprintf(out, "%-*s", label, name);
	if (!m->given || m->reason) {
		char why[200] = "not measured";
		if (m->reason)
			err_escape(why, sizeof why, m->reason, strlen(m->reason));
		fprintf(out, "  %s%s\n", m->reason ? placetext_why(m) : "", why);
		return;
	}
	double s = placetext_speedup(x, m);
	cell(out, W_LAT, "%.3f ms", m->lat_s * 1e3);
	placetext_has_range(m) ? cell(out, W_RANGE, "%.3f .. %.3f", m->lo_s * 1e3, m->hi_s * 1e3)
			       : cell(out, W_RANGE, "-");
	s > 0 ? cell(out, W_SPEED, "%.3fx", s) : cell(out, W_SPEED, "-");
	if (o->fit < NARROWEST) {
		groups ? cell(out, W_COUNT, "%u", groups) : cell(out, W_COUNT, "-");
		m->has_copies ? cell(out, W_COUNT, "%" PRIu64, m->copies) : cell(out, W_COUNT, "-");
	}
	if (o->fit < NARROW) {
		m->has_copies ? cell(out, W_MB, "%.3f", (double)m->copy_bytes * 1e-6)
			      : cell(out, W_MB, "-");
		diff ? cell(out, W_DIFF, "%.1e", diff->out_mse) : cell(out, W_DIFF, "-");
		diff ? cell(out, W_DIFF, "%.6f", diff->out_cos) : cell(out, W_DIFF, "-");
	}
	if (o->name || o->limit)
		value_cells(out, o, m);
	fputc('\n', out);
}

const char *placetext_device(const struct answer *x, const char *device, const char *const *names)
{
	for (uint32_t d = 0; d < x->place.k; d++)
		if (strcmp(x->place.names[d], device) == 0)
			return names[d];
	return device;
}

const char *placetext_reference(const struct answer *x, const char *const *names)
{
	return placetext_device(x, x->reference, names);
}

bool placetext_is_reference(const struct answer *x)
{
	int d = x->kind == ANSWER_FINAL && x->place.n_more == 0 ? answer_single(x, 0) : -1;
	return d >= 0 && strcmp(x->place.names[d], x->reference) == 0;
}

void placetext_replicas(FILE *out, const struct answer *x, const char *const *names,
			const char *before, const char *after)
{
	if (x->place.n_more == 0)
		return;
	fprintf(out, "%s%u, between which requests take turns:", before, 1 + x->place.n_more);
	for (uint32_t i = 0; i <= x->place.n_more; i++) {
		int d = answer_single(x, i);
		fprintf(out, "%s %s", i ? "," : "", d < 0 ? "on several devices" : names[d]);
	}
	fputs(after, out);
}

/* ---- the verdict ---- */

static void print_times(FILE *out, const struct interval *ratio)
{
	fprintf(out, "%.3f times as fast", 1 / ratio->mid);
	if (ratio->lo > 0)
		fprintf(out, ", 95 %% interval %.3f to %.3f", 1 / ratio->hi, 1 / ratio->lo);
	else
		fputs(", in too few runs for an interval", out);
}

/* Seconds in a unit that a person has a feeling for. */
static void print_more_time(FILE *out, double more_s)
{
	static const double MINUTE = 90, HOUR = 5400;
	if (more_s > HOUR)
		fprintf(out, "; to tell may take %.0f hours more", more_s / 3600);
	else if (more_s > MINUTE)
		fprintf(out, "; to tell may take %.0f minutes more", more_s / 60);
	else if (more_s > 0)
		fprintf(out, "; to tell may take %.*f s more", more_s < 10, more_s);
}

/* The reference, and the devices that count as one with it. */
static void print_alike(FILE *out, const struct answer *x, const char *ref,
			const char *const *names)
{
	fputs(ref, out);
	for (uint32_t d = 0; d < x->n_single && d < x->place.k; d++) {
		const struct measured *m = &x->single[d];
		if (m->given && !m->reason && m->has_ratio && m->ratio == 1 &&
		    strcmp(x->place.names[d], x->reference) != 0)
			fprintf(out, " or %s", names[d]);
	}
	fputs(" alone", out);
}

/* The fastest of what ran in the race besides single devices; NULL: nothing did. */
static const struct raced_one *fastest_raced(const struct answer *x)
{
	const struct raced_one *best = NULL;
	for (size_t i = 0; i < x->raced.n; i++) {
		const struct raced_one *r = &x->raced.v[i];
		bool alone = strcmp(r->source, "single") == 0;
		/* What is all on one device ran as that. */
		for (size_t d = 0; d < x->raced.n && !alone; d++)
			alone = strcmp(x->raced.v[d].source, "single") == 0 &&
				x->raced.v[d].lat_s == r->lat_s;
		if (!alone && r->lat_s > 0 && (!best || r->lat_s < best->lat_s))
			best = r;
	}
	return best;
}

/* Nothing but single devices was compared. */
static void not_compared_yet(FILE *out, const struct answer *x, const char *ref,
			     const char *const *names)
{
	const struct raced_one *best = fastest_raced(x);
	char source[120];
	if (best && best->lat_s < x->m.lat_s) {
		fprintf(out, "%s looked best (%.3f ms, in too few runs to be compared); ",
			err_escape(source, sizeof source, best->source, strlen(best->source)),
			best->lat_s * 1e3);
		print_alike(out, x, ref, names);
		fputs(" is kept", out);
		return;
	}
	print_alike(out, x, ref, names);
	fputs(best ? " looked best, and what else has run did so too seldom to be compared"
		   : " looked best, and nothing else has run",
	      out);
}

/* Why nobody can tell though the interval does not hold 1: it is of this race alone. */
static void print_rule(FILE *out, const struct answer *x)
{
	static const char *const rule[N_CONTEST_WHY] = {
		[CONTEST_WHY_FEW] = "one of them ran too seldom undisturbed",
		[CONTEST_WHY_INTERVAL] = "to be sure, the interval is taken half as wide again",
		[CONTEST_WHY_SELDOM] = "another device ran too seldom to be compared with it",
		[CONTEST_WHY_ANOTHER] = "the race chose another one, which is not surely faster"};
	enum contest_why why = x->says.why;
	if (rule[why])
		fprintf(out, "; %s", rule[why]);
	else if (why == CONTEST_WHY_SURPRISE)
		fprintf(out, "; so far from what was predicted, %.1f s do not tell",
			x->race.seconds);
	else if (why == CONTEST_WHY_RESTLESS)
		fprintf(out, "; whether that lasts, %.1f s on a machine as restless do not tell",
			x->race.seconds);
}

/* Data do not decide: what looked best. */
static void undecided(FILE *out, const struct answer *x, const char *ref, const char *const *names)
{
	const struct best_verdict *v = &x->says;
	char rival[120];
	fputs("cannot tell: ", out);
	if (!v->rival) {
		not_compared_yet(out, x, ref, names);
		return;
	}
	if (strcmp(v->rival, "single") == 0)
		snprintf(rival, sizeof rival, "%.60s alone",
			 v->rival_sample < x->place.k ? names[v->rival_sample] : "a device");
	else
		err_escape(rival, sizeof rival, v->rival, strlen(v->rival));
	if (v->ratio.mid < 1) {
		fprintf(out, "%s looked best (", rival);
	} else {
		print_alike(out, x, ref, names);
		fprintf(out, " looked best, %s %s (",
			v->ratio.lo > 1 ? "then" : "and as fast may be", rival);
	}
	print_times(out, &v->ratio);
	fprintf(out, ")%s%s%s", v->ratio.mid < 1 ? ", not surely faster than " : "",
		v->ratio.mid < 1 ? ref : "", v->ratio.mid < 1 ? " alone, which is kept" : "");
	if (v->ratio.lo > 1 || (v->ratio.lo > 0 && v->ratio.hi < 1))
		print_rule(out, x);
	print_more_time(out, v->more_s);
}

static void print_gain(FILE *out, const struct answer *x, const char *ref)
{
	const struct measured *m = &x->m;
	fprintf(out, "%.3f times as fast as %s alone (", 1 / m->ratio, ref);
	if (m->ratio_lo > 0)
		fprintf(out, "95 %% interval %.3f to %.3f, ", 1 / m->ratio_hi, 1 / m->ratio_lo);
	fprintf(out, "%u %s)%s", x->n_pairs, x->race.n_blocks ? "runs" : "pairs",
		m->ratio_lo > 0 && (m->ratio_hi < 1 || m->ratio_lo > 1)
			? ""
			: ": no difference that can be told");
}

/* Beside the best single device's, which is simulated, too. */
static void print_simulated(FILE *out, const struct answer *x)
{
	static const double ALIKE = 0.0005;
	double speedup = x->m.given && !x->m.reason ? placetext_speedup(x, &x->m) : 0;
	char why[200];
	if (x->m.reason)
		fprintf(out, "simulated: it cannot run: %s",
			err_escape(why, sizeof why, x->m.reason, strlen(x->m.reason)));
	else if (speedup > 1 + ALIKE)
		fprintf(out,
			"simulated: %.3f times as fast as the best single device; devrun measures "
			"it",
			speedup);
	else if (speedup > 1 - ALIKE)
		fputs("simulated: as fast as the best single device; devrun measures it", out);
	else if (speedup > 0)
		fprintf(out,
			"simulated: slower than the best single device, which is %.3f times as "
			"fast; devrun measures it",
			1 / speedup);
	else
		fputs("simulated; devrun measures it", out);
}

/* Of the latency. */
static void print_verdict(FILE *out, const struct answer *x, const char *const *names)
{
	const char *ref = placetext_reference(x, names);
	const struct measured *m = &x->m;
	if (x->simulated)
		print_simulated(out, x);
	else if (x->kind != ANSWER_FINAL)
		fputs("not compared in pairs; devrun paired does that", out);
	else if (!*x->reference)
		fputs(x->has_error ? "no single device can run the model, or is as exact; this "
				     "placement can"
				   : "no single device can run the model; this placement can",
		      out);
	else if (x->says.says == CONTEST_UNDECIDED)
		undecided(out, x, ref, names);
	else if (placetext_is_reference(x) && x->says.says == CONTEST_SINGLE) {
		print_alike(out, x, ref, names);
		fputs(" is the fastest of all that ran", out);
	} else if (placetext_is_reference(x))
		fprintf(out, "%s alone; no placement that was tried beats it for certain", ref);
	else if (m->has_ratio && m->ratio > 0 && m->ratio_hi > 0)
		print_gain(out, x, ref);
	else
		fputs("no ratio was measured", out);
}

/* Whether requests end in time, where they are to, and whatever else is to be said; false: nothing else is. */
static bool print_limit(FILE *out, const struct answer *x)
{
	const struct flight_rec *f = &x->flight;
	char limit[QUANTITY_CAP], takes[QUANTITY_CAP];
	if (f->limit_s == 0 || x->kind != ANSWER_FINAL)
		return true;
	quantity_trim(quantity_seconds(f->limit_s, limit));
	quantity_seconds(f->p95_s, takes);
	if (flight_is_beyond(f)) {
		fprintf(out,
			"nothing that ran has 95 %% of its requests within %s; this takes least, "
			"up to %s, at %.1f a second",
			limit, takes, 1 / x->m.lat_s);
		return false;
	}
	fprintf(out, "95 %% of the requests within %s (up to %s), %u at a time: ", limit, takes,
		f->requests);
	if (*x->reference && x->says.says != CONTEST_UNTOLD)
		return true;
	fputs(*x->reference
		      ? "what looked faster did not keep that while it was compared, and no rate "
			"is claimed"
		      : "no single device keeps that, this placement does",
	      out);
	return false;
}

/* That it is as exact as was asked for. */
static void print_error(FILE *out, const struct answer *x)
{
	if (x->has_error && x->kind == ANSWER_FINAL)
		fprintf(out, "; outputs are %.2g of their scale from those in f32, within %g",
			x->error, x->max_error);
}

void placetext_verdict(FILE *out, const struct answer *x, const char *const *names,
		       const char *objective)
{
	const struct objective o = find_objective(x, objective);
	bool measured = strcmp(objective ? objective : "latency", "latency") == 0 ||
			(o.rate && strcmp(objective, "throughput") == 0);
	if (measured || x->simulated || x->kind != ANSWER_FINAL) {
		if (print_limit(out, x))
			print_verdict(out, x, names);
		print_error(out, x);
		return;
	}
	if (x->m.has_value && x->m.value > 0 && o.best > 0)
		fprintf(out,
			"%s %.3f times as good as the best single device's, by simulation on "
			"measured "
			"costs; it was not measured, only the latency was: ",
			objective, o.best / x->m.value);
	else
		fprintf(out, "%s was not measured, and no simulation tells it; of the latency: ",
			objective);
	print_verdict(out, x, names);
	print_error(out, x);
}

void placetext_flight(FILE *out, const struct answer *x, const char *before, const char *after)
{
	const struct flight_rec *f = &x->flight;
	char why[300];
	if (f->requests == 0 || !(x->m.lat_s > 0) || x->m.reason)
		return;
	fprintf(out, "%s%u request%s, %.1f a second", before, f->requests,
		f->requests > 1 ? "s at once" : " at a time", 1 / x->m.lat_s);
	if (placetext_has_range(&x->m))
		fprintf(out, " (95 %% interval %.1f to %.1f)", 1 / x->m.hi_s, 1 / x->m.lo_s);
	if (x->m.ref_s > 0)
		fprintf(out, ", the best single device %.1f", 1 / x->m.ref_s);
	fprintf(out, "; one takes %.3f ms, 95 %% of them up to %.3f, 99 %% up to %.3f",
		f->p50_s * 1e3, f->p95_s * 1e3, f->p99_s * 1e3);
	if (f->limit_s > 0)
		fprintf(out, "; the limit of 95 %% is %.6g ms", f->limit_s * 1e3);
	if (f->failed > 0)
		fprintf(out, "; %" PRIu64 " of %" PRIu64 " failed: %s", f->failed, f->ended,
			err_escape(why, sizeof why, f->failure, strlen(f->failure)));
	fputs(after, out);
}

/* Why there is no difference of outputs. */
static void not_compared(FILE *out, const struct answer *x)
{
	char why[1000];
	if (x->kind == ANSWER_FINAL && !x->has_diff && *x->not_compared)
		fprintf(out, "outputs: not compared: %s\n",
			err_escape(why, sizeof why, x->not_compared, strlen(x->not_compared)));
}

/* How far from optimal a simulated latency can be. */
static void bound(FILE *out, const struct answer *x)
{
	double lat_s = x->m.lat_s, bound_s = x->place.bound_s;
	if (!x->simulated || x->m.reason || !(lat_s > 0))
		return;
	if (bound_s > 0)
		fprintf(out,
			"bound: by these costs no placement takes less than %.3f ms, a gap of %.2f "
			"%%\n",
			bound_s * 1e3, lat_s > bound_s ? (1 - bound_s / lat_s) * 100 : 0);
	if (x->place.bound_parts_of)
		fprintf(out,
			"bound of %s in parts: %.3f ms however they are cut, %.3f ms where each "
			"waits "
			"for all parts of what it reads\n",
			x->place.bound_parts_of, x->place.bound_parts_s * 1e3,
			x->place.bound_parts_wait_s * 1e3);
}

/* Who proposed a placement, from the source of its record. */
const char *placetext_finder(const char *source)
{
	static const struct {
		const char *source, *text;
	} known[] = {
		{"policy", "the learned policy"},
		{"moves", "moves that the learned policy chose"},
		{"heft", "HEFT on measured costs"},
		{"climb", "hill climbing on measured costs"},
		{"random", "random placement"},
		{"single", "a single device"},
		{"parts", "a part of each operation on each device"},
		{"mixed-precision", "the fastest precision that errors of operations allow"},
	};
	for (size_t i = 0; source && i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].source, source) == 0)
			return known[i].text;
	return source && *source ? source : "unknown";
}

/* What the objective is, of the placement and of the best single device. */
static void tell_objective(FILE *out, const struct answer *x, const struct objective *o)
{
	char here[60], there[60];
	if (!o->name || !x->m.has_value)
		return;
	fprintf(out, "objective: %s %s by simulation on the measured costs", o->name,
		placetext_value(o->name, x->m.value, here, sizeof here));
	if (o->best > 0 && x->m.value > 0)
		fprintf(out, ", %.3f times as good as the best single device's %s",
			o->best / x->m.value,
			placetext_value(o->name, o->best, there, sizeof there));
	fputc('\n', out);
}

static void tell_search(FILE *out, const struct answer *x, const char *how, double search_s)
{
	fputs("search: ", out);
	if (search_s >= 0)
		fprintf(out, "%.0f s, ", search_s);
	fprintf(out, "%" PRIu64 " placements %s in %" PRIu64 " episodes\n", x->n_measured, how,
		x->n_episodes);
}

uint64_t placetext_limit(const struct answer *x, const struct devs *devs, uint32_t d)
{
	int i = devs ? devs_find(devs, x->place.names[d]) : -1;
	return i < 0 ? 0 : devs->mem_bytes[i];
}

/* The peak of each device that is used, and what there is. */
static void memory(FILE *out, const struct answer *x, const char *const *names,
		   const struct devs *devs)
{
	const char *before = "memory:";
	for (uint32_t d = 0; x->mem_bytes && d < x->place.k; d++) {
		uint64_t limit = placetext_limit(x, devs, d);
		if (x->mem_bytes[d] == 0)
			continue;
		fprintf(out, "%s %s %.1f", before, names[d], (double)x->mem_bytes[d] * 1e-6);
		if (limit)
			fprintf(out, " of %.1f", (double)limit * 1e-6);
		fputs(" MB", out);
		before = ",";
	}
	for (uint32_t i = 0; devs && x->mem_bytes && i < x->n_pools && x->n_pools == devs->n_pools;
	     i++) {
		const struct dev_pool *p = &devs->pool[i];
		char name[100];
		fprintf(out, "%s %s, which devices share, %.1f", before,
			err_escape(name, sizeof name, p->name, strlen(p->name)),
			(double)x->pool_bytes[i] * 1e-6);
		if (p->mem_bytes)
			fprintf(out, " of %.1f", (double)p->mem_bytes * 1e-6);
		fputs(" MB", out);
		before = ",";
	}
	if (*before == ',')
		fputc('\n', out);
	if (x->has_joules)
		fprintf(out, "energy: %.4g J an inference, of all processors\n", x->joules);
	if (x->usd_per_million > 0)
		fprintf(out, "price: $%.4g a million inferences\n", x->usd_per_million);
}

/* Of a stream of placements of which none is the answer: all that were measured, as the report is about the last. */
static void tell_all(FILE *out, const struct answer *x)
{
	enum { MOST = 100 };
	if (x->kind != ANSWER_PLACE || x->n_places < 2)
		return;
	fprintf(out, "\n%-32s", "placements");
	cell(out, W_LAT, "latency");
	cell(out, W_RANGE, "95 %% interval");
	fputc('\n', out);
	for (uint32_t i = 0; i < x->n_tried && i < MOST; i++) {
		const struct tried *t = &x->tried[i];
		char label[80], source[60];
		err_escape(source, sizeof source, t->source, strlen(t->source));
		snprintf(label, sizeof label, "%.40s %u.%u.%u", source, t->id.episode, t->id.step,
			 t->id.sample);
		bool last = rollout_same(&t->id, &x->place.id) &&
			    strcmp(t->source, x->place.source) == 0;
		fprintf(out, "%-32s", label);
		if (t->m.reason) {
			char why[200];
			err_escape(why, sizeof why, t->m.reason, strlen(t->m.reason));
			fprintf(out, "  %s%s%s\n", placetext_why(&t->m), why, last ? "  <" : "");
			continue;
		}
		cell(out, W_LAT, "%.3f ms", t->m.lat_s * 1e3);
		placetext_has_range(&t->m)
			? cell(out, W_RANGE, "%.3f .. %.3f", t->m.lo_s * 1e3, t->m.hi_s * 1e3)
			: cell(out, W_RANGE, "-");
		fputs(last ? "  <\n" : "\n", out);
	}
	if (x->n_tried > MOST)
		fprintf(out, "... and %u more\n", x->n_tried - MOST);
	fprintf(out, "this placement is the last of %u; devrun paired finds the best\n",
		x->n_places);
}

bool placetext_is_busy(const struct answer *x)
{
	static const double BUSY = 0.1; /* of the cores, used by others */
	const struct contest_load *l = &x->load;
	return x->kind == ANSWER_FINAL && l->cores > 0 && l->average > l->cores &&
	       l->others >= BUSY * l->cores;
}

void placetext_load(FILE *out, const struct answer *x, const char *before, const char *after)
{
	const struct contest_load *l = &x->load;
	if (!placetext_is_busy(x))
		return;
	fprintf(out,
		"%s%.1f on %u core%s in the last minute, of which other programs used %.1f "
		"while this was "
		"measured; times are longer, and vary more, than at rest%s",
		before, l->average, l->cores, l->cores == 1 ? "" : "s", l->others, after);
}

const char *placetext_no_quotient(const struct answer *x)
{
	/* A race tells latencies by these quotients, and a simulation has one latency for each placement. */
	if (x->simulated || x->race.n_blocks > 0 || !(placetext_speedup(x, &x->m) > 0))
		return NULL;
	return x->kind == ANSWER_FINAL
		       ? "the median of pairs of a round, not the quotient of two rows"
		       : "over the best single device beside each, not the quotient of two rows";
}

void placetext_report(FILE *out, const struct answer *x, const struct placed *p,
		      const char *const *names, const struct devs *devs, const char *what,
		      double search_s, const struct screen *screen)
{
	struct objective o = find_objective(x, what);
	char random[60], label[300];
	int width = 14;
	uint32_t n_single = x->n_single < x->place.k ? x->n_single : x->place.k;
	for (uint32_t d = 0; d < n_single; d++)
		if ((int)strlen(names[d]) + 6 > width)
			width = (int)strlen(names[d]) + 6;
	snprintf(random, sizeof random, "best of %" PRIu64 " random", x->n_random);
	if (x->random.given && (int)strlen(random) > width)
		width = (int)strlen(random);
	placetext_load(out, x, "load: ", "\n");
	fit_columns(&o, width, screen);
	head(out, width, &o);
	for (uint32_t d = 0; d < n_single; d++) {
		snprintf(label, sizeof label, "%s alone", names[d]);
		if (x->single[d].given)
			row(out, width, label, &x->single[d], 0, x, NULL, &o);
	}
	struct measured random_one = answer_random(x);
	if (random_one.given)
		row(out, width, random, &random_one, 0, x, NULL, &o);
	struct measured m = x->m;
	for (uint32_t d = 0; d < n_single && placetext_is_reference(x); d++)
		if (strcmp(x->place.names[d], x->reference) == 0 && x->single[d].has_ratio)
			m.ratio = x->single[d].ratio; /* the answer is a row above */
	row(out, width, "this placement", &m, x->n_groups, x, x->has_diff ? x : NULL, &o);
	if (placetext_no_quotient(x))
		fprintf(out, "speedup: %s\n", placetext_no_quotient(x));
	tell_unfit(out, x, &o);
	tell_distance(out, x, names);
	placetext_error(out, x, names, "error: ", "\n");
	tell_all(out, x);
	fprintf(out, "\nplacement: %u sets in %u segments on", x->place.n_sets, p->n_segments);
	for (uint32_t d = 0; d < p->k; d++)
		fprintf(out, "%s %s (%u)", d ? "," : "", names[d], p->sets[d]);
	const char *finder = placetext_finder(x->place.source);
	fprintf(out, "\nfound by: %s", err_escape(label, sizeof label, finder, strlen(finder)));
	fputc('\n', out);
	if (x->n_episodes > 0 || x->race.n_blocks == 0)
		tell_search(out, x, o.name ? "simulated" : "measured", search_s);
	if (x->kind == ANSWER_FINAL)
		raced_print(out, &x->raced, &x->race, x->says.says != CONTEST_UNDECIDED, &x->place,
			    x->last_gain, x->n_episodes);
	case_runs_print(out, &x->cases, x->graph, &x->place);
	placetext_flight(out, x, "in flight: ", "\n");
	placetext_replicas(out, x, names, "replicas: ", "\n");
	memory(out, x, names, devs);
	bound(out, x);
	not_compared(out, x);
	tell_objective(out, x, &o);
	fputs("verdict: ", out);
	placetext_verdict(out, x, names, what);
	fputc('\n', out);
}

/* Operations that several devices compute, and how much of their work each does. */
static void tell_parts(FILE *out, const struct report_input *in)
{
	struct parts_told parts;
	parts_count(in->x->graph, in->p, in->flops, in->x->arena, &parts);
	if (parts.cut == 0)
		return;
	fprintf(out, "in parts: several devices compute %u of %u operations that are cut",
		parts.apart, parts.cut);
	for (uint32_t d = 0, n = 0; d < in->p->k; d++)
		if (parts.share[d] > 0)
			fprintf(out, "%s %.0f %% on %s", n++ ? "," : "; of their work",
				100 * parts.share[d], in->names[d]);
	fputc('\n', out);
}

/* How often bodies of If and loops run: as was told, or what costs have in its place. */
static void tell_bodies(FILE *out, const struct graph *g, uint32_t *n)
{
	enum { MOST = 8 };
	for (uint32_t i = 0; i < g->n_bodies; i++) {
		const struct graph_body *b = &g->body[i];
		double times = op_body_times(g, b);
		uint32_t first;
		graph_bodies(g, b->node, &first);
		bool branch = g->kind[b->node] == OP_IF;
		char name[100];
		tell_bodies(out, b->graph, n);
		/* What its slices say is no assumption. */
		if (i != first || (!branch && times >= 0 && !(b->times > 0)) || ++*n > MOST)
			continue;
		const char *of = g->node_name[b->node];
		fprintf(out, "%s'%s' ", *n == 1 ? "control flow: " : ", ",
			err_escape(name, sizeof name, of, strlen(of)));
		if (branch && times >= 0)
			fprintf(out, "takes %s in %g %% of its runs", b->role, 100 * times);
		else if (branch)
			fputs("counts as its larger branch", out);
		else if (times >= 0)
			fprintf(out, "has %g rounds", times);
		else
			fputs("counts as one round", out);
		if (times < 0)
			fprintf(out, " (nobody said how often: --%s)", branch ? "branch" : "trips");
	}
}

static void tell_control(FILE *out, const struct graph *g)
{
	uint32_t n = 0;
	tell_bodies(out, g, &n);
	if (n > 0)
		fputs(n > 8 ? ", ...\n" : "\n", out);
}

/* OpenVINO keeps a variable within a segment. */
static void tell_parted(FILE *out, const struct report_input *in)
{
	char id[100];
	uint32_t n = placecheck_parted(in->x->graph, in->p, in->constant, id, sizeof id);
	if (n > 0)
		fprintf(out,
			"variables: this placement parts what reads and what assigns %u of them "
			"('%s'%s): devrun and libhsdag-run run it, OpenVINO does not; ir2dag "
			"without --split-variables keeps them together\n",
			n, id, n > 1 ? ", ..." : "");
}

/* What HETERO does to variables is told before somebody tries. */
static void tell_hetero(FILE *out, const struct report_input *in)
{
	struct arena *a = arena_new();
	if (graph_variable_sets(in->x->graph, a) &&
	    devicemap_count(in->p->k, in->names, in->p->sets) > 1)
		fputs("OpenVINO: HETERO (2026.4) refuses most placements of models with variables "
		      "on "
		      "several devices; use.py and apply run the segments then\n",
		      out);
	arena_free(a);
}

static int write_report(FILE *out, const struct report_input *in, struct err *e)
{
	(void)e;
	placetext_report(out, in->x, in->p, in->names, in->devs, in->objective, in->search_s,
			 in->screen);
	if (in->traded)
		traded_print(out, in->traded);
	tell_parts(out, in);
	tell_parted(out, in);
	tell_control(out, in->x->graph);
	if (in->x->graph->ir_version)
		devicemap_tell_one(out, in->p->k, in->x->place.names, in->names, in->p->sets);
	if (in->x->graph->ir_version)
		tell_hetero(out, in);
	return 0;
}

const struct report_format format_report = {
	.name = "report",
	.about = "latencies of single devices, random placements and this one",
	.plain = true,
	.write = write_report,
};
