// The report page: what runs of `deskcheck ask` come to. Figures and tables are computed in Python (view/report.py).

import "./base.css";
import "./report.css";
import { render, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { download, intervals, overRanges, pngOf, svgText, type Placed, type Point } from "./charts";
import { start, told } from "./load";
import { Controls, useKeys } from "./stepping";
import { visible } from "./text";
import { useTheme } from "./theme";

interface Sheet {
  name: string;
  title: string;
  note: string;
  heads: string[];
  numbers: boolean[];
  rows: string[][];
  markdown: string;
  latex: string;
  csv: string;
}

interface Example {
  id: string;
  program: string;
  reason: string;
  /** The page of the recording, at the event that the question is about, if it was written. */
  page?: string;
  /** Name, text, how many characters more there are. */
  texts: [string, string, number][];
}

interface Failure {
  what: string;
  model: string;
  kind: string;
  count: number;
  n: number;
  examples: Example[];
}

interface Facts {
  deskcheck: string;
  verdict: string;
  made: string;
  folders: string[];
  models: string[];
  samples: number;
  notes: string[];
  scores: { what: string; model: string; score: number | null; low: number | null; high: number | null; n: number }[];
  lengths: (Placed & { axis: string; counts: string })[];
  views: { question: string; model: string; state: string; against: string; metric: string; solver: string; difference: number; low: number | null; high: number | null; n: number }[];
  failures: Failure[];
  sheets: Sheet[];
}

const WIDEST = 900;
/** From this number of columns on, their names are written upwards. */
const UPRIGHT = 14;

function FigureView({ name, label, draw }: { name: string; label: string; draw: (width: number) => SVGSVGElement }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  useLayoutEffect(() => {
    let drawn = 0;
    const redraw = () => {
      const width = Math.min(place.current!.clientWidth, WIDEST);
      if (width === drawn || width < 50) return;
      drawn = width;
      place.current!.replaceChildren(draw(width));
    };
    redraw();
    const watch = new ResizeObserver(redraw);
    watch.observe(place.current!);
    return () => watch.disconnect();
  }, []);
  const svg = () => place.current!.querySelector("svg")!;
  return (
    <figure id={`figure-${name}`}>
      <div ref={place} class="drawn" />
      <figcaption>
        <span class="soft">{label}</span>
        <span class="buttons">
          <button type="button" onClick={() => download(`${name}.svg`, new Blob([svgText(svg())], { type: "image/svg+xml" }))}>
            SVG<span class="aside"> of {name}</span>
          </button>
          <button
            type="button"
            onClick={() => {
              pngOf(svg()).then(
                (blob) => download(`${name}.png`, blob),
                (error: unknown) => setProblem(String(error)),
              );
            }}
          >
            PNG<span class="aside"> of {name}</span>
          </button>
        </span>
        {problem && <span role="alert">{problem}</span>}
      </figcaption>
    </figure>
  );
}

type Format = "markdown" | "latex" | "csv";
const FORMATS: [Format, string][] = [
  ["markdown", "Markdown"],
  ["latex", "LaTeX"],
  ["csv", "CSV"],
];

function SheetView({ sheet, copy }: { sheet: Sheet; copy: (title: string, text: string) => void }): JSX.Element {
  return (
    <div class="sheet" id={`sheet-${sheet.name}`}>
      <div class="scrolled" role="region" aria-label={sheet.title} tabIndex={0}>
        <table class={sheet.heads.length > UPRIGHT ? "upright" : ""}>
          <thead>
            <tr>
              {sheet.heads.map((head, column) => (
                <th key={column} scope="col" class={sheet.numbers[column] ? "n" : ""}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sheet.rows.map((row, number) => (
              <tr key={number}>
                {row.map((text, column) => (
                  <td key={column} class={sheet.numbers[column] ? "n" : ""}>
                    <bdi>{visible(text)}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="under">
        <span class="soft">{sheet.note}</span>
        <span class="buttons">
          {FORMATS.map(([format, name]) => (
            <button type="button" key={format} class={`copy-${format}`} onClick={() => copy(`${sheet.title}: ${name}`, sheet[format])}>
              {name}
              <span class="aside"> of {sheet.title}</span>
            </button>
          ))}
        </span>
      </p>
    </div>
  );
}

function Failures({ failures }: { failures: Failure[] }): JSX.Element {
  const [model, setModel] = useState("");
  const [what, setWhat] = useState("");
  const models = [...new Set(failures.map((failure) => failure.model))];
  const whats = [...new Set(failures.map((failure) => failure.what))];
  const shown = failures.filter((failure) => (!model || failure.model === model) && (!what || failure.what === what));
  const choice = (id: string, label: string, all: string[], value: string, set: (value: string) => void) => (
    <label for={id}>
      {label}{" "}
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">all</option>
        {all.map((one) => (
          <option key={one} value={one}>
            {visible(one)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <p class="choices">
        {choice("failures-model", "model", models, model, setModel)}
        {choice("failures-question", "question", whats, what, setWhat)}
      </p>
      {shown.map((failure) => (
        <div class="with-step" key={`${failure.what} ${failure.model} ${failure.kind}`}>
        <details class="failure">
          <summary>
            <span class="count">
              {failure.count} of {failure.n}
            </span>
            <svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect width="100" height="10" />
              <rect class="wrong" width={(100 * failure.count) / failure.n} height="10" />
            </svg>
            <bdi class="how">{visible(failure.kind)}</bdi>
            <bdi class="soft">
              {visible(failure.model)}, {visible(failure.what)}
            </bdi>
          </summary>
          {failure.examples.map((example) => (
            <ExampleView key={example.id} example={example} />
          ))}
        </details>
        <Step page={failure.examples.find((example) => example.page)?.page} text="a step where it broke" />
        </div>
      ))}
      {!shown.length && <p class="soft">none</p>}
    </>
  );
}

function Step({ page, text }: { page: string | undefined; text: string }): JSX.Element | null {
  return page ? (
    <a class="step" href={page}>
      {text}
    </a>
  ) : null;
}

function ExampleView({ example }: { example: Example }): JSX.Element {
  return (
    <article class="example">
      <h3>
        <bdi>{visible(example.id)}</bdi> {example.reason && <span class="soft">{visible(example.reason)}</span>}
        <Step page={example.page} text="the step where it broke" />
      </h3>
      {example.texts.map(([name, text, more]) => (
        <div class={`text ${name === "question" || name === "predicted run" ? "wide" : ""}`} key={name}>
          <h4>{name}</h4>
          <pre tabIndex={0} aria-label={name}>
            {visible(text, true)}
            {more > 0 && <span class="cut"> … {more.toLocaleString("en")} more characters</span>}
          </pre>
        </div>
      ))}
    </article>
  );
}

function Report({ facts }: { facts: Facts }): JSX.Element {
  const [theme, nextTheme] = useTheme();
  const [copied, setCopied] = useState<{ title: string; text: string } | null>(null);
  const [notice, setNotice] = useState("");
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useKeys({ t: nextTheme });
  const copy = (title: string, text: string) => {
    setCopied({ title, text });
    setNotice("");
    dialog.current!.showModal();
  };
  useEffect(() => area.current?.select(), [copied]);
  const toClipboard = async () => {
    area.current!.select();
    try {
      await navigator.clipboard.writeText(copied!.text);
      setNotice("copied");
    } catch {
      // Without the right to the clipboard the text is marked, for the keys that copy.
      setNotice("the browser does not let pages copy: press Ctrl+C");
    }
  };

  const sheet = (name: string) => {
    const found = facts.sheets.find((one) => one.name === name);
    return found && <SheetView sheet={found} copy={copy} />;
  };
  const has = (...names: string[]) => facts.sheets.some((one) => names.includes(one.name));
  const title = (name: string) => facts.sheets.find((one) => one.name === name)!.title;
  const scores: Point[] = facts.scores.flatMap((row) => (row.score === null ? [] : [{ ...row, value: row.score }]));
  const views: Point[] = facts.views.map((row) => {
    const parts = [row.question, row.solver === "direct" ? "" : row.solver, row.metric === "score" ? "" : row.metric];
    return { ...row, what: `${parts.filter(Boolean).join(", ")}: ${row.state} minus ${row.against}`, value: row.difference };
  });
  const axes = [...new Set(facts.lengths.map((row) => row.axis))];
  const section = (name: string, content: JSX.Element | undefined | (JSX.Element | undefined)[], heading?: string) =>
    has(name) && (
      <section key={name}>
        <h2 id={`title-${name}`}>{heading ?? title(name)}</h2>
        {content}
      </section>
    );
  return (
    <>
      <header>
        <h1>
          <bdi>{visible(facts.verdict)}</bdi>
        </h1>
        <Controls theme={theme} next={nextTheme} />
      </header>
      <main class="document">
        <p class="soft">
          {facts.models.length === 1 ? "1 model" : `${facts.models.length} models`}, {facts.samples.toLocaleString("en")} answers · {facts.made} · deskcheck {facts.deskcheck} · <bdi>{facts.folders.map((folder) => visible(folder)).join(", ")}</bdi>
        </p>
        {facts.notes.map((note) => (
          <p class="note" key={note}>
            {visible(note)}
          </p>
        ))}
        {section("scores", [
          scores.length ? (
            <FigureView
              key="figure"
              name="scores"
              label="Share of right answers, with 95 % intervals clustered by program."
              draw={(width) => intervals(scores, facts.models, width, { label: "Scores of each model by question; the table below has the figures", axis: "score" })}
            />
          ) : undefined,
          sheet("scores"),
        ])}
        {section("leaderboard", sheet("leaderboard"))}
        {section("metrics", sheet("metrics"))}
        {section("models", sheet("models"))}
        {section("power", sheet("power"))}
        {section("consistency", sheet("consistency"))}
        {section("views", [
          <FigureView
            key="figure"
            name="views"
            label="Effect of a view of the kernel's variables on the score, over the same samples, with 95 % intervals."
            draw={(width) => intervals(views, facts.models, width, { label: "Differences by model and view; the table below has the figures", axis: "difference", zero: true })}
          />,
          sheet("views"),
        ])}
        {section("methods", sheet("methods"))}
        {section("lengths", [
          <div class="figures" key="figures">
            {axes.map((axis) => {
              const rows = facts.lengths.filter((row) => row.axis === axis);
              return (
                <FigureView
                  key={axis}
                  name={`over-${axis}`}
                  label={`Scores by ${rows[0]!.counts}, with 95 % intervals.`}
                  draw={(width) => overRanges(rows, facts.models, width, { label: `Scores by ${rows[0]!.counts}; the table below has the figures`, axis: rows[0]!.counts })}
                />
              );
            })}
          </div>,
          <details key="table">
            <summary>the figures as a table</summary>
            {sheet("lengths")}
          </details>,
        ])}
        {section("slices", sheet("slices"))}
        {section("steps", sheet("steps"))}
        {section("failures", [
          <Failures key="list" failures={facts.failures} />,
          <details key="table">
            <summary>the counts as a table</summary>
            {sheet("failures")}
          </details>,
        ])}
        {section("lines", sheet("lines"))}
        {section("usage", sheet("usage"))}
        {section("excluded", sheet("excluded"))}
      </main>
      <dialog ref={dialog} aria-labelledby="copy-title" class="copying">
        <h2 id="copy-title">{copied?.title ?? "table"}</h2>
        <textarea ref={area} readOnly rows={14} aria-label="the table as text" value={copied ? visible(copied.text, true).replaceAll("\\r\n", "\n") : ""} />
        <form method="dialog">
          <span role="status" class="soft">
            {notice}
          </span>
          <button type="button" id="do-copy" onClick={() => void toClipboard()}>
            Copy
          </button>
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

start({
  report: async (place) => {
    const facts = await told<Facts>();
    place.replaceChildren();
    render(<Report facts={facts} />, place);
  },
});
