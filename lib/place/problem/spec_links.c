/* spec_links.c - what a specification says of devices by their names: which it is, and links between them. */
#include <math.h>
#include <string.h>

#include "place/problem/spec.h"

const struct device_spec *spec_find(const struct spec *s, const char *name)
{
	size_t base = strcspn(name, ":");

	for (uint32_t i = 0; i < s->n_devs; i++)
		if (strcmp(s->dev[i].name, name) == 0)
			return &s->dev[i];
	for (uint32_t i = 0; i < s->n_devs; i++)
		if (strlen(s->dev[i].name) == base && strncmp(s->dev[i].name, name, base) == 0)
			return &s->dev[i];
	return NULL;
}

double spec_roofline_s(const struct device_spec *d, double flops, double bytes)
{
	return d->overhead_s + fmax(flops / d->flops_per_s, bytes / d->bytes_per_s);
}

/* A device that is asked for: its name and its specification, NULL: it has none. */
struct asked {
	const char *name;
	const struct device_spec *d;
};

/* 2: pattern is this name, or that of its class, 1: it is "*", 0: it does not match. */
static int match_name(const char *pattern, const struct asked *x)
{
	if (strcmp(pattern, "*") == 0)
		return 1;
	if (strcmp(pattern, x->name) == 0)
		return 2;
	return x->d && (strcmp(pattern, x->d->name) == 0 ||
			(x->d->class && strcmp(pattern, x->d->class) == 0))
		       ? 2
		       : 0;
}

/* 4: both are named, or by their group, 2 or 3: by "*"; 0: the link is not theirs. */
static int match_link(const struct spec *s, const struct link_spec *l, const struct asked *src,
		      const struct asked *dst)
{
	if (l->reach == LINK_NAMED) {
		int from = match_name(l->src, src), to = match_name(l->dst, dst);

		return from && to ? from + to : 0;
	}
	const struct group_spec *g = &s->group[l->group];
	if (!src->d || !dst->d)
		return 0;
	uint32_t x = g->part[src->d - s->dev], y = g->part[dst->d - s->dev];
	if (x == g->n_parts || y == g->n_parts)
		return 0;
	return (x == y) == (l->reach == LINK_WITHIN) ? 4 : 0;
}

static const struct link_spec *find_link(const struct spec *s, const struct asked *src,
					 const struct asked *dst)
{
	const struct link_spec *best = NULL;
	int best_score = 0;

	for (uint32_t i = 0; i < s->n_links; i++) {
		int score = match_link(s, &s->link[i], src, dst);

		if (score == 0 || score < best_score)
			continue;
		best = &s->link[i];
		best_score = score;
	}
	return best;
}

/* What lines tell of the ports of device number i. */
static void tell_ports(const struct spec *s, const struct asked *dev, uint32_t i,
		       struct sched_ports *p)
{
	for (int score = 1; score <= 2; score++)
		for (uint32_t j = 0; j < s->n_ports; j++) {
			const struct port_spec *x = &s->port[j];
			size_t at = (size_t)i * p->n + x->port - 1;

			if (match_name(x->dev, dev) != score)
				continue;
			if (x->out_bytes_per_s > 0)
				p->out_bytes_per_s[at] = x->out_bytes_per_s;
			if (x->in_bytes_per_s > 0)
				p->in_bytes_per_s[at] = x->in_bytes_per_s;
		}
}

struct sched_sharing *link_sharing_new(const struct dev_medium *medium, uint32_t n_media,
				       uint32_t k, struct arena *a)
{
	double *bytes_per_s = ARENA_NEWN(a, double, n_media);

	for (uint32_t i = 0; i < n_media; i++)
		bytes_per_s[i] = medium[i].bytes_per_s;
	return sched_sharing_new(k, n_media, bytes_per_s, a);
}

void link_sharing_tell(struct sched_sharing *x, size_t pair, enum dev_contention contention,
		       const uint32_t *medium, uint32_t n_media)
{
	x->of[pair] = (struct sched_carriage){contention == DEV_SHARED    ? SCHED_SHARED
					      : contention == DEV_NO_WAIT ? SCHED_NO_WAIT
									  : SCHED_FCFS,
					      n_media, medium};
}

/* Of each link how it carries copies; NULL: nothing is told. */
static struct sched_sharing *share_links(const struct spec *s, uint32_t k, struct arena *a)
{
	bool told = false;

	for (uint32_t i = 0; i < s->n_links; i++)
		told |= s->link[i].contention != DEV_UNTOLD || s->link[i].n_media;
	return told ? link_sharing_new(s->medium, s->n_media, k, a) : NULL;
}

void spec_links(const struct spec *s, const char *const *names, uint32_t k, struct arena *a,
		struct sched_links *out, double **j_per_byte)
{
	struct sched_ports *ports = s->port_names.n ? sched_ports_new(k, s->port_names.n, a) : NULL;

	*out = (struct sched_links){.k = k,
				    .latency_s = ARENA_NEWN(a, double, (size_t)k *k),
				    .bytes_per_s = ARENA_NEWN(a, double, (size_t)k *k),
				    .ports = ports};
	struct sched_sharing *sharing = share_links(s, k, a);
	out->sharing = sharing;
	*j_per_byte = ARENA_NEWN(a, double, (size_t)k *k);
	struct asked *dev = ARENA_NEWN(a, struct asked, k);
	for (uint32_t i = 0; i < k; i++)
		dev[i] = (struct asked){names[i], spec_find(s, names[i])};
	for (uint32_t i = 0; i < k; i++) {
		for (uint32_t j = 0; j < k; j++) {
			const struct link_spec *l = find_link(s, &dev[i], &dev[j]);
			size_t at = (size_t)i * k + j;

			out->latency_s[at] = i == j ? 0 : l ? l->latency_s : -1;
			out->bytes_per_s[at] = i == j || !l ? INFINITY : l->bytes_per_s;
			(*j_per_byte)[at] = i == j || !l ? 0 : l->j_per_byte;
			if (i != j && l && l->port)
				ports->of[at] = l->port - 1;
			if (i != j && l && sharing)
				link_sharing_tell(sharing, at, l->contention, l->medium,
						  l->n_media);
		}
		if (ports)
			tell_ports(s, &dev[i], i, ports);
	}
	sched_links_limit(out);
}
