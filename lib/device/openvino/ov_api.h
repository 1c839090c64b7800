/* ov_api.h - the part of OpenVINO's C interface that is used, loaded at run time.
 *
 * Nothing of OpenVINO is needed to build or to run anything else: the library is
 * found and opened by the first device that needs it.  The declarations are those of
 * API 2.0 as its headers have had them from 2023.1 to 2026.4; tested with 2026.4.  The numbers of
 * element types differ between versions and are asked for (ov_element_types).
 *
 * Where the library is looked for: the directory given to ov_api_directory (devrun
 * --openvino), else the one in the environment variable HSDAG_OPENVINO, and nowhere
 * else when one of them is set; else the wheel in $VIRTUAL_ENV, in the venv beside
 * the program's own directory, in the user's and the system's Python, an installed
 * toolkit, and last wherever the loader looks. */
#ifndef HSDAG_DEVICE_OPENVINO_OV_API_H
#define HSDAG_DEVICE_OPENVINO_OV_API_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"

typedef struct ov_core ov_core;
typedef struct ov_model ov_model;
typedef struct ov_compiled_model ov_compiled_model;
typedef struct ov_infer_request ov_infer_request;
typedef struct ov_tensor ov_tensor;
typedef struct ov_output_const_port ov_port;
typedef struct {
	int64_t rank, *dims;
} ov_shape;
typedef struct {
	const char *build, *description;
} ov_version;
typedef struct {
	char **devices;
	size_t size;
} ov_available;
typedef struct {
	int status;                  /* 2: it ran */
	int64_t real_time, cpu_time; /* microseconds */
	const char *node_name, *exec_type, *node_type;
} ov_node_time;
typedef struct {
	ov_node_time *node;
	size_t size;
} ov_node_times;
typedef int ov_status; /* 0: OK, else negative */

/* F(result, name, (arguments)) */
#define OV_FUNCTIONS(F) \
	F(const char *, ov_get_error_info, (ov_status)) \
	F(const char *, ov_get_last_err_msg, (void)) \
	F(void, ov_free, (const char *)) \
	F(ov_status, ov_get_openvino_version, (ov_version *)) \
	F(void, ov_version_free, (ov_version *)) \
	F(ov_status, ov_core_create, (ov_core **)) \
	F(void, ov_core_free, (ov_core *)) \
	F(ov_status, ov_core_get_available_devices, (const ov_core *, ov_available *)) \
	F(void, ov_available_devices_free, (ov_available *)) \
	F(ov_status, ov_core_get_property, (const ov_core *, const char *, const char *, char **)) \
	F(ov_status, ov_core_set_property, (const ov_core *, const char *, ...)) \
	F(ov_status, ov_core_read_model_from_memory_buffer, \
	  (const ov_core *, const char *, size_t, const ov_tensor *, ov_model **)) \
	F(ov_status, ov_core_compile_model, \
	  (const ov_core *, const ov_model *, const char *, size_t, ov_compiled_model **, ...)) \
	F(ov_status, ov_core_import_model, \
	  (const ov_core *, const char *, size_t, const char *, ov_compiled_model **)) \
	F(void, ov_model_free, (ov_model *)) \
	F(ov_status, ov_model_const_input_by_index, (const ov_model *, size_t, ov_port **)) \
	F(ov_status, ov_port_get_element_type, (const ov_port *, int *)) \
	F(void, ov_output_const_port_free, (ov_port *)) \
	F(ov_status, ov_compiled_model_inputs_size, (const ov_compiled_model *, size_t *)) \
	F(ov_status, ov_compiled_model_outputs_size, (const ov_compiled_model *, size_t *)) \
	F(ov_status, ov_compiled_model_input_by_name, \
	  (const ov_compiled_model *, const char *, ov_port **)) \
	F(ov_status, ov_compiled_model_output_by_index, \
	  (const ov_compiled_model *, size_t, ov_port **)) \
	F(ov_status, ov_compiled_model_export_model, (const ov_compiled_model *, const char *)) \
	F(void, ov_compiled_model_free, (ov_compiled_model *)) \
	F(ov_status, ov_compiled_model_create_infer_request, \
	  (const ov_compiled_model *, ov_infer_request **)) \
	F(void, ov_infer_request_free, (ov_infer_request *)) \
	F(ov_status, ov_infer_request_set_tensor_by_const_port, \
	  (ov_infer_request *, const ov_port *, const ov_tensor *)) \
	F(ov_status, ov_infer_request_infer, (ov_infer_request *)) \
	F(ov_status, ov_infer_request_get_profiling_info, \
	  (const ov_infer_request *, ov_node_times *)) \
	F(void, ov_profiling_info_list_free, (ov_node_times *)) \
	F(ov_status, ov_tensor_create_from_host_ptr, (int, ov_shape, void *, ov_tensor **)) \
	F(void, ov_tensor_free, (ov_tensor *))

struct ov_api {
#define OV_POINTER(result, name, args) result(*name) args;
	OV_FUNCTIONS(OV_POINTER)
#undef OV_POINTER
	char version[80];
	int element[EL_COUNT]; /* OpenVINO's number of each type; -1: it has none */
};

/* Look here and nowhere else: the directory of libopenvino_c.so*, or of the Python package
 * `openvino`, a venv or a toolkit that holds it.  Before the first ov_api_open; dir is borrowed. */
void ov_api_directory(const char *dir);
/* The library, loaded once per process and never unloaded.  ST_USAGE when there is none (the
 * message says where to say so), ST_RUNTIME when it does not load or is not the version that it
 * has to be. */
int ov_api_open(const struct ov_api **out, struct err *e) MUST_CHECK;
/* Is there one?  Without loading it. */
bool ov_api_present(void);
/* What OpenVINO says about its last failure, in one line: "`what`: ...".  ST_RUNTIME, -1. */
int ov_api_error(const struct ov_api *ov, ov_status status, struct err *e, const char *what);

#endif
