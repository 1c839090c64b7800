/* einsum_op.c - Einsum: a sum over the labels that the output has not, of products of inputs.
 *
 * What one input alone is summed over is summed first.  Then two operands at a time become one
 * (einsum_pair.c), in the order with the fewest operations; labels go as soon as nothing else
 * needs them. */
#include "kernel/einsum/einsum_op.h"

#include <string.h>

enum {
	SETS = 1 << EINSUM_INPUTS,
	PASS = 8 /* multiply-adds that take as long as an element that is read or written */
};

/* ---- inputs and output ---- */

/* Input i.  Labels of size 1 and dims that are repeated do not count; a label that is there twice
 * walks the diagonal. */
static struct einsum_part input_part(const struct einsum_run *r, int i)
{
	const struct tensor *t = &r->k->in[i];
	struct einsum_part p = {.data = t->data};
	int64_t step[TENSOR_DIMS], at = 1;
	for (uint32_t d = t->rank; d-- > 0; at *= t->dim[d])
		step[d] = at;
	for (uint32_t d = 0; d < t->rank; d++) {
		int label = r->s.label[i][d], j = 0;
		if (t->dim[d] == 1)
			continue;
		while (j < p.n && p.label[j] != label)
			j++;
		p.stride[j] = j < p.n ? p.stride[j] + step[d] : step[d];
		p.label[j] = label;
		p.n += j == p.n;
	}
	return p;
}

static struct einsum_part output_part(const struct einsum_run *r)
{
	int label[TENSOR_DIMS], n = 0;
	for (int i = 0; i < r->s.n_out; i++)
		if (r->s.size[r->s.out[i]] != 1)
			label[n++] = r->s.out[i];
	return einsum_at(r, label, n, r->k->out[0].data);
}

/* ---- the order ---- */

/* For each set of inputs (bit i: input i): the labels of what they become, how long that takes, and
 * the first of the two sets that it is made from. */
struct plan {
	label_set labels[SETS];
	double cost[SETS];
	unsigned half[SETS];
	bool fits[SETS];
};

static label_set labels_of_all(const label_set *input, int n, unsigned set)
{
	label_set all = 0;
	for (int i = 0; i < n; i++)
		all |= set >> i & 1 ? input[i] : 0;
	return all;
}

static double count_real(const struct einsum_run *r, label_set labels)
{
	double n = 1;
	for (; labels; labels &= labels - 1)
		n *= (double)r->s.size[__builtin_ctzll(labels)];
	return n;
}

static void choose_halves(const struct einsum_run *r, struct plan *p, unsigned set)
{
	p->fits[set] = false;
	for (unsigned a = (set - 1) & set; a > set / 2; a = (a - 1) & set) {
		unsigned b = set & ~a;
		label_set both = p->labels[a] | p->labels[b];
		if (!p->fits[a] || !p->fits[b] || __builtin_popcountll(both) > COPY_DIMS)
			continue;
		double cost = p->cost[a] + p->cost[b] + count_real(r, both) +
			      PASS * (count_real(r, p->labels[a]) + count_real(r, p->labels[b]) +
				      count_real(r, p->labels[set]));
		if (p->fits[set] && cost >= p->cost[set])
			continue;
		p->cost[set] = cost;
		p->half[set] = b;
		p->fits[set] = true;
	}
}

static void make_plan(const struct einsum_run *r, const label_set *input, label_set out,
		      struct plan *p)
{
	unsigned all = (1u << r->s.n_in) - 1;
	for (unsigned set = 1; set <= all; set++) {
		p->labels[set] = labels_of_all(input, r->s.n_in, set) &
				 (out | labels_of_all(input, r->s.n_in, all & ~set));
		p->fits[set] = true;
		p->cost[set] = 0;
		if (set & (set - 1))
			choose_halves(r, p, set);
	}
}

/* Elements of room for what a set is made from, itself not counted. */
static int64_t room_for(const struct einsum_run *r, const struct plan *p, const label_set *input,
			unsigned set)
{
	int64_t bytes = 0;
	if (!(set & (set - 1))) {
		label_set whole = input[__builtin_ctz(set)];
		return whole == p->labels[set] ? 0 : einsum_bytes(r, einsum_count(r, whole));
	}
	unsigned half[2] = {p->half[set], set & ~p->half[set]};
	for (int i = 0; i < 2; i++)
		bytes += room_for(r, p, input, half[i]) +
			 einsum_bytes(r, einsum_count(r, p->labels[half[i]]));
	return bytes + einsum_bytes(r, einsum_multiply_room(r, p->labels[half[0]],
							    p->labels[half[1]], p->labels[set]));
}

