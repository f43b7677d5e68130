// Values and foreign text as text that shows everything: Python's repr where there is one, an escape for every
// character that cannot be seen or that moves others (controls, bidirectional marks, zero-width ones, lone surrogates).

import type { Content, Encoded } from "./trace";

const HIDDEN = /[\p{C}\p{Z}]/u;
const ALL_HIDDEN = /(?! )[\p{C}\p{Z}]/gu;

/** One character as Python writes it in a string. */
export function escape(character: string): string {
  const code = character.codePointAt(0)!;
  const short: Record<number, string> = { 9: "\\t", 10: "\\n", 13: "\\r" };
  if (short[code]) return short[code];
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** The text with an escape in place of everything that does not print; line ends stay if `lines`. */
export function visible(text: string, lines = false): string {
  if (!HIDDEN.test(text)) return text;
  return text.replace(ALL_HIDDEN, (found) => (lines && found === "\n" ? found : escape(found)));
}

/** The first 200 characters, with a mark if there are more. */
export function beginning(text: string): string {
  return text.length > 200 ? `${visible(text.slice(0, 200))} …` : visible(text);
}

/** What Python's `repr` gives of a string. */
export function stringText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`);
  return quote + visible(body) + quote;
}

/** What Python's `repr` gives of bytes, each the character of that number. */
export function bytesText(bytes: string): string {
  const quote = bytes.includes("'") && !bytes.includes('"') ? '"' : "'";
  const body = bytes.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`);
  return `b${quote}${body.replace(/[^ -~]/g, escape)}${quote}`;
}

const WHY: Record<string, string> = {
  long: "too long: the rest is not recorded",
  deep: "deeper than the limit of the recording",
  many: "more objects than the limit of the recording",
  masked: "a secret was masked",
  opaque: "only the type of such objects is recorded",
};

/** Why something is left out of a value, in words. */
export function whyCut(cut: string): string {
  return WHY[cut] ?? visible(cut);
}

export interface Atom {
  text: string;
  /** Of what sort, for its colour. */
  sort: "number" | "string" | "constant" | "other";
  cut?: string | undefined;
  length?: number | undefined;
}

/** Values that are text and nothing more; null for those with parts. */
export function atom(value: Encoded): Atom | null {
  if (value === null) return { text: "None", sort: "constant" };
  if (value === true) return { text: "True", sort: "constant" };
  if (value === false) return { text: "False", sort: "constant" };
  if (typeof value === "number") return { text: String(value), sort: "number" };
  if (typeof value === "string") return { text: stringText(value), sort: "string" };
  const { cut, length } = value;
  if ("str" in value) return { text: stringText(value.str), sort: "string", cut, length };
  if ("bytes" in value) return { text: bytesText(value.bytes), sort: "string", cut, length };
  if ("int" in value) return { text: value.cut ? `int of ${length} bits` : value.int, sort: "number", cut };
  if ("float" in value) return { text: value.float, sort: "number" };
  if ("complex" in value) return { text: complexText(value.complex), sort: "number" };
  if ("text" in value) return { text: visible(value.text), sort: "other", cut };
  if ("unbound" in value) return { text: "NULL", sort: "other" };
  if ("cut" in value) return { text: `<${visible(value.type)}>`, sort: "other", cut };
  return null;
}

const DATE = /^'(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(\.\d+)?'$/;
const FRACTION = /^-?\d{1,5}\.\d{5,}$/;

/** A value in a grid: of a date at midnight the date, of a fraction six digits, else the text. */
export function cellText(text: string): string {
  const date = DATE.exec(text);
  if (date) {
    const [, day, time, fraction] = date;
    const rest = `${time}${fraction && !/^\.0+$/.test(fraction) ? fraction : ""}`;
    return /^00:00(:00)?$/.test(rest) ? day! : `${day} ${rest}`;
  }
  return FRACTION.test(text) ? String(Number(Number(text).toPrecision(6))) : text;
}

function complexText([real, imaginary]: [string, string]): string {
  const trimmed = imaginary.replace(/\.0$/, "");
  if (real === "0.0") return `${trimmed}j`;
  const sign = /^[-+]/.test(trimmed) ? "" : "+";
  return `(${real.replace(/\.0$/, "")}${sign}${trimmed}j)`;
}

