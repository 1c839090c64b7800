/* raced.c - what competed in a race, for people. */
#include "report/raced.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "stats/quantile.h"
#include "timing/contest.h"

static void release(struct raced_one *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mem_free(v[i].source);
	mem_free(v);
}

void raced_release(struct raced *x)
{
	release(x->v, x->n);
	release(x->before, x->n_before);
	release(x->out, x->n_out);
	*x = (struct raced){0};
}

/* Another race begins. */
static void begin_again(struct raced *x)
{
	struct raced last = {.before = x->v, .n_before = x->n};
	x->v = NULL;
	x->n = 0;
	raced_release(x);
	*x = last;
}

void raced_take(struct raced *x, const struct run_rec *run)
{
	bool untried = run->reason && strcmp(run->reason, contest_no_time) == 0;
	bool left = run->reason && strcmp(run->reason, contest_left) == 0;
	bool beyond = run->reason && run->has_error &&
		      strncmp(run->reason, contest_inexact, strlen(contest_inexact)) == 0;
	if (!untried && !left && !beyond && (run->reason || run->turns.n_bursts == 0))
		return;
	if (x->over)
		begin_again(x);
	if (beyond) {
		x->out = mem_grow(x->out, &x->cap_out, x->n_out + 1, sizeof *x->out);
		x->out[x->n_out++] = (struct raced_one){.id = run->id,
							.source = mem_strdup(run->source),
							.has_error = true,
							.error = run->error,
							.is_out = true};
		return;
	}
	x->n_untried += untried;
	x->n_left += left;
	if (untried || left)
		return;
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct raced_one){.id = run->id,
					  .source = mem_strdup(run->source),
					  .lat_s = run->lat_s,
					  .lo_s = run->lo_s,
					  .hi_s = run->hi_s,
					  .ratio = run->ratio,
					  .has_ratio = run->has_ratio && run->ratio > 0,
					  .predicted_s = run->predicted_s,
					  .limit_s = run->flight.limit_s,
					  .p95_s = run->flight.p95_s,
					  .requests = run->flight.requests,
					  .n_runs = run->n_samples,
					  .turns = run->turns,
					  .has_error = run->has_error,
					  .error = run->error};
}

void raced_end(struct raced *x)
{
	x->over = true;
}

static bool is_answer(const struct raced_one *r, const struct place_rec *p)
{
	return strcmp(r->source, p->source) == 0 && r->id.episode == p->id.episode &&
	       r->id.step == p->id.step && r->id.sample == p->id.sample;
}

static bool is_single(const struct raced_one *r)
{
	return strcmp(r->source, "single") == 0;
}

/* Two that are the same placement ran as one, and what that took is told of both. */
static bool same_runs(const struct raced_one *a, const struct raced_one *b)
{
	return a->lat_s == b->lat_s && a->lo_s == b->lo_s && a->hi_s == b->hi_s &&
	       a->n_runs == b->n_runs && a->predicted_s == b->predicted_s;
}

/* Is it the same placement as an earlier one? */
static bool ran_before(const struct raced *x, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (same_runs(&x->v[i], &x->v[j]))
			return true;
	return false;
}

/* Is it like an earlier one, and no start? */
static bool repeats(const struct raced *x, size_t i)
{
	const struct raced_one *a = &x->v[i];
	if (a->turns.start && !is_single(a))
		return false;
	for (size_t j = 0; j < i; j++) {
		const struct raced_one *b = &x->v[j];
		if (is_single(a) && is_single(b) && a->id.sample == b->id.sample)
			return true;
		if (!a->turns.start && same_runs(a, b))
			return true;
	}
	return false;
}

static bool is_reference(const struct raced_one *r)
{
	return is_single(r) && r->has_ratio && r->ratio == 1;
}

/* What the best single device should have taken, and took: means where several are made alike. */
struct pace {
	double predicted_s, lat_s; /* predicted_s 0: nobody said */
	const struct raced_one *one;
};

static struct pace find_pace(const struct raced *x)
{
	double predicted = 0, lat = 0, n = 0;
	const struct raced_one *one = NULL;
	for (size_t i = 0; i < x->n; i++) {
		const struct raced_one *r = &x->v[i];
		if (!is_reference(r) || !(r->predicted_s > 0))
			continue;
		predicted += log(r->predicted_s);
		lat += log(r->lat_s);
		one = one ? one : r;
		n++;
	}
	return n > 0 ? (struct pace){exp(predicted / n), exp(lat / n), one}
		     : (struct pace){0, 0, NULL};
}

