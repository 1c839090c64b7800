/* curve_page.c - rows of medians and quartiles as charts. */
#include "experiment/curve_page.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/tabfile.h"
#include "calibrate/run_list.h"
#include "experiment/curve_set.h"
#include "experiment/svg_chart.h"

static const double CHART_WIDTH = 400, CHART_HEIGHT = 260, GAP = 70, TOP = 64, KEY_WIDTH = 210,
		    KEY_HEIGHT = 17;
static const char *const column_name[] = {"model",  "method",    "over",     "at",
					  "best_s", "best_s_q1", "best_s_q3"};
enum { MODEL, METHOD, OVER, AT, MID, LO, HI, COLUMNS };

struct page {
	struct arena *a;
	const struct tabfile *t;
	int column[COLUMNS];
	uint32_t n_models, n_methods;
	const char **model, **method; /* in the order of the rows */
};

static uint32_t index_of(const char **list, uint32_t *n, const char *name)
{
	for (uint32_t i = 0; i < *n; i++)
		if (strcmp(list[i], name) == 0)
			return i;
	list[*n] = name;
	return (*n)++;
}

static const char *cell(const struct page *p, uint32_t row, int column)
{
	return tabfile_cell(p->t, row, p->column[column]);
}

static bool is_row_of(const struct page *p, uint32_t row, const char *model, enum curve_axis axis)
{
	return strcmp(cell(p, row, MODEL), model) == 0 &&
	       (strcmp(cell(p, row, OVER), "seconds") == 0) == (axis == CURVE_SECONDS);
}

/* The rows of a model, method and axis as a line, seconds as milliseconds; NULL x: none. */
static int read_line(const struct page *p, const char *model, uint32_t method, enum curve_axis axis,
		     struct chart_line *out, struct err *e)
{
	double *v[COLUMNS] = {NULL};
	uint32_t n = 0;
	for (int c = AT; c < COLUMNS; c++)
		v[c] = ARENA_NEWN(p->a, double, (size_t)p->t->n_rows + 1);
	for (uint32_t i = 0; i < p->t->n_rows; i++) {
		if (!is_row_of(p, i, model, axis) ||
		    strcmp(cell(p, i, METHOD), p->method[method]) != 0)
			continue;
		for (int c = AT; c < COLUMNS; c++) {
			if (tabfile_real(p->t, i, p->column[c], &v[c][n], e) < 0)
				return -1;
			if (!(v[c][n] > 0) || !time_is_usable(v[c][n]))
				return err_set(e, ST_INPUT, "'%s' line %u: %s that cannot be",
					       p->t->path, i + 2, column_name[c]);
			v[c][n] *= c == AT ? 1 : 1e3;
		}
		n++;
	}
	*out = (struct chart_line){p->method[method], method, n, v[AT], v[MID], v[LO], v[HI]};
	return 0;
}

static void widen(double *lo, double *hi, double x)
{
	*lo = fmin(*lo, x);
	*hi = fmax(*hi, x);
}

/* What the axes of a model's chart show; both charts have the same latencies. */
static void add_range(struct chart *c, const struct chart_line *line, uint32_t n, bool only_y)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < line[i].n; k++) {
			if (!only_y)
				widen(&c->x_lo, &c->x_hi, line[i].x[k]);
			widen(&c->y_lo, &c->y_hi, line[i].lo[k]);
			widen(&c->y_lo, &c->y_hi, line[i].hi[k]);
		}
}

static void put_chart(const struct page *p, uint32_t model, enum curve_axis axis,
		      struct chart_line *const *line, FILE *out)
{
	struct chart c = {
		.left = GAP + axis * (CHART_WIDTH + GAP),
		.top = TOP + model * (CHART_HEIGHT + GAP),
		.width = CHART_WIDTH,
		.height = CHART_HEIGHT,
		.title = p->model[model],
		.x_label = axis == CURVE_SECONDS ? "seconds" : "evaluations",
		.y_label = "best latency, ms",
		.x_lo = INFINITY,
		.y_lo = INFINITY,
	};
	add_range(&c, line[axis], p->n_methods, false);
	add_range(&c, line[!axis], p->n_methods, true);
	if (!(c.x_lo < INFINITY))
		return;
	/* No axis of one point. */
	c.x_hi = fmax(c.x_hi, 1.01 * c.x_lo);
	c.y_lo *= 0.985;
	c.y_hi *= 1.015;
	svg_chart(out, &c, line[axis], p->n_methods);
}

static int put_charts(struct page *p, uint32_t model, FILE *out, struct err *e)
{
	struct chart_line *line[CURVE_AXES];
	for (int axis = 0; axis < CURVE_AXES; axis++) {
		line[axis] = ARENA_NEWN(p->a, struct chart_line, (size_t)p->n_methods + 1);
		for (uint32_t i = 0; i < p->n_methods; i++)
			if (read_line(p, p->model[model], i, axis, &line[axis][i], e) < 0)
				return -1;
	}
	for (int axis = 0; axis < CURVE_AXES; axis++)
		put_chart(p, model, axis, line, out);
	return 0;
}

static int put_page(struct page *p, const char *title, FILE *out, struct err *e)
{
	double left = GAP + 2 * (CHART_WIDTH + GAP) - 30;
	double height =
		TOP + fmax(p->n_models * (CHART_HEIGHT + GAP), KEY_HEIGHT * p->n_methods + 20);
	svg_begin(out, left + KEY_WIDTH, height);
	svg_text(out, GAP, 24, "font-size=\"15\"", title);
	svg_text(out, GAP, 40, "fill=\"#666666\"",
		 "median over seeds, band: quartiles; both axes logarithmic");
	for (uint32_t i = 0; i < p->n_methods; i++)
		svg_key(out, left, TOP + 12 + KEY_HEIGHT * i, i, p->method[i]);
	for (uint32_t i = 0; i < p->n_models; i++)
		if (put_charts(p, i, out, e) < 0)
			return -1;
	svg_end(out);
	return 0;
}

int curve_page(const char *path, const char *title, FILE *out, struct err *e)
{
	struct arena *a = arena_new();
	struct tabfile t;
	struct page p = {.a = a, .t = &t};
	int rc = tabfile_read(path, true, a, &t, e);
	for (int i = 0; i < COLUMNS && rc == 0; i++)
		if ((p.column[i] = tabfile_column(&t, column_name[i])) < 0)
			rc = err_set(e, ST_INPUT,
				     "'%s' has no column '%s'; tabstat curves makes "
				     "such tables",
				     path, column_name[i]);
	if (rc == 0 && t.n_rows == 0)
		rc = err_set(e, ST_INPUT, "'%s' has no rows", path);
	if (rc == 0) {
		p.model = ARENA_NEWN(a, const char *, t.n_rows);
		p.method = ARENA_NEWN(a, const char *, t.n_rows);
		for (uint32_t i = 0; i < t.n_rows; i++) {
			(void)index_of(p.model, &p.n_models, cell(&p, i, MODEL));
			(void)index_of(p.method, &p.n_methods, cell(&p, i, METHOD));
		}
		rc = put_page(&p, title, out, e);
	}
	arena_free(a);
	return rc;
}
