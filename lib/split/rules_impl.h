/* rules_impl.h - the rules (rules_window.c, rules_dense.c, rules_move.c) and what they share (part_read.c), for the table
 * in rules.c.  Not for others. */
#ifndef HSDAG_SPLIT_RULES_IMPL_H
#define HSDAG_SPLIT_RULES_IMPL_H

#include "split/rules.h"

bool split_rule_convolution(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_transposed(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_cum_sum(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_last_axis(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_group_norm(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_sequence(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_cell(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_depth_to_space(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_space_to_depth(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_shuffle_channels(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_interpolate(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_pool(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_adaptive_pool(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_matmul(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_attention(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_elementwise(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_one_axis(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_some_axes(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_mvn(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_reduce(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_transpose(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_reshape(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_split(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_concat(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_scatter(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_scatter_elements(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_scatter_nd(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_gather(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_slice(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_pad(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_broadcast(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_tile(struct split_facts *f, uint32_t v, struct split_part *p);
bool split_rule_variable(struct split_facts *f, uint32_t v, struct split_part *p);

/* The part has this attribute; a list as 1,2. */
void split_edit(struct split_part *p, const char *key, const char *value);
void split_edit_list(struct split_part *p, const char *key, const int64_t *v, int n);
/* The part reads lo .. hi - 1 along `axis` of input i. */
void split_read(struct split_part *p, uint32_t i, int axis, int64_t lo, int64_t hi);
/* Are the part's borders multiples of p->unit, or the end, `size`? */
bool split_aligned(const struct split_part *p, int64_t size);
/* Input i lies along output axis p->axis of `rank` dims as numpy broadcasts. */
bool split_read_broadcast(struct split_facts *f, uint32_t v, struct split_part *p, uint32_t i,
			  uint32_t rank);

#endif
