/* latency_table.c - gathering measured lines, means over seeds. */
#include "experiment/latency_table.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/tabfile.h"
#include "calibrate/run_list.h"
#include "experiment/result_file.h"
#include "stats/interval.h"

enum { REASON_BYTES = 100 };
/* Columns of measured lines. */
enum {
	WHAT,
	NAME,
	LATENCY,
	LATENCY_LO,
	LATENCY_HI,
	RATIO,
	RATIO_LO,
	RATIO_HI,
	ROUNDS,
	COPIES,
	BYTES,
	REASON,
	ALONE
};

struct samples {
	uint32_t n;
	double *mid; /* (n) */
	size_t cap;
	double lo, hi; /* of the last one */
};

struct entry {
	const char *model, *method;
	struct samples lat_ms, ratio;
	uint32_t n_alone, n_failed;
	const char *device; /* that runs all of it, with n_alone; "": several such */
	const char *reason;
};

struct gathered {
	struct arena *a;
	uint32_t n;
	struct entry *item; /* (n) */
	size_t cap;
	const char *cpu, *gpu; /* devices in these roles; "": not told yet */
};

/* ---- gathering ---- */

static struct entry *find_entry(struct gathered *g, const char *model, const char *method)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (strcmp(g->item[i].model, model) == 0 && strcmp(g->item[i].method, method) == 0)
			return &g->item[i];
	g->item = mem_grow(g->item, &g->cap, g->n + 1, sizeof *g->item);
	g->item[g->n] = (struct entry){.model = model, .method = method, .reason = ""};
	return &g->item[g->n++];
}

static void add_sample(struct samples *s, struct interval x)
{
	s->mid = mem_grow(s->mid, &s->cap, s->n + 1, sizeof *s->mid);
	s->mid[s->n++] = x.mid;
	s->lo = x.lo;
	s->hi = x.hi;
}

/* why without "program: error: " in front, and not too long. */
static void add_failure(struct gathered *g, struct entry *x, const char *why)
{
	const char *at = why;
	while (islower((unsigned char)*at) || isdigit((unsigned char)*at))
		at++;
	if (at > why && strncmp(at, ": error: ", 9) == 0)
		why = at + 9;
	const char *front = strstr(why, "libopenvino") ? "OpenVINO is not installed: " : "";
	char *text = arena_printf(g->a, "%s%s", front, why);
	if (strlen(text) > REASON_BYTES)
		text[REASON_BYTES] = '\0';
	x->reason = text;
	x->n_failed++;
}

static int read_interval(const struct tabfile *t, uint32_t i, int column, double scale,
			 struct interval *x, struct err *e)
{
	if (tabfile_real(t, i, column, &x->mid, e) < 0 ||
	    tabfile_real(t, i, column + 1, &x->lo, e) < 0 ||
	    tabfile_real(t, i, column + 2, &x->hi, e) < 0)
		return -1;
	if (!(x->mid > 0))
		return err_set(e, ST_INPUT, "'%s' line %u has a time that is not above 0", t->path,
			       i + 1);
	if (!time_is_usable(x->mid))
		return err_set(e, ST_INPUT, "'%s' line %u has a time that cannot be", t->path,
			       i + 1);
	*x = interval_scaled(*x, scale);
	return 0;
}

static int add_times(struct entry *x, const struct tabfile *t, uint32_t i, struct err *e)
{
	struct interval v;
	if (read_interval(t, i, LATENCY, 1e3, &v, e) < 0)
		return -1;
	add_sample(&x->lat_ms, v);
	if (!*tabfile_cell(t, i, RATIO))
		return 0;
	if (read_interval(t, i, RATIO, 1, &v, e) < 0)
		return -1;
	add_sample(&x->ratio, v);
	return 0;
}

/* The name of the role that a device has, else its own. */
static const char *role_of(const struct gathered *g, const char *device)
{
	return strcmp(device, g->gpu) == 0 ? "gpu" : strcmp(device, g->cpu) == 0 ? "cpu" : device;
}

static int add_line(struct gathered *g, const struct result_file *f, const struct tabfile *t,
		    uint32_t i, struct err *e)
{
	const char *what = tabfile_cell(t, i, WHAT), *name = tabfile_cell(t, i, NAME);
	const char *alone = tabfile_cell(t, i, ALONE);
	bool answer = strcmp(what, "answer") == 0;
	if (*what == '#')
		return 0;
	if (strcmp(what, "roles") == 0) {
		g->cpu = name;
		g->gpu = tabfile_cell(t, i, NAME + 1);
		return 0;
	}
	if (strcmp(what, "failed") == 0) {
		add_failure(g, find_entry(g, f->model, f->method),
			    tabfile_cell(t, i, (int)t->n_cells[i] - 1));
		return 0;
	}
	struct entry *x = find_entry(g, f->model, answer ? f->method : role_of(g, name));
	if (!*tabfile_cell(t, i, LATENCY)) {
		add_failure(g, x, tabfile_cell(t, i, REASON));
		return 0;
	}
	if (add_times(x, t, i, e) < 0)
		return -1;
	if (answer && *alone && strncmp(f->method, "ov-", 3) != 0) {
		x->device = x->n_alone++ == 0 || strcmp(x->device, alone) == 0 ? alone : "";
	}
	return 0;
}

