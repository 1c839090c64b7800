/* placement_times.c - fastest runs and means of logs, over parts of the runs. */
#include "calibrate/placement_times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/speed_effect.h"
#include "linear/blas.h"
#include "stats/quantile.h"
#include "stats/twoway.h"

/* Shares of the values that trimmed means leave out: at either end, and of slow runs in the end. */
static const double CUT = 1.0 / 8, CUT_SLOW = 1.0 / 4;

const char *const statistic_name[STATISTICS] = {"fastest", "mean"};
const char *const of_suffix[OF_KINDS] = {
	"_s", "_raw_s", "_odd_rounds_s", "_even_rounds_s", "_odd_passes_s", "_even_passes_s"};

/* ---- calls ---- */

/* PASS of .../NAME.PASS.CALL.SUFFIX; 0: the name has none. */
static uint32_t pass_of(const char *path)
{
	const char *end = path + strlen(path), *at = end;
	for (int dots = 0; dots < 3; dots += *at == '.')
		if (at-- == path)
			return 0;
	char *stop;
	unsigned long pass = strtoul(at + 1, &stop, 10);
	return *stop == '.' && pass < 1000000 ? (uint32_t)pass : 0;
}

int calls_read(char *const *paths, uint32_t n, struct arena *a, struct calls *out, struct err *e)
{
	*out = (struct calls){n, ARENA_NEWN(a, struct call, (size_t)n + 1)};
	for (uint32_t i = 0; i < n; i++) {
		out->call[i].pass = pass_of(paths[i]);
		if (!out->call[i].pass)
			return err_set(e, ST_USAGE, "'%s' is not named NAME.PASS.CALL.mp",
				       paths[i]);
		if (run_list_read(paths[i], a, &out->call[i].runs, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- all runs, one after another ---- */

struct all_runs {
	uint32_t n, n_placements, n_calls, n_rounds, n_devices;
	uint32_t *placement, *call, *round_of_call; /* (n) indices */
	uint32_t *pass, *round;                     /* (n) numbers */
	double *log_s;                              /* (n) */
	double *log_loop;                           /* (n, n_devices, LOOP_KINDS); NAN: not known */
	double *share;   /* (n_placements, n_devices) mean of the calls */
	bool *is_common; /* (n_placements) */
};

/* Index of a placement among those that ran; n when it is new. */
static uint32_t find_placement(const struct placement_times *t, uint64_t sample)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->item[i].sample == sample)
			return i;
	return t->n;
}

/* The placements that ran, and how many runs there are.  A run without loops has no devices. */
static void count_runs(const struct calls *c, struct arena *a, struct all_runs *all,
		       struct placement_times *t)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < c->n; i++)
		most += c->call[i].runs.n;
	*all = (struct all_runs){.n_calls = c->n};
	*t = (struct placement_times){
		.item = ARENA_NEWN(a, struct placement_time, (size_t)most + 1)};
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = 0; j < c->call[i].runs.n; j++) {
			const struct run_item *x = &c->call[i].runs.item[j];
			if (!x->ok)
				continue;
			uint32_t p = find_placement(t, x->sample);
			t->n += p == t->n;
			t->item[p].sample = x->sample;
			t->item[p].n_runs += x->n_samples;
			all->n += x->n_samples;
			if (x->n_loops == LOOP_KINDS && x->n_devices > all->n_devices)
				all->n_devices = x->n_devices;
		}
	all->n_placements = t->n;
}

/* Is placement `sample` in every call, whether it ran there or not? */
static bool is_in_every_call(const struct calls *c, uint64_t sample)
{
	for (uint32_t i = 0; i < c->n; i++) {
		bool here = false;
		for (uint32_t j = 0; j < c->call[i].runs.n && !here; j++)
			here = c->call[i].runs.item[j].sample == sample;
		if (!here)
			return false;
	}
	return true;
}

static void add_run(struct all_runs *all, const struct call *c, uint32_t call, uint32_t p,
		    const struct run_item *x, bool use_speed)
{
	for (uint32_t j = 0; j < x->n_samples; j++) {
		uint32_t i = all->n++;
		all->log_s[i] = log(x->samples_s[j]);
		all->placement[i] = p;
		all->call[i] = call;
		all->pass[i] = c->pass;
		all->round[i] = (c->pass - 1) * x->n_samples + j + 1;
		all->round_of_call[i] = all->n_rounds + j;
		for (uint32_t d = 0; d < all->n_devices; d++)
			for (uint32_t kind = 0; kind < LOOP_KINDS; kind++) {
				bool told =
					use_speed && x->n_loops == LOOP_KINDS && d < x->n_devices;
				size_t at = ((size_t)j * x->n_devices + d) * LOOP_KINDS + kind;
				double s = told ? x->loop_s[at] : 0;
				at = ((size_t)i * all->n_devices + d) * LOOP_KINDS + kind;
				all->log_loop[at] = s > 0 ? log(s) : NAN;
			}
	}
	for (uint32_t d = 0; d < all->n_devices && d < x->n_devices; d++)
		all->share[(size_t)p * all->n_devices + d] +=
			fmin(x->busy_s[d] / run_fastest(x), 1);
}

