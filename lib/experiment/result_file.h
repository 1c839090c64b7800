/* result_file.h - names of the files that experiments write: .../MODEL/METHOD.SEED.SUFFIX. */
#ifndef HSDAG_EXPERIMENT_RESULT_FILE_H
#define HSDAG_EXPERIMENT_RESULT_FILE_H

#include "base/mem.h"

struct result_file {
	const char *model; /* the folder */
	const char *way;   /* what stands before the first dot */
	const char *
		method; /* the way without what results depend on: a budget, groups ("hsdag-120s") */
	const char *seed; /* what stands between the first dot and the next */
};

/* Memory from a. */
struct result_file result_file_name(const char *path, struct arena *a);

/* A way without "-N", "-Ns", "-NsM" or "-NxM" at its end; memory from a. */
const char *result_method(const char *way, struct arena *a);

#endif
