/* keep.c - records that outlive their reader's next step. */
#include "stream/mp.h"

#include <string.h>

struct kept {
	struct rec r; /* first: what the caller has */
	msgpack_zone zone;
	uint8_t *bytes;
	char *kind;
};

struct rec *rec_keep(const struct rec *r)
{
	struct kept *x = MEM_NEW(struct kept);
	msgpack_object o;
	size_t off = 0;

	if (!msgpack_zone_init(&x->zone, MSGPACK_ZONE_CHUNK_SIZE)) {
		mem_free(x);
		return NULL;
	}
	x->bytes = mem_copy(r->bytes, r->n_bytes, 1);
	x->kind = mem_strdup(r->kind);
	x->r = *r;
	x->r.bytes = x->bytes;
	x->r.kind = x->kind;
	x->r.map = NULL;
	/* Texts and tensors of the decoded map are those of x->bytes. */
	if (msgpack_unpack((const char *)x->bytes, r->n_bytes, &off, &x->zone, &o) !=
	    MSGPACK_UNPACK_SUCCESS) {
		rec_drop(&x->r);
		return NULL;
	}
	x->r.map = mp_val(&o.via.array.ptr[1]);
	return &x->r;
}

void rec_drop(struct rec *r)
{
	struct kept *x = (struct kept *)(void *)r;

	if (!x)
		return;
	msgpack_zone_destroy(&x->zone);
	mem_free(x->bytes);
	mem_free(x->kind);
	mem_free(x);
}
