// scene.js - what all pictures of the page share: data, colours, quantities, a canvas with a view of a world.

const root = document.documentElement, errors = [], drawn = {}, boxes = {};
function note() {
	root.dataset.errors = errors.join("; ");
	root.dataset.drawn = Object.keys(drawn).map(k => k + "=" + drawn[k]).join(" ");
}
window.addEventListener("error", e => { errors.push(e.message); note(); });
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const N = data.nodes, n = N.name.length;

// ---- colours: those of the style sheet, which follow the screen's theme, and on paper are for paper ----

let palette = {};
function readColours() {
	const style = getComputedStyle(root);
	for (const name of ["page", "text", "dim", "line", "faint", "strong", "weak", "edge", "cross", "bad", "good", "dot", "idle"])
		palette[name] = style.getPropertyValue("--" + name).trim();
}
readColours();
// Okabe and Ito's colours, which people tell apart whose eyes see few; then hues.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#9a6fb8"];
const colour = d => d < 0 ? palette.idle : d < COLOURS.length ? COLOURS[d] : "hsl(" + d * 47 % 360 + " 60% 65%)";
// What is read on such a colour.
const on = d => d === 0 ? "#ffffff" : "#000000";
document.querySelectorAll("rect.device").forEach(r => { r.style.fill = colour(+r.dataset.device); });

const scenes = [];
function repaint() {
	readColours();
	for (const s of scenes) { s.resize(); s.refit(); s.paint(); }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
matchMedia("print").addEventListener("change", repaint);
window.addEventListener("beforeprint", repaint);
window.addEventListener("afterprint", repaint);

// ---- quantities, as text/quantity.c says them; of microseconds ----

function four(x) { return x.toFixed(x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0); }
function time(us) {
	const s = us / 1e6;
	if (!(s > 0)) return "0 s";
	for (const [size, name] of [[60, ""], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [0, "ns"]])
		if (name && s >= 0.99995 * size) return four(s / (size || 1e-9)) + " " + name;
		else if (!name && s >= 0.99995 * size) break;
	for (const [size, part, finest, name, less] of [[86400, 3600, 60, "d", "h"], [3600, 60, 1, "h", "min"], [60, 1, 0, "min", "s"]]) {
		const parts = Math.round(s / part), per = size / part;
		if (!finest || Math.round(s / finest) * finest >= size) return Math.floor(parts / per) + " " + name + (parts % per ? " " + parts % per + " " + less : "");
	}
}
// Of an axis: without zeros at the end.
const tick = us => us ? time(us).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "") : "0";
function size(bytes) {
	for (const [unit, name] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) if (bytes >= 0.99995 * unit) return four(bytes / unit) + " " + name;
	return bytes + " B";
}
// Steps of 1, 2 or 5 times a power of ten, of which at most `most` are in the range.
function step(range, most) {
	const ten = Math.pow(10, Math.floor(Math.log10(range / most)));
	return [1, 2, 5, 10].map(m => m * ten).find(x => range / x <= most) || range;
}

function keys(id, extra, used) {
	$(id).textContent = "";
	for (const [text, fill] of data.devices.map((d, i) => [d, colour(i)]).filter((_, i) => !used || used[i]).concat(extra || [])) {
		const span = document.createElement("span"), i = document.createElement("i");
		span.className = "key";
		i.style.background = fill;
		span.append(i, text + "\u2003");
		$(id).append(span);
	}
}

const FONT = "12px system-ui, sans-serif", SMALL = "11px system-ui, sans-serif";
function shorten(c, text, width) {
	if (c.measureText(text).width <= width) return text;
	let lo = 0, hi = text.length;
	while (lo < hi) {
		const mid = lo + hi + 1 >> 1;
		if (c.measureText(text.slice(0, mid) + "…").width <= width) lo = mid; else hi = mid - 1;
	}
	return lo > 1 ? text.slice(0, lo) + "…" : "";
}

