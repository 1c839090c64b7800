/* ov_impl.h - OpenVINO devices from the inside.  Private to ov_*.c. */
#ifndef HSDAG_DEVICE_OPENVINO_OV_IMPL_H
#define HSDAG_DEVICE_OPENVINO_OV_IMPL_H

#include "device/device.h"
#include "device/openvino/ov_api.h"

/* ---- names (ov_name.c) ---- */

enum { OV_PROPERTIES = 8, OV_DEVICES = 8 };

/* ov:TARGET[:CORES][/OPTION=VALUE]...; all text in buf. */
struct ov_name {
	const char *target; /* "CPU", "GPU.1", "HETERO:GPU,CPU" */
	int n_devices;      /* that it names: itself, or those of HETERO and AUTO */
	const char *device[OV_DEVICES];
	bool composite;        /* HETERO, AUTO, MULTI, BATCH: they choose among devices */
	const char *cores;     /* "0-1,4"; NULL: not told */
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

/* ---- steps (ov_model.c) ---- */

/* The step as the text of an IR: input i is the Parameter with the tensor name "hsdag/in/i", output
 * i the i-th Result; *weight_bytes is what its constants take as the type that they
 * are computed in.  text is the caller's to mem_free. */
int ov_model_text(const struct step_spec *s, struct ov_weights *w, char **text, size_t *bytes,
		  uint64_t *weight_bytes, struct err *e) MUST_CHECK;

#endif
