/* device.h - what a device is to the executor: a class of functions.
 *
 * A device runs steps.  A step is one node, or several nodes that the device runs
 * together: a few that its kernels fuse (device_class.fuses) or a whole segment
 * that it compiles (device_class.segments).  Its constants are part of it.  A step
 * is prepared once per device and list of nodes, whatever the number of
 * placements (weights are uploaded and packed there and then), and run often.
 *
 * Threads: open, supports, prepare, alloc, view and the releases are called
 * by one thread at a time while no step of this device runs.  run, upload,
 * download and flush are called by the device's worker alone, which is one thread for as
 * long as a run lasts; the same thread may be the worker of several devices (take_turns).
 * Completion functions may be called from any thread, also before the call
 * that started the transfer has returned; they are short and call nothing of
 * the device.
 *
 * Order: everything that a worker starts on one device takes effect in the
 * order in which it was started (an in-order queue).  A step may therefore
 * read what an earlier step of the same device writes without any waiting.
 * run may return before the step has ended (asynchronous devices); then the
 * completion of a later download or of finish says that it has.
 *
 * No function prints or exits; whatever fails is a struct err (ST_RUNTIME),
 * which becomes a `run` record with its reason. */
#ifndef HSDAG_DEVICE_DEVICE_H
#define HSDAG_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "graph/graph.h"
#include "kernel/step_env.h"
#include "op/op.h"
#include "record/headroom.h"

/* ---- steps ---- */

enum step_from {
	FROM_NONE,  /* an optional input that is not connected */
	FROM_CONST, /* a constant of the step: tensor has its data */
	FROM_INPUT, /* the step's input number `index` */
	FROM_NODE   /* output `port` of the step's own node number `index`, an earlier one */
};

struct step_arg {
	enum step_from from;
	uint32_t index, port;
	/* Shape and type as this node sees them; data only for FROM_CONST.  With FROM_NODE
	 * (and FROM_INPUT) a view may lie between: the bytes are those of the output, in
	 * another shape.  The same constant is the same pointer in every step, and both
	 * live until the devices are closed: uploads and packed weights are cached under
	 * this pointer. */
	const struct tensor *tensor;
};

struct step_node {
	const struct graph *graph;
	uint32_t v;          /* its row: type, attributes, name */
	const struct op *op; /* decoded attributes */
	uint32_t n_in, n_out;
	const struct step_arg *in; /* (n_in) one per input port */
	const struct tensor *out;  /* (n_out) descriptions */
	const bool *used;          /* (n_out) something reads it, inside the step or outside;
	                                * else it may stay unwritten */
	const struct step_env *env;
};

struct step_out {
	uint32_t node, port;
};

/* One node: every non-constant port is an input of its own, every output leaves.  Several
 * nodes: each tensor that comes from outside is one input, however many ports read it
 * (in[] has its shape as the first of them sees it), and only the outputs that
 * something outside reads leave; the others need not exist in memory. */
struct step_spec {
	uint32_t n_nodes;
	const struct step_node *node; /* (n_nodes) topological order */
	uint32_t n_in, n_out;
	const struct tensor *const *in; /* (n_in) descriptions of the inputs */
	const struct step_out *out;     /* (n_out) which node outputs leave the step */
};

/* device_step.c: are the node's inputs from `first` on, its parameters, constants whose data is at hand, or not connected? */
bool step_inputs_known(const struct step_node *n, int first);
/* Does nothing read its outputs but the first? */
bool step_gives_one(const struct step_node *n);

/* May nodes run as one step? */
enum fuse_answer {
	FUSE_NO = 0,
	FUSE_YES = 1,
	FUSE_WITH_MORE = 2, /* not these alone, but perhaps with nodes that read what they make */
	FUSE_ALSO_WITH_MORE = FUSE_YES | FUSE_WITH_MORE
};

struct step;   /* prepared; the device's own */
struct devmem; /* a range of device memory; the device's own */
struct device;

/* ---- the class ---- */

typedef void (*device_done_fn)(void *arg, bool ok);

struct device_class {
	/* ---- its names; type and prefix are in record/device_classes.h ---- */

