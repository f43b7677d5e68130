// The figures of the report, drawn by Observable Plot from what Python computed: nothing is averaged here.

import { axisX, dot, line, plot, ruleX, ruleY, text } from "@observablehq/plot";
import { visible } from "./text";

const COLOURS = ["#2f6fd0", "#c2541a", "#2e8b57", "#a3479f", "#8a6d00", "#c0392b", "#0f8a96", "#6b7280"];
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const CHARACTER = 6.6;
const SVG = "http://www.w3.org/2000/svg";

/** An estimate with its interval, where there is one. what: of what; model: whose. */
export interface Point {
  what: string;
  model: string;
  value: number;
  low: number | null;
  high: number | null;
  n: number;
}

export interface Placed extends Point {
  range: string;
  order: number;
}

function colour(models: string[], model: string): string {
  return COLOURS[models.indexOf(model) % COLOURS.length]!;
}

function clipped(name: string, most: number): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

function finished(made: HTMLElement | SVGElement, label: string): SVGSVGElement {
  const svg = made as SVGSVGElement;
  const nonce = document.querySelector<HTMLStyleElement>("style[nonce]")?.nonce;
  // Before it stands in the page: the policy looks when it is put there.
  for (const style of svg.querySelectorAll("style")) if (nonce) style.nonce = nonce;
  for (const group of svg.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label"); // one picture, one name
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.style.font = FONT;
  return svg;
}

function said(point: Point): string {
  const bounds = point.low === null || point.high === null ? "too few programs for an interval" : `${point.low.toFixed(3)} to ${point.high.toFixed(3)}`;
  return `${point.model}: ${point.value.toFixed(3)} (${bounds}), n = ${point.n}`;
}

/** Estimates with their intervals, one under the other: a group for each question, with those who were asked it. */
export function intervals(given: Point[], models: string[], width: number, options: { label: string; axis: string; zero?: boolean }): SVGSVGElement {
  const points = given.map((point) => ({ ...point, what: visible(point.what), model: visible(point.model), row: `${point.what}\n${point.model}` }));
  const names = models.map((model) => visible(model));
  const groups = [...new Set(points.map((point) => point.what))];
  // A group's name has a row of its own above it.
  const rows = groups.flatMap((group) => [group, ...new Set(points.filter((point) => point.what === group).map((point) => point.row))]);
  const longest = Math.max(...points.map((point) => point.model.length));
  const margin = Math.min(Math.max(60, longest * CHARACTER + 16), width * 0.42);
  const fits = Math.floor((margin - 16) / CHARACTER);
  const modelOf = new Map(points.map((point) => [point.row, point.model]));
  const furthest = Math.max(0.05, ...points.flatMap((point) => [point.value, point.low, point.high].map((bound) => Math.abs(bound ?? 0))));
  const made = plot({
    width,
    height: 50 + rows.length * 20,
    marginLeft: margin,
    marginRight: 18,
    marginTop: 4,
    marginBottom: 38,
    x: { domain: options.zero ? [-furthest, furthest] : [0, 1], label: options.axis, labelAnchor: "center", labelArrow: "none", grid: true, nice: !!options.zero },
    y: { type: "band", domain: rows, label: null, tickFormat: (row: string) => clipped(modelOf.get(row) ?? "", fits), tickSize: 0 },
    marks: [
      options.zero ? ruleX([0], { stroke: "currentColor", strokeOpacity: 0.6 }) : null,
      ruleY(points, { x1: "low", x2: "high", y: "row", stroke: (point: Point) => colour(names, point.model), strokeWidth: 2.5, strokeOpacity: 0.55 }),
      dot(points, { x: "value", y: "row", r: 4.5, fill: (point: Point) => colour(names, point.model), title: said }),
      text(groups, { y: (group: string) => group, text: (group: string) => group, frameAnchor: "left", dx: -margin + 4, dy: 2, fontWeight: "600", textAnchor: "start" }),
    ],
  });
  return finished(made, options.label);
}

/** Scores over ranges of a length: a panel for each question, a line for each model. */
export function overRanges(given: Placed[], models: string[], width: number, options: { label: string; axis: string }): SVGSVGElement {
  const points = given.map((point) => ({ ...point, what: visible(point.what), model: visible(point.model) }));
  const names = models.map((model) => visible(model)).filter((name) => points.some((point) => point.model === name));
  const groups = [...new Set(points.map((point) => point.what))];
  const ordered = [...points].sort((a, b) => a.order - b.order);
  const ranges = [...new Set(ordered.map((point) => point.range))];
  const { height, draw } = legend(names, width);
  const made = plot({
    width,
    height: height + 70 + groups.length * 150,
    marginLeft: 42,
    marginTop: height + 34,
    marginBottom: 44,
    x: { type: "point", domain: ranges, padding: 0.5 },
    y: { domain: [0, 1], label: null, ticks: 5, grid: true },
    fy: { domain: groups, axis: null, padding: 0.3 },
    marks: [
      axisX({ label: options.axis, labelAnchor: "center", labelArrow: "none", lineWidth: 6, tickSize: 3 }),
      text(groups, { fy: (group: string) => group, text: (group: string) => group, frameAnchor: "top-left", dx: -36, dy: -22, fontWeight: "600", textAnchor: "start" }),
      ...names.flatMap((name, place) => {
        const own = ordered.filter((point) => point.model === name);
        const shift = { dx: (place - (names.length - 1) / 2) * 7, stroke: colour(names, name) };
        const where = { x: "range", fy: "what" };
        return [
          line(own, { ...where, ...shift, y: "value", z: "what", strokeWidth: 1.5, strokeOpacity: 0.6 }),
          ruleX(own, { ...where, ...shift, y1: "low", y2: "high", strokeWidth: 2.5, strokeOpacity: 0.5 }),
          dot(own, { ...where, dx: shift.dx, y: "value", r: 4, fill: shift.stroke, title: said }),
        ];
      }),
    ],
  });
  const svg = finished(made, options.label);
  draw(svg);
  return svg;
}

/** A legend inside the figure, so that it is in the file too. */
function legend(names: string[], width: number): { height: number; draw: (svg: SVGSVGElement) => void } {
  const places: [number, number][] = [];
  let [x, y] = [8, 12];
  const most = Math.floor((width - 34) / CHARACTER);
  const shown = names.map((name) => clipped(name, most));
  for (const name of shown) {
    const needs = 26 + name.length * CHARACTER;
    if (x > 8 && x + needs > width) [x, y] = [8, y + 18];
    places.push([x, y]);
    x += needs;
  }
  const draw = (svg: SVGSVGElement) => {
    names.forEach((name, number) => {
      const [left, top] = places[number]!;
      const mark = document.createElementNS(SVG, "circle");
      for (const [key, value] of Object.entries({ cx: left + 4, cy: top, r: 4.5, fill: colour(names, name) })) mark.setAttribute(key, String(value));
      const label = document.createElementNS(SVG, "text");
      for (const [key, value] of Object.entries({ x: left + 13, y: top, dy: "0.35em", "text-anchor": "start", fill: "currentColor" })) label.setAttribute(key, String(value));
      label.textContent = shown[number]!;
      svg.append(mark, label);
    });
  };
  return { height: y + 8, draw };
}

/** The figure as a file of its own, on white. */
export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", SVG);
  copy.style.color = "#1c2129"; // not by its attribute, which the policy forbids
  copy.removeAttribute("class");
  const paper = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill: "#ffffff" })) paper.setAttribute(key, value);
  for (const style of copy.querySelectorAll("style")) style.remove();
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

const PNG_SCALE = 3;

/** The same in pixels, three to one of the page. */
export async function pngOf(svg: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = svg.clientWidth * PNG_SCALE;
  canvas.height = svg.clientHeight * PNG_SCALE;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no picture"))), "image/png");
  });
}

export function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
