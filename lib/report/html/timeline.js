// timeline.js - who computes when: a row for each device that does something, of one placement or of two.

const TOP = 22, HEAD = 22, LEFT = 6, MANY = 16;

// What is looked up in a schedule again and again; made once.
function lookups(p) {
	const T = p.schedule;
	if (!T || p.rows) return p;
	p.rows = data.devices.map(() => []);
	p.end = 0;
	p.entryOf = new Map();
	for (let i = 0; i < T.start.length; i++) {
		p.rows[T.device[i]].push(i);
		p.end = Math.max(p.end, T.end[i]);
		const set = T.node[i] < 0 ? -1 : N.set[T.node[i]];
		if (set >= 0 && !p.entryOf.has(set)) p.entryOf.set(set, i);
	}
	p.position = new Int32Array(T.start.length);
	for (const r of p.rows) {
		r.sort((a, b) => T.start[a] - T.start[b] || T.end[a] - T.end[b]);
		r.forEach((i, j) => { p.position[i] = j; });
	}
	p.busy = p.rows.map(r => r.reduce((sum, i) => sum + T.end[i] - T.start[i], 0));
	const C = T.copies;
	// Where an arrow ends: a copy that took no time leads to what reads it.
	p.arrives = C.start.map((_, i) => C.end[i] > C.start[i] || C.to[i] < 0 ? C.end[i] : T.start[C.to[i]]);
	return p;
}
const entry = (p, v) => v < 0 || N.set[v] < 0 || !p.entryOf ? undefined : p.entryOf.get(N.set[v]);

