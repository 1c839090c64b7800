/* ov_impl.h - OpenVINO devices from the inside.  For ov_*.c; not for others. */
#ifndef HSDAG_DEVICE_OPENVINO_OV_IMPL_H
#define HSDAG_DEVICE_OPENVINO_OV_IMPL_H

#include <pthread.h>

#include "device/device.h"
#include "device/device_cores.h"
#include "device/device_precision.h"
#include "device/openvino/ov_api.h"
#include "device/openvino/ov_cache.h"

/* ---- names (ov_name.c) ---- */

enum { OV_PROPERTIES = 8, OV_DEVICES = 8 };

/* ov:TARGET[:CORES][/OPTION=VALUE]...; all text in buf. */
struct ov_name {
	const char *target; /* "CPU", "GPU.1", "HETERO:GPU,CPU" */
	int n_devices;      /* that it names: itself, or those of HETERO and AUTO */
	const char *device[OV_DEVICES];
	bool composite; /* HETERO, AUTO, MULTI, BATCH: they choose among devices */
	bool has_cores; /* they are told: */
	cpu_set_t cores;
	int threads, streams;  /* threads 0: one a core */
	const char *precision; /* "f32"; NULL: the plugin's own default */
	int n_properties;      /* passed on as they are */
	const char *key[OV_PROPERTIES], *value[OV_PROPERTIES];
	char buf[256];
};
int ov_name_parse(const char *name, struct ov_name *out, struct err *e) MUST_CHECK;

/* ---- opening (ov_open.c) ---- */

struct ov_weights;
struct ov_state {
	const struct ov_api *ov;
	struct ov_name name;
	ov_core *core;
	struct ov_weights *weights; /* of the model that steps come from */
	const void *weights_of;
	bool pinned;
	pthread_mutex_t lock;   /* of weights: steps are prepared by several threads */
	struct ov_cache *cache; /* NULL: nothing is kept on disk */
	/* What compiled segments depend on besides the segment: versions, processor, properties. */
	char *facts;
	const char *own_cores; /* who may share them in this process: "", or the cores alone */
};

/* Fill s, and d's cores, memory and description, from d->name.  ST_USAGE: no such device, core
 * or library; ST_RUNTIME: what OpenVINO refuses.  On error, too, the caller frees s->core. */
int ov_open(struct device *d, struct ov_state *s, struct err *e) MUST_CHECK;

/* ---- constants (ov_weights.c) ---- */

/* A range of addresses: the model's .bin, mapped, and behind it constants that were computed.
 * It is the one weights tensor that OpenVINO reads models with. */
/* path: the .bin, or NULL.  ST_RUNTIME when it cannot be mapped. */
int ov_weights_open(const char *path, struct ov_weights **out, struct err *e) MUST_CHECK;
void ov_weights_close(struct ov_weights *w);
/* Where in the range the bytes at data are, which are copied behind the file once for each
 * address.  ST_RUNTIME when the range is full. */
int ov_weights_add(struct ov_weights *w, const void *data, uint64_t bytes, uint64_t *offset,
		   struct err *e) MUST_CHECK;
void *ov_weights_base(const struct ov_weights *w);
uint64_t ov_weights_bytes(const struct ov_weights *w);
uint64_t ov_weights_file_bytes(const struct ov_weights *w);
/* XXH64 of bytes of the file, which are read once. */
uint64_t ov_weights_digest(struct ov_weights *w, uint64_t offset, uint64_t bytes);

/* ---- steps (ov_model.c) ---- */

/* The step as the text of an IR: input i is the Parameter with the tensor name "hsdag/in/i", output
 * i the i-th Result; *weight_bytes is what its constants take as the type that they
 * are computed in.  text is the caller's to mem_free.  by_content: what has the place of a constant's
 * offset is the digest of its bytes, so that the text is the same wherever they lie; not to be
 * compiled. */
int ov_model_text(const struct step_spec *s, struct ov_weights *w, bool by_content, char **text,
		  size_t *bytes, uint64_t *weight_bytes, struct err *e) MUST_CHECK;

/* ---- what was compiled (ov_segment.c) ---- */

/* A compiled segment; devices that would compile it alike share it while a step of one of them
 * uses it. */
struct ov_segment {
	ov_compiled_model *model;
	struct ov_blob blob; /* what it was made from; empty when it was compiled */
	uint32_t users;
	uint64_t key[2];
	const char *own_cores;
	struct ov_segment *next;
};
/* The segment of a step: one that this process has, else from the cache, else compiled, and kept
 * there.  One user more.  May be called by several threads at once.  ST_RUNTIME: what OpenVINO
 * refuses. */
int ov_segment_get(struct ov_state *s, const struct step_spec *spec, struct ov_segment **out,
		   uint64_t *weight_bytes, struct err *e) MUST_CHECK;
/* Compiled anew, for nobody else.  timed: its requests tell what each node takes. */
int ov_segment_compile(struct ov_state *s, const struct step_spec *spec, bool timed,
		       ov_compiled_model **out, struct err *e) MUST_CHECK;
void ov_segment_drop(const struct ov_state *s, struct ov_segment *x); /* one user less */

/* ---- times of nodes (ov_times.c) ---- */

/* The mean over all inferences so far of what OpenVINO counted for each node of the step, and behind them of what it added:
 * counted_s (n_nodes + 1). */
int ov_times_read(const struct ov_state *s, const ov_infer_request *request,
		  const struct step_spec *spec, double *counted_s, struct err *e) MUST_CHECK;
/* From such means of n inferences, 2 or more, and of the first, which allocates and finds nothing in caches, what each node takes
 * in others: as device_class.node_times. */
int ov_times_share(const struct step_spec *spec, const double *counted_s, const double *first_s,
		   int n, double *node_s, struct err *e) MUST_CHECK;

#endif
