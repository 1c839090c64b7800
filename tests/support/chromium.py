"""A page in Chromium, spoken to through a pipe (Chrome's DevTools protocol): nothing is installed, nothing listens.

    with Chromium(path) as b:
        b.open(url, width=420, dark=True)
        b.js("document.title")
        b.picture("a.png")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find():
    """The browser's path, or None."""
    return next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


class Chromium:
    def __init__(self, path):
        self.profile = tempfile.mkdtemp(prefix="hsdag-chromium-")
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()

        def wires():     # the browser reads from 3 and writes to 4
            a, b = os.dup(there_in), os.dup(there_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=wires, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self.out, self.inp, self.n, self.events = os.fdopen(here_out, "wb"), os.fdopen(here_in, "rb"), 0, []
        self.rest = b""
        target = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")

    session = None

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.inp.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.n += 1
        text = {"id": self.n, "method": method, "params": params}
        if self.session:
            text["sessionId"] = self.session
        self.out.write(json.dumps(text).encode() + b"\0")
        self.out.flush()
        while True:
            m = self.message()
            if m.get("id") == self.n:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def wait(self, event):
        while not any(m.get("method") == event for m in self.events):
            self.events.append(self.message())

    def show(self, width=1280, dark=False, paper=False, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "screen",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url, **how):
        self.show(**how)
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def js(self, text):
        r = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(r["exceptionDetails"].get("exception", {}).get("description", r["exceptionDetails"]["text"]))
        return r["result"].get("value")

    def key(self, name):
        code = {"Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}.get(name, 0)
        text = {"Enter": "\r"}.get(name, name if len(name) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))

    def paper(self, path, dark=False):
        self.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)["data"]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.inp.close()
        shutil.rmtree(self.profile, ignore_errors=True)
