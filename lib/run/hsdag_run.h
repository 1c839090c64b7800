/* hsdag/run.h - run a placed model: what `place` and `devrun paired` write, from a program of your own.
 *
 *     hsdag_model *m;
 *     char why[HSDAG_ERROR_BYTES];
 *     if (hsdag_open("model.placed/final.mp", NULL, &m, why, sizeof why) != HSDAG_OK) ...
 *     hsdag_set_input(m, 0, data, bytes);
 *     hsdag_run(m);
 *     hsdag_output(m, 0, &tensor);
 *     hsdag_close(m);
 *
 * The stream names the model's .bin, its devices (cores, OpenCL, OpenVINO's plugins), and the device of
 * each part of the model.  What a run computes is what `devrun run` computes.
 *
 * Errors.  Functions return a status.  The text of the last one is hsdag_error's; of hsdag_open, which
 * has no model then, in the caller's bytes.  The library writes nothing to standard output or standard error, and
 * installs no signal handlers.  Memory that the system does not give is an error like others: 32 MiB are set aside, but not
 * touched, by the first hsdag_open, and more where streams and models are large (up to some 24 times what the stream has);
 * from them comes what is needed until the call has ended; the next call sets them aside again, or fails.  Should that ever be too
 * little, the function given to hsdag_on_out_of_memory is called, and abort() if there is none or it returns.
 *
 * Threads.  A model has a thread for each of its devices, which are kept on their cores.  One thread
 * at a time may use a model; several models may be run by several threads at once, but they disturb each other
 * where they have cores in common.  hsdag_open and hsdag_close: one at a time in a process.
 *
 * Names and text are UTF-8 and belong to the model, until hsdag_close. */
#ifndef HSDAG_RUN_HSDAG_RUN_H
#define HSDAG_RUN_HSDAG_RUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSDAG_RUN_API 2 /* functions and members are added with larger numbers; none changes */

typedef enum {
	HSDAG_OK = 0,
	HSDAG_RUNTIME = 1, /* a file, a device, memory; a run that took too long */
	HSDAG_USAGE = 2,   /* an argument: no such input or output, other bytes */
	HSDAG_INPUT = 3    /* the stream or the model: malformed, or not supported */
} hsdag_status;

enum { HSDAG_ERROR_BYTES = 1000 };

typedef struct hsdag_model hsdag_model;

/* Begin with all zeros; `size` is sizeof(hsdag_options), so that later versions know what is there. */
typedef struct {
	size_t size;
	const char *weights; /* the .bin; NULL: the one that the stream names */
	const char *
		devices; /* other devices, as many as the placement has: "cpu:2,cpu:3"; NULL: its own */
	double timeout_s; /* a run that takes longer is ended and fails; 0: none is */
	int keep_state; /* variables of the model last from run to run, until hsdag_reset; 0: each run begins anew */
	int allow_shared; /* devices that share cores compute at once, and do not take turns */
} hsdag_options;

/* An input or an output. */
typedef struct {
	const char *name;
	const char *
		type; /* of an element: "f32", "i64", "u8", "boolean" ...; f16 and bf16 are "f32" where the
	                     * library keeps them so */
	size_t rank;        /* 0: a scalar */
	const int64_t *dim; /* (rank) from the outermost; -1: known after a run */
	void *data;         /* row after row; of an output NULL before the first run */
	size_t bytes;       /* of data; 0 where it is not known */
} hsdag_tensor;

/* The HSDAG_RUN_API that the library has, and hsdag's version as text. */
int hsdag_run_api(void);
const char *hsdag_version(void);

/* Open the placement that the stream at `path` ends with.  options NULL: as all zeros.  On failure *out is NULL, and
 * error[error_bytes] (NULL: nobody wants to know) says why. */
hsdag_status hsdag_open(const char *path, const hsdag_options *options, hsdag_model **out,
			char *error, size_t error_bytes);
/* NULL is allowed. */
void hsdag_close(hsdag_model *m);

/* What went wrong last; "" when nothing did. */
const char *hsdag_error(const hsdag_model *m);

size_t hsdag_n_inputs(const hsdag_model *m);
size_t hsdag_n_outputs(const hsdag_model *m);

/* Input i, in the model's order.  Its data is the memory that runs read: whoever fills it in place need not copy, and it keeps
 * its address and, but where the caller writes, its values. */
hsdag_status hsdag_input(hsdag_model *m, size_t i, hsdag_tensor *out);
/* Copy into it; bytes must be the input's. */
hsdag_status hsdag_set_input(hsdag_model *m, size_t i, const void *data, size_t bytes);

/* From API 2 on.  Run the model with other shapes from now on: "ids=1,100;mask=1,100" (names of inputs), or "1,3,224,224" where
 * there is one input; those that are not named stay as in the stream, and NULL or "" are the stream's own.  Of a stream of several
 * lists of shapes (`place --case`, `--shapes`) the placement is, of those that the stream has and that were compared, the fastest one for
 * these shapes: between two lists by times that are linear in the sum of all dims of inputs and variables.  Between the phases of a language
 * model, and in other streams, it is the answer's.  Inputs are zeros after
 * shapes are opened; pointers and dims of inputs and outputs are those of the shapes that they were asked with.  The last
 * HSDAG_SHAPES_KEPT lists stay open with their weights, beside the stream's own: going back to one takes no time, and its inputs are as
 * they were.  HSDAG_USAGE: no such input, or variables that are to last (keep_state), since they have the shapes of one list;
 * HSDAG_INPUT: shapes that do not fit the model, or a model in parts.  After a failure the shapes are those of before. */
enum { HSDAG_SHAPES_KEPT = 4 };
hsdag_status hsdag_set_shapes(hsdag_model *m, const char *shapes);
/* The method that found the placement of the shapes that are set, as reports name it; "" where the stream does not tell. */
const char *hsdag_placed_by(const hsdag_model *m);

/* One inference.  After a failure the model may be run again. */
hsdag_status hsdag_run(hsdag_model *m);

/* Output i, in the model's order.  Data and dims hold until the next hsdag_run. */
hsdag_status hsdag_output(hsdag_model *m, size_t i, hsdag_tensor *out);

/* Variables have their initial values again. */
hsdag_status hsdag_reset(hsdag_model *m);

/* What is called where what was set aside is too little; it must not return (it may end the process, or longjmp out, after
 * which no function of the library may be called).  For the whole process; NULL: none. */
void hsdag_on_out_of_memory(void (*fn)(size_t bytes));

#ifdef __cplusplus
}
#endif
#endif
