/* learned_features.h - how many features each scorer sees, and what they are about: c costs, s structure,
 * - neither.  The order is that of the file that fills them. */
#ifndef HSDAG_PLACE_LEARNED_LEARNED_FEATURES_H
#define HSDAG_PLACE_LEARNED_LEARNED_FEATURES_H

enum {
	DECODE_FEATURES = 48, /* of a device for a task: decode_features.c */
	PATCH_FEATURES = 56,  /* of a move: patch_features.c */
	PARSE_FEATURES = 18   /* of an edge: parse.c */
};
extern const char decode_feature_kinds[], patch_feature_kinds[], parse_feature_kinds[];

#endif