static void gather_runs(const struct calls *c, bool use_speed, struct arena *a,
			struct all_runs *all, struct placement_times *t)
{
	count_runs(c, a, all, t);
	size_t n = (size_t)all->n + 1, cells = (size_t)all->n_placements * all->n_devices + 1;
	uint32_t *rows = ARENA_NEWN(a, uint32_t, (size_t)t->n + 1);
	all->placement = ARENA_NEWN(a, uint32_t, n);
	all->call = ARENA_NEWN(a, uint32_t, n);
	all->round_of_call = ARENA_NEWN(a, uint32_t, n);
	all->pass = ARENA_NEWN(a, uint32_t, n);
	all->round = ARENA_NEWN(a, uint32_t, n);
	all->log_s = ARENA_NEWN(a, double, n);
	all->log_loop = ARENA_NEWN(a, double, n * all->n_devices * LOOP_KINDS + 1);
	all->share = ARENA_NEWN(a, double, cells);
	all->is_common = ARENA_NEWN(a, bool, (size_t)t->n + 1);
	all->n = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t rounds = 0;
		for (uint32_t j = 0; j < c->call[i].runs.n; j++) {
			const struct run_item *x = &c->call[i].runs.item[j];
			if (!x->ok)
				continue;
			uint32_t p = find_placement(t, x->sample);
			rows[p]++;
			add_run(all, &c->call[i], i, p, x, use_speed);
			rounds = x->n_samples > rounds ? x->n_samples : rounds;
		}
		all->n_rounds += rounds;
	}
	for (uint32_t p = 0; p < t->n; p++) {
		t->item[p].is_common = all->is_common[p] = is_in_every_call(c, t->item[p].sample);
		for (uint32_t d = 0; d < all->n_devices; d++)
			all->share[(size_t)p * all->n_devices + d] /= rows[p];
	}
}

/* ---- parts of the runs ---- */

static bool is_of(const struct all_runs *all, uint32_t i, int of)
{
	switch (of) {
	case OF_ODD_ROUNDS: return all->round[i] % 2 == 1;
	case OF_EVEN_ROUNDS: return all->round[i] % 2 == 0;
	case OF_ODD_PASSES: return all->pass[i] % 2 == 1;
	case OF_EVEN_PASSES: return all->pass[i] % 2 == 0;
	default: return true;
	}
}

/* The runs of that part, with memory from a. */
static struct all_runs select_runs(const struct all_runs *all, int of, struct arena *a)
{
	struct all_runs part = *all;
	size_t width = (size_t)all->n_devices * LOOP_KINDS;
	part.n = 0;
	part.placement = ARENA_NEWN(a, uint32_t, (size_t)all->n + 1);
	part.call = ARENA_NEWN(a, uint32_t, (size_t)all->n + 1);
	part.round_of_call = ARENA_NEWN(a, uint32_t, (size_t)all->n + 1);
	part.log_s = ARENA_NEWN(a, double, (size_t)all->n + 1);
	part.log_loop = ARENA_NEWN(a, double, all->n *width + 1);
	for (uint32_t i = 0; i < all->n; i++) {
		if (!is_of(all, i, of))
			continue;
		uint32_t j = part.n++;
		part.placement[j] = all->placement[i];
		part.call[j] = all->call[i];
		part.round_of_call[j] = all->round_of_call[i];
		part.log_s[j] = all->log_s[i];
		if (width)
			memcpy(&part.log_loop[j * width], &all->log_loop[i * width],
			       width * sizeof *part.log_loop);
	}
	return part;
}

/* ---- means ---- */

/* u[n_placements] of the part; the share of variance that cores' speed explains. */
static double find_means(const struct all_runs *r, bool raw, double *u)
{
	double *y = MEM_NEWN(double, (size_t)r->n + 1), explained = 0;
	struct speed_runs s = {r->n,         r->n_placements, r->n_calls,  r->n_devices, r->log_s,
			       r->placement, r->call,         r->log_loop, r->share};
	struct twoway t = {r->n,         r->n_placements,  r->n_rounds, y,
			   r->placement, r->round_of_call, CUT,         CUT_SLOW};
	if (raw) {
		memcpy(y, r->log_s, r->n * sizeof *y);
		twoway_rows_alone(&t, u);
	} else {
		explained = speed_effect_remove(&s, y);
		twoway_rows(&t, u);
	}
	mem_free(y);
	return explained;
}

/* ---- fastest runs ---- */

/* least[g] of the groups of[] (n_groups) of x[n]: the expected least of as few as the smallest
 * group has; NAN where a group is empty. */
