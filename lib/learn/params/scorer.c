/* scorer.c - scores of rows of features, and their gradient. */
#include <math.h>
#include <stdio.h>

#include "base/simd.h"
#include "learn/params/scorer.h"

/* Into each clone of what calls it. */
#define INLINE static inline __attribute__((always_inline))

typedef float layer[SCORER_LARGE];

struct scorer scorer_add(struct params *p, const char *name, uint32_t n_features,
			 enum scorer_hidden hidden)
{
	struct scorer s = {.n_features = n_features, .hidden = hidden, .first = p->n_mats};
	float in = sqrtf(6 / (float)n_features), inner = sqrtf(6 / (float)hidden);
	const struct {
		const char *part;
		uint32_t rows, cols;
		float bound;
	} mat[] = {{"w1", n_features, hidden, in},  {"b1", 1, hidden, 0},
		   {"w2", hidden, hidden, inner},   {"b2", 1, hidden, 0},
		   {"w3", 1, hidden, 0.3f * inner}, {"b3", 1, 1, 0}};
	char text[64];

	for (size_t i = 0; i < sizeof(mat) / sizeof(mat[0]); i++) {
		snprintf(text, sizeof(text), "%s.%s", name, mat[i].part);
		params_add(p, text, mat[i].rows, mat[i].cols,
			   mat[i].bound > 0 ? PARAM_UNIFORM : PARAM_ZERO, mat[i].bound);
	}
	return s;
}

/* out = relu(in W + b), W (n,h), without the inputs in off; every element adds up in the order of the
 * inputs. */
INLINE void forward(const float *in, uint32_t n, uint32_t h, uint64_t off, const float *w,
		    const float *b, float *out)
{
	layer sum;

	for (uint32_t j = 0; j < h; j++)
		sum[j] = b[j];
	for (uint32_t i = 0; i < n; i++) {
		if (i < 64 && off >> i & 1)
			continue;
		for (uint32_t j = 0; j < h; j++)
			sum[j] += in[i] * w[(size_t)i * h + j];
	}
	for (uint32_t j = 0; j < h; j++)
		out[j] = sum[j] > 0 ? sum[j] : 0;
}

static inline const float *matrix(const struct scorer *s, const struct params *p, uint32_t i)
{
	return p->data + p->mat[s->first + i].at;
}

INLINE void run(const struct scorer *s, uint32_t h, const struct params *p, const float *x,
		uint32_t n, float *score)
{
	const float *w3 = matrix(s, p, 4), b3 = *matrix(s, p, 5);
	layer h1, h2;

	for (uint32_t r = 0; r < n; r++) {
		forward(x + (size_t)r * s->n_features, s->n_features, h, s->off, matrix(s, p, 0),
			matrix(s, p, 1), h1);
		forward(h1, h, h, 0, matrix(s, p, 2), matrix(s, p, 3), h2);
		score[r] = b3;
		for (uint32_t j = 0; j < h; j++)
			score[r] += h2[j] * w3[j];
	}
}

INLINE void back(const struct scorer *s, uint32_t h, const struct params *p, const float *x,
		 uint32_t n, const float *weight, float *grad)
{
	const float *w2 = matrix(s, p, 2), *w3 = matrix(s, p, 4);
	float *g[6];
	layer h1, h2, d1, d2;

	for (uint32_t i = 0; i < 6; i++)
		g[i] = grad + p->mat[s->first + i].at;
	for (uint32_t r = 0; r < n; r++) {
		const float *row = x + (size_t)r * s->n_features;

		if (weight[r] == 0)
			continue;
		forward(row, s->n_features, h, s->off, matrix(s, p, 0), matrix(s, p, 1), h1);
		forward(h1, h, h, 0, w2, matrix(s, p, 3), h2);
		*g[5] += weight[r];
		for (uint32_t j = 0; j < h; j++) {
			g[4][j] += weight[r] * h2[j];
			d2[j] = h2[j] > 0 ? weight[r] * w3[j] : 0;
			g[3][j] += d2[j];
		}
		for (uint32_t i = 0; i < h; i++) {
			float sum = 0;

			for (uint32_t j = 0; j < h; j++) {
				g[2][i * h + j] += h1[i] * d2[j];
				sum += w2[i * h + j] * d2[j];
			}
			d1[i] = h1[i] > 0 ? sum : 0;
			g[1][i] += d1[i];
		}
		for (uint32_t i = 0; i < s->n_features; i++)
			for (uint32_t j = 0; !(i < 64 && s->off >> i & 1) && j < h; j++)
				g[0][(size_t)i * h + j] += row[i] * d1[j];
	}
}

/* Loops of a known length for each width. */
VECTOR_CLONES
void scorer_run(const struct scorer *s, const struct params *p, const float *x, uint32_t n,
		float *score)
{
	if (s->hidden == SCORER_SMALL)
		run(s, SCORER_SMALL, p, x, n, score);
	else
		run(s, SCORER_LARGE, p, x, n, score);
}

VECTOR_CLONES
void scorer_back(const struct scorer *s, const struct params *p, const float *x, uint32_t n,
		 const float *weight, float *grad)
{
	if (s->hidden == SCORER_SMALL)
		back(s, SCORER_SMALL, p, x, n, weight, grad);
	else
		back(s, SCORER_LARGE, p, x, n, weight, grad);
}
