/* spec.h - device specifications: a few figures per device and per link, as text.
 *
 *   # comment
 *   device cpu  flops 1.2e12  efficiency 0.5  bandwidth 7.7e10  overhead 5e-6  memory 3.2e10
 *   device gpu  flops 1.6e13  bandwidth 5.7e11  watts 150  idle 20
 *   link cpu gpu  latency 10e-6  bandwidth 2.5e10
 *   link * *      latency 10e-6  bandwidth 1e10  j_per_byte 1e-10
 *   link gpu gpu  latency 5e-6  bandwidth 4e11  port nvlink
 *   port gpu nvlink  out 4e11  in 4e11
 *   medium pcie  bandwidth 6e10
 *   link gpu cpu  latency 1e-5  bandwidth 3e10  media pcie
 *   link cpu nic  latency 1e-5  bandwidth 3e10  contention shared
 *   pool ram  memory 1.6e10  bandwidth 1.2e11
 *   device npu  flops 5e12  bandwidth 6e10  pool ram
 *
 * Many alike, and what joins them:
 *
 *   device h100*16  flops 9.9e14  efficiency 0.6  bandwidth 3.35e12  memory 8e10
 *   group node*2 h100
 *   within node   latency 3e-6  bandwidth 4.5e11  port nvlink
 *   between node  latency 1e-5  bandwidth 5e10  port net
 *
 * device NAME*N is N devices NAME:0 .. NAME:N-1, whose links and ports may say NAME of all of them.  A group has devices, by
 * their names, NAME or an earlier group; NAME*N divides them, in their order, into N of the same size.  within NAME is a link
 * from each device of one of these to each other of it, between NAME from those of one to those of another.  They count as exact
 * names.
 *
 * SI units: FLOP/s, bytes/s, seconds, bytes, watts, joules.  type (default model), efficiency
 * (share of the peak that is reached, default 1), overhead (seconds per operation, default 0),
 * memory (default 0: not limited), workspace (bytes of scratch for each byte of tensors at their peak, default 0), keeps (types in which it keeps weights as they are stored, as in u8,i8,u4,i4; all; none; default:
 * those of at most 8 bits), which it widens else, fuses (which operations it runs as one kernel, fusing.h, as in
 * epilogues,caches; all; none, the default), peaks (FLOP/s of products and convolutions by the type of their first input, as in
 * f32=6.7e13,bf16=9.9e14, in the place of flops; efficiency counts), watts while computing and while idle, price (dollars an hour), and a link's joules per
 * byte (default 0) may be left out.  A link is directed; "*" matches any
 * device; exact names win over "*", a later line over an earlier one; a pair
 * without a line cannot exchange data.
 *
 * Links that leave a device by ports of one name share its out port of this name, links that reach
 * one its in port (struct sched_ports).  A port is as fast as the fastest of its links, or as a line
 * says ("*" and later lines as for links; out or in may be left out); its links are no faster.
 *
 * A pool is memory that all its devices share, and that they read and write at its bandwidth together; memory or bandwidth may be
 * left out, and a device may have a limit of its own besides.  Weights that several of them hold in one form are there once, or
 * with `weights copied` once for each.  A pool stands above its devices.
 *
 * contention says how copies on one link wait for each other: fcfs (the default), none, or shared
 * (struct sched_sharing).  media has names of media, separated by commas, of lines above, whose
 * rates the copies of all their links share; such a link is shared. */
#ifndef HSDAG_PLACE_PROBLEM_SPEC_H
#define HSDAG_PLACE_PROBLEM_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/devrec.h"
#include "op/stored.h"
#include "place/problem/fusing.h"
#include "sched/sched.h"

