// graphview.js - the graph, folded into groups of operations that run one after another on a device.

// Groups: segments, and within large ones chunks of neighbours in topological order.  Whatever of them
// is folded, no circle arises: segments have none between them, nor have chunks of an order.
const CHUNK = 32, W = 118, H = 30, DX = 150, DY = 40;
function groups(p) {
	const all = [], segment = new Map();
	for (let v = 0; v < n; v++)
		if (p.segment[v] >= 0) {
			if (!segment.has(p.segment[v])) {
				const g = { level: 0, nodes: [], open: false, chunks: [] };
				segment.set(p.segment[v], g);
				all.push(g);
			}
			segment.get(p.segment[v]).nodes.push(v);
		}
	all.forEach((g, i) => {
		g.index = i;
		g.device = p.device[g.nodes[0]];
		const m = g.nodes.length;
		if (m > 2 * CHUNK) {
			const size = Math.max(CHUNK, Math.ceil(m / Math.ceil(Math.sqrt(m))));
			for (let i = 0; i < m; i += size)
				g.chunks.push({ level: 1, nodes: g.nodes.slice(i, i + size), open: false, chunks: [], device: g.device, parent: g });
		}
	});
	const few = n <= 400 || (all.length < 8 && n <= 3000);
	for (const g of all) { g.open = few || all.length < 8; if (few) for (const c of g.chunks) c.open = true; }
	return all;
}
function summary(nodes) {
	const count = new Map();
	for (const v of nodes) count.set(N.type[v], (count.get(N.type[v]) || 0) + 1);
	return [...count].filter(x => data.types[x[0]]).sort((a, b) => b[1] - a[1]).slice(0, 6).map(([t, c]) => c + " " + data.types[t]).join(", ");
}

// Layers by longest paths, sweeps to the middle of neighbours, and lines as many as make it largest.
function layers(items, edges, room) {
	const m = items.length, next = items.map(() => []), before = items.map(() => []), waits = new Int32Array(m), ready = [];
	for (const [a, b] of edges) { next[a].push(b); before[b].push(a); waits[b]++; }
	for (let i = 0; i < m; i++) { items[i].layer = 0; if (!waits[i]) ready.push(i); }
	for (let j = 0; j < ready.length; j++)
		for (const b of next[ready[j]]) {
			items[b].layer = Math.max(items[b].layer, items[ready[j]].layer + 1);
			if (--waits[b] === 0) ready.push(b);
		}
	// Inputs stand beside what first reads them.
	for (let i = 0; i < m; i++)
		if (!before[i].length && next[i].length)
			items[i].layer = Math.max(0, Math.min(...next[i].slice(0, 1000).map(b => items[b].layer)) - 1);
	const all = [];
	for (let i = 0; i < m; i++) (all[items[i].layer] = all[items[i].layer] || []).push(i);
	for (const l of all) if (l) l.forEach((i, j) => { items[i].y = (j - (l.length - 1) / 2) * DY; });
	const middle = (i, there) => {
		let sum = 0;
		for (const j of there[i]) sum += items[j].y;
		return there[i].length ? sum / there[i].length : items[i].y;
	};
	const sweep = (l, there) => {
		const want = new Map(l.map(i => [i, middle(i, there)]));
		l.sort((a, b) => want.get(a) - want.get(b) || a - b);
		let y = -Infinity, off = 0;
		for (const i of l) { y = Math.max(y + DY, want.get(i)); items[i].y = y; off += y - want.get(i); }
		for (const i of l) items[i].y -= off / l.length;
	};
	const sweeps = m > 8000 ? 2 : 6;
	for (let k = 0; k < sweeps; k++)
		if (k % 2) for (let j = all.length - 1; j >= 0; j--) { if (all[j]) sweep(all[j], next); }
		else for (const l of all) if (l) sweep(l, before);
	wrap(items, all, room);
}
// A deep graph is a thin strip: it is broken into lines, as text is.
function wrap(items, all, room) {
	const low = [], high = [], depth = all.length;
	all.forEach((l, j) => {
		low[j] = Infinity; high[j] = -Infinity;
		for (const i of l || []) { low[j] = Math.min(low[j], items[i].y); high[j] = Math.max(high[j], items[i].y); }
	});
	// Tops of the lines when each has `per` layers, and all lines' height.
	const lines = per => {
		const tops = [];
		let y = 0;
		for (let j = 0; j < depth; j += per) {
			let lo = Infinity, hi = -Infinity;
			for (let k = j; k < Math.min(j + per, depth); k++) { lo = Math.min(lo, low[k]); hi = Math.max(hi, high[k]); }
			tops.push(y - lo);
			y += hi - lo + H + 1.2 * DY;
		}
		return [tops, y];
	};
	let best = 0, tops = [0], per = depth;
	for (let rows = 1; rows <= Math.min(depth, 40); rows++) {
		const p = Math.ceil(depth / rows), [t, y] = lines(p), scale = Math.min(room[0] / (p * DX), room[1] / y);
		if (scale > best * 1.05) { best = scale; tops = t; per = p; }
	}
	for (const it of items) {
		it.x = it.layer % per * DX;
		it.y += tops[Math.floor(it.layer / per)];
	}
}

