/* seq2seq.h - a sequence of groups in, a sequence of devices out: what the recurrent placers have in
 * common (Mirhoseini et al. 2017, section 3.3; 2018, section 2).
 *
 *   e_g     = LSTM_enc(LayerNorm(Z'_g)), g = 1 .. G; with both_ways [forwards | backwards]
 *   s_g     = LSTM_dec(E[device of group g-1]), begins with the encoder's last state
 *   a_g     = sum over j of softmax_j(v . tanh(s_g W_q + e_j W_k)) e_j
 *   logits  = s_g W_s + a_g W_a + b, with a constant C: C tanh(. / C)
 *
 * With `aligned` the decoder reads e_g W_o besides, so that it need not find its own place by
 * content.  The LayerNorm is not the papers': without it dims as they are saturate the gates. */
#ifndef HSDAG_LEARN_NET_SEQ2SEQ_H
#define HSDAG_LEARN_NET_SEQ2SEQ_H

#include "learn/net/choices.h"
#include "learn/params/params.h"
#include "learn/tape/tape.h"

struct seq2seq {
	int64_t hidden; /* width of both LSTMs and of the attention; both_ways rounds it up to even */
	bool both_ways, aligned;
	double tanh_constant; /* C; 0: none */
	double gain;          /* factor on the initial bound of the last layer */
};

/* Rows of a table of hyperparameters of struct S that has members of these names. */
#define SEQ2SEQ_FIELDS(S) \
	FIELD_INT(S, hidden, 1, 4096, "width of the recurrent layers"), \
		FIELD_INT(S, aligned, 0, 1, \
			  "1: the decoder reads the encoder's state of its own group, too"), \
		FIELD_REAL(S, policy_gain, 0, 100, \
			   "factor on the initial weights of the policy's last layer")

/* The matrices of z (.,d) and k devices. */
void seq2seq_add(struct params *p, const struct seq2seq *s, uint32_t d, uint32_t k);

/* `choose` of a network: p points at the first of these matrices, z (n) of (n_groups,d).  Steps whose
 * devices are known, of as many samples each, go through the decoder side by side. */
void seq2seq_choose(struct tape *t, const struct seq2seq *s, struct mat *const *p, uint32_t n,
		    struct mat *const *z, struct choices *c);

/* What both embed groups with.  z (n_groups,d) + for each group the rows row[j] of w (.,d) of the
 * groups j beside it, once each: its one-hot adjacency times w. */
struct mat *seq2seq_adjacency(struct tape *t, struct mat *z, const struct ugraph *graph,
			      const uint32_t *group, const uint32_t *row, struct mat *w);

#endif
