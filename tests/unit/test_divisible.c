/* test_divisible.c - what no placement of operations in parts can beat: by hand, and beside graphs of which every task is cut by
 * hand and simulated. */
#include <stdlib.h>

#include "placegen.h"
#include "place/bound/bound.h"
#include "place/bound/bound_divisible.h"
#include "tap.h"

enum { CASES = 400, TRIES = 60, MOST = 5, EIGHTHS = 8, WHOLES = 600 };
static const double CLOSE = 1e-6;

static const uint8_t turns[] = {0, 0, 1, 0, 0, 1, 1, 1, 0};

static bool near(double a, double b)
{
	return fabs(a - b) <= CLOSE * fabs(b);
}

/* ---- models without copies ---- */

/* n tasks of these seconds on k devices; task v reads in[in_ptr[v]] .. . */
static void make_model(struct problem *p, uint32_t n, uint32_t k, const double *s,
		       const uint32_t *in_ptr, const uint32_t *in, const uint8_t *takes_turns)
{
	static const char *const names[] = {"a", "b", "c"};
	static const uint64_t limit[3];
	struct err e = ERR_INIT;

	p->a = arena_new();
	p->g = gen_tensors(n, in_ptr[n] / n + 1);
	memcpy(p->g->in_ptr, in_ptr, (n + 1) * sizeof(*in_ptr));
	memcpy(p->g->in_node, in, in_ptr[n] * sizeof(*in));
	graph_finish(p->g);
	double *lat = ARENA_NEWN(p->a, double, k *k), *bw = ARENA_NEWN(p->a, double, k *k);

	for (uint32_t i = 0; i < k * k; i++)
		bw[i] = INFINITY;
	const struct place_setup setup = {.k = k,
					  .names = names,
					  .set_s = s,
					  .links = {k, lat, bw},
					  .mem_limit = limit,
					  .contention = true,
					  .overlap = true,
					  .turns = takes_turns};

	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		abort();
	place_units_init(&p->u, &p->m, p->a);
	p->ev = evaluator_new(&p->m);
}

static struct divisible_bound bound_of(uint32_t n, uint32_t k, const double *s,
				       const double *fixed_s, const uint32_t *in_ptr,
				       const uint32_t *in, const uint8_t *takes_turns)
{
	struct problem p;

	double on[9];

	for (uint32_t i = 0; i < n * k; i++)
		on[i] = s[i] < INFINITY ? s[i] : -1;
	make_model(&p, n, k, on, in_ptr, in, takes_turns);
	struct divisible x = {n, k, s, fixed_s, in_ptr, in};
	struct divisible_bound b = bound_divisible(&x, &p.m, 0);

	problem_end(&p);
	return b;
}

/* ---- by hand ---- */

static void one_operation(void)
{
	tap(near(divisible_s((double[]){4, 12}, (double[]){0, 0}, 2), 3), "without fixed seconds");
	/* y/4 + (y-3)/7 = 1 */
	tap(near(divisible_s((double[]){4, 10}, (double[]){0, 3}, 2), 40 / 11.0),
	    "two devices with fixed seconds");
	tap(near(divisible_s((double[]){4, 10}, (double[]){0, 5}, 2), 4),
	    "one begins when the other has done all");
	/* 2 (y-1)/3 + (y-2)/4 = 1 */
	tap(near(divisible_s((double[]){4, 4, 6}, (double[]){1, 1, 2}, 3), 26 / 11.0),
	    "three devices");
	tap(near(divisible_s((double[]){INFINITY, 6, 3}, (double[]){0, 0, 0}, 3), 2),
	    "one that cannot run it");
	tap(near(divisible_s((double[]){2, 9}, (double[]){2, 0}, 2), 2) &&
		    near(divisible_s((double[]){1, 9}, (double[]){2, 0}, 2), 1),
	    "nothing but fixed seconds");
	tap(divisible_s((double[]){INFINITY}, (double[]){0}, 1) == 0, "it runs nowhere");
}

static void several_operations(void)
{
	static const uint32_t row[] = {0, 0, 1, 2}, apart[] = {0, 0, 0}, in[] = {0, 1};
	static const double none[3], fixed[] = {1, 1};

	struct divisible_bound b = bound_of(2, 2, (double[]){4, 4, 4, 4}, fixed, row, in, NULL);
	tap(near(b.load_s, 4) && near(b.wait_s, 5), "one behind the other: both pay twice");
	b = bound_of(2, 2, (double[]){4, 4, 4, 4}, fixed, apart, in, NULL);
	tap(near(b.load_s, 4) && near(b.wait_s, 4), "side by side: a device each");
	b = bound_of(2, 2, (double[]){1, 10, 10, 1}, none, row, in, NULL);
	tap(near(b.load_s, 1) && near(b.wait_s, 20 / 11.0),
	    "one behind the other, on unlike devices");
	b = bound_of(1, 3, (double[]){2, 2, 1}, none, apart, in, turns);
	tap(near(b.load_s, 1) && near(b.wait_s, 1), "both cores, or a device that is both");
	/* 1, then twice 1/(1 + 1/10); each core 1 of its own, and half of the first. */
	b = bound_of(3, 3, (double[]){2, 2, 1, 1, 10, INFINITY, 10, 1, INFINITY}, none, row, in,
		     turns);
	tap(near(b.load_s, 2) && near(b.wait_s, 31 / 11.0), "and other operations behind it");
}