	const char *forms; /* of names, for messages: "cpu, cpu:LIST" */
	const char *help;  /* what the forms mean, for --help */
	/* The class's device of all cores of this machine; others of the class are parts of it, named
	 * "ALL_CORES:LIST".  NULL for all classes but one. */
	const char *all_cores;
	/* Its devices with memory of their own are taken when no list is given. */
	bool is_default;
	/* What may stand behind "/precision=" of a name, where devrun --precision puts it: "f32|f16".
	 * NULL: nothing, or a matter of the class alone. */
	const char *precisions;
	/* Of them, does this machine compute faster in this one, bf16 or int8, than in f32?  NULL: where a device of such a
	 * name can be opened. */
	bool (*is_fast)(const char *precision);
	/* 0 or ST_USAGE: the grammar of a name that begins as the table says. */
	int (*check_name)(const char *name, struct err *e);
	/* Calls fn for each of its devices on this machine, for --list: name, memory, description,
	 * cores.  What fails is described by its error. */
	void (*list_machine)(void (*fn)(void *arg, const struct device *d), void *arg);
	/* Before the first device of any class is opened: put what the driver needs to know into
	 * the environment, for devices of these names.  NULL: nothing. */
	void (*set_environment)(const char *const *names, uint32_t n);

	/* ---- what its steps are ---- */

	uint32_t max_nodes; /* nodes that a step may have; > 1 with fuses or segments */
	/* Takes any convex set of nodes, each of which it supports, as one step: the planner
	 * gives it maximal convex segments (of at most max_nodes), and fuses is not asked. */
	bool segments;
	/* What a segment takes beyond its nodes, roughly, for each tensor that enters or leaves it, and for each byte of
	 * these, which is brought into the device's own layout or out of it. */
	double boundary_s, boundary_byte_s;
	/* Takes tensors whose shapes are known only while running.  Their descriptions have
	 * DIM_DYNAMIC; their memory is a struct tensor with the shape and the address of the
	 * data, which belong to the step that made them and stay until it runs again. */
	bool dynamic;
	/* prepare may be called by several threads at once: it takes long, and depends on nothing
	 * that other steps change. */
	bool parallel;

	/* Fill d->state, d->mem_bytes, d->align, d->description from d->name. */
	int (*open)(struct device *d, struct err *e);
	void (*close)(struct device *d);
	/* After open: others share its cores, and take turns with it; may be NULL. */
	void (*take_turns)(struct device *d);
	/* One thread may serve the devices of this class that begin at one core (cpus[0]), all those of a core that
	 * take turns; the thread of core cpus[i], i > 0, may help in the steps of a device that takes turns: after
	 * lend(d, i, wake, arg) it does so by assist(d, i), and wake(arg) is called when a step could use help;
	 * with wake NULL the device has a thread of its own there again.  lend is called while nothing
	 * runs.  All NULL: every device has threads of its own. */
	void (*lend)(struct device *d, int i, void (*wake)(void *arg), void *arg);
	bool (*needs_help)(const struct device *d);
	void (*assist)(struct device *d, int i);
	/* Called once by the worker's thread before its first step (affinity); may be NULL. */
	void (*enter)(struct device *d);

	/* Can it run this step?  Otherwise false, and why[cap] says why not ("no
	 * kernel for operator 'NonZero'", "f64 is not supported").  Only small
	 * constants (axes, shapes) have their data here; nothing is allocated. */
	bool (*supports)(struct device *d, const struct step_spec *s, char *why, size_t cap);
	/* May these nodes (2 <= n_nodes <= max_nodes, each supported) run as one step?  Asked
	 * while a placement is planned, often: quick, looks at shapes, leaves nothing allocated;
	 * only small constants have data.  A group grows from one node by one consumer
	 * after another, each perhaps with steps that it alone reads; a yes is a promise that prepare
	 * takes it.  NULL: one node a step. */
	enum fuse_answer (*fuses)(struct device *d, const struct step_spec *s);
	/* s is gone when prepare returns, but graph and constants stay. */
	int (*prepare)(struct device *d, const struct step_spec *s, struct step **out,
		       struct err *e);
	void (*step_free)(struct device *d, struct step *s);
	/* Seconds that each node takes inside a step of these nodes, into node_s (n_nodes); 0 for one
	 * that others have taken in.  Found by a few runs of its own on inputs of zeros.  NULL: only
	 * whole steps can be timed. */
	int (*node_times)(struct device *d, const struct step_spec *s, double *node_s,
			  struct err *e);
	/* May output `out` of the step be the same memory as its input `in` (same size, and
	 * nothing else reads it afterwards)?  NULL: never. */
	bool (*in_place)(struct device *d, const struct step *s, uint32_t in, uint32_t out);
	/* What a prepared step keeps in memory, in pieces: fn(arg, key, bytes) for each.  Pieces of
	 * several steps with one key are one piece (packed weights, an uploaded constant,
	 * a constant that run reads where it is).  NULL: its constants as the spec had them. */
	void (*step_memory)(struct device *d, const struct step *s,
			    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg);
	/* How x, prepared of these nodes, computes, and why so, for people, into dst[cap].  NULL: there is nothing to say. */
	void (*explain)(struct device *d, const struct step_spec *s, const struct step *x,
			char *dst, size_t cap);
	/* Bytes held besides alloc and steps (scratch of kernels); grows while steps run.
	 * NULL: none. */
	uint64_t (*scratch)(struct device *d);

