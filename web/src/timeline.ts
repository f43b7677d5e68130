// All events on a canvas: height is call depth; calls, exceptions and output stand out. Drawn into a picture that is
// kept, over which only the current event moves.

import type { Columns } from "./trace";

const LANE = 10;

export class Timeline {
  private readonly picture = document.createElement("canvas");
  private drawn = "";
  private from = 0;
  private to: number;
  private at = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly columns: Columns,
    private readonly deepest: number,
    private readonly go: (index: number) => void,
  ) {
    this.to = columns.length;
    canvas.addEventListener("pointerdown", this.drag);
    canvas.addEventListener("pointermove", (event) => event.buttons & 1 && this.seek(event));
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
  private readonly wheel = (event: WheelEvent) => {
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, this.indexAt(event.offsetX));
  };

  destroy(): void {
    this.observer.disconnect();
    this.scheme.removeEventListener("change", this.anew);
    this.canvas.removeEventListener("pointerdown", this.drag);
    this.canvas.removeEventListener("wheel", this.wheel);
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
    const key = [width, height, this.from, this.to, style.color, style.getPropertyValue("--depth")].join();
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
    const lane = LANE * ratio;
    const room = height - 2 * lane;
    const { columns } = this;
    const call = columns.kindNumber("call");
    const raise = columns.kindNumber("raise");
    const span = this.to - this.from;
    const slots = Math.min(width, Math.ceil(span));
    const each = width / slots;
    for (let slot = 0; slot < slots; slot++) {
      const first = Math.floor(this.from + (slot / slots) * span);
      const last = Math.max(first + 1, Math.floor(this.from + ((slot + 1) / slots) * span));
      let depth = 0;
      let calls = false;
      let raised = false;
      let prints = false;
      let gap = false;
      for (let i = first; i < last && i < columns.length; i++) {
        depth = Math.max(depth, columns.depth[i]!);
        const kind = columns.number(i);
        calls ||= kind === call;
        raised ||= kind === raise;
        prints ||= columns.prints(i);
        gap ||= columns.gap(i);
      }
      const x = slot * each;
      const tall = Math.max(2 * ratio, (depth / this.deepest) * room);
      const wide = each > 4 * ratio ? each - ratio : each + 0.5;
      const top = lane + room - tall;
      context.fillStyle = colour("--depth");
      context.fillRect(x, top, wide, tall);
      if (calls) {
        context.fillStyle = colour("--accent");
        context.fillRect(x, top, Math.max(wide, ratio), 3 * ratio);
      }
      if (raised) {
        context.fillStyle = colour("--bad");
        context.fillRect(x, 0, Math.max(wide, 2 * ratio), lane + room);
      }
      if (prints) {
        context.fillStyle = colour("--output");
        context.fillRect(x, height - lane + 2 * ratio, Math.max(wide, 2 * ratio), lane - 3 * ratio);
      }
      if (gap) {
        context.fillStyle = colour("--cut");
        context.fillRect(x, lane + room, Math.max(wide, 2 * ratio), 2 * ratio);
      }
    }
  }
}
