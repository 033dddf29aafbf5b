// One run in depth: what it does now, whether it gets closer, what is missing, what it costs.
import { h, say, mark, span, money, counted, capital, clock, quoted, ticks, meter, command, part, ask } from './dom.js';
import { BigStrip } from './strip.js';
import { Iterations, LOG_LINES, logLine } from './iteration.js';
import { get, post } from './api.js';

const OLDER = 100;
const NEAR_END = 30;
const SAID_MS = 15_000;

const isOpen = (card) => card.group === 'working' || card.group === 'waiting';

function chipWords(card) {
  const n = card.iteration;
  if (card.group === 'working') return `${card.word}${n ? ` · iteration ${n}${card.max_iterations ? ` of ${card.max_iterations}` : ''}` : ''}`;
  if (card.group === 'waiting') return `${card.word} · ${card.line}`;
  const last = card.strip.bars.at(-1)?.n ?? 0;
  if (last > card.iterations) return `${card.word} in iteration ${last}`;
  return card.iterations ? `${card.word} after ${counted(card.iterations, 'iteration')}` : `${card.word} before the first iteration`;
}

function meta({ card, who, verify, zone }) {
  return h('p', { class: 'meta' },
    quoted('span', {}, card.name), quoted('span', {}, who),
    verify?.length ? h('span', {}, 'verified by ', verify.map((one, i) => [i ? ', ' : '', h('code', { dir: 'auto', class: 'q' }, one)])) : verify ? h('span', {}, 'no verify command') : null,
    h('span', {}, `since ${clock(card.started, zone, false)}`), h('span', { class: 'mono' }, card.short));
}

const TONE_OF_NOTE = { good: 's-good', need: 's-need', bad: 's-bad' };

function conditions(list) {
  const tone = (holds) => (holds === true ? 'good' : holds === false ? 'bad' : 'open');
  const word = (holds) => (holds === true ? 'holds' : holds === false ? 'does not hold' : 'not known yet');
  return list.length ? h('section', {}, h('h3', {}, 'What it takes to be proven'),
    h('ul', { class: 'checks' }, list.map((one) => h('li', {}, mark(tone(one.holds), word(one.holds)), h('div', {}, ...ticks(capital(one.what)), one.detail ? h('small', {}, ...ticks(one.detail)) : null))))) : null;
}

function limits(list) {
  return list.length ? h('section', {}, h('h3', {}, 'Limits'), h('dl', { class: 'lim' }, list.map((one) => h('div', {},
    h('dt', {}, capital(one.name), ' ', h('span', {}, h('b', {}, one.used_text), one.limit_text ? ` of ${one.limit_text}` : '')),
    h('dd', {}, one.limit ? meter(one.used, one.limit, one.warn_at, one.held) : null))))) : null;
}

function breaker(view) {
  if (!view?.fuses?.length) return null;
  return h('section', {}, h('h3', {}, 'Breaker ', h('span', {}, view.state)), h('ul', { class: 'fuse' }, view.fuses.map((fuse) => h('li', {}, h('span', {}, fuse.name),
    h('span', { class: `n${fuse.used >= fuse.limit ? ' blown' : ''}`, role: 'img', 'aria-label': `${fuse.used} of ${fuse.limit}` }, Array.from({ length: Math.min(fuse.limit, 12) }, (_, i) => h('i', { class: i < fuse.used ? 'on' : '' })))))));
}

function expected(found) {
  if (!found) return null;
  return h('section', {}, h('h3', {}, 'Earlier runs here'),
    h('p', { class: 'small' }, `Half took at most ${counted(found.iterations_p50, 'iteration')}, nine in ten at most ${found.iterations_p90}. An iteration cost ${money(found.cost_p50_micro)} (p50), ${money(found.cost_p90_micro)} (p90). From ${found.runs} runs.`));
}

function seenBefore(list) {
  return list?.length ? h('section', { class: 'seen' }, h('h3', {}, 'This error was seen before'), h('ul', { class: 'plain' }, list.map((one) => h('li', {},
    quoted('span', {}, capital(one.text)), ' ',
    h('a', { href: `#/runs/${encodeURIComponent(one.run)}/iterations/${one.gone_after ?? one.iteration}/changes` }, `Show ${one.short}`))))) : null;
}

/** What the agent says and does now. Sticks to its end only if it was there. */
class Log {
  constructor(run) {
    this.run = run;
    this.doing = quoted('span', { class: 'doing' }, '');
    this.age = h('span', { class: 'doing' });
    this.older = h('button', { class: 'btn more', type: 'button', hidden: true, onclick: () => this.loadOlder() }, 'Older lines');
    this.log = h('div', { class: 'log', role: 'log', 'aria-live': 'off', 'aria-label': 'What the agent says and does', tabindex: '0' });
    this.title = h('h3', {}, 'Now');
    this.node = h('section', { class: 'act', hidden: true }, h('div', { class: 'bar' }, this.title, this.doing, this.age, this.older), this.log);
    this.call = 0;
  }