/* Tasks of a model: of what cannot run somewhere nothing is done there. */
static void tasks_of_a_model(void)
{
	static const uint32_t row[] = {0, 0, 1}, in[] = {0};
	struct problem p;
	struct divisible x;

	make_model(&p, 2, 2, (double[]){-1, 2, 3, 6}, row, in, NULL);
	divisible_tasks(&p.m, p.a, &x);
	struct divisible_bound b = bound_divisible(&x, &p.m, 0);

	tap(near(b.load_s, 8 / 3.0) && near(b.wait_s, 4), "one of two cannot run on the first");
	problem_end(&p);
}

/* ---- every task cut by hand ---- */

struct cut {
	uint32_t n, k;                /* parts; devices */
	uint32_t first[MOST + 1];     /* of each task's parts */
	uint32_t end[MOST * EIGHTHS]; /* eighths up to a part's end */
	double s[MOST * EIGHTHS * 3];
	uint32_t in_ptr[MOST * EIGHTHS + 1], in[MOST * EIGHTHS * MOST * EIGHTHS];
};

/* Tasks as what is cut, and what each reads. */
struct wholes {
	uint32_t n, k;
	double s[MOST * 3], fixed_s[3];
	const uint8_t *turns; /* the third device is the other two */
	uint32_t in_ptr[MOST + 1], in[MOST * MOST];
};

static void make_wholes(struct gen *r, struct wholes *w)
{
	*w = (struct wholes){.n = 1 + gen_below(r, MOST), .k = 2 + gen_below(r, 2)};
	if (w->k == 3 && gen_below(r, 2))
		w->turns = turns;
	for (uint32_t d = 0; d < w->k; d++)
		w->fixed_s[d] = gen_below(r, 3) * 0.5;
	for (uint32_t v = 0; v < w->n; v++) {
		for (uint32_t d = 0; d < w->k; d++) {
			bool never = d > 0 && !gen_below(r, 8);

			w->s[v * w->k + d] = never ? -1 : w->fixed_s[d] + gen_below(r, 100) / 10.0;
		}
		w->in_ptr[v + 1] = w->in_ptr[v];
		for (uint32_t u = 0; u < v; u++)
			if (u == v - 1 ? gen_below(r, 4) : !gen_below(r, 3))
				w->in[w->in_ptr[v + 1]++] = u;
	}
}

/* At random; part_to_part: a part reads those parts that have the same eighths, as windows do, else all. */
static void cut_all(struct gen *r, const struct wholes *w, bool part_to_part, struct cut *c)
{
	c->n = 0;
	c->k = w->k;
	c->in_ptr[0] = 0;
	for (uint32_t v = 0; v < w->n; v++) {
		c->first[v] = c->n;
		for (uint32_t at = 0; at < EIGHTHS; c->n++) {
			uint32_t share =
				gen_below(r, 2) ? 1 + gen_below(r, EIGHTHS - at) : EIGHTHS - at;
			uint32_t *to = &c->in_ptr[c->n + 1];

			for (uint32_t d = 0; d < w->k; d++) {
				double s = w->s[v * w->k + d], rest = s - w->fixed_s[d];

				c->s[c->n * w->k + d] =
					s < 0 ? -1 : w->fixed_s[d] + rest * share / EIGHTHS;
			}
			*to = c->in_ptr[c->n];
			for (uint32_t i = w->in_ptr[v]; i < w->in_ptr[v + 1]; i++) {
				uint32_t u = w->in[i], begin = 0;

				for (uint32_t q = c->first[u]; q < c->first[u + 1]; q++) {
					if (!part_to_part || (begin < at + share && c->end[q] > at))
						c->in[(*to)++] = q;
					begin = c->end[q];
				}
			}
			at += share;
			c->end[c->n] = at;
		}
		c->first[v + 1] = c->n;
	}
}

/* The shortest of some placements at random. */
static double simulated(struct gen *r, const struct cut *c, const uint8_t *takes_turns)
{
	struct problem p;
	uint16_t device[MOST * EIGHTHS];
	double best = INFINITY;

	make_model(&p, c->n, c->k, c->s, c->in_ptr, c->in, takes_turns);
	for (int i = 0; i < TRIES; i++) {
		for (uint32_t j = 0; j < c->n; j++)
			device[j] = (uint16_t)gen_below(r, c->k);
		const struct place_result *x = place_evaluate(p.ev, device);

		if (x->status == PLACE_OK)
			best = fmin(best, x->lat_s);
	}
	problem_end(&p);
	return best;
}

