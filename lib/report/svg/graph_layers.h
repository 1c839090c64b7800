/* graph_layers.h - where the boxes of a graph stand: layers by longest paths, boxes of a layer in the middle of their
 * neighbours, and, as a deep graph is a thin strip, lines, as text has them. */
#ifndef HSDAG_REPORT_SVG_GRAPH_LAYERS_H
#define HSDAG_REPORT_SVG_GRAPH_LAYERS_H

#include <stdint.h>

#include "base/mem.h"

struct layer_edge {
	uint32_t from, to;
};

/* Boxes and edges between them, distinct and without circles; sizes in pixels. */
struct layer_graph {
	uint32_t n, n_edges;
	const struct layer_edge *edge;
	double box_width, box_height, column, line; /* boxes, and from one to the next */
	double room_width, room_height;             /* of which it should fill as much as it can */
};

struct layer_places {
	double *x, *y; /* (n) upper left corners */
	double width, height;
};
/* Memory from a. */
struct layer_places graph_layers(const struct layer_graph *g, struct arena *a);

#endif
