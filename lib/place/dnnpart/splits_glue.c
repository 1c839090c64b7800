/* splits_glue.c - items that take no time, and can go wherever a neighbour is. */
#include <string.h>

#include "place/dnnpart/splits_impl.h"

/* Numbers for the items of glued ones, by their first units. */
static void renumber(struct splits *p, const uint32_t *into)
{
	uint32_t *number = MEM_NEWN(uint32_t, p->n), n = 0;

	memset(number, 0xff, p->n * sizeof(*number));
	for (uint32_t i = 0; i < p->u->n; i++) {
		uint32_t x = into[p->of_unit[i]];

		if (number[x] == UINT32_MAX)
			number[x] = n++;
		p->of_unit[i] = number[x];
	}
	p->n = n;
	mem_free(number);
}

/* Seconds by class: what to bring in, what to take out. */
struct moved {
	double in_s[MAX_CLASSES], out_s[MAX_CLASSES];
};

static void add_value(const struct splits *p, struct moved *x, uint32_t v)
{
	for (uint32_t c = 0; c < p->n_classes; c++) {
		x->in_s[c] += p->in_s[(size_t)v * p->n_classes + c];
		x->out_s[c] += p->out_s[(size_t)v * p->n_classes + c];
	}
}

/* Can item z go wherever item t is, its only neighbour on that side?  Then what z exchanges with
 * others may have to pass between t's piece and the one where z was; what only z and t exchange
 * need not. */
static bool may_follow(const struct splits *p, uint32_t z, uint32_t t, const uint32_t *reader)
{
	struct moved to_t = {{0}, {0}}, from_t = to_t, to_others = to_t, from_others = to_t;

	for (uint32_t v = p->made_ptr[z]; v < p->made_ptr[z + 1]; v++)
		if (p->n_readers[v] == 1 && reader[v] == t)
			add_value(p, &to_t, v);
		else if (p->n_readers[v])
			add_value(p, &to_others, v);
	for (uint32_t j = p->read_ptr[z]; j < p->read_ptr[z + 1]; j++) {
		uint32_t v = p->read[j];

		if (p->maker[v] != t)
			add_value(p, &from_others, v);
		else if (p->n_readers[v] == 1)
			add_value(p, &from_t, v);
	}
	for (uint32_t c = 0; c < p->n_classes; c++)
		if (from_others.out_s[c] + to_others.in_s[c] > to_t.out_s[c] + from_t.in_s[c] ||
		    from_others.in_s[c] + to_others.out_s[c] > to_t.in_s[c] + from_t.out_s[c])
			return false;
	return true;
}

/* Memory can be no reason to keep apart. */
static bool takes_nothing(const struct splits *p, uint32_t i, bool room)
{
	for (uint32_t c = 0; c < p->n_classes; c++)
		if (p->cost_s[(size_t)i * p->n_classes + c] != 0)
			return false;
	return room || p->mem[i] == 0;
}

/* What an item does in a round of gluing: nothing yet, joins a neighbour, or is joined. */
enum role { ROLE_NONE, ROLE_GUEST, ROLE_HOST };

/* The neighbour that item z may follow and that is no guest; UINT32_MAX: there is none. */
static uint32_t host_of(const struct splits *p, uint32_t z, const uint32_t *reader,
			const uint8_t *role)
{
	for (int back = 0; back < 2; back++) {
		const uint32_t *ptr = back ? p->pred_ptr : p->succ_ptr;

		if (ptr[z + 1] - ptr[z] != 1)
			continue;
		uint32_t t = (back ? p->pred : p->succ)[ptr[z]];

		if (role[t] != ROLE_GUEST && may_follow(p, z, t, reader))
			return t;
	}
	return UINT32_MAX;
}

/* One guest of a host is no reason against another: values between guest and host are not moved. */
bool splits_glue(struct splits *p, bool room)
{
	uint32_t *into = MEM_NEWN(uint32_t, p->n), *reader = MEM_NEWN(uint32_t, p->n_values);
	uint8_t *role = MEM_NEWN(uint8_t, p->n);
	bool any = false;

	for (uint32_t i = 0; i < p->n; i++) {
		into[i] = i;
		for (uint32_t j = p->read_ptr[i]; j < p->read_ptr[i + 1]; j++)
			reader[p->read[j]] = i;
	}
	for (uint32_t z = 0; z < p->n; z++) {
		uint32_t t = role[z] == ROLE_NONE && takes_nothing(p, z, room)
				     ? host_of(p, z, reader, role)
				     : UINT32_MAX;

		if (t == UINT32_MAX)
			continue;
		into[z] = t;
		role[z] = ROLE_GUEST;
		role[t] = ROLE_HOST;
		any = true;
	}
	if (any)
		renumber(p, into);
	mem_free(into);
	mem_free(reader);
	mem_free(role);
	return any;
}
