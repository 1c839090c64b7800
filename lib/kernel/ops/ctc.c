/* ctc.c - sequences of connectionist temporal classification: CTCGreedyDecoder,
 * CTCGreedyDecoderSeqLen, CTCLoss.  Sources: specifications, opset1, 4, 6; Graves et al., 2006. */
#include "kernel/kernel_impl.h"

#include <math.h>
#include <string.h>

static int64_t best_class(const float *p, int64_t n)
{
	int64_t best = 0;
	for (int64_t c = 1; c < n; c++)
		if (p[c] > p[best])
			best = c;
	return best;
}

/* Probabilities (t, n, c), mask (t, n) -> classes (n, t) as real numbers, -1 behind them. */
int run_ctc_greedy(const struct kernel_call *k, struct err *e)
{
	const struct tensor *p = &k->in[0];
	int64_t steps = p->dim[0], batch = p->dim[1], classes = p->dim[2];
	const float *mask = k->in[1].data;
	float *y = k->out[0].data;
	(void)e;
	for (int64_t b = 0; b < batch; b++) {
		int64_t last = -1, at = b * steps;
		for (int64_t t = 0; t < steps; t++)
			y[b * steps + t] = -1;
		for (int64_t t = 0; t < steps; t++) {
			if (t > 0 && mask[t * batch + b] == 0)
				break;
			int64_t c = best_class((const float *)p->data + (t * batch + b) * classes,
					       classes);
			if (c < classes - 1 && !(k->op->a.ctc.merge_repeated && c == last))
				y[at++] = (float)c;
			last = c;
		}
	}
	return 0;
}

/* Probabilities (n, t, c), lengths (n) [, blank] -> classes (n, t), -1 behind them; lengths (n). */
int run_ctc_lengths(const struct kernel_call *k, struct err *e)
{
	const struct tensor *p = &k->in[0];
	int64_t batch = p->dim[0], steps = p->dim[1], classes = p->dim[2];
	int64_t blank = k->op->n_in > 2 && k->in[2].data ? tensor_int(&k->in[2], 0) : classes - 1;
	for (int64_t b = 0; b < batch; b++) {
		int64_t last = -1, n = 0, length = tensor_int(&k->in[1], b);
		if (length < 0 || length > steps)
			return err_set(e, ST_INPUT, "a sequence of %lld of %lld steps",
				       (long long)length, (long long)steps);
		for (int64_t t = 0; t < length; t++) {
			int64_t c = best_class((const float *)p->data + (b * steps + t) * classes,
					       classes);
			if (c != blank && !(k->op->a.ctc.merge_repeated && c == last))
				tensor_set_int(&k->out[0], b * steps + n++, c);
			last = c;
		}
		if (k->out[1].data)
			tensor_set_int(&k->out[1], b, n);
		for (; n < steps; n++)
			tensor_set_int(&k->out[0], b * steps + n, -1);
	}
	return 0;
}

/* ---- CTCLoss ---- */

static double log_add(double a, double b)
{
	double top = a > b ? a : b;
	return isinf(top) && top < 0 ? top : top + log(exp(a - top) + exp(b - top));
}

/* The target: what is left of labels[n] when repeated (or all doubled) ones are taken out. */
static int64_t target_of(const struct kernel_call *k, const struct tensor *labels, int64_t first,
			 int64_t n, int64_t *target)
{
	int64_t m = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t v = tensor_int(labels, first + i), j = 0;
		if (k->op->a.ctc.unique)
			while (j < m && target[j] != v)
				j++;
		else
			j = k->op->a.ctc.collapse && m && target[m - 1] == v ? 0 : m;
		if (j == m)
			target[m++] = v;
	}
	return m;
}

/* Sum over all alignments, forwards: a[s] for the target with a blank around each label. */
static double loss_of(const struct kernel_call *k, const float *x, int64_t steps, int64_t classes,
		      int64_t blank, const int64_t *target, int64_t m, double *a)
{
	int64_t states = 2 * m + 1;
	for (int64_t s = 0; s < states; s++)
		a[s] = -INFINITY;
	for (int64_t t = 0; t < steps; t++, x += classes) {
		double sum = 0, top = (double)x[best_class(x, classes)];
		for (int64_t c = 0; c < classes; c++)
			sum += exp((double)x[c] - top);
		double norm = top + log(sum);
		for (int64_t s = states; s-- > 0;) {
			int64_t label = s & 1 ? target[s / 2] : blank;
			double p = (double)x[label] - norm, v = a[s];
			bool merge = k->op->a.ctc.merge_repeated;
			if (t == 0) {
				a[s] = s < 2 ? p : -INFINITY;
				continue;
			}
			if (s & 1 && !merge)
				v = -INFINITY; /* a label stays for one step only */
			if (s > 0)
				v = log_add(v, a[s - 1]);
			if (s > 1 && s & 1 && (!merge || target[s / 2] != target[s / 2 - 1]))
				v = log_add(v, a[s - 2]);
			a[s] = v + p;
		}
	}
	return -(states > 1 ? log_add(a[states - 1], a[states - 2]) : a[0]);
}

int run_ctc_loss(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *labels = &k->in[2];
	int64_t steps = x->dim[1], classes = x->dim[2], width = labels->dim[1];
	int64_t blank = k->op->n_in > 4 && k->in[4].data ? tensor_int(&k->in[4], 0) : classes - 1;
	int64_t *target =
		cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(3 * width + 1) * sizeof *target);
	if (!target)
		return cpu_no_memory(e);
	for (int64_t b = 0; b < x->dim[0]; b++) {
		int64_t n = tensor_int(&k->in[3], b), t = tensor_int(&k->in[1], b);
		if (n < 0 || n > width || t < 0 || t > steps || blank < 0 || blank >= classes)
			return err_set(e, ST_INPUT, "lengths or blank of CTCLoss do not fit");
		int64_t m = target_of(k, labels, b * width, n, target);
		for (int64_t i = 0; i < m; i++)
			if (target[i] < 0 || target[i] >= classes)
				return err_set(e, ST_INPUT, "label %lld of %lld",
					       (long long)target[i], (long long)classes);
		((float *)k->out[0].data)[b] =
			(float)loss_of(k, (const float *)x->data + b * steps * classes, t, classes,
				       blank, target, m, (double *)(void *)(target + width));
	}
	return 0;
}
