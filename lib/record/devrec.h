/* devrec.h - the `devs` record of docs/reference/stream.md: the devices that a placement
 * chooses from, and what each can run. */
#ifndef HSDAG_RECORD_DEVREC_H
#define HSDAG_RECORD_DEVREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

enum { DEVS_MAX = 1024, PORT_NAMES_MAX = 64, MEDIA_MAX = 4096, POOLS_MAX = 1024 };

/* Names of ports, numbered from 1. */
struct port_names {
	uint32_t n;
	const char **name; /* (n) */
};
/* The number of a name (borrowed), which is added where it is new; 0: there are PORT_NAMES_MAX
 * others.  Memory from a. */
uint32_t port_names_add(struct port_names *x, const char *name, struct arena *a);

/* How copies on a link wait for each other, by name: fcfs, none, shared (sched.h). */
enum dev_contention { DEV_UNTOLD, DEV_FCFS, DEV_NO_WAIT, DEV_SHARED };
/* 0, DEV_UNTOLD: there is no such name; the message has them all. */
enum dev_contention dev_contention_named(const char *name, struct err *e);

/* What links share, besides ports. */
struct dev_medium {
	const char *name;
	double bytes_per_s;
};

struct dev_link {
	uint32_t src, dst; /* device indices */
	double latency_s, bytes_per_s;
	double j_per_byte; /* joules that a byte takes; 0: not told */
	uint32_t port;     /* number of the name of the ports that it shares with others; 0: none */
	enum dev_contention contention;
	uint32_t n_media;
	const uint32_t *medium; /* (n_media) indices; a link that has any is shared */
	bool measured;          /* the ends of 95 % intervals are told, too */
	double latency_lo, latency_hi, bytes_per_s_lo, bytes_per_s_hi;
};

/* What is told of a device's ports of a name; 0: nothing. */
struct dev_port {
	uint32_t dev, port;
	double out_bytes_per_s, in_bytes_per_s;
};

/* Memory that several devices share, each of which may have a limit of its own besides. */
struct dev_pool {
	const char *name;
	uint64_t mem_bytes; /* for all; 0: unknown */
	double bytes_per_s; /* of all; 0: unknown */
	bool copied; /* each device has weights of its own; else those of equal form are there once */
};

struct dev_share {
	uint32_t a, b; /* device indices */
};

struct devs {
	uint32_t k;
	const char **names, **types; /* (k) */
	uint64_t *mem_bytes;         /* (k) that may be used; 0: unknown */
	uint64_t *headroom;          /* (k) what stays free beside these; NULL: nothing */
	double *watts, *idle_watts;  /* (k) while it computes, and while not; both NULL: not told */
	double *price;               /* (k) dollars an hour; NULL: not told */
	uint64_t graph;              /* digest of the graph that mask is about */
	uint32_t n_sets;             /* rows of mask */
	uint8_t *mask;               /* (n_sets, k) 1: the set can run there; NULL: not told */
	uint32_t n_links;
	struct dev_link *link;
	struct port_names port_names;
	uint32_t n_ports;
	struct dev_port *port;
	uint32_t n_media;
	struct dev_medium *medium;
	uint32_t n_pools;
	struct dev_pool *pool;
	uint32_t *
		pool_of; /* (k) which pool a device's memory is; n_pools: none; NULL without pools */
	uint32_t n_shares;       /* written, not read back */
	struct dev_share *share; /* devices that have cores in common */
	uint8_t *turns;          /* (k,k) 1: and take turns; symmetric; NULL: none do */
	uint32_t *together;      /* (n_sets) with mask: sets of equal value share a device; NULL: no
	                              * such pair */
	bool links_told;         /* no link between two devices: they cannot exchange data */
};

/* From a record of kind "devs"; memory from a.  Names are distinct, indices in range. */
int devs_decode(const struct rec *r, struct arena *a, struct devs *out, struct err *e) MUST_CHECK;
int devs_encode(const struct devs *d, struct rec_writer *w, struct err *e) MUST_CHECK;
/* The record as it came, unknown keys included, with the mask (which is told), its graph and the classes of d; scratch from a. */
int devs_encode_masked(const struct rec *r, const struct devs *d, struct arena *a,
		       struct rec_writer *w, struct err *e) MUST_CHECK;

/* From a comma-separated list of names, e.g. "cpu:0,cl:0.0:1": types by the prefix (device_classes.h,
 * else model), nothing else known.  A comma inside a list of cores, as in
 * "cpu:0,1,cl:0.0:2", continues that list.  ST_USAGE when the list is empty or a name repeats. */
/* Length of the first name of such a list: up to a comma that no digit follows. */
size_t devs_name_length(const char *list);
int devs_from_list(const char *list, struct arena *a, struct devs *out, struct err *e) MUST_CHECK;

/* The number of a pool of that name; n: there is none. */
uint32_t dev_pool_find(const struct dev_pool *x, uint32_t n, const char *name);

/* The number of a medium of that name; n: there is none. */
uint32_t dev_medium_find(const struct dev_medium *x, uint32_t n, const char *name);
/* The list `media` of a map, before its links; then what a link says of contention and media, where
 * it does.  Memory from a. */
int devs_decode_media(const struct val *list, struct arena *a, struct devs *d,
		      struct err *e) MUST_CHECK;
int devs_decode_carriage(const struct val *link, struct arena *a, const struct devs *d,
			 struct dev_link *l, struct err *e) MUST_CHECK;
/* May these links, of d, be as they are told?  ST_INPUT: a medium is not shared, or of the links of a port
 * some are shared and some come first, are served first.  A link with media is shared. */
int devs_settle_links(struct devs *d, struct err *e) MUST_CHECK;

/* Does the device of this name compute in f32?  Not with another "/precision=", nor as an OpenVINO plugin other than CPU and GPU,
 * which choose themselves, or with a property that says otherwise. */
bool devs_name_is_f32(const char *name);

int devs_find(const struct devs *d, const char *name); /* index, or -1 */

/* -1: none of these k devices is called so; the message has the one that may be meant, and all. */
int devs_unknown(const char *const *names, uint32_t k, const char *name, enum exit_status code,
		 struct err *e);

#endif
