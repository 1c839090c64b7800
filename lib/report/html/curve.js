// curve.js - what the search found when: runs by the clock where they are told, else episodes.

function curve() {
	const R = data.runs, timed = R.at.length > 0, C = data.curve;
	const at = timed ? R.at : C.episode, best = timed ? R.time : C.best, mean = timed ? [] : C.mean, m = at.length;
	if (!m || !$("curve")) { drawn.curve = "none"; return note(); }
	const sofar = [];
	best.forEach((b, i) => { sofar.push(i ? Math.min(sofar[i - 1], b) : b); });
	const sorted = mean.concat(best, data.reference || [], data.answer || []).sort((a, b) => a - b);
	const lo = sorted[0] * 0.97, hi = Math.max(sorted[Math.floor((sorted.length - 1) * 0.98)], data.reference || 0) * 1.05;
	function draw(s) {
		const c = s.ctx, L = 66, bottom = 26, last = at[m - 1] || 1;
		const X = e => L + (s.w - L - 12) * e / last, Y = t => 10 + (s.h - bottom - 10) * (1 - (t - lo) / (hi - lo || 1));
		c.font = SMALL;
		const down = step(hi - lo || 1, 6), across = Math.max(step(last, Math.max(2, Math.floor(s.w / 100))), timed ? 0 : 1);
		c.strokeStyle = palette.faint;
		for (let k = Math.ceil(lo / down); k * down <= hi; k++) {
			c.beginPath(); c.moveTo(L, Y(k * down)); c.lineTo(s.w, Y(k * down)); c.stroke();
			s.text(tick(k * down), 4, Y(k * down) + 4, palette.dim);
		}
		for (let k = 0; k * across <= last; k++) {
			const text = timed ? tick(k * across) : String(k * across), w = c.measureText(text).width;
			s.text(text, Math.min(X(k * across), s.w - w - 2), s.h - 8, palette.dim);
		}
		c.fillStyle = palette.weak;
		mean.forEach((t, i) => c.fillRect(X(at[i]) - 1.5, Y(Math.min(t, hi)) - 1.5, 3, 3));
		c.fillStyle = palette.dot;
		best.forEach((t, i) => c.fillRect(X(at[i]) - 1.5, Y(Math.min(t, hi)) - 1.5, 3, 3));
		c.strokeStyle = palette.strong; c.lineWidth = 2;
		c.beginPath();
		sofar.forEach((t, i) => { if (i) c.lineTo(X(at[i]), Y(sofar[i - 1])); c.lineTo(X(at[i]), Y(t)); });
		c.stroke();
		c.lineWidth = 1;
		// A line across, and its name above it, below it, or where there is room.
		const line = (t, text, fill) => {
			if (!t) return;
			c.strokeStyle = fill; c.setLineDash([5, 4]);
			c.beginPath(); c.moveTo(L, Y(t)); c.lineTo(s.w, Y(t)); c.stroke(); c.setLineDash([]);
			text = shorten(c, text, s.w - L - 16);
			const w = c.measureText(text).width;
			for (const off of [-5, 13, -20, 28, -35, 43]) {
				const y = Y(t) + off;
				if (y < 12 || y > s.h - bottom) continue;
				if (s.text(text, s.w - 8 - w, y, fill)) return;
			}
		};
		line(data.reference, "best single device, " + time(data.reference), palette.bad);
		line(data.answer, "the answer, compared once more, " + time(data.answer), palette.good);
		return m;
	}
	$("curve-hint").textContent = (timed ? "Seconds of the search, left to right. Yellow: a placement that ran; blue: the best so far. " :
		"Episodes, left to right. Grey: mean of an episode; yellow: its best; blue: the best so far. ") +
		"Runs of a search are few; the comparison above is what counts.";
	$("curve").setAttribute("aria-label", m + (timed ? " placements that the search ran" : " episodes of the search") + ", the best so far from " + time(sofar[0]) +
		" to " + time(sofar[m - 1]));
	scene("curve", draw, {}).paint();
}
