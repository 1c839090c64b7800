/* Items that are alike, against comparing each with each. */
#include "base/mem.h"
#include "base/rng.h"
#include "place/bound/alike.h"
#include "tap.h"

#include <string.h>

enum { N = 300, K = 3 };

static void draw(uint64_t seed, double *a, uint64_t *b, bool *in)
{
	struct rng_addr at = {seed, 0, 0, 0};
	uint32_t n = 0;
	for (int i = 0; i < N * K; i++) {
		a[i] = (double)(rng_below(&at, n++, 2) + 1) / 7;
		b[i] = (uint64_t)rng_below(&at, n++, 2) << 40;
	}
	for (int i = 0; i < N; i++)
		in[i] = rng_below(&at, n++, 5) > 0;
}

static bool same(const double *a, const uint64_t *b, int i, int j)
{
	return memcmp(a + i * K, a + j * K, K * sizeof *a) == 0 &&
	       (!b || memcmp(b + i * K, b + j * K, K * sizeof *b) == 0);
}

static void check(const double *a, const uint64_t *b, const bool *in, const char *what)
{
	struct alike x;
	bool right = true;
	double all = 0, want = 0;
	uint32_t kinds = 0;
	uint32_t last = 0;
	alike_init(&x, N, in, a, K * sizeof *a, b, K * sizeof *b);
	for (uint32_t j = 0; j < x.n; j++) {
		double count = 0;
		for (int i = 0; i < N; i++)
			count += (!in || in[i]) && same(a, b, i, (int)x.first[j]);
		right = right && count == x.count[j] && (j == 0 || x.first[j] > last);
		last = x.first[j];
		all += x.count[j];
	}
	for (int i = 0; i < N; i++) {
		bool seen = in && !in[i];
		for (int j = 0; j < i && !seen; j++)
			seen = (!in || in[j]) && same(a, b, i, j);
		kinds += !seen;
		want += !in || in[i];
		right = right && ((in && !in[i]) ||
				  (x.kind[i] < x.n && same(a, b, i, (int)x.first[x.kind[i]])));
	}
	tap(right && all == want && x.n == kinds, "%s: %u kinds", what, x.n);
	struct alike few;
	double sum = 0;
	alike_sample(&x, 5, &few);
	for (uint32_t j = 0; j < few.n; j++)
		sum += few.count[j];
	tap(few.n == 5 && sum > all - 1e-9 && sum < all + 1e-9 && few.first[0] == x.first[0],
	    "%s: five stand for all", what);
	alike_release(&few);
	alike_release(&x);
}

int main(void)
{
	double a[N * K];
	uint64_t b[N * K];
	bool in[N];
	struct alike none;
	draw(5, a, b, in);
	check(a, NULL, NULL, "by one row");
	check(a, b, NULL, "by two rows");
	check(a, NULL, in, "some are left out");
	alike_init(&none, 0, NULL, a, K * sizeof *a, NULL, 0);
	tap(none.n == 0, "nothing has no kinds");
	alike_release(&none);
	return tap_end();
}
