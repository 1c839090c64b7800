#!/usr/bin/env python3
"""place_where.py IN OUT - one placement: every set on the second device of the stream's devs record
where that can run it, on the first one elsewhere.  IN has devs and at least one place record."""
import sys

import numpy as np
import stream

records = stream.read(sys.argv[1])
mask = stream.array(stream.first(records, "devs")["mask"])
place = stream.first(records, "place")
place["device"] = stream.tensor((mask[:, 1] > 0).astype(np.uint16))
stream.write(sys.argv[2], [r for r in records if r[0] != "place"] + [["place", place]])