  /** Lines of a call; another call begins a new log. */
  add(lines, { iteration, attempt, review, zone, fresh }) {
    const call = iteration * 1000 + attempt;
    if (call < this.call) return; // an answer that events have overtaken
    if (call !== this.call) { this.log.replaceChildren(); Object.assign(this, { call, iteration, attempt, review }); }
    this.zone = zone;
    const log = this.log;
    const atEnd = log.scrollTop + log.clientHeight > log.scrollHeight - NEAR_END;
    for (const line of lines) this.put(line, fresh);
    this.trim(atEnd);
    if (log.childElementCount) this.node.hidden = false;
    if (atEnd) log.scrollTop = log.scrollHeight;
    this.offerOlder();
  }

  /** A line in its place; one that came before under the same number is replaced. */
  put(line, fresh) {
    const made = logLine(line, this.zone);
    let after = this.log.lastElementChild;
    while (after && Number(after.dataset.line) > line.n) after = after.previousElementSibling;
    if (after && Number(after.dataset.line) === line.n) { after.replaceWith(made); return; }
    if (fresh) made.className = 'new';
    if (after) after.after(made); else this.log.prepend(made);
  }

  trim(atEnd) {
    const log = this.log;
    const before = log.scrollHeight;
    while (log.childElementCount > LOG_LINES) log.firstElementChild.remove();
    if (!atEnd) log.scrollTop -= before - log.scrollHeight;
  }

  offerOlder() {
    const first = Number(this.log.firstElementChild?.dataset.line || 1);
    this.older.hidden = first <= 1 || this.log.childElementCount >= LOG_LINES;
  }

  async loadOlder() {
    const first = Number(this.log.firstElementChild.dataset.line);
    this.older.disabled = true;
    try {
      const after = Math.max(0, first - 1 - OLDER);
      const page = await get(`runs/${this.run}/iterations/${this.iteration}/activity?attempt=${this.attempt}&after=${after}&limit=${first - 1 - after}`);
      const before = this.log.scrollHeight;
      for (const line of page.lines.filter((one) => one.n < first).reverse()) this.put(line, false);
      this.log.scrollTop += this.log.scrollHeight - before;
      if (page.lines.length === 0) this.older.hidden = true; else this.offerOlder();
    } catch (error) { this.older.textContent = error.message; }
    this.older.disabled = false;
  }

  /** Whose lines these are. */
  name(open) {
    const who = this.review ? (open ? 'Now: the review' : 'The last call: a review') : (open ? 'Now' : 'The last call');
    say(this.title, who);
  }

  say(doing, now) {
    say(this.doing, doing?.text || '');
    say(this.age, doing?.since ? `· ${span(now - doing.since)}` : '');
    if (doing?.text) this.node.hidden = false;
  }
}

/** The buttons for a run that is under way; what came of a request is said beside them. */
class Controls {
  constructor(run, changed) {
    this.run = run;
    this.changed = changed;
    this.said = h('p', { class: 'answer', role: 'status' });
    this.buttons = part((names) => h('div', { class: 'acts', role: 'group', 'aria-label': 'Controls', hidden: names.length === 0 }, names.map((name) => this.button(name))));
    this.node = h('div', { class: 'ctl' }, this.said);
  }

  update(card, allowed) {
    const names = !allowed ? [] : isOpen(card) && card.status !== 'STOPPING'
      ? [card.group === 'waiting' ? (card.status === 'PAUSED' ? 'continue' : 'continue_now') : 'pause', 'stop_after', 'stop', 'hint'] : [];
    const buttons = this.buttons(names);
    if (!buttons.parentNode) this.node.prepend(buttons);
    document.body.classList.toggle('has-acts', names.length > 0);
  }

  button(name) {
    const words = { pause: 'Pause', continue: 'Continue', continue_now: 'Continue now', stop_after: 'Stop after this', stop: 'Stop now', hint: 'Give a hint' };
    return h('button', { class: `btn${name === 'hint' ? ' go' : ''}`, type: 'button', 'data-key': name, onclick: (e) => this.press(name, e.currentTarget) }, words[name]);
  }

  async press(name, button) {
    if (name === 'hint') {
      const text = await ask({ title: 'Give a hint', text: 'The agent gets it with its next prompt.', field: true, yes: 'Send' });
      if (text) this.send('hint', button, text);
    } else if (name === 'stop') {
      const yes = await ask({ title: 'Stop now?', text: 'The agent is ended and its work inspected. `ralph resume` continues the run.', yes: 'Stop now', tone: 'danger' });
      if (yes) this.send('stop', button);
    } else this.send(name === 'continue_now' ? 'continue' : name, button);
  }

  async send(request, button, text) {
    const words = { pause: 'It pauses before the next call.', continue: 'It continues.', stop_after: 'It stops after this iteration.', stop: 'It is being stopped.', hint: 'The hint is in its next prompt.', put_away: 'Put away.', take_back: 'Taken back.' };
    button.disabled = true;
    say(this.said, 'Sending …');
    try {
      const { recorded } = await post(`runs/${this.run}/requests`, { request, ...(text && { text }) });
      say(this.said, recorded === false ? 'Left for the run; it has not confirmed it yet.' : words[request]);
      this.changed();
    } catch (error) { say(this.said, error.message); }
    button.disabled = false;
    clearTimeout(this.fades);
    this.fades = setTimeout(() => say(this.said, ''), SAID_MS);
  }
}

