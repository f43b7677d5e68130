"""The trace page in headless Chromium: how soon it is there, what a step costs, its size, what axe finds.

    python benchmarks/view.py [--events 1000000] [--steps 1000]

Needs chromium, chromedriver and selenium, and for the last figure `npm ci` in web/. The programs are recorded
anew each time. A step is a key pressed until the page has the new state and has been laid out; it does not
hold what the screen takes to show it. Memory is the JavaScript heap after a collection of garbage.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from selenium import webdriver

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Mode, Program, Recording
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.tracer.limits import TraceLimits
from deskcheck.view.trace_page import write_trace_page
from deskcheck.view.trace_server import TraceServer

AXE = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"
CODE = """
def smooth(row, width):
    return [sum(row[max(0, i - width) : i + width + 1]) for i in range(len(row))]


def run(n):
    rows = {}
    total = 0
    for i in range(n):
        row = [i * k % 7 for k in range(6)]
        rows[i % 9] = smooth(row, 1)
        total += rows[i % 9][0]
        if i % 50 == 0:
            print(i, total)
    return rows
"""
EVENTS_A_TURN = 18
STEPS = """
const [steps, done] = [arguments[0], arguments[1]];
const channel = new MessageChannel();
const turn = () => new Promise((go) => { channel.port1.onmessage = go; channel.port2.postMessage(0); });
const field = document.getElementById("event");
(async () => {
  const taken = [];
  for (const [key, times] of steps) {
    for (let i = 0; i < times; i++) {
      const before = field.value;
      const start = performance.now();
      dispatchEvent(new KeyboardEvent("keydown", { key }));
      while (field.value === before) await turn();
      document.body.getBoundingClientRect();
      taken.push(performance.now() - start);
    }
  }
  done(taken);
})();
"""


@contextmanager
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,950",
    ):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(600)
    try:
        yield driver
    finally:
        driver.quit()


def recorded(folder: Path, events: int) -> Recording:
    turns = events // EVENTS_A_TURN + 2
    program = Program(id=f"run-{events}", code=CODE, mode=Mode.CALL, entry="run", arguments=f"({turns})")
    record_programs(
        [program],
        folder,
        RecordSettings(
            repeat=False,
            sandbox=Confinement.TRUSTED,
            limits=Limits(cpu_s=900, wall_s=3600),
            trace_limits=TraceLimits(events=events),
        ),
        workers=1,
    )
    return Recordings(folder)[program.id]


def drawn(driver: Any, address: str) -> float:
    """Milliseconds from the start of the navigation until the first event was drawn."""
    driver.get("about:blank")
    driver.get(address)
    while True:
        marks = driver.execute_script(
            "return performance.getEntriesByName('drawn').map(each => each.startTime)"
        )
        if marks:
            return float(marks[0])
        time.sleep(0.02)


def heap_mb(driver: Any) -> float:
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return float(driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]) / 1e6


def tell(what: str, taken: list[float]) -> None:
    ordered = sorted(taken)
    p95, middle = ordered[int(len(ordered) * 0.95)], statistics.median(taken)
    print(f"{what}: median {middle:.1f} ms, 95 % within {p95:.1f}, most {ordered[-1]:.1f} (n={len(taken)})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, browser() as driver:
        folder = Path(name)
        page = folder / "page.html"
        size = write_trace_page(recorded(folder / "a", 1000), page)
        tell(
            f"first event drawn, 1,000 events ({size / 1e6:.2f} MB)",
            [drawn(driver, page.as_uri()) for _ in range(10)],
        )
        if AXE.exists():
            for scheme in ("light", "dark"):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                drawn(driver, page.as_uri() + "#event=500")
                driver.execute_script(AXE.read_text())
                found = driver.execute_async_script("axe.run().then(arguments[0])")
                wrong, well = len(found["violations"]), len(found["passes"])
                print(f"axe, {scheme}: {wrong} violations, {well} rules passed")
        size = write_trace_page(recorded(folder / "b", 10_000), page)
        print(f"page of 10,000 events: {size / 1e6:.2f} MB")
        large = recorded(folder / "c", given.events)
        started = time.monotonic()
        with TraceServer(large) as server:
            print(f"server of {len(large.trace):,} events ready after {time.monotonic() - started:.1f} s")
            serving = Thread(target=server.serve)
            serving.start()
            try:
                print(f"first event drawn: {drawn(driver, server.url):.0f} ms")
                driver.execute_async_script(STEPS, [["n", 50]])
                before = heap_mb(driver)
                tell("step forward", driver.execute_async_script(STEPS, [["n", given.steps]]))
                after = heap_mb(driver)
                print(f"heap before and after {given.steps} steps: {before:.1f} MB, {after:.1f} MB")
                tell("step back", driver.execute_async_script(STEPS, [["p", given.steps]]))
                tell("a hundred on", driver.execute_async_script(STEPS, [["PageDown", given.steps]]))
                print(f"heap after that: {heap_mb(driver):.1f} MB")
                tell(
                    "to the end and back", driver.execute_async_script(STEPS, [["End", 1], ["Home", 1]] * 10)
                )
            finally:
                server.close()
                serving.join()


if __name__ == "__main__":
    main()
