/* ov_segment.c - compiled segments: shared in the process, kept on disk, else compiled.
 *
 * A segment's key is the digest of its text, in which digests of constants stand for their
 * places, and of everything else that a compiler could look at. */
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "device/openvino/ov_impl.h"

enum { BUCKETS = 1024 };

/* Of the process: devices open and close, and find each other's segments. */
static struct ov_segment *bucket[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- in the process ---- */

static struct ov_segment **bucket_of(const uint64_t key[2])
{
	return &bucket[key[0] % BUCKETS];
}

/* One user more of the segment with this key; NULL: there is none. */
static struct ov_segment *find_shared(const struct ov_state *s, const uint64_t key[2])
{
	pthread_mutex_lock(&lock);
	struct ov_segment *x = *bucket_of(key);
	while (x && (x->key[0] != key[0] || x->key[1] != key[1] ||
		     strcmp(x->own_cores, s->own_cores) != 0))
		x = x->next;
	if (x)
		x->users++;
	pthread_mutex_unlock(&lock);
	return x;
}

static struct ov_segment *share(const struct ov_state *s, const uint64_t key[2],
				ov_compiled_model *model, struct ov_blob blob)
{
	struct ov_segment *x = MEM_NEW(struct ov_segment);
	*x = (struct ov_segment){.model = model,
				 .blob = blob,
				 .users = 1,
				 .key = {key[0], key[1]},
				 .own_cores = mem_strdup(s->own_cores)};
	pthread_mutex_lock(&lock);
	x->next = *bucket_of(key);
	*bucket_of(key) = x;
	pthread_mutex_unlock(&lock);
	return x;
}

void ov_segment_drop(const struct ov_state *s, struct ov_segment *x)
{
	pthread_mutex_lock(&lock);
	bool last = --x->users == 0;
	if (last) {
		struct ov_segment **at = bucket_of(x->key);
		while (*at != x)
			at = &(*at)->next;
		*at = x->next;
	}
	pthread_mutex_unlock(&lock);
	if (!last)
		return;
	s->ov->ov_compiled_model_free(x->model);
	ov_blob_release(&x->blob);
	mem_free((void *)(uintptr_t)x->own_cores);
	mem_free(x);
}

/* ---- made ---- */

static int read_text(const struct ov_state *s, const char *xml, size_t bytes, ov_model **model,
		     struct err *e)
{
	const struct ov_api *ov = s->ov;
	ov_tensor *weights = NULL;
	int64_t n = (int64_t)ov_weights_bytes(s->weights);
	ov_status rc = ov->ov_tensor_create_from_host_ptr(ov->element[EL_U8], (ov_shape){1, &n},
							  ov_weights_base(s->weights), &weights);
	if (rc == 0)
		rc = ov->ov_core_read_model_from_memory_buffer(s->core, xml, bytes, weights, model);
	if (weights)
		ov->ov_tensor_free(weights);
	return rc == 0 ? 0 : ov_api_error(ov, rc, e, "OpenVINO does not read the segment");
}

int ov_segment_compile(struct ov_state *s, const struct step_spec *spec, bool timed,
		       ov_compiled_model **out, struct err *e)
{
	char *xml = NULL;
	size_t bytes = 0;
	uint64_t weight_bytes;
	ov_model *model = NULL;
	pthread_mutex_lock(&s->lock);
	int rc = ov_model_text(spec, s->weights, false, &xml, &bytes, &weight_bytes, e);
	if (rc == 0)
		rc = read_text(s, xml, bytes, &model, e);
	pthread_mutex_unlock(&s->lock);
	if (rc == 0) {
		ov_status status =
			timed ? s->ov->ov_core_compile_model(s->core, model, s->name.target, 2, out,
							     "PERF_COUNT", "YES")
			      : s->ov->ov_core_compile_model(s->core, model, s->name.target, 0,
							     out);
		if (status != 0)
			rc = ov_api_error(s->ov, status, e,
					  "OpenVINO does not compile the segment");
	}
	if (model)
		s->ov->ov_model_free(model);
	mem_free(xml);
	return rc;
}

/* From the cache; NULL: it has none that the plugin takes.  The model works on the blob. */
static ov_compiled_model *from_cache(const struct ov_state *s, const uint64_t key[2],
				     struct ov_blob *blob)
{
	ov_compiled_model *model = NULL;
	*blob = (struct ov_blob){0};
	if (!ov_cache_find(s->cache, key, blob))
		return NULL;
	ov_status rc = s->ov->ov_core_import_model(s->core, blob->data, blob->bytes, s->name.target,
						   &model);
	if (rc == 0)
		return model;
	ov_blob_release(blob);
	ov_cache_forget(s->cache, key);
	return NULL;
}

struct to_write {
	const struct ov_api *ov;
	ov_compiled_model *model;
};

/* Plugins that cannot (AUTO) say so. */
static bool write_model(void *arg, const char *path)
{
	const struct to_write *x = arg;
	return x->ov->ov_compiled_model_export_model(x->model, path) == 0;
}

/* ---- the key ---- */

static int make_key(struct ov_state *s, const struct step_spec *spec, uint64_t key[2],
		    uint64_t *weight_bytes, struct err *e)
{
	char *text = NULL;
	size_t bytes = 0;
	pthread_mutex_lock(&s->lock);
	int rc = ov_model_text(spec, s->weights, true, &text, &bytes, weight_bytes, e);
	pthread_mutex_unlock(&s->lock);
	for (uint64_t i = 0; i < 2 && rc == 0; i++)
		key[i] = digest_of(text, bytes, digest_of(s->facts, strlen(s->facts), i));
	mem_free(text);
	return rc;
}

int ov_segment_get(struct ov_state *s, const struct step_spec *spec, struct ov_segment **out,
		   uint64_t *weight_bytes, struct err *e)
{
	uint64_t key[2];
	if (make_key(s, spec, key, weight_bytes, e) < 0)
		return -1;
	if ((*out = find_shared(s, key)))
		return 0;
	struct ov_blob blob;
	ov_compiled_model *model = from_cache(s, key, &blob);
	if (!model) {
		if (ov_segment_compile(s, spec, false, &model, e) < 0)
			return -1;
		struct to_write x = {s->ov, model};
		ov_cache_keep(s->cache, key, write_model, &x);
	}
	*out = share(s, key, model, blob);
	return 0;
}