const BRACKETS: Record<string, [string, string]> = {
  list: ["[", "]"],
  tuple: ["(", ")"],
  set: ["{", "}"],
  frozenset: ["frozenset({", "})"],
  dict: ["{", "}"],
};

/** A value on one line, at most about `limit` characters. */
export function short(value: Encoded, objects: ReadonlyMap<number, Content>, limit = 60): string {
  let left = limit;
  const open = new Set<number>();
  const clipped = (text: string) => (text.length > limit ? `${text.slice(0, (limit * 2) / 3)} ... ${text.slice(-limit / 4)}` : text);
  function write(one: Encoded): string {
    if (left <= 0) return "...";
    const known = atom(one);
    if (known) {
      left -= known.text.length;
      return clipped(known.text);
    }
    const told = one as { [key: string]: any };
    left -= 2;
    if ("ref" in told) return object(told.ref);
    if ("tuple" in told) {
      const names: string[] = told.names ?? [];
      const items = told.tuple.map((item: Encoded, i: number) => (names[i] ? `${visible(names[i])}=` : "") + write(item));
      if (names.length) return `${visible(told.type)}(${items.join(", ")})`;
      return `(${items.join(", ")}${items.length === 1 && !told.cut ? "," : ""}${more(told)})`;
    }
    if ("frozenset" in told) return `frozenset({${told.frozenset.map(write).join(", ")}${more(told)}})`;
    if ("range" in told) {
      const [start, stop, step] = told.range.map(write);
      return `range(${start}, ${stop}${step === "1" ? "" : `, ${step}`})`;
    }
    if ("slice" in told) return `slice(${told.slice.map(write).join(", ")})`;
    if ("method" in told) return `<method ${visible(told.method)} of ${write(told.self)}>`;
    if ("array" in told) return `[${told.array.map(write).join(", ")}${more(told)}] ${visible(told.dtype)}`;
    return "?";
  }
  function object(number: number): string {
    const content = objects.get(number);
    if (!content) return `#${number}`;
    if (open.has(number)) return "...";
    const { kind, type } = content;
    const named = visible(type);
    if (kind === "function" || kind === "class") return visible(content.text ?? named);
    open.add(number);
    const pairs = kind === "dict" || kind === "table" || content.base === "dict";
    const items: string[] = [];
    for (const item of content.items ?? []) {
      if (left <= 0) break;
      items.push(pairs ? `${write(item[0])}: ${write(item[1])}` : write(item));
    }
    const shown = items.length < (content.items?.length ?? 0) ? ", ..." : more(content);
    const inside = items.join(", ") + shown;
    open.delete(number);
    const brackets = BRACKETS[kind];
    if (brackets && type === kind) {
      return kind === "set" && !inside ? "set()" : brackets[0] + inside + brackets[1];
    }
    if (brackets) return `${named}(${brackets[0]}${inside}${brackets[1]})`;
    const fields = Object.entries(content.fields ?? {});
    const parts = inside ? [inside] : [];
    for (const [name, field] of fields) {
      if (left <= 0) {
        parts.push("...");
        break;
      }
      parts.push(kind === "exception" && name === "(frame)" ? "" : `${visible(name)}=${write(field)}`);
    }
    const text = parts.filter(Boolean).join(", ");
    if (kind === "array" || kind === "table") return `${named}(${text}${content.shape ? `, shape=(${content.shape.join(", ")})` : ""})`;
    if (kind === "iterator" || kind === "generator") return `<${named}${text ? ` ${text}` : ""}>`;
    return `${named}(${text})`;
  }
  const text = write(value);
  return text.length > 2 * limit ? `${text.slice(0, limit)} ...` : text;
}

function more(told: { cut?: string | null; length?: number | null; items?: any[]; tuple?: any[]; frozenset?: any[]; array?: any[] }): string {
  if (!told.cut) return "";
  const shown = (told.items ?? told.tuple ?? told.frozenset ?? told.array ?? []).length;
  return `${shown ? ", " : ""}... ${told.length ? `${told.length - shown} more` : ""}`.trimEnd();
}
