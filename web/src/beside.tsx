// The model beside the truth: two runs of one program, event for event. What agrees is decided in Python (view/side_by_side.py).

import "./base.css";
import "./beside.css";
import { render, type JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { told } from "./load";
import { Source } from "./source";
import { Controls, Help, Move, Moves, next, stepKeys, useKeys, usePlace } from "./stepping";
import { stringText, visible } from "./text";
import { useTheme } from "./theme";

/** What was so, and what the model believed; null where there is nothing. */
type Pair<T> = [T | null, T | null];
/** Name, its value in either run, whether they are the same. */
type Names = [string, string | null, string | null, boolean][];
type Verdict = "exact" | "value" | "place" | "missing" | "beyond";

interface Row {
  verdict: Verdict;
  kind: Pair<string>;
  instruction: Pair<string>;
  line: Pair<number>;
  function: Pair<string>;
  file: Pair<string>;
  value: Pair<string>;
  output: Pair<string>;
  frames: { function: Pair<string>; line: Pair<number>; names: Names }[];
  globals: Names;
}

interface Facts {
  deskcheck: string;
  id: string;
  file: string;
  entry: string | null;
  arguments: string | null;
  sources: Record<string, string>;
  source: string;
  rows: Row[];
  given: number;
  jumps: number[] | null;
  /** Events beyond the last row: one of the runs goes on alone. */
  left: number;
  exact: number;
  first: number | null;
  how: string | null;
  stop: string;
  why: string;
  variables: { name: string; function: string; event: number; count: number; true: string | null; told: string | null }[];
}

const AROUND = 60;
const HOW: Record<string, string> = {
  value: "a value",
  next_line: "the next line",
  unreadable: "an unreadable state",
  budget: "the model was asked no further",
};
const VERDICTS: Record<Verdict, string> = {
  exact: "the same",
  value: "a different value",
  place: "a different place",
  missing: "the model has ended",
  beyond: "the run has ended",
};

function sentence(row: Row, side: 0 | 1): string {
  const kind = row.kind[side];
  if (kind === null) return "";
  const name = visible(row.function[side] ?? "");
  const value = row.value[side] === null ? "" : ` ${visible(row.value[side]!)}`;
  if (kind === "line") return `line ${row.line[side]} of ${name}`;
  if (kind === "instruction") return `${visible(row.instruction[side] ?? "")} of ${name}`;
  return `${kind} ${name}, line ${row.line[side]}${value}`;
}

function App({ facts }: { facts: Facts }): JSX.Element {
  const { rows, first } = facts;
  const last = rows.length - 1;
  const place = usePlace("event", last, Math.min(first ?? 0, last));
  const { at, go } = place;
  const [theme, nextTheme] = useTheme();
  const help = useRef<HTMLDialogElement>(null);
  const differs = (row: Row) => row.verdict !== "exact";
  const alike = !rows.some(differs);
  const toFirst = () => go(first === null ? null : Math.min(first, last), "the two runs are the same to the end");
  const toNext = () => go(next(rows, at, 1, differs));
  const toPrevious = () => go(next(rows, at, -1, differs));
  useKeys({ ...stepKeys(place, last), d: toFirst, e: toNext, E: toPrevious, t: nextTheme, "?": () => help.current?.showModal() });

  const row = rows[at];
  const call = facts.entry === null ? visible(facts.file) : visible(`${facts.entry}${facts.arguments ?? ""}`);
  const verdict = first === null ? `right to the end, ${facts.exact} steps` : `${facts.how === "budget" ? "right up to the limit" : "first wrong"}: event ${first}, ${HOW[facts.how!] ?? visible(facts.how!)}`;
  const after = first !== null && at > first;
  return (
    <>
      <header>
        <h1>{visible(facts.id)}</h1>
        {!facts.id.endsWith(call) && <code class="call">{call}</code>}
        <span class={`outcome ${first === null || facts.how === "budget" ? "returned" : "raised"}`} id="verdict">
          {verdict}
        </span>
        <bdi class="soft told-by">{visible(facts.source)}</bdi>
        <Controls theme={theme} next={nextTheme} help={help} />
      </header>
      <Moves place={place} last={last}>
        <Move id="divergence" label="First divergence" act={toFirst} off={first === null} bad />
        <Move id="difference-back" label="Previous difference" act={toPrevious} off={alike} />
        <Move id="difference" label="Next difference" act={toNext} off={alike} />
      </Moves>
      <section class="strip" aria-label="all events">
        <p class="legend">
          <b>recorded</b> is what happened, <b>model</b> what it predicted. Events: <span class="exact">the same</span> <span class="value">a different value</span>{" "}
          <span class="place">a different place</span> <span class="missing">one run has ended</span>
        </p>
        <Strip rows={rows} first={first} at={at} />
        <input type="range" id="event" min={0} max={Math.max(0, last)} value={at} aria-label="event" aria-valuetext={row && `event ${at}, ${VERDICTS[row.verdict]}`} onInput={(event) => go(Number(event.currentTarget.value))} />
      </section>
      {row && (
        <main>
          <section class="left" aria-label="program and events">
            <SourceView facts={facts} row={row} />
            <Events facts={facts} at={at} go={go} />
          </section>
          <section class="right" aria-label="the event in both runs" tabIndex={0}>
            <p class={`says ${row.verdict}`} id="now" aria-live="polite">
              <span class="which">
                event {at}
                {facts.jumps && at >= facts.given ? `, ${facts.jumps[at - facts.given] ?? 1} on` : ""}
              </span>{" "}
              {at < facts.given ? "given to the model" : VERDICTS[row.verdict]}
              {at === first && <strong> the first divergence</strong>}
              {after && <span class="soft"> the model continues from a wrong state: later differences mean nothing</span>}
              {at === last && facts.left > 0 && (
                <span class="cut">
                  {" "}
                  {row.verdict === "beyond" ? "the model continues" : "the run continues"} for {facts.left.toLocaleString("en")} more events, which are not shown
                </span>
              )}
              {row.verdict === "missing" && facts.why && <span class="cut"> {visible(facts.why)}</span>}
            </p>
            <State row={row} />
            <Variables facts={facts} go={go} />
          </section>
        </main>
      )}
      {!row && <p class="problem">Neither run has an event.</p>}
      <Help
        dialog={help}
        keys={[
          ["→ or n, ← or p", "an event forward, back"],
          ["Home, End, PgUp, PgDn", "first, last, a hundred"],
          ["d", "first divergence"],
          ["e, Shift e", "next and previous difference"],
          ["t", "light, dark, or like the system"],
        ]}
      >
        <p class="soft">deskcheck {facts.deskcheck}</p>
      </Help>
    </>
  );
}

/** All events on one line, a stretch of equal verdicts as one piece. */
function Strip({ rows, first, at }: { rows: Row[]; first: number | null; at: number }): JSX.Element {
  const pieces: { verdict: Verdict; start: number; count: number }[] = [];
  rows.forEach(({ verdict }, index) => {
    const piece = pieces.at(-1);
    if (piece?.verdict === verdict) piece.count++;
    else pieces.push({ verdict, start: index, count: 1 });
  });
  const count = Math.max(1, rows.length);
  return (
    <svg class="pieces" viewBox={`0 0 ${count} 10`} preserveAspectRatio="none" aria-hidden="true">
      {pieces.map((piece) => (
        <rect key={piece.start} class={piece.verdict} x={piece.start} width={piece.count} y={0} height={10} />
      ))}
      {first !== null && <rect class="mark" x={Math.min(first, count - 1)} width={Math.max(1, count / 400)} y={0} height={10} />}
      <rect class="here" x={at} width={Math.max(1, count / 500)} y={6} height={4} />
    </svg>
  );
}

function SourceView({ facts, row }: { facts: Facts; row: Row }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const source = useRef<Source | null>(null);
  const file = row.file[0] ?? row.file[1] ?? facts.file;
  const text = Object.hasOwn(facts.sources, file) ? facts.sources[file]! : "# the source of this file is not shown";
  useLayoutEffect(() => {
    source.current = new Source(place.current!);
    return () => source.current!.destroy();
  }, []);
  useLayoutEffect(() => source.current!.show(text), [text]);
  useLayoutEffect(() => {
    const [line, believed] = row.line;
    const kind = row.kind[0];
    const look = kind === "raise" || kind === "unwind" ? "raise" : kind === "return" || kind === "yield" ? "leave" : "line";
    source.current!.mark({ line: line ?? -1, look, others: believed !== null && believed !== line ? [believed] : [], call: null });
  }, [row, text]);
  return <div class="editor" ref={place} />;
}

function Events({ facts, at, go }: { facts: Facts; at: number; go: (index: number) => void }): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const start = Math.max(0, at - AROUND);
  useLayoutEffect(() => {
    const [box, current] = [list.current!, list.current!.querySelector<HTMLElement>("[aria-current]")];
    if (current) box.scrollTop = current.offsetTop - box.clientHeight / 2;
  }, [at]);
  return (
    <div class="events" ref={list} role="group" aria-label="events of both runs">
      <div class="heads" aria-hidden="true">
        <span />
        <span>recorded</span>
        <span>model</span>
      </div>
      {facts.rows.slice(start, at + AROUND).map((row, place) => {
        const index = start + place;
        return (
          <button type="button" key={index} class={`${row.verdict} ${index === facts.first ? "first" : ""}`} aria-current={index === at ? "step" : undefined} onClick={() => go(index)}>
            <span class="number">{index}</span>
            <bdi>{sentence(row, 0) || "—"}</bdi>
            <bdi>{row.verdict === "exact" ? "the same" : row.verdict === "missing" ? "—" : sentence(row, 1)}</bdi>
          </button>
        );
      })}
    </div>
  );
}

