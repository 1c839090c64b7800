/* burst.c - runs in a row. */
#include "timing/burst.h"

enum run_status burst_run(const struct runnable *r, uint32_t most, bool warm,
			  struct run_sample *sample, uint32_t *n, struct err *e)
{
	enum run_status status = runnable_run(r, &sample[0], e);
	bool is_short = status == RUN_OK && burst_is_short(sample[0].lat_s);
	*n = status == RUN_OK && (warm || !is_short);
	while (is_short && status == RUN_OK && *n < most) {
		status = runnable_run(r, &sample[*n], e);
		*n += status == RUN_OK;
	}
	return status;
}

uint32_t burst_middle(const struct run_sample *sample, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t before = 0;
		for (uint32_t j = 0; j < n; j++)
			before += sample[j].lat_s < sample[i].lat_s ||
				  (sample[j].lat_s == sample[i].lat_s && j < i);
		if (before == (n - 1) / 2)
			return i;
	}
	return 0;
}
