"""page_checks.py PAGE... - HTML pages in Chromium at two widths, light and dark, and on paper: nothing is wider than the
screen, letters have contrast, labels of pictures do not collide, controls have names and work by keyboard.  Prints what is
wrong; --pictures DIR leaves pictures.  Exit status 1: something is wrong; 77: no Chromium."""
import os
import sys

from chromium import Chromium, find

# Letters on what is behind them, of all elements that have text of their own (WCAG 2.1: 4.5, large ones 3).
CONTRAST = """(() => {
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const lum = c => { const [r, g, b] = c.map(x => (x /= 255) <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => { const [x, y] = [lum(rgb(a)), lum(rgb(b))].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] > 0) return c; } return "#fff"; };
	const out = [];
	for (const e of document.querySelectorAll("body *")) {
		if (!e.offsetParent || !e.textContent.trim() || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
		const s = getComputedStyle(e), large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.6 && +s.fontWeight >= 600);
		const r = ratio(s.color, behind(e));
		if (r < (large ? 3 : 4.5)) out.push(e.tagName + " '" + e.textContent.trim().slice(0, 30) + "' " + s.color + " on " + behind(e) + ": " + r.toFixed(2));
	}
	for (const e of document.querySelectorAll("td[data-label]")) {
		const s = getComputedStyle(e, "::before");
		if (e.offsetParent && !["none", "normal"].includes(s.content) && ratio(s.color, behind(e)) < 4.5)
			out.push("label " + s.content + " " + s.color + " on " + behind(e) + ": " + ratio(s.color, behind(e)).toFixed(2));
	}
	if (window.hsdag && hsdag.colour)
		for (let d = -1; d < 40; d++)
			if (ratio(hsdag.colour(d), hsdag.on(d)) < 4.5) out.push("letters on device " + d + ": " + ratio(hsdag.colour(d), hsdag.on(d)).toFixed(2));
	return [...new Set(out)];
})()"""
WIDE = """(() => {
	const out = [], w = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > w) out.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const e of document.querySelectorAll("body *")) {
		const r = e.getBoundingClientRect();
		if (e.closest("datalist, script, option, input") || getComputedStyle(e).clipPath !== "none" || (e.parentElement.closest(".away, thead") && w < 700)) continue;
		if (r.width && (r.right > w + 1 || r.left < -1)) out.push(e.tagName + "." + e.className + " from " + r.left.toFixed(0) + " to " + r.right.toFixed(0));
		if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible" && e.clientWidth) out.push(e.tagName + "." + e.className + " scrolls");
	}
	return out;
})()"""
COLLIDE = """(() => {
	const out = [];
	for (const [id, texts] of Object.entries(window.hsdag ? hsdag.boxes : {}))
		texts.forEach((a, i) => { for (const b of texts.slice(0, i)) if (a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]) out.push(id + ": labels at " + a + " and " + b); });
	const labels = [...document.querySelectorAll("svg text")].map(t => [t, t.getBoundingClientRect()]);
	labels.forEach(([t, a], i) => { for (const [u, b] of labels.slice(0, i))
		if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) out.push("'" + t.textContent + "' over '" + u.textContent + "'"); });
	return out.slice(0, 5);
})()"""
NAMES = """(() => {
	const out = [];
	for (const e of document.querySelectorAll("canvas, svg[role=img]")) if (!(e.getAttribute("aria-label") || e.querySelector("title"))) out.push(e.tagName + " without a label");
	for (const e of document.querySelectorAll("input, select, button")) if (!(e.getAttribute("aria-label") || e.closest("label") || e.textContent.trim())) out.push(e.tagName + " " + e.id + " without a name");
	for (const t of document.querySelectorAll("table")) {
		if (!t.caption && !t.closest("section[aria-labelledby]")) out.push("table " + t.id + " without a caption");
		if (t.getAttribute("role") !== "table") out.push("table " + t.id + " loses its role where rows are blocks");
		for (const h of t.querySelectorAll("th")) if (!h.scope) out.push("th '" + h.textContent + "' without a scope");
	}
	for (const s of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
		for (const a of ["aria-labelledby", "aria-describedby"]) if (s.getAttribute(a) && !document.getElementById(s.getAttribute(a))) out.push(a + "=" + s.getAttribute(a) + " names nothing");
	if (document.querySelectorAll("h1").length !== 1 || !document.querySelector("main") || !document.documentElement.lang) out.push("no h1, main or lang");
	return out;
})()"""