	/* May input i of op, when it is constant, be t (data may be missing) although the graph
	 * says f32: weights that the file holds as f16 behind a Convert, or in few bits
	 * (quant.h)?  NULL: never. */
	bool (*takes)(struct device *d, const struct op *op, uint32_t i, const struct tensor *t);

	/* Memory.  alloc does not clear.  view is a part of memory from alloc; offset is
	 * a multiple of d->align.  release takes all kinds; views before their base. */
	int (*alloc)(struct device *d, size_t bytes, struct devmem **out, struct err *e);
	int (*view)(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		    struct devmem **out, struct err *e);
	void (*release)(struct device *d, struct devmem *m);
	/* Only steps of d read and write m, whole tensors: they may lie there in a layout of its own, in
	 * as many bytes at most.  Called before the first run; NULL: layouts are always plain. */
	void (*keep)(struct device *d, struct devmem *m);
	/* May steps of `other`, a device of this class, read what d keeps, in its layout?  Memory is one for both
	 * then, and `only steps of d read` includes them.  NULL: no. */
	bool (*shares)(const struct device *d, const struct device *other);
	/* Both NULL unless host threads may read and write this device's memory directly at
	 * any time; then upload and download are never called (and may be NULL).  host:
	 * the address of memory; wrap: memory of the caller's as device memory. */
	void *(*host)(struct device *d, struct devmem *m);
	int (*wrap)(struct device *d, void *host, size_t bytes, struct devmem **out, struct err *e);

	/* Start the step: in[n_in], out[n_out] as in its spec. */
	int (*run)(struct device *d, struct step *s, struct devmem *const *in,
		   struct devmem *const *out, struct err *e);
	/* Start a transfer from or to host memory, which stays put until done(arg, ok)
	 * has been called, exactly once if the call returned 0, else never. */
	int (*upload)(struct device *d, struct devmem *dst, const void *src, size_t bytes,
		      device_done_fn done, void *arg, struct err *e);
	int (*download)(struct device *d, struct devmem *src, void *dst, size_t bytes,
			device_done_fn done, void *arg, struct err *e);
	/* The worker has nothing more to start for now: hand everything over.  flush and
	 * finish are NULL for a device whose run returns when the step has ended. */
	int (*flush)(struct device *d, struct err *e);
	/* Wait until everything that was started has ended; reports late failures. */
	int (*finish)(struct device *d, struct err *e);
	/* Seconds of compute since the last call, for asynchronous devices that can
	 * tell; may be NULL: then the executor adds up the durations of run. */
	double (*busy_s)(struct device *d);
};

struct device {
	const struct device_class *class;
	char name[64];                 /* as the user wrote it: "cpu:0-1", "cl:0.0" */
	char description[160];         /* for people: model name, units */
	uint64_t mem_bytes;            /* 0: unknown */
	uint64_t mem_limit;            /* what the user allows; 0: mem_bytes */
	struct headroom_item headroom; /* what stays free of that */
	size_t align;                  /* power of two, >= 64: of views */
	int n_cpus;                    /* cores of this machine that it computes on; 0: none */
	int *cpus;    /* (n_cpus) their numbers, ascending; mem_free by device_close */
	bool is_open; /* open has succeeded */
	/* The executor's, from before `enter` on: true when the run has failed, and a step that
	 * takes long may end with an error.  NULL: none. */
	const atomic_bool *stop;
	void *state;
};