function timeline() {
	if (!data.schedule) { drawn.timeline = "none"; return note(); }
	let blocks = [], end = 1, used = [], LABEL = 18, ROW = 30, GAP = 44;
	function arrange() {
		blocks = [state.placement, state.beside].filter(p => p && p.schedule).map(lookups);
		used = data.devices.map((_, d) => blocks.some(p => p.rows[d].length));
		// Of many devices names stand on the rows.
		const dense = used.filter(u => u).length > MANY;
		[LABEL, ROW, GAP] = dense ? [2, 16, 2] : [18, 30, 44];
		let y = TOP;
		blocks.forEach((p, b) => {
			p.top = y + (blocks.length > 1 ? HEAD : 0);
			y = p.top;
			p.y = p.rows.map(r => { const at = y + LABEL; if (r.length) y += ROW + GAP; return r.length ? at : -1; });
			if (b + 1 < blocks.length) y += 4;
			if (b + 1 === blocks.length) y += ROW > 28 ? LABEL + 8 - GAP : 8;
		});
		end = Math.max(...blocks.map(p => p.end)) || 1;
		keys("timeline-keys", null, used);
		return y;
	}
	// Index of the first entry of a row that ends behind t.
	function first(p, row, t) {
		let lo = 0, hi = row.length;
		while (lo < hi) {
			const mid = lo + hi >> 1;
			if (p.schedule.end[row[mid]] < t) lo = mid + 1; else hi = mid;
		}
		return lo;
	}
	const X = (s, t) => LEFT + (t - s.x0) * s.kx;
	function axis(s) {
		const c = s.ctx, span = (s.w - LEFT) / s.kx, by = step(span, Math.max(2, Math.floor(s.w / 95)));
		c.font = SMALL;
		c.strokeStyle = palette.faint;
		for (let k = Math.ceil(s.x0 / by); k * by <= s.x0 + span; k++) {
			const x = X(s, k * by);
			c.beginPath(); c.moveTo(x, 16); c.lineTo(x, s.h); c.stroke();
			if (k >= 0) s.text(tick(k * by), x + 3, 12, palette.dim);
		}
	}
	function bars(s, p, d) {
		const c = s.ctx, T = p.schedule, row = p.rows[d], t1 = s.x0 + (s.w - LEFT) / s.kx, y = p.y[d];
		let count = 0, open = -1, close = -1;
		c.fillStyle = colour(d);
		const flush = () => { if (open >= 0) c.fillRect(open, y, Math.max(close - open, 0.6), ROW); open = -1; };
		for (let j = first(p, row, s.x0); j < row.length && T.start[row[j]] < t1; j++, count++) {
			const i = row[j], a = X(s, T.start[i]), b = X(s, T.end[i]);
			if (b - a < 2) {     // too small to be one by one
				if (open >= 0 && a - close < 0.5) close = Math.max(close, b);
				else { flush(); open = a; close = b; }
				continue;
			}
			flush();
			c.fillRect(a, y, b - a - 0.7, ROW);
			if (ROW > 28 && b - a > 38 && T.node[i] >= 0) {
				const left = Math.max(a, LEFT) + 4, room = Math.min(b, s.w) - left - 3;
				c.font = SMALL;
				c.fillStyle = on(d);
				c.fillText(shorten(c, title(T.node[i]), room), left, y + 13);
				c.fillText(shorten(c, time(T.end[i] - T.start[i]), room), left, y + 26);
				c.fillStyle = colour(d);
			}
		}
		flush();
		return count;
	}
	function arrows(s, p) {
		const c = s.ctx, C = p.schedule.copies, t1 = s.x0 + (s.w - LEFT) / s.kx, seen = [];
		for (let i = 0; i < C.start.length; i++) if (p.arrives[i] >= s.x0 && C.start[i] <= t1) seen.push(i);
		c.globalAlpha = seen.length > 2000 ? 0.1 : seen.length > 300 ? 0.3 : 0.8;
		c.lineWidth = 1;
		c.strokeStyle = c.fillStyle = palette.edge;
		for (const i of seen) {
			const down = C.target[i] > C.source[i], from = p.y[C.source[i]], to = p.y[C.target[i]];
			if (from < 0 || to < 0) continue;
			const x1 = X(s, C.start[i]), x2 = X(s, p.arrives[i]), y1 = from + (down ? ROW : 0), y2 = to + (down ? 0 : ROW);
			c.beginPath(); c.moveTo(x1, y1); c.lineTo(x2, y2); c.stroke();
			if (seen.length <= 300) {
				const a = Math.atan2(y2 - y1, x2 - x1);
				c.beginPath(); c.moveTo(x2, y2);
				c.lineTo(x2 - 7 * Math.cos(a - 0.35), y2 - 7 * Math.sin(a - 0.35));
				c.lineTo(x2 - 7 * Math.cos(a + 0.35), y2 - 7 * Math.sin(a + 0.35));
				c.fill();
			}
		}
		c.globalAlpha = 1;
		return seen.length;
	}
	function chosen(s, p) {
		const i = entry(p, state.node), c = s.ctx;
		if (i === undefined) return;
		const a = X(s, p.schedule.start[i]), b = X(s, p.schedule.end[i]);
		c.strokeStyle = palette.text;
		c.lineWidth = 2.5;
		c.strokeRect(a - 1.5, p.y[p.schedule.device[i]] - 1.5, Math.max(b - a, 2) + 3, ROW + 3);
		c.lineWidth = 1;
	}
	function draw(s) {
		const c = s.ctx;
		let count = 0, copies = 0;
		axis(s);
		for (const p of blocks) {
			data.devices.forEach((_, d) => { if (p.rows[d].length) count += bars(s, p, d); });
			copies += arrows(s, p);
			chosen(s, p);
			if (blocks.length > 1) {
				c.font = "bold " + FONT;
				s.text(shorten(c, p.label + ": " + time(p.time), s.w - 12), 4, p.top - 6, palette.text);
			}
			c.font = FONT;
			data.devices.forEach((name, d) => {
				if (p.y[d] < 0) return;
				const share = "  " + (100 * p.busy[d] / (p.end || 1)).toFixed(0) + " % busy", y = p.y[d] + (ROW > 28 ? -5 : 12);
				const label = shorten(c, name, s.w - 20 - c.measureText(share).width);
				c.fillStyle = palette.page;
				c.globalAlpha = 0.85;
				c.fillRect(2, y - 12, c.measureText(label + share).width + 8, 16);
				c.globalAlpha = 1;
				if (s.text(label, 4, y, palette.text)) s.text(share, 8 + c.measureText(label).width, y, palette.dim);
			});
		}
		return count + "," + copies;
	}
	function hit(s, x, y) {
		for (const p of blocks) {
			const d = p.y.findIndex(top => top >= 0 && y >= top && y < top + ROW), t = s.x0 + (x - LEFT) / s.kx;
			if (d < 0 || x < LEFT) continue;
			const i = p.rows[d][first(p, p.rows[d], t)];
			if (i !== undefined && p.schedule.start[i] <= t) return [p, i];
		}
		return null;
	}
	function at(s, x, y) {
		const found = hit(s, x, y);
		if (!found) return "";
		const [p, i] = found, T = p.schedule, v = T.node[i];
		return (v < 0 ? "constants" : names(v)) + "\n" + data.devices[T.device[i]] + ", at " + time(T.start[i]) + ", takes " + time(T.end[i] - T.start[i]);
	}
	function click(s, x, y) {
		const found = hit(s, x, y);
		if (found && found[0].schedule.node[found[1]] >= 0) choose(found[0].schedule.node[found[1]]);
	}
	// The operation before or behind the chosen one on its device; with `down` on the device above or below at that time.
	function key(s, name) {
		const p = blocks[0], T = p.schedule, move = { ArrowLeft: -1, ArrowRight: 1 }[name], down = { ArrowUp: -1, ArrowDown: 1 }[name];
		if (!move && !down) return false;
		const now = entry(p, state.node);
		let next;
		if (now === undefined) {
			next = p.rows.find(r => r.length)[0];
		} else if (move) {
			const row = p.rows[T.device[now]];
			for (let j = p.position[now] + move; next === undefined && j >= 0 && j < row.length; j += move) if (T.node[row[j]] >= 0) next = row[j];
		} else {
			let d = T.device[now] + down;
			while (d >= 0 && d < p.rows.length && !p.rows[d].length) d += down;
			const row = p.rows[d];
			if (row) next = row[Math.min(first(p, row, T.start[now]), row.length - 1)];
		}
		if (next === undefined || T.node[next] < 0) return true;
		const x = X(s, T.start[next]);
		if (x < LEFT || x > s.w - 20) s.x0 += (x - s.w / 2) / s.kx;
		choose(T.node[next]);
		return true;
	}
	const fit = s => { s.x0 = 0; s.kx = (s.w - LEFT - 8) / end; };
	const height = arrange();
	const s = scene("timeline", draw, { at, click, key, fit, onlyX: true, more: "timeline-in", less: "timeline-out" });
	function show(h) { s.setHeight(h); fit(s); s.paint(); tellShares(); }
	// The same in words.
	function tellShares() {
		$("timeline-copies").hidden = !blocks.some(p => p.schedule.copies.start.length);
		s.canvas.setAttribute("aria-label", "timeline: " + blocks.map(p => p.label + ", " + time(p.end) + ": " +
			data.devices.map((name, d) => p.rows[d].length ? name + " runs " + p.rows[d].length + " steps, " + (100 * p.busy[d] / (p.end || 1)).toFixed(0) + " % busy" : "")
				.filter(x => x).join("; ")).join(". Beside it: "));
	}
	$("timeline-fit").onclick = () => { fit(s); s.later(); };
	listeners.push(what => { if (what === "node") s.later(); else show(arrange()); });
	show(height);
}