/** The open run. */
export class RunView {
  constructor(id, on) {
    this.id = id;
    this.on = on;
    this.chip = part(({ tone, words }) => h('span', { class: `chip s-${tone}` }, mark(tone), words));
    this.title = h('h2', { dir: 'auto', class: 'q', tabindex: '-1' });
    this.meta = part(meta);
    this.controls = new Controls(id, on.changed);
    this.note = part((data) => this.makeNote(data));
    this.strip = new BigStrip((n) => on.iteration(n, undefined, true));
    this.log = new Log(id);
    this.three = ['conditions', 'limits', 'breaker', 'expected'].map((name) => [name, part({ conditions, limits, breaker, expected }[name])]);
    this.side = h('div', { class: 'three' });
    this.seen = part(seenBefore);
    this.iterations = new Iterations(id, on.iteration);
    this.headText = h('div', { class: 'who' });
    this.head = h('div', { class: 'head' }, this.headText, this.controls.node);
    this.node = h('div', { class: 'one' }, h('a', { class: 'back', href: '#/' }, '‹ All runs'), this.head);
  }

  makeNote({ note, card, control }) {
    const away = control && (card.group === 'needs_you' || card.put_away)
      ? h('button', { class: 'btn away', type: 'button', 'data-key': 'away', title: 'It leaves “Needs you” until it changes', onclick: (e) => this.controls.send(card.put_away ? 'take_back' : 'put_away', e.currentTarget) }, card.put_away ? 'Take back' : 'Put away') : null;
    if (!note) return away ? h('section', { class: 'say', 'aria-label': 'Put away' }, away, h('p', {}, card.put_away ? 'You put this run away.' : '')) : null;
    return h('section', { class: `say ${TONE_OF_NOTE[note.tone] || ''}`, 'aria-label': 'How it ended' }, away, h('h3', {}, ...ticks(note.title)), h('p', { dir: 'auto', class: 'q' }, ...ticks(note.text)),
      note.commands?.length ? h('div', { class: 'cmds' }, note.commands.map((one) => command(one.command, one.what))) : null);
  }

  /** Everything again from what is known; only what differs is touched. */
  update({ card, detail, control, now, open, tab }) {
    const d = detail || {};
    const chip = this.chip({ tone: card.tone, words: chipWords(card) });
    say(this.title, card.task);
    const who = d.ladder?.length ? d.ladder.join(' → ') : d.who || [card.agent, card.model].filter(Boolean).join(' ');
    const about = this.meta({ card: { name: card.name, started: card.started, short: card.short }, who, verify: detail ? d.verify : null, zone: d.zone });
    if (!chip.parentNode) this.headText.append(chip, this.title, about);
    this.controls.update(card, control);
    const note = this.note({ note: d.note, control, card: { group: card.group, put_away: card.put_away } });
    this.strip.update(card.strip, open);
    const seen = this.seen(d.seen_before || []);
    for (const [name, make] of this.three) {
      const made = make(d[name] ?? (name === 'breaker' || name === 'expected' ? null : []));
      if (!made.parentNode) this.side.append(made);
    }
    if (!this.cols) {
      this.cols = h('div', { class: 'cols' }, h('div', { class: 'left' }, this.log.node, seen), this.side, this.iterations.node);
      this.node.append(note, this.strip.node, this.cols);
    }
    this.detail(detail, card, now, open, tab);
  }

  detail(detail, card, now, open, tab) {
    if (!detail) return;
    const { zone } = detail;
    if (detail !== this.last) {
      this.last = detail;
      if (detail.lines?.length && detail.call) this.log.add(detail.lines, { ...detail.call, zone });
    }
    this.log.say(isOpen(card) ? detail.doing : null, now);
    this.log.name(isOpen(card));
    const views = detail.iterations || [];
    const listed = open && !views.some((one) => one.n === open) ? this.older(open) : null;
    this.iterations.update(listed ? [...views, listed] : views, { ladder: detail.ladder?.length > 1, zone, open, tab, earlier: card.strip.earlier });
  }

  /** An iteration that is too long ago for the list, once it is known. */
  older(n) {
    if (this.asked !== n) {
      this.asked = n;
      this.found = null;
      get(`runs/${this.id}/iterations/${n}`).then((view) => { if (this.asked === n) { this.found = view; this.on.redraw(); } }, () => null);
    }
    return this.found;
  }

  /** Lines that came just now. */
  heard({ iteration, attempt, review, lines, doing }, detail, now) {
    if (detail) detail.doing = doing;
    if (lines?.length) this.log.add(lines, { iteration, attempt, review, zone: detail?.zone, fresh: true });
    this.log.name(true);
    this.log.say(doing, now);
  }

  tick(detail, card, now) { if (detail && isOpen(card)) this.log.say(detail.doing, now); }
  reveal(n) { this.iterations.reveal(n); }
  focus() { this.title.focus({ preventScroll: true }); }
}