struct device_spec {
	const char *name, *type;
	const char *class;               /* what many alike are called; NULL: it is alone */
	double flops_per_s, bytes_per_s; /* what is reached: efficiency is in it */
	double overhead_s;
	uint64_t mem_bytes;                  /* 0: not limited */
	double workspace;                    /* bytes for each byte of tensors */
	const char *keeps_told;              /* as it was told; NULL: it was not */
	op_keeps keeps;                      /* types that weights are kept in */
	const char *fuses_told, *peaks_told; /* as keeps_told */
	double efficiency;                   /* what peaks are multiplied by */
	unsigned fuses;                      /* KERNELS_... */
	const double *peak; /* (EL_COUNT) FLOP/s of products by type; 0: flops_per_s; NULL: all */
	double watts, idle_watts;
	double usd_per_hour;   /* 0: not told */
	const char *pool_name; /* as it was told; NULL: it was not */
	uint32_t pool;         /* then: its number */
};

/* Devices, divided into n_parts, of which each has as many. */
struct group_spec {
	const char *name;
	uint32_t n, n_parts;
	uint32_t *dev;  /* (n) indices */
	uint32_t *part; /* (most devices) of each device; n_parts: it is not in the group */
};

enum spec_reach { LINK_NAMED, LINK_WITHIN, LINK_BETWEEN };

struct link_spec {
	enum spec_reach reach; /* else of devices of one part of group, or of different ones */
	uint32_t group;
	const char *src, *dst; /* "*": any */
	const char *where;     /* origin and line, for messages */
	double latency_s, bytes_per_s, j_per_byte;
	uint32_t port; /* number of its ports' name, from 1; 0: it has none */
	enum dev_contention contention;
	uint32_t n_media, *medium; /* (n_media) indices */
};

struct port_spec {
	const char *dev, *where; /* as in a link */
	uint32_t port;
	double out_bytes_per_s, in_bytes_per_s; /* 0: not told */
};

struct spec {
	uint32_t n_devs, n_links, n_ports, n_groups, n_media, n_pools;
	struct device_spec *dev;
	struct group_spec *group;
	struct link_spec *link;
	struct port_spec *port;
	struct dev_medium *medium;
	struct dev_pool *pool;
	struct port_names port_names;
};

/* `list`: names of presets or files, separated by commas; their devices and
 * links are joined.  Memory from a.  ST_USAGE when there is no such preset or
 * file, ST_INPUT when a file is malformed or a link is of a device that no
 * line describes (origin and line are named). */
int spec_load(const char *list, struct arena *a, struct spec *out, struct err *e) MUST_CHECK;

/* Append what text[n] says to out (zeroed at first). */
int spec_parse(const char *text, size_t n, const char *origin, struct arena *a, struct spec *out,
	       struct err *e) MUST_CHECK;

/* What keeps_told, fuses_told and peaks_told of d say (NULL: the default) becomes its keeps, fuses and peak; memory from a.  ST_INPUT names a
 * type or kind that there is not. */
int spec_device_told(struct device_spec *d, struct arena *a, struct err *e) MUST_CHECK;

/* The specification behind a device name: that name exactly, else its part
 * before the first ':' ("cpu:0" is one more "cpu"); NULL when there is none. */
const struct device_spec *spec_find(const struct spec *s, const char *name);

/* Seconds of an operation on d: the longer of computing and moving its bytes, and the overhead (the roofline of Williams, Waterman,
 * Patterson, CACM 52(4), 2009). */
double spec_roofline_s(const struct device_spec *d, double flops, double bytes);
/* FLOP/s of a product of elements of that type on d. */
double spec_product_flops(const struct device_spec *d, enum elem type);

/* Links between devices of these names (k), as sched.h wants them; memory from
 * a.  Names are matched as by spec_find.  *j_per_byte (k,k): joules per byte of each. */
void spec_links(const struct spec *s, const char *const *names, uint32_t k, struct arena *a,
		struct sched_links *out, double **j_per_byte);

/* How links carry copies, for sched.h: as the default, with these media; each link as it is told.
 * Memory from a. */
struct sched_sharing *link_sharing_new(const struct dev_medium *medium, uint32_t n_media,
				       uint32_t k, struct arena *a);
void link_sharing_tell(struct sched_sharing *x, size_t pair, enum dev_contention contention,
		       const uint32_t *medium, uint32_t n_media);

/* Built-in specifications: name, one line about it, text; NULL name ends. */
struct preset {
	const char *name, *about, *text;
};
extern const struct preset presets[];

#endif