static void against_cuts(void)
{
	int under[2] = {0}, closest[2] = {0}, below_whole = 0;
	static struct cut c;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct gen r = gen_new(seed);
		struct wholes w;
		struct problem p;
		double s[MOST * 3];

		make_wholes(&r, &w);
		for (uint32_t i = 0; i < w.n * w.k; i++)
			s[i] = w.s[i] < 0 ? INFINITY : w.s[i];
		make_model(&p, w.n, w.k, w.s, w.in_ptr, w.in, w.turns);
		struct divisible x = {w.n, w.k, s, w.fixed_s, w.in_ptr, w.in};
		struct divisible_bound b = bound_divisible(&x, &p.m, 0);

		below_whole += b.wait_s <= place_lower_bound(&p.u, 0) * (1 + 1e-3) + CLOSE &&
			       b.load_s <= b.wait_s;
		problem_end(&p);
		for (int part_to_part = 0; part_to_part < 2; part_to_part++) {
			double bound = part_to_part ? b.load_s : b.wait_s, best = INFINITY;

			for (int i = 0; i < 4; i++) {
				cut_all(&r, &w, part_to_part, &c);
				best = fmin(best, simulated(&r, &c, w.turns));
			}
			under[part_to_part] += bound <= best * (1 + CLOSE);
			closest[part_to_part] += bound > 0.75 * best;
			if (!(bound <= best * (1 + CLOSE)))
				printf("# seed %d: %.9g, simulated %.9g\n", (int)seed, bound, best);
		}
	}
	tap(under[0] == CASES && closest[0] > CASES / 4,
	    "parts that wait for all parts: never above (%d of %d), near in %d", under[0], CASES,
	    closest[0]);
	tap(under[1] == CASES && closest[1] > CASES / 4,
	    "parts that wait for parts: never above (%d), near in %d", under[1], closest[1]);
	tap(below_whole == CASES, "nor above the bound of whole operations (%d)", below_whole);
}

/* Eight parts that follow eight parts beat what holds for operations that wait. */
static void a_row_of_parts(void)
{
	struct wholes w = {.n = 2, .k = 2, .s = {1, 10, 10, 1}, .in_ptr = {0, 0, 1}, .in = {0}};
	uint16_t device[2 * EIGHTHS];
	static struct cut c = {.n = 2 * EIGHTHS, .k = 2};
	struct problem p;

	for (uint32_t i = 0; i < 2 * EIGHTHS; i++) {
		device[i] = i >= EIGHTHS;
		c.s[2 * i + device[i]] = 1.0 / EIGHTHS;
		c.s[2 * i + !device[i]] = 10.0 / EIGHTHS;
		c.in_ptr[i + 1] = i < EIGHTHS ? 0 : i + 1 - EIGHTHS;
		if (i >= EIGHTHS)
			c.in[i - EIGHTHS] = i - EIGHTHS;
	}
	make_model(&p, c.n, c.k, c.s, c.in_ptr, c.in, NULL);
	double s = place_evaluate(p.ev, device)->lat_s;

	problem_end(&p);
	struct divisible_bound b = bound_of(w.n, w.k, w.s, w.fixed_s, w.in_ptr, w.in, NULL);
	tap(near(s, 1.125) && b.load_s <= s && b.wait_s > s,
	    "part follows part: only the load holds (%g, %g, %g)", b.load_s, s, b.wait_s);
}

/* ---- tasks with savings, masks and all else ---- */

static void against_wholes(void)
{
	int n = 0, under = 0, saving = 0;

	for (uint64_t seed = 0; seed < WHOLES; seed++) {
		struct problem p;
		uint16_t unit_dev[PLACEGEN_SETS] = {0};
		double best = INFINITY;
		struct divisible x;

		if (!problem_make(&p, seed, PLACE_SCHEDULE, 6, false))
			continue;
		evaluator_free(p.ev);
		p.m.objective = (struct place_objective){0};
		place_units_init(&p.u, &p.m, p.a);
		p.ev = evaluator_new(&p.m);
		do
			best = fmin(best, problem_value(&p, unit_dev));
		while (problem_next(&p, unit_dev));
		divisible_tasks(&p.m, p.a, &x);
		struct divisible_bound b = bound_divisible(&x, &p.m, 0);

		n++;
		under += b.wait_s <= best * (1 + CLOSE);
		saving += p.m.saved_ptr != NULL;
		if (!(b.wait_s <= best * (1 + CLOSE)))
			printf("# seed %d: %.9g, best %.9g\n", (int)seed, b.wait_s, best);
		problem_end(&p);
	}
	tap(n > WHOLES / 2 && under == n && saving > n / 5,
	    "whole tasks, neighbours that save: never above (%d of %d)", under, n);
}

int main(void)
{
	one_operation();
	several_operations();
	tasks_of_a_model();
	a_row_of_parts();
	against_cuts();
	against_wholes();
	return tap_end();
}