/* What it should take while the best single device takes what it took. */
static double predicted_beside(const struct raced_one *r, const struct pace *p)
{
	return p->one ? r->predicted_s / p->predicted_s * p->lat_s : r->predicted_s;
}

static void print_row(FILE *out, const char *label, const struct raced_one *r, const struct pace *p,
		      bool answer)
{
	fprintf(out, "%-24s", label);
	if (r->predicted_s > 0)
		fprintf(out, "  %9.3f ms", predicted_beside(r, p) * 1e3);
	else
		fprintf(out, "  %12s", "-");
	fprintf(out, "  %9.3f ms", r->lat_s * 1e3);
	if (r->has_ratio)
		fprintf(out, "  %7.3fx", 1 / r->ratio);
	else
		fprintf(out, "  %8s", "-");
	if (r->limit_s > 0)
		fprintf(out, "  %7u  %8.3f ms%c", r->requests, r->p95_s * 1e3,
			r->p95_s > r->limit_s ? '!' : ' ');
	if (r->has_error)
		fprintf(out, "  %8.2g", r->error);
	fprintf(out, "  %6u  %6u%s\n", r->n_runs, r->turns.n_bursts, answer ? " <" : "");
}

enum { SHORT = 64 };

/* Most of it, escaped. */
static const char *short_name(char dst[SHORT], const char *name, size_t most)
{
	return err_escape(dst, most < SHORT ? most + 4 : SHORT, name, strlen(name));
}

static const char *start_label(const struct raced_one *r, const struct place_rec *answer,
			       char *label, size_t cap)
{
	char name[SHORT];
	const char *one = r->id.sample < answer->k ? answer->names[r->id.sample] : "a device";
	if (is_single(r))
		snprintf(label, cap, "%s alone", short_name(name, one, 40));
	else
		err_escape(label, cap < SHORT ? cap : SHORT, r->source, strlen(r->source));
	return label;
}

/* A start, by its own name; one that is the same placement as an earlier start refers to that. */
static void print_start(FILE *out, const struct raced *x, size_t i, const struct pace *p,
			const struct place_rec *answer)
{
	const struct raced_one *r = &x->v[i];
	char label[80], like[80];
	start_label(r, answer, label, sizeof label);
	for (size_t j = 0; j < i && !is_single(r); j++)
		if (x->v[j].turns.start && same_runs(r, &x->v[j])) {
			fprintf(out, "%-24s  as %s%s\n", label,
				start_label(&x->v[j], answer, like, sizeof like),
				is_answer(r, answer) ? "  <" : "");
			return;
		}
	print_row(out, label, r, p, is_answer(r, answer));
}

/* The fastest of a source, once. */
static void print_others(FILE *out, const struct raced *x, size_t first, const struct pace *p,
			 const struct place_rec *answer)
{
	const struct raced_one *best = NULL;
	uint32_t n = 0;
	char label[80];
	for (size_t i = 0; i < x->n; i++) {
		const struct raced_one *r = &x->v[i];
		if (r->turns.start || repeats(x, i) || strcmp(r->source, x->v[first].source) != 0)
			continue;
		if (i < first)
			return;
		n++;
		if (!best || is_answer(r, answer) ||
		    (!is_answer(best, answer) && r->lat_s < best->lat_s))
			best = r;
	}
	short_name(label, best->source, n > 1 ? 40 : 60);
	if (n > 1)
		snprintf(label + strlen(label), 24, ", best of %u", n);
	print_row(out, label, best, p, is_answer(best, answer));
}

static void print_one_beyond(FILE *out, const char *label, double error, double least)
{
	char text[40];
	if (error >= least)
		snprintf(text, sizeof text, "no bound");
	else
		snprintf(text, sizeof text, "%.2g", error);
	fprintf(out, "%-24s  out: error %s, beyond the limit\n", label, text);
}

/* What was beyond a limit of error: each single device and start of its own name, and of other sources with several the one with the
 * least error. */
