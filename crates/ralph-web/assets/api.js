// The server: its token, its answers, its events. Events are read by `fetch`, because the token goes into a header and
// nowhere else; so the stream is parsed here.

const KEY = 'ralph-token';
const WRONG = '-';
const SILENCE_MS = 25_000; // the server says something every 10 s
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 15_000;

export class NotAllowed extends Error {}
export class Refused extends Error {
  constructor(status, error) {
    super([error?.message, error?.hint].filter(Boolean).join(' ') || `The server answered ${status}.`);
    this.status = status;
    this.code = error?.code;
  }
}

/** What cannot be a token becomes one that is wrong: the server refuses it, and the page asks for another. */
function decoded(text) {
  try {
    const value = decodeURIComponent(text);
    return /^[!-~]+$/.test(value) ? value : WRONG;
  } catch { return WRONG; }
}

/** The token out of an address, or out of what a person pasted: an address or the token alone. */
export function tokenIn(text) {
  const found = /#?token=([^&\s]+)/.exec(text);
  if (found) return decoded(found[1]);
  const alone = text.trim();
  return /^[\w.~+/=-]{16,}$/.test(alone) ? alone : null;
}

export const token = () => sessionStorage.getItem(KEY);
export const keepToken = (value) => sessionStorage.setItem(KEY, value);
export const forgetToken = () => sessionStorage.removeItem(KEY);

async function request(path, options = {}) {
  const answer = await fetch(path, {
    ...options,
    headers: { ...options.headers, Authorization: `Bearer ${token() || ''}` },
    cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
  });
  if (answer.status === 401) throw new NotAllowed('The token is not valid.');
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => null);
  throw new Refused(answer.status, body?.error);
}

export const get = async (path, signal) => (await request(`/api/v1/${path}`, { signal })).json();

export const post = async (path, body) => (await request(`/api/v1/${path}`, {
  method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
})).json();

/** Reads server-sent events out of text that comes in any pieces. `hear` gets `{id, event, data}`. */
export class EventParser {
  constructor(hear) {
    this.hear = hear;
    this.rest = '';
    this.skipFeed = false;
    this.clear();
  }

  clear() { this.event = ''; this.data = []; this.id = null; }

  push(text) {
    let from = 0;
    // A CR at the very end of a piece may be the first half of a CRLF.
    if (this.skipFeed && text[0] === '\n') from = 1;
    if (text) this.skipFeed = false;
    for (let i = from; i < text.length; i += 1) {
      const c = text[i];
      if (c !== '\n' && c !== '\r') continue;
      this.line(this.rest + text.slice(from, i));
      this.rest = '';
      if (c === '\r') {
        if (text[i + 1] === '\n') i += 1;
        else if (i + 1 === text.length) this.skipFeed = true;
      }
      from = i + 1;
    }
    this.rest += text.slice(from);
  }

  line(line) {
    if (line === '') {
      if (this.data.length) this.hear({ id: this.id, event: this.event || 'message', data: this.data.join('\n') });
      this.clear();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.event = value;
    else if (field === 'data') this.data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.id = value;
  }
}

/** How long to wait before another try: twice as long each time, and never all pages at once. */
export const backoff = (tries, random = Math.random()) =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries, 10)) * (0.5 + random / 2);

/**
 * The stream of events, opened again whenever it ends. `on.event(name, data)`, `on.up()`, `on.down()`, `on.denied()`.
 * A hidden page holds no stream: a browser opens six connections to a host, and the seventh page would hang.
 */
export class Stream {
  constructor(on) {
    this.on = on;
    this.position = null;
    this.run = null;
    this.tries = 0;
    this.open = null;
    this.timer = null;
    this.wanted = false;
    document.addEventListener('visibilitychange', () => (document.hidden ? this.release() : this.connect()));
    addEventListener('pagehide', () => this.release());
    addEventListener('pageshow', (e) => { if (e.persisted) this.connect(); });
    addEventListener('online', () => this.connect());
  }

  /** Follows from `position` on; `run` is the one whose lines are wanted. */
  follow(position, run) {
    this.wanted = true;
    this.position = position;
    this.run = run;
    this.connect();
  }

  /** Wants the lines of another run. */
  watch(run) {
    if (run === this.run) return;
    this.run = run;
    if (this.wanted) this.connect();
  }

  stop() { this.wanted = false; this.release(); }

  release() {
    clearTimeout(this.timer);
    this.open?.abort();
    this.open = null;
  }

  connect() {
    this.release();
    if (!this.wanted || document.hidden) return;
    const open = new AbortController();
    this.open = open;
    this.read(open).then(() => null, (error) => error).then((error) => {
      if (this.open !== open) return; // another one took its place
      open.abort();
      if (error instanceof NotAllowed) { this.wanted = false; this.on.denied(); return; }
      this.on.down();
      this.timer = setTimeout(() => this.connect(), backoff(this.tries));
      this.tries += 1;
    });
  }

  async read(open) {
    const query = this.run ? `?run=${encodeURIComponent(this.run)}` : '';
    const headers = { Accept: 'text/event-stream' };
    if (this.position != null) headers['Last-Event-ID'] = String(this.position);
    let watchdog = setTimeout(() => open.abort(), SILENCE_MS);
    try {
      const answer = await request(`/api/v1/events${query}`, { headers, signal: open.signal });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser((event) => this.hear(event));
      this.on.up();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => open.abort(), SILENCE_MS);
        this.tries = 0;
        this.on.alive();
        parser.push(value);
      }
    } finally { clearTimeout(watchdog); }
  }

  hear({ id, event, data }) {
    let value;
    try { value = JSON.parse(data); } catch { return; }
    if (id) this.position = id;
    this.on.event(event, value);
  }
}
