/* raw.c - look-ups in a network that is being read: layers and ports by their
 * arbitrary ids, strings by their bytes; no parsing. */
#include "ir/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/xml.h"

void raw_free(struct raw_net *net)
{
	mem_free(net->layer.v);
	mem_free(net->attr.v);
	mem_free(net->in.v);
	mem_free(net->out.v);
	mem_free(net->dim.v);
	mem_free(net->edge.v);
	mem_free(net->constant.v);
	mem_free(net->sorted.v);
	mem_free(net->body.v);
	mem_free(net->map.v);
	mem_free(net->back.v);
	mem_free(net->pending.v);
	mem_free(net->slot);
	*net = (struct raw_net){0};
}

int raw_error(const struct raw_source *s, const struct raw_net *net, uint32_t layer, uint32_t line,
	      struct err *e, const char *fmt, ...)
{
	char where[XML_WHERE], name[200], what[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	xml_where(where, s->path, line);
	if (layer == GRAPH_NONE)
		return err_set(e, ST_INPUT, "%s: %s", where, what);
	const struct raw_layer *l = &net->layer.v[layer];
	err_escape(name, sizeof name, l->name, strlen(l->name));
	return err_set(e, ST_INPUT, "%s: layer %" PRId64 " '%s': %s", where, l->id, name, what);
}

/* ---- ports ---- */

uint32_t raw_in_end(const struct raw_net *net, uint32_t i)
{
	return i + 1 < net->layer.n ? net->layer.v[i + 1].in : (uint32_t)net->in.n;
}

uint32_t raw_out_end(const struct raw_net *net, uint32_t i)
{
	return i + 1 < net->layer.n ? net->layer.v[i + 1].out : (uint32_t)net->out.n;
}

static int by_id(const void *a, const void *b)
{
	const struct raw_port *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Port ids mostly count up by one; those that do not get a sorted index. */
static bool index_ports(struct raw_net *net, const char *ids, size_t stride, uint32_t n,
			uint32_t *sorted, int64_t *again)
{
	uint32_t k = 0;
	int64_t first = n ? *(const int64_t *)(const void *)ids : 0;
	while (k < n && *(const int64_t *)(const void *)(ids + k * stride) - first == k)
		k++;
	*sorted = 0;
	if (k == n)
		return true;
	size_t base = net->sorted.n;
	for (k = 0; k < n; k++)
		*VEC_ADD(net->sorted) =
			(struct raw_port){*(const int64_t *)(const void *)(ids + k * stride), k};
	qsort(net->sorted.v + base, n, sizeof *net->sorted.v, by_id);
	for (k = 1; k < n; k++)
		if (net->sorted.v[base + k].id == net->sorted.v[base + k - 1].id) {
			*again = net->sorted.v[base + k].id;
			return false;
		}
	*sorted = (uint32_t)base + 1;
	return true;
}

bool raw_index_ports(struct raw_net *net, int64_t *id)
{
	struct raw_layer *l = &net->layer.v[net->layer.n - 1];
	uint32_t n_in = (uint32_t)net->in.n - l->in, n_out = (uint32_t)net->out.n - l->out;
	const void *in = n_in ? &net->in.v[l->in] : NULL,
		   *out = n_out ? &net->out.v[l->out].id : NULL;
	return index_ports(net, in, sizeof *net->in.v, n_in, &l->sorted_in, id) &&
	       index_ports(net, out, sizeof *net->out.v, n_out, &l->sorted_out, id);
}

static int64_t find_port(const struct raw_net *net, uint32_t sorted, uint32_t n, int64_t first,
			 int64_t id)
{
	if (n == 0)
		return -1;
	if (!sorted)
		return id >= first && id - first < n ? id - first : -1;
	const struct raw_port key = {id, 0};
	const struct raw_port *p = bsearch(&key, net->sorted.v + sorted - 1, n, sizeof key, by_id);
	return p ? (int64_t)p->position : -1;
}

int64_t raw_find_in(const struct raw_net *net, uint32_t i, int64_t id)
{
	const struct raw_layer *l = &net->layer.v[i];
	uint32_t n = raw_in_end(net, i) - l->in;
	return find_port(net, l->sorted_in, n, n ? net->in.v[l->in] : 0, id);
}

int64_t raw_find_out(const struct raw_net *net, uint32_t i, int64_t id)
{
	const struct raw_layer *l = &net->layer.v[i];
	uint32_t n = raw_out_end(net, i) - l->out;
	return find_port(net, l->sorted_out, n, n ? net->out.v[l->out].id : 0, id);
}

/* ---- layers ---- */

static size_t hash_id(int64_t id, size_t n_slots)
{
	return (size_t)(((uint64_t)id * 0x9E3779B97F4A7C15u) >> 32) & (n_slots - 1);
}

bool raw_index_layers(struct raw_net *net, uint32_t *again)
{
	size_t n_slots = 16;
	while (n_slots < 2 * net->layer.n)
		n_slots *= 2;
	net->slot = MEM_NEWN(uint32_t, n_slots);
	net->n_slots = n_slots;
	for (uint32_t i = 0; i < net->layer.n; i++) {
		int64_t id = net->layer.v[i].id;
		size_t h = hash_id(id, n_slots);
		for (; net->slot[h]; h = (h + 1) & (n_slots - 1))
			if (net->layer.v[net->slot[h] - 1].id == id) {
				*again = i;
				return false;
			}
		net->slot[h] = i + 1;
	}
	return true;
}

uint32_t raw_find_layer(const struct raw_net *net, int64_t id)
{
	for (size_t h = hash_id(id, net->n_slots); net->slot[h]; h = (h + 1) & (net->n_slots - 1))
		if (net->layer.v[net->slot[h] - 1].id == id)
			return net->slot[h] - 1;
	return GRAPH_NONE;
}

/* ---- strings ---- */

struct intern {
	struct arena *arena;
	struct {
		const char *s;
		uint32_t hash, len;
	} * slot;
	size_t n, n_slots;
	char *chunk; /* strings are packed into chunks of the arena */
	size_t left;
};

enum { INTERN_CHUNK = 1 << 16, INTERN_SLOTS = 1 << 10 };

struct intern *intern_new(struct arena *a)
{
	struct intern *t = MEM_NEW(struct intern);
	t->arena = a;
	t->n_slots = INTERN_SLOTS;
	t->slot = mem_alloc(t->n_slots, sizeof *t->slot);
	return t;
}

void intern_free(struct intern *t)
{
	if (t)
		mem_free(t->slot);
	mem_free(t);
}

static uint32_t hash_bytes(const char *s, size_t n)
{
	uint64_t h = n * 0x9E3779B97F4A7C15u, w;
	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xD6E8FEB86659FD93u;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, s, n);
	h = (h ^ w) * 0xD6E8FEB86659FD93u;
	h ^= h >> 32;
	return (uint32_t)(h * 0xD6E8FEB86659FD93u >> 32);
}

static void intern_grow(struct intern *t)
{
	size_t old_slots = t->n_slots;
	__typeof__(t->slot) old = t->slot;
	t->n_slots *= 2;
	t->slot = mem_alloc(t->n_slots, sizeof *t->slot);
	for (size_t i = 0; i < old_slots; i++) {
		if (!old[i].s)
			continue;
		size_t h = old[i].hash & (t->n_slots - 1);
		while (t->slot[h].s)
			h = (h + 1) & (t->n_slots - 1);
		t->slot[h] = old[i];
	}
	mem_free(old);
}

const char *intern_copy(struct intern *t, const char *s, size_t n)
{
	if (t->left < n + 1) {
		t->left = n + 1 > INTERN_CHUNK ? n + 1 : INTERN_CHUNK;
		t->chunk = arena_raw(t->arena, t->left, 1);
	}
	char *copy = memcpy(t->chunk, s, n);
	copy[n] = '\0';
	t->chunk += n + 1;
	t->left -= n + 1;
	return copy;
}

const char *intern_add(struct intern *t, const char *s, size_t n)
{
	if (n == 0)
		return "";
	uint32_t hash = hash_bytes(s, n);
	size_t h = hash & (t->n_slots - 1);
	for (; t->slot[h].s; h = (h + 1) & (t->n_slots - 1))
		if (t->slot[h].hash == hash && t->slot[h].len == n &&
		    memcmp(t->slot[h].s, s, n) == 0)
			return t->slot[h].s;
	const char *copy = intern_copy(t, s, n);
	t->slot[h].s = copy;
	t->slot[h].hash = hash;
	t->slot[h].len = (uint32_t)n;
	if (2 * ++t->n > t->n_slots)
		intern_grow(t);
	return copy;
}