function Value({ text, told }: { text: string | null; told: boolean }): JSX.Element {
  if (text === null) return <span class="soft">{told ? "not stated" : "—"}</span>;
  return <bdi>{visible(text)}</bdi>;
}

function Rows({ names, told }: { names: Names; told: boolean }): JSX.Element {
  return (
    <>
      {names.map(([name, was, believed, same]) => (
        <tr key={name} class={same ? "" : "differs"}>
          <th scope="row">
            <bdi>{visible(name)}</bdi>
          </th>
          <td>
            <Value text={was} told={false} />
          </td>
          <td>
            <Value text={believed} told={told} />
            {!same && was === believed && was !== null && <span class="soft"> refers to other objects</span>}
          </td>
        </tr>
      ))}
    </>
  );
}

function State({ row }: { row: Row }): JSX.Element {
  const there = row.kind[1] !== null;
  const pair = (name: string, was: string | null, believed: string | null): Names => (was === null && believed === null ? [] : [[name, was, believed, was === believed]]);
  const shown = (text: string | null) => (text === null || text === "" ? null : stringText(text));
  const extra: Names = [
    ["event", sentence(row, 0) || null, sentence(row, 1) || null, row.verdict === "exact" || row.verdict === "value"],
    ...pair("value", row.value[0], row.value[1]),
    ...pair("prints", shown(row.output[0]), shown(row.output[1])),
    ...row.globals,
  ];
  return (
    <table class="state">
      <thead>
        <tr>
          <th scope="col">
            <span class="soft">name</span>
          </th>
          <th scope="col">recorded</th>
          <th scope="col">model</th>
        </tr>
      </thead>
      <tbody>
        <Rows names={extra} told={there} />
      </tbody>
      {row.frames.toReversed().map((frame, depth) => {
        const [was, believed] = frame.function;
        const named = was !== null && believed !== null && was !== believed ? `${was}, model: ${believed}` : (was ?? believed ?? "");
        const line = frame.line[0] ?? frame.line[1];
        return (
          <tbody key={row.frames.length - depth}>
            <tr class={was === believed || !there ? "framed" : "framed differs"}>
              <th colSpan={3} scope="rowgroup">
                <bdi>{visible(named)}</bdi> <span class="soft">line {line}</span>
              </th>
            </tr>
            <Rows names={frame.names} told={there} />
          </tbody>
        );
      })}
    </table>
  );
}

function Variables({ facts, go }: { facts: Facts; go: (index: number) => void }): JSX.Element {
  return (
    <section class="variables" aria-label="variables that differ">
      <h2>Variables that differ</h2>
      {!facts.variables.length && <p class="soft">none, in events that both runs have</p>}
      {facts.variables.map((one) => (
        <button type="button" key={`${one.function} ${one.name}`} onClick={() => go(one.event)}>
          <bdi class="name">{visible(one.name)}</bdi>
          <span class="soft">
            of {visible(one.function)}, first in event {one.event}, in {one.count === 1 ? "1 event" : `${one.count.toLocaleString("en")} events`}
          </span>
          <span class="was">
            <span class="soft">recorded</span> <Value text={one.true} told={false} />
            {one.told !== null && <span class="soft">, model</span>} <Value text={one.told} told />
          </span>
        </button>
      ))}
    </section>
  );
}

export async function beside(place: HTMLElement): Promise<void> {
  const facts = await told<Facts>();
  place.replaceChildren();
  render(<App facts={facts} />, place);
}
