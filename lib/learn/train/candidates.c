/* candidates.c - bounded set of the best distinct placements. */
#include "learn/train/candidates.h"

#include <stdio.h>
#include <string.h>

#include "record/bestrec.h"

void candidates_init(struct candidates *s, uint32_t n_sets)
{
	*s = (struct candidates){.n_sets = n_sets};
}

void candidates_release(struct candidates *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		mem_free(s->c[i].device);
	s->n = 0;
}

static struct candidate *find(const struct candidates *s, const uint16_t *device)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (memcmp(s->c[i].device, device, (size_t)s->n_sets * sizeof *device) == 0)
			return (struct candidate *)&s->c[i];
	return NULL;
}

const struct candidate *candidates_find(const struct candidates *s, const uint16_t *device)
{
	return find(s, device);
}

static bool is_reference(const struct candidate *c)
{
	return strcmp(c->source, "single") == 0;
}

/* a before b in the ranking. */
static bool better(const struct candidate *a, const struct candidate *b)
{
	return a->ratio < b->ratio || (a->ratio == b->ratio && a->order < b->order);
}

/* The place of a newcomer: an empty slot, else that of the worst that is no reference;
 * NULL when all are references. */
static struct candidate *slot_for_new(struct candidates *s)
{
	struct candidate *worst = NULL;
	if (s->n < CANDIDATES_MAX)
		return &s->c[s->n];
	for (uint32_t i = 0; i < s->n; i++)
		if (!is_reference(&s->c[i]) && (!worst || better(worst, &s->c[i])))
			worst = &s->c[i];
	return worst;
}

double candidates_add(struct candidates *s, const struct candidate *from)
{
	double ratio = from->ref_value > 0 ? from->value / from->ref_value : from->value;
	struct candidate *c = find(s, from->device);
	s->n_seen++;
	if (c) { /* a running mean: equal values leave it as it is */
		c->runs++;
		c->ratio += (ratio - c->ratio) / c->runs;
		c->lat_s += (from->lat_s - c->lat_s) / c->runs;
		c->ref_s += (from->ref_s - c->ref_s) / c->runs;
		c->value += (from->value - c->value) / c->runs;
		c->ref_value += (from->ref_value - c->ref_value) / c->runs;
		return c->ratio;
	}
	struct candidate new = *from, *slot = slot_for_new(s);
	new.runs = 1;
	new.ratio = ratio;
	new.order = s->n_seen;
	if (slot && (slot == &s->c[s->n] || is_reference(&new) || better(&new, slot))) {
		if (slot == &s->c[s->n])
			s->n++;
		else
			mem_free(slot->device);
		new.device = mem_copy(from->device, s->n_sets, sizeof *from->device);
		*slot = new;
	}
	return ratio;
}

uint32_t candidates_rank(const struct candidates *s, uint32_t k, uint32_t *order)
{
	uint32_t n = s->n;
	for (uint32_t i = 0; i < n; i++) { /* insertion sort: n is small */
		uint32_t j = i;
		for (; j > 0 && better(&s->c[i], &s->c[order[j - 1]]); j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	for (uint32_t i = k; i < n; i++)
		if (is_reference(&s->c[order[i]])) {
			for (uint32_t j = 0; j < k; j++)
				if (is_reference(&s->c[order[j]]))
					return k;
			order[k] = order[i];
			return k + 1;
		}
	return n < k ? n : k;
}

static void put_value(const struct candidate *c, struct rec_writer *w)
{
	if (!c->has_value)
		return;
	put_real(w, "value", c->value);
	put_real(w, "ref_value", c->ref_value);
}

int candidates_write_best(const struct candidates *s, uint32_t n, const uint32_t *order,
			  uint64_t graph, const struct devs *devs, struct rec_writer *w,
			  struct err *e)
{
	for (uint32_t rank = 0; rank < n; rank++) {
		const struct candidate *c = &s->c[order[rank]];
		const struct best_rec x = {.place = {.id = {graph, c->episode, c->step, c->sample},
						     .source = c->source,
						     .k = devs->k,
						     .n_sets = s->n_sets,
						     .names = devs->names,
						     .device = c->device},
					   .rank = rank,
					   .n_groups = c->n_groups,
					   .lat_s = c->lat_s,
					   .ref_s = c->ref_s,
					   .has_value = c->has_value,
					   .value = c->value,
					   .ref_value = c->ref_value};
		if (best_encode(&x, w, e) < 0)
			return -1;
	}
	return 0;
}

int candidates_write(const struct candidates *s, struct rec_writer *w, struct err *e)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct candidate *c = &s->c[i];
		rec_begin(w, "candidate");
		put_vector(w, "device", TT_U16, s->n_sets, c->device);
		put_text(w, "source", c->source);
		put_uint(w, "episode", c->episode);
		put_uint(w, "step", c->step);
		put_uint(w, "sample", c->sample);
		put_uint(w, "n_groups", c->n_groups);
		put_uint(w, "runs", c->runs);
		put_uint(w, "order", c->order);
		put_uint(w, "seen", s->n_seen);
		put_real(w, "ratio", c->ratio);
		put_real(w, "lat_s", c->lat_s);
		put_real(w, "ref_s", c->ref_s);
		put_value(c, w);
		if (rec_end(w, e) < 0)
			return -1;
	}
	return 0;
}

int candidates_read(struct candidates *s, const struct rec *r, uint32_t n_devices, struct err *e)
{
	struct candidate c = {0};
	struct arena *a = arena_new();
	uint64_t shape[1] = {s->n_sets};
	const char *source;
	int rc = -1;
	if (s->n == CANDIDATES_MAX) {
		err_set(e, ST_INPUT, "more than %d candidates", CANDIDATES_MAX);
		goto out;
	}
	if (get_tensor(r->map, "device", TT_U16, 1, shape, a, &c.device, e) < 0 ||
	    get_text(r->map, "source", a, &source, e) < 0 ||
	    get_u32(r->map, "episode", 0, &c.episode, e) < 0 ||
	    get_u32(r->map, "step", 0, &c.step, e) < 0 ||
	    get_u32(r->map, "sample", 0, &c.sample, e) < 0 ||
	    get_u32(r->map, "n_groups", 0, &c.n_groups, e) < 0 ||
	    get_u32(r->map, "runs", 1, &c.runs, e) < 0 ||
	    get_uint(r->map, "order", 0, INT64_MAX, &c.order, e) < 0 ||
	    get_uint(r->map, "seen", 0, INT64_MAX, &s->n_seen, e) < 0 ||
	    get_real(r->map, "ratio", &c.ratio, e) < 0 ||
	    get_real(r->map, "lat_s", &c.lat_s, e) < 0 ||
	    get_real(r->map, "ref_s", &c.ref_s, e) < 0)
		goto out;
	c.has_value = val_get(r->map, "value") != NULL;
	c.value = c.lat_s;
	c.ref_value = c.ref_s;
	if (c.has_value && (get_real(r->map, "value", &c.value, e) < 0 ||
			    get_real(r->map, "ref_value", &c.ref_value, e) < 0))
		goto out;
	for (uint32_t i = 0; i < s->n_sets; i++)
		if (c.device[i] >= n_devices) {
			err_set(e, ST_INPUT, "device %u of %u in a candidate", c.device[i],
				n_devices);
			goto out;
		}
	snprintf(c.source, sizeof c.source, "%s", source);
	c.device = mem_copy(c.device, s->n_sets, sizeof *c.device);
	s->c[s->n++] = c;
	rc = 0;
out:
	arena_free(a);
	return rc;
}