def keyboard(b):
    """What cannot be done without a mouse."""
    out = []
    seen = []
    for _ in range(60):
        b.key("Tab")
        at = b.js("document.activeElement.id || document.activeElement.tagName")
        if at in ("BODY", None) or at in seen:
            break
        seen.append(at)
    wanted = b.js("[...document.querySelectorAll('canvas[tabindex], button, select, input')].filter(e => e.offsetParent).map(e => e.id)")
    out += [f"Tab does not come to '{i}'" for i in wanted if i not in seen]
    if b.js("!!document.getElementById('timeline') && hsdag.placements[0].schedule.start.length > 1"):
        b.js("document.getElementById('timeline').focus()")
        b.key("ArrowRight")
        one = b.js("hsdag.state.node")
        b.key("ArrowRight")
        two = b.js("hsdag.state.node")
        if one < 0 or two < 0:
            out.append(f"arrows choose no operation in the timeline ({one}, {two})")
        if "It starts at" not in b.js("document.getElementById('why').textContent"):
            out.append("no reason is told for the chosen operation")
    if b.js("!!document.getElementById('find') && hsdag.n > 0"):
        b.js("(() => { const f = document.getElementById('find'); f.value = hsdag.name(hsdag.n - 1); f.dispatchEvent(new Event('input')); f.dispatchEvent(new Event('change')); })()")
        if b.js("hsdag.name(hsdag.state.node) !== hsdag.name(hsdag.n - 1)"):
            out.append("an operation is not found by its name")
    return out


def check(b, path, pictures):
    out = []
    url = "file://" + os.path.abspath(path)
    for width in (1280, 420):
        for dark in (False, True):
            how = f"{width} {'dark' if dark else 'light'}"
            b.open(url, width=width, dark=dark)
            errors = b.js("document.documentElement.dataset.errors || ''")
            found = ([errors] if errors else []) + b.js(CONTRAST) + b.js(WIDE) + b.js(COLLIDE) + b.js(NAMES)
            if b.js("!!window.hsdag"):
                found += keyboard(b)
                # What the choice of an operation shows, and a second placement.
                b.js("(() => { const s = document.getElementById('pick-beside'); if (s && s.options.length > 2) { s.selectedIndex = 2; s.onchange(); } })()")
                b.js("new Promise(r => setTimeout(r, 150))")
                found += b.js(CONTRAST) + b.js(WIDE) + b.js(COLLIDE) + b.js(NAMES)
            out += [f"{path}, {how}: {x}" for x in found]
            if pictures:
                b.picture(os.path.join(pictures, f"{os.path.basename(path)[:-5]}-{how.replace(' ', '-')}.png"))
    # Paper is white, whatever the screen is.
    b.show(width=794, dark=True, paper=True)
    b.js("new Promise(r => setTimeout(r, 150))")
    out += [f"{path}, paper: {x}" for x in b.js(WIDE) + b.js(CONTRAST)]
    white = b.js("[...document.querySelectorAll('canvas')].map(c => [...c.getContext('2d').getImageData(c.width - 3, c.height - 3, 1, 1).data].join())")
    out += [f"{path}, paper: a picture is {w}" for w in white if w != "255,255,255,255"]
    if pictures:
        b.picture(os.path.join(pictures, os.path.basename(path)[:-5] + "-paper.png"))
    return out


def main(words):
    pictures = words.pop(words.index("--pictures") + 1) if "--pictures" in words else None
    path = find()
    if not path:
        print("no Chromium")
        return 77
    with Chromium(path) as b:
        wrong = [x for page in words if page != "--pictures" for x in check(b, page, pictures)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