static void print_beyond(FILE *out, const struct raced *x, const struct place_rec *answer)
{
	static const double NO_BOUND = 1e300; /* as records have it */
	for (size_t i = 0; i < x->n_out; i++) {
		const struct raced_one *r = &x->out[i];
		char label[120];
		double least = r->error;
		uint32_t n = 0;
		bool first = true;
		for (size_t j = 0; j < x->n_out && !is_single(r); j++) {
			const struct raced_one *other = &x->out[j];
			if (strcmp(r->source, other->source) != 0)
				continue;
			first &= j >= i;
			least = other->error < least ? other->error : least;
			n++;
		}
		for (size_t j = 0; j < i && is_single(r); j++)
			first &= !is_single(&x->out[j]) || x->out[j].id.sample != r->id.sample;
		if (!first)
			continue;
		start_label(r, answer, label, 80);
		if (n > 1)
			snprintf(label + strlen(label), 24, ", least of %u", n);
		print_one_beyond(out, label, least, NO_BOUND);
	}
}

/* Those that may be as fast as the answer. */
static uint32_t count_rivals(const struct raced *x, const struct place_rec *answer)
{
	const struct raced_one *a = NULL;
	uint32_t n = 0;
	for (size_t i = 0; i < x->n && !a; i++)
		a = is_answer(&x->v[i], answer) ? &x->v[i] : NULL;
	for (size_t i = 0; i < x->n && a; i++)
		n += &x->v[i] != a && !same_runs(&x->v[i], a) && !x->v[i].turns.out &&
		     !repeats(x, i) && x->v[i].lo_s < a->lat_s;
	return n;
}

static void print_more_time(FILE *out, const struct raced *x, const struct contest_race_facts *race,
			    bool decided, const struct place_rec *answer, uint64_t last_gain,
			    uint64_t n_episodes)
{
	uint32_t rivals = count_rivals(x, answer);
	fputs("more time: ", out);
	if (race->settled && decided)
		fputs("more runs would not change which of these is the answer", out);
	else if (rivals)
		fprintf(out, "may change the answer, as %u other%s may be as fast", rivals,
			rivals == 1 ? "" : "s");
	else
		fputs("may change the answer, as the race was not over", out);
	if (x->n_untried)
		fprintf(out, "; %u had no time to run", x->n_untried);
	if (last_gain)
		fprintf(out, "; the search's best came in episode %" PRIu64 " of %" PRIu64,
			last_gain, n_episodes);
	fputc('\n', out);
}

/* How far predictions of the fastest few are from what was measured, and what they are told beside. */
static void print_accuracy(FILE *out, const struct raced *x, const struct pace *p,
			   const struct place_rec *answer)
{
	enum { FASTEST = 10 };
	char one[SHORT];
	double lat_s[FASTEST], off[FASTEST], sum = 0;
	size_t n = 0;
	if (!p->one)
		return;
	for (size_t i = 0; i < x->n; i++) {
		const struct raced_one *r = &x->v[i];
		size_t at = n < FASTEST ? n : FASTEST - 1;
		if (is_single(r) || ran_before(x, i) || !r->has_ratio || !(r->predicted_s > 0) ||
		    (n == FASTEST && r->lat_s >= lat_s[at]))
			continue;
		for (; at > 0 && lat_s[at - 1] > r->lat_s; at--) {
			lat_s[at] = lat_s[at - 1];
			off[at] = off[at - 1];
		}
		lat_s[at] = r->lat_s;
		off[at] = fabs(log(predicted_beside(r, p) / r->lat_s));
		n += n < FASTEST;
	}
	for (size_t i = 0; i < n; i++)
		sum += off[i];
	fprintf(out, "predicted: beside %.40s alone, which should have taken %.3f ms",
		short_name(one,
			   p->one->id.sample < answer->k ? answer->names[p->one->id.sample]
							 : "a device",
			   40),
		p->predicted_s * 1e3);
	if (n)
		fprintf(out, "; the %zu fastest are %.1f %% off", n, 100 * sum / (double)n);
	fputc('\n', out);
}

static const struct raced_one *find_reference(const struct raced_one *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_reference(&v[i]))
			return &v[i];
	return NULL;
}