/* ---- lines ---- */

/* The geometric mean of s, and of several its interval; of one the interval that it came with. */
static struct interval mean_of(const struct samples *s, bool as_one)
{
	struct interval x = interval_geometric(s->mid, as_one ? 1 : s->n);
	if (as_one || s->n == 1) {
		x.lo = s->lo;
		x.hi = s->hi;
	}
	return x;
}

/* What latencies of a model are ratios to. */
static double cpu_ms(struct gathered *g, const char *model)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (strcmp(g->item[i].model, model) == 0 && strcmp(g->item[i].method, "cpu") == 0 &&
		    g->item[i].lat_ms.n)
			return mean_of(&g->item[i].lat_ms, false).mid;
	return 0;
}

static void put_remark(const struct entry *x, FILE *out)
{
	if (x->n_failed)
		fprintf(out, "%u more failed: %s", x->n_failed, x->reason);
	if (!x->n_alone)
		return;
	fprintf(out, "%sfinds %s alone", x->n_failed ? "; " : "",
		*x->device ? x->device : "one device");
	if (x->n_alone < x->lat_ms.n)
		fprintf(out, " in %u of %u", x->n_alone, x->lat_ms.n);
}

static void put_measured(struct gathered *g, const struct entry *x, FILE *out)
{
	bool is_cpu = strcmp(x->method, "cpu") == 0, paired = x->ratio.n > 0 && !is_cpu;
	bool is_device = is_cpu || strcmp(x->method, "gpu") == 0 || strchr(x->method, ':');
	const struct samples *s = paired ? &x->ratio : &x->lat_ms;
	double scale = paired ? cpu_ms(g, x->model) : 1;
	/* All seeds on the same device: that is one measurement. */
	bool as_one = s->n == 1 || (x->n_alone == s->n && *x->device);
	struct interval m = mean_of(s, as_one);
	if (is_device)
		fputs("\t", out);
	else
		fprintf(out, "%u\t", x->lat_ms.n);
	fprintf(out, "%.3f\t%.3f\t%.3f\t", scale * m.mid, scale * m.lo, scale * m.hi);
	if (is_cpu)
		fputs("0.0\t\t\t1.000\t", out);
	else if (paired)
		fprintf(out, "%.1f\t%.1f\t%.1f\t%.3f\t", 100 * (1 - m.mid), 100 * (1 - m.hi),
			100 * (1 - m.lo), 1 / m.mid);
	else
		fputs("\t\t\t\t", out);
	if (as_one)
		fputs("rounds\t", out);
	else
		fprintf(out, "%u %s\t", x->lat_ms.n, is_device ? "jobs" : "seeds");
	put_remark(x, out);
}

static void put_entry(struct gathered *g, const struct entry *x, FILE *out)
{
	fprintf(out, "%s\t%s\t", x->model, x->method);
	if (strcmp(x->method, "cpu") == 0 || strcmp(x->method, "gpu") == 0)
		fprintf(out, " (%s)", *x->method == 'c' ? g->cpu : g->gpu);
	fputc('\t', out);
	if (x->lat_ms.n)
		put_measured(g, x, out);
	else
		fprintf(out, "0\t\t\t\t\t\t\t\t\t%s", x->reason);
	fputc('\n', out);
}

int latency_table(char *const *paths, uint32_t n, FILE *out, struct err *e)
{
	struct gathered g = {.a = arena_new(), .cpu = "", .gpu = ""};
	int rc = 0;
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		struct result_file f = result_file_name(paths[i], g.a);
		struct tabfile t;
		rc = tabfile_read(paths[i], false, g.a, &t, e);
		for (uint32_t j = 0; j < t.n_rows && rc == 0; j++)
			rc = add_line(&g, &f, &t, j, e);
	}
	for (uint32_t i = 0; i < g.n && rc == 0; i++)
		put_entry(&g, &g.item[i], out);
	for (uint32_t i = 0; i < g.n; i++) {
		mem_free(g.item[i].lat_ms.mid);
		mem_free(g.item[i].ratio.mid);
	}
	mem_free(g.item);
	arena_free(g.a);
	return rc;
}
