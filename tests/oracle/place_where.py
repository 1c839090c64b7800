#!/usr/bin/env python3
"""place_where.py IN OUT - one placement: every set on the second device of the stream's devs record
where that can run it, on the first one elsewhere.  IN has devs and at least one place record."""
import array
import sys

import stream

records = stream.read(sys.argv[1])
mask = stream.first(records, "devs")["mask"]      # (sets, devices) of u8; numpy takes longer to load than all of this
runs = mask["data"][1::mask["shape"][1]]
place = stream.first(records, "place")
place["device"] = {"dtype": "u16", "shape": [len(runs)], "data": array.array("H", map(bool, runs)).tobytes()}
stream.write(sys.argv[2], [r for r in records if r[0] != "place"] + [["place", place]])