/* What was raced before, too, with bursts enough in both races; NULL: it was not. */
static const struct raced_one *find_before(const struct raced *x, const struct raced_one *r)
{
	enum { FEWEST_BURSTS = 4 };
	for (size_t j = 0; j < x->n_before; j++) {
		const struct raced_one *b = &x->before[j];
		if (r->has_ratio && b->has_ratio && r->turns.n_bursts >= FEWEST_BURSTS &&
		    b->turns.n_bursts >= FEWEST_BURSTS && r->id.episode == b->id.episode &&
		    r->id.step == b->id.step && r->id.sample == b->id.sample &&
		    strcmp(r->source, b->source) == 0)
			return b;
	}
	return NULL;
}

/* How much longer the best single device takes than in the race before: beside another single device; or, where none tells,
 * beside most placements. */
static void print_change(FILE *out, const struct raced *x, const struct place_rec *answer)
{
	enum { FEWEST = 3 };
	static const double LEAST = 0.05, LEAST_OF_MOST = 0.025;
	const struct raced_one *now = find_reference(x->v, x->n),
			       *then = find_reference(x->before, x->n_before), *other = NULL;
	if (!now || !then || now->id.sample != then->id.sample || !find_before(x, now))
		return;
	double *by = MEM_NEWN(double, x->n + 1), change = 0, of_most = 0;
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct raced_one *a = &x->v[i], *b = find_before(x, a);
		double c = b ? log(b->ratio / a->ratio) : 0;
		if (!b || a->ratio == 1 || ran_before(x, i))
			continue;
		if (!is_single(a)) {
			by[n++] = c;
		} else if (fabs(c) > fabs(change)) {
			change = c;
			other = a;
		}
	}
	char beside[120], label[80];
	if (other)
		snprintf(beside, sizeof beside, "%s",
			 start_label(other, answer, label, sizeof label));
	of_most = LEAST_OF_MOST;
	if (fabs(change) < LEAST && n >= FEWEST) {
		order_values(by, (uint32_t)n);
		change = quantile(by, (uint32_t)n, 0.5);
		of_most =
			quantile(by, (uint32_t)n, change > 0 ? 0.25 : 0.75) * (change > 0 ? 1 : -1);
		snprintf(beside, sizeof beside, "most of %zu placements", n);
	}
	if (fabs(change) >= LEAST && of_most >= LEAST_OF_MOST)
		fprintf(out,
			"the machine changed: beside %s, %s takes %.0f %% %s than in an earlier "
			"race; which "
			"is the fastest may change with it\n",
			beside, start_label(now, answer, label, sizeof label),
			100 * fabs(expm1(change)), change > 0 ? "longer" : "less");
	mem_free(by);
}

void raced_print(FILE *out, const struct raced *x, const struct contest_race_facts *race,
		 bool decided, const struct place_rec *answer, uint64_t last_gain,
		 uint64_t n_episodes)
{
	if (x->n == 0 || race->n_blocks == 0)
		return;
	const struct pace pace = find_pace(x);
	fprintf(out, "\n%-24s  %12s  %12s  %8s", "raced", "predicted", "measured", "speedup");
	if (x->v[0].limit_s > 0)
		fprintf(out, "  %7s  %11s ", "at once", "95 % within");
	if (x->v[0].has_error)
		fprintf(out, "  %8s", "error");
	fprintf(out, "  %6s  %6s\n", "runs", "bursts");
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].turns.start && !repeats(x, i))
			print_start(out, x, i, &pace, answer);
	for (size_t i = 0; i < x->n; i++)
		if (!x->v[i].turns.start && !repeats(x, i))
			print_others(out, x, i, &pace, answer);
	print_beyond(out, x, answer);
	print_accuracy(out, x, &pace, answer);
	if (x->n_left)
		fprintf(out, "%u others were slower in a first race, and left out\n", x->n_left);
	fprintf(out, "race: %.1f s, %u block%s, %u of them disturbed", race->seconds,
		race->n_blocks, race->n_blocks == 1 ? "" : "s", race->n_disturbed);
	if (race->noise > 0)
		fprintf(out, "; bursts beside each other vary by %.1f %%, the machine by %.0f %%",
			100 * race->noise, 100 * race->drift);
	fputs(race->noise > 0 ? "\n" : "; how much bursts vary cannot be told\n", out);
	print_change(out, x, answer);
	print_more_time(out, x, race, decided, answer, last_gain, n_episodes);
}