/* ---- the registry of classes, device_class.c ---- */

/* The class that a name belongs to, by its prefix; NULL: none. */
const struct device_class *device_class_of_name(const char *name);
/* "cpu", "opencl", ...; "-" for a class that is not in the table. */
const char *device_class_type(const struct device_class *c);
/* Class i of the table; NULL behind the last. */
const struct device_class *device_class_at(uint32_t i);
/* The forms of names of all classes: "cpu, cpu:LIST, cl:P.D or ov:NAME". */
char *device_class_forms(char *dst, size_t cap);
/* The help of all classes, with commas between. */
char *device_class_help(char *dst, size_t cap);

/* ---- lists of devices, device_list.c ---- */

struct device_list {
	uint32_t n;
	struct device *dev;
	bool at_once; /* devices that share cores may compute at once */
};

/* Parse "cpu:0,cl:0.0,..." without opening anything: names are checked (ST_USAGE),
 * duplicates refused.  On error, too, the list is to be closed. */
int device_list_parse(const char *text, struct device_list *out, struct err *e) MUST_CHECK;
/* What --probe takes when no list is given: every accelerator and all cores; without
 * one, the cores in two halves and all of them, which take turns.  For a quantised model also all cores in int8.
 * Text in dst[cap]. */
char *device_list_default(char *dst, size_t cap, bool quantised);
/* Does it compute in f32, as its name has it? */
bool device_is_f32(const struct device *d);
/* All cores as one device, and every device that is not a part of them. */
char *device_list_whole(char *dst, size_t cap);
/* The list, and behind it in bf16 those of its devices that are faster in that, and in int8 for a quantised model, where they can be
 * opened and are not listed yet; mem_free. */
char *device_list_reduced(const char *list, bool quantised);
/* The list with "/precision=" behind the devices whose class has this one among its precisions and
 * whose name has no option yet; mem_free. */
char *device_list_precision(const char *list, const char *precision);
int device_list_names(const char *const *names, uint32_t n, struct device_list *out,
		      struct err *e) MUST_CHECK;
/* Memory limits "cpu:0=512M,cl:0.0=2G" (K, M, G: powers of 1024) of devices of l, by name;
 * devices that are not named keep theirs.  And what stays free of it (record/headroom.h).  NULL: as it is.  ST_USAGE. */
int device_list_limit(struct device_list *l, const char *memory, const char *headroom,
		      struct err *e) MUST_CHECK;
/* Take the limits of all devices away, until device_list_restore puts them back and frees what the
 * first returned. */
struct device_limit *device_list_lift(struct device_list *l);
void device_list_restore(struct device_list *l, struct device_limit *limits);
int device_list_find(const struct device_list *l, const char *name); /* index, or -1 */
/* The first device of l that is made like device d, as far as is known: of its class, with as many
 * cores, which the system says are as fast.  Devices without cores of this machine are like no
 * other. */
uint32_t device_alike(const struct device_list *l, uint32_t d);
/* What a plan may take of d's memory; 0: unknown. */
uint64_t device_memory(const struct device *d);
/* What has to stay free of it besides. */
uint64_t device_headroom(const struct device *d);
/* Open all, after each class has set the environment that its driver reads.  Devices that share
 * cores take turns, unless at_once; those that cannot (device_list_turns) are refused (ST_USAGE). */
int device_list_open(struct device_list *l, bool at_once, struct err *e) MUST_CHECK;
void device_list_close(struct device_list *l);
bool device_shares_cores(const struct device *a, const struct device *b);
/* Do i and j share cores and take turns?  Only devices whose runs return when the step has ended
 * can. */
bool device_list_turns(const struct device_list *l, uint32_t i, uint32_t j);
/* (n,n) of all pairs, from a; NULL: none takes turns. */
uint8_t *device_list_all_turns(const struct device_list *l, struct arena *a);

/* All devices of this machine, for --list: name, type, memory, description.
 * Calls fn for each; a platform that fails is described by its error. */
void device_list_machine(void (*fn)(void *arg, const struct device *d), void *arg);

#endif
