/* digest.c - XXH64 by its library; the only file that includes it. */
#include "base/digest.h"

#include <xxhash.h>

#include "base/mem.h"
#include "base/msg.h"

struct digest {
	XXH64_state_t *state;
};

uint64_t digest_of(const void *data, size_t n, uint64_t seed)
{
	return XXH64(data, n, seed);
}

struct digest *digest_new(void)
{
	struct digest *d = MEM_NEW(struct digest);

	while (!(d->state = XXH64_createState()))
		if (!mem_use_reserve())
			msg_out_of_memory(1, sizeof *d);
	digest_reset(d);
	return d;
}

void digest_free(struct digest *d)
{
	if (!d)
		return;
	XXH64_freeState(d->state);
	mem_free(d);
}

void digest_reset(struct digest *d)
{
	XXH64_reset(d->state, 0);
}

void digest_add(struct digest *d, const void *data, size_t n)
{
	XXH64_update(d->state, data, n);
}

uint64_t digest_value(const struct digest *d)
{
	return XXH64_digest(d->state);
}
