/* pageparts.c - operations in the model's order, each as wide as its work and divided as its devices compute it. */
#include "report/html/pageparts.h"

#include "report/parts.h"
#include "text/markup.h"

enum { WIDTH = 1000, HEIGHT = 120 };
static const double NARROWEST = 0.4; /* of WIDTH: what is narrower is left out, and said to be */

static const struct graph *whole_of(const struct report_input *in)
{
	return in->x->graph->whole;
}

bool pageparts_any(const void *of)
{
	const struct report_input *in = of;
	struct parts_told told;
	parts_count(in->x->graph, in->p, in->flops, in->x->arena, &told);
	return whole_of(in) && told.apart > 0;
}

static void put_column(FILE *out, const struct report_input *in, uint32_t w, const double *work,
		       double all, double x, double width)
{
	const struct graph *g = whole_of(in);
	double y = 0;
	const char *before = "";
	fputs("<g><title>", out);
	markup_textf(out, "%s (%s): ", g->node_name[w], g->type[w]);
	for (uint32_t d = 0; d < in->p->k; d++) {
		if (work[d] <= 0)
			continue;
		markup_textf(out, "%s%.0f %% on %s", before, 100 * work[d] / all, in->names[d]);
		before = ", ";
	}
	fputs("</title>", out);
	for (uint32_t d = 0; d < in->p->k; d++) {
		double height = HEIGHT * work[d] / all;
		if (height > 0)
			fprintf(out,
				"<rect class=\"device\" data-device=\"%u\" x=\"%.2f\" "
				"y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"></rect>",
				d, x, y, width, height);
		y += height;
	}
	fputs("</g>\n", out);
}

static double sum(const double *work, uint32_t k)
{
	double all = 0;
	for (uint32_t d = 0; d < k; d++)
		all += work[d];
	return all;
}

static void put_key(FILE *out, const struct report_input *in, const double *share)
{
	fputs("<p class=\"keys\">", out);
	for (uint32_t d = 0; d < in->p->k; d++) {
		if (share[d] <= 0)
			continue;
		fprintf(out,
			"<span><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect "
			"class=\"device\" data-device=\"%u\" width=\"12\" "
			"height=\"12\"></rect></svg> ",
			d);
		markup_textf(out, "%s %.0f %%", in->names[d], 100 * share[d]);
		fputs("</span> ", out);
	}
	fputs("</p>\n", out);
}

int pageparts_put(FILE *out, const void *of, struct err *e)
{
	const struct report_input *in = of;
	const struct graph *g = whole_of(in);
	uint32_t k = in->p->k, shown = 0, working = 0;
	double *work = parts_by_operation(in->x->graph, in->p, in->flops, in->x->arena), all = 0,
	       x = 0, *share = ARENA_NEWN(in->x->arena, double, k);
	struct parts_told told;
	(void)e;
	parts_count(in->x->graph, in->p, in->flops, in->x->arena, &told);
	for (uint32_t w = 0; w < g->n; w++)
		for (uint32_t d = 0; d < k; d++) {
			all += work[(size_t)w * k + d];
			share[d] += work[(size_t)w * k + d];
		}
	for (uint32_t d = 0; d < k && all > 0; d++)
		share[d] /= all;
	put_key(out, in, share);
	fprintf(out,
		"<svg id=\"parts\" class=\"parts\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-labelledby=\"parts-hint\">\n",
		WIDTH, HEIGHT);
	for (uint32_t w = 0; w < g->n && all > 0; w++) {
		double of_w = sum(work + (size_t)w * k, k), width = WIDTH * of_w / all;
		working += of_w > 0;
		if (width < NARROWEST)
			continue;
		put_column(out, in, w, work + (size_t)w * k, of_w, x, width * 0.96);
		x += width;
		shown++;
	}
	fputs("</svg>\n<p class=\"hint\" id=\"parts-hint\">", out);
	fprintf(out,
		"Each column is an operation, in the order of the model and as wide as its "
		"work; its colours: which device computes how much of it. Several devices "
		"compute %u of %u operations that are cut.",
		told.apart, told.cut);
	if (shown < working)
		fprintf(out, " %u operations with little work are left out.", working - shown);
	fputs("</p>\n", out);
	return 0;
}