function graph() {
	if (!n) { drawn.graph = "none"; return note(); }
	let p, all, chunks, chunkOf, groupOf, items = [], edges = [], room = [1130, 560];
	const indexOf = new Int32Array(n);
	function take(placement) {
		p = placement;
		all = p.groups = p.groups || groups(p);
		chunks = [];
		chunkOf = new Int32Array(n).fill(-1);
		groupOf = new Int32Array(n).fill(-1);
		for (const g of all) {
			for (const v of g.nodes) groupOf[v] = g.index;
			for (const c of g.chunks) {
				for (const v of c.nodes) chunkOf[v] = chunks.length;
				chunks.push(c);
			}
		}
	}
	// What is visible, its edges, and where it stands.
	function layout() {
		const seen = new Map(), pairs = new Set();
		items = [];
		const add = (key, item) => {
			if (!seen.has(key)) { seen.set(key, items.length); items.push(item); }
			return seen.get(key);
		};
		for (let v = 0; v < n; v++) {
			const g = all[groupOf[v]], c = chunks[chunkOf[v]];
			indexOf[v] = !g ? add("n" + v, { node: v, device: -1 })
				: !g.open && g.nodes.length > 1 ? add("g" + g.index, { group: g, device: g.device })
				: g.open && c && !c.open ? add("c" + chunkOf[v], { group: c, device: g.device })
				: add("n" + v, { node: v, device: g.device });
		}
		const m = items.length;
		edges = [];
		for (let i = 0; i < data.edges.length; i += 2) {
			const a = indexOf[data.edges[i]], b = indexOf[data.edges[i + 1]];
			if (a !== b && !pairs.has(a * m + b)) { pairs.add(a * m + b); edges.push([a, b]); }
		}
		layers(items, edges, room);
	}
	// As tall as the graph is when it is as wide as the picture.
	function fit(s) {
		let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
		for (const it of items) {
			x0 = Math.min(x0, it.x); x1 = Math.max(x1, it.x + W);
			y0 = Math.min(y0, it.y); y1 = Math.max(y1, it.y + H);
		}
		const k = Math.min((s.w - 20) / (x1 - x0), (room[1] - 20) / (y1 - y0), 1.5);
		s.h = Math.max(120, Math.round((y1 - y0) * k + 24));
		s.resize();
		s.kx = s.ky = k;
		s.x0 = x0 - ((s.w / k) - (x1 - x0)) / 2;
		s.y0 = y0 - ((s.h / k) - (y1 - y0)) / 2;
	}
	function lines(s) {
		const c = s.ctx, X = x => (x - s.x0) * s.kx, Y = y => (y - s.y0) * s.ky, own = state.node < 0 ? -1 : indexOf[state.node];
		for (const kind of ["same", "crossing", "chosen"]) {
			c.strokeStyle = kind === "same" ? palette.edge : kind === "crossing" ? palette.cross : palette.text;
			c.lineWidth = kind === "chosen" ? 2 : 1;
			c.globalAlpha = kind === "chosen" ? 1 : edges.length > 5000 && s.kx < 0.2 ? 0.15 : 0.7;
			c.beginPath();
			for (const [a, b] of edges) {
				const from = items[a], to = items[b], crosses = from.device >= 0 && to.device >= 0 && from.device !== to.device;
				if (kind === "chosen" ? a !== own && b !== own : crosses !== (kind === "crossing")) continue;
				const x1 = X(from.x + W), y1 = Y(from.y + H / 2), x2 = X(to.x), y2 = Y(to.y + H / 2);
				if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > s.w || Math.max(y1, y2) < 0 || Math.min(y1, y2) > s.h) continue;
				c.moveTo(x1, y1);
				if (s.kx < 0.15) c.lineTo(x2, y2);
				else {
					const bend = Math.max(16 * s.kx, Math.abs(x2 - x1) * 0.4);
					c.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
				}
			}
			c.stroke();
		}
		c.globalAlpha = c.lineWidth = 1;
	}
	function draw(s) {
		const c = s.ctx, own = state.node < 0 ? null : items[indexOf[state.node]];
		lines(s);
		let count = 0;
		for (const it of items) {
			const x = (it.x - s.x0) * s.kx, y = (it.y - s.y0) * s.ky, w = W * s.kx, h = H * s.ky;
			if (x + w < 0 || x > s.w || y + h < 0 || y > s.h) continue;
			count++;
			c.fillStyle = colour(it.device);
			c.fillRect(x, y, Math.max(w, 1), Math.max(h, 1));
			if (it.group && h > 4) {
				c.strokeStyle = palette.text;
				c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
			}
			if (it === own) {
				c.strokeStyle = palette.text;
				c.lineWidth = 3;
				c.strokeRect(x - 2, y - 2, w + 4, h + 4);
				c.lineWidth = 1;
			}
			if (h < 22) continue;     // letters would be too small
			c.fillStyle = on(it.device);
			c.font = Math.min(12, h * 0.38) + "px system-ui, sans-serif";
			const more = it.group ? summary(it.group.nodes) : data.named ? data.types[N.type[it.node]] : N.name[it.node];
			c.fillText(shorten(c, it.group ? it.group.nodes.length + " operations" : title(it.node), w - 8 * s.kx), x + 4 * s.kx, y + h * 0.42);
			c.fillText(shorten(c, more, w - 8 * s.kx), x + 4 * s.kx, y + h * 0.85);
		}
		return count + "," + items.length + "," + edges.length;
	}
	function hit(s, x, y) {
		const X = x / s.kx + s.x0, Y = y / s.ky + s.y0;
		return items.find(it => X >= it.x && X <= it.x + W && Y >= it.y && Y <= it.y + H);
	}
	const where = it => it.device < 0 ? "on no device" : data.devices[it.device];
	const at = (s, x, y) => {
		const it = hit(s, x, y);
		return !it ? "" : it.group ? it.group.nodes.length + " operations on " + where(it) + "\n" + summary(it.group.nodes)
			: names(it.node) + "\n" + where(it) + (N.set[it.node] < 0 ? "" : ", set " + N.set[it.node]);
	};
	function change(s, value) {
		for (const g of all) { g.open = value; for (const c of g.chunks) c.open = value; }
		layout(); fit(s); s.later();
	}
	// Unfolds it, or folds what it is in; it stays where it is on the screen.
	function unfold(s, it, folds) {
		const v = it.group ? it.group.nodes[0] : it.node, g = all[groupOf[v]], c = chunks[chunkOf[v]];
		if (folds) {
			if (!it.group && c && c.open) c.open = false; else if (g) g.open = false;
		} else if (it.group) it.group.open = true;
		const old = [it.x, it.y];
		layout();
		const now = items[indexOf[v]];
		s.x0 += now.x - old[0];
		s.y0 += now.y - old[1];
		s.later();
	}
	function click(s, x, y, e) {
		const it = hit(s, x, y);
		if (!it) return;
		if (it.group || e.shiftKey) unfold(s, it, e.shiftKey); else choose(it.node);
	}
	function key(s, name, e) {
		const move = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }[name];
		if (move) { s.x0 += move[0] / s.kx; s.y0 += move[1] / s.ky; s.later(); return true; }
		if (name !== "Enter") return false;
		const it = state.node >= 0 ? items[indexOf[state.node]] : hit(s, s.w / 2, s.h / 2) || items.find(x => x.group);
		if (it && (it.group || e.shiftKey)) unfold(s, it, e.shiftKey); else if (it) choose(it.node);
		return true;
	}
	function tell(s) {
		const crosses = (a, b) => a >= 0 && b >= 0 && a !== b, extra = [];
		if (p.device.includes(-1)) extra.push(["input or result", colour(-1)]);
		if (data.edges.some((v, i) => i % 2 && crosses(p.device[data.edges[i - 1]], p.device[v]))) extra.push(["crosses devices", palette.cross]);
		keys("graph-keys", extra, data.devices.map((_, d) => p.device.includes(d)));
		s.canvas.setAttribute("aria-label", "graph of " + n + " operations in " + all.length + " groups: " + data.devices.map((name, d) => {
			const m = p.device.reduce((sum, x) => sum + (x === d), 0);
			return m ? m + " on " + name : "";
		}).filter(x => x).join(", "));
	}
	take(state.placement);
	const s = scene("graph", draw, { at, click, key, fit, more: "graph-in", less: "graph-out" });
	room = s.w < 700 ? [s.w - 20, 420] : [1130, 560];
	layout();
	fit(s);
	$("graph-fold").onclick = () => change(s, false);
	$("graph-unfold").onclick = () => change(s, true);
	$("graph-fit").onclick = () => { fit(s); s.later(); };
	tell(s);
	s.paint();
	listeners.push(what => {
		if (what === "placement") { take(state.placement); layout(); fit(s); tell(s); }
		const it = state.node >= 0 && what === "node" ? items[indexOf[state.node]] : null;
		if (it) {     // brought into the picture
			const x = (it.x - s.x0) * s.kx, y = (it.y - s.y0) * s.ky;
			if (x < 0 || x > s.w - W * s.kx) s.x0 += (x - s.w / 2) / s.kx;
			if (y < 0 || y > s.h - H * s.ky) s.y0 += (y - s.h / 2) / s.ky;
		}
		s.later();
	});
}
