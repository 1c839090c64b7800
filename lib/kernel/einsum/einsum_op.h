/* einsum_op.h - inside Einsum: operands by their labels, and what becomes of two of them. */
#ifndef HSDAG_KERNEL_EINSUM_EINSUM_OP_H
#define HSDAG_KERNEL_EINSUM_EINSUM_OP_H

#include "kernel/kernel_impl.h"
#include "op/einsum.h"

/* Bit l: label l, whose size is not 1. */
typedef uint64_t label_set;

/* An input, or what some of them became: its elements by labels. */
struct einsum_part {
	char *data;
	int n, label[COPY_DIMS];
	int64_t stride[COPY_DIMS]; /* in elements */
};

struct einsum_run {
	const struct kernel_call *k;
	struct einsum s;
	enum elem elem;
	size_t size; /* of an element */
	char *room;  /* for what is made on the way */
	/* Nothing is computed: what is constant is packed, into prep. */
	bool dry;
	struct cpu_prep *prep;
};

/* ---- einsum_part.c ---- */

label_set einsum_labels(const struct einsum_part *p);
/* The product of the sizes of labels. */
int64_t einsum_count(const struct einsum_run *r, label_set labels);
/* Bytes of room that n elements take. */
int64_t einsum_bytes(const struct einsum_run *r, int64_t n);
/* n elements of what is left of the room. */
char *einsum_take(struct einsum_run *r, int64_t n);
/* Has p those labels, one element behind the other in their order? */
bool einsum_lies(const struct einsum_run *r, const struct einsum_part *p, const int *label, int n);
/* A part that lies so. */
struct einsum_part einsum_at(const struct einsum_run *r, const int *label, int n, char *data);
/* p, copied so; and what lies so, copied to where p's elements are. */
struct einsum_part einsum_copy(const struct einsum_run *r, const struct einsum_part *p,
			       const int *label, int n, char *data);
void einsum_put(const struct einsum_run *r, const int *label, int n, char *data,
		const struct einsum_part *p);
/* p, summed over the labels that are not among `kept`, into data. */
int einsum_sum(struct einsum_run *r, struct einsum_part *p, label_set kept, char *data,
	       struct err *e) MUST_CHECK;

/* ---- einsum_pair.c ---- */

/* c = a b, summed over the labels that c has not, all of which both have. */
int einsum_multiply(struct einsum_run *r, const struct einsum_part *a, const struct einsum_part *b,
		    const struct einsum_part *c, struct err *e) MUST_CHECK;
/* The room that it takes, in elements at most. */
int64_t einsum_multiply_room(const struct einsum_run *r, label_set a, label_set b, label_set c);

#endif