static void least_each(const double *x, const uint32_t *of, uint32_t n, size_t n_groups,
		       double *least)
{
	uint32_t *count = MEM_NEWN(uint32_t, n_groups + 1), fewest = UINT32_MAX;
	size_t *first = MEM_NEWN(size_t, n_groups + 1);
	double *sorted = MEM_NEWN(double, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		if (of[i] != UINT32_MAX)
			count[of[i]]++;
	for (size_t g = 0; g < n_groups; g++) {
		first[g + 1] = first[g] + count[g];
		if (count[g] && count[g] < fewest)
			fewest = count[g];
		count[g] = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		if (of[i] != UINT32_MAX)
			sorted[first[of[i]] + count[of[i]]++] = x[i];
	for (size_t g = 0; g < n_groups; g++)
		least[g] = count[g] ? expected_least(&sorted[first[g]], count[g], fewest) : NAN;
	mem_free(count);
	mem_free(first);
	mem_free(sorted);
}

/* slow[n_calls]: by how much the common placements' fastest runs are slower there than anywhere. */
static void find_slow_calls(const struct all_runs *r, double *slow)
{
	size_t cells = (size_t)r->n_calls * r->n_placements;
	uint32_t *of = MEM_NEWN(uint32_t, (size_t)r->n + 1);
	double *here = MEM_NEWN(double, cells + 1);
	double *anywhere = MEM_NEWN(double, (size_t)r->n_placements + 1);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t p = r->placement[i];
		of[i] = r->is_common[p] ? r->call[i] * r->n_placements + p : UINT32_MAX;
	}
	least_each(r->log_s, of, r->n, cells, here);
	for (uint32_t p = 0; p < r->n_placements; p++)
		anywhere[p] = INFINITY;
	for (size_t at = 0; at < cells; at++)
		anywhere[at % r->n_placements] = fmin(anywhere[at % r->n_placements], here[at]);
	for (uint32_t c = 0; c < r->n_calls; c++) {
		double sum = 0, n = 0;
		for (uint32_t p = 0; p < r->n_placements; p++) {
			double x = here[(size_t)c * r->n_placements + p];
			if (!isnan(x)) {
				sum += x - anywhere[p];
				n++;
			}
		}
		slow[c] = n > 0 ? sum / n : 0;
	}
	mem_free(of);
	mem_free(here);
	mem_free(anywhere);
}

/* f[n_placements]: logs of the part's fastest runs; NAN where there are none. */
static void find_fastest(const struct all_runs *r, bool raw, double *f)
{
	double *slow = MEM_NEWN(double, (size_t)r->n_calls + 1);
	double *x = MEM_NEWN(double, (size_t)r->n + 1);
	if (!raw)
		find_slow_calls(r, slow);
	for (uint32_t i = 0; i < r->n; i++)
		x[i] = r->log_s[i] - slow[r->call[i]];
	least_each(x, r->placement, r->n, r->n_placements, f);
	mem_free(slow);
	mem_free(x);
}

int placement_times_find(const struct calls *c, bool use_speed, struct arena *a,
			 struct placement_times *out, struct err *e)
{
	if (!blas_open(e))
		return -1;
	struct all_runs all;
	gather_runs(c, use_speed, a, &all, out);
	double *f = MEM_NEWN(double, (size_t)out->n + 1), *u = MEM_NEWN(double, (size_t)out->n + 1);
	for (int of = 0; of < OF_KINDS; of++) {
		struct arena *memory = arena_new();
		struct all_runs part = select_runs(&all, of, memory);
		bool raw = of == OF_ALL_RAW;
		find_fastest(&part, raw, f);
		double explained = find_means(&part, raw, u);
		if (of == OF_ALL)
			out->explained = explained;
		for (uint32_t p = 0; p < out->n; p++) {
			out->item[p].s[of][STATISTIC_FASTEST] = exp(f[p]);
			out->item[p].s[of][STATISTIC_MEAN] = isnan(f[p]) ? NAN : exp(u[p]);
		}
		arena_free(memory);
	}
	mem_free(f);
	mem_free(u);
	return 0;
}

/* ---- text ---- */

void placement_times_print_head(FILE *out)
{
	fputs("common\truns\texplained", out);
	for (int of = 0; of < OF_KINDS; of++)
		for (int i = 0; i < STATISTICS; i++)
			fprintf(out, "\t%s%s", statistic_name[i], of_suffix[of]);
	fputc('\n', out);
}

void placement_times_print(const struct placement_times *t, uint32_t i, FILE *out)
{
	const struct placement_time *x = &t->item[i];
	fprintf(out, "%d\t%" PRIu32 "\t%.3f", x->is_common, x->n_runs, t->explained);
	for (int of = 0; of < OF_KINDS; of++)
		for (int s = 0; s < STATISTICS; s++)
			if (isnan(x->s[of][s]))
				fputs("\t-", out);
			else
				fprintf(out, "\t%.9g", x->s[of][s]);
	fputc('\n', out);
}
