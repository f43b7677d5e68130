// The parts of a recording: in the page itself, deflated and in base64, or from the server that gave the page.

import { visible } from "./text";
import type { Facts, Store } from "./trace";
import type { Causes } from "./why";

async function inflate(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const decoder = new TextDecoder();

async function part(name: string): Promise<Uint8Array> {
  const element = document.getElementById(name);
  if (!element) throw new Error(`the page lacks its part ${name}: it was cut`);
  try {
    return await inflate(element.textContent!.trim());
  } catch {
    throw new Error(`the page's part ${name} is damaged: make the page again`);
  }
}

/** The one JSON value of a page that has nothing else. */
export async function told<T>(): Promise<T> {
  return JSON.parse(decoder.decode(await part("facts")));
}

/** Shows what the page says that it is; what goes wrong meanwhile is said in its place. */
export function start(pages: Record<string, (place: HTMLElement) => Promise<void>>): void {
  const place = document.getElementById("page")!;
  pages[document.documentElement.dataset.page!]!(place).catch((error: unknown) => {
    place.textContent = `This page cannot be shown. ${visible(String(error instanceof Error ? error.message : error))}`;
    place.setAttribute("role", "alert");
  });
}

class PageStore implements Store {
  async causes(thread: number): Promise<Causes | null> {
    const name = `why-${thread}`;
    return document.getElementById(name) ? JSON.parse(decoder.decode(await part(name))) : null;
  }

  async facts(): Promise<Facts> {
    return told();
  }

  columns(thread: number): Promise<Uint8Array> {
    return part(`columns-${thread}`);
  }

  async block(thread: number, number: number): Promise<string> {
    return decoder.decode(await part(`block-${thread}-${number}`));
  }
}

class ServerStore implements Store {
  async causes(): Promise<Causes | null> {
    return null; // only long traces are served
  }

  private async part(name: string): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(name);
    } catch {
      throw new Error("deskcheck no longer serves this page: start it again");
    }
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    return response;
  }

  async facts(): Promise<Facts> {
    return (await this.part("facts")).json();
  }

  async columns(thread: number): Promise<Uint8Array> {
    return new Uint8Array(await (await this.part(`columns/${thread}`)).arrayBuffer());
  }

  async block(thread: number, number: number): Promise<string> {
    return (await this.part(`block/${thread}/${number}`)).text();
  }
}

export function store(): Store {
  return document.documentElement.dataset.store === "server" ? new ServerStore() : new PageStore();
}
