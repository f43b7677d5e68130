// All events on a canvas, as a flame chart: a lane for each call depth, a bar for each call, with its name. Exceptions
// and output stand out. Drawn into a picture that is kept, over which only the current event moves.

import { spanAt, spansOf, type Spans } from "./spans";
import { visible } from "./text";
import type { Columns } from "./trace";

const LANE = 16;
const AXIS = 14;
/** Deeper calls make the lanes thinner. */
const MOST_LANES = 7;

export class Timeline {
  private readonly spans: Spans;
  private readonly names: string[];
  private readonly hues: number[];
  private readonly picture = document.createElement("canvas");
  private drawn = "";
  private from = 0;
  private to: number;
  private at = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly columns: Columns,
    places: [string, string][],
    private readonly go: (index: number) => void,
  ) {
    this.to = columns.length;
    this.spans = spansOf(columns);
    this.names = places.map(([name]) => visible(name.replace(/^.*<locals>\./, "")));
    this.hues = this.names.map((name) => [...name].reduce((sum, character) => (sum * 31 + character.codePointAt(0)!) % 997, 7));
    canvas.style.height = `${this.height}px`;
    canvas.addEventListener("dblclick", this.into);
    canvas.addEventListener("pointerdown", this.drag);
    canvas.addEventListener("pointermove", this.hover);
    canvas.addEventListener("wheel", this.wheel, { passive: false });
    this.observer.observe(canvas);
    this.scheme.addEventListener("change", this.anew);
  }

  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private readonly anew = () => {
    this.drawn = "";
    this.draw();
  };
  private readonly observer = new ResizeObserver(() => this.draw());
  private readonly drag = (event: PointerEvent) => {
    this.canvas.setPointerCapture(event.pointerId);
    this.seek(event);
  };
  private readonly hover = (event: PointerEvent) => (event.buttons & 1 ? this.seek(event) : this.tell(event));
  private readonly wheel = (event: WheelEvent) => {
    event.preventDefault();
    const aside = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
    if (Math.abs(aside) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      this.pan(aside / Math.max(1, this.canvas.clientWidth));
      return;
    }
    this.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, this.indexAt(event.offsetX));
  };

  destroy(): void {
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.anew);
    this.canvas.removeEventListener("pointerdown", this.drag);
    this.canvas.removeEventListener("wheel", this.wheel);
    this.canvas.removeEventListener("pointermove", this.hover);
    this.canvas.removeEventListener("dblclick", this.into);
  }

  /** The colours are others now. */
  repaint(): void {
    this.anew();
  }

  private indexAt(x: number): number {
    const share = x / Math.max(1, this.canvas.clientWidth);
    return Math.max(0, Math.min(this.columns.length - 1, Math.floor(this.from + share * (this.to - this.from))));
  }

  private seek(event: PointerEvent): void {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    this.go(this.indexAt(x));
  }

  /** Show `factor` times as many events, with `around` where it stands. */
  zoom(factor: number, around = this.at): void {
    const length = this.columns.length;
    const span = Math.max(Math.min(40, length), Math.min(length, (this.to - this.from) * factor));
    const share = (around - this.from) / Math.max(1, this.to - this.from);
    this.from = Math.max(0, Math.min(length - span, around - share * span));
    this.to = this.from + span;
    this.draw();
  }

  move(at: number): void {
    this.at = at;
    const span = this.to - this.from;
    if (at < this.from || at >= this.to) {
      this.from = Math.max(0, Math.min(this.columns.length - span, at - span / 2));
      this.to = this.from + span;
    }
    this.draw();
  }

  private draw(): void {
    const ratio = devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio);
    const height = Math.round(this.canvas.clientHeight * ratio);
    if (!width || !height) return;
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    const style = getComputedStyle(this.canvas);
    const key = [width, height, this.from, this.to, style.color, style.getPropertyValue("--flame")].join();
    if (key !== this.drawn) {
      this.drawn = key;
      this.paint(width, height, ratio, style);
    }
    const context = this.canvas.getContext("2d")!;
    context.clearRect(0, 0, width, height);
    context.drawImage(this.picture, 0, 0);
    const each = width / (this.to - this.from);
    const x = (this.at - this.from) * each;
    context.fillStyle = style.getPropertyValue("--accent");
    context.globalAlpha = 0.28;
    if (each > 3) context.fillRect(x, 0, each, height);
    context.globalAlpha = 1;
    const middle = Math.round(x + Math.min(each, width) / 2);
    context.fillRect(middle - ratio, 0, 2 * ratio, height);
    context.beginPath();
    context.moveTo(middle - 5 * ratio, 0);
    context.lineTo(middle + 5 * ratio, 0);
    context.lineTo(middle, 6 * ratio);
    context.fill();
  }

  private paint(width: number, height: number, ratio: number, style: CSSStyleDeclaration): void {
    Object.assign(this.picture, { width, height });
    const context = this.picture.getContext("2d")!;
    const colour = (name: string) => style.getPropertyValue(name);
    const { lanes } = this.spans;
    const lane = this.laneHeight(height / ratio) * ratio;
    const span = this.to - this.from;
    const scale = width / span;
    const [ink, light] = [colour("--ink"), colour("--flame")];
    context.font = `${11 * ratio}px ${colour("--mono")}`;
    context.textBaseline = "middle";
    lanes.forEach(({ start, end, place }, depth) => {
      const top = depth * lane;
      let drawn = -1; // the pixel up to which this lane is painted
      for (let i = spanAt(end, this.from); i < start.length && start[i]! < this.to; i++) {
        const x = Math.max(0, (start[i]! - this.from) * scale);
        const right = Math.min(width, (end[i]! - this.from) * scale);
        if (right <= drawn) continue; // many in one pixel
        const wide = Math.max(ratio, right - x - (right - x > 3 * ratio ? ratio : 0));
        drawn = Math.max(drawn, Math.floor(x) + ratio);
        context.fillStyle = `hsl(${(this.hues[place[i]!]! * 47) % 360} 38% ${light})`;
        context.fillRect(x, top, wide, lane - (lane > 4 * ratio ? ratio : 0));
        if (lane < 11 * ratio || wide < 22 * ratio) continue;
        const name = this.names[place[i]!]!;
        const fits = Math.floor((wide - 8 * ratio) / (6.7 * ratio));
        if (fits < 2) continue;
        context.fillStyle = ink;
        context.fillText(name.length > fits ? `${name.slice(0, fits - 1)}\u2026` : name, x + 4 * ratio, top + lane / 2);
      }
    });
    this.paintEvents(context, width, height, ratio, colour);
    this.paintAxis(context, width, height, ratio, colour("--soft"));
  }

  /** Exceptions, output and gaps, which stand out at any zoom. */
  private paintEvents(context: CanvasRenderingContext2D, width: number, height: number, ratio: number, colour: (name: string) => string): void {
    const { columns } = this;
    const raise = columns.kindNumber("raise");
    const span = this.to - this.from;
    const slots = Math.min(width, Math.ceil(span));
    const each = width / slots;
    const lane = this.laneHeight(height / ratio) * ratio;
    const bottom = height - AXIS * ratio;
    for (let slot = 0; slot < slots; slot++) {
      const first = Math.floor(this.from + (slot / slots) * span);
      const last = Math.max(first + 1, Math.floor(this.from + ((slot + 1) / slots) * span));
      let raised = 0;
      let prints = false;
      let gap = false;
      for (let i = first; i < last && i < columns.length; i++) {
        if (columns.number(i) === raise) raised = Math.max(raised, columns.depth[i]!, 1);
        prints ||= columns.prints(i);
        gap ||= columns.gap(i);
      }
      const x = slot * each;
      const wide = Math.max(Math.min(each, 6 * ratio), 2 * ratio);
      const mark = (name: string, top: number, tall: number) => {
        context.fillStyle = colour(name);
        context.fillRect(x, top, wide, tall);
      };
      if (raised) mark("--bad", 0, raised * lane);
      if (prints) mark("--output", bottom - 5 * ratio, 5 * ratio);
      if (gap) mark("--cut", bottom - 7 * ratio, 2 * ratio);
    }
  }

  private paintAxis(context: CanvasRenderingContext2D, width: number, height: number, ratio: number, colour: string): void {
    const span = this.to - this.from;
    const most = Math.max(1, width / ratio / 90);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, span / most)));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= most) ?? 10 * power;
    context.fillStyle = colour;
    for (let event = Math.ceil(this.from / step) * step; event < this.to; event += step) {
      const x = ((event - this.from) / span) * width;
      context.fillRect(x, height - AXIS * ratio, ratio, 3 * ratio);
      context.fillText(event.toLocaleString("en"), x + 3 * ratio, height - (AXIS / 2 - 1) * ratio);
    }
  }

  /** Of a lane, in pixels of the page: less if there are many. */
  private laneHeight(height: number): number {
    return Math.min(LANE, (height - AXIS - 6) / Math.max(1, this.spans.lanes.length));
  }

  /** The height that all lanes need with their names, up to a limit. */
  get height(): number {
    return Math.min(MOST_LANES, this.spans.lanes.length) * LANE + 6 + AXIS;
  }

  /** The call under the pointer, in words. */
  private tell(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const depth = Math.floor((event.clientY - box.top) / this.laneHeight(this.canvas.clientHeight));
    const index = this.indexAt(event.clientX - box.left);
    const lane = this.spans.lanes[depth];
    const i = lane ? spanAt(lane.end, index) : 0;
    this.canvas.title = lane && i < lane.start.length && lane.start[i]! <= index ? `${this.names[lane.place[i]!]!}, events ${lane.start[i]!.toLocaleString("en")} to ${(lane.end[i]! - 1).toLocaleString("en")}` : `event ${index.toLocaleString("en")}`;
  }

  /** Show only the call under the pointer. */
  private readonly into = (event: MouseEvent) => {
    const box = this.canvas.getBoundingClientRect();
    const lane = this.spans.lanes[Math.floor((event.clientY - box.top) / this.laneHeight(this.canvas.clientHeight))];
    const index = this.indexAt(event.clientX - box.left);
    const i = lane ? spanAt(lane.end, index) : 0;
    if (!lane || i >= lane.start.length || lane.start[i]! > index) return;
    [this.from, this.to] = [lane.start[i]!, Math.max(lane.end[i]!, lane.start[i]! + 1)];
    this.draw();
  };

  /** Show what is before or after, by a share of what is shown. */
  pan(share: number): void {
    const span = this.to - this.from;
    this.from = Math.max(0, Math.min(this.columns.length - span, this.from + share * span));
    this.to = this.from + span;
    this.draw();
  }
}
