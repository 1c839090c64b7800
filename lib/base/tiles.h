/* tiles.h - are the matrix tiles of this processor (AMX) usable?
 *
 * Some virtual machines show AMX in cpuid and hide how large its tiles are (leaf 0x1d).  oneDNN, in
 * OpenVINO too, then sets up tiles of nothing and dies of an illegal instruction: it has to be told
 * to leave them alone. */
#ifndef HSDAG_BASE_TILES_H
#define HSDAG_BASE_TILES_H

enum tiles { TILES_NONE, TILES_HIDDEN, TILES_USABLE };
enum tiles tiles_of_processor(void);

#endif