// A canvas with a view of the world: x = (X - x0) * kx, y = (Y - y0) * ky.  options: at(s, x, y), the text of the tip there;
// click(s, x, y, event); key(s, name, event), whether it was of use; fit(s); onlyX; more, less: ids of buttons that zoom.
function scene(id, draw, options) {
	const canvas = $(id), tip = $("tip"), o = options;
	const s = { canvas, ctx: canvas.getContext("2d"), x0: 0, y0: 0, kx: 1, ky: 1, w: 0, h: +canvas.getAttribute("height"), texts: [] };
	let wanted = false;
	s.paint = function () {
		wanted = false;
		const ratio = window.devicePixelRatio || 1;
		s.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		s.ctx.fillStyle = palette.page;
		s.ctx.fillRect(0, 0, s.w, s.h);
		s.texts = [];
		drawn[id] = draw(s);
		boxes[id] = s.texts;
		note();
	};
	s.later = function () {
		if (!wanted) requestAnimationFrame(s.paint);
		wanted = true;
	};
	// Text that has its place alone: what would lie over another text of the picture is left out.
	s.text = function (text, x, y, fill) {
		const w = s.ctx.measureText(text).width, box = [x - 2, y - 11, x + w + 2, y + 3];
		if (x < 0 || x + w > s.w || s.texts.some(t => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) return false;
		s.texts.push(box);
		s.ctx.fillStyle = fill;
		s.ctx.fillText(text, x, y);
		return true;
	};
	s.resize = function () {
		const ratio = window.devicePixelRatio || 1;
		s.w = canvas.clientWidth || 1100;
		canvas.style.height = s.h + "px";
		canvas.width = Math.round(s.w * ratio);
		canvas.height = Math.round(s.h * ratio);
	};
	s.refit = () => { if (o.fit) o.fit(s); };
	s.setHeight = h => { s.h = h; s.resize(); };
	s.setHeight(s.h);
	scenes.push(s);
	window.addEventListener("resize", () => { s.resize(); s.refit(); s.later(); });
	if (!o.fit) return s;
	s.zoom = function (k, x, y) {
		s.x0 += x / s.kx - x / (s.kx * k);
		s.kx *= k;
		if (!o.onlyX) {
			s.y0 += y / s.ky - y / (s.ky * k);
			s.ky *= k;
		}
		s.later();
	};
	$(o.more).onclick = () => s.zoom(1.5, s.w / 2, s.h / 2);
	$(o.less).onclick = () => s.zoom(1 / 1.5, s.w / 2, s.h / 2);
	let from = null, moved = false;
	const place = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
	canvas.addEventListener("wheel", e => {
		if (!e.ctrlKey && document.activeElement !== canvas) return;     // the page scrolls
		e.preventDefault();
		s.zoom(Math.exp(-Math.max(-100, Math.min(100, e.deltaY)) * 0.003), ...place(e));
	}, { passive: false });
	canvas.addEventListener("pointerdown", e => { from = place(e); moved = false; canvas.setPointerCapture(e.pointerId); });
	canvas.addEventListener("pointercancel", () => { from = null; });
	canvas.addEventListener("pointerup", e => {
		if (from && !moved) o.click(s, ...place(e), e);
		from = null;
	});
	canvas.addEventListener("pointermove", e => {
		const [x, y] = place(e);
		if (from) {
			if (Math.abs(x - from[0]) + Math.abs(y - from[1]) > 3) moved = true;
			if (moved) {
				s.x0 -= (x - from[0]) / s.kx;
				if (!o.onlyX) s.y0 -= (y - from[1]) / s.ky;
				from = [x, y];
				s.later();
			}
			return;
		}
		const text = o.at(s, x, y);
		tip.style.display = text ? "block" : "none";
		if (text) {
			tip.textContent = text;
			tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
			tip.style.top = Math.max(4, Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8)) + "px";
		}
	});
	canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
	canvas.addEventListener("keydown", e => {
		if (e.altKey || e.metaKey || e.ctrlKey) return;
		if (e.key === "+" || e.key === "=") s.zoom(1.5, s.w / 2, s.h / 2);
		else if (e.key === "-") s.zoom(1 / 1.5, s.w / 2, s.h / 2);
		else if (e.key === "Home" || e.key === "0") { o.fit(s); s.later(); }
		else if (!o.key(s, e.key, e)) return;
		e.preventDefault();
	});
	return s;
}

// ---- what is shown, and which operation is chosen: pictures are told ----

// The answer, then other placements of the stream.
const placements = [{ label: "this placement", time: data.answer, device: N.device, segment: N.segment, schedule: data.schedule }].concat(data.others || []);
const state = { placement: placements[0], beside: null, node: -1 };
const listeners = [];
function tellAll(what) { for (const f of listeners) f(what); }
function choose(v) {
	state.node = v;
	tellAll("node");
}
