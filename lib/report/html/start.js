// start.js - draws all.
note();
if ($("find")) why();
timeline();
if ($("graph")) graph(); else drawn.graph = "none";
curve();
picks();
// For tests: boxes of the texts that pictures have, and the choice of an operation or placements.
window.hsdag = { boxes, state, placements, choose, colour, on, time, n, name: v => N.name[v] };
note();
root.dataset.ready = "yes";