/* ---- running ---- */

/* What a set of inputs becomes; to: where, or NULL: anywhere. */
static int make_part(struct einsum_run *r, const struct plan *p, unsigned set,
		     const struct einsum_part *to, struct einsum_part *made, struct err *e)
{
	struct einsum_part a, b;
	if (!(set & (set - 1))) {
		*made = input_part(r, __builtin_ctz(set));
		if (einsum_labels(made) == p->labels[set])
			return 0;
		return einsum_sum(r, made, p->labels[set],
				  einsum_take(r, einsum_count(r, p->labels[set])), e);
	}
	if (make_part(r, p, p->half[set], NULL, &a, e) ||
	    make_part(r, p, set & ~p->half[set], NULL, &b, e))
		return -1;
	if (to) {
		*made = *to;
	} else {
		const struct einsum_part *large = a.n >= b.n ? &a : &b,
					 *other = a.n >= b.n ? &b : &a;
		label_set left = p->labels[set];
		int label[COPY_DIMS], n = 0;
		for (int i = 0; i < large->n + other->n; i++) {
			int l = i < large->n ? large->label[i] : other->label[i - large->n];
			if (left >> l & 1)
				label[n++] = l;
			left &= ~((label_set)1 << l);
		}
		*made = einsum_at(r, label, n, einsum_take(r, einsum_count(r, p->labels[set])));
	}
	return einsum_multiply(r, &a, &b, made, e);
}

/* Reads the equation and finds the order. */
static int begin(struct einsum_run *r, const struct kernel_call *k, struct plan *p,
		 label_set *input, struct einsum_part *out, struct err *e)
{
	*r = (struct einsum_run){
		.k = k, .elem = k->out[0].elem, .size = cpu_elem_size(k->out[0].elem)};
	if (einsum_parse(&r->s, graph_attr(k->op->g, k->op->v, "equation"), k->in, k->op->n_in, e))
		return -1;
	for (int i = 0; i < r->s.n_in; i++) {
		struct einsum_part part = input_part(r, i);
		input[i] = einsum_labels(&part);
	}
	*out = output_part(r);
	make_plan(r, input, einsum_labels(out), p);
	if (!p->fits[(1u << r->s.n_in) - 1])
		return err_set(e, ST_INPUT, "Einsum has products over more than %d labels",
			       COPY_DIMS);
	return 0;
}

static bool is_zero(const struct einsum *s)
{
	for (int l = 0; l < EINSUM_LABELS; l++)
		if (s->used[l] && s->size[l] == 0)
			return true;
	return false;
}

int prepare_einsum(const struct op *op, const struct tensor *in, const struct tensor *out,
		   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	struct kernel_call call = {.op = op, .in = in, .out = out, .ctx = c};
	struct einsum_run r;
	struct einsum_part to, made;
	struct plan p;
	label_set input[EINSUM_INPUTS];
	bool constant = false;
	for (int i = 0; i < op->n_in; i++) {
		if (!tensor_is_static(&in[i]))
			return 0;
		constant = constant || in[i].data;
	}
	if (!constant || op->n_in < 2 || out[0].elem != EL_F32)
		return 0;
	if (begin(&r, &call, &p, input, &to, e))
		return -1;
	r.dry = true;
	if (!is_zero(&r.s) && make_part(&r, &p, (1u << r.s.n_in) - 1, &to, &made, e)) {
		cpu_prep_free(r.prep);
		return -1;
	}
	*prep = r.prep;
	return 0;
}

int run_einsum(const struct kernel_call *k, struct err *e)
{
	struct plan p;
	struct einsum_run r;
	struct einsum_part out, made;
	label_set input[EINSUM_INPUTS];
	if (begin(&r, k, &p, input, &out, e))
		return -1;
	if (is_zero(&r.s)) {
		memset(k->out[0].data, 0, (size_t)tensor_bytes(&k->out[0]));
		return 0;
	}
	unsigned all = (1u << r.s.n_in) - 1;
	int64_t bytes =
		room_for(&r, &p, input, all) + einsum_bytes(&r, einsum_count(&r, p.labels[all]));
	r.room = cpu_slot_scratch(k->ctx, SLOT_TERMS, (size_t)bytes);
	if (!r.room)
		return cpu_no_memory(e);
	if (make_part(&r, &p, all, &out, &made, e))
		return -1;
	if (made.data != out.data)
		einsum_copy(&r, &made, out.label, out.n, out.data);
	return 0;
}
